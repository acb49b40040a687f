/* screen: the terminal, by ncurses. It is given back as it was however the process ends: by
 * screen_close, by a signal that asks it to end (screen_ended says so), or by a fault of ours. */
#pragma once
#include "canvas.h"
#include "err.h"

/* Takes the terminal over. ERR_UNAVAILABLE when it cannot be used (TERM unknown). Sets the
 * character type of the locale; with NO_COLOR set, or where there is none, styles are bold and
 * dim alone. */
enum err_code screen_open(struct err *e);
void screen_close(void);

bool screen_utf8(void);
/* As the window is now. */
void screen_size(int *width, int *height);
void screen_show(const struct canvas *c);

enum {
    KEY_NONE = 0,
    KEY_SCROLL_UP = 1000,
    KEY_SCROLL_DOWN,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_RESIZED
};
/* The next key within wait_ms; KEY_NONE when there is none. */
int screen_key(int wait_ms);
/* A signal asked us to end, or the terminal is gone. */
bool screen_ended(void);
