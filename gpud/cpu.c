/* cpu: the backend that is always there. One worker thread with a pool of its own proves what is
 * queued, in order; the extent is only read (a and b are copied before they are transformed), so
 * that a partition whose gpud dies can be proved again by another from the same extent. */
#include "backend.h"
#include "big.h"
#include "ntt.h"
#include "slow_point.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { IN_FLIGHT = 2 };

/* A circuit that was loaded, with the tables of its domain. */
struct resident {
    struct resident *next;
    uint8_t digest[32];
    struct ntt_domain *domain;
    unsigned users; /* proofs in flight */
};

enum slot_state { SLOT_FREE, SLOT_QUEUED, SLOT_WORKING, SLOT_DONE };

struct slot {
    enum slot_state state;
    struct prove_input in;
    struct resident *resident;
    struct groth16_sums sums; /* SECRET until taken */
    struct prove_timing timing;
    uint64_t step_begun_ns;
    enum err_code rc;
    struct err err;
};

struct backend {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    pthread_t worker;
    bool closing;
    struct pool *pool; /* used by the worker alone once it runs, but for circuit_load before that */
    unsigned threads;
    struct slot slot[IN_FLIGHT];
    unsigned next_start, next_work; /* both count up; the slot is the count modulo IN_FLIGHT */
    struct resident *residents;
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void note_step(void *arg, enum groth16_step step, bool begun)
{
    struct slot *s = arg;
    if (begun) {
        s->step_begun_ns = now_ns();
        return;
    }
    uint64_t *const times[STEP_COUNT] = {
        [STEP_QUOTIENT] = &s->timing.ntt_ns,  [STEP_SUM_H] = &s->timing.msm_h_ns,
        [STEP_SUM_A] = &s->timing.msm_a_ns,   [STEP_SUM_B1] = &s->timing.msm_b1_ns,
        [STEP_SUM_B2] = &s->timing.msm_b2_ns, [STEP_SUM_L] = &s->timing.msm_l_ns,
    };
    *times[step] = now_ns() - s->step_begun_ns;
}

/* Copies of a and b, or the matrices' products when the extent holds only the witness. */
static void fill_rows(const struct backend *b, struct slot *s, fr_t *rows_a, fr_t *rows_b, size_t n)
{
    const struct circuit *c = s->in.circuit;
    if (s->in.a) {
        s->timing.copy_begin_ns = now_ns();
        SLOW_POINT("cpu.copy_in");
        memcpy(rows_a, s->in.a, n * sizeof(fr_t));
        memcpy(rows_b, s->in.b, n * sizeof(fr_t));
        s->timing.kernel_begin_ns = s->timing.copy_end_ns = now_ns();
        return;
    }
    uint64_t begun = now_ns();
    s->timing.kernel_begin_ns = begun;
    matrix_evaluate(c->curve, &c->a, s->in.w, rows_a, n, b->pool);
    matrix_evaluate(c->curve, &c->b, s->in.w, rows_b, n, b->pool);
    s->timing.matrices_ns = now_ns() - begun;
}

static enum err_code prove(const struct backend *b, struct slot *s)
{
    const struct circuit *c = s->in.circuit;
    size_t n = (size_t)1 << c->domain_log2;
    fr_t *rows = big_alloc(2 * n * sizeof *rows);
    if (!rows)
        return err_set(&s->err, ERR_MEMORY,
                       "cpu backend: no memory for two vectors of 2^%u scalars", c->domain_log2);
    fill_rows(b, s, rows, rows + n, n);
    const struct groth16_watch watch = {note_step, s};
    enum err_code rc = groth16_sums(c, s->resident->domain, s->in.w, rows, rows + n, &s->sums,
                                    &watch, b->pool, &s->err);
    s->timing.kernel_end_ns = now_ns();
    explicit_bzero(rows, 2 * n * sizeof *rows);
    free(rows);
    return rc;
}

static void *worker_main(void *arg)
{
    struct backend *b = arg;
    pthread_mutex_lock(&b->lock);
    for (;;) {
        struct slot *s = &b->slot[b->next_work % IN_FLIGHT];
        if (s->state != SLOT_QUEUED) {
            if (b->closing)
                break;
            pthread_cond_wait(&b->work, &b->lock);
            continue;
        }
        s->state = SLOT_WORKING;
        b->next_work++;
        pthread_mutex_unlock(&b->lock);
        s->rc = prove(b, s);
        pthread_mutex_lock(&b->lock);
        s->state = SLOT_DONE;
        s->resident->users--;
        pthread_cond_broadcast(&b->done);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

static enum err_code cpu_open(struct backend **out, int device, uint64_t budget_bytes,
                              unsigned threads, struct err *e)
{
    (void)budget_bytes; /* the host's memory is the arenas' budget */
    *out = NULL;
    if (device != 0)
        return err_set(e, ERR_UNAVAILABLE, "cpu backend: device %d asked for, there is only 0",
                       device);
    struct backend *b = calloc(1, sizeof *b);
    if (!b)
        return err_set(e, ERR_MEMORY, "cpu backend: no memory");
    b->pool = pool_new(threads, NULL, e);
    if (!b->pool) {
        free(b);
        return e ? e->code : ERR_MEMORY;
    }
    b->threads = pool_threads(b->pool);
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->work, NULL);
    pthread_cond_init(&b->done, NULL);
    int failed = pthread_create(&b->worker, NULL, worker_main, b);
    if (failed) {
        pool_free(&b->pool);
        free(b);
        return err_set(e, ERR_MEMORY, "cpu backend: no worker thread: %s", strerror(failed));
    }
    *out = b;
    return ERR_OK;
}

static void processor_name(char *out, size_t n)
{
    snprintf(out, n, "CPU");
    FILE *f = fopen("/proc/cpuinfo", "re");
    char line[256];
    while (f && fgets(line, sizeof line, f)) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && value) {
            snprintf(out, n, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
            break;
        }
    }
    if (f)
        fclose(f);
}

static void cpu_caps(const struct backend *b, struct backend_caps *out)
{
    *out = (struct backend_caps){
        .name = "cpu",
        .evaluates = true,
        .max_in_flight = IN_FLIGHT,
        .numa_node = -1,
    };
    char name[96];
    processor_name(name, sizeof name);
    snprintf(out->device, sizeof out->device, "%s, %u thread%s", name, b->threads,
             b->threads == 1 ? "" : "s");
}

static enum err_code cpu_arena_attach(struct backend *b, void *base, size_t bytes, struct err *e)
{
    (void)b, (void)base, (void)bytes, (void)e; /* nothing to register */
    return ERR_OK;
}

static enum err_code cpu_arena_detach(struct backend *b, void *base, struct err *e)
{
    (void)b, (void)base, (void)e;
    return ERR_OK;
}

static struct resident **find(struct backend *b, const uint8_t digest[32])
{
    struct resident **r = &b->residents;
    while (*r && memcmp((*r)->digest, digest, 32) != 0)
        r = &(*r)->next;
    return r;
}

static enum err_code cpu_circuit_load(struct backend *b, const struct circuit *c, struct err *e)
{
    if (*find(b, c->digest))
        return ERR_OK;
    struct resident *r = calloc(1, sizeof *r);
    if (!r)
        return err_set(e, ERR_MEMORY, "cpu backend: no memory");
    memcpy(r->digest, c->digest, 32);
    /* On this thread alone: the pool belongs to the worker. */
    r->domain = ntt_domain_new(c->curve, c->roots, c->domain_log2, NULL, e);
    if (!r->domain) {
        free(r);
        return e ? e->code : ERR_MEMORY;
    }
    r->next = b->residents;
    b->residents = r;
    return ERR_OK;
}

static void cpu_circuit_evict(struct backend *b, const uint8_t digest[32])
{
    struct resident **place = find(b, digest), *r = *place;
    if (!r)
        return;
    pthread_mutex_lock(&b->lock);
    INVARIANT(r->users == 0); /* the caller evicts idle circuits only */
    pthread_mutex_unlock(&b->lock);
    *place = r->next;
    ntt_domain_free(&r->domain);
    free(r);
}

static bool cpu_circuit_resident(const struct backend *b, const uint8_t digest[32])
{
    for (const struct resident *r = b->residents; r; r = r->next)
        if (memcmp(r->digest, digest, 32) == 0)
            return true;
    return false;
}

static uint64_t cpu_circuit_bytes(const struct backend *b, const uint8_t digest[32])
{
    for (const struct resident *r = b->residents; r; r = r->next)
        if (memcmp(r->digest, digest, 32) == 0)
            return ntt_domain_bytes(r->domain);
    return 0;
}

static int cpu_prove_start(struct backend *b, const struct prove_input *in, struct err *e)
{
    struct resident *r = *find(b, in->circuit->digest);
    if (!r) {
        err_set(e, ERR_INTERNAL, "cpu backend: the circuit was not loaded");
        return -1;
    }
    if (!in->a != !in->b) {
        err_set(e, ERR_INTERNAL, "cpu backend: a without b");
        return -1;
    }
    pthread_mutex_lock(&b->lock);
    unsigned ticket = b->next_start % IN_FLIGHT;
    struct slot *s = &b->slot[ticket];
    bool room = s->state == SLOT_FREE;
    if (room) {
        b->next_start++;
        *s = (struct slot){.state = SLOT_QUEUED, .in = *in, .resident = r};
        s->timing.queued_ns = now_ns();
        r->users++;
        pthread_cond_signal(&b->work);
    }
    pthread_mutex_unlock(&b->lock);
    if (!room) {
        err_set(e, ERR_REFUSED, "cpu backend: %d proofs are in flight already", IN_FLIGHT);
        return -1;
    }
    return (int)ticket;
}

static enum prove_stage cpu_prove_poll(struct backend *b, int ticket)
{
    pthread_mutex_lock(&b->lock);
    const struct slot *s = &b->slot[ticket];
    enum prove_stage stage = s->state != SLOT_DONE ? PROVE_QUEUED
                             : s->rc               ? PROVE_FAILED
                                                   : PROVE_DONE;
    pthread_mutex_unlock(&b->lock);
    return stage;
}

static enum err_code cpu_prove_finish(struct backend *b, int ticket, struct groth16_sums *out,
                                      struct prove_timing *timing, struct err *e)
{
    INVARIANT(ticket >= 0 && ticket < IN_FLIGHT);
    struct slot *s = &b->slot[ticket];
    pthread_mutex_lock(&b->lock);
    INVARIANT(s->state != SLOT_FREE);
    while (s->state != SLOT_DONE)
        pthread_cond_wait(&b->done, &b->lock);
    enum err_code rc = s->rc;
    if (rc && e)
        *e = s->err;
    *out = s->sums;
    if (timing)
        *timing = s->timing;
    explicit_bzero(&s->sums, sizeof s->sums);
    s->state = SLOT_FREE;
    pthread_mutex_unlock(&b->lock);
    return rc;
}

/* Proofs that were started and not finished are worked through first. */
static void cpu_close(struct backend **out)
{
    struct backend *b = *out;
    if (!b)
        return;
    *out = NULL;
    pthread_mutex_lock(&b->lock);
    b->closing = true;
    pthread_cond_signal(&b->work);
    pthread_mutex_unlock(&b->lock);
    pthread_join(b->worker, NULL);
    while (b->residents) {
        struct resident *r = b->residents;
        b->residents = r->next;
        ntt_domain_free(&r->domain);
        free(r);
    }
    pool_free(&b->pool);
    explicit_bzero(b->slot, sizeof b->slot);
    pthread_cond_destroy(&b->work);
    pthread_cond_destroy(&b->done);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

const struct backend_ops backend_cpu = {
    .name = "cpu",
    .open = cpu_open,
    .caps = cpu_caps,
    .arena_attach = cpu_arena_attach,
    .arena_detach = cpu_arena_detach,
    .circuit_load = cpu_circuit_load,
    .circuit_evict = cpu_circuit_evict,
    .circuit_resident = cpu_circuit_resident,
    .circuit_bytes = cpu_circuit_bytes,
    .prove_start = cpu_prove_start,
    .prove_poll = cpu_prove_poll,
    .prove_finish = cpu_prove_finish,
    .close = cpu_close,
};
