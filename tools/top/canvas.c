#include "canvas.h"
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

bool canvas_new(struct canvas *c, int width, int height, bool utf8)
{
    *c = (struct canvas){.width = width, .height = height, .utf8 = utf8};
    size_t n = (size_t)(width > 0 ? width : 0) * (size_t)(height > 0 ? height : 0);
    c->at = calloc(n + 1, sizeof *c->at);
    return c->at != NULL;
}

void canvas_free(struct canvas *c)
{
    free(c->at);
    *c = (struct canvas){0};
}

static void set(struct canvas *c, int x, int y, enum style style, const char *text, size_t n)
{
    if (x < 0 || y < 0 || x >= c->width || y >= c->height || n >= CELL_BYTES)
        return;
    struct cell *cell = &c->at[y * c->width + x];
    memcpy(cell->text, text, n);
    cell->text[n] = 0;
    cell->style = (unsigned char)style;
}

void canvas_cell(struct canvas *c, int x, int y, enum style style, char ch)
{
    set(c, x, y, style, &ch, 1);
}

void canvas_block(struct canvas *c, int x, int y, enum style style)
{
    if (c->utf8)
        set(c, x, y, style, "\xe2\x96\x88", 3);
    else
        set(c, x, y, style, "#", 1);
}

int canvas_put(struct canvas *c, int x, int y, enum style style, const char *text)
{
    mbstate_t state = {0};
    size_t left = strlen(text);
    while (left > 0) {
        wchar_t wide;
        size_t n = c->utf8 ? mbrtowc(&wide, text, left, &state) : 1;
        bool shown = n > 0 && n < CELL_BYTES &&
                     (c->utf8 ? wcwidth(wide) == 1 : *text >= ' ' && *text < 0x7f);
        if (n == 0 || n > left) { /* no character of this locale: one byte */
            n = 1;
            state = (mbstate_t){0};
        }
        set(c, x++, y, style, shown ? text : "?", shown ? n : 1);
        text += n;
        left -= n;
    }
    return x;
}

int canvas_printf(struct canvas *c, int x, int y, enum style style, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return canvas_put(c, x, y, style, text);
}

int canvas_bar(struct canvas *c, int x, int y, int width, double share, enum style style)
{
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    int full = (int)(share * width + 0.5);
    for (int i = 0; i < width; i++) {
        if (i < full)
            canvas_block(c, x + i, y, style);
        else
            canvas_cell(c, x + i, y, STYLE_DIM, '.');
    }
    return x + width;
}

void canvas_print(const struct canvas *c, FILE *out)
{
    int last = c->height;
    int *length = calloc((size_t)(c->height > 0 ? c->height : 0) + 1, sizeof *length);
    if (!length)
        return;
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++) {
            const char *text = c->at[y * c->width + x].text;
            if (text[0] && text[0] != ' ')
                length[y] = x + 1;
        }
    while (last > 0 && length[last - 1] == 0)
        last--;
    for (int y = 0; y < last; y++) {
        for (int x = 0; x < length[y]; x++) {
            const char *text = c->at[y * c->width + x].text;
            fputs(text[0] ? text : " ", out);
        }
        putc('\n', out);
    }
    free(length);
}
