#include <stdlib.h>
#include <string.h>
#include "ledger_impl.h"

enum { PRUNED_MAX = 4096 };

/* An op with room for extra bytes; *room walks through them as strings and blobs are copied in. */
static struct ledger_op *new_op(enum ledger_kind kind, size_t extra, ledger_done *done, void *arg)
{
    struct ledger_op *op = calloc(1, sizeof *op + extra);
    INVARIANT(op != NULL);
    op->kind = kind;
    op->n_rows = 1;
    op->done = done;
    op->arg = arg;
    return op;
}

static size_t text_bytes(const char *s)
{
    return s ? strlen(s) + 1 : 1;
}

static const char *keep_text(unsigned char **room, const char *s)
{
    size_t n = text_bytes(s);
    char *to = (char *)*room;
    if (s)
        memcpy(to, s, n);
    else
        *to = 0;
    *room += n;
    return to;
}

static const uint8_t *keep_blob(unsigned char **room, const uint8_t *p, size_t n)
{
    if (!p)
        return NULL;
    uint8_t *to = *room;
    memcpy(to, p, n);
    *room += n;
    return to;
}

void ledger_submit(struct ledger *l, const struct ledger_job *j, ledger_done *done, void *arg)
{
    INVARIANT(j->n_partitions >= 1 && j->n_partitions <= LEDGER_PARTITIONS_MAX);
    struct ledger_op *op =
        new_op(OP_SUBMIT, text_bytes(j->client) + text_bytes(j->request) + text_bytes(j->spool),
               done, arg);
    unsigned char *room = op->bytes;
    op->job = *j;
    op->job.client = keep_text(&room, j->client);
    op->job.request = keep_text(&room, j->request);
    op->job.spool = keep_text(&room, j->spool);
    op->job.reason = "";
    ledger_enqueue(l, op);
}

void ledger_attempt(struct ledger *l, uint64_t job, uint32_t index, uint32_t attempt,
                    ledger_done *done, void *arg)
{
    struct ledger_op *op = new_op(OP_ATTEMPT, 0, done, arg);
    op->part = (struct ledger_partition){.job = job, .index = index, .attempts = attempt};
    ledger_enqueue(l, op);
}

void ledger_death(struct ledger *l, const struct ledger_partition *p, const char *how,
                  const char *actor, ledger_done *done, void *arg)
{
    struct ledger_op *op = new_op(OP_DEATH, text_bytes(how) + text_bytes(actor), done, arg);
    unsigned char *room = op->bytes;
    op->part = *p;
    op->part.proof = op->part.publics = NULL;
    op->how = keep_text(&room, how);
    op->actor = keep_text(&room, actor);
    ledger_enqueue(l, op);
}

void ledger_result(struct ledger *l, const struct ledger_partition *p, ledger_done *done, void *arg)
{
    struct ledger_op *op = new_op(OP_RESULT, (size_t)p->proof_bytes + p->publics_bytes, done, arg);
    unsigned char *room = op->bytes;
    op->part = *p;
    op->part.proof = keep_blob(&room, p->proof, p->proof_bytes);
    op->part.publics = keep_blob(&room, p->publics, p->publics_bytes);
    ledger_enqueue(l, op);
}

void ledger_end(struct ledger *l, uint64_t job, enum ledger_job_state state,
                enum err_code reason_code, const char *reason, uint64_t end_ns, ledger_done *done,
                void *arg)
{
    struct ledger_op *op = new_op(OP_END, text_bytes(reason), done, arg);
    unsigned char *room = op->bytes;
    op->job = (struct ledger_job){
        .id = job, .state = state, .reason_code = reason_code, .end_ns = end_ns};
    op->job.reason = keep_text(&room, reason);
    ledger_enqueue(l, op);
}

void ledger_circuit_put(struct ledger *l, const struct ledger_circuit *c, ledger_done *done,
                        void *arg)
{
    struct ledger_op *op = new_op(OP_CIRCUIT_PUT, text_bytes(c->alias), done, arg);
    unsigned char *room = op->bytes;
    op->circuit = *c;
    op->circuit.alias = keep_text(&room, c->alias);
    ledger_enqueue(l, op);
}

void ledger_circuit_drop(struct ledger *l, const uint8_t digest[32], ledger_done *done, void *arg)
{
    struct ledger_op *op = new_op(OP_CIRCUIT_DROP, 0, done, arg);
    memcpy(op->circuit.digest, digest, 32);
    ledger_enqueue(l, op);
}

void ledger_prune(struct ledger *l, uint64_t before_ns, uint32_t limit, ledger_done *done,
                  void *arg)
{
    struct ledger_op *op = new_op(OP_PRUNE, 0, done, arg);
    op->before = before_ns;
    op->limit = limit < PRUNED_MAX ? limit : PRUNED_MAX;
    ledger_enqueue(l, op);
}

void ledger_fetch(struct ledger *l, uint64_t id, const char *client, const char *request,
                  ledger_done *done, void *arg)
{
    struct ledger_op *op = new_op(OP_FETCH, text_bytes(client) + text_bytes(request), done, arg);
    unsigned char *room = op->bytes;
    op->job.id = id;
    op->job.client = keep_text(&room, client);
    op->job.request = keep_text(&room, request);
    ledger_enqueue(l, op);
}

void ledger_list(struct ledger *l, const char *client, int state, uint64_t after, uint32_t limit,
                 ledger_done *done, void *arg)
{
    struct ledger_op *op = new_op(OP_LIST, text_bytes(client), done, arg);
    unsigned char *room = op->bytes;
    op->job.client = keep_text(&room, client);
    op->job.id = after;
    op->listed_state = state;
    op->limit = limit;
    ledger_enqueue(l, op);
}
