/* log: what the daemons write into their logs, changed while they run. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "instance.h"
#include "live.h"
#include "log.h"

struct args {
    const char *dir;
};
static const struct option options[] = {
    {"dir", 'd', OPTION_TEXT, "DIR", offsetof(struct args, dir), "the instance's directory"}, {0}};

enum { FOLLOW_MS = 3000, DIR_MAX = 4096 };

/* The name of the daemon, or of its kind. */
static bool is_meant(const struct live_actor *a, const struct invocation *in)
{
    for (size_t i = 1; i < in->n_operands; i++)
        if (strcmp(in->operand[i], a->name) == 0 ||
            strcmp(in->operand[i], actor_kind_name(a->who.kind)) == 0)
            return true;
    return in->n_operands <= 1;
}

static enum err_code check_names(const struct live_view *v, const struct invocation *in,
                                 struct err *e)
{
    for (size_t i = 1; i < in->n_operands; i++) {
        const struct invocation one = {.operand = (const char *const[]){"", in->operand[i]},
                                       .n_operands = 2};
        bool found = false;
        for (size_t k = 0; k < v->n_actors; k++)
            found = found || (v->actor[k].running && is_meant(&v->actor[k], &one));
        if (!found)
            return err_set(e, ERR_REFUSED, "no daemon called '%s' is running", in->operand[i]);
    }
    return ERR_OK;
}

struct shown {
    const struct actor *who;
    char setting[LOG_SETTING_MAX];
};

static void note_setting(void *arg, const struct actor *who, const struct stat_page *page)
{
    struct shown *s = arg;
    if (actor_equal(who, s->who)) {
        memcpy(s->setting, page->log_now, sizeof s->setting);
        s->setting[sizeof s->setting - 1] = 0;
    }
}

static enum err_code set_and_show(const struct instance *at, const struct live_view *v,
                                  const struct invocation *in, struct err *e)
{
    json_t *list = json_array();
    enum err_code rc = check_names(v, in, e);
    size_t n = 0;
    for (size_t i = 0; i < v->n_actors && rc == ERR_OK; i++) {
        const struct live_actor *a = &v->actor[i];
        struct shown shown = {.who = &a->who};
        if (!a->running || !is_meant(a, in))
            continue;
        n++;
        if (in->n_operands)
            rc = stat_set_log(at, &a->who, in->operand[0], FOLLOW_MS, e);
        stats_read(at, note_setting, &shown);
        if (in->json)
            json_array_append_new(list,
                                  json_pack("{s:s,s:s}", "name", a->name, "log", shown.setting));
        else if (rc == ERR_OK)
            printf("%-14s %s\n", a->name, shown.setting);
    }
    if (rc == ERR_OK && n == 0)
        rc =
            err_set(e, ERR_UNAVAILABLE, "%s: nothing runs there: `millrace up` starts it", at->dir);
    if (rc == ERR_OK && in->json) {
        json_dumpf(list, stdout, JSON_INDENT(1));
        putchar('\n');
    }
    json_decref(list);
    return rc;
}

static enum err_code run_log(const struct invocation *in, struct err *e)
{
    const struct args *a = in->args;
    char dir[DIR_MAX];
    struct instance at;
    if (in->n_operands && !log_is_setting(in->operand[0]))
        return err_set(
            e, ERR_USAGE,
            "log: '%s': expected error, warn, info or debug, and text or json, parted by "
            "a comma",
            in->operand[0]);
    if (instance_open(&at, instance_default_dir(a->dir, dir, sizeof dir), e))
        return e->code;
    struct live *v = live_open(&at, &(struct live_options){.window_s = 1, .ask_s = -1}, e);
    enum err_code rc = v ? live_turn(v, 0, e) : e->code;
    if (rc == ERR_OK)
        rc = set_and_show(&at, live_view(v), in, e);
    live_close(&v);
    instance_close(&at);
    return rc;
}

const struct command command_log = {
    .name = "log",
    .summary = "what the daemons log: error, warn, info or debug; as text or JSON",
    .operands = "[LEVEL[,FORM] [DAEMON...]]",
    .text =
        "Without LEVEL, what each daemon logs now. DAEMON is a name as status prints it, such as\n"
        "synthd.0.1, or a kind (synthd); without one, all. The change holds until the daemon\n"
        "ends; what it begins with stands in MILLRACE_LOG in the environment of `up`.",
    .options = options,
    .args_bytes = sizeof(struct args),
    .max_operands = 64,
    .run = run_log,
};
