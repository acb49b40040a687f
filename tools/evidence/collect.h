/* collect: the spans of an instance, taken out of the rings into one array. For tools; it cannot
 * slow or hurt what it reads. */
#pragma once
#include "instance.h"
#include "span.h"

struct seen_span {
    struct span s;
    unsigned source; /* index into spans.source */
};

struct spans {
    struct seen_span *at;
    size_t n, cap;
    struct span_source *source; /* who wrote, and in which thread; lost counts are of the end */
    unsigned n_sources;
    uint64_t lost; /* overwritten before they were read */
};

/* Adds everything that the rings hold and that was not added before. */
enum err_code spans_take(struct spans *to, struct span_reader *r, struct err *e);
/* Adds one (for tests and recorded runs). */
enum err_code spans_add(struct spans *to, const struct span *s, const struct span_source *from,
                        struct err *e);
void spans_sort(struct spans *s); /* by begin, then end */
void spans_free(struct spans *s);

/* Reads until `seconds` have passed (0: only what is there), every 100 ms. */
enum err_code spans_collect(struct spans *to, const struct instance *in, double seconds,
                            struct err *e);
