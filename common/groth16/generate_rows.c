#include "generate_rows.h"
#include <stdlib.h>
#include <string.h>

enum { SPARE_ENTRIES = 80 };

bool grower_new(struct grower *g, uint32_t n_rows, const fr_t *dictionary, double per_row)
{
    g->room = (size_t)(per_row * n_rows) + SPARE_ENTRIES;
    g->row_start = malloc(((size_t)n_rows + 1) * sizeof *g->row_start);
    g->wire = malloc(g->room * sizeof *g->wire);
    g->code = malloc(g->room);
    g->dictionary = malloc(N_VALUES * sizeof *g->dictionary);
    g->m = (struct matrix){.row_start = g->row_start,
                           .wire = g->wire,
                           .code = g->code,
                           .dictionary = g->dictionary,
                           .n_dictionary = 2,
                           .code_bytes = 1};
    if (!g->row_start || !g->wire || !g->code || !g->dictionary)
        return false;
    memcpy(g->dictionary, dictionary, 2 * sizeof *dictionary);
    g->row_start[0] = 0;
    return true;
}

static uint8_t own_code(struct grower *g, const fr_t *dictionary, uint8_t code)
{
    if (code >= 2 && !g->own_code[code]) {
        g->own_code[code] = (uint8_t)g->m.n_dictionary;
        g->dictionary[g->m.n_dictionary++] = dictionary[code];
    }
    return code < 2 ? code : g->own_code[code];
}

bool grower_row(struct grower *g, const fr_t *dictionary, const struct entry *row, size_t n)
{
    if (g->m.n_entries + n > g->room) {
        size_t room = g->room + g->room / 2 + n;
        uint32_t *wire = realloc(g->wire, room * sizeof *wire);
        if (wire)
            g->m.wire = g->wire = wire;
        uint8_t *code = realloc(g->code, room);
        if (code)
            g->m.code = g->code = code;
        if (!wire || !code)
            return false;
        g->room = room;
    }
    for (size_t i = 0; i < n; i++) {
        g->wire[g->m.n_entries + i] = row[i].wire;
        g->code[g->m.n_entries + i] = own_code(g, dictionary, row[i].code);
    }
    g->m.n_entries += n;
    g->row_start[++g->m.n_rows] = (uint32_t)g->m.n_entries;
    return true;
}

size_t row_insert(struct entry *row, size_t n, struct entry x)
{
    size_t at = n;
    while (at > 0 && row[at - 1].wire > x.wire)
        at--;
    if (at > 0 && row[at - 1].wire == x.wire)
        return n;
    memmove(row + at + 1, row + at, (n - at) * sizeof *row);
    row[at] = x;
    return n + 1;
}
