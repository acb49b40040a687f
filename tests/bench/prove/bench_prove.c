/* bench_prove: whole proofs as whole processes, from files in the page cache to two verified files.
 *
 *   bench_prove --millrace PROGRAM --work DIR [--peer PROVER] [--runs N] [--from K] [--to K]
 *               [--circuits DIR]
 *
 * Circuits are made once and kept in DIR by `millrace testkit generate`: "wide" has full-size
 * values alone (one entry in a row of A, two in B), "bits" is 2^17 with a witness of zeros and
 * ones. The real circuit sha256_4 is measured where tests/bench/circuits/make has put it into DIR.
 * With --circuits, folders NAME of that directory with NAME.zkey and NAME.wtns (or circuit.*) are
 * measured too. A peer takes rapidsnark's arguments (KEY WITNESS PROOF PUBLIC) and is run in turn
 * with us, so that both see the same machine; BN254 only.
 * Printed: medians of wall time, processor time, peak memory; ratios to the peer and, for
 * BLS12-381, to our BN254. Exit code 1 when a proof fails. */
#include "process.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_RUNS = 25 };

struct settings {
    const char *millrace, *work, *peer, *circuits;
    int runs, from, to;
};

struct circuit_files {
    char key[PATH_MAX + 32], witness[PATH_MAX + 32];
};

struct medians {
    struct measure ours, peer;
    bool has_peer;
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, by_value);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

static struct measure median_of(const struct measure *m, int n)
{
    double wall[MAX_RUNS], cpu[MAX_RUNS], peak[MAX_RUNS];
    for (int i = 0; i < n; i++) {
        wall[i] = m[i].wall_s;
        cpu[i] = m[i].cpu_s;
        peak[i] = m[i].peak_mib;
    }
    return (struct measure){median(wall, n), median(cpu, n), median(peak, n)};
}

static bool run_all(const struct settings *s, const struct circuit_files *f, bool with_peer,
                    struct medians *out)
{
    char proof[PATH_MAX + 32], publics[PATH_MAX + 32];
    snprintf(proof, sizeof proof, "%s/proof.json", s->work);
    snprintf(publics, sizeof publics, "%s/public.json", s->work);
    const char *const ours[] = {s->millrace, "prove", "--local", "--quiet", f->key,
                                f->witness,  proof,   publics,   NULL};
    const char *const peer[] = {s->peer, f->key, f->witness, proof, publics, NULL};
    struct measure our_runs[MAX_RUNS], peer_runs[MAX_RUNS], warm;
    if (!process_measure(ours, &warm)) /* reads the files into the page cache */
        return false;
    for (int i = 0; i < s->runs; i++) {
        if (!process_measure(ours, &our_runs[i]))
            return false;
        if (with_peer && !process_measure(peer, &peer_runs[i]))
            return false;
    }
    out->ours = median_of(our_runs, s->runs);
    out->has_peer = with_peer;
    if (with_peer)
        out->peer = median_of(peer_runs, s->runs);
    unlink(proof);
    unlink(publics);
    return true;
}

/* twin: our times on the same circuit over BN254, NULL when not measured. */
static void print_row(const char *name, const char *curve, const struct medians *m,
                      const struct measure *twin)
{
    printf("%-14s %-9s %9.3f s %9.3f s %8.0f MiB", name, curve, m->ours.wall_s, m->ours.cpu_s,
           m->ours.peak_mib);
    if (m->has_peer)
        printf(" | peer %8.3f s %8.3f s %8.0f MiB: time %.2fx, processor %.2fx, memory %.2fx",
               m->peer.wall_s, m->peer.cpu_s, m->peer.peak_mib, m->ours.wall_s / m->peer.wall_s,
               m->ours.cpu_s / m->peer.cpu_s, m->ours.peak_mib / m->peer.peak_mib);
    if (twin)
        printf(" | of bn254: time %.2fx, processor %.2fx", m->ours.wall_s / twin->wall_s,
               m->ours.cpu_s / twin->cpu_s);
    putchar('\n');
    fflush(stdout);
}

static bool exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

static void files_of(const struct settings *s, const char *name, const char *curve,
                     struct circuit_files *f)
{
    snprintf(f->key, sizeof f->key, "%s/%s-%s/circuit.zkey", s->work, name, curve);
    snprintf(f->witness, sizeof f->witness, "%s/%s-%s/circuit.wtns", s->work, name, curve);
}

/* Makes the circuit unless it is there. */
static bool generated(const struct settings *s, const char *name, const char *curve, int log2,
                      const char *density, const char *ones, const struct circuit_files *f)
{
    char dir[PATH_MAX], size[16];
    if (exists(f->key))
        return true;
    snprintf(dir, sizeof dir, "%s/%s-%s", s->work, name, curve);
    snprintf(size, sizeof size, "%d", log2);
    const char *const argv[] = {s->millrace, "testkit", "generate",  "--quiet", "--curve", curve,
                                "--log2",    size,      "--density", density,   "--ones",  ones,
                                "--no-r1cs", "--out",   dir,         NULL};
    struct measure m;
    bool made = process_measure(argv, &m);
    if (made)
        fprintf(stderr, "made %s over %s in %.1f s, %.0f MiB\n", name, curve, m.wall_s, m.peak_mib);
    return made;
}

/* log2 = 0: files that are there. */
static bool bench_pair(const struct settings *s, const char *name, int log2, const char *density,
                       const char *ones)
{
    static const char *const curves[] = {"bn254", "bls12-381"};
    struct measure first;
    for (int i = 0; i < 2; i++) {
        struct circuit_files f;
        struct medians m;
        files_of(s, name, curves[i], &f);
        if ((log2 && !generated(s, name, curves[i], log2, density, ones, &f)) ||
            !run_all(s, &f, s->peer && i == 0, &m)) {
            fprintf(stderr, "%s over %s failed\n", name, curves[i]);
            return false;
        }
        print_row(name, curves[i], &m, i ? &first : NULL);
        first = m.ours;
    }
    return true;
}

/* DIR/NAME with NAME.zkey or circuit.zkey. */
static bool bench_folder(const struct settings *s, const char *name)
{
    struct circuit_files f;
    struct medians m;
    snprintf(f.key, sizeof f.key, "%s/%s/%s.zkey", s->circuits, name, name);
    snprintf(f.witness, sizeof f.witness, "%s/%s/%s.wtns", s->circuits, name, name);
    if (!exists(f.key)) {
        snprintf(f.key, sizeof f.key, "%s/%s/circuit.zkey", s->circuits, name);
        snprintf(f.witness, sizeof f.witness, "%s/%s/circuit.wtns", s->circuits, name);
    }
    if (!exists(f.key) || !exists(f.witness))
        return true; /* not a circuit's folder */
    if (!run_all(s, &f, s->peer != NULL, &m)) {
        fprintf(stderr, "%s failed\n", f.key);
        return false;
    }
    print_row(name, "", &m, NULL);
    return true;
}

static bool bench_folders(const struct settings *s)
{
    struct dirent **entries;
    int n = scandir(s->circuits, &entries, NULL, alphasort);
    if (n < 0) {
        fprintf(stderr, "%s: %s\n", s->circuits, strerror(errno));
        return false;
    }
    bool ok = true;
    for (int i = 0; i < n; i++) {
        if (entries[i]->d_name[0] != '.')
            ok = bench_folder(s, entries[i]->d_name) && ok;
        free(entries[i]);
    }
    free(entries);
    return ok;
}

static bool parse(struct settings *s, int argc, char **argv)
{
    *s = (struct settings){.runs = 5, .from = 12, .to = 16};
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        if (!strcmp(name, "--millrace"))
            s->millrace = value;
        else if (!strcmp(name, "--work"))
            s->work = value;
        else if (!strcmp(name, "--peer"))
            s->peer = value;
        else if (!strcmp(name, "--circuits"))
            s->circuits = value;
        else if (!strcmp(name, "--runs"))
            s->runs = atoi(value);
        else if (!strcmp(name, "--from"))
            s->from = atoi(value);
        else if (!strcmp(name, "--to"))
            s->to = atoi(value);
        else
            return false;
    }
    return argc % 2 == 1 && s->millrace && s->work && s->runs >= 1 && s->runs <= MAX_RUNS;
}

int main(int argc, char **argv)
{
    struct settings s;
    if (!parse(&s, argc, argv)) {
        fprintf(stderr,
                "usage: bench_prove --millrace PROGRAM --work DIR [--peer PROVER] [--runs N] "
                "[--from K] [--to K] [--circuits DIR]\n");
        return 2;
    }
    if (mkdir(s.work, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "%s: %s\n", s.work, strerror(errno));
        return 2;
    }
    printf("median of %d whole processes: wall, processor, peak memory\n", s.runs);
    bool ok = true;
    for (int k = s.from; k <= s.to; k += 2) {
        char name[16];
        snprintf(name, sizeof name, "wide_%d", k);
        ok = bench_pair(&s, name, k, "1.5", "0") && ok;
    }
    if (s.from <= 17 && s.to >= 17)
        ok = bench_pair(&s, "bits_17", 17, "2", "98%") && ok;
    struct circuit_files real;
    files_of(&s, "sha256_4", "bls12-381",
             &real); /* the last that tests/bench/circuits/make makes */
    if (exists(real.key))
        ok = bench_pair(&s, "sha256_4", 0, NULL, NULL) && ok;
    if (s.circuits)
        ok = bench_folders(&s) && ok;
    return ok ? 0 : 1;
}
