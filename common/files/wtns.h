/* wtns: witnesses as circom and snarkjs write them. A witness is secret: the caller wipes it.
 *
 *   struct wtns *f = wtns_open(path, &err);
 *   wtns_facts(f)->n ...                       the room that is needed
 *   wtns_read(f, w, pool, &err);               straight into w: pread, then checked there
 *   wtns_close(&f);
 *
 * Checked: container, curve by its group order, count against the section's length, every value
 * below r, value 0 equal to one. The message for a bad value names its index, never the value. */
#pragma once
#include "circuit.h"

struct wtns;

struct wtns_facts {
    const struct curve *curve;
    uint64_t n; /* values, the constant one included */
    uint64_t file_bytes;
};

struct wtns *wtns_open(const char *path, struct err *e);
/* Takes over fd (closed by wtns_close, and on failure too); name stands in messages. */
struct wtns *wtns_open_fd(int fd, const char *name, struct err *e);
void wtns_close(struct wtns **f);
const struct wtns_facts *wtns_facts(const struct wtns *f);

/* ERR_MISMATCH, naming both sides, unless the witness is of this curve and has n_wires values. */
enum err_code wtns_expect(const struct wtns *f, const struct curve *c, uint64_t n_wires,
                          struct err *e);

/* All n values, plain, to out. On failure out is wiped. */
enum err_code wtns_read(struct wtns *f, fr_t *out, struct pool *pool, struct err *e);

/* Written beside and renamed, mode 0600. */
enum err_code wtns_write(const char *path, const struct curve *c, const fr_t *plain, uint64_t n,
                         struct err *e);
