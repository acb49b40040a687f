/* settings: the command line, and synthd's part of DIR/millrace.conf. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "synthd.h"

static const char usage[] = "usage: synthd --dir INSTANCE --node N --index K";

static bool small_number(const char *text, unsigned *out)
{
    char *end;
    unsigned long v = strtoul(text, &end, 10);
    *out = (unsigned)v;
    return end != text && *end == 0 && text[0] >= '0' && text[0] <= '9' && v <= 255;
}

enum err_code options_parse(int argc, char **argv, struct synthd_options *o, struct err *e)
{
    *o = (struct synthd_options){0};
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc)
            return err_set(e, ERR_USAGE, "%s", usage);
        if (strcmp(argv[i], "--dir") == 0)
            o->dir = argv[i + 1];
        else if (strcmp(argv[i], "--node") == 0 && small_number(argv[i + 1], &o->node))
            continue;
        else if (strcmp(argv[i], "--index") == 0 && small_number(argv[i + 1], &o->index))
            continue;
        else
            return err_set(e, ERR_USAGE, "%s %s: %s", argv[i], argv[i + 1], usage);
    }
    return ERR_OK;
}

enum err_code settings_read(const struct instance *in, unsigned cpus, struct synthd_settings *out,
                            struct err *e)
{
    char path[sizeof in->dir + 16];
    uint64_t threads = 0, programs = 0, wall_ns = 0, memory = 0;
    snprintf(path, sizeof path, "%s/millrace.conf", in->dir);
    struct config *c = config_load(path, true, e);
    if (c == NULL)
        return e->code;
    unsigned usual = cpus < 8 ? cpus : 8;
    enum err_code rc = config_u64(c, "synthd", "threads", 0, 0, 1024, &threads, e);
    if (rc == ERR_OK)
        rc = config_u64(c, "synthd", "programs", usual, 1, WORK_MAX, &programs, e);
    if (rc == ERR_OK)
        rc = config_duration(c, "synthd", "program_limit", UINT64_C(600000000000), &wall_ns, e);
    if (rc == ERR_OK)
        rc = config_bytes(c, "synthd", "program_memory", UINT64_C(8) << 30, &memory, e);
    if (rc == ERR_OK && memory != 0 && memory < 64 << 20)
        rc = err_set(e, ERR_USAGE, "%s: [synthd] program_memory: at least 64MiB, or 0 for no limit",
                     path);
    config_free(&c);
    *out = (struct synthd_settings){
        .threads = (unsigned)threads,
        .programs = (unsigned)programs,
        /* a program has one thread in all but rare cases: CPU time within the wall clock's limit */
        .program = {.wall_ns = wall_ns,
                    .cpu_s = wall_ns == 0 ? 0 : wall_ns / 1000000000u * cpus + 1,
                    .memory_bytes = memory},
    };
    return rc;
}
