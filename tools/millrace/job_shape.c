#include "job_shape.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum err_code job_shape(struct millrace *m, const char *name, struct shape *out, struct err *e)
{
    return shape_load(out, name, millrace_dir(m), e);
}

static bool is_named(json_t *circuit, const char *name)
{
    const char *alias = json_string_value(json_object_get(circuit, "alias"));
    const char *digest = json_string_value(json_object_get(circuit, "circuit"));
    return (alias && strcmp(alias, name) == 0) || (digest && strcmp(digest, name) == 0);
}

enum err_code job_shape_check(struct millrace *m, const struct shape *s, const char *circuit,
                              size_t partitions, struct err *e)
{
    struct millrace_error why;
    char *text;
    if (millrace_report(m, MILLRACE_CIRCUITS, 0, NULL, &text, &why))
        return pipeline_error(e, &why);
    json_t *report = json_loads(text, 0, NULL);
    free(text);
    json_t *list = json_object_get(report, "circuits"), *found = NULL, *one;
    size_t i;
    json_array_foreach(list, i, one) if (is_named(one, circuit)) found = one;
    enum err_code rc =
        found ? shape_fits(s, partitions,
                           (uint64_t)json_integer_value(json_object_get(found, "publics")), e)
              : err_set(e, ERR_REFUSED, "there is no circuit '%.64s' in this instance", circuit);
    json_decref(report);
    return rc;
}

/* ---- circuit shapes ---- */

struct args {
    const char *dir;
};
static const struct option options[] = {{"dir", 'd', OPTION_TEXT, "DIR", offsetof(struct args, dir),
                                         "an instance's directory: its own shapes too"},
                                        {0}};

struct listing {
    const char *dir;
    json_t *seen;
};

static void note(void *arg, const char *name)
{
    struct listing *l = arg;
    struct shape s;
    struct err e;
    if (json_object_get(l->seen, name))
        return; /* the instance's own, which came first */
    json_t *o = json_object();
    if (shape_load(&s, name, l->dir, &e) != ERR_OK) {
        json_object_set_new(o, "trouble", json_string(e.text));
    } else {
        json_object_set_new(o, "title", json_string(s.title));
        json_object_set_new(o, "partitions", json_integer(s.partitions));
        if (s.publics != SHAPE_ANY_PUBLICS)
            json_object_set_new(o, "publics", json_integer((json_int_t)s.publics));
        json_object_set_new(o, "urgent", json_boolean(s.urgent));
        if (s.limit_ns)
            json_object_set_new(o, "limit_ms", json_integer((json_int_t)(s.limit_ns / 1000000)));
        json_object_set_new(o, "can_be_generated", json_boolean(s.has_statistics));
    }
    json_object_set_new(l->seen, name, o);
}

static enum err_code run(const struct invocation *in, struct err *e)
{
    const struct args *a = in->args;
    struct listing l = {a->dir ? a->dir : getenv("MILLRACE_DIR"), json_object()};
    const char *name;
    json_t *o;
    (void)e;
    shape_names(l.dir, note, &l);
    if (in->json) {
        char *text = json_dumps(l.seen, JSON_COMPACT | JSON_SORT_KEYS);
        puts(text);
        free(text);
    } else {
        json_object_foreach(l.seen, name, o)
        {
            const char *trouble = json_string_value(json_object_get(o, "trouble"));
            if (trouble)
                printf("%s: %s\n", name, trouble);
            else
                printf("%s: %lld partitions%s: %s\n", name,
                       (long long)json_integer_value(json_object_get(o, "partitions")),
                       json_is_true(json_object_get(o, "urgent")) ? ", urgent" : "",
                       json_string_value(json_object_get(o, "title")));
        }
    }
    json_decref(l.seen);
    return ERR_OK;
}

const struct command circuit_shapes = {
    .name = "shapes",
    .summary = "the shapes that jobs can have: circuit add --shape, submit --shape",
    .operands = "",
    .text = "A shape is a file: those of the installation and NAME.ini in DIR/shapes.",
    .options = options,
    .args_bytes = sizeof(struct args),
    .run = run,
};
