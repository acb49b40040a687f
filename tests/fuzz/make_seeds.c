/* make_seeds KIND FIXTURES DIR: the seed corpus of a fuzz target: the small fixtures of its kind on
 * both curves (of bellperson's kinds the smallest vector), and every malformed file made from a
 * small one. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cases.h"

enum { MAX_SEED_BYTES = 1 << 16 };

static void save(const char *dir, const char *name, const struct bytes *b)
{
    char path[1024];
    if (b->n > MAX_SEED_BYTES)
        return;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    bytes_write(path, b);
}

static void change_nothing(struct bytes *b)
{
    (void)b;
}

/* bellperson's kinds of file, by what they end in. */
static const char *const bellperson[][2] = {{"params", "filecoin/tiny/tiny.params"},
                                            {"vk_bytes", "filecoin/tiny/tiny.vk"},
                                            {"proof_bytes", "filecoin/tiny/tiny.proof"},
                                            {"fr1c", "filecoin/tiny/tiny.fr1c"},
                                            {"pce", "filecoin/tiny/tiny.pce"}};

static bool save_vector(const char *kind, const char *fixtures, const char *dir)
{
    for (size_t i = 0; i < sizeof bellperson / sizeof *bellperson; i++) {
        if (strcmp(bellperson[i][0], kind) != 0)
            continue;
        struct malformed same = {"tiny", bellperson[i][1], change_nothing, ERR_OK, ""};
        struct bytes b = malformed_make(&same, fixtures);
        save(dir, "tiny", &b);
        free(b.p);
        return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    static const char *const curves[] = {"bn128", "bls12381"};
    static const char *const circuits[] = {"mul", "edge_linear", "edge_full", "edge_nopub"};
    if (argc != 4) {
        fprintf(stderr, "usage: make_seeds KIND FIXTURES DIR\n");
        return ERR_USAGE;
    }
    const char *kind = argv[1];
    const struct malformed *m;
    for (size_t i = 0; (m = malformed_case(i)); i++) {
        if (strcmp(malformed_kind(m), kind) != 0)
            continue;
        struct bytes b = malformed_make(m, argv[2]);
        save(argv[3], m->name, &b);
        free(b.p);
    }
    if (save_vector(kind, argv[2], argv[3]))
        return 0;
    bool binary = strcmp(kind, "vk") && strcmp(kind, "proof") && strcmp(kind, "public");
    for (size_t k = 0; k < 8; k++) {
        char base[256], name[64], path[1024];
        snprintf(base, sizeof base, binary ? "%s/%s/%s.%s" : "%s/%s/%s%s.json", curves[k / 4],
                 circuits[k % 4], binary ? circuits[k % 4] : "", kind);
        snprintf(path, sizeof path, "%s/%s", argv[2], base);
        snprintf(name, sizeof name, "%s-%s", curves[k / 4], circuits[k % 4]);
        if (strcmp(kind, "prepared") && access(path, R_OK) != 0)
            continue; /* kinds without fixtures of their own, as configurations */
        struct malformed same = {name, base, change_nothing, ERR_OK, ""};
        struct bytes b = malformed_make(&same, argv[2]);
        save(argv[3], name, &b);
        free(b.p);
    }
    return 0;
}
