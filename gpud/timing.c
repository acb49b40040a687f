/* timing: the spans of steps that only the backend saw, and one GPU_TIMING line per partition, on
 * success, failure and discard alike, with each field a step of its own. */
#include <stdio.h>

#include "gpud.h"
#include "log.h"

struct span_who flight_who(const struct flight *f)
{
    return (struct span_who){.job = f->terms.job,
                             .partition = f->terms.partition,
                             .attempt = f->terms.attempt,
                             .row = f->ref.row | f->ref.node << 16};
}

/* The steps inside the kernels' time are told as durations; they are laid end to end in the order
 * in which both backends run them. */
static void kernel_spans(struct span_ring *ring, const struct span_who *who,
                         const struct prove_timing *t)
{
    const struct {
        enum span_kind kind;
        uint64_t ns;
    } step[] = {
        {SPAN_KERNEL_MATRICES, t->matrices_ns}, {SPAN_KERNEL_NTT, t->ntt_ns},
        {SPAN_KERNEL_CLASSIFY, t->classify_ns}, {SPAN_KERNEL_MSM_H, t->msm_h_ns},
        {SPAN_KERNEL_MSM_A, t->msm_a_ns},       {SPAN_KERNEL_MSM_B1, t->msm_b1_ns},
        {SPAN_KERNEL_MSM_B2, t->msm_b2_ns},     {SPAN_KERNEL_MSM_L, t->msm_l_ns},
    };
    uint64_t at = t->kernel_begin_ns;
    for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
        if (step[i].ns == 0)
            continue;
        span_write(ring, step[i].kind, who, at, at + step[i].ns, 0);
        at += step[i].ns;
    }
}

static double ms(uint64_t begin_ns, uint64_t end_ns)
{
    return end_ns > begin_ns ? (double)(end_ns - begin_ns) / 1e6 : 0;
}

void timing_report(struct gpud *g, struct span_ring *ring, const struct flight *f,
                   const struct prove_timing *t, const struct finish_times *times,
                   const char *outcome, uint32_t code)
{
    struct span_who who = flight_who(f);
    who.outcome = (uint16_t)code;
    uint64_t bytes = (f->terms.w_count + 2 * f->terms.ab_count) * sizeof(fr_t);
    if (t->copy_end_ns != 0) {
        span_write(ring, SPAN_COPY_IN, &who, t->copy_begin_ns, t->copy_end_ns, bytes);
        stat_add(g->stats, STAT_BYTES_COPIED, bytes);
    }
    if (t->kernel_end_ns != 0)
        span_write(ring, SPAN_KERNELS, &who, t->kernel_begin_ns, t->kernel_end_ns, 0);
    kernel_spans(ring, &who, t);
    if (t->copy_out_ns != 0) /* the results: right after the last kernel */
        span_write(ring, SPAN_COPY_OUT, &who, t->kernel_end_ns, t->kernel_end_ns + t->copy_out_ns,
                   sizeof(struct groth16_sums));
    uint64_t end = times->release_end_ns;
    if (end != 0)
        span_write(ring, SPAN_GPU_TOTAL, &who, f->ready_ns, end, 0);
    if (!log_enabled(LOG_LEVEL_INFO))
        return;
    char job[24];
    snprintf(job, sizeof job, "%llu", (unsigned long long)f->terms.job);
    log_info("GPU_TIMING", LOG_OF(job, f->terms.partition),
             "attempt=%u outcome=%s code=%s ring_ms=%.3f ready_wait_ms=%.3f key_load_ms=%.3f "
             "prove_start_ms=%.3f copy_in_ms=%.3f kernels_ms=%.3f matrices_ms=%.3f ntt_ms=%.3f "
             "classify_ms=%.3f msm_h_ms=%.3f msm_a_ms=%.3f msm_b1_ms=%.3f msm_b2_ms=%.3f "
             "msm_l_ms=%.3f copy_out_ms=%.3f "
             "prove_finish_ms=%.3f release_ms=%.3f total_ms=%.3f",
             f->terms.attempt, outcome, err_word((enum err_code)code), ms(f->ready_ns, f->seen_ns),
             ms(f->seen_ns, f->taken_ns), ms(f->load_begin_ns, f->load_end_ns),
             ms(f->start_begin_ns, f->start_end_ns), ms(t->copy_begin_ns, t->copy_end_ns),
             ms(t->kernel_begin_ns, t->kernel_end_ns), (double)t->matrices_ns / 1e6,
             (double)t->ntt_ns / 1e6, (double)t->classify_ns / 1e6, (double)t->msm_h_ns / 1e6,
             (double)t->msm_a_ns / 1e6, (double)t->msm_b1_ns / 1e6, (double)t->msm_b2_ns / 1e6,
             (double)t->msm_l_ns / 1e6, (double)t->copy_out_ns / 1e6,
             ms(times->finish_begin_ns, times->finish_end_ns),
             ms(times->release_begin_ns, times->release_end_ns), ms(f->ready_ns, end));
}
