/* A hash table with open addressing. */
#include "matrix_dictionary.h"
#include <stdlib.h>
#include <string.h>

static uint64_t hash(const fr_t *x)
{
    uint64_t h = 0;
    for (int i = 0; i < 4; i++) {
        h = (h ^ x->limb[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return h;
}

static uint64_t find_slot(const struct matrix_dictionary *d, const fr_t *x)
{
    uint64_t i = hash(x) & (d->n_slots - 1);
    while (d->slot[i] && memcmp(&d->value[d->slot[i] - 1], x, sizeof *x) != 0)
        i = (i + 1) & (d->n_slots - 1);
    return i;
}

static bool grow(struct matrix_dictionary *d)
{
    uint32_t room = d->room ? 2 * d->room : 1024;
    if (room < d->room)
        room = UINT32_MAX;
    fr_t *value = realloc(d->value, room * sizeof *value);
    if (!value)
        return false;
    d->value = value;
    uint64_t n_slots = 2048;
    while (n_slots < 2 * (uint64_t)room)
        n_slots *= 2;
    uint32_t *slot = calloc(n_slots, sizeof *slot);
    if (!slot)
        return false;
    free(d->slot);
    d->slot = slot;
    d->n_slots = n_slots;
    d->room = room;
    for (uint32_t i = 0; i < d->n; i++)
        d->slot[find_slot(d, &d->value[i])] = i + 1;
    return true;
}

bool matrix_dictionary_code(struct matrix_dictionary *d, const fr_t *x, uint32_t *code)
{
    if (d->n == d->room && !grow(d))
        return false;
    uint64_t i = find_slot(d, x);
    if (!d->slot[i]) {
        d->value[d->n++] = *x;
        d->slot[i] = d->n;
    }
    *code = d->slot[i] - 1;
    return true;
}

bool matrix_dictionary_begin(const struct curve *c, struct matrix_dictionary *d)
{
    fr_t zero = {{0}}, minus_one;
    uint32_t unused;
    *d = (struct matrix_dictionary){0};
    c->fr_sub(&minus_one, &zero, c->fr_one);
    return matrix_dictionary_code(d, c->fr_one, &unused) &&
           matrix_dictionary_code(d, &minus_one, &unused);
}

void matrix_dictionary_free(struct matrix_dictionary *d)
{
    free(d->value);
    free(d->slot);
    *d = (struct matrix_dictionary){0};
}

static void narrow_codes(uint32_t *code, uint64_t n, uint32_t bytes)
{
    if (bytes == 1)
        for (uint64_t i = 0; i < n; i++)
            ((uint8_t *)code)[i] = (uint8_t)code[i];
    if (bytes == 2)
        for (uint64_t i = 0; i < n; i++)
            ((uint16_t *)code)[i] = (uint16_t)code[i];
}

void matrix_dictionary_finish(struct matrix_dictionary *d, uint32_t *code, struct matrix *m)
{
    m->n_dictionary = d->n;
    m->code_bytes = d->n <= 1u << 8 ? 1 : d->n <= 1u << 16 ? 2 : 4;
    narrow_codes(code, m->n_entries, m->code_bytes);
    void *less = realloc(code, m->n_entries * m->code_bytes + 1);
    m->code = less ? less : code;
    less = realloc(d->value, d->n * sizeof *d->value);
    m->dictionary = less ? less : d->value;
    d->value = NULL; /* m's now */
    matrix_dictionary_free(d);
}
