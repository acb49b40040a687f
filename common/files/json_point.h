/* json_point: points and numbers inside snarkjs's JSON; private to files/. */
#pragma once
#include "json.h"

enum err_code json_wrong(struct err *e, enum err_code code, const char *name, const char *field,
                         const char *text);

/* Reads v, whose place is `field`. A point's coordinates are below q; it need not be on its
 * curve. */
enum err_code json_scalar(const json_t *v, const char *name, const char *field,
                          const struct curve *c, fr_t *out, struct err *e);
enum err_code json_point(const json_t *v, const char *name, const char *field,
                         const struct curve *c, const struct group *g, point_t *out, struct err *e);

/* The member "curve"; `absent` (may be NULL: then it must be there) when there is none. */
const struct curve *json_curve(const json_t *object, const char *name, const struct curve *absent,
                               struct err *e);
enum err_code json_protocol(const json_t *object, const char *name, struct err *e);

/* New references, NULL without memory. */
json_t *json_from_scalar(const fr_t *plain);
json_t *json_from_field(const struct curve *c, const uint64_t *plain, unsigned degree);
json_t *json_from_point(const struct curve *c, const struct group *g, const void *point);
