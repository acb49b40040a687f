/* register: every arena mapped and made known to the device, once.
 *
 * Bulk segments are mapped PROT_READ: a copy by a dying gpud can only read, so what lies in an
 * extent is intact whatever happens to us. Registering pins every page; several gpuds that pin the
 * same pages at once can fail with ENOMEM on some kernels, so one does it at a time (a lock on the
 * arenas' folder, which a dead process cannot keep). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "gpud.h"
#include "log.h"

/* No range that is registered crosses a border (arena.h), and no extent does either. */
static enum err_code attach_ranges(struct gpud *g, struct arena *a, bool attach, struct err *e)
{
    uint64_t border = a->header->border_bytes;
    if (border == 0 || border > a->bulk_bytes)
        border = a->bulk_bytes;
    enum err_code first = ERR_OK;
    for (uint64_t at = 0; at < a->bulk_bytes; at += border) {
        uint64_t n = a->bulk_bytes - at < border ? a->bulk_bytes - at : border;
        enum err_code rc = attach ? g->ops->arena_attach(g->backend, a->bulk + at, n, e)
                                  : g->ops->arena_detach(g->backend, a->bulk + at, e);
        if (rc == ERR_OK)
            continue;
        if (attach) {
            err_prefix(e, "arena of node %u at offset %llu", a->node, (unsigned long long)at);
            for (uint64_t back = 0; back < at; back += border)
                g->ops->arena_detach(g->backend, a->bulk + back, NULL); /* all or nothing */
            return rc;
        }
        first = rc;
    }
    return first;
}

static enum err_code register_one(struct gpud *g, int fd, unsigned node, struct err *e)
{
    uint64_t begin = span_now_ns();
    struct arena *a = &g->arena[node];
    enum err_code rc = arena_attach(a, fd, node, ARENA_PROVE, e);
    if (rc != ERR_OK)
        return rc;
    g->seen_word[node] = calloc(a->header->rows, sizeof(uint64_t));
    g->seen_ns[node] = calloc(a->header->rows, sizeof(uint64_t));
    if (g->seen_word[node] == NULL || g->seen_ns[node] == NULL)
        rc = err_set(e, ERR_MEMORY, "no memory for %llu rows", (unsigned long long)a->header->rows);
    if (rc == ERR_OK)
        rc = attach_ranges(g, a, true, e);
    if (rc != ERR_OK) {
        arena_detach(a);
        return rc;
    }
    g->nodes |= UINT64_C(1) << node;
    log_info("arena-registered", NULL, "node=%u bytes=%llu seconds=%.3f", node,
             (unsigned long long)a->bulk_bytes, (double)(span_now_ns() - begin) / 1e9);
    return ERR_OK;
}

enum err_code register_arenas(struct gpud *g, struct err *e)
{
    uint64_t begin = span_now_ns();
    int fd = instance_arena_fd(&g->instance, e);
    if (fd < 0)
        return e->code;
    while (flock(fd, LOCK_EX) != 0)
        if (errno != EINTR) {
            log_warn("register-unlocked", NULL, "reason=%s", strerror(errno));
            break;
        }
    uint64_t there = arena_nodes(fd), bytes = 0;
    enum err_code rc = there != 0 ? ERR_OK
                                  : err_set(e, ERR_UNAVAILABLE,
                                            "%s: no arena was made yet (millrace "
                                            "up makes them)",
                                            g->instance.dir);
    for (unsigned node = 0; rc == ERR_OK && node < ARENA_NODES_MAX; node++)
        if ((there >> node & 1) != 0) {
            rc = register_one(g, fd, node, e);
            bytes += g->arena[node].bulk_bytes;
        }
    close(fd); /* and the lock with it */
    uint64_t end = span_now_ns();
    g->register_ns = end - begin;
    struct span_who who = {.row = UINT32_MAX, .outcome = (uint16_t)rc};
    span_write(g->main_ring, SPAN_REGISTER, &who, begin, end, bytes);
    if (rc == ERR_OK && strcmp(g->caps.name, "cpu") != 0)
        stat_set(g->stats, STAT_PINNED_BYTES, bytes);
    return rc;
}

void unregister_arenas(struct gpud *g)
{
    for (unsigned node = 0; node < ARENA_NODES_MAX; node++) {
        if ((g->nodes >> node & 1) == 0)
            continue;
        attach_ranges(g, &g->arena[node], false, NULL);
        arena_detach(&g->arena[node]);
        free(g->seen_word[node]);
        free(g->seen_ns[node]);
    }
    g->nodes = 0;
    stat_set(g->stats, STAT_PINNED_BYTES, 0);
}
