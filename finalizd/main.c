/* finalizd: the desk, the ledger and the finishing of proofs.
 *
 *   finalizd --dir INSTANCE
 *
 * SIGTERM or SIGINT: grants nothing new, lets what is under way finish, and ends with 0; a second
 * one ends it now. Exit codes are those of err.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sodium.h>
#include "desk.h"
#include "log.h"

static const char *const usage =
    "usage: finalizd --dir INSTANCE\n\n"
    "The desk of an instance: accepts jobs, owns ledger and memory budget, grants leases,\n"
    "finishes and verifies proofs. Started by the supervisor (millrace up).\n";

static const char *parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            exit(ERR_OK);
        }
        if (strcmp(argv[i], "--dir") == 0 && i + 1 < argc && i + 2 == argc)
            return argv[i + 1];
    }
    fputs(usage, stderr);
    exit(ERR_USAGE);
}

int main(int argc, char **argv)
{
    const char *dir = parse(argc, argv);
    struct err e = {0};
    umask(0077);
    log_init("finalizd");
    /* It holds unblinded elements: no core dump. A limit of 1, since the kernel ignores 0 when
     * dumps go to a pipe. (PR_SET_DUMPABLE would also close /proc/self/fd, which names the lanes.)
     */
    setrlimit(RLIMIT_CORE, &(struct rlimit){1, 1});
    if (sodium_init() < 0) {
        log_error("cannot-start", NULL, "reason=%s", "libsodium cannot be initialised");
        return ERR_INTERNAL;
    }
    struct desk *d = desk_open(dir, &finisher_groth16, &e);
    if (!d) {
        log_error("cannot-start", NULL, "code=%s reason=%s", err_word(e.code), e.text);
        return (int)e.code;
    }
    desk_serve(d);
    desk_close(&d);
    return ERR_OK;
}
