#include "request.h"
#include <microhttpd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *request_query(const struct request *r, const char *name)
{
    const char *value = MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, name);
    return value && *value ? value : NULL;
}

const char *request_header(const struct request *r, const char *name)
{
    return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, name);
}

bool request_number(struct request *r, const char *name, uint64_t otherwise, uint64_t min,
                    uint64_t max, uint64_t *out)
{
    const char *text = request_query(r, name);
    char *end = NULL;
    *out = otherwise;
    if (!text)
        return true;
    unsigned long long n = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || strlen(text) > 19 || n < min || n > max) {
        reply_error(r, 400, "bad-number", name, "'%.30s': expected a number from %llu to %llu",
                    text, (unsigned long long)min, (unsigned long long)max);
        return false;
    }
    *out = n;
    return true;
}

static void set(struct request *r, unsigned status, const char *type, struct MHD_Response *response)
{
    INVARIANT(response != NULL && r->status == 0);
    r->status = status;
    r->response = response;
    if (type)
        MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cache-Control", "no-store");
}

void reply_text(struct request *r, unsigned status, const char *type, struct text *take)
{
    if (take->failed) {
        static const char none[] = "{\"error\":{\"status\":507,\"code\":\"memory\","
                                   "\"message\":\"no memory for the answer\"}}\n";
        text_free(take);
        set(r, 507, "application/json",
            MHD_create_response_from_buffer(sizeof none - 1, (void *)(uintptr_t)none,
                                            MHD_RESPMEM_PERSISTENT));
        return;
    }
    r->answer_bytes = take->n;
    set(r, status, type,
        MHD_create_response_from_buffer(take->n, take->at ? take->at : (void *)(uintptr_t) "",
                                        take->at ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT));
    *take = (struct text){0};
}

void reply_json(struct request *r, unsigned status, json_t *take)
{
    struct text t = {0};
    char *dumped = take ? json_dumps(take, JSON_COMPACT) : NULL;
    json_decref(take);
    t.failed = !dumped;
    if (dumped)
        text_put(&t, dumped, strlen(dumped));
    text_put(&t, "\n", 1);
    free(dumped);
    reply_text(r, status, "application/json", &t);
}

void reply_static(struct request *r, const char *type, const void *data, size_t n)
{
    set(r, 200, type,
        MHD_create_response_from_buffer(n, (void *)(uintptr_t)data, MHD_RESPMEM_PERSISTENT));
}

void reply_stream(struct request *r, const char *type, struct MHD_Response *take)
{
    set(r, 200, type, take);
}

void reply_header(struct request *r, const char *name, const char *value)
{
    MHD_add_response_header(r->response, name, value);
}

json_t *error_json(unsigned status, const char *code, const char *field, const char *message)
{
    json_t *o = json_pack("{s:i,s:s}", "status", (int)status, "code", code);
    if (field)
        json_object_set_new(o, "field", json_string(field));
    /* A message may quote bytes of the client's; what is not UTF-8 is not worth a failure. */
    json_t *text = json_string(message);
    json_object_set_new(o, "message", text ? text : json_string("(not UTF-8)"));
    return o;
}

void reply_error(struct request *r, unsigned status, const char *code, const char *field,
                 const char *fmt, ...)
{
    char message[1024];
    struct text t = {0};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    text_add(&t, "{\"error\":{\"status\":%u,\"code\":\"%s\",", status, code);
    if (field)
        text_add(&t, "\"field\":\"%s\",", field);
    text_add(&t, "\"message\":");
    text_json(&t, message);
    text_add(&t, "}}\n");
    reply_text(r, status, "application/json", &t);
}

unsigned status_of(enum err_code code)
{
    switch (code) {
    case ERR_OK:
        return 200;
    case ERR_USAGE:
    case ERR_FORMAT:
        return 400;
    case ERR_VALUE:
    case ERR_MISMATCH:
    case ERR_UNSATISFIED:
    case ERR_REJECTED:
        return 422;
    case ERR_REFUSED:
        return 409;
    case ERR_CANCELLED:
        return 410;
    case ERR_UNSUPPORTED:
        return 501;
    case ERR_UNAVAILABLE:
        return 503;
    case ERR_DEADLINE:
        return 504;
    case ERR_MEMORY:
        return 507;
    default:
        return 500;
    }
}

void reply_failed(struct request *r, enum err_code code, const char *field, const char *message)
{
    reply_error(r, status_of(code), err_word(code), field, "%s", message);
    if (code == ERR_UNAVAILABLE)
        reply_header(r, "Retry-After", "2");
}

void request_suspend(struct request *r)
{
    r->suspended = true;
    MHD_suspend_connection(r->connection);
}

void request_done(struct request *r)
{
    MHD_resume_connection(r->connection);
}
