/* routes: the one table of what the gateway serves. The documentation's table is this one. */
#pragma once
#include "request.h"

enum body { BODY_NONE, BODY_INPUT }; /* input: a witness, an input.json, or a form of several */

/*      id             method    path                   role      body  handler */
#define ROUTES(R)                                                                                  \
    R(PAGE, "GET", "/", NONE, NONE, page_index, "the dashboard")                                   \
    R(STYLE, "GET", "/page.css", NONE, NONE, page_style, "its style")                              \
    R(SCRIPT, "GET", "/page.js", NONE, NONE, page_script, "its script")                            \
    R(HEALTH, "GET", "/health", NONE, NONE, read_health, "200 while the gateway serves")           \
    R(METRICS, "GET", "/metrics", OBSERVER, NONE, read_metrics, "for Prometheus")                  \
    R(STATUS, "GET", "/status", OBSERVER, NONE, read_status, "the instance as JSON")               \
    R(EVENTS, "GET", "/events", OBSERVER, NONE, events_stream, "the dashboard's data, live")       \
    R(CIRCUITS, "GET", "/v1/circuits", CLIENT, NONE, read_circuits, "what can be proved")          \
    R(JOBS, "GET", "/v1/jobs", CLIENT, NONE, jobs_list, "the caller's jobs")                       \
    R(SUBMIT, "POST", "/v1/jobs", CLIENT, INPUT, jobs_submit, "a job; with ?wait, its proof")      \
    R(SHOW, "GET", "/v1/jobs/*", CLIENT, NONE, jobs_show, "one job in full")                       \
    R(CANCEL, "DELETE", "/v1/jobs/*", CLIENT, NONE, jobs_cancel, "stop it")                        \
    R(AWAIT, "GET", "/v1/jobs/*/await", CLIENT, NONE, jobs_await, "until it ends, a long poll")    \
    R(PROOF, "GET", "/v1/jobs/*/proof", CLIENT, NONE, jobs_proof, "snarkjs's proof.json")          \
    R(PUBLIC, "GET", "/v1/jobs/*/public", CLIENT, NONE, jobs_public, "snarkjs's public.json")      \
    R(RS_INPUT, "POST", "/input/*", CLIENT, INPUT, rapidsnark_input, "rapidsnark: prove")          \
    R(RS_START, "POST", "/start", CLIENT, NONE, rapidsnark_start, "rapidsnark: nothing to do")     \
    R(RS_STOP, "POST", "/stop", CLIENT, NONE, rapidsnark_stop, "rapidsnark: nothing to do")        \
    R(RS_CANCEL, "POST", "/cancel", CLIENT, NONE, rapidsnark_cancel, "rapidsnark: stop proving")   \
    R(RS_CONFIG, "GET", "/config", CLIENT, NONE, rapidsnark_config, "rapidsnark: empty")           \
    R(RS_CONFIGURE, "POST", "/config", CLIENT, NONE, rapidsnark_configure,                         \
      "rapidsnark: nothing to do")

enum route_id {
#define R(id, ...) ROUTE_##id,
    ROUTES(R)
#undef R
        ROUTE_NOWHERE, /* for what fits none */
    ROUTE_IDS
};

typedef void handler_fn(struct request *r);
struct route {
    enum route_id id;
    const char *method, *path; /* '*' stands for one part, the parameter */
    enum role role;
    enum body body;
    handler_fn *handler;
    const char *doc;
};
const struct route *route_by_id(enum route_id id);

/* The route of a path and method; param gets the part under '*'. NULL: *allowed says which methods
 * the path has ("GET, DELETE"), or is empty when there is no such path. */
const struct route *route_find(const char *method, const char *path, char param[PARAM_MAX],
                               char allowed[64]);

#define R(id, method, path, role, body, handler, doc) handler_fn handler;
ROUTES(R)
#undef R
