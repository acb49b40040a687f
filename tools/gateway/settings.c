#include "settings.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "config.h"

static bool parse_port(const char *text, uint16_t *port)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || n > 65535)
        return false;
    *port = (uint16_t)n;
    return true;
}

enum err_code settings_listen(struct settings *s, const char *text, struct err *e)
{
    char address[64];
    uint16_t port = LISTEN_PORT;
    const char *colon = strrchr(text, ':');
    if (!colon) {
        /* A port alone, or an address alone. */
        bool alone = parse_port(text, &port);
        snprintf(address, sizeof address, "%s", alone ? "127.0.0.1" : text);
    } else {
        const char *from = text[0] == '[' ? text + 1 : text;
        bool v6 = text[0] == '[', closed = colon > text && colon[-1] == ']';
        const char *end = v6 && closed ? colon - 1 : colon;
        if (v6 != closed || !parse_port(colon + 1, &port) || (size_t)(end - from) >= sizeof address)
            return err_set(e, ERR_USAGE, "listen '%.80s': expected ADDRESS:PORT, such as %s", text,
                           "127.0.0.1:9480 or [::1]:9480");
        memcpy(address, from, (size_t)(end - from));
        address[end - from] = '\0';
    }
    if (strcmp(address, "localhost") == 0)
        strcpy(address, "127.0.0.1");
    memset(&s->listen, 0, sizeof s->listen);
    if (inet_pton(AF_INET, address, &s->listen.v4.sin_addr) == 1) {
        s->listen.v4.sin_family = AF_INET;
        s->listen.v4.sin_port = htons(port);
        s->loopback = ntohl(s->listen.v4.sin_addr.s_addr) >> 24 == 127;
    } else if (inet_pton(AF_INET6, address, &s->listen.v6.sin6_addr) == 1) {
        s->listen.v6.sin6_family = AF_INET6;
        s->listen.v6.sin6_port = htons(port);
        s->loopback = IN6_IS_ADDR_LOOPBACK(&s->listen.v6.sin6_addr);
    } else {
        return err_set(e, ERR_USAGE, "listen '%.80s': '%s' is not an IP address", text, address);
    }
    return ERR_OK;
}

static enum err_code read_config(struct settings *s, struct config *c, const char *listen,
                                 struct err *e)
{
    const char *said = config_string(c, "gateway", "listen", "off");
    if (!listen)
        listen = strcmp(said, "off") == 0 ? "127.0.0.1" : said;
    snprintf(s->hosts, sizeof s->hosts, "%s", config_string(c, "gateway", "hosts", ""));
    if (config_bytes(c, "gateway", "body", UINT64_C(1) << 30, &s->body_bytes, e) ||
        config_bytes(c, "gateway", "body_rate", 16 << 10, &s->body_rate, e) ||
        config_u64(c, "gateway", "connections", 256, 4, 100000, &s->connections, e) ||
        config_u64(c, "gateway", "per_address", 64, 1, 100000, &s->per_address, e) ||
        config_u64(c, "gateway", "rate", 1000, 1, 1000000, &s->rate, e))
        return e->code;
    if (s->body_rate == 0)
        return err_set(e, ERR_VALUE, "[gateway] body_rate: expected at least one byte a second");
    return settings_listen(s, listen, e);
}

enum err_code settings_read(struct settings *s, const struct instance *in, const char *listen,
                            struct err *e)
{
    char path[sizeof in->dir + 16];
    snprintf(path, sizeof path, "%s/millrace.conf", in->dir);
    struct config *c = config_load(path, true, e);
    if (!c)
        return e->code;
    enum err_code rc = read_config(s, c, listen, e);
    config_free(&c);
    return rc;
}
