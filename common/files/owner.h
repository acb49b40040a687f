/* owner: what a struct circuit stands on, private to files/: memory regions, a file's mapping, and
 * whether its matrices were built on the heap. */
#pragma once
#include "circuit.h"

/* Page-aligned memory; it becomes resident as it is touched. */
struct region {
    void *base;
    size_t bytes; /* as asked for; 0 gives base = NULL */
};

/* what: for the message when there is no memory. */
enum err_code region_new(struct region *r, uint64_t bytes, const char *what, struct err *e);
void region_shrink(struct region *r, uint64_t bytes); /* gives the pages behind back */
void region_free(struct region *r);

enum {
    OWNER_A, /* points */
    OWNER_A_WIRE,
    OWNER_B1,
    OWNER_B1_WIRE,
    OWNER_B2,
    OWNER_B2_WIRE,
    OWNER_L,
    OWNER_L_WIRE,
    OWNER_H,
    OWNER_IC,
    OWNER_REGIONS,
};

struct circuit_owner {
    struct region regions[OWNER_REGIONS];
    bool heap_matrices;
    const void *mapping; /* of a prepared file */
    size_t mapping_bytes;
};

/* An empty circuit with its owner; circuit_free frees both. NULL: no memory. */
struct circuit *circuit_new(struct err *e);
struct circuit_owner *circuit_owner(const struct circuit *c);
