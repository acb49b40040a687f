/* sim_desk: the desk as it is, with finishers that accept every proof: what the scenarios and the
 * benchmark of the desk run, since sums of a simulated gpud prove nothing.
 * SIM_REJECT=N in the environment: the first N proofs are rejected. SIM_SLOW=MS: each check takes
 * so long. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sodium.h>
#include "desk.h"
#include "log.h"

static _Atomic long to_reject;
static long slow_ms;

static void assemble(const struct circuit *ck, const struct groth16_sums *sums, struct proof *out)
{
    *out = (struct proof){.curve = ck->curve, .a = sums->a, .b = sums->b2, .c = sums->l};
}

static enum err_code verify(const struct verification_key *vk, const fr_t *const *publics,
                            const struct proof *proofs, size_t m, bool *bad, struct err *e)
{
    enum err_code rc = ERR_OK;
    (void)vk, (void)publics, (void)proofs;
    if (slow_ms)
        usleep((unsigned)slow_ms * 1000);
    for (size_t i = 0; i < m; i++)
        if (atomic_load(&to_reject) > 0) {
            atomic_fetch_sub(&to_reject, 1);
            bad[i] = true;
            rc = err_set(e, ERR_REJECTED, "rejected as asked");
        }
    return rc;
}

int main(int argc, char **argv)
{
    static const struct finisher_ops accepting = {assemble, verify};
    struct err e = {0};
    const char *reject = getenv("SIM_REJECT"), *slow = getenv("SIM_SLOW");
    log_init("finalizd");
    if (argc != 3 || strcmp(argv[1], "--dir") != 0 || sodium_init() < 0)
        return ERR_USAGE;
    slow_ms = slow ? atol(slow) : 0;
    to_reject = reject ? atol(reject) : 0;
    struct desk *d = desk_open(argv[2], &accepting, &e);
    if (!d) {
        fprintf(stderr, "sim_desk: %s\n", e.text);
        return (int)e.code;
    }
    desk_serve(d);
    desk_close(&d);
    return 0;
}
