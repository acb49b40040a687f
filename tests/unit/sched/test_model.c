/* Budget and leases with mixed extents: every interleaving of small configurations, on the desk's
 * own code and a real lease table (model.h). In every state that can be reached: no granule has two
 * owners or none, no memory is over its limit, what a daemon holds is charged. Where nothing can
 * move any more every job has ended and everything is free: no deadlock, no leak, no lost wake-up.
 * And from every state daemons that go on working, in a fixed order and without the adversary,
 * bring all to its end. */
#include "log.h"
#include "model.h"

enum { DEPTH_MAX = 600, TABLE_LOG2 = 21, PATIENCE = 600 };

static uint64_t *seen;
static uint64_t n_states, n_ends, deepest;
static struct snapshot *stack[DEPTH_MAX];
static char path[DEPTH_MAX][64];

static bool is_new(uint64_t h)
{
    uint64_t mask = (UINT64_C(1) << TABLE_LOG2) - 1;
    for (uint64_t i = h & mask;; i = (i + 1) & mask) {
        if (seen[i] == h)
            return false;
        if (seen[i] == 0) {
            seen[i] = h;
            n_states++;
            assert_true(n_states < mask);
            return true;
        }
    }
}

static void stuck(unsigned depth, const char *what)
{
    for (unsigned i = depth > 60 ? depth - 60 : 0; i < depth; i++)
        print_message("  %s\n", path[i]);
    fail_msg("%s after the steps above", what);
}

static void others_finish(unsigned depth)
{
    char what[64];
    for (unsigned i = 0; i < PATIENCE; i++)
        if (!model_step(0, false, what)) {
            if (!model_ended())
                stuck(depth, "nothing moves, and not all has ended,");
            return;
        }
    stuck(depth, "there is no end");
}

static void explore(unsigned depth)
{
    char what[64];
    assert_true(depth < DEPTH_MAX);
    if (!is_new(model_hash()))
        return;
    deepest = depth > deepest ? depth : deepest;
    model_check();
    stack[depth] = model_save(stack[depth]);
    others_finish(depth);
    model_restore(stack[depth]);
    unsigned i = 0;
    while (model_step(i, true, path[depth])) {
        explore(depth + 1);
        model_restore(stack[depth]);
        i++;
    }
    if (!model_step(0, false, what) && !model_ended())
        stuck(depth, "nothing moves, and not all has ended,");
    if (i == 0)
        n_ends++;
    model_restore(stack[depth]);
}

static void every_interleaving(const struct model_config *c)
{
    memset(seen, 0, sizeof *seen << TABLE_LOG2);
    n_states = n_ends = deepest = 0;
    model_open(c);
    explore(0);
    model_close();
    print_message("%s: %llu states, %llu ends, %llu deep\n", c->name, (unsigned long long)n_states,
                  (unsigned long long)n_ends, (unsigned long long)deepest);
    assert_true(n_states > 100 && n_ends > 0);
}

#define KEY 100
static const struct model_config configs[] = {
    {.name = "room for one extent, two sizes",
     .granules = 3,
     .rows = 2,
     .gpuds = 1,
     .synthds = 1,
     .ready_bound = 1,
     .synthd_credit = 1,
     .in_flight = 1,
     .evaluate = EVALUATE_SYNTHD,
     .room_passes = 1,
     .key_passes = 1,
     .early_upload = true,
     .cancels = 1,
     .failures = 1,
     .circuit = {{3, 1, KEY, false}, {1, 1, KEY, false}},
     .job = {{0, 1, false}, {1, 2, false}}},
    /* Found by the soak: room was kept for a job, an older one of its circuit failed and waited
     * again, and was refused the room, while the walk stood on it and never came to the younger. */
    {.name = "room is kept, and an older job of that circuit waits again",
     .granules = 2,
     .rows = 2,
     .gpuds = 1,
     .synthds = 1,
     .ready_bound = 2,
     .synthd_credit = 1,
     .in_flight = 1,
     .evaluate = EVALUATE_SYNTHD,
     .room_passes = 0,
     .key_passes = 0,
     .early_upload = false,
     .failures = 1,
     .circuit = {{2, 1, KEY, false}, {1, 1, KEY, false}},
     .job = {{0, 1, false}, {0, 1, false}, {1, 1, false}}},
    {.name = "a gpud dies, two of them",
     .granules = 3,
     .rows = 2,
     .gpuds = 2,
     .synthds = 1,
     .ready_bound = 1,
     .synthd_credit = 1,
     .in_flight = 1,
     .evaluate = EVALUATE_SYNTHD,
     .room_passes = 1,
     .key_passes = 1,
     .early_upload = true,
     .deaths = 1,
     .circuit = {{2, 1, KEY, false}, {1, 1, KEY, false}},
     .job = {{0, 1, false}, {1, 1, false}}},
    {.name = "device memory for one key, two circuits in turn",
     .granules = 4,
     .rows = 2,
     .gpuds = 1,
     .synthds = 1,
     .ready_bound = 1,
     .synthd_credit = 1,
     .in_flight = 1,
     .device_limit = KEY + KEY / 2,
     .evaluate = EVALUATE_SYNTHD,
     .room_passes = 2,
     .key_passes = 1,
     .early_upload = true,
     .cancels = 1,
     .circuit = {{2, 1, KEY, false}, {1, 1, KEY, false}},
     .job = {{0, 1, false}, {1, 1, false}, {0, 1, false}}},
    {.name = "host memory for one key, three circuits",
     .granules = 4,
     .rows = 2,
     .gpuds = 1,
     .synthds = 1,
     .ready_bound = 1,
     .synthd_credit = 1,
     .in_flight = 2,
     .host_limit = 3 * KEY / 2 + 4096,
     .evaluate = EVALUATE_SYNTHD,
     .room_passes = 1,
     .key_passes = 1,
     .early_upload = true,
     .circuit = {{1, 1, KEY + 4000, false}, {1, 1, KEY + 4000, false}},
     .job = {{0, 1, false}, {1, 1, false}, {0, 1, false}}},
    {.name = "an urgent job beside a large one, with its reserve",
     .granules = 4,
     .rows = 3,
     .gpuds = 1,
     .synthds = 1,
     .ready_bound = 1,
     .synthd_credit = 1,
     .in_flight = 1,
     .evaluate = EVALUATE_SYNTHD,
     .room_passes = 1,
     .key_passes = 1,
     .early_upload = true,
     .cancels = 1,
     .circuit = {{3, 1, KEY, false}, {1, 1, KEY, true}},
     .job = {{0, 1, false}, {1, 1, true}},
     .late = 1},
    {.name = "matrices on the GPU where a and b find no room",
     .granules = 3,
     .rows = 3,
     .gpuds = 1,
     .synthds = 1,
     .ready_bound = 1,
     .synthd_credit = 2,
     .in_flight = 1,
     .evaluate = EVALUATE_AUTO,
     .room_passes = 1,
     .key_passes = 1,
     .early_upload = false,
     .cancels = 1,
     .circuit = {{2, 1, KEY, false}, {3, 1, KEY, false}},
     .job = {{0, 2, false}, {1, 1, false}}},
};

static void every_interleaving_of(void **state)
{
    every_interleaving(*state);
}

int main(void)
{
    enum { N = sizeof configs / sizeof *configs };
    struct CMUnitTest tests[N];
    setenv("MILLRACE_LOG", "error", 1);
    log_init("model");
    seen = calloc((size_t)1 << TABLE_LOG2, sizeof *seen);
    for (unsigned i = 0; i < N; i++)
        tests[i] = (struct CMUnitTest){.name = configs[i].name,
                                       .test_func = every_interleaving_of,
                                       .initial_state = (void *)(uintptr_t)&configs[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
