/* arena: the shared memory of one NUMA node: a control segment (lease table, result cells, extent
 * map) and a bulk segment (witnesses and vectors), two files on a tmpfs.
 *
 *   millrace-arena create    makes them: allocated, bound to the node, verified there
 * (arena_create) daemons and tools        map them (arena_attach) millrace-arena remove    unlinks
 * them when nothing runs any more                (arena_remove)
 *
 * A segment is complete or absent: it is made under a temporary name, its magic word is stored last
 * with release, and only then is it renamed. What lies in it is addressed by offset from the start
 * of the bulk segment, never by pointer. Both mappings are kept out of core dumps and of children.
 *
 * Extents are whole granules of 2 MiB, cut first-fit from a map that has one writer: the desk's
 * thread. The map stands in the control segment so that tools can draw it; its truth are the lease
 * rows, from which a restarted desk rebuilds it (lease_recover). Above border_bytes the segment is
 * registered with a GPU as several ranges, and no extent crosses a border. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "err.h"
#include "instance.h"

#define ARENA_GRANULE_BYTES ((uint64_t)2 << 20)
#define ARENA_BORDER_BYTES  ((uint64_t)256 << 30) /* one cudaHostRegister fails at 512 GiB */
enum { ARENA_NODES_MAX = 64, ARENA_ROWS_DEFAULT = 1024, ARENA_ROWS_MAX = 65536 };

/* How the pages of a segment came to lie where they lie. */
enum arena_placement {
    ARENA_VERIFIED = 1,  /* bound, and every page looked at is on the node */
    ARENA_REFUSED = 2,   /* the system refuses NUMA policy (a container): placed by first touch */
    ARENA_SINGLE = 3,    /* the machine has one node: nothing to choose */
    ARENA_MISPLACED = 4, /* policy accepted, yet pages are elsewhere: creation fails with figures */
};

/* First 4 KiB of a control segment. Written by arena_create, read-only afterwards except for the
 * words marked (desk). */
struct arena_header {
    _Atomic uint64_t magic; /* ARENA_MAGIC, stored last */
    uint32_t version;       /* ARENA_VERSION: of this header, the rows and the cells */
    uint32_t node;
    uint64_t epoch; /* random: which making of this arena a message means */
    uint64_t ctl_bytes, bulk_bytes, granule_bytes, border_bytes;
    uint64_t rows, rows_offset, cells_offset, map_offset, map_bytes;
    uint32_t placement;  /* enum arena_placement */
    uint32_t page_bytes; /* of the bulk segment's pages as the system made them */
    uint64_t pages_looked_at, pages_on_node;
    uint64_t bulk_inode;            /* so that two files of different makings are never paired */
    uint64_t created_ns;            /* CLOCK_REALTIME */
    _Atomic uint64_t granules_used; /* (desk) */
    _Atomic uint64_t desk_epoch;    /* (desk) incarnation of the desk that owns the map */
    _Atomic uint64_t edges[32];     /* lease transitions made, by enum lease_edge */
    _Atomic uint64_t stale[32];     /* lease transitions refused because the word had moved on */
};
#define ARENA_MAGIC   UINT64_C(0x4143455241524c4d) /* "MLRARECA" */
#define ARENA_VERSION 1u
_Static_assert(sizeof(struct arena_header) <= 4096, "the header is one page");
_Static_assert(offsetof(struct arena_header, epoch) == 16, "shared layout");
_Static_assert(offsetof(struct arena_header, rows) == 56, "shared layout");

enum arena_access {
    ARENA_OBSERVE, /* tools: control read-only, no bulk */
    ARENA_DESK,    /* finalizd: both writable (it wipes) */
    ARENA_FILL,    /* synthd, and gpud with a backend whose caps say writes_extent */
    ARENA_PROVE,   /* gpud with cuda: control writable, bulk PROT_READ */
};

struct arena {
    unsigned node;
    enum arena_access access;
    struct arena_header *header; /* start of the control mapping */
    uint8_t *bulk;               /* NULL for ARENA_OBSERVE */
    uint64_t bulk_bytes, ctl_bytes;
};

struct arena_request {
    unsigned node;       /* a number of /sys/devices/system/node, or any when the machine has one */
    uint64_t bulk_bytes; /* rounded up to granules */
    uint32_t rows;       /* 0: ARENA_ROWS_DEFAULT */
    uint64_t border_bytes; /* 0: ARENA_BORDER_BYTES */
    const int *cpus;    /* threads that touch the pages are pinned to these; NULL: the node's own */
    unsigned n_threads; /* 0: one per CPU of the node */
};

/* Makes both segments of a node in the folder `dir_fd`. Order: room on the tmpfs and in the cgroup
 * looked at first, then O_EXCL, ftruncate, mmap, policy of task and range, fallocate (the clean
 * ENOSPC), parallel population by threads on the node, verification by move_pages, header.
 * On failure nothing is left behind and the text says which limit, how much is there and what to
 * do. ERR_MEMORY: no room. ERR_IO: the file system. ERR_REFUSED: it exists already. */
enum err_code arena_create(int dir_fd, const struct arena_request *rq, struct arena_header *report,
                           struct err *e);

/* Maps an arena. ERR_UNAVAILABLE when there is none for this node; ERR_FORMAT when the magic,
 * version, sizes or the pair of files do not fit together. */
enum err_code arena_attach(struct arena *a, int dir_fd, unsigned node, enum arena_access access,
                           struct err *e);
void arena_detach(struct arena *a);

/* Locks both segments in memory, so that no page of them is swapped out while this process lives.
 * ERR_MEMORY names RLIMIT_MEMLOCK. */
enum err_code arena_lock(const struct arena *a, struct err *e);

/* Bit n: there is an arena of node n in this folder. */
uint64_t arena_nodes(int dir_fd);
/* Unlinks the segments of every node and what half-made ones left; returns how many files. */
int arena_remove(int dir_fd);
/* Looks at the placement of `pages` bulk pages spread evenly (0: all): how many are on the node.
 * Returns the number looked at, 0 where the system refuses the question. */
uint64_t arena_verify(const struct arena *a, uint64_t pages, uint64_t *on_node);

/* --- extents: the desk's thread alone ------------------------------------------------------ */

struct extent {
    uint64_t offset, bytes; /* multiples of ARENA_GRANULE_BYTES; bytes 0: none */
};
/* First fit. false when no run of free granules is long enough. */
bool extent_cut(struct arena *a, uint64_t bytes, struct extent *out);
/* Gives it back. It must have been cut exactly so (invariant). */
void extent_return(struct arena *a, struct extent x);
/* Marks a given range used: how lease_recover rebuilds the map. false when it overlaps. */
bool extent_claim(struct arena *a, struct extent x);
void extent_map_clear(struct arena *a);
uint64_t extent_free_bytes(const struct arena *a);    /* in all */
uint64_t extent_largest_bytes(const struct arena *a); /* in one piece */

/* Overwrites with zeros in a way that the compiler keeps. Needs ARENA_DESK or ARENA_FILL; any
 * thread. About 10 GB/s: keep it off the desk's loop. */
void arena_wipe(const struct arena *a, uint64_t offset, uint64_t bytes);
