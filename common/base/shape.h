/* shape: what a kind of job looks like, as data: how many partitions it has, whether it is urgent,
 * and the statistics of its circuit for the benchmark generator.
 *
 * One NAME.ini a shape, installed in share/millrace/shapes (beside the program in a build tree);
 * a file of the same form in DIR/shapes of an instance comes first. MILLRACE_SHAPES names another
 * folder than the installed one.
 *
 *   [job]         title, partitions, publics (left out: any number), urgent, limit (left out: none)
 *   [statistics]  of one partition; left out as a whole: the shape cannot be generated */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "err.h"

enum { SHAPE_NAME_MAX = 48, SHAPE_ANY_PUBLICS = -1 };

/* Counts of one constraint system, in bellman's words: inputs with the constant one, aux wires,
 * rows without those that bind the inputs. A wire is dense in A when some row of A has it. */
struct shape_statistics {
    char curve[16];
    unsigned domain_log2;
    uint64_t inputs, aux, rows, nonzeros_a, nonzeros_b, nonzeros_c, dense_a, dense_b;
    uint64_t zeros_and_ones_ppm; /* of the aux wires' values */
};

struct shape {
    char name[SHAPE_NAME_MAX], title[128];
    uint32_t partitions;
    int64_t publics; /* of each partition; SHAPE_ANY_PUBLICS */
    bool urgent;
    uint64_t limit_ns; /* deadline of a job that is given none; 0: none */
    bool has_statistics;
    struct shape_statistics statistics;
};

/* instance_dir: NULL, or the instance whose shapes come first. ERR_USAGE when there is no such
 * shape (the text lists where it was looked for); ERR_FORMAT, ERR_VALUE for what stands in it. */
enum err_code shape_load(struct shape *out, const char *name, const char *instance_dir,
                         struct err *e);

/* Calls found for each shape's name, those of the instance first; a name may come twice. */
void shape_names(const char *instance_dir, void (*found)(void *arg, const char *name), void *arg);

/* ERR_USAGE naming what does not fit: a job of so many partitions with so many publics each. */
enum err_code shape_fits(const struct shape *s, uint64_t partitions, uint64_t publics,
                         struct err *e);
