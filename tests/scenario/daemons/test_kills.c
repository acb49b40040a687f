/* A daemon is killed at each named point of a partition's life; the desk proves the death, does
 * what its table says, and the partition ends with the right sums all the same; the arena is all
 * free. Needs a build with -Dkill_points=true. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "desk.h"

static struct desk desk;
static struct circuit *mul;
static struct child *synthd, *gpud;
static char wtns[4096];

enum { S = 30000 };
#define IN(state) (1u << LEASE_##state)

static int set_up(void **state)
{
    (void)state;
    desk_open(&desk, 16 << 20);
    mul = desk_add_circuit(&desk, "bn128/mul");
    snprintf(wtns, sizeof wtns, "%s/bn128/mul/mul.wtns", getenv("FIXTURES"));
    desk_spool(&desk, "mul", wtns);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    circuit_free(&mul);
    desk_close(&desk);
    return 0;
}

static void give_back(struct lease_ref r)
{
    struct extent x;
    if (lease_extent_due(&desk.arena, r.row, &x)) {
        arena_wipe(&desk.arena, x.offset, x.bytes);
        lease_extent_returned(&desk.arena, r.row);
    }
}

static struct lease_ref grant(void)
{
    struct want w = {.circuit = mul->digest, .facts = mul, .spool = "mul"};
    return desk_grant(&desk, synthd, gpud, &w);
}

static void end(struct child **c)
{
    if (*c != NULL && !(*c)->ended) {
        desk_signal(*c, SIGTERM);
        assert_true(desk_wait_end(&desk, *c, S));
    }
}

/* What the table in DESIGN.md says when the owner of this lease is dead. */
static struct lease_ref recover(struct lease_ref r, actor_id dead)
{
    struct lease_view v = lease_look(&desk.arena, r.row);
    if (v.owner != dead || v.generation != r.generation)
        return r;
    switch (v.state) {
    case LEASE_GRANTED:
    case LEASE_FILLING:
    case LEASE_UPLOADED:
        assert_true(lease_abandon(&desk.arena, r, dead));
        give_back(r);
        return grant();
    case LEASE_READY:
        assert_true(lease_reassign(&desk.arena, r, dead, actor_to_id(&gpud->actor)));
        return r;
    case LEASE_PROVING:
        assert_true(lease_requeue(&desk.arena, r, dead, actor_to_id(&gpud->actor)));
        return r;
    default:
        return r; /* PROVED, FAILED: the result stands, whoever is dead */
    }
}

static void kill_at(const char *point)
{
    bool of_synthd = strncmp(point, "synthd.", 7) == 0 || strstr(point, "claim") != NULL ||
                     strstr(point, "publish") != NULL;
    synthd = desk_start(&desk, ACTOR_SYNTHD, 0, of_synthd ? point : NULL);
    gpud = desk_start(&desk, ACTOR_GPUD, 0, of_synthd ? NULL : point);
    struct child **victim = of_synthd ? &synthd : &gpud;
    struct lease_ref r = grant();
    assert_true(desk_wait_end(&desk, *victim, S)); /* the point is on this partition's path */
    assert_true(WIFSIGNALED((*victim)->status) && WTERMSIG((*victim)->status) == SIGKILL);
    actor_id dead = actor_to_id(&(*victim)->actor);
    *victim = desk_start(&desk, of_synthd ? ACTOR_SYNTHD : ACTOR_GPUD, 0, NULL);
    r = recover(r, dead);

    struct lease_result result;
    struct groth16_sums expected, got;
    if (!desk_wait(&desk, r, IN(PROVED) | IN(FAILED), S))
        fail_msg("%s: the lease stays %s", point,
                 lease_state_name(lease_look(&desk.arena, r.row).state));
    desk_settle(&desk, r, &result);
    assert_int_equal(result.code, 0);
    desk_expected(mul, wtns, &expected);
    memcpy(&got, result.sums, sizeof got);
    assert_memory_equal(&got.a, &expected.a, 64);
    assert_memory_equal(&got.h, &expected.h, 64);
    assert_true(desk_all_free(&desk));
    end(&synthd);
    end(&gpud);
}

static void every_point(void **state)
{
    (void)state;
    static const char *const points[] = {
        "lease.claim.before",   "lease.claim.after",     "synthd.witness.before",
        "synthd.witness.after", "synthd.evaluate.after", "lease.publish.before",
        "lease.publish.after",  "lease.take.before",     "lease.take.after",
        "gpud.start.before",    "gpud.start.after",      "gpud.finish.before",
        "gpud.finish.after",    "lease.result.half",     "lease.proved.before",
        "lease.proved.after",
    };
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        kill_at(points[i]);
}

int main(void)
{
#ifndef MILLRACE_KILL_POINTS
    printf("skipped: needs a build with -Dkill_points=true\n");
    return 77;
#endif
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_point)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
