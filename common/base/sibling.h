/* sibling: where the other programs of this installation are.
 *
 * Looked for in this order: the directory in MILLRACE_LIBEXEC; the directory of the running
 * program; ../libexec/millrace and ../bin beside that; and, for a build tree, SUBDIR (the program's
 * folder there, such as "tools/witness") one, two or three levels above. */
#pragma once
#include <limits.h>
#include "err.h"

/* ERR_UNAVAILABLE naming the program and the places. */
enum err_code sibling_path(const char *program, const char *subdir, char out[PATH_MAX],
                           struct err *e);
