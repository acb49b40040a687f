/* settings: what DIR/millrace.conf says to the desk, with its defaults. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "err.h"

struct config;

/* Who evaluates the matrices of a partition ([gpud] evaluate). */
enum evaluate {
    EVALUATE_AUTO,   /* whoever is not waited for: see grant.h */
    EVALUATE_SYNTHD, /* always synthd: a, b and the witness cross to the GPU */
    EVALUATE_GPU,    /* always gpud: only the witness is in the extent */
};

struct settings {
    /* [desk] */
    uint64_t max_partitions;        /* open ones in all; SUBMIT beyond that is refused */
    uint64_t client_max_partitions; /* open ones of one client */
    uint64_t age_step_ns;           /* order.h; 0: priorities are strict for ever */
    uint64_t synthd_credit;         /* leases that one synthd holds before it has published */
    uint64_t ready_bound;           /* filled leases that wait for one gpud beyond what it proves */
    uint64_t room_passes;           /* others granted before a head that finds no room */
    uint64_t key_passes;            /* others granted before a head whose key is not resident */
    uint64_t step_limit_ns;         /* an owner that holds one step longer is killed; 0: never */
    uint64_t deaths_alone_max;      /* deaths of a daemon that worked on it alone fail a job */
    uint64_t heartbeat_ns;
    uint64_t orphan_input_ns; /* spool files of no job are removed when so old */
    uint64_t results_ns;      /* how long ended jobs are kept */
    enum evaluate evaluate;
    /* [finisher] */
    uint64_t finishers;     /* threads; 0: a quarter of the CPUs, at least one */
    bool malloc_trim;       /* after every partition, off the loop */
    uint64_t ballast_bytes; /* for the malloc_trim experiment: a fragmented heap is made */
    /* [memory] */
    uint64_t memory_limit; /* arenas, keys and matrices together; 0: what the system has */
};

/* Unknown keys of these sections are not errors here: other programs read the file too. */
enum err_code settings_read(struct settings *s, struct config *c, struct err *e);

/* What the host (the cgroup where it is lower) has, for memory_limit 0. */
uint64_t settings_host_memory(void);
