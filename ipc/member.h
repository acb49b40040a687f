/* member: a daemon's side of the desk lane: who it is, that it lives, and what the desk wants.
 *
 *   member_join                        HELLO goes out, and again each second until WELCOME
 *   member_ready                       READY after every WELCOME from now on
 *   loop: member_hear, member_turn     WHO (the desk restarted) is answered by HELLO; heartbeats
 *   member_bye                         at a clean end, holding nothing
 *
 * A desk that is away changes nothing for its members: they go on with what they hold, and say
 * HELLO when it asks. Belongs to the thread of its lanes. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "lane.h"

enum member_event {
    MEMBER_OTHER,    /* not of this kind: the caller handles the message */
    MEMBER_HANDLED,  /* nothing for the caller to do */
    MEMBER_WELCOMED, /* a desk that may know nothing: say again what it should know */
    MEMBER_DRAIN,    /* m->draining was set: take nothing new, finish, member_bye */
};

/* A circuit that this daemon maps, and what that takes of the budget here beside the shared file.
 */
struct member_circuit {
    uint8_t digest[32];
    uint64_t bytes;
};
enum { MEMBER_CIRCUITS_MAX = 256 };

struct member {
    struct lane *desk;
    struct message hello;
    uint64_t nodes, register_ns; /* of READY */
    bool is_ready, welcomed, draining;
    uint64_t epoch, heartbeat_ns;
    uint64_t next_hello_ns, next_beat_ns;
    struct member_circuit
        told[MEMBER_CIRCUITS_MAX]; /* what the desk knows of; none after WELCOME */
    unsigned n_told;
};

/* facts: threads, backend, device, ... ; name, incarnation and identity are filled in here. */
enum err_code member_join(struct member *m, struct lanes *ls, const struct actor *self,
                          const struct msg_hello *facts, struct err *e);
void member_ready(struct member *m, uint64_t nodes, uint64_t register_ns);
enum member_event member_hear(struct member *m, const struct message *in);
/* Sends what is due. state: its epoch and draining fields are filled in here. */
void member_turn(struct member *m, uint64_t now_ns, const struct msg_heartbeat *state);
void member_bye(struct member *m, const char *reason);

/* Leaves printable ASCII alone and replaces every other byte by '?': texts of other origin (file
 * names, device names, a program's last words) must be sendable and harmless in a terminal. */
void text_clean(char *text);

/* A message that carries a lease, to the desk. Loss is harmless: the table is the truth. */
void member_tell(struct member *m, enum message_kind kind, struct lease_ref r, uint64_t job,
                 uint32_t partition, uint32_t attempt);
void member_tell_failed(struct member *m, struct lease_ref r, uint64_t job, uint32_t partition,
                        uint32_t attempt, uint32_t code, const char *reason);
/* Once a turn: what is mapped now. Whatever differs from what the desk was told last is told; all
 * of it to a desk that restarted. So a mapping that goes later than it was asked to is known too.
 */
void member_tell_circuits(struct member *m, const struct member_circuit *now, unsigned n);
/* What a circuit takes here now; code and reason of a load that failed. */
void member_tell_circuit(struct member *m, const uint8_t digest[32], bool resident, uint64_t bytes,
                         uint32_t code, const char *reason);
