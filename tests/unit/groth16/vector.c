#include "vector.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "file.h"

const char *vector_path(const struct vector *v, const char *file)
{
    static char text[4][512];
    static int next;
    char *t = text[next++ % 4];
    snprintf(t, sizeof text[0], "%s/filecoin/%s/%s%s", FIXTURES, v->directory,
             file[0] == '.' ? v->name : "", file);
    return t;
}

uint8_t *vector_read(const struct vector *v, const char *file, size_t *n)
{
    struct err e = {0};
    char *data;
    must(file_read(vector_path(v, file), 1 << 28, &data, n, &e), &e);
    return (uint8_t *)data;
}

void same_bytes(const char *path, const char *expected)
{
    struct err e = {0};
    char *a, *b;
    size_t n, m;
    must(file_read(path, 1 << 28, &a, &n, &e), &e);
    must(file_read(expected, 1 << 28, &b, &m, &e), &e);
    assert_int_equal(n, m);
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            fail_msg("%s: differs at offset %zu", expected, i);
    free(a);
    free(b);
}

/* The value of a line "NAME HEX". */
static fr_t hex_line(const char *info, const char *name)
{
    char begin[16];
    fr_t x = {{0}};
    snprintf(begin, sizeof begin, "\n%s ", name);
    const char *at = strstr(info, begin);
    assert_non_null(at);
    at += strlen(begin);
    for (int i = 0; i < 4; i++) {
        char limb[17];
        snprintf(limb, sizeof limb, "%.16s", at + 16 * i);
        x.limb[3 - i] = strtoull(limb, NULL, 16);
    }
    return x;
}

void vector_load(struct vector *v, const char *directory)
{
    *v = (struct vector){.directory = directory};
    size_t n;
    char *info = (char *)vector_read(v, "info.txt", &n);
    assert_int_equal(sscanf(info, "name %31s", v->name), 1);
    v->secrets = (struct setup_secrets){
        .tau = hex_line(info, "tau"),
        .alpha = hex_line(info, "alpha"),
        .beta = hex_line(info, "beta"),
        .gamma = hex_line(info, "gamma"),
        .delta = hex_line(info, "delta"),
    };
    fr_t r = hex_line(info, "r"), s = hex_line(info, "s");
    char r_text[DECIMAL_ROOM], s_text[DECIMAL_ROOM];
    decimal_from_limbs(r.limb, 4, r_text);
    decimal_from_limbs(s.limb, 4, s_text);
    snprintf(v->rs, sizeof v->rs, "%.90s,%.90s", r_text, s_text);
    free(info);
    uint8_t *witness = vector_read(v, "witness.bin", &n);
    memcpy(&v->n_inputs, witness, 8);
    memcpy(&v->n_aux, witness + 8, 8);
    assert_int_equal(n, 16 + (v->n_inputs + v->n_aux) * sizeof(fr_t));
    v->w = malloc(n);
    memcpy(v->w, witness + 16, n - 16);
    free(witness);
}

void vector_free(struct vector *v)
{
    free(v->w);
}
