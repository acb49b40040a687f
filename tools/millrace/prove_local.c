#include "prove_local.h"
#include "local.h"
#include "output.h"
#include <time.h>

enum { MARKS = LOCAL_STAGES_MAX + 1 }; /* the stages and the writing of the files */

/* When each stage began, for the report in JSON. */
struct stages {
    struct progress progress;
    bool shown;
    const char *what[MARKS];
    double wall[MARKS], processor[MARKS];
    unsigned n;
};

static double now_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void mark(struct stages *s, const char *what)
{
    INVARIANT(s->n < MARKS);
    s->what[s->n] = what;
    s->wall[s->n] = now_s(CLOCK_MONOTONIC);
    s->processor[s->n++] = now_s(CLOCK_PROCESS_CPUTIME_ID);
}

static void begin_stage(void *arg, const char *what, unsigned number, unsigned count)
{
    struct stages *s = arg;
    mark(s, what);
    if (s->shown)
        progress_stage(&s->progress, what, number, count);
}

/* {"witness": {"seconds": ..., "processor_seconds": ...}, ...}; the last mark ends the last stage.
 */
static json_t *stages_to_json(const struct stages *s)
{
    json_t *all = json_object();
    for (unsigned i = 0; i + 1 < s->n; i++)
        json_object_set_new(all, s->what[i],
                            json_pack("{s:f,s:f}", "seconds", s->wall[i + 1] - s->wall[i],
                                      "processor_seconds", s->processor[i + 1] - s->processor[i]));
    return all;
}

static enum err_code prove(const struct prove_local *p, struct stages *stages,
                           struct local_proof *out, struct err *e)
{
    struct pool *pool = pool_new(p->threads, NULL, e);
    if (!pool)
        return e->code;
    const struct local_job job = {
        .key_path = p->key,
        .witness_path = p->witness,
        .r1cs_path = p->r1cs,
        .stage = begin_stage,
        .stage_arg = stages,
    };
    enum err_code rc = local_prove(&job, out, pool, e);
    pool_free(&pool);
    return rc;
}

enum err_code prove_local(const struct invocation *in, const struct prove_local *p, struct err *e)
{
    struct stages stages = {.progress = {.title = "prove"}, .shown = command_shows_progress(in)};
    struct local_proof proof;
    double begun = now_s(CLOCK_MONOTONIC);
    enum err_code rc = prove(p, &stages, &proof, e);
    progress_end(&stages.progress);
    if (rc)
        return rc;
    mark(&stages, "writing");
    rc = write_proof_files(p->proof, &proof.proof, p->publics, proof.publics, proof.n_public,
                           p->form, p->bytes, e);
    if (!rc && in->json)
        rc = print_json(
            json_pack("{s:s,s:s,s:s,s:I,s:f,s:o}", "proof", p->proof, "public", p->publics, "curve",
                      proof.proof.curve->name, "n_public", (json_int_t)proof.n_public, "seconds",
                      now_s(CLOCK_MONOTONIC) - begun, "stages", stages_to_json(&stages)),
            e);
    local_proof_free(&proof);
    return rc;
}
