/* What is only read: health, metrics, status. All from memory: a scrape waits for nobody. */
#include <inttypes.h>
#include "gateway.h"
#include "rapidsnark.h"
#include "routes.h"

void read_health(struct request *r)
{
    reply_json(r, 200, json_pack("{s:s}", "gateway", "serves"));
}

void read_metrics(struct request *r)
{
    static const char *const phases[CONN_PHASES] = {"open", "idle",   "head",  "body",
                                                    "work", "answer", "events"};
    struct text out = {0};
    struct gateway *g = r->gateway;
    struct sample *s = watch_sample(g->watch);
    uint64_t n[CONN_PHASES], reaped;
    if (s)
        text_put(&out, s->metrics, s->n_metrics);
    sample_drop(&s);
    tally_metrics(g->tally, &out);
    conns_count(g->conns, n, &reaped);
    text_add(&out, "# HELP millrace_gateway_connections Connections by what they are at.\n"
                   "# TYPE millrace_gateway_connections gauge\n");
    for (unsigned i = 0; i < CONN_PHASES; i++)
        text_add(&out, "millrace_gateway_connections{phase=\"%s\"} %" PRIu64 "\n", phases[i], n[i]);
    text_add(
        &out,
        "# HELP millrace_gateway_slow_connections_total Connections ended for being too slow.\n"
        "# TYPE millrace_gateway_slow_connections_total counter\n"
        "millrace_gateway_slow_connections_total %" PRIu64 "\n",
        reaped);
    reply_text(r, 200, "text/plain; version=0.0.4; charset=utf-8", &out);
}

/* rapidsnark's fields and ours in one object: its clients read "status", "proof" and "pubData". */
void read_status(struct request *r)
{
    struct text out = {0};
    struct sample *s = watch_sample(r->gateway->watch);
    text_add(&out, "{");
    rapidsnark_status(r->gateway->rapidsnark, r->caller.name, &out);
    text_add(&out, ",\"instance\":");
    if (s)
        text_put(&out, s->status, s->n_status);
    else
        text_add(&out, "null");
    text_add(&out, "}\n");
    sample_drop(&s);
    reply_text(r, 200, "application/json", &out);
}
