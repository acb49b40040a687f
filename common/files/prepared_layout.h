/* prepared_layout: the header of a prepared circuit, byte by byte; private to files/. */
#pragma once
#include "prepared.h"

enum {
    PREPARED_VERSION = 2,
    PREPARED_HEADER_BYTES = 4096,
    PREPARED_ALIGNMENT = 4096,
    PREPARED_HAS_C = 1, /* flag */
};

#define PREPARED_MAGIC "MRPC\r\n\x1a\n" /* a transfer in text mode would show */

struct prepared_matrix {
    uint32_t n_rows, n_dictionary;
    uint64_t n_entries; /* stored */
    uint32_t code_bytes, n_stored_rows;
};

struct prepared_query {
    uint64_t n;
    uint32_t first_wire;
    uint32_t has_list; /* 1: the wires stand in a section, first_wire is 0 */
};

struct prepared_extent { /* a section; length 0: absent, offset 0 then */
    uint64_t offset, length;
    uint8_t checksum[32];
};

enum { QUERY_A, QUERY_B1, QUERY_B2, QUERY_L, QUERIES };
enum {
    POINT_ALPHA_G1,
    POINT_BETA_G1,
    POINT_BETA_G2,
    POINT_GAMMA_G2,
    POINT_DELTA_G1,
    POINT_DELTA_G2,
    KEY_POINTS
};

struct prepared_header {
    char magic[8];
    uint32_t version, header_bytes;
    uint32_t curve, flags, n_wires, n_public, n_constraints, domain_log2, roots, h_basis;
    uint64_t file_bytes, n_h;
    struct prepared_matrix matrix[3];
    struct prepared_query query[QUERIES];
    point_t point[KEY_POINTS]; /* zeros behind what a point of the curve needs */
    struct prepared_extent section[PREPARED_SECTIONS]; /* by id; [0] is zero */
    uint32_t n_folds, zero;
    uint64_t n_terms;       /* of A, B and C together, without folds */
    uint8_t reserved[1544]; /* zero */
    uint8_t digest[32];     /* BLAKE2b-256 of this header with the digest zero */
};

_Static_assert(sizeof(struct prepared_header) == PREPARED_HEADER_BYTES, "header is one page");
_Static_assert(offsetof(struct prepared_header, file_bytes) == 48, "layout");
_Static_assert(offsetof(struct prepared_header, matrix) == 64, "layout");
_Static_assert(offsetof(struct prepared_header, query) == 136, "layout");
_Static_assert(offsetof(struct prepared_header, point) == 200, "layout");
_Static_assert(offsetof(struct prepared_header, section) == 1352, "layout");
_Static_assert(offsetof(struct prepared_header, n_folds) == 2504, "layout");
_Static_assert(offsetof(struct prepared_header, digest) == 4064, "layout");

/* What section `id` must be long for the header's counts; its name for messages. */
uint64_t prepared_expected_length(const struct prepared_header *h, enum prepared_section id);
const char *prepared_section_name(enum prepared_section id);

void prepared_header_digest(const struct prepared_header *h, uint8_t digest[32]);

/* Everything that can be known from the header and the file's size. name: the file, for messages.
 */
enum err_code prepared_header_check(const struct prepared_header *h, uint64_t file_bytes,
                                    const char *name, struct err *e);

/* The facts of c to the header (but matrices, sections, file_bytes and digest) and back. */
void prepared_header_from_circuit(struct prepared_header *h, const struct circuit *c);
void prepared_header_to_circuit(const struct prepared_header *h, struct circuit *c);

/* Opens and checks: *fd is open on success. */
enum err_code prepared_open(const char *path, struct prepared_header *h, int *fd, struct err *e);
