#include "screen.h"
#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

/* curses has names of its own for keys; ours are those of screen.h. */
enum { OUR_UP = 1000, OUR_DOWN, OUR_PAGE_UP, OUR_PAGE_DOWN, OUR_RESIZED };
_Static_assert(OUR_UP == (int)KEY_SCROLL_UP, "the same numbers");

static volatile sig_atomic_t ended;
static bool is_open, has_palette;
static struct termios before;
static char leave[256]; /* what puts the terminal back: written by a handler, so kept ready */

static void on_end(int signal_number)
{
    (void)signal_number;
    ended = 1;
}

/* A fault of ours: nothing of curses may be called, but the terminal must come back. */
static void on_fault(int signal_number)
{
    ssize_t n = write(STDOUT_FILENO, leave, strlen(leave));
    (void)n;
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void catch_signals(void)
{
    static const int ends[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    static const int faults[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    struct sigaction end = {.sa_handler = on_end}; /* no SA_RESTART: a wait ends at once */
    struct sigaction fault = {.sa_handler = on_fault, .sa_flags = SA_RESETHAND};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        sigaction(ends[i], &end, NULL);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigaction(faults[i], &fault, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static void keep_ready(const char *capability)
{
    const char *text = tigetstr(capability);
    if (text && text != (char *)-1 && strlen(leave) + strlen(text) < sizeof leave)
        strcat(leave, text);
}

static void make_palette(void)
{
    static const short colour[STYLES] = {
        [STYLE_PLAIN] = -1,         [STYLE_TITLE] = COLOR_CYAN,   [STYLE_DIM] = -1,
        [STYLE_GOOD] = COLOR_GREEN, [STYLE_WARN] = COLOR_YELLOW,  [STYLE_BAD] = COLOR_RED,
        [STYLE_INPUT] = COLOR_BLUE, [STYLE_MOVE] = COLOR_MAGENTA, [STYLE_END] = COLOR_CYAN,
    };
    const char *no = getenv("NO_COLOR");
    has_palette = has_colors() && !(no && *no) && start_color() == OK;
    if (!has_palette)
        return;
    short ground = use_default_colors() == OK ? -1 : COLOR_BLACK;
    for (short s = 1; s < STYLES; s++)
        init_pair(s, colour[s] < 0 && ground >= 0 ? COLOR_WHITE : colour[s], ground);
}

enum err_code screen_open(struct err *e)
{
    int status;
    setlocale(LC_CTYPE, "");
    if (tcgetattr(STDIN_FILENO, &before) != 0)
        return err_set(e, ERR_UNAVAILABLE,
                       "standard input is no terminal: --once prints to any output");
    if (setupterm(NULL, STDOUT_FILENO, &status) != OK)
        return err_set(e, ERR_UNAVAILABLE,
                       "TERM=%s: this terminal is not known here: --once prints to any output",
                       getenv("TERM") ? getenv("TERM") : "");
    leave[0] = 0;
    keep_ready("sgr0");
    keep_ready("cnorm");
    keep_ready("rmcup");
    if (!newterm(NULL, stdout, stdin))
        return err_set(e, ERR_UNAVAILABLE, "the terminal cannot be taken over");
    is_open = true;
    catch_signals();
    cbreak();
    noecho();
    curs_set(0);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(50);
    make_palette();
    return ERR_OK;
}

void screen_close(void)
{
    if (is_open)
        endwin();
    is_open = false;
}

bool screen_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

void screen_size(int *width, int *height)
{
    getmaxyx(stdscr, *height, *width);
}

static attr_t attributes(enum style s)
{
    attr_t a = has_palette ? (attr_t)COLOR_PAIR(s) : 0;
    if (s == STYLE_TITLE || s == STYLE_BAD)
        a |= A_BOLD;
    if (s == STYLE_DIM)
        a |= A_DIM;
    if (s == STYLE_BAD && !has_palette)
        a |= A_REVERSE;
    return a;
}

void screen_show(const struct canvas *c)
{
    erase();
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++) {
            const struct cell *cell = &c->at[y * c->width + x];
            if (!cell->text[0])
                continue;
            attrset(attributes((enum style)cell->style));
            mvaddstr(y, x, cell->text); /* the last corner reports an error and is drawn */
        }
    attrset(A_NORMAL);
    refresh();
}

static int translate(int key)
{
    switch (key) {
    case ERR:
        return KEY_NONE;
    case KEY_UP:
    case 'k':
        return OUR_UP;
    case KEY_DOWN:
    case 'j':
        return OUR_DOWN;
    case KEY_PPAGE:
        return OUR_PAGE_UP;
    case KEY_NPAGE:
        return OUR_PAGE_DOWN;
    case KEY_RESIZE:
        return OUR_RESIZED;
    default:
        return key;
    }
}

int screen_key(int wait_ms)
{
    int key = getch();
    if (key != ERR)
        return translate(key);
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    int n = poll(&in, 1, wait_ms); /* a signal (a resize, an end) cuts it short */
    if (n > 0 && (in.revents & (POLLHUP | POLLERR | POLLNVAL)) && !(in.revents & POLLIN))
        ended = 1;
    key = getch();
    if (key == ERR && n > 0 && (in.revents & POLLIN)) {
        char byte; /* readable and nothing to read: the terminal is gone */
        if (read(STDIN_FILENO, &byte, 1) == 0)
            ended = 1;
    }
    return translate(key);
}

bool screen_ended(void)
{
    return ended != 0;
}
