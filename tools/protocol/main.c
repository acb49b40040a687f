/* Prints docs/protocol.md out of the tables that the code itself is made from, so that the page can
 * say nothing else than what runs. A test compares the two; `ninja protocol` writes it anew. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "actors.h"
#include "lease.h"
#include "messages.h"
#include "span.h"
#include "stat.h"

static void print_who(unsigned mask)
{
    const char *between = "";
    for (int k = ACTOR_NONE + 1; k < ACTOR_KINDS; k++)
        if (mask >> k & 1) {
            printf("%s%s", between, actor_kind_name((enum actor_kind)k));
            between = ", ";
        }
}

static void print_type(const struct field_info *f)
{
    switch (f->type) {
    case FIELD_U8:
    case FIELD_U32:
    case FIELD_U64:
        printf("integer");
        if (f->limit == 1)
            printf(", 0 or 1");
        else if (f->limit < UINT32_MAX)
            printf(" to %" PRIu64, f->limit);
        else
            printf(", %d bits", f->limit == UINT32_MAX ? 32 : 64);
        break;
    case FIELD_STR:
        printf("text to %" PRIu64, f->limit);
        break;
    case FIELD_HASH:
        printf("%" PRIu64 " bytes", f->limit);
        break;
    case FIELD_BIN:
    case FIELD_BLOB:
        printf("bytes to %" PRIu64, f->limit);
        break;
    }
}

static void print_actors(void)
{
    printf("## Who there is\n\n| name | what it is |\n| --- | --- |\n");
#define A(kind, name, indices, doc) printf("| %s | %s |\n", name, doc);
    ACTORS(A)
#undef A
    printf("\n## Lanes\n\n| lane | socket in DIR/run | bound by | connected by | what for |\n"
           "| --- | --- | --- | --- | --- |\n");
    for (int k = 0; k < LANE_IDS; k++) {
        const struct lane_info *l = lane_info((enum lane_id)k);
        printf("| %s | %s%s.sock | %s | ", l->name, l->name, l->per_index ? ".N" : "",
               actor_kind_name(l->binder));
        print_who(l->connectors);
        printf(" | %s |\n", l->doc);
    }
    printf("| tap | tap.NAME.sock | every daemon | tap | copies of what it sends and takes |\n");
}

static void print_messages(void)
{
    for (int lane = 0; lane < LANE_IDS; lane++) {
        printf("\n## Messages of the %s lane\n", lane_info((enum lane_id)lane)->name);
        for (int k = MSG_NONE + 1; k < MSG_KINDS; k++) {
            const struct message_info *m = message_info((enum message_kind)k);
            if ((int)m->lane != lane)
                continue;
            printf("\n### %s (kind %d, version %u)\n\n", m->name, k, m->version);
            print_who(m->from);
            printf(" → ");
            print_who(m->to);
            printf(": %s.\n\n| field | type | meaning |\n| --- | --- | --- |\n", m->doc);
            for (unsigned i = 0; i < m->n_fields; i++) {
                printf("| %s | ", m->fields[i].name);
                print_type(&m->fields[i]);
                printf("%s | %s |\n", m->fields[i].secret ? ", secret" : "", m->fields[i].doc);
            }
        }
    }
}

static void print_evidence(void)
{
    printf("\n## Spans\n\n| span | value | what is timed |\n| --- | --- | --- |\n");
    for (int k = SPAN_NONE + 1; k < SPAN_KINDS; k++) {
        const struct span_info *s = span_info((enum span_kind)k);
        printf("| %s | %s | %s |\n", s->name, *s->value ? s->value : "–", s->doc);
    }
    printf("\n## Counters\n\n| name | kind | what it counts |\n| --- | --- | --- |\n");
    for (int k = 0; k < STAT_IDS; k++) {
        const struct stat_info *s = stat_info((enum stat_id)k);
        printf("| %s | %s | %s |\n", s->name, s->kind == STAT_COUNTER ? "counter" : "gauge",
               s->doc);
    }
}

int main(void)
{
    printf(
        "# The protocol\n\n"
        "This page is printed by `millrace-protocol` from the tables in `ipc/`; do not edit it.\n"
        "Protocol version %d.\n\n"
        "A message is one ZeroMQ frame of at most %d bytes: one msgpack array\n"
        "`[kind, version, field, field, ...]` of exactly as many elements as its table has rows,\n"
        "integers unsigned, text as str (UTF-8 without control characters), bytes as bin. A\n"
        "frame that is anything else, or that its sender may not send on that lane, is counted\n"
        "and dropped. The sender's name is the ROUTING_ID of its DEALER socket: actor name, `#`,\n"
        "incarnation (`gpud.0#17`). A message never carries bulk data; the lease table is the\n"
        "truth and a message only rings the bell (docs/architecture.md). Secret fields are\n"
        "blanked on the tap and in print.\n\n",
        PROTOCOL_VERSION, MESSAGE_BYTES_MAX);
    print_actors();
    print_messages();
    print_evidence();
    return 0;
}
