#include "harness.h"
#include "tap.h"

/* A recording is read from a file that anybody may have made. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err e = {0};
    struct tap_event ev;
    struct tap_reader *r = tap_reader_file(input_file(data, n), &e);
    refused_in_one_line(r ? ERR_OK : e.code, &e);
    for (size_t events = 0; r && tap_reader_next(r, &ev, 0); events++)
        PROPERTY(events <= n && ev.raw_bytes <= n && ev.valid == (ev.m.kind != MSG_NONE));
    PROPERTY(!r || tap_reader_ended(r));
    tap_reader_free(&r);
    return 0;
}
