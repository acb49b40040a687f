#include "scratch.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <zmq.h>
#include "lane.h"
#include "span.h"
#include "tap.h"

static struct scratch s;
static const struct actor desk = {.kind = ACTOR_FINALIZD, .incarnation = 1};
static const struct actor synthd = {.kind = ACTOR_SYNTHD, .index = 2, .incarnation = 7};
static struct err e;

static int setup(void **state)
{
    (void)state;
    scratch_open(&s);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    scratch_close(&s);
    return 0;
}

static struct message hello_of(const struct actor *a)
{
    struct message m = {.kind = MSG_HELLO,
                        .hello = {.protocol = PROTOCOL_VERSION, .incarnation = a->incarnation}};
    actor_name(a, m.hello.name);
    return m;
}

static struct message grant_of(uint64_t job)
{
    struct message m = {.kind = MSG_GRANT};
    message_set_lease(&m, (struct lease_ref){99, 0, 3, 4}, job, 1, 1);
    return m;
}

/* Waits until the lane has a message; false after two seconds. */
static bool wait_for(struct lanes *ls, struct lane *l, struct incoming *in)
{
    for (uint64_t until = span_now_ns() + 2000000000; span_now_ns() < until; lanes_wait(ls, 50))
        if (lane_receive(l, in))
            return true;
    return false;
}

static void messages_go_both_ways(void **state)
{
    (void)state;
    struct incoming in;
    struct lanes *d = lanes_new(&s.in, &desk, &e), *w = lanes_new(&s.in, &synthd, &e);
    struct lane *up = lane_connect(w, LANE_DESK, 0, &e); /* before anybody is bound */
    struct message m = hello_of(&synthd);
    assert_int_equal(lane_send(up, NULL, &m), LANE_SENT);
    struct lane *down = lane_bind(d, LANE_DESK, 0, &e);
    assert_non_null(down);
    assert_true(wait_for(d, down, &in));
    assert_int_equal(in.m.kind, MSG_HELLO);
    assert_string_equal(in.peer, "synthd.0.2#7");
    assert_true(actor_equal(&in.from, &synthd));
    m = grant_of(5);
    assert_int_equal(lane_send(down, in.peer, &m), LANE_SENT);
    assert_true(wait_for(w, up, &in));
    assert_int_equal(in.m.grant.job, 5);
    assert_int_equal(in.from.kind, ACTOR_FINALIZD);
    assert_string_equal(in.peer, "");
    assert_false(lane_receive(up, &in));
    assert_int_equal(lane_send(down, "synthd.0.9#1", &m), LANE_GONE); /* never seen: an error */
    assert_int_equal(lane_counts(down)->gone, 1);
    assert_int_equal(lane_counts(down)->sent, 1);
    lanes_free(&w);
    lanes_free(&d);
    assert_null(d);
}

static void one_address_has_one_binder(void **state)
{
    (void)state;
    struct lanes *d = lanes_new(&s.in, &desk, &e), *d2 = lanes_new(&s.in, &desk, &e);
    struct lane *first = lane_bind(d, LANE_DESK, 0, &e);
    assert_non_null(first);
    assert_null(lane_bind(d2, LANE_DESK, 0, &e)); /* ZeroMQ itself would let it steal the address */
    assert_int_equal(e.code, ERR_REFUSED);
    lane_close(&first);
    struct lane *again = lane_bind(d2, LANE_DESK, 0, &e);
    assert_non_null(again);
    lanes_free(&d2);
    lanes_free(&d);
}

/* A restarted daemon has a new incarnation: the old name is gone, the new one is heard. */
static void a_restarted_peer_is_heard(void **state)
{
    (void)state;
    struct incoming in;
    struct lanes *d = lanes_new(&s.in, &desk, &e);
    struct lane *down = lane_bind(d, LANE_DESK, 0, &e);
    for (uint64_t run = 1; run <= 4; run++) {
        pid_t pid = fork();
        if (pid == 0) {
            struct actor me = {.kind = ACTOR_SYNTHD, .index = 2, .incarnation = run};
            struct lanes *w = lanes_new(&s.in, &me, &e);
            struct lane *up = lane_connect(w, LANE_DESK, 0, &e);
            struct message m = hello_of(&me);
            lane_send(up, NULL, &m);
            for (;;)
                lanes_wait(w, 1000);
        }
        assert_true(wait_for(d, down, &in));
        assert_int_equal(in.from.incarnation, run);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        struct message m = grant_of(1);
        /* Sends to the dead go nowhere, first silently, then with LANE_GONE; never blocking. */
        for (int i = 0; i < 200 && lane_send(down, in.peer, &m) != LANE_GONE; i++)
            lanes_wait(d, 10);
        assert_int_equal(lane_send(down, in.peer, &m), LANE_GONE);
    }
    lanes_free(&d);
}

/* --- a peer that does what it may not ------------------------------------------------------- */

static void *raw_context, *raw_socket;

static void raw_open(const char *routing_id, size_t n)
{
    char address[128];
    raw_context = zmq_ctx_new();
    raw_socket = zmq_socket(raw_context, ZMQ_DEALER);
    if (n)
        zmq_setsockopt(raw_socket, ZMQ_ROUTING_ID, routing_id, n);
    lane_address(&s.in, LANE_DESK, 0, address, sizeof address);
    assert_int_equal(zmq_connect(raw_socket, address), 0);
}

static void raw_close(void)
{
    int zero = 0;
    zmq_setsockopt(raw_socket, ZMQ_LINGER, &zero, sizeof zero);
    zmq_close(raw_socket);
    zmq_ctx_term(raw_context);
}

static size_t encoded(const struct message *m, uint8_t *frame, size_t n)
{
    size_t len = message_encode(m, frame, n);
    assert_true(len > 0);
    return len;
}

static void bad_peers_are_counted_and_dropped(void **state)
{
    (void)state;
    uint8_t frame[4096];
    struct incoming in;
    struct lanes *d = lanes_new(&s.in, &desk, &e);
    struct lane *down = lane_bind(d, LANE_DESK, 0, &e);
    struct message good = hello_of(&synthd), wrong_way = grant_of(1), of_gpud = {.kind = MSG_TAKEN},
                   of_client = {.kind = MSG_PING};

    raw_open("synthd.0.2#7", 12);
    zmq_send(raw_socket, "garbage", 7, 0);
    zmq_send(raw_socket, "", 0, 0);
    zmq_send(raw_socket, frame, encoded(&wrong_way, frame, sizeof frame), 0);
    zmq_send(raw_socket, frame, encoded(&of_gpud, frame, sizeof frame), 0);
    zmq_send(raw_socket, frame, encoded(&of_client, frame, sizeof frame), 0);
    size_t n = encoded(&good, frame, sizeof frame);
    zmq_send(raw_socket, frame, n, ZMQ_SNDMORE); /* more than one frame */
    zmq_send(raw_socket, "x", 1, ZMQ_SNDMORE);
    zmq_send(raw_socket, "y", 1, 0);
    zmq_send(raw_socket, frame, n, 0); /* and after all that, a good one */
    assert_true(wait_for(d, down, &in));
    assert_int_equal(in.m.kind, MSG_HELLO);
    assert_int_equal(lane_counts(down)->refused, 6);
    assert_int_equal(lane_counts(down)->received, 1);
    assert_non_null(strstr(lane_counts(down)->last_refusal, "synthd.0.2#7"));
    raw_close();

    static const struct {
        const char *id;
        size_t n;
    } names[] = {{"", 0}, {"client#5", 8}, {"gpud.0", 6}, {"nobody#1", 8}, {"synthd.0.2\0#7", 13}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        raw_open(names[i].id, names[i].n);
        uint64_t before = lane_counts(down)->refused;
        zmq_send(raw_socket, frame, n, 0);
        for (int k = 0; k < 40 && lane_counts(down)->refused == before; k++) {
            lanes_wait(d, 50);
            assert_false(lane_receive(down, &in));
        }
        assert_int_equal(lane_counts(down)->refused, before + 1);
        raw_close();
    }

    /* A frame above the limit costs its sender the connection, and nobody else anything. */
    raw_open("synthd.0.3#1", 12);
    static uint8_t big[MESSAGE_BYTES_MAX + 1];
    zmq_send(raw_socket, big, sizeof big, 0);
    lanes_wait(d, 100);
    assert_false(lane_receive(down, &in));
    raw_close();
    lanes_free(&d);
}

static void plain_descriptors_are_watched(void **state)
{
    (void)state;
    struct lanes *d = lanes_new(&s.in, &desk, &e);
    int a = eventfd(0, 0), b = eventfd(0, 0), fd;
    uint64_t tag, one = 1;
    lanes_watch(d, a, 11);
    lanes_watch(d, b, 22);
    assert_int_equal(lanes_wait(d, 0), 0);
    assert_false(lanes_ready(d, &fd, &tag));
    assert_int_equal(write(b, &one, 8), 8);
    assert_int_equal(lanes_wait(d, 1000), 1);
    assert_true(lanes_ready(d, &fd, &tag));
    assert_true(fd == b && tag == 22);
    assert_false(lanes_ready(d, &fd, &tag));
    assert_int_equal(write(a, &one, 8), 8);
    assert_int_equal(lanes_wait(d, 1000), 2);
    assert_true(lanes_ready(d, &fd, &tag));
    lanes_unwatch(d, b);
    assert_true(fd == a && !lanes_ready(d, &fd, &tag));
    close(a);
    close(b);
    lanes_free(&d);
}

/* --- the tap -------------------------------------------------------------------------------- */

static bool tap_wait(struct lanes *d, struct tap_reader *r, struct tap_event *ev)
{
    for (int i = 0; i < 100; i++) {
        lanes_wait(d, 0);
        if (tap_reader_next(r, ev, 20))
            return true;
    }
    return false;
}

static void arm(struct lanes *d)
{
    for (int i = 0; i < 200 && !tap_armed(lanes_tap(d)); i++)
        lanes_wait(d, 10);
    assert_true(tap_armed(lanes_tap(d)));
}

static void the_tap_shows_what_went_by_and_no_secret(void **state)
{
    (void)state;
    struct incoming in;
    struct actor who;
    actor_enter_anonymous(&who, ACTOR_CLIENT);
    struct lanes *d = lanes_new(&s.in, &desk, &e), *c = lanes_new(&s.in, &who, &e);
    struct lane *server = lane_bind(d, LANE_CLIENT, 0, &e);
    struct lane *client = lane_connect(c, LANE_CLIENT, 0, &e);
    assert_false(tap_armed(lanes_tap(d)));
    assert_null(lanes_tap(c));
    struct tap_reader *r = tap_reader_new(&s.in, &e);
    struct tap_event ev;
    assert_false(tap_reader_next(r, &ev, 10)); /* connects */
    arm(d);

    struct message m = {.kind = MSG_SUBMIT, .submit = {.tag = 4, .partitions = 1}};
    strcpy(m.submit.spool, "deadbeef");
    memset(m.submit.content, 0xab, sizeof m.submit.content);
    lane_send(client, NULL, &m);
    assert_true(wait_for(d, server, &in));
    assert_int_equal(in.m.submit.content[31], 0xab); /* the desk sees it */
    assert_true(tap_wait(d, r, &ev));
    assert_true(ev.valid);
    assert_int_equal(ev.m.kind, MSG_SUBMIT);
    assert_string_equal(ev.m.submit.spool, "deadbeef");
    assert_int_equal(ev.header.direction, TAP_TAKEN);
    assert_int_equal(ev.header.peer_kind, ACTOR_CLIENT);
    assert_true(actor_equal(&ev.actor, &desk));
    for (size_t i = 0; i < 32; i++)
        assert_int_equal(ev.m.submit.content[i], 0);
    assert_null(memmem(ev.raw, ev.raw_bytes, "\xab\xab", 2)); /* nor anywhere in the frame */

    m = (struct message){.kind = MSG_OK, .ok.tag = 4};
    lane_send(server, in.peer, &m);
    assert_true(tap_wait(d, r, &ev));
    assert_int_equal(ev.m.kind, MSG_OK);
    assert_int_equal(ev.header.direction, TAP_SENT);
    assert_int_equal(ev.lost, 0);

    /* Recorded and read again. */
    char path[80];
    snprintf(path, sizeof path, "%s/recording", s.dir);
    FILE *f = fopen(path, "w");
    assert_int_equal(tap_file_begin(f, &e), ERR_OK);
    assert_int_equal(tap_file_append(f, &ev, &e), ERR_OK);
    fwrite("\x10\x00\x00\x00torn", 1, 8, f);
    fclose(f);
    struct tap_reader *file = tap_reader_file(path, &e);
    struct tap_event again;
    assert_true(tap_reader_next(file, &again, 0));
    assert_int_equal(again.m.kind, MSG_OK);
    assert_false(tap_reader_next(file, &again, 0));
    assert_true(tap_reader_ended(file));
    tap_reader_free(&file);
    unlink(path);

    tap_reader_free(&r);
    for (int i = 0; i < 200 && tap_armed(lanes_tap(d)); i++)
        lanes_wait(d, 10);
    assert_false(tap_armed(lanes_tap(d))); /* nobody listens any more */
    lanes_free(&c);
    lanes_free(&d);
}

static void a_slow_tap_never_blocks_and_sees_its_loss(void **state)
{
    (void)state;
    struct lanes *d = lanes_new(&s.in, &desk, &e), *w = lanes_new(&s.in, &synthd, &e);
    struct lane *down = lane_bind(d, LANE_DESK, 0, &e), *up = lane_connect(w, LANE_DESK, 0, &e);
    struct incoming in;
    struct message m = hello_of(&synthd);
    lane_send(up, NULL, &m);
    assert_true(wait_for(d, down, &in));
    struct tap_reader *r = tap_reader_new(&s.in, &e);
    struct tap_event ev;
    tap_reader_next(r, &ev, 10);
    arm(d);
    /* The reader reads nothing. Its queue of 100,000, the kernel's and the tap's own fill up. */
    enum { SENDS = 250000 };
    uint64_t slowest = 0;
    for (int i = 0; i < SENDS; i++) {
        uint64_t t0 = span_now_ns();
        m = grant_of((uint64_t)i + 1);
        lane_send(down, "synthd.0.9#1", &m); /* GONE: the tap shows that too */
        uint64_t took = span_now_ns() - t0;
        slowest = took > slowest ? took : slowest;
    }
    print_message("slowest send with a full tap: %llu us\n", (unsigned long long)slowest / 1000);
    assert_true(slowest < 1000000000); /* never blocks; the scheduler may take its slice */
    uint64_t got = 0, lost = 0, last = 0;
    while (tap_reader_next(r, &ev, 200)) {
        assert_true(ev.header.sequence > last);
        last = ev.header.sequence;
        assert_int_equal(ev.header.verdict, TAP_PEER_GONE);
        lost += ev.lost;
        got++;
    }
    /* What is lost at the end is seen with the next message. */
    lane_send(down, "synthd.0.9#1", &m);
    assert_true(tap_wait(d, r, &ev));
    lost += ev.lost;
    got++;
    print_message("%llu shown, %llu lost\n", (unsigned long long)got, (unsigned long long)lost);
    assert_true(lost > 0);
    assert_int_equal(got + lost, SENDS + 1);
    tap_reader_free(&r);
    lanes_free(&w);
    lanes_free(&d);
}

static void count_flight(void *arg, const struct actor *who, const struct flight_record *record)
{
    uint64_t *last = arg;
    if (!actor_equal(who, &synthd))
        return;
    assert_true(record->sequence > *last);
    assert_int_equal(record->kind, MSG_HEARTBEAT);
    *last = record->sequence;
}

static void the_flight_recorder_survives_a_crash(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        struct lanes *w = lanes_new(&s.in, &synthd, &e);
        struct lane *up = lane_connect(w, LANE_DESK, 0, &e);
        struct message m = {.kind = MSG_HEARTBEAT};
        for (int i = 0; i < FLIGHT_RECORDS + 500; i++)
            lane_send(up, NULL, &m); /* nobody there: queued, then FULL */
        raise(SIGKILL);
    }
    waitpid(pid, NULL, 0);
    uint64_t last = 0;
    flight_scan(&s.in, count_flight, &last);
    assert_int_equal(last, FLIGHT_RECORDS + 500);
}

static void sending_to_nobody_never_blocks(void **state)
{
    (void)state;
    struct lanes *w = lanes_new(&s.in, &synthd, &e);
    struct lane *up = lane_connect(w, LANE_DESK, 0, &e);
    struct message m = {.kind = MSG_HEARTBEAT};
    unsigned full = 0;
    for (int i = 0; i < 3000; i++)
        full += lane_send(up, NULL, &m) == LANE_FULL;
    assert_true(full >= 1000);
    assert_int_equal(lane_counts(up)->full, full);
    lanes_free(&w); /* LINGER 0: does not wait for the queued ones */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_go_both_ways),
        cmocka_unit_test(one_address_has_one_binder),
        cmocka_unit_test(a_restarted_peer_is_heard),
        cmocka_unit_test(bad_peers_are_counted_and_dropped),
        cmocka_unit_test(plain_descriptors_are_watched),
        cmocka_unit_test(the_tap_shows_what_went_by_and_no_secret),
        cmocka_unit_test(a_slow_tap_never_blocks_and_sees_its_loss),
        cmocka_unit_test(the_flight_recorder_survives_a_crash),
        cmocka_unit_test(sending_to_nobody_never_blocks),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
