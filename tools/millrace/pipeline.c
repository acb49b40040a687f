#include "pipeline.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum err_code pipeline_error(struct err *e, const struct millrace_error *from)
{
    return err_set(e, (enum err_code)from->code, "%s", from->text);
}

enum err_code pipeline_job(const char *text, uint64_t *job, struct err *e)
{
    char *end;
    errno = 0;
    *job = strtoull(text, &end, 10);
    if (errno || *end || end == text || text[0] == '-' || text[0] == '+' || *job == 0)
        return err_set(e, ERR_USAGE, "'%s' is not a job's number, as submit prints it", text);
    return ERR_OK;
}

void pipeline_progress(void *invocation, const struct millrace_progress *p)
{
    const struct invocation *in = invocation;
    if (!command_shows_progress(in))
        return;
    fprintf(stderr, "\rjob %llu: ", (unsigned long long)p->job);
    if (p->ahead)
        fprintf(stderr, "%u partitions of other jobs before it, ", p->ahead);
    fprintf(stderr, "%u of %u synthesized, %u proved\033[K", p->synthesized, p->partitions,
            p->proved);
}

void pipeline_progress_end(const struct invocation *in)
{
    if (command_shows_progress(in))
        fprintf(stderr, "\r\033[K");
}

enum err_code pipeline_circuit(struct millrace *m, const char *key, const struct key_options *files,
                               const char *program, const char *alias, unsigned threads, bool say,
                               char *digest, struct err *e)
{
    struct millrace_error why;
    struct key_files f;
    if (key_options_files(files, key, "KEY", &f, e))
        return e->code;
    if (!f.constraints && !program && !alias && access(key, F_OK) != 0 && !strchr(key, '/')) {
        snprintf(digest, 65, "%s", key); /* a name: the desk knows it or says that it does not */
        return ERR_OK;
    }
    struct millrace_circuit c = {.key = key,
                                 .r1cs = f.constraints,
                                 .digests = f.digests,
                                 .program = program,
                                 .alias = alias,
                                 .keep = alias == NULL,
                                 .threads = threads};
    if (say)
        fprintf(stderr, "\radding %s\033[K", key);
    int rc = millrace_circuit_add(m, &c, digest, &why);
    if (say)
        fprintf(stderr, "\r\033[K");
    return rc ? pipeline_error(e, &why) : ERR_OK;
}

enum err_code pipeline_prove(const struct invocation *in, const struct pipeline_prove *p,
                             struct err *e)
{
    struct millrace_error why;
    struct millrace *m = millrace_open(p->dir, &why);
    if (!m) {
        if (why.code == MILLRACE_UNAVAILABLE)
            return err_set(e, ERR_UNAVAILABLE, "%s; or prove in this process with --local",
                           why.text);
        return pipeline_error(e, &why);
    }
    char digest[65];
    enum err_code rc = pipeline_circuit(m, p->key, &p->files, p->program, p->alias, p->threads,
                                        command_shows_progress(in), digest, e);
    const char *input = p->witness ? p->witness : p->input;
    struct millrace_job job = {
        .circuit = digest,
        .inputs = &input,
        .n_inputs = 1,
        .inputs_are_json = !p->witness,
        .priority = p->priority,
        .limit_ms = p->limit_ms,
    };
    uint64_t id = 0;
    struct millrace_result *r = NULL;
    if (!rc && millrace_submit(m, &job, &id, NULL, &why))
        rc = pipeline_error(e, &why);
    if (!rc) {
        int failed = millrace_await(m, id, -1, pipeline_progress, (void *)(uintptr_t)in, &r, &why);
        pipeline_progress_end(in);
        if (failed)
            rc = pipeline_error(e, &why);
    }
    if (!rc && (p->bytes ? millrace_result_write_bytes : millrace_result_write)(r, p->proof,
                                                                                p->publics, &why))
        rc = pipeline_error(e, &why);
    if (!rc && in->json)
        printf("{\"job\": %llu, \"proof\": \"written\"}\n", (unsigned long long)id);
    millrace_result_free(&r);
    millrace_close(&m);
    return rc;
}
