/* rig: an instance of its own with a desk, simulated daemons and a client, for scenarios and the
 * benchmark of the desk. One rig at a time. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "arena.h"
#include "instance.h"
#include "lane.h"
#include "lease.h"

enum { RIG_CHILDREN = 16 };

struct rig {
    char dir[64];
    struct instance in;
    struct arena arena;
    struct actor self;
    struct lanes *lanes;
    struct lane *lane; /* as a client */
    uint64_t tag;
    pid_t desk, child[RIG_CHILDREN];
    uint8_t circuit[32];
};

/* granules: size of the arena. config: text of millrace.conf. The circuit of tests/fixtures/bn128/
 * mul is in the store as "mul", and in the ledger. The desk runs. */
void rig_open(struct rig *r, uint64_t granules, uint32_t rows, const char *config);
void rig_close(struct rig *r); /* everything is stopped and removed */

void rig_start_desk(struct rig *r, const char *environment); /* "NAME=VALUE" or NULL */
void rig_kill_desk(struct rig *r);
/* A process of simulated daemons; see sim_actor.c. Returns its number. */
int rig_spawn(struct rig *r, const char *kind, unsigned first, unsigned count, const char *options);
void rig_kill(struct rig *r, int child);

/* SUBMIT, answered: the job's id, or 0 with the REFUSED in *answer. */
uint64_t rig_submit(struct rig *r, const char *request, uint32_t partitions, uint32_t priority,
                    uint64_t limit_ms, struct message *answer);
/* AWAIT, answered by DONE: its code, or -1 after timeout_ms. publics: how many partitions came with
 * the publics that their input was given. Asks again like a client does. */
int rig_await(struct rig *r, uint64_t job, int timeout_ms, unsigned *proofs, char reason[512]);
/* Sends m with a new tag and waits for the answer to it. */
bool rig_ask(struct rig *r, struct message *m, struct message *answer, int timeout_ms);

void rig_wait_held(struct rig *r); /* a simulated daemon says that it holds a lease */
bool rig_wait_all_free(struct rig *r, int timeout_ms); /* every row FREE, every extent back */
uint64_t rig_now_ms(void);
