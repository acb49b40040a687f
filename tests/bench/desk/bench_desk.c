/* bench_desk: how many partitions a second the desk moves, and what each costs it, with nothing
 * behind it: 64 synthd and 16 gpud simulated in two processes, finishers that accept, the ledger
 * with synchronous FULL on a real file system. Jobs of 1 and of 16 partitions in turn. Bars: 5,000
 * partitions/s on two cores and 50 us of finalizd's CPU each.
 *
 *   bench_desk [PARTITIONS]          default 40,000 */
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "rig.h"

enum { OUTSTANDING = 2048 }; /* partitions: submitted, not yet answered */

static struct rig rig;

static double cpu_seconds(pid_t pid)
{
    char path[64];
    unsigned long user, kernel;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "re");
    if (!f || fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                     &kernel) != 2)
        exit(1);
    fclose(f);
    return (double)(user + kernel) / (double)sysconf(_SC_CLK_TCK);
}

enum { JOBS_MAX = 1 << 20 };

struct pace {
    uint64_t jobs, submitted, ended, failed, asked_again;
    uint64_t first_open; /* every job before it has ended */
    uint64_t *id;        /* by tag; 0: not accepted yet */
    bool *has_ended;
};

static unsigned size_of(uint64_t tag)
{
    return tag & 1 ? 16 : 1;
}

/* Empty ones: the desk looks whether they are there, the simulated synthd reads none. */
static void make_inputs(const char *spool, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        char path[128];
        snprintf(path, sizeof path, "spool/%s.%u", spool, i);
        int fd = openat(rig.in.dir_fd, path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        if (fd < 0) {
            perror(path);
            exit(1);
        }
        close(fd);
    }
}

/* A full socket is the desk's way to say slower; nothing may be dropped here. */
static void send_surely(const struct message *m)
{
    while (lane_send(rig.lane, NULL, m) != LANE_SENT)
        usleep(50);
}

static void ask_for(uint64_t tag)
{
    struct message m = {.kind = MSG_SUBMIT};
    m.submit.tag = tag;
    strcpy(m.submit.client, "bench");
    strcpy(m.submit.circuit, "mul");
    snprintf(m.submit.request, sizeof m.submit.request, "r%" PRIu64, tag);
    snprintf(m.submit.spool, sizeof m.submit.spool, "b%" PRIu64, tag);
    m.submit.partitions = size_of(tag);
    m.submit.is_volatile = 1;
    make_inputs(m.submit.spool, m.submit.partitions);
    send_surely(&m);
}

static void submit(struct pace *p)
{
    p->submitted += size_of(++p->jobs);
    ask_for(p->jobs);
}

static void await(struct pace *p, uint64_t tag)
{
    struct message m = {.kind = MSG_AWAIT};
    m.await.tag = tag;
    m.await.job = p->id[tag];
    strcpy(m.await.client, "bench");
    send_surely(&m);
}

static void hear(struct pace *p)
{
    static struct incoming in;
    while (lane_receive(rig.lane, &in)) {
        if (in.m.kind == MSG_ACCEPTED) {
            p->id[in.m.accepted.tag] = in.m.accepted.job;
            await(p, in.m.accepted.tag);
        } else if (in.m.kind == MSG_DONE && !p->has_ended[in.m.done.tag]) {
            p->has_ended[in.m.done.tag] = true;
            p->ended += size_of(in.m.done.tag);
            p->failed += in.m.done.code != 0;
        } else if (in.m.kind == MSG_REFUSED) {
            p->failed++;
            fprintf(stderr, "refused: %s\n", in.m.refused.reason);
        }
    }
}

/* An answer may be dropped where this end does not empty its socket in time: asked again, as the
 * client library does. */
static void ask_again(struct pace *p)
{
    while (p->first_open <= p->jobs && p->has_ended[p->first_open])
        p->first_open++;
    for (uint64_t tag = p->first_open; tag <= p->jobs; tag++)
        if (!p->has_ended[tag]) {
            p->asked_again++;
            if (p->id[tag])
                await(p, tag);
            else
                ask_for(tag);
        }
}

static void run(struct pace *p, uint64_t partitions)
{
    uint64_t target = p->submitted + partitions, ended = p->ended, moved_ms = rig_now_ms();
    while (p->ended < target && p->failed == 0) {
        for (int i = 0; i < 64 && p->submitted < target && p->submitted - p->ended < OUTSTANDING;
             i++)
            submit(p);
        lanes_wait(rig.lanes, 1);
        hear(p);
        if (p->ended != ended) {
            ended = p->ended;
            moved_ms = rig_now_ms();
        } else if (rig_now_ms() - moved_ms > 200) {
            ask_again(p);
            moved_ms = rig_now_ms();
        }
        target = target > p->submitted ? target : p->submitted; /* the last job may pass it */
    }
}

int main(int argc, char **argv)
{
    uint64_t partitions = argc > 1 ? strtoull(argv[1], NULL, 10) : 40000;
    struct pace p = {.first_open = 1};
    p.id = calloc(JOBS_MAX, sizeof *p.id);
    p.has_ended = calloc(JOBS_MAX, sizeof *p.has_ended);
    if (!p.id || !p.has_ended || partitions > JOBS_MAX)
        return 2; /* a job has at least one partition */
    setenv("MILLRACE_LOG", "warn", 1);
    rig_open(&rig, 256, 512, "[desk]\nready_bound = 4\n");
    rig_spawn(&rig, "synthd", 0, 64, NULL);
    rig_spawn(&rig, "gpud", 0, 16, NULL);
    run(&p, 2000); /* everybody is there */
    double cpu = cpu_seconds(rig.desk);
    uint64_t begin = rig_now_ms(), from = p.ended;
    run(&p, partitions);
    double seconds = (double)(rig_now_ms() - begin) / 1000;
    double n = (double)(p.ended - from);
    cpu = cpu_seconds(rig.desk) - cpu;
    struct message status = {.kind = MSG_STATUS}, answer;
    rig_ask(&rig, &status, &answer, 5000);
    printf("desk: %.0f partitions in %.2f s: %.0f partitions/s (bar 5000)\n", n, seconds,
           n / seconds);
    printf("desk: %.1f us of finalizd's CPU each (bar 50)\n", cpu / n * 1e6);
    printf("desk: %" PRIu64 " answers asked for again\n", p.asked_again);
    rig_close(&rig);
    if (p.failed) {
        printf("desk: %" PRIu64 " jobs failed\n", p.failed);
        return 1;
    }
    return 0;
}
