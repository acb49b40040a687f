#include "calculate.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *circom_error(int code)
{
    switch (code) {
    case 1:
        return "signal not found";
    case 2:
        return "too many signals set";
    case 3:
        return "signal already set";
    case 4:
        return "assertion failed: this input does not satisfy the circuit";
    case 5:
        return "not enough memory";
    case 6:
        return "input signal array access exceeds its size";
    default:
        return "unknown error";
    }
}

static const char *trap_name(int trap)
{
    switch (trap) {
    case 1:
        return "access outside its memory";
    case 2:
        return "integer overflow";
    case 3:
        return "division by zero";
    case 4:
        return "conversion of no number";
    case 5:
        return "unreachable instruction";
    case 6:
        return "indirect call of a wrong function";
    case 8:
        return "call stack exhausted";
    default:
        return "unknown trap";
    }
}

enum err_code program_error(const struct program_abi *p, int status, const char *doing,
                            struct err *e)
{
    if (status >= PROGRAM_TRAPPED)
        return err_set(e, ERR_FAILED, "%s: the program trapped: %s", doing,
                       trap_name(status - PROGRAM_TRAPPED));
    char places[600];
    snprintf(places, sizeof places, "%s", p->message());
    for (char *c = places; *c != 0; c++)
        if (*c == '\n')
            *c = c[1] == 0 ? 0 : ';';
        else if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
            *c = '?';
    /* circom's templates set 4 for every === and assert that fails */
    enum err_code code = status == 4 ? ERR_UNSATISFIED : ERR_FAILED;
    return err_set(e, code, "%s: the circuit stopped: %s%s%s", doing, circom_error(status),
                   places[0] != 0 ? ": " : "", places);
}

static enum err_code feed_signal(const struct program_abi *p, const char *input_name,
                                 const struct input_signal *s, struct err *e)
{
    uint32_t expected = 0;
    int status = p->input_size(s->hash, &expected);
    if (status != 0)
        return program_error(p, status, s->name, e);
    if (expected == 0)
        return err_set(e, ERR_MISMATCH, "%s: signal %s: the circuit has no input of this name",
                       input_name, s->name);
    if (s->n != expected)
        return err_set(e, ERR_MISMATCH, "%s: signal %s: too %s values: %zu given, %u expected",
                       input_name, s->name, s->n > expected ? "many" : "few", s->n, expected);
    for (uint32_t i = 0; i < expected; i++) {
        status = p->set_input(s->hash, i, s->value[i]);
        if (status != 0) {
            char doing[700];
            snprintf(doing, sizeof doing, "%s: signal %s", input_name, s->name);
            /* The last value runs the circuit: what fails then is not this signal's fault. */
            return program_error(p, status, status == 4 ? input_name : doing, e);
        }
    }
    return ERR_OK;
}

/* The wasm holds only hashes of names, so a missing signal cannot be named; the ones given can. */
static enum err_code missing(const char *input_name, const struct input *in, uint64_t given,
                             uint32_t expected, struct err *e)
{
    char names[400];
    size_t used = 0;
    names[0] = 0;
    for (size_t i = 0; i < in->n_signals && used < sizeof names - 1; i++) {
        int n = snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                         in->signal[i].name);
        used += n > 0 ? (size_t)n : 0;
    }
    return err_set(e, ERR_MISMATCH,
                   "%s: input signals are missing: %llu of %u values given (by: %s)", input_name,
                   (unsigned long long)given, expected, in->n_signals > 0 ? names : "none");
}

enum err_code program_feed(const struct program_abi *p, const struct program_facts *facts,
                           const char *input_name, const struct input *in, struct err *e)
{
    uint64_t given = 0;
    for (size_t i = 0; i < in->n_signals; i++)
        given += in->signal[i].n;
    /* Unknown names first: a misspelt signal is both unknown and missing. */
    for (size_t i = 0; i < in->n_signals; i++) {
        enum err_code rc = feed_signal(p, input_name, &in->signal[i], e);
        if (rc != ERR_OK)
            return rc;
    }
    if (given < facts->n_inputs)
        return missing(input_name, in, given, facts->n_inputs, e);
    return ERR_OK;
}

static enum err_code write_all(int fd, const void *data, size_t n, struct err *e)
{
    const char *at = data;
    while (n > 0) {
        ssize_t done = write(fd, at, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return err_set(e, ERR_IO, "cannot write the witness: %s", strerror(errno));
        at += done;
        n -= (size_t)done;
    }
    return ERR_OK;
}

static uint8_t *put(uint8_t *at, uint64_t v, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(v >> (8 * i));
    return at + bytes;
}

enum err_code program_write(const struct program_abi *p, const struct program_facts *facts, int fd,
                            struct err *e)
{
    enum { AT_ONCE = 4096 };
    static uint8_t block[AT_ONCE * 32];
    uint8_t *h = block;
    memcpy(h, "wtns", 4);
    h = put(h + 4, 2, 4);         /* version */
    h = put(h, 2, 4);             /* sections */
    h = put(put(h, 1, 4), 40, 8); /* section 1: header */
    h = put(h, 32, 4);
    memcpy(h, facts->prime, 32);
    h = put(h + 32, facts->n_witness, 4);
    h = put(put(h, 2, 4), 32 * (uint64_t)facts->n_witness, 8); /* section 2: values */
    enum err_code rc = write_all(fd, block, (size_t)(h - block), e);
    for (uint32_t first = 0; rc == ERR_OK && first < facts->n_witness; first += AT_ONCE) {
        uint32_t n = facts->n_witness - first < AT_ONCE ? facts->n_witness - first : AT_ONCE;
        int status = p->read_witness(first, n, block);
        rc = status != 0 ? program_error(p, status, "reading the witness out", e)
                         : write_all(fd, block, 32 * (size_t)n, e);
    }
    explicit_bzero(block, sizeof block);
    return rc;
}
