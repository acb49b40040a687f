/* work: a few threads for what may take a while: files, and the client library's calls that wait.
 */
#pragma once
#include "err.h"
#include "millrace.h"

struct work;
struct work_thread; /* one of them, with a connection to the desk of its own */
typedef void work_fn(void *arg, struct work_thread *t);

struct work *work_new(const char *dir, unsigned threads, struct err *e);
/* Ends when everything that was put is done. */
void work_free(struct work **w);
void work_put(struct work *w, work_fn *fn, void *arg); /* any thread; in order of arrival */

/* The thread's connection, opened when it is first needed; NULL with the reason. */
struct millrace *work_millrace(struct work_thread *t, struct millrace_error *e);
