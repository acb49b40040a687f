#include "tally.h"
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "err.h"

/* Answers by hundreds; 0: none was sent. */
enum { CLASSES = 6, BOUNDS = 12 };
static const double bound_s[BOUNDS] = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005,
                                       0.01,   0.05,    0.25,   1,     5,      30};

struct tally {
    _Atomic uint64_t event[TALLY_EVENTS];
    _Atomic uint64_t requests[ROUTE_IDS][CLASSES];
    _Atomic uint64_t within[ROUTE_IDS][BOUNDS + 1], took_ns[ROUTE_IDS];
};

struct tally *tally_new(void)
{
    struct tally *t = calloc(1, sizeof *t);
    INVARIANT(t != NULL);
    return t;
}

void tally_free(struct tally **t)
{
    free(*t);
    *t = NULL;
}

static void add(_Atomic uint64_t *to, uint64_t n)
{
    atomic_fetch_add_explicit(to, n, memory_order_relaxed);
}

static uint64_t get(const _Atomic uint64_t *from)
{
    return atomic_load_explicit(from, memory_order_relaxed);
}

void tally_add(struct tally *t, enum tally_event event, uint64_t n)
{
    add(&t->event[event], n);
}

void tally_request(struct tally *t, enum route_id route, unsigned status, uint64_t took_ns)
{
    unsigned i = 0;
    while (i < BOUNDS && (double)took_ns > bound_s[i] * 1e9)
        i++;
    add(&t->requests[route][status / 100 < CLASSES ? status / 100 : 5], 1);
    add(&t->within[route][i], 1);
    add(&t->took_ns[route], took_ns);
}

static void requests_metrics(const struct tally *t, struct text *out)
{
    text_add(out, "# HELP millrace_gateway_requests_total Requests answered, by route, method and "
                  "hundred of the status; none: the client went away first.\n"
                  "# TYPE millrace_gateway_requests_total counter\n");
    for (unsigned r = 0; r < ROUTE_IDS; r++)
        for (unsigned c = 0; c < CLASSES; c++) {
            const struct route *route = route_by_id((enum route_id)r);
            uint64_t n = get(&t->requests[r][c]);
            char class[5] = "none";
            if (n == 0)
                continue;
            if (c) {
                class[0] = (char)('0' + c);
                class[1] = class[2] = 'x';
                class[3] = '\0';
            }
            text_add(out,
                     "millrace_gateway_requests_total{route=\"%s\",method=\"%s\",status=\"%s\"} "
                     "%" PRIu64 "\n",
                     route->path, route->method, class, n);
        }
}

static void duration_metrics(const struct tally *t, struct text *out)
{
    text_add(out, "# HELP millrace_gateway_request_duration_seconds From the head of a request to "
                  "the end of its answer.\n"
                  "# TYPE millrace_gateway_request_duration_seconds histogram\n");
    for (unsigned r = 0; r < ROUTE_IDS; r++) {
        const struct route *route = route_by_id((enum route_id)r);
        uint64_t sum = 0, all = 0;
        for (unsigned i = 0; i <= BOUNDS; i++)
            all += get(&t->within[r][i]);
        if (all == 0)
            continue;
        for (unsigned i = 0; i < BOUNDS; i++) {
            sum += get(&t->within[r][i]);
            text_add(out,
                     "millrace_gateway_request_duration_seconds_bucket{route=\"%s\",method=\"%s\","
                     "le=\"%g\"} %" PRIu64 "\n",
                     route->path, route->method, bound_s[i], sum);
        }
        /* One number for both, so that no reader sees +Inf and count apart. */
        if (all < sum)
            all = sum;
        text_add(out,
                 "millrace_gateway_request_duration_seconds_bucket{route=\"%s\",method=\"%s\","
                 "le=\"+Inf\"} %" PRIu64 "\n"
                 "millrace_gateway_request_duration_seconds_sum{route=\"%s\",method=\"%s\"} %.9g\n"
                 "millrace_gateway_request_duration_seconds_count{route=\"%s\",method=\"%s\"} "
                 "%" PRIu64 "\n",
                 route->path, route->method, all, route->path, route->method,
                 (double)get(&t->took_ns[r]) / 1e9, route->path, route->method, all);
    }
}

void tally_metrics(const struct tally *t, struct text *out)
{
    static const char *const about[TALLY_EVENTS][2] = {
        {"connections", "Connections accepted."},
        {"upload_bytes", "Bytes of bodies received."},
        {"submitted_jobs", "Jobs that the desk accepted from the gateway."},
        {"events_sent", "Samples sent to open dashboards."},
    };
    for (unsigned i = 0; i < TALLY_EVENTS; i++)
        text_add(out,
                 "# HELP millrace_gateway_%s_total %s\n# TYPE millrace_gateway_%s_total counter\n"
                 "millrace_gateway_%s_total %" PRIu64 "\n",
                 about[i][0], about[i][1], about[i][0], about[i][0], get(&t->event[i]));
    requests_metrics(t, out);
    duration_metrics(t, out);
}
