/* peers: the daemons that the desk knows, and the messages that only say who is there. */
#pragma once
#include "state.h"

enum {
    TAG_PEER_DIED = 1,
    TAG_LEDGER,
    TAG_FINISHER,
    TAG_SWEEPERS,
    TAG_INTAKE,
    TAG_TRIMMER,
    TAG_SIGNAL
};

/* HELLO, READY, BYE, HEARTBEAT, CIRCUIT_STATE; true when the message was one of these. */
bool peers_message(struct desk *d, const struct incoming *in);

/* A pidfd has become readable. */
void peers_died(struct desk *d, int pidfd);

struct peer *peer_of_id(const struct desk *d, actor_id id);        /* NULL: never heard of */
struct peer *peer_of_name(const struct desk *d, const char *name); /* the newest run; or NULL */

/* Counted when it does not go through; never blocks. */
bool peer_send(struct desk *d, struct peer *p, const struct message *m);
void peers_send_all(struct desk *d, const struct message *m); /* to every living daemon */

/* Someone of whom nothing but the id in a lease word is known, after a restart of the desk. Its
 * death is proven by the stat page that it left, or it says HELLO. */
struct peer *peer_adopt(struct desk *d, actor_id id);
void peers_watch_adopted(
    struct desk *d); /* when every flight is known: finds the dead among them */

/* Once a second: late heartbeats are reported; dead peers that nothing names are forgotten. */
void peers_tick(struct desk *d);
unsigned peers_ready(const struct desk *d, enum actor_kind kind);
