/* replay KIND FIXTURES PATH...: gives a fuzz target every file of the paths (files, or directories
 * of files, which need not exist) and, of its kind, every malformed file and the fixtures these
 * are made from, whole and cut short at 64 places. Built in every build, with every sanitizer. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "cases.h"
#include "harness.h"

static unsigned fed;

/* A copy of exactly n bytes, so that a sanitizer sees any read behind them. */
static void feed(const unsigned char *data, size_t n)
{
    unsigned char *copy = malloc(n ? n : 1);
    memcpy(copy, data, n);
    LLVMFuzzerTestOneInput(copy, n);
    free(copy);
    fed++;
}

static void feed_file(const char *path)
{
    struct bytes b = bytes_read(path);
    feed(b.p, b.n);
    free(b.p);
}

static void feed_path(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return;
    DIR *d = S_ISDIR(st.st_mode) ? opendir(path) : NULL;
    if (!d) {
        feed_file(path);
        return;
    }
    for (struct dirent *entry; (entry = readdir(d));) {
        char file[1024];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        feed_file(file);
    }
    closedir(d);
}

static void change_nothing(struct bytes *b)
{
    (void)b;
}

static void feed_malformed(const char *kind, const char *fixtures)
{
    const char *base = "";
    for (size_t i = 0; malformed_case(i); i++) {
        struct malformed m = *malformed_case(i);
        if (strcmp(malformed_kind(&m), kind) != 0)
            continue;
        struct bytes b = malformed_make(&m, fixtures);
        feed(b.p, b.n);
        free(b.p);
        if (!strcmp(base, m.base) || strstr(m.base, "wide"))
            continue;
        base = m.base;
        m.change = change_nothing;
        b = malformed_make(&m, fixtures);
        for (size_t k = 0; k <= 64; k++)
            feed(b.p, b.n * k / 64);
        free(b.p);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s KIND FIXTURES PATH...\n", argv[0]);
        return ERR_USAGE;
    }
    feed_malformed(argv[1], argv[2]);
    for (int i = 3; i < argc; i++)
        feed_path(argv[i]);
    printf("%u inputs\n", fed);
    return fed ? 0 : ERR_FAILED;
}
