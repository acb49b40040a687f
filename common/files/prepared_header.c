#include <inttypes.h>
#include <sodium.h>
#include <string.h>
#include "prepared_layout.h"

static const char *const section_names[PREPARED_SECTIONS] = {
    [PREPARED_A_ROW_START] = "rows of A",
    [PREPARED_A_WIRE] = "wires of A",
    [PREPARED_A_CODE] = "codes of A",
    [PREPARED_A_DICTIONARY] = "dictionary of A",
    [PREPARED_B_ROW_START] = "rows of B",
    [PREPARED_B_WIRE] = "wires of B",
    [PREPARED_B_CODE] = "codes of B",
    [PREPARED_B_DICTIONARY] = "dictionary of B",
    [PREPARED_C_ROW_START] = "rows of C",
    [PREPARED_C_WIRE] = "wires of C",
    [PREPARED_C_CODE] = "codes of C",
    [PREPARED_C_DICTIONARY] = "dictionary of C",
    [PREPARED_IC] = "IC points",
    [PREPARED_A_POINTS] = "A points",
    [PREPARED_A_WIRES] = "A wires",
    [PREPARED_B1_POINTS] = "B points in G1",
    [PREPARED_B1_WIRES] = "B wires in G1",
    [PREPARED_B2_POINTS] = "B points in G2",
    [PREPARED_B2_WIRES] = "B wires in G2",
    [PREPARED_L_POINTS] = "L points",
    [PREPARED_L_WIRES] = "L wires",
    [PREPARED_H_POINTS] = "H points",
    [PREPARED_FOLDS] = "folds",
};

static const char *const point_names[KEY_POINTS] = {"alpha in G1", "beta in G1",  "beta in G2",
                                                    "gamma in G2", "delta in G1", "delta in G2"};

const char *prepared_section_name(enum prepared_section id)
{
    return id > 0 && id < PREPARED_SECTIONS ? section_names[id] : "unknown";
}

static const struct group *point_group(const struct curve *c, int i)
{
    return i == POINT_BETA_G2 || i == POINT_GAMMA_G2 || i == POINT_DELTA_G2 ? c->g2 : c->g1;
}

static uint64_t matrix_length(const struct prepared_matrix *m, unsigned part)
{
    switch (part) {
    case 0:
        return ((uint64_t)m->n_stored_rows + 1) * sizeof(uint32_t);
    case 1:
        return m->n_entries * sizeof(uint32_t);
    case 2:
        return m->n_entries * m->code_bytes;
    default:
        return (uint64_t)m->n_dictionary * sizeof(fr_t);
    }
}

/* All counts were bounded before (entries < 2^32, n < 2^33): nothing here wraps. */
uint64_t prepared_expected_length(const struct prepared_header *h, enum prepared_section id)
{
    const struct curve *c = curve_by_id(h->curve);
    if (id >= PREPARED_A_ROW_START && id <= PREPARED_C_DICTIONARY) {
        unsigned which = (unsigned)(id - PREPARED_A_ROW_START) / 4;
        if (which == 2 && !(h->flags & PREPARED_HAS_C))
            return 0;
        return matrix_length(&h->matrix[which], (unsigned)(id - PREPARED_A_ROW_START) % 4);
    }
    if (id == PREPARED_IC)
        return ((uint64_t)h->n_public + 1) * c->g1->bytes;
    if (id == PREPARED_H_POINTS)
        return h->n_h * c->g1->bytes;
    if (id == PREPARED_FOLDS)
        return (uint64_t)h->n_folds * sizeof(struct matrix_fold);
    unsigned q = (unsigned)(id - PREPARED_A_POINTS) / 2;
    INVARIANT(q < QUERIES);
    if ((id - PREPARED_A_POINTS) % 2)
        return h->query[q].has_list ? h->query[q].n * sizeof(uint32_t) : 0;
    return h->query[q].n * (q == QUERY_B2 ? c->g2 : c->g1)->bytes;
}

void prepared_header_digest(const struct prepared_header *h, uint8_t digest[32])
{
    struct prepared_header copy = *h;
    memset(copy.digest, 0, sizeof copy.digest);
    crypto_generichash(digest, 32, (const unsigned char *)&copy, sizeof copy, NULL, 0);
}

static enum err_code wrong(struct err *e, const char *name, const char *field, size_t offset,
                           uint64_t found, const char *expected)
{
    return err_set(e, ERR_FORMAT, "%s: header (%s): offset %zu: expected %s, found %" PRIu64, name,
                   field, offset, expected, found);
}

#define AT(member) offsetof(struct prepared_header, member)

static enum err_code check_counts(const struct prepared_header *h, const char *name, struct err *e)
{
    const struct curve *c = curve_by_id(h->curve);
    if (!c)
        return err_set(e, ERR_UNSUPPORTED, "%s: header (curve): offset %zu: no curve %" PRIu32,
                       name, AT(curve), h->curve);
    if (h->flags & ~(uint32_t)PREPARED_HAS_C)
        return wrong(e, name, "flags", AT(flags), h->flags, "no flag but 1 (matrix C)");
    if (h->n_public >= h->n_wires)
        return wrong(e, name, "publics", AT(n_public), h->n_public, "fewer than there are wires");
    if (h->domain_log2 > c->two_adicity)
        return wrong(e, name, "domain", AT(domain_log2), h->domain_log2,
                     "a power of two that the field has roots of unity for");
    if (h->roots != ROOT_SNARKJS && h->roots != ROOT_BELLMAN)
        return wrong(e, name, "roots", AT(roots), h->roots, "1 (snarkjs) or 2 (bellman)");
    if (h->h_basis != H_ODD_LAGRANGE && h->h_basis != H_MONOMIAL)
        return wrong(e, name, "H basis", AT(h_basis), h->h_basis, "1 (Lagrange) or 2 (monomial)");
    uint64_t domain = 1ull << h->domain_log2;
    if (h->n_h != (h->h_basis == H_MONOMIAL ? domain - 1 : domain))
        return wrong(e, name, "H points", AT(n_h), h->n_h, "one per row of the domain");
    if ((uint64_t)h->n_constraints > domain)
        return wrong(e, name, "constraints", AT(n_constraints), h->n_constraints,
                     "no more than the domain has rows");
    return ERR_OK;
}

static enum err_code check_matrices(const struct prepared_header *h, const char *name,
                                    struct err *e)
{
    for (size_t i = 0; i < 3; i++) {
        const struct prepared_matrix *m = &h->matrix[i];
        size_t at = AT(matrix) + i * sizeof *m;
        if (i == 2 && !(h->flags & PREPARED_HAS_C)) {
            static const struct prepared_matrix none;
            if (memcmp(m, &none, sizeof none) != 0)
                return wrong(e, name, "matrix C", at, m->n_rows, "zeros: there is no matrix C");
            continue;
        }
        if (m->n_rows > 1ull << h->domain_log2)
            return wrong(e, name, "matrix rows", at, m->n_rows, "rows inside the domain");
        if (m->code_bytes != 1 && m->code_bytes != 2 && m->code_bytes != 4)
            return wrong(e, name, "matrix codes", at + 16, m->code_bytes,
                         "codes of 1, 2 or 4 bytes");
        if (m->n_dictionary < 2 ||
            (m->code_bytes < 4 && m->n_dictionary > 1ull << 8 * m->code_bytes))
            return wrong(e, name, "dictionary", at + 4, m->n_dictionary,
                         "2 values at least and no more than its codes can name");
        if (m->n_entries > UINT32_MAX)
            return wrong(e, name, "matrix entries", at + 8, m->n_entries, "less than 2^32");
        if (m->n_stored_rows > m->n_rows || (!h->n_folds && m->n_stored_rows != m->n_rows))
            return wrong(e, name, "stored rows", at + 20, m->n_stored_rows,
                         "no more than the matrix has, and all of them without folds");
    }
    return ERR_OK;
}

static enum err_code check_queries(const struct prepared_header *h, const char *name, struct err *e)
{
    for (size_t i = 0; i < QUERIES; i++) {
        const struct prepared_query *q = &h->query[i];
        size_t at = AT(query) + i * sizeof *q;
        if (q->n > h->n_wires)
            return wrong(e, name, "query", at, q->n, "no more points than wires");
        if (q->has_list > 1)
            return wrong(e, name, "query", at + 12, q->has_list, "0 or 1");
        if (q->has_list ? q->first_wire != 0 : q->first_wire > h->n_wires - q->n)
            return wrong(e, name, "query", at + 8, q->first_wire, "wires that exist");
    }
    return ERR_OK;
}

static enum err_code check_points(const struct prepared_header *h, const char *name, struct err *e)
{
    const struct curve *c = curve_by_id(h->curve);
    for (int i = 0; i < KEY_POINTS; i++) {
        const struct group *g = point_group(c, i);
        const point_t *p = &h->point[i];
        point_t padded = {{0}};
        memcpy(&padded, p, g->bytes);
        const char *why = NULL;
        if (memcmp(&padded, p, sizeof padded) != 0)
            why = "expected zeros behind the point";
        else if (g->is_infinity(p))
            why = "point is at infinity";
        else
            g->check(p, 1, false, NULL, &why);
        if (why)
            return err_set(e, ERR_VALUE, "%s: header (%s): offset %zu: %s", name, point_names[i],
                           AT(point) + (size_t)i * sizeof *p, why);
    }
    return ERR_OK;
}

static enum err_code check_sections(const struct prepared_header *h, uint64_t file_bytes,
                                    const char *name, struct err *e)
{
    uint64_t end = PREPARED_HEADER_BYTES;
    for (unsigned id = 0; id < PREPARED_SECTIONS; id++) {
        const struct prepared_extent *s = &h->section[id];
        size_t at = AT(section) + id * sizeof *s;
        uint64_t want = id ? prepared_expected_length(h, id) : 0;
        if (s->length != want)
            return err_set(e, ERR_FORMAT,
                           "%s: section %u (%s): offset %zu: expected a length of %" PRIu64
                           " bytes for the header's counts, found %" PRIu64,
                           name, id, prepared_section_name(id), at + 8, want, s->length);
        uint64_t begin = want ? (end + PREPARED_ALIGNMENT - 1) & ~(PREPARED_ALIGNMENT - 1ull) : 0;
        if (s->offset != begin)
            return err_set(e, ERR_FORMAT,
                           "%s: section %u (%s): offset %zu: expected it to begin at %" PRIu64
                           ", found %" PRIu64,
                           name, id, prepared_section_name(id), at, begin, s->offset);
        if (want && (begin > file_bytes || want > file_bytes - begin))
            return err_set(e, ERR_FORMAT,
                           "%s: section %u (%s): offset %" PRIu64 ": %" PRIu64
                           " bytes, but the file ends at %" PRIu64,
                           name, id, prepared_section_name(id), begin, want, file_bytes);
        end = want ? begin + want : end;
    }
    if (end != h->file_bytes || end != file_bytes)
        return err_set(e, ERR_FORMAT,
                       "%s: header (file size): offset %zu: the sections end at %" PRIu64
                       ", the header says %" PRIu64 ", the file has %" PRIu64 " bytes",
                       name, AT(file_bytes), end, h->file_bytes, file_bytes);
    return ERR_OK;
}

enum err_code prepared_header_check(const struct prepared_header *h, uint64_t file_bytes,
                                    const char *name, struct err *e)
{
    if (memcmp(h->magic, PREPARED_MAGIC, sizeof h->magic) != 0)
        return err_set(e, ERR_FORMAT,
                       "%s: header: offset 0: not a prepared circuit (its magic is "
                       "missing)",
                       name);
    if (h->version != PREPARED_VERSION)
        return err_set(e, ERR_UNSUPPORTED,
                       "%s: header (version): offset %zu: expected version %d, found %" PRIu32
                       ": prepare the circuit again",
                       name, AT(version), PREPARED_VERSION, h->version);
    if (h->header_bytes != sizeof *h)
        return wrong(e, name, "size", AT(header_bytes), h->header_bytes, "a header of 4096 bytes");
    uint8_t digest[32];
    prepared_header_digest(h, digest);
    if (memcmp(digest, h->digest, sizeof digest) != 0)
        return err_set(e, ERR_FORMAT,
                       "%s: header (digest): offset %zu: the header is damaged: its digest does "
                       "not fit",
                       name, AT(digest));
    if (h->zero)
        return wrong(e, name, "reserved", AT(zero), h->zero, "0");
    for (size_t i = 0; i < sizeof h->reserved; i++)
        if (h->reserved[i])
            return wrong(e, name, "reserved", AT(reserved) + i, h->reserved[i], "0");
    enum err_code code = check_counts(h, name, e);
    if (!code)
        code = check_matrices(h, name, e);
    if (!code)
        code = check_queries(h, name, e);
    if (!code)
        code = check_sections(h, file_bytes, name, e);
    return code ? code : check_points(h, name, e);
}

static void from_query(struct prepared_query *out, const struct query *q)
{
    *out = (struct prepared_query){
        .n = q->n, .first_wire = q->wire ? 0 : q->first_wire, .has_list = q->wire != NULL};
}

void prepared_header_from_circuit(struct prepared_header *h, const struct circuit *c)
{
    memcpy(h->magic, PREPARED_MAGIC, sizeof h->magic);
    h->version = PREPARED_VERSION;
    h->header_bytes = sizeof *h;
    h->curve = c->curve->id;
    h->flags = c->has_c ? PREPARED_HAS_C : 0;
    h->n_wires = c->n_wires;
    h->n_public = c->n_public;
    h->n_constraints = c->n_constraints;
    h->domain_log2 = c->domain_log2;
    h->roots = c->roots;
    h->h_basis = c->h_basis;
    h->n_h = c->n_h;
    from_query(&h->query[QUERY_A], &c->a_query);
    from_query(&h->query[QUERY_B1], &c->b1_query);
    from_query(&h->query[QUERY_B2], &c->b2_query);
    from_query(&h->query[QUERY_L], &c->l_query);
    const point_t *points[KEY_POINTS] = {&c->vk.alpha_g1, &c->beta_g1,  &c->vk.beta_g2,
                                         &c->vk.gamma_g2, &c->delta_g1, &c->vk.delta_g2};
    for (int i = 0; i < KEY_POINTS; i++)
        memcpy(&h->point[i], points[i], point_group(c->curve, i)->bytes);
}

static void to_matrix(const struct prepared_matrix *m, uint32_t n_wires, struct matrix *out)
{
    out->n_rows = m->n_rows;
    out->n_wires = n_wires;
    out->n_entries = m->n_entries;
    out->n_dictionary = m->n_dictionary;
    out->code_bytes = m->code_bytes;
}

static void to_query(const struct prepared_query *q, struct query *out)
{
    out->n = q->n;
    out->first_wire = q->first_wire;
}

void prepared_header_to_circuit(const struct prepared_header *h, struct circuit *c)
{
    c->curve = curve_by_id(h->curve);
    memcpy(c->digest, h->digest, sizeof c->digest);
    c->n_wires = h->n_wires;
    c->n_public = h->n_public;
    c->n_constraints = h->n_constraints;
    c->domain_log2 = h->domain_log2;
    c->roots = h->roots;
    c->h_basis = h->h_basis;
    c->n_h = h->n_h;
    c->has_c = h->flags & PREPARED_HAS_C;
    to_matrix(&h->matrix[0], h->n_wires, &c->a);
    to_matrix(&h->matrix[1], h->n_wires, &c->b);
    if (c->has_c)
        to_matrix(&h->matrix[2], h->n_wires, &c->c);
    to_query(&h->query[QUERY_A], &c->a_query);
    to_query(&h->query[QUERY_B1], &c->b1_query);
    to_query(&h->query[QUERY_B2], &c->b2_query);
    to_query(&h->query[QUERY_L], &c->l_query);
    c->vk.curve = c->curve;
    c->vk.n_public = h->n_public;
    c->vk.alpha_g1 = h->point[POINT_ALPHA_G1];
    c->vk.beta_g2 = h->point[POINT_BETA_G2];
    c->vk.gamma_g2 = h->point[POINT_GAMMA_G2];
    c->vk.delta_g2 = h->point[POINT_DELTA_G2];
    c->beta_g1 = h->point[POINT_BETA_G1];
    c->delta_g1 = h->point[POINT_DELTA_G1];
}
