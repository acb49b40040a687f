#include "actors.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned indices;
} kinds[ACTOR_KINDS] = {[ACTOR_NONE] = {"none", 0},
#define A(kind, name_, indices_, doc) [ACTOR_##kind] = {name_, indices_},
                        ACTORS(A)
#undef A
};

static const struct lane_info lanes[LANE_IDS] = {
#define L(id_, name_, binder_, per_index_, connectors_, doc_)                                      \
    [LANE_##id_] = {LANE_##id_, name_, ACTOR_##binder_, per_index_, connectors_, doc_},
    LANES(L)
#undef L
};

const struct lane_info *lane_info(enum lane_id id)
{
    INVARIANT((unsigned)id < LANE_IDS);
    return &lanes[id];
}

const char *actor_kind_name(enum actor_kind kind)
{
    return (unsigned)kind < ACTOR_KINDS ? kinds[kind].name : "none";
}

actor_id actor_to_id(const struct actor *a)
{
    if (a->kind != ACTOR_FINALIZD && a->kind != ACTOR_SYNTHD && a->kind != ACTOR_GPUD)
        return 0;
    INVARIANT(a->node <= 255 && a->index <= 255 && a->incarnation <= INCARNATION_MAX);
    return (uint64_t)a->kind << 32 | (uint64_t)a->node << 24 | (uint64_t)a->index << 16 |
           a->incarnation;
}

struct actor actor_from_id(actor_id id)
{
    return (struct actor){.kind = (enum actor_kind)(id >> 32 & 15),
                          .node = id >> 24 & 255,
                          .index = id >> 16 & 255,
                          .incarnation = id & INCARNATION_MAX};
}

const char *actor_name(const struct actor *a, char out[ACTOR_NAME_MAX])
{
    const char *word = actor_kind_name(a->kind);
    switch ((unsigned)a->kind < ACTOR_KINDS ? kinds[a->kind].indices : 0) {
    case 2:
        snprintf(out, ACTOR_NAME_MAX, "%s.%u.%u", word, a->node, a->index);
        break;
    case 1:
        snprintf(out, ACTOR_NAME_MAX, "%s.%u", word, a->index);
        break;
    default:
        snprintf(out, ACTOR_NAME_MAX, "%s", word);
    }
    return out;
}

const char *actor_routing_id(const struct actor *a, char out[ROUTING_ID_MAX])
{
    char name[ACTOR_NAME_MAX];
    snprintf(out, ROUTING_ID_MAX, "%s#%llu", actor_name(a, name),
             (unsigned long long)a->incarnation);
    return out;
}

bool actor_equal(const struct actor *a, const struct actor *b)
{
    return a->kind == b->kind && a->node == b->node && a->index == b->index &&
           a->incarnation == b->incarnation;
}

/* A decimal number without sign or leading zero; the rest of the text in *p. */
static bool take_number(const char **p, const char *end, uint64_t limit, uint64_t *out)
{
    const char *begin = *p;
    uint64_t v = 0;
    for (; *p < end && **p >= '0' && **p <= '9'; ++*p) {
        unsigned digit = (unsigned)(**p - '0');
        if (v > (limit - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    *out = v;
    return *p > begin && (*p - begin == 1 || *begin != '0');
}

bool actor_parse(struct actor *a, const char *text, size_t n)
{
    const char *end = text + n;
    *a = (struct actor){0};
    for (unsigned k = ACTOR_NONE + 1; k < ACTOR_KINDS; k++) {
        size_t len = strlen(kinds[k].name);
        if (n < len || memcmp(text, kinds[k].name, len) != 0)
            continue;
        const char *p = text + len;
        uint64_t number[2] = {0, 0};
        bool ok = true;
        for (unsigned i = 0; ok && i < kinds[k].indices; i++)
            ok = p < end && *p == '.' && (p++, take_number(&p, end, 255, &number[i]));
        if (!ok)
            continue;
        uint64_t incarnation = 0;
        bool daemon = k == ACTOR_FINALIZD || k == ACTOR_SYNTHD || k == ACTOR_GPUD;
        if (p < end && *p == '#') {
            p++;
            if (!take_number(&p, end, daemon ? INCARNATION_MAX : UINT64_MAX, &incarnation) ||
                incarnation == 0)
                continue;
        }
        if (p != end)
            continue;
        a->kind = (enum actor_kind)k;
        a->node = kinds[k].indices == 2 ? (unsigned)number[0] : 0;
        a->index = (unsigned)(kinds[k].indices == 2 ? number[1] : number[0]);
        a->incarnation = incarnation;
        return true;
    }
    return false;
}

void actor_enter_anonymous(struct actor *self, enum actor_kind kind)
{
    *self = (struct actor){.kind = kind};
    while (self->incarnation == 0) {
        if (getrandom(&self->incarnation, sizeof self->incarnation, 0) != sizeof self->incarnation)
            DIE("getrandom failed: %s", strerror(errno));
        self->incarnation >>= 1;
    }
}

void lane_address(const struct instance *in, enum lane_id id, unsigned index, char *out, size_t n)
{
    const struct lane_info *lane = lane_info(id);
    if (lane->per_index)
        snprintf(out, n, "ipc:///proc/self/fd/%d/%s.%u.sock", in->run_fd, lane->name, index);
    else
        snprintf(out, n, "ipc:///proc/self/fd/%d/%s.sock", in->run_fd, lane->name);
}

void tap_address(const struct instance *in, const struct actor *a, char *out, size_t n)
{
    char name[ACTOR_NAME_MAX];
    snprintf(out, n, "ipc:///proc/self/fd/%d/tap.%s.sock", in->run_fd, actor_name(a, name));
}
