/* Runs inside the emulated machine with two NUMA nodes: an arena on each, every page where it was
 * asked for, also when another process than the maker touches them. */
#include <stdlib.h>
#include <sys/wait.h>
#include "arena.h"
#include "lease.h"
#include "node.h"
#include "scratch.h"

static struct scratch s;
static struct err e;

static void the_machine_has_two_nodes(void **state)
{
    (void)state;
    int cpu[NODE_CPUS_MAX];
    assert_int_equal(nodes_with_memory(), 3);
    assert_int_equal(node_cpus(0, cpu), 1);
    assert_int_equal(cpu[0], 0);
    assert_int_equal(node_cpus(1, cpu), 1);
    assert_int_equal(cpu[0], 1);
    assert_true(node_available_bytes(0) < memory_available_bytes());
}

static void every_page_lies_on_its_node(void **state)
{
    (void)state;
    for (unsigned node = 0; node < 2; node++) {
        struct arena_request rq = {.node = node, .bulk_bytes = 24 * ARENA_GRANULE_BYTES};
        struct arena_header h;
        struct arena a;
        if (arena_create(s.arena_fd, &rq, &h, &e) != ERR_OK)
            fail_msg("%s", e.text);
        assert_int_equal(h.placement, ARENA_VERIFIED);
        assert_int_equal(h.pages_looked_at, rq.bulk_bytes / 4096);
        assert_int_equal(h.pages_on_node, h.pages_looked_at);
        assert_int_equal(arena_attach(&a, s.arena_fd, node, ARENA_FILL, &e), ERR_OK);
        uint64_t here;
        assert_int_equal(arena_verify(&a, 0, &here), rq.bulk_bytes / 4096);
        assert_int_equal(here, rq.bulk_bytes / 4096);
        print_message("node %u: %llu pages, all there\n", node, (unsigned long long)here);
        arena_detach(&a);
    }
    assert_int_equal(arena_nodes(s.arena_fd), 3);
}

/* The policy is kept by the object: pages that are dropped and touched again, by a process that is
 * bound to the other node, come back where they belong. */
static void pages_come_back_where_they_belong(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        enum node_policy policy;
        struct arena a;
        uint64_t here, n = 4 * ARENA_GRANULE_BYTES;
        if (node_bind_self(0, &policy, &e) != ERR_OK || policy != NODE_BOUND ||
            arena_attach(&a, s.arena_fd, 1, ARENA_DESK, &e) != ERR_OK)
            _exit(2);
        char path[128];
        snprintf(path, sizeof path, "%s/node1.bulk", s.folder);
        int fd = open(path, O_RDWR);
        if (fallocate(fd, 3 /* punch a hole, keep the size */, 0, (off_t)n) != 0)
            _exit(3);
        memset(a.bulk, 1, n);
        _exit(arena_verify(&a, 0, &here) == here ? 0 : 4);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
}

static void a_node_that_is_not_there_is_refused(void **state)
{
    (void)state;
    enum node_policy policy;
    struct arena_request rq = {.node = 5, .bulk_bytes = ARENA_GRANULE_BYTES};
    assert_int_equal(arena_create(s.arena_fd, &rq, NULL, &e), ERR_USAGE);
    assert_int_equal(node_bind_self(5, &policy, &e), ERR_USAGE);
}

/* More than the node has, though the machine has it: refused before anything is made, instead of
 * the out-of-memory killer later. */
static void a_node_is_not_overfilled(void **state)
{
    (void)state;
    arena_remove(s.arena_fd);
    struct arena_request rq = {.node = 1};
    rq.bulk_bytes = node_available_bytes(1) + (32 << 20);
    assert_true(rq.bulk_bytes < memory_available_bytes());
    assert_int_equal(arena_create(s.arena_fd, &rq, NULL, &e), ERR_MEMORY);
    assert_non_null(strstr(e.text, "the node has"));
    assert_int_equal(arena_nodes(s.arena_fd), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_machine_has_two_nodes),
        cmocka_unit_test(every_page_lies_on_its_node),
        cmocka_unit_test(pages_come_back_where_they_belong),
        cmocka_unit_test(a_node_that_is_not_there_is_refused),
        cmocka_unit_test(a_node_is_not_overfilled),
    };
    scratch_open(&s);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    scratch_close(&s);
    if (failed == 0)
        printf("TWO NODES: all well\n");
    return failed;
}
