/* process: runs a command as a whole process and measures it. */
#pragma once
#include <stdbool.h>

struct measure {
    double wall_s, cpu_s; /* from fork to exit; user and system time of all its threads */
    double peak_mib;      /* ru_maxrss */
};

/* argv ends with NULL; standard output is dropped, standard error kept. False when it could not be
 * run or did not exit with 0. */
bool process_measure(const char *const *argv, struct measure *out);
