/* Every interleaving of a desk, a synthd and a gpud over two partitions, two rows and two granules,
 * with up to two deaths of anybody at any step, on the real lease code. In every state that can be
 * reached: no partition is committed twice, no gpud reads what it was not given, the extent map is
 * what the rows say; and from every such state the survivors bring both partitions to their end
 * with everything free. */
#include "lease_roles.h"

enum { DEATHS_MAX = 2, DEPTH_MAX = 400, TABLE_LOG2 = 22, FAIR_TURNS = 400 };

static struct scratch scratch;
static struct arena arena;

struct state {
    struct world world;
    struct mind mind[ROLES];
    uint32_t deaths;
    uint64_t bulk[2];
    uint8_t *control;
};

static struct state now;
static uint64_t *seen;
static uint64_t n_states, n_terminal, deepest;

static void save(struct state *s)
{
    uint8_t *control = s->control;
    *s = now;
    s->control = control;
    memcpy(control, arena.header, arena.ctl_bytes);
    for (int g = 0; g < 2; g++)
        s->bulk[g] = *(uint64_t *)(arena.bulk + (uint64_t)g * ARENA_GRANULE_BYTES);
}

static void restore(const struct state *s)
{
    uint8_t *control = now.control;
    now = *s;
    now.control = control;
    memcpy(arena.header, s->control, arena.ctl_bytes);
    for (int g = 0; g < 2; g++)
        *(uint64_t *)(arena.bulk + (uint64_t)g * ARENA_GRANULE_BYTES) = s->bulk[g];
}

/* Times and counters are not part of a state. */
static uint64_t hash_state(void)
{
    for (uint32_t i = 0; i < arena.header->rows; i++)
        for (int s = 0; s < LEASE_STATES; s++)
            lease_row(&arena, i)->at_ns[s] = 0;
    for (int i = 0; i < 32; i++)
        arena.header->edges[i] = arena.header->stale[i] = 0;
    static struct state copy;
    static uint8_t control[65536];
    memset(&copy, 0, sizeof copy);
    copy.control = control;
    save(&copy);
    copy.control = NULL;
    uint64_t h = UINT64_C(0xcbf29ce484222325), word;
    for (size_t i = 0; i + 8 <= sizeof copy; i += 8) {
        memcpy(&word, (uint8_t *)&copy + i, 8);
        h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 31;
    }
    for (size_t i = arena.header->rows_offset; i + 8 <= arena.ctl_bytes; i += 8) {
        memcpy(&word, control + i, 8);
        h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 31;
    }
    return h ? h : 1;
}

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

static void check_invariants(void)
{
    uint64_t held = 0;
    assert_int_equal(now.world.spoiled, 0);
    for (uint32_t p = 0; p < PARTITIONS; p++)
        assert_true(now.world.commits[p] <= 1);
    for (uint32_t i = 0; i < arena.header->rows; i++) {
        const struct lease_row *r = lease_row(&arena, i);
        for (uint32_t k = 0; k < i; k++) {
            const struct lease_row *q = lease_row(&arena, k);
            bool both = r->extent_held && q->extent_held;
            assert_false(both && r->extent_offset == q->extent_offset);
            /* One partition is never in two rows at once. */
            assert_false(lease_look(&arena, i).state != LEASE_FREE &&
                         lease_look(&arena, k).state != LEASE_FREE && r->partition == q->partition);
        }
        held += r->extent_held ? r->extent_bytes : 0;
        /* Who reads or writes an extent holds it. */
        enum lease_state s = lease_look(&arena, i).state;
        assert_true(r->extent_held || s == LEASE_FREE || s >= LEASE_UPLOADED);
    }
    assert_int_equal(arena.bulk_bytes - extent_free_bytes(&arena), held);
}

static void die(enum role r)
{
    uint32_t in_use;
    struct err e = {0};
    now.deaths++;
    now.mind[r] = (struct mind){0};
    if (r == DESK) /* its successor begins by looking at what is there */
        assert_int_equal(lease_recover(&arena, &in_use, &e), ERR_OK);
    else
        now.world.alive[r]++;
}

static void survivors_finish(void)
{
    for (int i = 0; i < FAIR_TURNS; i++) {
        if (all_done(&arena, &now.world))
            return;
        for (int r = 0; r < ROLES; r++)
            role_turn((enum role)r, &arena, &now.world, now.world.alive[r], &now.mind[r]);
    }
    for (uint32_t i = 0; i < arena.header->rows; i++)
        print_message("row %u: %s held %u\n", i, lease_state_name(lease_look(&arena, i).state),
                      lease_row(&arena, i)->extent_held);
    fail_msg("the survivors do not finish");
}

static void explore(unsigned depth)
{
    static struct state stack[DEPTH_MAX];
    assert_true(depth < DEPTH_MAX);
    if (!is_new(hash_state()))
        return;
    deepest = depth > deepest ? depth : deepest;
    struct state *here = &stack[depth];
    if (!here->control)
        here->control = malloc(arena.ctl_bytes);
    save(here);
    check_invariants();
    survivors_finish();
    check_invariants();
    restore(here);
    bool moved = false;
    for (int r = 0; r < ROLES; r++) {
        if (role_turn((enum role)r, &arena, &now.world, now.world.alive[r], &now.mind[r])) {
            moved = true;
            explore(depth + 1);
        }
        restore(here);
        if (now.deaths < DEATHS_MAX) {
            die((enum role)r);
            explore(depth + 1);
            restore(here);
        }
    }
    n_terminal += !moved;
}

static void every_interleaving_with_two_deaths(void **state)
{
    (void)state;
    scratch_open(&scratch);
    scratch_arena(&scratch, &arena, 0, 2, 2, 0);
    seen = calloc((size_t)1 << TABLE_LOG2, sizeof *seen);
    now.world = (struct world){.alive = {1, 1, 1}};
    explore(0);
    print_message("%llu states, %llu of them ends, %llu deep\n", (unsigned long long)n_states,
                  (unsigned long long)n_terminal, (unsigned long long)deepest);
    assert_true(n_states > 1000 && n_terminal > 0);
    free(seen);
    arena_detach(&arena);
    scratch_close(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_interleaving_with_two_deaths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
