/* request: one HTTP request from its head to its answer.
 *
 * A handler runs when the body is complete. It either answers at once (reply_...), or says
 * request_suspend and hands the request to another thread, which answers and says request_done. A
 * request lives until microhttpd is done with it; while it is suspended that cannot happen. */
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "err.h"
#include "millrace.h"
#include "text.h"
#include "tokens.h"

struct MHD_Connection;
struct MHD_Response;
struct gateway;
struct route;
struct upload;
struct conn;

enum { PARAM_MAX = 80, CALLER_MAX = 64 };

struct caller {
    char name[CALLER_MAX]; /* the token's; without tokens the user of the instance */
    enum role role;
    char address[48];
};

struct request {
    struct gateway *gateway;
    struct MHD_Connection *connection;
    struct conn *conn;
    const struct route *route;
    struct caller caller;
    char param[PARAM_MAX]; /* the part of the path that the route leaves open */
    struct upload *upload; /* the body, for routes that take one */
    uint64_t began_ns, body_bytes;
    bool head;      /* HEAD: as GET, without the body */
    bool suspended; /* its handler went on elsewhere */
    /* the answer */
    unsigned status; /* 0: none yet */
    struct MHD_Response *response;
    uint64_t answer_bytes;
    /* for handlers that work in steps */
    struct {
        uint64_t job, until_ns;
        bool wants_result, existed;
        unsigned what;
    } step;
};

/* A query argument, percent-decoded; NULL when absent. Borrowed. */
const char *request_query(const struct request *r, const char *name);
const char *request_header(const struct request *r, const char *name);
/* A number out of the query; false with a reply when it is not one in [min, max]. */
bool request_number(struct request *r, const char *name, uint64_t otherwise, uint64_t min,
                    uint64_t max, uint64_t *out);

/* Each makes the answer; a request has one. */
void reply_text(struct request *r, unsigned status, const char *type, struct text *take);
void reply_json(struct request *r, unsigned status, json_t *take);
void reply_static(struct request *r, const char *type, const void *data, size_t n);
void reply_stream(struct request *r, const char *type, struct MHD_Response *take);
void reply_header(struct request *r, const char *name, const char *value); /* after the reply */
/* {"error": {"status", "code", "field", "message"}}; field may be NULL. */
void reply_error(struct request *r, unsigned status, const char *code, const char *field,
                 const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* The same for a code of ours: which status it is stands in request.c. */
void reply_failed(struct request *r, enum err_code code, const char *field, const char *message);
json_t *error_json(unsigned status, const char *code, const char *field, const char *message);
unsigned status_of(enum err_code code);

void request_suspend(struct request *r);
void request_done(struct request *r); /* any thread; r is not ours any more */
