/* rapidsnark: the endpoints of rapidsnark's proverServer, so that programs written for it work:
 *
 *   POST /input/CIRCUIT  body: input.json; begins to prove, and stops what was being proved before
 *   GET  /status         {"status": "ready" | "busy" | "success" | "failed" | "aborted", ...}: with
 *                        success "proof" and "pubData", each JSON in a string; with failed "error"
 *   POST /cancel         stops it
 *   /start /stop /config do nothing, as there
 *
 * There a server has one proof at a time; here each caller has. A witness is taken as well. The
 * circuit is one of the instance, with its witness program. */
#pragma once
#include "request.h"

struct rapidsnark;
struct rapidsnark *rapidsnark_new(void);
void rapidsnark_free(struct rapidsnark **rs);
/* Adds "status": ... and what goes with it, for this caller, to an object begun in out. */
void rapidsnark_status(struct rapidsnark *rs, const char *caller, struct text *out);
