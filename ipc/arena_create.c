#include "arena.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>
#include "arena_map.h"
#include "node.h"
#include "pool.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { PIECE_BYTES = 64 << 20 };

static const double gib = 1024.0 * 1024.0 * 1024.0;

/* Is there room at all? Each limit is looked at before anything is made, because running into one
 * later is a SIGBUS or the kernel's out-of-memory killer. */
static enum err_code check_room(int dir_fd, unsigned node, uint64_t need, bool many_nodes,
                                struct err *e)
{
    struct statvfs fs;
    if (fstatvfs(dir_fd, &fs) != 0)
        return err_set(e, ERR_IO, "arena of node %u: cannot look at the file system: %s", node,
                       strerror(errno));
    uint64_t free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    if (free_bytes < need)
        return err_set(e, ERR_MEMORY,
                       "arena of node %u: needs %.2f GiB, its tmpfs has %.2f GiB free of %.2f: ask "
                       "for less, or enlarge it (mount -o remount,size=, docker --shm-size)",
                       node, (double)need / gib, (double)free_bytes / gib,
                       (double)fs.f_blocks * (double)fs.f_frsize / gib);
    uint64_t memory = memory_available_bytes();
    if (memory < need)
        return err_set(
            e, ERR_MEMORY,
            "arena of node %u: needs %.2f GiB, this machine (or its cgroup) has %.2f GiB "
            "available",
            node, (double)need / gib, (double)memory / gib);
    uint64_t here = many_nodes ? node_available_bytes(node) : UINT64_MAX;
    if (here < need)
        return err_set(e, ERR_MEMORY,
                       "arena of node %u: needs %.2f GiB, the node has %.2f GiB free", node,
                       (double)need / gib, (double)here / gib);
    return ERR_OK;
}

struct making {
    int fd;
    uint8_t *at;
    uint64_t bytes;
    _Atomic int error;
    char name[ARENA_FILE_MAX + 8]; /* the half-made one, with a dot in front */
};

static void populate(void *arg, size_t index, unsigned worker)
{
    (void)worker;
    struct making *m = arg;
    uint64_t begin = (uint64_t)index * PIECE_BYTES;
    uint64_t n = m->bytes - begin < PIECE_BYTES ? m->bytes - begin : PIECE_BYTES;
    if (madvise(m->at + begin, n, MADV_POPULATE_WRITE) == 0)
        return;
    if (errno != EINVAL) {
        m->error = errno;
        return;
    }
    /* Before Linux 5.14. The pages are allocated already, so touching them cannot fail. */
    for (uint64_t i = 0; i < n; i += 4096)
        *(volatile uint8_t *)(m->at + begin + i) = 0;
}

static enum err_code allocate(struct making *m, unsigned node, struct pool *pool, struct err *e)
{
    for (uint64_t at = 0; at < m->bytes;) {
        uint64_t n = m->bytes - at < PIECE_BYTES ? m->bytes - at : PIECE_BYTES;
        if (fallocate(m->fd, 0, (off_t)at, (off_t)n) == 0)
            at += n;
        else if (errno != EINTR)
            return err_set(e, errno == ENOSPC || errno == ENOMEM ? ERR_MEMORY : ERR_IO,
                           "arena of node %u: could allocate %.2f of %.2f GiB: %s", node,
                           (double)at / gib, (double)m->bytes / gib, strerror(errno));
    }
    pool_run(pool, populate, m, (m->bytes + PIECE_BYTES - 1) / PIECE_BYTES);
    if (m->error)
        return err_set(e, ERR_MEMORY, "arena of node %u: cannot fault its pages in: %s", node,
                       strerror(m->error));
    return ERR_OK;
}

/* Creates, sizes and maps one file under its temporary name; no page exists yet. */
static enum err_code begin_file(struct making *m, int dir_fd, unsigned node, const char *what,
                                uint64_t bytes, struct err *e)
{
    char name[ARENA_FILE_MAX];
    arena_file_name(node, what, name);
    snprintf(m->name, sizeof m->name, ".%s", name);
    m->bytes = bytes;
    /* What a killed maker left: half a file, or a bulk segment without its control segment, which
     * is the one that is renamed last. We hold the folder's lock. */
    unlinkat(dir_fd, m->name, 0);
    unlinkat(dir_fd, name, 0);
    m->fd = openat(dir_fd, m->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (m->fd < 0)
        return err_set(e, ERR_IO, "arena %s: cannot make it: %s", name, strerror(errno));
    if (fchmod(m->fd, 0600) != 0 || ftruncate(m->fd, (off_t)bytes) != 0)
        return err_set(e, ERR_IO, "arena %s: cannot size it: %s", name, strerror(errno));
    m->at = arena_map(m->fd, bytes, PROT_READ | PROT_WRITE);
    if (!m->at)
        return err_set(e, ERR_MEMORY, "arena %s: cannot map it: %s", name, strerror(errno));
    return ERR_OK;
}

static void end_file(struct making *m, int dir_fd, bool keep)
{
    if (m->at)
        munmap(m->at, m->bytes);
    if (m->fd >= 0) {
        if (keep)
            renameat(dir_fd, m->name, dir_fd, m->name + 1);
        else
            unlinkat(dir_fd, m->name, 0);
        close(m->fd);
    }
}

static void write_header(struct arena_header *h, const struct arena_request *rq,
                         uint64_t bulk_bytes, uint64_t rows, const struct arena_layout *l,
                         const struct making *bulk)
{
    struct stat st;
    struct statfs fs;
    struct timespec now;
    fstat(bulk->fd, &st);
    fstatfs(bulk->fd, &fs);
    clock_gettime(CLOCK_REALTIME, &now);
    h->version = ARENA_VERSION;
    h->node = rq->node;
    if (getrandom(&h->epoch, sizeof h->epoch, 0) != sizeof h->epoch)
        DIE("getrandom failed: %s", strerror(errno));
    h->ctl_bytes = l->total;
    h->bulk_bytes = bulk_bytes;
    h->granule_bytes = ARENA_GRANULE_BYTES;
    h->border_bytes = rq->border_bytes ? rq->border_bytes : ARENA_BORDER_BYTES;
    h->rows = rows;
    h->rows_offset = l->rows;
    h->cells_offset = l->cells;
    h->map_offset = l->map;
    h->map_bytes = l->map_bytes;
    h->page_bytes =
        fs.f_type == HUGETLBFS_MAGIC ? (uint32_t)fs.f_bsize : (uint32_t)sysconf(_SC_PAGESIZE);
    h->bulk_inode = st.st_ino;
    h->created_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Where did the pages come to lie? Looked at, not trusted: a policy can be accepted and ignored. */
static enum err_code judge_placement(struct arena_header *h, const struct making *bulk, bool single,
                                     int policy_error, struct err *e)
{
    enum { LOOK_MOST = 1 << 20 };
    struct arena a = {.node = h->node,
                      .access = ARENA_DESK,
                      .header = h,
                      .bulk = bulk->at,
                      .bulk_bytes = bulk->bytes};
    if (single) { /* nothing to choose, nothing to look at */
        h->placement = ARENA_SINGLE;
        return ERR_OK;
    }
    h->pages_looked_at = arena_verify(&a, LOOK_MOST, &h->pages_on_node);
    if (policy_error) {
        h->placement = ARENA_REFUSED;
    } else if (h->pages_looked_at > 0 && h->pages_on_node == h->pages_looked_at) {
        h->placement = ARENA_VERIFIED;
    } else if (h->pages_looked_at == 0) {
        h->placement = ARENA_REFUSED; /* bound, but the system does not let us look */
    } else {
        h->placement = ARENA_MISPLACED;
        return err_set(e, ERR_MEMORY,
                       "arena of node %u: %llu of %llu pages looked at lie on another node: it has "
                       "too little memory free, or the file system ignores the policy",
                       h->node, (unsigned long long)(h->pages_looked_at - h->pages_on_node),
                       (unsigned long long)h->pages_looked_at);
    }
    return ERR_OK;
}

enum err_code arena_create(int dir_fd, const struct arena_request *rq, struct arena_header *report,
                           struct err *e)
{
    uint64_t nodes = nodes_with_memory();
    bool single = (nodes & (nodes - 1)) == 0;
    uint64_t granules =
        rq->bulk_bytes / ARENA_GRANULE_BYTES + (rq->bulk_bytes % ARENA_GRANULE_BYTES != 0);
    uint64_t rows = rq->rows ? rq->rows : ARENA_ROWS_DEFAULT;
    if (rq->node >= ARENA_NODES_MAX || (!single && !node_exists(rq->node)))
        return err_set(e, ERR_USAGE, "arena: there is no NUMA node %u with memory", rq->node);
    if (granules == 0 || granules > UINT32_MAX || rows > ARENA_ROWS_MAX ||
        rq->border_bytes % ARENA_GRANULE_BYTES != 0)
        return err_set(e, ERR_USAGE, "arena of node %u: %llu bytes in %llu rows cannot be made",
                       rq->node, (unsigned long long)rq->bulk_bytes, (unsigned long long)rows);
    uint64_t bulk_bytes = granules * ARENA_GRANULE_BYTES;
    struct arena_layout layout = arena_layout(rows, granules);

    enum err_code code = check_room(dir_fd, rq->node, bulk_bytes + layout.total, !single, e);
    if (code != ERR_OK)
        return code;
    int lock = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock < 0 || flock(lock, LOCK_EX) != 0) {
        code = err_set(e, ERR_IO, "arena of node %u: cannot lock its folder: %s", rq->node,
                       strerror(errno));
        if (lock >= 0)
            close(lock);
        return code;
    }

    char ctl_name[ARENA_FILE_MAX];
    arena_file_name(rq->node, "ctl", ctl_name);
    if (faccessat(dir_fd, ctl_name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        close(lock);
        return err_set(e, ERR_REFUSED, "arena %s: exists already", ctl_name);
    }

    /* The task's policy covers what a file system without shared policy does (hugetlbfs), the
     * range's policy is kept by the object itself for whoever faults later. Threads inherit it. */
    struct making bulk = {.fd = -1}, ctl = {.fd = -1};
    int policy_error = single ? 0 : node_task_policy(rq->node);
    int own_cpus[NODE_CPUS_MAX];
    const int *cpus = rq->cpus;
    size_t n_cpus = node_cpus(rq->node, own_cpus);
    unsigned threads = rq->n_threads ? rq->n_threads : n_cpus ? (unsigned)n_cpus : 1;
    if (!cpus && n_cpus >= threads)
        cpus = own_cpus;
    struct pool *pool = pool_new(threads, cpus, e);

    code = pool ? begin_file(&bulk, dir_fd, rq->node, "bulk", bulk_bytes, e) : ERR_MEMORY;
    if (code == ERR_OK)
        code = begin_file(&ctl, dir_fd, rq->node, "ctl", layout.total, e);
    if (code == ERR_OK) {
        madvise(bulk.at, bulk.bytes, MADV_HUGEPAGE); /* where the mount leaves it to advice */
        if (!single && !policy_error)
            policy_error = node_range_policy(bulk.at, bulk.bytes, rq->node);
        if (!single && !policy_error)
            policy_error = node_range_policy(ctl.at, ctl.bytes, rq->node);
        code = allocate(&bulk, rq->node, pool, e);
    }
    if (code == ERR_OK)
        code = allocate(&ctl, rq->node, pool, e);
    if (code == ERR_OK) {
        struct arena_header *h = (struct arena_header *)ctl.at;
        write_header(h, rq, bulk_bytes, rows, &layout, &bulk);
        code = judge_placement(h, &bulk, single, policy_error, e);
        if (report)
            memcpy(report, h, sizeof *report);
        if (code == ERR_OK)
            atomic_store_explicit(&h->magic, ARENA_MAGIC, memory_order_release);
    }
    if (!single)
        node_task_policy(UINT_MAX);
    pool_free(&pool);
    end_file(&bulk, dir_fd, code == ERR_OK);
    end_file(&ctl, dir_fd, code == ERR_OK);
    close(lock);
    return code;
}
