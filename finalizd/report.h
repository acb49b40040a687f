/* report: STATUS, JOBS, SHOW and CIRCUITS, answered in JSON. What is in memory is told at once;
 * what is in the ledger is fetched by its thread. */
#pragma once
#include "state.h"

void report_status(struct desk *d, const char *route, const struct msg_status *m);
void report_jobs(struct desk *d, const char *route, const struct msg_jobs *m);
void report_show(struct desk *d, const char *route, const struct msg_show *m);
void report_circuits(struct desk *d, const char *route, const struct msg_circuits *m);
