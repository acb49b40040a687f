#include "peer_names.h"
#include "local.h"
#include "output.h"
#include "verify_files.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "file.h"

static int wrong_usage(const char *usage)
{
    fprintf(stderr, "Invalid number of parameters:\nUsage: %s\n", usage);
    return EXIT_FAILURE;
}

static enum err_code prove_to_files(char **path, struct err *e)
{
    struct pool *pool = pool_new(0, NULL, e);
    if (!pool)
        return e->code;
    const struct local_job job = {.key_path = path[0], .witness_path = path[1]};
    struct local_proof proof;
    enum err_code rc = local_prove(&job, &proof, pool, e);
    pool_free(&pool);
    if (rc)
        return rc;
    rc = write_proof_files(path[2], &proof.proof, path[3], proof.publics, proof.n_public,
                           JSON_ONE_LINE, false, e);
    local_proof_free(&proof);
    return rc;
}

static int prover_main(int argc, char **argv)
{
    if (argc != 5)
        return wrong_usage("prover <circuit.zkey> <witness.wtns> <proof.json> <public.json>");
    struct err e = {0};
    if (!prove_to_files(argv + 1, &e))
        return EXIT_SUCCESS;
    fprintf(stderr, "Error: %s\n", e.text);
    return EXIT_FAILURE;
}

static int verifier_main(int argc, char **argv)
{
    if (argc != 4)
        return wrong_usage("verifier <verification_key.json> <inputs.json> <proof.json>");
    struct err e = {0};
    enum err_code rc = verify_files(argv[1], argv[2], argv[3], &e);
    if (!rc)
        fprintf(stderr, "Result: Valid proof\n");
    else if (rc == ERR_REJECTED)
        fprintf(stderr, "Result: Invalid proof\n");
    else
        fprintf(stderr, "Error: %s\n", e.text);
    return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}

peer_main *peer_by_name(const char *argv0)
{
    const char *name = file_name(argv0);
    if (strcmp(name, "prover") == 0)
        return prover_main;
    if (strcmp(name, "verifier") == 0)
        return verifier_main;
    return NULL;
}
