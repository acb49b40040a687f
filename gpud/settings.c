/* settings: the command line, and gpud's part of DIR/millrace.conf. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "gpud.h"

static const char usage[] =
    "usage: gpud --dir INSTANCE --index N [--backend cpu|cuda] [--device D] [--node M]";

static bool small_number(const char *text, unsigned *out)
{
    char *end;
    unsigned long v = strtoul(text, &end, 10);
    *out = (unsigned)v;
    return end != text && *end == 0 && text[0] >= '0' && text[0] <= '9' && v <= 255;
}

enum err_code options_parse(int argc, char **argv, struct gpud_options *o, struct err *e)
{
    *o = (struct gpud_options){.node = -1};
    for (int i = 1; i < argc; i += 2) {
        unsigned node = 0;
        if (i + 1 == argc)
            return err_set(e, ERR_USAGE, "%s", usage);
        const char *key = argv[i], *value = argv[i + 1];
        if (strcmp(key, "--dir") == 0)
            o->dir = value;
        else if (strcmp(key, "--backend") == 0 &&
                 (strcmp(value, "cpu") == 0 || strcmp(value, "cuda") == 0))
            o->backend = value;
        else if (strcmp(key, "--node") == 0 && small_number(value, &node))
            o->node = (int)node;
        else if (!(strcmp(key, "--index") == 0 && small_number(value, &o->index)) &&
                 !(strcmp(key, "--device") == 0 && small_number(value, &o->device)))
            return err_set(e, ERR_USAGE, "%s %s: %s", key, value, usage);
    }
    return ERR_OK;
}

enum err_code settings_read(const struct instance *in, struct gpud_settings *out, struct err *e)
{
    char path[sizeof in->dir + 16];
    uint64_t memory = 0, threads = 0;
    snprintf(path, sizeof path, "%s/millrace.conf", in->dir);
    struct config *c = config_load(path, true, e);
    if (c == NULL)
        return e->code;
    enum err_code rc = config_bytes(c, "gpud", "memory", 0, &memory, e);
    if (rc == ERR_OK)
        rc = config_u64(c, "gpud", "threads", 0, 0, 1024, &threads, e);
    config_free(&c);
    *out = (struct gpud_settings){.memory_bytes = memory, .threads = (unsigned)threads};
    return rc;
}
