/* fixture: where the tests of files/ read and write. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "curve.h"

static const struct {
    const char *dir;
    const struct curve *curve;
} fixture_curves[] = {{"bn128", &curve_bn254}, {"bls12381", &curve_bls12_381}};

/* poseidon_chain, the last, has no .r1cs and on BLS12-381 no .zkey here, but all else. */
static const char *const fixture_circuits[] = {
    "mul", "edge_linear", "edge_full", "edge_manypub", "edge_nopub", "wide_12", "poseidon_chain"};
enum { N_FIXTURE_CURVES = 2, N_FIXTURE_CIRCUITS = 6, N_FIXTURES_WITH_WITNESS = 7 };

/* "FIXTURES/bn128/mul/mul.zkey"; file: "zkey", "wtns", "r1cs" or a whole name ("vk.json"). A static
 * buffer for each of the last four calls. */
static inline const char *fixture(unsigned curve, const char *circuit, const char *file)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s/%s/%s%s%s", FIXTURES, fixture_curves[curve].dir, circuit,
             strchr(file, '.') ? "" : circuit, strchr(file, '.') ? "" : ".", file);
    return path;
}

/* A new empty file, removed by temp_remove. */
static char temp_path[64];

static inline const char *temp_make(void)
{
    strcpy(temp_path, "/tmp/millrace-files-XXXXXX");
    int fd = mkstemp(temp_path);
    if (fd < 0)
        abort();
    close(fd);
    return temp_path;
}

static inline void temp_remove(void)
{
    unlink(temp_path);
}
