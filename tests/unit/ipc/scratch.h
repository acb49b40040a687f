/* scratch: an instance in a temporary directory with a tmpfs folder for arenas, for the tests. */
#pragma once
#include <assert.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "arena.h"
#include "instance.h"

struct scratch {
    char dir[64], folder[80];
    struct instance in;
    int arena_fd;
};

static inline void scratch_open(struct scratch *s)
{
    struct err e = {0};
    strcpy(s->dir, "/tmp/millrace-test-XXXXXX");
    assert_non_null(mkdtemp(s->dir));
    assert_int_equal(instance_create(s->dir, &e), ERR_OK);
    assert_int_equal(instance_open(&s->in, s->dir, &e), ERR_OK);
    snprintf(s->folder, sizeof s->folder, "/dev/shm/%s", strrchr(s->dir, '/') + 1);
    assert_int_equal(mkdir(s->folder, 0700), 0);
    assert_int_equal(symlinkat(s->folder, s->in.run_fd, "arena"), 0);
    s->arena_fd = instance_arena_fd(&s->in, &e);
    assert_true(s->arena_fd >= 0);
}

static inline void scratch_close(struct scratch *s)
{
    static const char *const folders[] = {"run", "store", "spool", "ledger", "log"};
    instance_folder_empty(s->arena_fd);
    close(s->arena_fd);
    rmdir(s->folder);
    instance_folder_empty(s->in.run_fd);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        unlinkat(s->in.dir_fd, folders[i], AT_REMOVEDIR);
    instance_close(&s->in);
    rmdir(s->dir);
}

static inline void scratch_arena(struct scratch *s, struct arena *a, unsigned node,
                                 uint64_t granules, uint32_t rows, uint64_t border_granules)
{
    struct err e = {0};
    struct arena_request rq = {.node = node,
                               .bulk_bytes = granules * ARENA_GRANULE_BYTES,
                               .rows = rows,
                               .border_bytes = border_granules * ARENA_GRANULE_BYTES};
    if (arena_create(s->arena_fd, &rq, NULL, &e) != ERR_OK)
        fail_msg("%s", e.text);
    if (arena_attach(a, s->arena_fd, node, ARENA_DESK, &e) != ERR_OK)
        fail_msg("%s", e.text);
}
