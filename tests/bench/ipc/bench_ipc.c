/* What the parts of ipc cost. One line each: name, median of the rounds, what it should stay below.
 *
 *   bench_ipc [SECONDS]      about so long for each (default 0.3) */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lane.h"
#include "lease.h"
#include "span.h"
#include "tap.h"

enum { ROUNDS = 15, HOPS = 20000 };

static char dir[] = "/tmp/millrace-bench-XXXXXX", folder[80];
static struct instance in;
static struct err e;
static const struct actor desk = {.kind = ACTOR_FINALIZD, .incarnation = 1};
static const struct actor synthd = {.kind = ACTOR_SYNTHD, .incarnation = 1};
static double seconds = 0.3;

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* The thread's own time: what others do on this machine meanwhile is not the code's cost. */
static uint64_t cpu_now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Runs body(n) in rounds and prints the median of nanoseconds a call. */
static double measure(const char *name, void (*body)(uint64_t n), double bound)
{
    uint64_t n = 64;
    double took[ROUNDS];
    for (;;) { /* as many calls as fill a round */
        uint64_t t0 = cpu_now_ns();
        body(n);
        uint64_t t = cpu_now_ns() - t0;
        if ((double)t * ROUNDS > seconds * 1e9)
            break;
        n *= 2;
    }
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t t0 = cpu_now_ns();
        body(n);
        took[i] = (double)(cpu_now_ns() - t0) / (double)n;
    }
    qsort(took, ROUNDS, sizeof *took, by_value);
    double ns = took[ROUNDS / 2];
    printf("%-44s %10.2f ns", name, ns);
    if (bound > 0)
        printf("   bound %.0f ns: %s", bound, ns <= bound ? "kept" : "MISSED");
    printf("\n");
    fflush(stdout);
    return ns;
}

static void open_instance(void)
{
    if (!mkdtemp(dir) || instance_create(dir, &e) || instance_open(&in, dir, &e))
        DIE("%s", e.text);
    snprintf(folder, sizeof folder, "/dev/shm/%s", strrchr(dir, '/') + 1);
    if (mkdir(folder, 0700) || symlinkat(folder, in.run_fd, "arena"))
        DIE("cannot make %s", folder);
}

static void close_instance(void)
{
    char command[256];
    snprintf(command, sizeof command, "rm -r %s %s", dir, folder);
    if (system(command) != 0)
        fprintf(stderr, "left behind: %s %s\n", dir, folder);
}

/* --- a hop: encode, send, receive, decode, in another process and back ----------------------- */

static struct message grant;

static void echo(void)
{
    struct lanes *ls = lanes_new(&in, &desk, &e);
    struct lane *l = lane_bind(ls, LANE_DESK, 0, &e);
    struct incoming got;
    for (;;) {
        lanes_wait(ls, 1000);
        while (lane_receive(l, &got))
            lane_send(l, got.peer, &grant);
    }
}

static void hops(void)
{
    static double ns[HOPS];
    pid_t pid = fork();
    if (pid == 0)
        echo();
    struct lanes *ls = lanes_new(&in, &synthd, &e);
    struct lane *l = lane_connect(ls, LANE_DESK, 0, &e);
    struct message ask = {.kind = MSG_PUBLISHED};
    struct incoming got;
    for (int i = -1000; i < HOPS; i++) {
        uint64_t t0 = span_now_ns();
        lane_send(l, NULL, &ask);
        while (!lane_receive(l, &got))
            lanes_wait(ls, 1000);
        if (i >= 0)
            ns[i] = (double)(span_now_ns() - t0) / 2;
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    lanes_free(&ls);
    qsort(ns, HOPS, sizeof *ns, by_value);
    printf("%-44s %10.2f us p50 %8.2f us p99 %8.2f us p99.9\n",
           "descriptor hop, process to process", ns[HOPS / 2] / 1e3, ns[HOPS * 99 / 100] / 1e3,
           ns[HOPS * 999 / 1000] / 1e3);
}

/* --- codec ----------------------------------------------------------------------------------- */

static uint8_t frame[MESSAGE_BYTES_MAX];
static size_t frame_bytes;

static void encode(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        grant.grant.job = i + 1;
        frame_bytes = message_encode(&grant, frame, sizeof frame);
    }
}

static void decode(uint64_t n)
{
    struct message m;
    const char *why;
    size_t at;
    for (uint64_t i = 0; i < n; i++)
        if (!message_decode(&m, frame, frame_bytes, &why, &at))
            DIE("%s", why);
}

/* --- tap -------------------------------------------------------------------------------------- */

static struct lanes *tap_lanes;
static uint64_t mirrored;

/* The two differ in nothing but the look whether somebody listens, as lane.c has it. */
static void without_tap(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        __asm__ volatile("" ::: "memory");
}

static void unarmed_tap(uint64_t n)
{
    const struct tap *t = lanes_tap(tap_lanes);
    for (uint64_t i = 0; i < n; i++) {
        if (__builtin_expect(tap_armed(t), 0))
            mirrored++;
        __asm__ volatile("" ::: "memory");
    }
}

static struct tap_header header;

static void record(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        tap_record(lanes_tap(tap_lanes), &header, &grant);
}

static void mirror(uint64_t n)
{
    header.frame_bytes = (uint32_t)frame_bytes;
    for (uint64_t i = 0; i < n; i++)
        tap_mirror(lanes_tap(tap_lanes), &header, &grant, frame);
}

/* --- spans, leases ---------------------------------------------------------------------------- */

static struct span_ring *ring;

static void write_span(uint64_t n)
{
    struct span_who who = {.job = 1, .partition = 2, .attempt = 3, .row = 4};
    for (uint64_t i = 0; i < n; i++)
        span_write(ring, SPAN_COMMIT, &who, i, i + 1, 0);
}

static void timed_span(uint64_t n)
{
    struct span_who who = {.job = 1, .partition = 2, .attempt = 3, .row = 4};
    for (uint64_t i = 0; i < n; i++) {
        uint64_t t0 = span_now_ns();
        span_write(ring, SPAN_COMMIT, &who, t0, span_now_ns(), 0);
    }
}

static struct arena arena;

/* One partition's whole way through the table, with its extent and its result cell. */
static void whole_life(uint64_t n)
{
    actor_id s = actor_to_id(&synthd),
             g = actor_to_id(&(struct actor){.kind = ACTOR_GPUD, .incarnation = 1});
    struct lease_terms t = {.job = 1, .target = g, .spool = "x"};
    struct lease_result sums = {.sums_bytes = LEASE_SUMS_MAX}, out;
    struct lease_ref r;
    for (uint64_t i = 0; i < n; i++) {
        bool ok = extent_cut(&arena, 1, &t.extent) && lease_grant(&arena, 0, &t, s, &r) &&
                  lease_claim(&arena, r, s) && lease_publish(&arena, r, s) &&
                  lease_take(&arena, r, g) && lease_uploaded(&arena, r, g) &&
                  lease_proved(&arena, r, g, &sums) && lease_result_read(&arena, r, &out) &&
                  lease_settle(&arena, r);
        INVARIANT(ok);
        lease_extent_returned(&arena, 0);
    }
}

static void scan(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        uint32_t row = 0;
        while (lease_next(&arena, LEASE_READY, 1, &row))
            row++;
    }
}

int main(int argc, char **argv)
{
    if (argc > 1)
        seconds = strtod(argv[1], NULL);
    open_instance();
    grant.kind = MSG_GRANT;
    message_set_lease(&grant, (struct lease_ref){0x1234567890abcdef, 1, 77, 4711}, 5, 3, 1);
    hops();
    measure("encode a GRANT", encode, 0);
    measure("decode a GRANT", decode, 0);

    tap_lanes = lanes_new(&in, &desk, &e);
    double base = measure("loop without a tap", without_tap, 0);
    double unarmed = measure("loop with a tap that nobody listens to", unarmed_tap, 0);
    printf("%-44s %10.2f ns   bound 2 ns: %s\n", "tap, unarmed, a message", unarmed - base,
           unarmed - base <= 2 ? "kept" : "MISSED");
    measure("flight record, a message", record, 0);
    struct tap_reader *reader = tap_reader_new(&in, &e);
    struct tap_event ev;
    tap_reader_next(reader, &ev, 10);
    while (!tap_armed(lanes_tap(tap_lanes)))
        lanes_wait(tap_lanes, 10);
    measure("tap, armed, its reader asleep, a message", mirror, 0);
    tap_reader_free(&reader);
    lanes_free(&tap_lanes);

    ring = span_ring_open(&in, &desk, "bench", &e);
    measure("span", write_span, 100);
    measure("span with its two clock readings", timed_span, 100);

    int fd = instance_arena_fd(&in, &e);
    struct arena_request rq = {.bulk_bytes = 4 * ARENA_GRANULE_BYTES};
    if (arena_create(fd, &rq, NULL, &e) || arena_attach(&arena, fd, 0, ARENA_DESK, &e))
        DIE("%s", e.text);
    measure("lease, FREE to FREE, with extent and result", whole_life, 0);
    measure("re-scan of 1,024 rows", scan, 0);
    arena_detach(&arena);
    close(fd);
    close_instance();
    return 0;
}
