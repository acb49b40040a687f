/* program: a circuit's witness program, run as a confined process of its own.
 *
 *   program_start(&p, ...)     the child runs; watch p.pidfd for its end
 *   program_watch(&p, now)     now and then: reads its error pipe, kills it past its time limit
 *   program_finish(&p, ...)    after the end: the .wtns it made, or why there is none
 *
 * The child gets the input as descriptor 0, an anonymous memory file for its output as 3, a pipe
 * for one line of error as 2, and nothing else: no arena is mapped in it and no other descriptor is
 * open (the runner, millrace-wasm, takes away the rest before the program's code runs: confine.h of
 * tools/witness). It leads a process group of its own, which is killed as a whole, and dies with
 * the thread that started it.
 *
 * How it is started: posix_spawn, which glibc makes with CLONE_VM | CLONE_VFORK. The child runs on
 * this process's memory until exec, on a stack of its own with all signals blocked, and calls
 * nothing but the file actions: no page table is copied, no atfork handler runs, and no lock of
 * ZeroMQ's threads can be found held in a copy, because there is no copy. Every descriptor that we
 * or our libraries open is close-on-exec; the runner closes what is above 3 all the same. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "err.h"

struct program_limits {
    uint64_t wall_ns;      /* 0: none */
    uint64_t cpu_s;        /* 0: none */
    uint64_t memory_bytes; /* 0: none */
};

struct program {
    pid_t pid; /* 0: none */
    int pidfd, output_fd, error_fd;
    uint64_t started_ns, until_ns; /* until_ns 0: no limit */
    uint64_t limit_ns, memory_bytes;
    enum { PROGRAM_RUNS, PROGRAM_TIMED_OUT, PROGRAM_KILLED } killed_for;
    char said[1024]; /* the begin of what it printed on its error pipe */
    size_t n_said;
    char name[80]; /* for messages: the program's name in the store */
};

/* runner: path of millrace-wasm. dir: the instance's directory (absolute), dir_fd the same. The
 * program is the one that the store ties to the circuit. input_fd is borrowed for the call.
 * ERR_UNAVAILABLE when the circuit has no program. */
enum err_code program_start(struct program *p, const char *runner, const char *dir, int dir_fd,
                            const uint8_t circuit[32], int input_fd,
                            const struct program_limits *limits, struct err *e);
/* True when it has ended. Never blocks. */
bool program_watch(struct program *p, uint64_t now_ns);
void program_kill(struct program *p); /* the whole group; program_finish follows */
/* Reaps the child (it must have ended, or it is killed) and closes what p holds. On success
 * *wtns_fd is a sealed, readable file that now belongs to the caller. */
enum err_code program_finish(struct program *p, int *wtns_fd, struct err *e);
