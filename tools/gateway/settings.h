/* settings: what [gateway] in millrace.conf and the command line say.
 *
 *   [gateway]
 *   listen = 127.0.0.1:9480     off (the supervisor starts no gateway), ADDRESS:PORT, [V6]:PORT
 *   body = 1GiB                 the largest upload
 *   body_rate = 16KiB           an upload or download slower than this a second is ended
 *   connections = 256           at once, of all clients together
 *   per_address = 64            of these, from one address
 *   rate = 1000                 requests a second from one client (token or address); twice as a
 * burst hosts =                     names beside localhost that a browser may reach it by, with
 * blanks
 *
 * Beyond the loopback interface it listens only when DIR/gateway.tokens names at least one token.
 */
#pragma once
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include "err.h"
#include "instance.h"

enum { LISTEN_PORT = 9480 };

struct settings {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } listen;
    bool loopback;
    uint64_t body_bytes, body_rate;
    uint64_t connections, per_address, rate;
    char hosts[512];
};

/* listen: from the command line, or NULL. */
enum err_code settings_read(struct settings *s, const struct instance *in, const char *listen,
                            struct err *e);
/* "127.0.0.1:9480", "[::1]:80", "9480" (on the loopback interface). */
enum err_code settings_listen(struct settings *s, const char *text, struct err *e);
