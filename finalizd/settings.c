#include "settings.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "config.h"

#define SECOND UINT64_C(1000000000)

uint64_t settings_host_memory(void)
{
    uint64_t total = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    static const char *const limits[] = {"/sys/fs/cgroup/memory.max",
                                         "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    for (int i = 0; i < 2; i++) {
        FILE *f = fopen(limits[i], "re");
        unsigned long long n;
        if (!f)
            continue;
        if (fscanf(f, "%llu", &n) == 1 && n < total)
            total = n;
        fclose(f);
    }
    return total;
}

static enum err_code read_evaluate(struct config *c, enum evaluate *out, struct err *e)
{
    static const char *const words[] = {"auto", "synthd", "gpu"};
    const char *word = config_string(c, "gpud", "evaluate", "auto");
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) {
            *out = (enum evaluate)i;
            return ERR_OK;
        }
    return err_set(e, ERR_VALUE, "[gpud] evaluate: '%s': expected auto, synthd or gpu", word);
}

enum err_code settings_read(struct settings *s, struct config *c, struct err *e)
{
    const struct {
        const char *section, *key;
        uint64_t otherwise, min, max;
        uint64_t *out;
    } numbers[] = {
        {"desk", "max_partitions", 100000, 1, 10000000, &s->max_partitions},
        {"desk", "client_max_partitions", 50000, 1, 10000000, &s->client_max_partitions},
        {"desk", "synthd_credit", 2, 1, 64, &s->synthd_credit},
        {"desk", "ready_bound", 2, 1, 1024, &s->ready_bound},
        {"desk", "room_passes", 8, 0, 1000000, &s->room_passes},
        {"desk", "key_passes", 16, 0, 1000000, &s->key_passes},
        {"desk", "deaths_alone", 3, 1, 1000000, &s->deaths_alone_max},
        {"finisher", "threads", 0, 0, 256, &s->finishers},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (config_u64(c, numbers[i].section, numbers[i].key, numbers[i].otherwise, numbers[i].min,
                       numbers[i].max, numbers[i].out, e))
            return e->code;
    const struct {
        const char *section, *key;
        uint64_t otherwise;
        uint64_t *out;
    } durations[] = {
        {"desk", "priority_age", 600 * SECOND, &s->age_step_ns},
        {"desk", "step_limit", 3600 * SECOND, &s->step_limit_ns},
        {"desk", "heartbeat", SECOND, &s->heartbeat_ns},
        {"desk", "orphan_input", 600 * SECOND, &s->orphan_input_ns},
        {"desk", "results", 7 * 86400 * SECOND, &s->results_ns},
    };
    for (size_t i = 0; i < sizeof durations / sizeof *durations; i++)
        if (config_duration(c, durations[i].section, durations[i].key, durations[i].otherwise,
                            durations[i].out, e))
            return e->code;
    if (config_bytes(c, "memory", "limit", 0, &s->memory_limit, e) ||
        config_bytes(c, "finisher", "ballast", 0, &s->ballast_bytes, e) ||
        config_bool(c, "finisher", "malloc_trim", false, &s->malloc_trim, e) ||
        read_evaluate(c, &s->evaluate, e))
        return e->code;
    if (s->heartbeat_ns < SECOND / 100 || s->heartbeat_ns > 60 * SECOND)
        return err_set(e, ERR_VALUE, "[desk] heartbeat: expected 10ms to 60s");
    if (s->memory_limit == 0)
        s->memory_limit = settings_host_memory();
    if (s->finishers == 0) {
        long cpus = sysconf(_SC_NPROCESSORS_ONLN);
        s->finishers = cpus >= 8 ? (uint64_t)cpus / 4 : 1;
    }
    return ERR_OK;
}
