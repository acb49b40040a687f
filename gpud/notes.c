/* notes: what the take and finish threads want said; the main thread, which owns the lanes, says
 * it. A full outbox drops the note: the lease table tells the desk the same at its next scan. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gpud.h"
#include "log.h"

static void wake(int fd)
{
    uint64_t one = 1;
    ssize_t n = write(fd, &one, sizeof one); /* fails only when it is awake already */
    (void)n;
}

static void put(struct gpud *g, const struct note *n)
{
    pthread_mutex_lock(&g->lock);
    if (g->out_n < OUTBOX_MAX)
        g->outbox[(g->out_first + g->out_n++) % OUTBOX_MAX] = *n;
    pthread_mutex_unlock(&g->lock);
    wake(g->note_fd);
}

void note_lease(struct gpud *g, enum message_kind kind, const struct flight *f, uint32_t code,
                const char *reason)
{
    struct note n = {.kind = kind,
                     .ref = f->ref,
                     .job = f->terms.job,
                     .partition = f->terms.partition,
                     .attempt = f->terms.attempt,
                     .code = code};
    snprintf(n.reason, sizeof n.reason, "%s", reason);
    put(g, &n);
}

void note_circuit(struct gpud *g, const uint8_t digest[32], bool resident, uint64_t bytes,
                  uint32_t code, const char *reason)
{
    struct note n = {.kind = MSG_CIRCUIT_STATE, .resident = resident, .bytes = bytes, .code = code};
    memcpy(n.circuit, digest, 32);
    snprintf(n.reason, sizeof n.reason, "%s", reason);
    put(g, &n);
}

void note_lost(struct gpud *g, const char *why)
{
    pthread_mutex_lock(&g->lock);
    if (!g->lost)
        snprintf(g->lost_why, sizeof g->lost_why, "%s", why);
    g->lost = true;
    pthread_mutex_unlock(&g->lock);
    wake(g->note_fd);
}

static bool get(struct gpud *g, struct note *n)
{
    pthread_mutex_lock(&g->lock);
    bool any = g->out_n > 0;
    if (any) {
        *n = g->outbox[g->out_first];
        g->out_first = (g->out_first + 1) % OUTBOX_MAX;
        g->out_n--;
    }
    pthread_mutex_unlock(&g->lock);
    return any;
}

void notes_send(struct gpud *g)
{
    struct note n;
    uint64_t rung;
    ssize_t got = read(g->note_fd, &rung, sizeof rung);
    (void)got;
    while (get(g, &n)) {
        if (n.kind == MSG_CIRCUIT_STATE)
            member_tell_circuit(&g->member, n.circuit, n.resident, n.bytes, n.code, n.reason);
        else if (n.kind == MSG_FAILED)
            member_tell_failed(&g->member, n.ref, n.job, n.partition, n.attempt, n.code, n.reason);
        else
            member_tell(&g->member, n.kind, n.ref, n.job, n.partition, n.attempt);
    }
}
