/* millrace-arena: makes, looks at and removes the shared memory of an instance.
 *
 *   millrace-arena create --dir DIR [--size auto|BYTES] [--nodes 0,1] [--rows N] [--path TMPFS]
 *   millrace-arena verify --dir DIR          looks where the pages of every arena lie
 *   millrace-arena status --dir DIR [--json] sizes, use, lease states
 *   millrace-arena remove --dir DIR          unlinks them; running processes keep their mappings
 *
 * --size is for each node; K, M, G, T multiply by powers of 1024. auto takes a quarter of what the
 * machine (or cgroup) has available, shared out over the nodes. --path puts them on another tmpfs
 * or hugetlbfs than /dev/shm. create leaves arenas that exist already as they are, and first
 * removes those of the same user whose instance is gone. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "arena.h"
#include "instance.h"
#include "lease.h"
#include "node.h"
#include "sweep.h"

struct options {
    char dir[4096];
    const char *size, *nodes, *path;
    uint32_t rows;
    bool json;
};

static enum err_code parse_size(const char *text, uint64_t *out, struct err *e)
{
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    static const char units[] = "KMGT";
    const char *unit = *end ? strchr(units, *end) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    end += unit != NULL;
    if (end > text && unit && *end == 'i' && end[1] == 'B')
        end += 2;
    if (*text < '0' || *text > '9' || *end || errno || v == 0 || v > UINT64_MAX >> shift)
        return err_set(e, ERR_USAGE, "--size %s: expected auto or a number of bytes like 4G", text);
    *out = (uint64_t)v << shift;
    return ERR_OK;
}

static enum err_code parse_nodes(const char *text, uint64_t *mask, struct err *e)
{
    *mask = 0;
    for (const char *p = text; *p;) {
        char *end;
        unsigned long k = strtoul(p, &end, 10);
        if (*p < '0' || *p > '9' || k >= ARENA_NODES_MAX || (*end && *end != ','))
            return err_set(e, ERR_USAGE, "--nodes %s: expected node numbers like 0,1", text);
        *mask |= UINT64_C(1) << k;
        p = *end ? end + 1 : end;
    }
    return *mask ? ERR_OK : err_set(e, ERR_USAGE, "--nodes: no node named");
}

/* A quarter of what is there, each node its share, in whole granules. */
static uint64_t automatic_size(int dir_fd, unsigned n_nodes)
{
    struct statvfs fs;
    uint64_t memory = memory_available_bytes();
    if (fstatvfs(dir_fd, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize < memory)
        memory = (uint64_t)fs.f_bavail * fs.f_frsize;
    uint64_t each = memory / 4 / n_nodes / ARENA_GRANULE_BYTES * ARENA_GRANULE_BYTES;
    return each ? each : ARENA_GRANULE_BYTES;
}

/* Makes the folder and the link DIR/run/arena to it; both may be there from before. */
static int open_folder(const struct instance *in, const char *path, struct err *e)
{
    char folder[4096];
    sweep_gone(path ? path : "/dev/shm");
    if (path)
        snprintf(folder, sizeof folder, "%s/millrace-%u-%016" PRIx64, path, (unsigned)geteuid(),
                 in->hash);
    else
        snprintf(folder, sizeof folder, "%s", in->arena_dir);
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
        err_set(e, ERR_IO, "%s: cannot make it: %s", folder, strerror(errno));
        return -1;
    }
    char before[4096];
    ssize_t n = readlinkat(in->run_fd, "arena", before, sizeof before - 1);
    before[n > 0 ? n : 0] = 0;
    if (n > 0 && strcmp(before, folder) != 0)
        unlinkat(in->run_fd, "arena", 0);
    if ((n < 0 || strcmp(before, folder) != 0) && symlinkat(folder, in->run_fd, "arena") != 0) {
        err_set(e, ERR_IO, "%s/run/arena: cannot make the link: %s", in->dir, strerror(errno));
        return -1;
    }
    int fd = instance_arena_fd(in, e);
    if (fd >= 0 && sweep_sign(in, fd, e)) {
        close(fd);
        return -1;
    }
    return fd;
}

static const char *placement_words(uint32_t p)
{
    switch (p) {
    case ARENA_VERIFIED:
        return "verified on its node";
    case ARENA_REFUSED:
        return "NUMA policy refused by the system, placed by first touch";
    case ARENA_SINGLE:
        return "the machine has one node";
    default:
        return "misplaced";
    }
}

static enum err_code create(const struct instance *in, const struct options *o, struct err *e)
{
    uint64_t mask = nodes_with_memory(), size = 0;
    enum err_code code = o->nodes ? parse_nodes(o->nodes, &mask, e) : ERR_OK;
    bool automatic = !o->size || strcmp(o->size, "auto") == 0;
    if (code == ERR_OK && !automatic)
        code = parse_size(o->size, &size, e);
    if (code != ERR_OK)
        return code;
    int fd = open_folder(in, o->path, e);
    if (fd < 0)
        return e->code;
    uint64_t there = arena_nodes(fd);
    if (automatic)
        size = automatic_size(fd, (unsigned)__builtin_popcountll(mask));
    for (unsigned node = 0; code == ERR_OK && node < ARENA_NODES_MAX; node++) {
        struct arena a;
        struct arena_header h;
        if (!(mask >> node & 1))
            continue;
        /* One that is whole is kept: daemons may be working in it while `up` adopts them. */
        if (there >> node & 1) {
            code = arena_attach(&a, fd, node, ARENA_OBSERVE, e);
            if (code == ERR_OK)
                arena_detach(&a);
            continue;
        }
        code = arena_create(
            fd, &(struct arena_request){.node = node, .bulk_bytes = size, .rows = o->rows}, &h, e);
        if (code == ERR_OK)
            fprintf(stderr, "arena of node %u: %" PRIu64 " MiB, %s\n", node, h.bulk_bytes >> 20,
                    placement_words(h.placement));
    }
    close(fd);
    return code;
}

static enum err_code verify(const struct instance *in, struct err *e)
{
    int fd = instance_arena_fd(in, e);
    if (fd < 0)
        return e->code;
    enum err_code code = ERR_OK;
    uint64_t there = arena_nodes(fd);
    for (unsigned node = 0; code == ERR_OK && node < ARENA_NODES_MAX; node++) {
        struct arena a;
        if (!(there >> node & 1) || (code = arena_attach(&a, fd, node, ARENA_PROVE, e)) != ERR_OK)
            continue;
        uint64_t here, looked = arena_verify(&a, 0, &here);
        printf("node %u: %" PRIu64 " of %" PRIu64 " pages on the node (%s)\n", node, here, looked,
               placement_words(a.header->placement));
        if (a.header->placement == ARENA_VERIFIED && here != looked)
            code =
                err_set(e, ERR_VALUE, "arena of node %u: pages have moved to another node", node);
        arena_detach(&a);
    }
    close(fd);
    return code;
}

static void print_arena(const struct arena *a, bool json, bool first)
{
    unsigned n[LEASE_STATES] = {0};
    for (uint32_t i = 0; i < a->header->rows; i++)
        n[lease_look(a, i).state]++;
    uint64_t used = atomic_load(&a->header->granules_used) * ARENA_GRANULE_BYTES;
    const char *words = placement_words(a->header->placement);
    if (json)
        printf("%s{\"node\":%u,\"bulk_bytes\":%" PRIu64 ",\"used_bytes\":%" PRIu64
               ",\"control_bytes\":%" PRIu64 ",\"placement\":\"%s\",\"leases\":{",
               first ? "" : ",", a->node, a->bulk_bytes, used, a->ctl_bytes, words);
    else
        printf("node %u: %" PRIu64 " MiB, %" PRIu64 " in use; %s;", a->node, a->bulk_bytes >> 20,
               used >> 20, words);
    for (unsigned s = 0; s < LEASE_STATES; s++) {
        const char *name = lease_state_name((enum lease_state)s);
        if (json)
            printf("%s\"%s\":%u", s ? "," : "", name, n[s]);
        else if (n[s])
            printf(" %s %u", name, n[s]);
    }
    printf(json ? "}}" : "\n");
}

static enum err_code status(const struct instance *in, bool json, struct err *e)
{
    int fd = instance_arena_fd(in, e);
    if (fd < 0)
        return e->code;
    uint64_t there = arena_nodes(fd);
    enum err_code code = ERR_OK;
    bool first = true;
    if (json)
        printf("[");
    for (unsigned node = 0; code == ERR_OK && node < ARENA_NODES_MAX; node++) {
        struct arena a;
        if (!(there >> node & 1) || (code = arena_attach(&a, fd, node, ARENA_OBSERVE, e)) != ERR_OK)
            continue;
        print_arena(&a, json, first);
        first = false;
        arena_detach(&a);
    }
    if (json)
        printf("]\n");
    close(fd);
    return code;
}

/* Rings and stat pages lie in the same folder: it is ours alone, so everything in it goes. */
static enum err_code remove_all(const struct instance *in, struct err *e)
{
    char folder[4096];
    ssize_t n = readlinkat(in->run_fd, "arena", folder, sizeof folder - 1);
    if (n < 0)
        return ERR_OK;
    folder[n] = 0;
    int fd = instance_arena_fd(in, e);
    if (fd >= 0) {
        instance_folder_empty(fd);
        close(fd);
        if (rmdir(folder) != 0)
            return err_set(e, ERR_IO, "%s: cannot remove it: %s", folder, strerror(errno));
    } else if (e->code != ERR_UNAVAILABLE) {
        return e->code;
    }
    unlinkat(in->run_fd, "arena", 0);
    return ERR_OK;
}

static int usage(void)
{
    fprintf(stderr,
            "usage: millrace-arena create|verify|status|remove --dir DIR [--size auto|BYTES] "
            "[--nodes LIST] [--rows N] [--path TMPFS] [--json]\n");
    return ERR_USAGE;
}

int main(int argc, char **argv)
{
    static const struct option longs[] = {
        {"dir", required_argument, NULL, 'd'},   {"size", required_argument, NULL, 's'},
        {"nodes", required_argument, NULL, 'n'}, {"rows", required_argument, NULL, 'r'},
        {"path", required_argument, NULL, 'p'},  {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},        {0}};
    struct options o = {0};
    struct instance in;
    struct err e = {0};
    instance_default_dir(NULL, o.dir, sizeof o.dir);
    for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        switch (c) {
        case 'd':
            instance_default_dir(optarg, o.dir, sizeof o.dir);
            break;
        case 's':
            o.size = optarg;
            break;
        case 'n':
            o.nodes = optarg;
            break;
        case 'r':
            o.rows = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 'p':
            o.path = optarg;
            break;
        case 'j':
            o.json = true;
            break;
        default:
            return usage();
        }
    }
    if (optind != argc - 1)
        return usage();
    const char *verb = argv[optind];
    umask(077);
    if (instance_open(&in, o.dir, &e) == ERR_OK) {
        if (strcmp(verb, "create") == 0)
            create(&in, &o, &e);
        else if (strcmp(verb, "verify") == 0)
            verify(&in, &e);
        else if (strcmp(verb, "status") == 0)
            status(&in, o.json, &e);
        else if (strcmp(verb, "remove") == 0)
            remove_all(&in, &e);
        else
            return usage();
        instance_close(&in);
    }
    if (e.code != ERR_OK)
        fprintf(stderr, "millrace-arena: %s\n", e.text);
    return (int)e.code;
}
