/* canvas: a rectangle of characters with a style each, that the views draw on; then it is shown on
 * a terminal (screen.h) or printed as plain text. Drawing outside of it is clipped, so a view need
 * not know how small its window is. */
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

enum style {
    STYLE_PLAIN,
    STYLE_TITLE,
    STYLE_DIM,
    STYLE_GOOD,  /* busy, verified */
    STYLE_WARN,  /* late, waiting */
    STYLE_BAD,   /* dead, failed */
    STYLE_INPUT, /* steps before the GPU */
    STYLE_MOVE,  /* copies, messages */
    STYLE_END,   /* steps after it */
    STYLES
};

enum { CELL_BYTES = 5 };

struct cell {
    char text[CELL_BYTES]; /* one character of one column, UTF-8, ended by 0; "": blank */
    unsigned char style;
};

struct canvas {
    int width, height;
    bool utf8; /* else every character is ASCII */
    struct cell *at;
};

/* All blank. False when there is no memory. */
bool canvas_new(struct canvas *c, int width, int height, bool utf8);
void canvas_free(struct canvas *c);

/* Returns the column after the text. What is no printable character of the locale is shown as '?'.
 */
int canvas_put(struct canvas *c, int x, int y, enum style style, const char *text);
int canvas_printf(struct canvas *c, int x, int y, enum style style, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* A bar of `width` columns of which `share` (0 to 1) is filled. */
int canvas_bar(struct canvas *c, int x, int y, int width, double share, enum style style);
/* One character, ASCII. */
void canvas_cell(struct canvas *c, int x, int y, enum style style, char ch);
/* A full block, or '#' where there is none. */
void canvas_block(struct canvas *c, int x, int y, enum style style);

/* As lines of text without trailing blanks; empty lines at the end are left out. */
void canvas_print(const struct canvas *c, FILE *out);
