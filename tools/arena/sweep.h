/* sweep: shared memory whose instance is gone. Only the link DIR/run/arena leads to a folder of
 * arenas; when somebody deletes DIR without `down`, nothing would ever find its gigabytes again. So
 * each folder names its owner, and whoever makes arenas looks at those of the same user first. */
#pragma once
#include "instance.h"

/* Writes the instance's directory into the folder of its arenas, once the link leads there. */
enum err_code sweep_sign(const struct instance *in, int folder_fd, struct err *e);

/* Removes every folder below `path` (a tmpfs) that is ours, whose owner no longer leads to it, and
 * that no process has mapped; says so on standard error. What it cannot judge stays. */
void sweep_gone(const char *path);
