/* instance: the directory that everything which runs belongs to, and where things lie in it.
 *
 *   DIR/               0700, owned by the user who runs the daemons
 *   DIR/run/           sockets, lock files, the link to the arenas; emptied by `down`
 *   DIR/run/arena      symbolic link to the tmpfs directory of the arenas (made by millrace-arena)
 *   DIR/store/         prepared circuits            DIR/spool/    inputs, one file a witness
 *   DIR/ledger/        the desk's database          DIR/log/      what the daemons print
 *
 * Files of an instance are opened relative to a directory descriptor, never by a path that was put
 * together from text, so that a long DIR or a renamed one cannot change what is meant. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "err.h"

struct instance {
    char dir[4096];      /* absolute path, for messages to people */
    int dir_fd;          /* O_PATH | O_DIRECTORY | O_CLOEXEC */
    int run_fd;          /* DIR/run */
    uint64_t hash;       /* of the absolute path and the uid: names the tmpfs directory */
    char arena_dir[128]; /* default place of the arenas: /dev/shm/millrace-<uid>-<hash> */
};

/* Makes DIR and its folders (0700) where they are missing. ERR_IO with what is in the way. */
enum err_code instance_create(const char *dir, struct err *e);

/* Opens DIR, which must exist, be ours and closed to others. ERR_UNAVAILABLE when it is not an
 * instance, ERR_REFUSED when the owner or the mode is wrong. */
enum err_code instance_open(struct instance *in, const char *dir, struct err *e);
void instance_close(struct instance *in);

/* The directory an instance is looked for in: the argument when not NULL, else MILLRACE_DIR, else
 * $XDG_STATE_HOME/millrace, else ~/.local/state/millrace (the ledger lies there: it must outlive a
 * reboot). Returns out. */
const char *instance_default_dir(const char *argument, char *out, size_t n);

/* Descriptor of the folder where arenas and rings lie (DIR/run/arena), checked to be ours, closed
 * to others and on a tmpfs or hugetlbfs. -1 with ERR_UNAVAILABLE when no arena was made yet. */
int instance_arena_fd(const struct instance *in, struct err *e);

/* Where span rings and stat pages are made: the arena folder, or DIR/run when there is none. Never
 * -1 for an open instance; the caller closes it. */
int instance_evidence_fd(const struct instance *in);

/* Unlinks every file in a folder of ours (not folders in it): what `down` does to the arenas'. */
void instance_folder_empty(int dir_fd);

/* Opens DIR/run/FILE (made when missing), close-on-exec, and locks it with flock. -1 with
 * ERR_REFUSED ("what ... already") when another descriptor holds it, ERR_IO otherwise. The lock
 * goes with the descriptor. */
int instance_lock(const struct instance *in, const char *file, const char *what, struct err *e);
