/* confine: what a witness program may use, taken away in its own process before it runs.
 *
 * The caller is a freshly exec'd process of its own (millrace-wasm). In order:
 *   confine_process   dies with its parent; closes every descriptor above `keep_fd`; limits on CPU
 *                     time, writable memory, address space, file size and open files; no core
 *                     dump, not traceable, no new privileges.
 *   confine_files     (Landlock, where the kernel has it) nothing may be written but `output_fd`,
 *                     nothing read but system libraries, the program, and `input_fd`.
 *   confine_calls     (seccomp) CONFINE_COMPUTE leaves reading and writing open descriptors and
 *                     memory; anything else kills the process with SIGSYS. CONFINE_NATIVE is for a
 *                     program of the operator's own that is exec'd afterwards: no network, no new
 *                     process, no signal to others, no tracing; these fail with EPERM.
 * The wall clock is the parent's to watch. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "err.h"

struct confine_limits {
    pid_t parent;          /* 0: whoever it is */
    int keep_fd;           /* the highest descriptor that stays open */
    uint64_t cpu_s;        /* 0: no limit */
    uint64_t memory_bytes; /* writable private memory; 0: no limit */
    uint64_t file_bytes;   /* of any one file; 0: no limit */
};

enum confine_calls { CONFINE_COMPUTE, CONFINE_NATIVE };

enum err_code confine_process(const struct confine_limits *l, struct err *e);
/* False (and no change) where the kernel has no Landlock. program: its path; PROGRAM.dat beside it
 * may be read too. */
bool confine_files(const char *program, int input_fd, int output_fd);
enum err_code confine_calls(enum confine_calls which, struct err *e);
