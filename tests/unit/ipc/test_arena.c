#include "scratch.h"
#include <signal.h>
#include <sys/wait.h>
#include "node.h"

static void made_attached_and_removed(void **state)
{
    (void)state;
    struct scratch s;
    struct arena a, b;
    struct err e = {0};
    scratch_open(&s);
    scratch_arena(&s, &a, 0, 8, 16, 0);
    assert_int_equal(arena_nodes(s.arena_fd), 1);
    assert_int_equal(a.bulk_bytes, 8 * ARENA_GRANULE_BYTES);
    assert_int_equal((uintptr_t)a.bulk % ARENA_GRANULE_BYTES, 0);
    assert_int_equal(arena_attach(&b, s.arena_fd, 0, ARENA_FILL, &e), ERR_OK);
    memset(b.bulk + 12345, 0xab, 1000);
    assert_int_equal(a.bulk[13344], 0xab);
    arena_wipe(&a, 12345, 1000);
    assert_int_equal(b.bulk[12345] | b.bulk[13344], 0);
    uint64_t here, looked = arena_verify(&a, 0, &here);
    if (looked > 0) /* a container may refuse the question */
        assert_int_equal(looked, 8 * ARENA_GRANULE_BYTES / a.header->page_bytes);
    assert_true(a.header->placement == ARENA_SINGLE || a.header->placement == ARENA_VERIFIED ||
                a.header->placement == ARENA_REFUSED);
    struct arena_request again = {.node = 0, .bulk_bytes = ARENA_GRANULE_BYTES};
    assert_int_equal(arena_create(s.arena_fd, &again, NULL, &e), ERR_REFUSED);
    arena_detach(&b);
    arena_detach(&a);
    assert_int_equal(arena_remove(s.arena_fd), 2);
    assert_int_equal(arena_nodes(s.arena_fd), 0);
    assert_int_equal(arena_attach(&a, s.arena_fd, 0, ARENA_OBSERVE, &e), ERR_UNAVAILABLE);
    scratch_close(&s);
}

static void what_can_never_fit_fails_cleanly(void **state)
{
    (void)state;
    struct scratch s;
    struct err e = {0};
    scratch_open(&s);
    struct arena_request rq = {.node = 0, .bulk_bytes = (uint64_t)1 << 50};
    assert_int_equal(arena_create(s.arena_fd, &rq, NULL, &e), ERR_MEMORY);
    assert_non_null(strstr(e.text, "tmpfs has"));
    assert_int_equal(arena_remove(s.arena_fd), 0);
    rq.bulk_bytes = 0;
    assert_int_equal(arena_create(s.arena_fd, &rq, NULL, &e), ERR_USAGE);
    rq = (struct arena_request){.node = 99, .bulk_bytes = 1};
    assert_int_equal(arena_create(s.arena_fd, &rq, NULL, &e), ERR_USAGE);
    scratch_close(&s);
}

/* In a child, so that the parent outlives the signal. */
static int status_of_write(const struct arena *a)
{
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL);
        *(volatile uint8_t *)a->bulk = 1;
        _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return status;
}

static void gpud_cannot_write_and_children_inherit_nothing(void **state)
{
    (void)state;
    struct scratch s;
    struct arena a, ro;
    struct err e = {0};
    scratch_open(&s);
    scratch_arena(&s, &a, 0, 2, 16, 0);
    assert_int_equal(status_of_write(&a), SIGSEGV); /* MADV_DONTFORK: not mapped in the child */
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL);
        if (arena_attach(&ro, s.arena_fd, 0, ARENA_PROVE, &e) != ERR_OK || ro.bulk[0] != 0)
            _exit(2);
        *(volatile uint8_t *)ro.bulk = 1;
        _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    arena_detach(&a);
    scratch_close(&s);
}

static void write_at(int dir_fd, const char *name, off_t at, const void *data, size_t n)
{
    int fd = openat(dir_fd, name, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, data, n, at), n);
    close(fd);
}

static void damaged_segments_are_refused(void **state)
{
    (void)state;
    struct scratch s;
    struct arena a;
    struct err e = {0};
    scratch_open(&s);
    scratch_arena(&s, &a, 0, 2, 16, 0);
    struct arena_header good = *a.header;
    arena_detach(&a);
    static const struct {
        size_t offset, bytes;
    } field[] = {{offsetof(struct arena_header, magic), 8},
                 {offsetof(struct arena_header, version), 4},
                 {offsetof(struct arena_header, node), 4},
                 {offsetof(struct arena_header, ctl_bytes), 8},
                 {offsetof(struct arena_header, bulk_bytes), 8},
                 {offsetof(struct arena_header, granule_bytes), 8},
                 {offsetof(struct arena_header, border_bytes), 8},
                 {offsetof(struct arena_header, rows), 8},
                 {offsetof(struct arena_header, rows_offset), 8},
                 {offsetof(struct arena_header, cells_offset), 8},
                 {offsetof(struct arena_header, map_offset), 8},
                 {offsetof(struct arena_header, map_bytes), 8},
                 {offsetof(struct arena_header, bulk_inode), 8}};
    static const uint8_t ones[8] = {255, 255, 255, 255, 255, 255, 255, 255}, zeros[8];
    for (size_t i = 0; i < sizeof field / sizeof *field; i++)
        for (int k = 0; k < 2; k++) {
            if (k == 1 && field[i].offset == offsetof(struct arena_header, node))
                continue; /* zero is the right number there */
            write_at(s.arena_fd, "node0.ctl", (off_t)field[i].offset, k ? zeros : ones,
                     field[i].bytes);
            assert_int_equal(arena_attach(&a, s.arena_fd, 0, ARENA_DESK, &e), ERR_FORMAT);
            write_at(s.arena_fd, "node0.ctl", 0, &good, sizeof good);
        }
    int fd = openat(s.arena_fd, "node0.ctl", O_RDWR);
    assert_int_equal(ftruncate(fd, 100), 0);
    close(fd);
    assert_int_equal(arena_attach(&a, s.arena_fd, 0, ARENA_DESK, &e), ERR_FORMAT);
    fchmodat(s.arena_fd, "node0.ctl", 0644, 0);
    assert_int_equal(arena_attach(&a, s.arena_fd, 0, ARENA_DESK, &e), ERR_REFUSED);
    scratch_close(&s);
}

static void extents_are_first_fit_and_cross_no_border(void **state)
{
    (void)state;
    const uint64_t G = ARENA_GRANULE_BYTES;
    struct scratch s;
    struct arena a;
    struct extent x, y, z;
    scratch_open(&s);
    scratch_arena(&s, &a, 0, 10, 16, 4); /* borders at 4 and 8 */
    assert_true(extent_cut(&a, 3 * G - 5, &x));
    assert_true(x.offset == 0 && x.bytes == 3 * G);
    assert_true(extent_cut(&a, 2 * G, &y)); /* granule 3 alone is too little, and 3..4 crosses */
    assert_int_equal(y.offset, 4 * G);
    assert_true(extent_cut(&a, 1, &z));
    assert_int_equal(z.offset, 3 * G);
    assert_false(extent_cut(&a, 5 * G, &z)); /* longer than a registered range */
    assert_int_equal(extent_largest_bytes(&a), 2 * G);
    assert_int_equal(extent_free_bytes(&a), 4 * G);
    assert_false(extent_cut(&a, 3 * G, &z)); /* 6..8 is free but crosses 8 */
    extent_return(&a, y);
    assert_int_equal(extent_largest_bytes(&a), 4 * G);
    assert_false(extent_claim(&a, (struct extent){2 * G, G}));
    assert_true(extent_claim(&a, (struct extent){4 * G, 4 * G}));
    assert_false(extent_cut(&a, 0, &z));
    assert_false(extent_cut(&a, UINT64_MAX, &z));
    arena_detach(&a);
    scratch_close(&s);
}

/* Against a plain array of bytes, with a seed that is printed. */
static void extents_equal_a_model(void **state)
{
    (void)state;
    enum { N = 150, BORDER = 64, HELD = 64 };
    const char *wish = getenv("MILLRACE_SEED");
    unsigned seed = wish ? (unsigned)strtoul(wish, NULL, 10) : (unsigned)getpid();
    print_message("seed %u\n", seed);
    struct scratch s;
    struct arena a;
    scratch_open(&s);
    scratch_arena(&s, &a, 0, N, 16, BORDER);
    uint8_t used[N] = {0};
    struct extent held[HELD];
    size_t n = 0;
    for (int step = 0; step < 20000; step++) {
        uint64_t want = (uint64_t)(rand_r(&seed) % 20 + 1), at = N;
        if (n < HELD && rand_r(&seed) % 2) {
            for (uint64_t g = 0; g + want <= N && at == N; g++) {
                bool ok = g / BORDER == (g + want - 1) / BORDER;
                for (uint64_t k = 0; ok && k < want; k++)
                    ok = !used[g + k];
                at = ok ? g : N;
            }
            struct extent x;
            bool got = extent_cut(&a, want * ARENA_GRANULE_BYTES, &x);
            assert_int_equal(got, at < N);
            if (got) {
                assert_int_equal(x.offset, at * ARENA_GRANULE_BYTES);
                memset(used + at, 1, want);
                held[n++] = x;
            }
        } else if (n > 0) {
            size_t k = (size_t)rand_r(&seed) % n;
            extent_return(&a, held[k]);
            memset(used + held[k].offset / ARENA_GRANULE_BYTES, 0,
                   held[k].bytes / ARENA_GRANULE_BYTES);
            held[k] = held[--n];
        }
        uint64_t free_granules = 0;
        for (size_t g = 0; g < N; g++)
            free_granules += !used[g];
        assert_int_equal(extent_free_bytes(&a), free_granules * ARENA_GRANULE_BYTES);
    }
    arena_detach(&a);
    scratch_close(&s);
}

static void half_made_segments_are_not_seen(void **state)
{
    (void)state;
    struct scratch s;
    struct arena a;
    struct err e = {0};
    scratch_open(&s);
    int fd = openat(s.arena_fd, ".node0.bulk", O_CREAT | O_RDWR, 0600);
    assert_int_equal(ftruncate(fd, 4096), 0);
    close(fd);
    assert_int_equal(arena_nodes(s.arena_fd), 0);
    assert_int_equal(arena_attach(&a, s.arena_fd, 0, ARENA_DESK, &e), ERR_UNAVAILABLE);
    scratch_arena(&s, &a, 0, 2, 4, 0); /* the leftover is in nobody's way */
    arena_detach(&a);
    /* A maker that was killed between its two renames leaves a bulk segment alone. */
    unlinkat(s.arena_fd, "node0.ctl", 0);
    scratch_arena(&s, &a, 0, 2, 4, 0);
    arena_detach(&a);
    scratch_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_attached_and_removed),
        cmocka_unit_test(what_can_never_fit_fails_cleanly),
        cmocka_unit_test(gpud_cannot_write_and_children_inherit_nothing),
        cmocka_unit_test(damaged_segments_are_refused),
        cmocka_unit_test(extents_are_first_fit_and_cross_no_border),
        cmocka_unit_test(extents_equal_a_model),
        cmocka_unit_test(half_made_segments_are_not_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
