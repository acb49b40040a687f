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

struct pace {
    uint64_t jobs, submitted, ended, failed;
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

static void submit(struct pace *p)
{
    struct message m = {.kind = MSG_SUBMIT};
    m.submit.tag = ++p->jobs;
    strcpy(m.submit.client, "bench");
    strcpy(m.submit.circuit, "mul");
    snprintf(m.submit.spool, sizeof m.submit.spool, "b%" PRIu64, p->jobs);
    m.submit.partitions = size_of(p->jobs);
    m.submit.is_volatile = 1;
    make_inputs(m.submit.spool, m.submit.partitions);
    if (lane_send(rig.lane, NULL, &m) == LANE_SENT)
        p->submitted += size_of(p->jobs);
    else
        p->jobs--;
}

static void hear(struct pace *p)
{
    static struct incoming in;
    while (lane_receive(rig.lane, &in)) {
        if (in.m.kind == MSG_ACCEPTED) {
            struct message m = {.kind = MSG_AWAIT};
            m.await.tag = in.m.accepted.tag;
            m.await.job = in.m.accepted.job;
            strcpy(m.await.client, "bench");
            lane_send(rig.lane, NULL, &m);
        } else if (in.m.kind == MSG_DONE) {
            p->ended += size_of(in.m.done.tag);
            p->failed += in.m.done.code != 0;
        } else if (in.m.kind == MSG_REFUSED) {
            p->failed++;
            fprintf(stderr, "refused: %s\n", in.m.refused.reason);
        }
    }
}

static void run(struct pace *p, uint64_t partitions)
{
    uint64_t target = p->submitted + partitions;
    while (p->ended < target && p->failed == 0) {
        for (int i = 0; i < 64 && p->submitted < target && p->submitted - p->ended < OUTSTANDING;
             i++)
            submit(p);
        lanes_wait(rig.lanes, 1);
        hear(p);
        target = target > p->submitted ? target : p->submitted; /* the last job may pass it */
    }
}

int main(int argc, char **argv)
{
    uint64_t partitions = argc > 1 ? strtoull(argv[1], NULL, 10) : 40000;
    struct pace p = {0};
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
    rig_close(&rig);
    if (p.failed) {
        printf("desk: %" PRIu64 " jobs failed\n", p.failed);
        return 1;
    }
    return 0;
}
