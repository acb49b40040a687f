/* Reports in JSON, and what an operator asks for: drain, preload, evict, circuits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "connection.h"

struct report_answer {
    enum err_code code;
    char reason[512];
    char *text;
    size_t n;
};

static bool take_report(void *arg, const struct message *answer)
{
    struct report_answer *a = arg;
    if (!answer) {
        a->n = 0;
        return false;
    }
    if (answer->kind == MSG_REFUSED) {
        a->code = answer->refused.code ? (enum err_code)answer->refused.code : ERR_REFUSED;
        snprintf(a->reason, sizeof a->reason, "%s", answer->refused.reason);
        return true;
    }
    if (answer->kind != MSG_REPORT)
        return false;
    const struct blob *piece = &answer->report.json;
    char *more = realloc(a->text, a->n + piece->len + 1);
    if (!more) {
        a->code = ERR_MEMORY;
        snprintf(a->reason, sizeof a->reason, "no memory for a report of %zu bytes", a->n);
        return true;
    }
    a->text = more;
    memcpy(a->text + a->n, piece->data, piece->len);
    a->n += piece->len;
    a->text[a->n] = '\0';
    return answer->report.last;
}

int millrace_report(struct millrace *m, enum millrace_report what, uint64_t number,
                    const char *text, char **json, struct millrace_error *e)
{
    struct message q = {0};
    switch (what) {
    case MILLRACE_STATUS:
        q.kind = MSG_STATUS;
        break;
    case MILLRACE_JOBS:
        q.kind = MSG_JOBS;
        q.jobs.after = number;
        if (text && strlen(text) >= sizeof q.jobs.state)
            return client_error(e, ERR_USAGE, "no job state is called '%.40s'", text);
        if (text)
            strcpy(q.jobs.state, text);
        break;
    case MILLRACE_SHOW:
        q.kind = MSG_SHOW;
        q.show.job = number;
        break;
    case MILLRACE_CIRCUITS:
        q.kind = MSG_CIRCUITS;
        break;
    default:
        return client_error(e, ERR_USAGE, "no such report");
    }
    struct report_answer a = {0};
    int rc = client_ask(m, &q, -1, PATIENCE_MS, take_report, &a, e);
    if (!rc && a.code)
        rc = client_error(e, a.code, "%s", a.reason);
    if (rc) {
        free(a.text);
        return rc;
    }
    *json = a.text;
    return 0;
}

static int name_circuit(char field[65], const char *circuit, struct millrace_error *e)
{
    if (!circuit || !circuit[0] || strlen(circuit) > 64)
        return client_error(e, ERR_USAGE, "a circuit is named by its alias or its 64-digit digest");
    strcpy(field, circuit);
    return 0;
}

int millrace_preload(struct millrace *m, const char *circuit, struct millrace_error *e)
{
    struct message q = {.kind = MSG_PRELOAD};
    int rc = name_circuit(q.preload.circuit, circuit, e);
    return rc ? rc : client_ask_ok(m, &q, -1, e);
}

int millrace_evict(struct millrace *m, const char *circuit, struct millrace_error *e)
{
    struct message q = {.kind = MSG_EVICT};
    int rc = name_circuit(q.evict.circuit, circuit, e);
    return rc ? rc : client_ask_ok(m, &q, -1, e);
}

int millrace_drain(struct millrace *m, const char *name, uint64_t grace_ms,
                   struct millrace_error *e)
{
    struct message q = {.kind = MSG_DRAIN_ASK};
    if (name && strlen(name) >= sizeof q.drain_ask.name)
        return client_error(e, ERR_USAGE, "no daemon is called '%.40s'", name);
    if (name)
        strcpy(q.drain_ask.name, name);
    q.drain_ask.grace_ms = grace_ms > UINT32_MAX ? UINT32_MAX : (uint32_t)grace_ms;
    return client_ask_ok(m, &q, (int64_t)grace_ms + 30000, e);
}

int millrace_circuit_remove(struct millrace *m, const char *circuit, struct millrace_error *e)
{
    struct message q = {.kind = MSG_CIRCUIT_REMOVE};
    int rc = name_circuit(q.circuit_remove.circuit, circuit, e);
    return rc ? rc : client_ask_ok(m, &q, -1, e);
}
