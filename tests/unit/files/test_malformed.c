#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cases.h"

/* Every case: the code, the piece of the message, one line, the file's name first. */
static void each_is_refused_with_its_line(void **state)
{
    (void)state;
    char path[] = "/tmp/millrace-malformed-XXXXXX";
    unsigned wrong = 0;
    close(mkstemp(path));
    const struct malformed *m;
    for (size_t i = 0; (m = malformed_case(i)); i++) {
        struct bytes b = malformed_make(m, FIXTURES);
        struct err e = {0};
        bytes_write(path, &b);
        free(b.p);
        enum err_code code = read_strictly(malformed_kind(m), path, &e);
        if (code != m->code || e.code != m->code || !strstr(e.text, m->message) ||
            strncmp(e.text, path, strlen(path)) != 0 || strchr(e.text, '\n')) {
            print_error("%s: expected code %d and \"%s\", got %d: %s\n", m->name, (int)m->code,
                        m->message, (int)code, code ? e.text : "(accepted)");
            wrong++;
        }
    }
    unlink(path);
    assert_int_equal(wrong, 0);
}

static void change_nothing(struct bytes *b)
{
    (void)b;
}

/* A case that changes nothing would be refused for no reason of its own. */
static void each_base_is_accepted(void **state)
{
    (void)state;
    char path[] = "/tmp/millrace-malformed-XXXXXX";
    close(mkstemp(path));
    const struct malformed *m;
    for (size_t i = 0; (m = malformed_case(i)); i++) {
        size_t first = 0;
        while (strcmp(m->base, malformed_case(first)->base) != 0)
            first++;
        if (first < i)
            continue;
        struct malformed same = *m;
        same.change = change_nothing;
        struct bytes b = malformed_make(&same, FIXTURES);
        struct err e = {0};
        bytes_write(path, &b);
        free(b.p);
        if (read_strictly(malformed_kind(m), path, &e))
            fail_msg("%s: %s", m->base, e.text);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_refused_with_its_line),
        cmocka_unit_test(each_base_is_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
