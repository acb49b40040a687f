/* alive: who is proven dead. Only proven death frees anything.
 *
 * A process says in HELLO who it is: pid, start time, boot id. The other side opens a pidfd for the
 * pid and only then compares start time and boot id, so that a reused pid can never be mistaken
 * for it. From then on the pidfd tells: readable means that the process is gone, with every mapping
 * and every DMA of it (a released file lock does not: a killed gpud's copies outlive its locks by a
 * quarter of a second). A late heartbeat proves nothing. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "err.h"
#include "messages.h"

struct alive_id {
    uint32_t pid;
    uint64_t start_ticks; /* field 22 of /proc/PID/stat */
    char boot_id[37];
};

/* Who this process is. ERR_UNAVAILABLE when /proc is not there. */
enum err_code alive_self(struct alive_id *id, struct err *e);
void alive_to_hello(const struct alive_id *id, struct msg_hello *hello);
void alive_from_hello(struct alive_id *id, const struct msg_hello *hello);

enum alive_state {
    ALIVE_YES,     /* *pidfd is open (close-on-exec) and watches exactly this process */
    ALIVE_DEAD,    /* proven: no such process, another start time, another boot */
    ALIVE_UNKNOWN, /* cannot be told: no /proc, no permission, a foreign pid namespace */
};
enum alive_state alive_open(const struct alive_id *id, int *pidfd, struct err *e);
/* Has the watched process ended? Never blocks. */
bool alive_is_dead(int pidfd);
/* Waits up to timeout_ms for its end; true when it is dead. */
bool alive_wait_dead(int pidfd, int timeout_ms);
/* SIGKILL or another signal to exactly that process; false when it is gone already. */
bool alive_signal(int pidfd, int signal_number);
