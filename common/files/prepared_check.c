/* The full check of a mapped circuit: nothing is taken from the header on trust. */
#include <inttypes.h>
#include <string.h>
#include "key_check.h"
#include "first_error.h"
#include "owner.h"
#include "piece_hash.h"
#include "prepared_layout.h"

static enum err_code check_checksums(const struct prepared_header *h, const char *name,
                                     struct pool *pool, struct err *e)
{
    const unsigned char *base = (const unsigned char *)h;
    uint64_t end = PREPARED_HEADER_BYTES;
    for (unsigned id = 1; id < PREPARED_SECTIONS; id++) {
        const struct prepared_extent *s = &h->section[id];
        if (!s->length)
            continue;
        for (; end < s->offset; end++)
            if (base[end])
                return err_set(e, ERR_FORMAT,
                               "%s: offset %" PRIu64 ": expected zeros between sections", name,
                               end);
        struct piece_hash hash;
        uint8_t digest[PIECE_DIGEST_BYTES];
        piece_hash_init(&hash);
        piece_hash_update(&hash, base + s->offset, (size_t)s->length, pool);
        piece_hash_final(&hash, digest);
        if (memcmp(digest, s->checksum, sizeof digest) != 0)
            return err_set(e, ERR_FORMAT,
                           "%s: section %u (%s): offset %" PRIu64
                           ": damaged: its checksum does not fit",
                           name, id, prepared_section_name(id), s->offset);
        end = s->offset + s->length;
    }
    return ERR_OK;
}

struct points_loop {
    const struct group *group;
    const unsigned char *points;
    uint64_t at; /* in the file, for messages */
    const char *name;
    unsigned id;
    bool infinity_allowed;
    struct first_error error;
};

static void points_body(void *arg, size_t begin, size_t end, unsigned worker)
{
    (void)worker;
    struct points_loop *l = arg;
    if (!first_error_still_wanted(&l->error, begin))
        return;
    size_t bytes = l->group->bytes;
    const char *why = NULL;
    size_t bad = begin + l->group->check(l->points + begin * bytes, end - begin, true, NULL, &why);
    for (size_t i = begin; i < bad && !l->infinity_allowed; i++) {
        if (l->group->is_infinity(l->points + i * bytes)) {
            bad = i;
            why = "point is at infinity";
        }
    }
    if (bad == end)
        return;
    struct err e;
    err_set(&e, ERR_VALUE, "%s: section %u (%s): offset %" PRIu64 ": point %zu: %s", l->name, l->id,
            prepared_section_name(l->id), l->at + bad * bytes, bad, why);
    first_error_put(&l->error, bad, &e);
}

static enum err_code check_points(const struct prepared_header *h, unsigned id,
                                  const struct group *g, bool infinity_allowed, const char *name,
                                  struct pool *pool, struct err *e)
{
    struct points_loop l = {
        .group = g,
        .points = (const unsigned char *)h + h->section[id].offset,
        .at = h->section[id].offset,
        .name = name,
        .id = id,
        .infinity_allowed = infinity_allowed,
        .error = FIRST_ERROR_INIT,
    };
    pool_range(pool, points_body, &l, (size_t)(h->section[id].length / g->bytes), 1024);
    return first_error_take(&l.error, e);
}

static enum err_code check_wires(const struct prepared_header *h, unsigned id,
                                 const struct query *q, uint32_t from, uint32_t n_wires,
                                 const char *name, struct err *e)
{
    if (!q->wire && q->n && q->first_wire < from)
        return err_set(e, ERR_FORMAT, "%s: section %u (%s): expected wires from %" PRIu32 " on",
                       name, id - 1, prepared_section_name(id - 1), from);
    for (uint64_t i = 0; q->wire && i < q->n; i++) {
        if (q->wire[i] >= n_wires || q->wire[i] < from || (i && q->wire[i] <= q->wire[i - 1]))
            return err_set(
                e, ERR_FORMAT,
                "%s: section %u (%s): offset %" PRIu64 ": expected ascending wires from %" PRIu32
                " to %" PRIu32 ", found %" PRIu32,
                name, id, prepared_section_name(id), h->section[id].offset + i * sizeof *q->wire,
                from, n_wires - 1, q->wire[i]);
    }
    return ERR_OK;
}

static enum err_code check_matrices(const struct circuit *c, const char *name, struct pool *pool,
                                    struct err *e)
{
    const struct matrix *matrices[3] = {&c->a, &c->b, &c->c};
    for (int i = 0; i < (c->has_c ? 3 : 2); i++) {
        enum err_code code = matrix_check(c->curve, matrices[i], pool, e);
        if (code) {
            err_prefix(e, "%s: matrix %c", name, "ABC"[i]);
            return code;
        }
    }
    return ERR_OK;
}

enum err_code circuit_check(const struct circuit *c, const char *name, struct pool *pool,
                            struct err *e)
{
    const struct prepared_header *h = circuit_owner(c)->mapping;
    INVARIANT(h != NULL);
    enum err_code code = prepared_header_check(h, circuit_owner(c)->mapping_bytes, name, e);
    if (!code)
        code = check_checksums(h, name, pool, e);
    if (!code)
        code = check_matrices(c, name, pool, e);
    const struct query *queries[QUERIES] = {&c->a_query, &c->b1_query, &c->b2_query, &c->l_query};
    for (unsigned i = 0; i < QUERIES && !code; i++) {
        code = check_wires(h, PREPARED_A_WIRES + 2 * i, queries[i],
                           i == QUERY_L ? c->n_public + 1 : 0, c->n_wires, name, e);
        if (!code)
            code = check_points(h, PREPARED_A_POINTS + 2 * i,
                                i == QUERY_B2 ? c->curve->g2 : c->curve->g1, false, name, pool, e);
    }
    if (!code)
        code = check_points(h, PREPARED_H_POINTS, c->curve->g1, true, name, pool, e);
    if (!code)
        code = check_points(h, PREPARED_IC, c->curve->g1, true, name, pool, e);
    return code ? code : key_check_consistent(c, name, e);
}
