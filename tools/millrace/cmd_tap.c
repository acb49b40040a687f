/* tap: every descriptor that goes by, one line or one JSON object each. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "command.h"
#include "instance.h"
#include "tap.h"

struct tap_args {
    const char *dir, *kind, *actor, *record, *replay;
    uint64_t job, partition, count;
    double time;
    bool history;
};
static const struct option tap_options[] = {
    {"dir", 'd', OPTION_TEXT, "DIR", offsetof(struct tap_args, dir), "the instance's directory"},
    {"job", 'j', OPTION_COUNT, "JOB", offsetof(struct tap_args, job),
     "only what is about this job"},
    {"partition", 'p', OPTION_COUNT, "N", offsetof(struct tap_args, partition),
     "only what is about this partition"},
    {"kind", 'k', OPTION_TEXT, "KIND", offsetof(struct tap_args, kind),
     "only messages of this kind, such as GRANT"},
    {"actor", 'a', OPTION_TEXT, "NAME", offsetof(struct tap_args, actor),
     "only what this actor sends or takes, such as gpud.0 or synthd"},
    {"history", 0, OPTION_FLAG, NULL, offsetof(struct tap_args, history),
     "print the flight recorders first: what went by before, also in processes that died"},
    {"count", 'n', OPTION_COUNT, "N", offsetof(struct tap_args, count), "end after N lines"},
    {"time", 't', OPTION_SECONDS, "TIME", offsetof(struct tap_args, time), "end after this long"},
    {"record", 0, OPTION_TEXT, "FILE", offsetof(struct tap_args, record),
     "write what is shown to FILE too, for --replay"},
    {"replay", 0, OPTION_TEXT, "FILE", offsetof(struct tap_args, replay),
     "read a recording instead of an instance"},
    {0}};
static const struct tap_args tap_defaults = {.partition = UINT64_MAX};

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

/* Monotonic times as the wall clock shows them now; a recording keeps its own. */
static void print_time(FILE *out, uint64_t at_ns, bool live)
{
    struct timespec mono, real;
    clock_gettime(CLOCK_MONOTONIC, &mono);
    clock_gettime(CLOCK_REALTIME, &real);
    if (!live) {
        fprintf(out, "%" PRIu64 ".%06" PRIu64, at_ns / 1000000000, at_ns / 1000 % 1000000);
        return;
    }
    int64_t shift = (int64_t)(real.tv_sec - mono.tv_sec) * 1000000000 + real.tv_nsec - mono.tv_nsec;
    int64_t ns = (int64_t)at_ns + shift;
    time_t second = (time_t)(ns / 1000000000);
    struct tm tm;
    char text[32];
    strftime(text, sizeof text, "%H:%M:%S", localtime_r(&second, &tm));
    fprintf(out, "%s.%06d", text, (int)(ns % 1000000000 / 1000));
}

static const char *verdict_word(uint8_t v)
{
    static const char *const words[] = {"passed", "peer-gone", "queue-full", "refused"};
    return v < sizeof words / sizeof *words ? words[v] : "?";
}

static const char *peer_name(const struct tap_header *h, char out[ACTOR_NAME_MAX])
{
    struct actor peer = actor_from_id(h->peer);
    if (h->peer)
        return actor_name(&peer, out);
    return h->peer_kind ? actor_kind_name((enum actor_kind)h->peer_kind) : "client";
}

static bool name_matches(const char *wish, const char *name)
{
    size_t n = strlen(wish);
    return strncmp(name, wish, n) == 0 && (name[n] == 0 || name[n] == '.');
}

static bool is_wanted(const struct tap_args *a, enum message_kind kind, const char *name,
                      const char *peer, uint64_t job, uint32_t partition)
{
    const struct message_info *info = message_info(kind);
    return (!a->kind || (info && strcmp(info->name, a->kind) == 0)) && (!a->job || job == a->job) &&
           (a->partition == UINT64_MAX || partition == a->partition) &&
           (!a->actor || name_matches(a->actor, name) || name_matches(a->actor, peer));
}

static void print_event(const struct tap_event *ev, bool json, bool live)
{
    char name[ACTOR_NAME_MAX], room[ACTOR_NAME_MAX];
    bool sent = ev->header.direction == TAP_SENT;
    const char *peer = peer_name(&ev->header, room);
    actor_name(&ev->actor, name);
    if (json) {
        printf("{\"actor\":\"%s\",\"incarnation\":%" PRIu64 ",\"sequence\":%" PRIu64
               ",\"at_ns\":%" PRIu64 ",\"direction\":\"%s\",\"peer\":\"%s\",\"verdict\":\"%s\"",
               name, ev->actor.incarnation, ev->header.sequence, ev->header.at_ns,
               sent ? "sent" : "taken", peer, verdict_word(ev->header.verdict));
        if (ev->lost)
            printf(",\"lost_before\":%" PRIu64, ev->lost);
        if (ev->valid) {
            printf(",\"message\":");
            message_print_json(&ev->m, stdout);
        }
        puts("}");
        return;
    }
    if (ev->lost)
        printf("... %" PRIu64 " messages of %s were missed\n", ev->lost, name);
    print_time(stdout, ev->header.at_ns, live);
    printf(" %-12s %s %-12s ", name, sent ? "->" : "<-", peer);
    if (ev->valid)
        message_print_text(&ev->m, stdout);
    else
        printf("(a frame that was refused)");
    if (ev->header.verdict != TAP_PASSED)
        printf(" [%s]", verdict_word(ev->header.verdict));
    putchar('\n');
}

struct history {
    const struct tap_args *args;
    bool json;
};

static void print_flight(void *arg, const struct actor *who, const struct flight_record *r)
{
    const struct history *h = arg;
    const struct message_info *info = message_info((enum message_kind)r->kind);
    struct tap_header head = {.peer = r->peer};
    char name[ACTOR_NAME_MAX], room[ACTOR_NAME_MAX];
    const char *peer = peer_name(&head, room);
    actor_name(who, name);
    if (!is_wanted(h->args, (enum message_kind)r->kind, name, peer, r->job, r->partition))
        return;
    const char *kind = info ? info->name : "(refused)";
    bool sent = r->direction == TAP_SENT;
    if (h->json) {
        printf("{\"flight\":true,\"actor\":\"%s\",\"incarnation\":%" PRIu64 ",\"sequence\":%" PRIu64
               ",\"at_ns\":%" PRIu64 ",\"direction\":\"%s\",\"peer\":\"%s\",\"verdict\":\"%s\","
               "\"kind\":\"%s\",\"job\":%" PRIu64 "}\n",
               name, who->incarnation, r->sequence, r->at_ns, sent ? "sent" : "taken", peer,
               verdict_word(r->verdict), kind, r->job);
        return;
    }
    print_time(stdout, r->at_ns, true);
    printf(" %-12s %s %-12s %s", name, sent ? "->" : "<-", peer, kind);
    if (r->row != UINT32_MAX)
        printf(" node=%u row=%u generation=%u", r->node, r->row, r->generation);
    if (r->job)
        printf(" job=%" PRIu64, r->job);
    if (r->partition != UINT32_MAX)
        printf(" partition=%u", r->partition);
    printf("%s%s%s\n", r->verdict ? " [" : "", r->verdict ? verdict_word(r->verdict) : "",
           r->verdict ? "]" : "");
}

static uint64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static enum err_code show(struct tap_reader *r, const struct tap_args *a, bool json, FILE *record,
                          struct err *e)
{
    uint64_t until = a->time > 0 ? now_ns() + (uint64_t)(a->time * 1e9) : UINT64_MAX, shown = 0;
    while (!interrupted && now_ns() < until && (!a->count || shown < a->count)) {
        struct tap_event ev;
        char name[ACTOR_NAME_MAX], peer[ACTOR_NAME_MAX];
        if (!tap_reader_next(r, &ev, 100)) {
            if (tap_reader_ended(r))
                break;
            continue;
        }
        uint32_t partition = UINT32_MAX;
        uint64_t job = ev.valid ? message_job(&ev.m, &partition) : 0;
        if (!is_wanted(a, ev.valid ? ev.m.kind : MSG_NONE, actor_name(&ev.actor, name),
                       peer_name(&ev.header, peer), job, partition))
            continue;
        print_event(&ev, json, a->replay == NULL);
        fflush(stdout);
        shown++;
        if (record && tap_file_append(record, &ev, e) != ERR_OK)
            return e->code;
    }
    return ERR_OK;
}

static enum err_code run_tap(const struct invocation *in, struct err *e)
{
    const struct tap_args *a = in->args;
    struct instance instance = {.dir_fd = -1, .run_fd = -1};
    FILE *record = NULL;
    char dir[4096];
    if (a->kind && message_kind_by_name(a->kind) == MSG_NONE)
        return err_set(e, ERR_USAGE, "--kind %s: there is no such message (docs/protocol.md)",
                       a->kind);
    if (!a->replay &&
        instance_open(&instance, instance_default_dir(a->dir, dir, sizeof dir), e) != ERR_OK)
        return e->code;
    struct sigaction act = {.sa_handler = interrupt};
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    if (a->history && !a->replay)
        flight_scan(&instance, print_flight, &(struct history){a, in->json});
    struct tap_reader *r = a->replay ? tap_reader_file(a->replay, e) : tap_reader_new(&instance, e);
    if (r && a->record) {
        record = fopen(a->record, "we");
        if (!record)
            err_set(e, ERR_IO, "%s: %s", a->record, strerror(errno));
        else
            tap_file_begin(record, e);
    }
    if (r && e->code == ERR_OK)
        show(r, a, in->json, record, e);
    if (record && fclose(record) != 0 && e->code == ERR_OK)
        err_set(e, ERR_IO, "%s: %s", a->record, strerror(errno));
    tap_reader_free(&r);
    instance_close(&instance);
    return e->code;
}

const struct command command_tap = {
    .name = "tap",
    .summary = "show every message between the daemons as it goes by",
    .operands = "",
    .text = "A tap slows nobody down: one that reads too slowly misses messages, and is told how\n"
            "many. Secret fields are blanked before they leave a daemon. Each message is shown\n"
            "by its sender and by its receiver. --history also works when nothing runs.",
    .options = tap_options,
    .args_bytes = sizeof(struct tap_args),
    .defaults = &tap_defaults,
    .run = run_tap,
};
