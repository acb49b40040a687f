#include "arena.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <numaif.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "arena_map.h"

void *arena_map(int fd, uint64_t bytes, int protection)
{
    /* Bulk segments begin on a granule's border in every process, so that huge pages line up. */
    size_t slack = bytes >= ARENA_GRANULE_BYTES ? ARENA_GRANULE_BYTES : 0;
    uint8_t *room =
        mmap(NULL, bytes + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return NULL;
    uint8_t *at =
        slack ? (uint8_t *)(((uintptr_t)room + slack - 1) & ~(uintptr_t)(slack - 1)) : room;
    if (mmap(at, bytes, protection, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
        munmap(room, bytes + slack);
        return NULL;
    }
    if (at > room)
        munmap(room, (size_t)(at - room));
    if (at - room < (ptrdiff_t)slack)
        munmap(at + bytes, slack - (size_t)(at - room));
    madvise(at, bytes, MADV_DONTDUMP);
    madvise(at, bytes, MADV_DONTFORK);
    return at;
}

void arena_file_name(unsigned node, const char *what, char out[ARENA_FILE_MAX])
{
    snprintf(out, ARENA_FILE_MAX, "node%u.%s", node, what);
}

/* Opens one of the two files and checks that it is ours; its size goes to *st. */
static int open_segment(int dir_fd, unsigned node, const char *what, int mode, struct stat *st,
                        struct err *e)
{
    char name[ARENA_FILE_MAX];
    arena_file_name(node, what, name);
    int fd = openat(dir_fd, name, mode | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        err_set(e, ERR_UNAVAILABLE, "arena %s: %s", name, strerror(errno));
        return -1;
    }
    if (fstat(fd, st) != 0 || !S_ISREG(st->st_mode) || st->st_uid != geteuid() ||
        (st->st_mode & 077)) {
        err_set(e, ERR_REFUSED, "arena %s: must be a file of this user with mode 0600", name);
        close(fd);
        return -1;
    }
    return fd;
}

static bool header_fits(const struct arena_header *h, unsigned node, const struct stat *ctl,
                        const char **why)
{
    uint64_t granules =
        h->granule_bytes == ARENA_GRANULE_BYTES ? h->bulk_bytes / ARENA_GRANULE_BYTES : 0;
    *why = "magic word";
    if (atomic_load_explicit(&h->magic, memory_order_acquire) != ARENA_MAGIC)
        return false;
    *why = "version";
    if (h->version != ARENA_VERSION)
        return false;
    *why = "node number";
    if (h->node != node)
        return false;
    *why = "size of the control segment";
    if (h->ctl_bytes != (uint64_t)ctl->st_size)
        return false;
    *why = "layout";
    struct arena_layout want = arena_layout(h->rows, granules);
    return granules > 0 && h->bulk_bytes % ARENA_GRANULE_BYTES == 0 && h->rows > 0 &&
           h->rows <= ARENA_ROWS_MAX && h->rows_offset == want.rows &&
           h->cells_offset == want.cells && h->map_offset == want.map &&
           h->map_bytes == want.map_bytes && h->ctl_bytes >= want.total &&
           h->border_bytes >= ARENA_GRANULE_BYTES && h->border_bytes % ARENA_GRANULE_BYTES == 0;
}

struct arena_layout arena_layout(uint64_t rows, uint64_t granules)
{
    struct arena_layout l = {.rows = 4096};
    l.cells = l.rows + rows * 512;
    l.map = l.cells + rows * 2048;
    l.map_bytes = (granules + 63) / 64 * 8;
    l.total = (l.map + l.map_bytes + 4095) & ~UINT64_C(4095);
    return l;
}

enum err_code arena_attach(struct arena *a, int dir_fd, unsigned node, enum arena_access access,
                           struct err *e)
{
    *a = (struct arena){.node = node, .access = access};
    bool observe = access == ARENA_OBSERVE;
    struct stat st, bulk_st;
    int fd = open_segment(dir_fd, node, "ctl", observe ? O_RDONLY : O_RDWR, &st, e);
    if (fd < 0)
        return e ? e->code : ERR_UNAVAILABLE;
    if (st.st_size < 4096) {
        close(fd);
        return err_set(e, ERR_FORMAT, "arena node%u.ctl: %lld bytes, expected at least 4096", node,
                       (long long)st.st_size);
    }
    a->header = arena_map(fd, (uint64_t)st.st_size, PROT_READ | (observe ? 0 : PROT_WRITE));
    close(fd);
    if (!a->header)
        return err_set(e, ERR_MEMORY, "arena node%u.ctl: cannot map it: %s", node, strerror(errno));
    a->ctl_bytes = (uint64_t)st.st_size;
    const char *why;
    if (!header_fits(a->header, node, &st, &why)) {
        arena_detach(a);
        return err_set(e, ERR_FORMAT, "arena node%u.ctl: the %s is not what this version writes",
                       node, why);
    }
    a->bulk_bytes = a->header->bulk_bytes;
    if (observe)
        return ERR_OK;

    bool writable = access != ARENA_PROVE;
    fd = open_segment(dir_fd, node, "bulk", writable ? O_RDWR : O_RDONLY, &bulk_st, e);
    if (fd < 0) {
        arena_detach(a);
        return e ? e->code : ERR_UNAVAILABLE;
    }
    if ((uint64_t)bulk_st.st_size != a->bulk_bytes || bulk_st.st_ino != a->header->bulk_inode) {
        close(fd);
        arena_detach(a);
        return err_set(e, ERR_FORMAT,
                       "arena node%u: control and bulk segment are not of one making", node);
    }
    a->bulk = arena_map(fd, a->bulk_bytes, PROT_READ | (writable ? PROT_WRITE : 0));
    close(fd);
    if (!a->bulk) {
        arena_detach(a);
        return err_set(e, ERR_MEMORY, "arena node%u.bulk: cannot map %llu bytes: %s", node,
                       (unsigned long long)bulk_st.st_size, strerror(errno));
    }
    return ERR_OK;
}

void arena_detach(struct arena *a)
{
    if (a->bulk)
        munmap(a->bulk, a->bulk_bytes);
    if (a->header)
        munmap(a->header, a->ctl_bytes);
    a->bulk = NULL;
    a->header = NULL;
}

enum err_code arena_lock(const struct arena *a, struct err *e)
{
    if (mlock(a->bulk, a->bulk_bytes) == 0 && mlock(a->header, a->ctl_bytes) == 0)
        return ERR_OK;
    struct rlimit limit = {0};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    return err_set(
        e, ERR_MEMORY,
        "arena of node %u: cannot lock %llu bytes in memory: %s; the limit is %llu bytes "
        "(ulimit -l, LimitMEMLOCK=)",
        a->node, (unsigned long long)a->bulk_bytes, strerror(errno),
        (unsigned long long)limit.rlim_cur);
}

/* Calls each for every entry of the folder; the descriptor stays where it was. */
static void each_file(int dir_fd, void (*each)(int dir_fd, const char *name, void *arg), void *arg)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(d));)
        each(dir_fd, entry->d_name, arg);
    closedir(d);
}

/* Which node a name of ours is about; half-made segments begin with a dot. */
static bool parse_name(const char *name, unsigned *node, const char **rest)
{
    char *end;
    if (strncmp(name, "node", 4) != 0 || name[4] < '0' || name[4] > '9')
        return false;
    unsigned long n = strtoul(name + 4, &end, 10);
    *node = (unsigned)n;
    *rest = end;
    return n < ARENA_NODES_MAX && *end == '.';
}

static void note_node(int dir_fd, const char *name, void *arg)
{
    (void)dir_fd;
    unsigned node;
    const char *rest;
    if (parse_name(name, &node, &rest) && strcmp(rest, ".ctl") == 0)
        *(uint64_t *)arg |= UINT64_C(1) << node;
}

uint64_t arena_nodes(int dir_fd)
{
    uint64_t mask = 0;
    each_file(dir_fd, note_node, &mask);
    return mask;
}

static void remove_one(int dir_fd, const char *name, void *arg)
{
    unsigned node;
    const char *rest;
    if (parse_name(name + (*name == '.'), &node, &rest) && unlinkat(dir_fd, name, 0) == 0)
        ++*(int *)arg;
}

int arena_remove(int dir_fd)
{
    int n = 0;
    each_file(dir_fd, remove_one, &n);
    return n;
}

uint64_t arena_verify(const struct arena *a, uint64_t pages, uint64_t *on_node)
{
    enum { BATCH = 4096 };
    uint64_t page = a->header->page_bytes, n = a->bulk_bytes / page;
    uint64_t look = pages == 0 || pages > n ? n : pages, looked = 0;
    *on_node = 0;
    void **at = malloc(BATCH * sizeof *at);
    int *status = malloc(BATCH * sizeof *status);
    for (uint64_t i = 0; at && status && i < look;) {
        unsigned long m = 0;
        for (; m < BATCH && i < look; m++, i++) {
            at[m] = a->bulk + (uint64_t)((unsigned __int128)i * n / look) * page;
            /* A page that this process has not touched has no entry to ask about yet. */
            (void)*(volatile uint8_t *)at[m];
        }
        if (move_pages(0, m, at, NULL, status, 0) != 0)
            break;
        for (unsigned long k = 0; k < m; k++)
            *on_node += status[k] == (int)a->node;
        looked += m;
    }
    free(at);
    free(status);
    return looked;
}

void arena_wipe(const struct arena *a, uint64_t offset, uint64_t bytes)
{
    INVARIANT(a->bulk && a->access != ARENA_PROVE && offset <= a->bulk_bytes &&
              bytes <= a->bulk_bytes - offset);
    explicit_bzero(a->bulk + offset, bytes);
}
