/* ptau: the facts of a powers-of-tau file; Millrace does not run ceremonies, it only says what a
 * file is. */
#pragma once
#include "curve.h"

struct ptau_facts {
    const struct curve *curve;
    uint32_t power, ceremony_power;
    bool prepared; /* has the Lagrange sections that a circuit's set-up reads */
    uint64_t file_bytes;
};

/* The section table, the header and the lengths of the sections are checked, no point is read. */
enum err_code ptau_read_facts(const char *path, struct ptau_facts *out, struct err *e);
