/* one_process: the other half of the malloc_trim experiment (trim.py): the pipeline's work in one
 * process, as provers with one tracker have it. One thread evaluates, one makes the sums in the
 * GPU's place, one finishes; all of them pass partitions on under the tracker's lock, and the
 * finisher calls malloc_trim(0) under it after every partition.
 *
 *   one_process KEY.zkey WITNESS.wtns VK.json BALLAST_BYTES PARTITIONS on|off
 *
 * Prints sums made per second, and for how many milliseconds in all the thread in the GPU's place
 * waited for the lock. On two CPUs that thread has one and the others have the other. */
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ballast.h"
#include "json.h"
#include "matrix.h"
#include "ntt.h"
#include "span.h"
#include "verify.h"
#include "workers.h"
#include "wtns.h"
#include "zkey.h"

enum { SLOTS = 4 };
enum stage { FREE, EVALUATED, SUMMED };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    struct slot {
        enum stage stage;
        fr_t *a, *b;
        struct groth16_sums sums;
    } slots[SLOTS];
} tracker = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {{0}}};

static struct circuit *circuit;
static struct ntt_domain *domain;
static struct verification_key vk;
static fr_t *witness;
static unsigned partitions;
static bool trims;
static uint64_t waited_ns, first_ns, last_ns;

static void stop_on(enum err_code rc, const struct err *e)
{
    if (rc) {
        fprintf(stderr, "one_process: %s\n", e->text);
        exit((int)rc);
    }
}

static struct slot *take(unsigned i, enum stage stage)
{
    struct slot *s = &tracker.slots[i % SLOTS];
    pthread_mutex_lock(&tracker.lock);
    while (s->stage != stage)
        pthread_cond_wait(&tracker.moved, &tracker.lock);
    pthread_mutex_unlock(&tracker.lock);
    return s;
}

static void give(struct slot *s, enum stage stage, bool trim)
{
    pthread_mutex_lock(&tracker.lock);
    s->stage = stage;
    pthread_cond_broadcast(&tracker.moved);
    if (trim)
        malloc_trim(0);
    pthread_mutex_unlock(&tracker.lock);
}

static void pin(int cpu)
{
    cpu_set_t one;
    if (sysconf(_SC_NPROCESSORS_ONLN) != 2)
        return;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

static void *evaluate(void *arg)
{
    size_t n = (size_t)1 << circuit->domain_log2;
    pin(0);
    for (unsigned i = 0; i < partitions; i++) {
        struct slot *s = take(i, FREE);
        matrix_evaluate(circuit->curve, &circuit->a, witness, s->a, n, NULL);
        matrix_evaluate(circuit->curve, &circuit->b, witness, s->b, n, NULL);
        give(s, EVALUATED, false);
    }
    return arg;
}

static void *sum(void *arg)
{
    struct err e = {0};
    pin(1);
    for (unsigned i = 0; i < partitions; i++) {
        uint64_t begin = span_now_ns();
        struct slot *s = take(i, EVALUATED);
        if (i)
            waited_ns += span_now_ns() - begin;
        stop_on(groth16_sums(circuit, domain, witness, s->a, s->b, &s->sums, NULL, NULL, &e), &e);
        last_ns = span_now_ns();
        if (i == 0)
            first_ns = last_ns;
        give(s, SUMMED, false);
        waited_ns += span_now_ns() - last_ns;
    }
    return arg;
}

static void *finish(void *arg)
{
    struct err e = {0};
    pin(0);
    for (unsigned i = 0; i < partitions; i++) {
        struct proof proof;
        struct slot *s = take(i, SUMMED);
        groth16_assemble(circuit, &s->sums, &proof);
        stop_on(groth16_verify(&vk, witness + 1, &proof, &e), &e);
        give(s, FREE, trims);
    }
    return arg;
}

int main(int argc, char **argv)
{
    struct err e = {0};
    if (argc != 7) {
        fputs("usage: one_process KEY WITNESS VK BALLAST_BYTES PARTITIONS on|off\n", stderr);
        return ERR_USAGE;
    }
    uint64_t ballast = strtoull(argv[4], NULL, 10);
    partitions = (unsigned)strtoul(argv[5], NULL, 10);
    trims = strcmp(argv[6], "on") == 0;
    circuit = zkey_load_circuit(argv[1], CHECK_ON_CURVE, NULL, &e);
    stop_on(e.code, &e);
    struct wtns *file = wtns_open(argv[2], &e);
    stop_on(e.code, &e);
    witness = malloc(circuit->n_wires * sizeof *witness);
    stop_on(wtns_expect(file, circuit->curve, circuit->n_wires, &e), &e);
    stop_on(wtns_read(file, witness, NULL, &e), &e);
    wtns_close(&file);
    stop_on(vk_read(argv[3], &vk, &e), &e);
    domain = ntt_domain_new(circuit->curve, circuit->roots, circuit->domain_log2, NULL, &e);
    stop_on(e.code, &e);
    for (int i = 0; i < SLOTS; i++) {
        tracker.slots[i].a = malloc(sizeof(fr_t) << circuit->domain_log2);
        tracker.slots[i].b = malloc(sizeof(fr_t) << circuit->domain_log2);
    }
    struct workers *heap = workers_new(1, "heap", &e);
    stop_on(e.code, &e);
    stop_on(ballast_make(ballast, heap, &e), &e);
    if (trims)
        malloc_trim(0); /* the first gives all free pages back, and is not what is measured */
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, evaluate, NULL);
    pthread_create(&threads[1], NULL, sum, NULL);
    pthread_create(&threads[2], NULL, finish, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%.3f %.1f\n", (partitions - 1) / ((double)(last_ns - first_ns) / 1e9),
           (double)waited_ns / 1e6);
    return 0;
}
