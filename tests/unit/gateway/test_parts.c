/* The gateway's small parts: routes, addresses, tokens, texts, and the ends of slow connections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "conns.h"
#include "marks.h"
#include "routes.h"
#include "settings.h"
#include "span.h"
#include "tokens.h"

#define R(id, method, path, role, body, handler, doc)                                              \
    void handler(struct request *r)                                                                \
    {                                                                                              \
        (void)r;                                                                                   \
    }
ROUTES(R)
#undef R

static enum route_id find(const char *method, const char *path, char param[PARAM_MAX])
{
    char allowed[64];
    const struct route *r = route_find(method, path, param, allowed);
    return r ? r->id : ROUTE_NOWHERE;
}

static void a_path_has_one_route(void **state)
{
    char param[PARAM_MAX], allowed[64];
    (void)state;
    assert_int_equal(find("GET", "/", param), ROUTE_PAGE);
    assert_int_equal(find("HEAD", "/metrics", param), ROUTE_METRICS);
    assert_int_equal(find("GET", "/v1/jobs/17", param), ROUTE_SHOW);
    assert_string_equal(param, "17");
    assert_int_equal(find("GET", "/v1/jobs/17/await", param), ROUTE_AWAIT);
    assert_int_equal(find("POST", "/input/a-b_c.9", param), ROUTE_RS_INPUT);
    assert_string_equal(param, "a-b_c.9");
    assert_null(route_find("PUT", "/v1/jobs/17", param, allowed));
    assert_string_equal(allowed, "GET, DELETE");
    assert_null(route_find("GET", "/v1/jobs/17/", param, allowed));
    assert_string_equal(allowed, "");
}

static void no_parameter_leaves_its_part_of_the_path(void **state)
{
    char param[PARAM_MAX], path[PARAM_MAX + 40] = "/v1/jobs/";
    (void)state;
    assert_int_equal(find("GET", "/v1/jobs//proof", param), ROUTE_NOWHERE);
    assert_int_equal(find("GET", "/v1/jobs/a/b/proof", param), ROUTE_NOWHERE);
    assert_int_equal(find("GET", "/v1/jobs/a b", param), ROUTE_NOWHERE);
    assert_int_equal(find("GET", "/v1/jobs/%2e", param), ROUTE_NOWHERE);
    memset(path + 9, 'x', PARAM_MAX);
    assert_int_equal(find("GET", path, param), ROUTE_NOWHERE);
    path[9 + PARAM_MAX - 1] = '\0';
    assert_int_equal(find("GET", path, param), ROUTE_SHOW);
}

static void addresses(void **state)
{
    struct settings s;
    struct err e;
    (void)state;
    static const char *const loopback[] = {"127.0.0.1:80", "[::1]:80", "9000", "localhost:1",
                                           "127.9.9.9"},
                             *const beyond[] = {"0.0.0.0:80", "[::]:80", "10.0.0.1",
                                                "[::ffff:1.2.3.4]:1"},
                             *const wrong[] = {"",           ":",
                                               "host:80",    "127.0.0.1:65536",
                                               "127.0.0.1:", "127.0.0.1:-1",
                                               "[::1:80",    "256.0.0.1:80",
                                               "1.2.3.4:8 0"};
    for (size_t i = 0; i < sizeof loopback / sizeof *loopback; i++) {
        assert_int_equal(settings_listen(&s, loopback[i], &e), ERR_OK);
        assert_true(s.loopback);
    }
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        assert_int_equal(settings_listen(&s, beyond[i], &e), ERR_OK);
        assert_false(s.loopback);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(settings_listen(&s, wrong[i], &e), ERR_USAGE);
    assert_int_equal(settings_listen(&s, "10.1.1.1", &e), ERR_OK);
    assert_int_equal(ntohs(s.listen.v4.sin_port), LISTEN_PORT);
}

static void a_token_is_found_by_its_hash_alone(void **state)
{
    char dir[] = "/tmp/millrace-tokens-XXXXXX", path[64], ann[TOKEN_HEX + 1], bob[TOKEN_HEX + 1];
    struct instance in;
    struct tokens t;
    struct err e;
    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_int_equal(instance_create(dir, &e), ERR_OK);
    assert_int_equal(instance_open(&in, dir, &e), ERR_OK);
    assert_int_equal(tokens_load(&t, &in, &e), ERR_OK);
    assert_int_equal(t.n, 0); /* no file, no tokens */
    assert_int_equal(tokens_add(&in, "ann", ROLE_CLIENT, ann, &e), ERR_OK);
    assert_int_equal(tokens_add(&in, "bob", ROLE_OPERATOR, bob, &e), ERR_OK);
    assert_int_equal(tokens_add(&in, "ann", ROLE_OPERATOR, bob, &e), ERR_REFUSED);
    assert_int_equal(tokens_load(&t, &in, &e), ERR_OK);
    assert_int_equal(t.n, 2);
    assert_string_equal(tokens_find(&t, ann, TOKEN_HEX)->name, "ann");
    assert_int_equal(tokens_find(&t, ann, TOKEN_HEX)->role, ROLE_CLIENT);
    assert_null(tokens_find(&t, ann, TOKEN_HEX - 1));
    assert_null(tokens_find(&t, "", 0));
    tokens_free(&t);
    snprintf(path, sizeof path, "%s/gateway.tokens", dir);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(tokens_load(&t, &in, &e), ERR_REFUSED);
    instance_close(&in);
    snprintf(path, sizeof path, "rm -rf %s", dir);
    assert_int_equal(system(path), 0);
}

static void a_wrong_line_of_tokens_is_named(void **state)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"ann client", "line 1: expected NAME ROLE HASH"},
        {"# fine\n\nann king 00", "line 3: role"},
        {"ann client 00", "line 1: hash"},
        {"a/b client 00", "line 1: name"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct tokens t;
        struct err e;
        assert_int_equal(tokens_parse(&t, wrong[i].text, strlen(wrong[i].text), "file", &e),
                         ERR_FORMAT);
        assert_non_null(strstr(e.text, wrong[i].says));
        assert_int_equal(t.n, 0);
    }
}

static void texts_are_json(void **state)
{
    struct text t = {0};
    (void)state;
    text_json(&t, "a\"b\\c\n\x01\xc3\xa9");
    assert_string_equal(t.at, "\"a\\\"b\\\\c\\u000a\\u0001??\"");
    text_free(&t);
    for (int i = 0; i < 5000; i++)
        text_add(&t, "%d,", i % 10);
    assert_int_equal(t.n, 10000);
    text_free(&t);
}

static size_t marks_in(const char *type, const char *data, size_t piece)
{
    struct marks m;
    size_t n = strlen(data);
    assert_true(marks_begin(&m, type));
    for (size_t at = 0; at < n; at += piece)
        marks_take(&m, data + at, n - at < piece ? n - at : piece);
    return m.count;
}

static void boundaries_are_counted_however_they_come(void **state)
{
    static const char form[] = "--aab\r\nA: b\r\n\r\n--aab\r\n--aaab\r\n--aa\r\n--aab\r\n\n--aab--";
    struct marks m;
    (void)state;
    for (size_t piece = 1; piece < sizeof form; piece++) {
        assert_int_equal(marks_in("multipart/form-data; boundary=aab", form, piece), 4);
        assert_int_equal(marks_in("multipart/form-data; Boundary=\"aab\"; x=y", form, piece), 4);
    }
    assert_int_equal(marks_in("boundary=-\n--", "--\n--\n--\n--\n--\n--", 3), 0);
    assert_false(marks_begin(&m, "multipart/form-data"));
    assert_false(marks_begin(&m, "multipart/form-data; boundary="));
    assert_false(marks_begin(&m, "boundary=12345678901234567890123456789012345678901234567890"
                                 "123456789012345678901"));
}

static bool is_shut(int fd)
{
    char c;
    return recv(fd, &c, 1, MSG_DONTWAIT) == 0;
}

static void slow_connections_end_and_others_do_not(void **state)
{
    enum { N = CONN_PHASES };
    const uint64_t second = 1000000000;
    int fd[N][2];
    struct conn *conn[N];
    uint64_t n[CONN_PHASES], reaped;
    (void)state;
    struct conns *c = conns_new(1000);
    for (int i = 0; i < N; i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd[i]), 0);
        conn[i] = conns_add(c, fd[i][0]);
        conns_phase(c, conn[i], (enum conn_phase)i, 0);
    }
    conns_received(c, conn[CONN_BODY], 30000); /* 30 s more at the lowest rate */
    uint64_t now = span_now_ns();
    assert_int_equal(conns_reap(c, now + 9 * second), 0);
    assert_int_equal(conns_reap(c, now + 11 * second), 2); /* OPEN, HEAD */
    assert_true(is_shut(fd[CONN_OPEN][1]) && is_shut(fd[CONN_HEAD][1]));
    assert_int_equal(conns_reap(c, now + 21 * second), 1); /* ANSWER */
    assert_int_equal(conns_reap(c, now + 31 * second), 1); /* IDLE */
    assert_false(is_shut(fd[CONN_BODY][1]));
    assert_int_equal(conns_reap(c, now + 51 * second), 1); /* BODY */
    assert_int_equal(conns_reap(c, now + 86400 * second), 0);
    assert_false(is_shut(fd[CONN_WORK][1]) || is_shut(fd[CONN_EVENTS][1])); /* ours to end */
    conns_count(c, n, &reaped);
    assert_int_equal(reaped, 5);
    for (int i = 0; i < N; i++) {
        assert_int_equal(n[i], 1);
        conns_remove(c, conn[i]);
        close(fd[i][0]);
        close(fd[i][1]);
    }
    conns_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_has_one_route),
        cmocka_unit_test(no_parameter_leaves_its_part_of_the_path),
        cmocka_unit_test(addresses),
        cmocka_unit_test(a_token_is_found_by_its_hash_alone),
        cmocka_unit_test(a_wrong_line_of_tokens_is_named),
        cmocka_unit_test(texts_are_json),
        cmocka_unit_test(boundaries_are_counted_however_they_come),
        cmocka_unit_test(slow_connections_end_and_others_do_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
