/* What the two halves of gpu-bench share. */
#pragma once
#include "curve.h"
#include "device.h"

uint64_t bench_random(void);
fr_t bench_scalar(const struct curve *c); /* uniform, but for the top of the range */
void bench_proofs(unsigned min_log2, unsigned max_log2);
