/* job_shape: --shape NAME of the subcommands that talk to an instance. */
#pragma once
#include "pipeline.h"
#include "shape.h"

/* The shape of that name, the instance's own first. */
enum err_code job_shape(struct millrace *m, const char *name, struct shape *out, struct err *e);

/* ERR_USAGE when a job of so many partitions of this circuit (alias or digest) is not of the shape.
 */
enum err_code job_shape_check(struct millrace *m, const struct shape *s, const char *circuit,
                              size_t partitions, struct err *e);

/* `circuit shapes` */
extern const struct command circuit_shapes;
