/* submit: the upload of a request becomes a job. For workers. */
#pragma once
#include "request.h"
#include "work.h"

/* circuit: from the path, or NULL: from the query. The other terms are the query's. Wipes the
 * upload whatever happens. false with a reply when the job was not accepted. */
bool submit_upload(struct request *r, struct work_thread *t, const char *circuit, uint64_t *job,
                   bool *existed);
