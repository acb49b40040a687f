#include "build.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compile.h"
#include "file.h"
#include "sibling.h"
#include "wasmfile.h"

enum { DIGEST_BYTES = 32, PROGRAM_MAX_BYTES = 1 << 30 };

struct job {
    const char *source, *dir;
    char work[PATH_MAX]; /* DIR/.build.XXXXXX */
    char made[PATH_MAX]; /* the file in it that becomes info->path */
    struct program_info *info;
    struct err *err;
};

static enum err_code name_in_store(struct job *j, const char *ending)
{
    char hex[2 * DIGEST_BYTES + 1];
    sodium_bin2hex(hex, sizeof hex, j->info->digest, DIGEST_BYTES);
    if (snprintf(j->info->path, PATH_MAX, "%s/%s%s", j->dir, hex, ending) >= PATH_MAX)
        return err_set(j->err, ERR_IO, "%s: path too long", j->dir);
    return ERR_OK;
}

static enum err_code work_dir(struct job *j)
{
    if (snprintf(j->work, sizeof j->work, "%s/.build.XXXXXX", j->dir) >= (int)sizeof j->work - 16 ||
        mkdtemp(j->work) == NULL) {
        enum err_code rc = err_set(j->err, ERR_IO, "%s: %s", j->work, strerror(errno));
        j->work[0] = 0;
        return rc;
    }
    snprintf(j->made, sizeof j->made, "%.4000s/made.so", j->work);
    return ERR_OK;
}

/* Runs the compiled program confined, so that a broken or hostile one is found here and not by the
 * first job, and reads what it says of itself. */
static enum err_code ask(struct job *j, const char *path)
{
    char runner[PATH_MAX], log[PATH_MAX + 8];
    enum err_code rc = sibling_path("millrace-wasm", "tools/witness", runner, j->err);
    if (rc != ERR_OK)
        return rc;
    snprintf(log, sizeof log, "%s/log", j->work);
    char *const argv[] = {runner, "--cpu-s",    "60",         "--memory-mib",
                          "8192", "--describe", (char *)path, NULL};
    rc = compile_run(argv, log, j->err);
    if (rc != ERR_OK)
        return rc;
    char *text, hex[65];
    size_t n;
    rc = file_read(log, 4096, &text, &n, j->err);
    if (rc != ERR_OK)
        return rc;
    uint8_t big_endian[32];
    size_t n_prime = 0;
    bool ok = sscanf(text, "circom=%*u.%*u.%*u inputs=%u witness=%u prime=%64s", &j->info->n_inputs,
                     &j->info->n_witness, hex) == 3 &&
              sodium_hex2bin(big_endian, sizeof big_endian, hex, strlen(hex), NULL, &n_prime,
                             NULL) == 0 &&
              n_prime == 32;
    free(text);
    if (!ok)
        return err_set(j->err, ERR_FORMAT, "%s: its description was not understood", j->source);
    for (int i = 0; i < 32; i++)
        j->info->prime[i] = big_endian[31 - i];
    return ERR_OK;
}

static enum err_code build_wasm(struct job *j, const char *data, size_t n)
{
    enum err_code rc = wasmfile_check(file_name(j->source), (const uint8_t *)data, n, j->err);
    if (rc != ERR_OK)
        return rc;
    crypto_generichash(j->info->digest, DIGEST_BYTES, (const uint8_t *)data, n, NULL, 0);
    rc = name_in_store(j, ".so");
    if (rc == ERR_OK)
        rc = work_dir(j);
    if (rc != ERR_OK)
        return rc;
    /* One that is there but does not answer was built for another version: built again. */
    if (access(j->info->path, R_OK) == 0 && ask(j, j->info->path) == ERR_OK)
        return ERR_OK;
    rc = compile_wasm(file_name(j->source), data, n, j->work, j->made, j->err);
    if (rc == ERR_OK)
        rc = ask(j, j->made);
    if (rc == ERR_OK && (chmod(j->made, 0500) != 0 || rename(j->made, j->info->path) != 0))
        rc = err_set(j->err, ERR_IO, "%s: %s", j->info->path, strerror(errno));
    j->info->built = rc == ERR_OK;
    return rc;
}

static enum err_code build_native(struct job *j, const char *data, size_t n)
{
    char dat_source[PATH_MAX], dat_path[PATH_MAX + 8];
    char *dat = NULL;
    size_t n_dat = 0;
    if (n < 4 || memcmp(data, "\177ELF", 4) != 0)
        return err_set(
            j->err, ERR_FORMAT,
            "%s: offset 0: neither a .wasm nor an executable (\\0asm or \\177ELF expected)",
            file_name(j->source));
    if (snprintf(dat_source, sizeof dat_source, "%s.dat", j->source) >= PATH_MAX)
        return err_set(j->err, ERR_IO, "%s: path too long", j->source);
    if (access(dat_source, F_OK) == 0) {
        enum err_code rc = file_read(dat_source, PROGRAM_MAX_BYTES, &dat, &n_dat, j->err);
        if (rc != ERR_OK)
            return rc;
    }
    uint8_t parts[2 * DIGEST_BYTES];
    crypto_generichash(parts, DIGEST_BYTES, (const uint8_t *)data, n, NULL, 0);
    crypto_generichash(parts + DIGEST_BYTES, DIGEST_BYTES, (const uint8_t *)dat, n_dat, NULL, 0);
    crypto_generichash(j->info->digest, DIGEST_BYTES, parts, sizeof parts, NULL, 0);
    j->info->native = true;
    enum err_code rc = name_in_store(j, ".native");
    if (rc == ERR_OK && access(j->info->path, X_OK) != 0) {
        snprintf(dat_path, sizeof dat_path, "%s.dat", j->info->path);
        /* the data first: the program's name must never stand without it */
        if (dat != NULL)
            rc = file_replace(dat_path, dat, n_dat, 0400, j->err);
        if (rc == ERR_OK)
            rc = file_replace(j->info->path, data, n, 0500, j->err);
        j->info->built = rc == ERR_OK;
    }
    free(dat);
    return rc;
}

enum err_code program_build(const char *source, const char *dir, struct program_info *out,
                            struct err *e)
{
    if (sodium_init() < 0)
        return err_set(e, ERR_INTERNAL, "libsodium cannot be initialised");
    *out = (struct program_info){0};
    struct job j = {.source = source, .dir = dir, .info = out, .err = e};
    char *data;
    size_t n;
    if (mkdir(dir, 0700) != 0 && errno != EEXIST)
        return err_set(e, ERR_IO, "%s: %s", dir, strerror(errno));
    enum err_code rc = file_read(source, PROGRAM_MAX_BYTES, &data, &n, e);
    if (rc != ERR_OK)
        return rc;
    rc = n >= 4 && memcmp(data, "\0asm", 4) == 0 ? build_wasm(&j, data, n)
                                                 : build_native(&j, data, n);
    free(data);
    if (j.work[0] != 0) {
        unlink(j.made);
        compile_clean(j.work);
    }
    return rc;
}
