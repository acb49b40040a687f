#include "shape.h"
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "config.h"

enum { FOLDERS_MAX = 3 };

/* The folders in which a shape is looked for, in order; how many. */
static unsigned folders(const char *instance_dir, char out[FOLDERS_MAX][PATH_MAX])
{
    unsigned n = 0;
    char here[PATH_MAX / 2];
    const char *named = getenv("MILLRACE_SHAPES");
    if (instance_dir)
        snprintf(out[n++], PATH_MAX, "%s/shapes", instance_dir);
    if (named) {
        snprintf(out[n++], PATH_MAX, "%s", named);
        return n;
    }
    ssize_t k = readlink("/proc/self/exe", here, sizeof here - 1);
    if (k <= 0)
        return n;
    here[k] = 0;
    char *slash = strrchr(here, '/');
    if (slash)
        *slash = 0;
    snprintf(out[n++], PATH_MAX, "%s/shapes", here);
    snprintf(out[n++], PATH_MAX, "%s/../share/millrace/shapes", here);
    return n;
}

static bool name_is_sound(const char *s)
{
    size_t n = strlen(s);
    return n > 0 && n < SHAPE_NAME_MAX && s[0] != '.' && !strchr(s, '/');
}

static enum err_code read_job(struct config *c, struct shape *s, struct err *e)
{
    uint64_t partitions = 0, publics = 0;
    bool any = config_string(c, "job", "publics", NULL) == NULL;
    snprintf(s->title, sizeof s->title, "%s", config_string(c, "job", "title", s->name));
    if (config_u64(c, "job", "partitions", 1, 1, 4096, &partitions, e) ||
        config_u64(c, "job", "publics", 0, 0, UINT32_MAX, &publics, e) ||
        config_bool(c, "job", "urgent", false, &s->urgent, e) ||
        config_duration(c, "job", "limit", 0, &s->limit_ns, e))
        return e->code;
    s->partitions = (uint32_t)partitions;
    s->publics = any ? SHAPE_ANY_PUBLICS : (int64_t)publics;
    return ERR_OK;
}

static enum err_code read_statistics(struct config *c, struct shape *s, struct err *e)
{
    struct shape_statistics *t = &s->statistics;
    uint64_t log2 = 0;
    const struct {
        const char *key;
        uint64_t min, max, *out;
    } counts[] = {
        {"domain_log2", 10, 28, &log2},
        {"inputs", 1, UINT32_MAX, &t->inputs},
        {"aux", 1, UINT32_MAX, &t->aux},
        {"rows", 1, UINT32_MAX, &t->rows},
        {"nonzeros_a", 1, UINT32_MAX, &t->nonzeros_a},
        {"nonzeros_b", 1, UINT32_MAX, &t->nonzeros_b},
        {"nonzeros_c", 1, UINT32_MAX, &t->nonzeros_c},
        {"dense_a", 1, UINT32_MAX, &t->dense_a},
        {"dense_b", 0, UINT32_MAX, &t->dense_b},
        {"zeros_and_ones_ppm", 0, 1000000, &t->zeros_and_ones_ppm},
    };
    s->has_statistics = config_section(c, "statistics", 0) != NULL;
    if (!s->has_statistics)
        return ERR_OK;
    snprintf(t->curve, sizeof t->curve, "%s", config_string(c, "statistics", "curve", "bn254"));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (!config_string(c, "statistics", counts[i].key, NULL))
            return err_set(e, ERR_FORMAT, "[statistics] %s is missing", counts[i].key);
        else if (config_u64(c, "statistics", counts[i].key, 0, counts[i].min, counts[i].max,
                            counts[i].out, e))
            return e->code;
    t->domain_log2 = (unsigned)log2;
    if (t->rows + t->inputs > UINT64_C(1) << t->domain_log2)
        return err_set(e, ERR_VALUE, "[statistics] %llu rows and %llu inputs do not fit 2^%u",
                       (unsigned long long)t->rows, (unsigned long long)t->inputs, t->domain_log2);
    if (t->dense_a > t->aux || t->dense_b > t->aux)
        return err_set(e, ERR_VALUE, "[statistics] more dense wires than the %llu aux wires",
                       (unsigned long long)t->aux);
    return ERR_OK;
}

enum err_code shape_load(struct shape *out, const char *name, const char *instance_dir,
                         struct err *e)
{
    char folder[FOLDERS_MAX][PATH_MAX], path[FOLDERS_MAX * PATH_MAX + SHAPE_NAME_MAX + 8];
    *out = (struct shape){0};
    if (!name_is_sound(name))
        return err_set(e, ERR_USAGE, "'%.48s' is no name of a shape", name);
    snprintf(out->name, sizeof out->name, "%s", name);
    unsigned n = folders(instance_dir, folder), i = 0;
    for (; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s.ini", folder[i], name);
        if (access(path, F_OK) == 0)
            break;
    }
    if (i == n)
        return err_set(e, ERR_USAGE, "there is no shape '%s': no %s.ini in %s%s%s", name, name,
                       n ? folder[0] : "/", n > 1 ? ", " : "", n > 1 ? folder[n - 1] : "");
    struct config *c = config_load(path, false, e);
    if (!c)
        return e->code;
    enum err_code rc = read_job(c, out, e);
    if (!rc)
        rc = read_statistics(c, out, e);
    if (!rc)
        rc = config_check_unknown(c, e);
    config_free(&c);
    return rc ? err_prefix(e, "shape %s", name) : ERR_OK;
}

void shape_names(const char *instance_dir, void (*found)(void *arg, const char *name), void *arg)
{
    char folder[FOLDERS_MAX][PATH_MAX];
    unsigned n = folders(instance_dir, folder);
    for (unsigned i = 0; i < n; i++) {
        DIR *dir = opendir(folder[i]);
        for (struct dirent *entry; dir && (entry = readdir(dir));) {
            char name[SHAPE_NAME_MAX];
            size_t length = strlen(entry->d_name);
            if (length < 5 || length - 4 >= sizeof name || entry->d_name[0] == '.' ||
                strcmp(entry->d_name + length - 4, ".ini") != 0)
                continue;
            memcpy(name, entry->d_name, length - 4);
            name[length - 4] = 0;
            found(arg, name);
        }
        if (dir)
            closedir(dir);
    }
}

enum err_code shape_fits(const struct shape *s, uint64_t partitions, uint64_t publics,
                         struct err *e)
{
    if (partitions != s->partitions)
        return err_set(e, ERR_USAGE, "shape %s: a job has %u partition%s, not %llu", s->name,
                       s->partitions, s->partitions == 1 ? "" : "s",
                       (unsigned long long)partitions);
    if (s->publics != SHAPE_ANY_PUBLICS && publics != (uint64_t)s->publics)
        return err_set(e, ERR_USAGE, "shape %s: a partition has %lld publics, the circuit has %llu",
                       s->name, (long long)s->publics, (unsigned long long)publics);
    return ERR_OK;
}
