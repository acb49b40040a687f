/* gateway: HTTP in front of an instance, in a process of its own.
 *
 *   server threads (microhttpd)   heads, bodies, answers; never wait for the desk or a disk's flush
 *   talk thread                   every question to the desk that is not about bytes (talk.h)
 *   workers                       submit and fetch, with the client library (work.h)
 *   watch thread                  reads the instance once a second: status, metrics, page (watch.h)
 *
 * It reads the instance's shared memory read-only and speaks to the desk as a client does: whatever
 * happens in here, no daemon waits for it. */
#pragma once
#include "conns.h"
#include "events.h"
#include "guard.h"
#include "instance.h"
#include "settings.h"
#include "talk.h"
#include "tally.h"
#include "watch.h"
#include "work.h"

struct rapidsnark;

struct gateway {
    struct instance instance;
    struct settings set;
    struct guard *guard;
    struct conns *conns;
    struct tally *tally;
    struct watch *watch;
    struct events *events;
    struct talk *talk;
    struct work *work;
    struct rapidsnark *rapidsnark;
    struct server *server;
    bool announced; /* DIR/run/gateway.json is ours */
};
