/* evidence: the small shared files that tell how an actor is doing: span rings, stat page, flight
 * recorder. One file NAME#INCARNATION.SUFFIX each, in the arenas' folder (DIR/run without arenas),
 * mode 0600, allocated in full so that a full tmpfs is an error now and not a SIGBUS later. Those
 * of earlier incarnations stay for whoever looks into a crash; only the last EVIDENCE_KEPT of a
 * name and suffix are kept. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "actors.h"
#include "err.h"
#include "instance.h"

enum { EVIDENCE_KEPT = 2, EVIDENCE_NAME_MAX = 96 };

/* Makes and maps one, zeroed, kept out of children. NULL with ERR_MEMORY (no room) or ERR_IO. */
void *evidence_create(const struct instance *in, const struct actor *self, const char *suffix,
                      size_t bytes, struct err *e);
void evidence_unmap(void *at, size_t bytes);
void evidence_remove(const struct instance *in, const struct actor *self, const char *suffix);

/* Takes a file name apart; false when it is not one of evidence. suffix points into name. */
bool evidence_parse(const char *name, struct actor *who, const char **suffix);

/* Calls each for every file whose suffix ends with `ending` (".spans"). */
typedef void evidence_each(void *arg, int dir_fd, const char *name, const struct actor *who,
                           const char *suffix);
void evidence_scan(const struct instance *in, const char *ending, evidence_each *each, void *arg);
