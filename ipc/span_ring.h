/* span_ring: layout of a ring file, for span.c and span_reader.c alone. */
#pragma once
#include "span.h"

#define SPAN_MAGIC   UINT64_C(0x474e49524e505353) /* "SSPNRING" */
#define SPAN_VERSION 1u

struct span_file {
    _Atomic uint64_t magic; /* stored last */
    uint32_t version, records;
    _Atomic uint64_t newest; /* sequence of the last whole record */
    uint8_t padding[64 - 24];
    struct span span[SPAN_RING_RECORDS];
};
_Static_assert(offsetof(struct span_file, span) == 64, "shared layout");
