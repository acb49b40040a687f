/* Known answers for tests/unit/math from blst, a second source for BLS12-381 written in C and
 * assembly. Compiled against blst's own sources and nothing of ours (tests/unit/math/blst.sh).
 *
 *   blst_vectors SEED      lines as in vectors.txt (see curve_vectors.mjs), the same for one SEED
 *
 * tests/unit/math/vectors_blst.txt is what SEED 1 gives. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "blst.h"

static uint64_t state;

/* splitmix64 (S. Vigna). */
static uint64_t next(void)
{
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void random_bytes(byte *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (byte)next();
}

static blst_scalar random_scalar(void)
{
    byte bytes[64];
    blst_scalar k;
    random_bytes(bytes, sizeof bytes);
    blst_scalar_from_le_bytes(&k, bytes, sizeof bytes);
    return k;
}

static blst_fp random_fp(void)
{
    byte bytes[48];
    blst_fp x;
    random_bytes(bytes, sizeof bytes);
    bytes[47] &= 0x0f;
    blst_fp_from_lendian(&x, bytes);
    return x;
}

static blst_fp2 random_fp2(void)
{
    blst_fp2 x = {{random_fp(), random_fp()}};
    return x;
}

static blst_fp12 random_fp12(void)
{
    blst_fp12 x;
    for (int i = 0; i < 6; i++)
        x.fp6[i / 3].fp2[i % 3] = random_fp2();
    return x;
}

static void kind(const char *name)
{
    printf("bls12-381 %s", name);
}
static void end(void)
{
    putchar('\n');
}
static void put_bytes(const byte *big_endian, size_t n)
{
    putchar(' ');
    for (size_t i = 0; i < n; i++)
        printf("%02x", big_endian[i]);
}
static void put_bool(bool x)
{
    printf(" %d", x);
}
static void put_scalar(const blst_scalar *k)
{
    byte bytes[32];
    blst_bendian_from_scalar(bytes, k);
    put_bytes(bytes, sizeof bytes);
}
static void put_fr(const blst_fr *x)
{
    blst_scalar k;
    blst_scalar_from_fr(&k, x);
    put_scalar(&k);
}
static void put_fp(const blst_fp *x)
{
    byte bytes[48];
    blst_bendian_from_fp(bytes, x);
    put_bytes(bytes, sizeof bytes);
}
static void put_fp2(const blst_fp2 *x)
{
    put_fp(&x->fp[0]);
    put_fp(&x->fp[1]);
}
static void put_fp12(const blst_fp12 *x)
{
    for (int i = 0; i < 6; i++)
        put_fp2(&x->fp6[i / 3].fp2[i % 3]);
}
/* Infinity as zeros, which is blst's affine form too. */
static void put_p1(const blst_p1 *p)
{
    blst_p1_affine a;
    blst_p1_to_affine(&a, p);
    put_fp(&a.x);
    put_fp(&a.y);
}
static void put_p2(const blst_p2 *p)
{
    blst_p2_affine a;
    blst_p2_to_affine(&a, p);
    put_fp2(&a.x);
    put_fp2(&a.y);
}

static blst_p1 times1(const blst_p1 *p, const blst_scalar *k)
{
    blst_p1 r;
    blst_p1_mult(&r, p, k->b, 256);
    return r;
}
static blst_p2 times2(const blst_p2 *p, const blst_scalar *k)
{
    blst_p2 r;
    blst_p2_mult(&r, p, k->b, 256);
    return r;
}
static blst_p1 random_p1(void)
{
    blst_scalar k = random_scalar();
    return times1(blst_p1_generator(), &k);
}
static blst_p2 random_p2(void)
{
    blst_scalar k = random_scalar();
    return times2(blst_p2_generator(), &k);
}

/* A point of the whole curve: the first x from a random one on that has a y. */
static blst_p1 any_p1(void)
{
    blst_p1_affine a;
    blst_p1 p;
    blst_fp one, four, t;
    uint64_t limbs[6] = {1};
    blst_fp_from_uint64(&one, limbs);
    limbs[0] = 4;
    blst_fp_from_uint64(&four, limbs);
    a.x = random_fp();
    do {
        blst_fp_add(&a.x, &a.x, &one);
        blst_fp_sqr(&t, &a.x);
        blst_fp_mul(&t, &t, &a.x);
        blst_fp_add(&t, &t, &four);
    } while (!blst_fp_sqrt(&a.y, &t));
    blst_p1_from_affine(&p, &a);
    return p;
}
static blst_p2 any_p2(void)
{
    blst_p2_affine a;
    blst_p2 p;
    blst_fp2 one, four, t;
    uint64_t limbs[6] = {1};
    memset(&one, 0, sizeof one);
    blst_fp_from_uint64(&one.fp[0], limbs);
    limbs[0] = 4;
    blst_fp_from_uint64(&four.fp[0], limbs);
    four.fp[1] = four.fp[0];
    a.x = random_fp2();
    do {
        blst_fp2_add(&a.x, &a.x, &one);
        blst_fp2_sqr(&t, &a.x);
        blst_fp2_mul(&t, &t, &a.x);
        blst_fp2_add(&t, &t, &four);
    } while (!blst_fp2_sqrt(&a.y, &t));
    blst_p2_from_affine(&p, &a);
    return p;
}

static void fields(void)
{
    blst_scalar k = random_scalar(), l = random_scalar();
    blst_fr a, b, c;
    blst_fr_from_scalar(&a, &k);
    blst_fr_from_scalar(&b, &l);
    blst_fr_mul(&c, &a, &b);
    kind("fr_mul"), put_fr(&a), put_fr(&b), put_fr(&c), end();
    blst_fr_inverse(&c, &a);
    kind("fr_inv"), put_fr(&a), put_fr(&c), end();

    blst_fp x = random_fp(), y = random_fp(), z;
    blst_fp_mul(&z, &x, &y);
    kind("fq_mul"), put_fp(&x), put_fp(&y), put_fp(&z), end();
    blst_fp_inverse(&z, &x);
    kind("fq_inv"), put_fp(&x), put_fp(&z), end();

    blst_fp2 u = random_fp2(), v = random_fp2(), w;
    blst_fp2_mul(&w, &u, &v);
    kind("fq2_mul"), put_fp2(&u), put_fp2(&v), put_fp2(&w), end();
    blst_fp2_inverse(&w, &u);
    kind("fq2_inv"), put_fp2(&u), put_fp2(&w), end();

    blst_fp12 s = random_fp12(), t = random_fp12(), r;
    blst_fp12_mul(&r, &s, &t);
    kind("fq12_mul"), put_fp12(&s), put_fp12(&t), put_fp12(&r), end();
    blst_fp12_sqr(&r, &s);
    kind("fq12_sqr"), put_fp12(&s), put_fp12(&r), end();
    blst_fp12_inverse(&r, &s);
    kind("fq12_inv"), put_fp12(&s), put_fp12(&r), end();
    blst_fp12_frobenius_map(&r, &s, 1);
    kind("fq12_frobenius"), put_fp12(&s), put_fp12(&r), end();
    blst_fp12_frobenius_map(&r, &s, 2);
    kind("fq12_frobenius2"), put_fp12(&s), put_fp12(&r), end();
    blst_final_exp(&t, &s); /* into the subgroup where the special square holds */
    blst_fp12_cyclotomic_sqr(&r, &t);
    kind("fq12_cyclotomic_sqr"), put_fp12(&t), put_fp12(&r), end();
}

static void add1(const blst_p1 *p, const blst_p1 *q)
{
    blst_p1 sum;
    blst_p1_add_or_double(&sum, p, q);
    kind("g1_add"), put_p1(p), put_p1(q), put_p1(&sum), end();
}
static void add2(const blst_p2 *p, const blst_p2 *q)
{
    blst_p2 sum;
    blst_p2_add_or_double(&sum, p, q);
    kind("g2_add"), put_p2(p), put_p2(q), put_p2(&sum), end();
}

static void mul(const blst_scalar *k)
{
    blst_p1 p = times1(blst_p1_generator(), k);
    kind("g1_mul"), put_scalar(k), put_p1(&p), end();
    blst_p2 q = times2(blst_p2_generator(), k);
    kind("g2_mul"), put_scalar(k), put_p2(&q), end();
}

static void groups(void)
{
    blst_scalar k = random_scalar();
    mul(&k);
    blst_p1 p = random_p1(), q = random_p1();
    add1(&p, &q);
    blst_p2 p2 = random_p2(), q2 = random_p2();
    add2(&p2, &q2);

    byte bytes[96];
    blst_p1_compress(bytes, &p);
    kind("g1_larger"), put_p1(&p), put_bool(bytes[0] & 0x20), end();
    blst_p2_compress(bytes, &p2);
    kind("g2_larger"), put_p2(&p2), put_bool(bytes[0] & 0x20), end();

    p = any_p1();
    kind("g1_subgroup"), put_p1(&p), put_bool(blst_p1_in_g1(&p)), end();
    p2 = any_p2();
    kind("g2_subgroup"), put_p2(&p2), put_bool(blst_p2_in_g2(&p2)), end();
    kind("g1_subgroup"), put_p1(&q), put_bool(blst_p1_in_g1(&q)), end();
    kind("g2_subgroup"), put_p2(&q2), put_bool(blst_p2_in_g2(&q2)), end();
}

static void edges(void)
{
    blst_p1 p = random_p1(), minus = p, none;
    memset(&none, 0, sizeof none);
    blst_p1_cneg(&minus, true);
    add1(&p, &p), add1(&p, &minus), add1(&p, &none), add1(&none, &p), add1(&none, &none);
    blst_p2 p2 = random_p2(), minus2 = p2, none2;
    memset(&none2, 0, sizeof none2);
    blst_p2_cneg(&minus2, true);
    add2(&p2, &p2), add2(&p2, &minus2), add2(&p2, &none2), add2(&none2, &p2), add2(&none2, &none2);
    for (uint64_t i = 0; i < 4; i++) {
        uint64_t limbs[4] = {i};
        blst_scalar k;
        blst_scalar_from_uint64(&k, limbs);
        mul(&k);
    }
}

/* n scalars, n points, their sum. */
static void msm(size_t n)
{
    enum { MOST = 8 };
    blst_p1 p1, sum1;
    blst_p2 p2, sum2;
    blst_p1_affine a1[MOST];
    blst_p2_affine a2[MOST];
    blst_scalar k[MOST] = {0};
    for (size_t i = 0; i < n; i++) {
        p1 = random_p1();
        blst_p1_to_affine(&a1[i], &p1);
        p2 = random_p2();
        blst_p2_to_affine(&a2[i], &p2);
        k[i] = random_scalar();
    }
    const blst_p1_affine *points1[] = {a1, NULL}; /* NULL: the rest follow */
    const blst_p2_affine *points2[] = {a2, NULL};
    const byte *scalars[] = {k[0].b, NULL};
    limb_t *scratch = malloc(blst_p2s_mult_pippenger_scratch_sizeof(n));
    if (scratch == NULL)
        exit(1);
    blst_p1s_mult_pippenger(&sum1, points1, n, scalars, 256, scratch);
    blst_p2s_mult_pippenger(&sum2, points2, n, scalars, 256, scratch);
    free(scratch);
    kind("g1_msm");
    for (size_t i = 0; i < n; i++)
        put_scalar(&k[i]);
    for (size_t i = 0; i < n; i++)
        put_fp(&a1[i].x), put_fp(&a1[i].y);
    put_p1(&sum1), end();
    kind("g2_msm");
    for (size_t i = 0; i < n; i++)
        put_scalar(&k[i]);
    for (size_t i = 0; i < n; i++)
        put_fp2(&a2[i].x), put_fp2(&a2[i].y);
    put_p2(&sum2), end();
}

static void pairing(void)
{
    blst_p1 p = random_p1();
    blst_p2 q = random_p2();
    blst_p1_affine pa;
    blst_p2_affine qa;
    blst_fp12 f;
    blst_p1_to_affine(&pa, &p);
    blst_p2_to_affine(&qa, &q);
    blst_miller_loop(&f, &qa, &pa);
    blst_final_exp(&f, &f);
    kind("pairing"), put_p1(&p), put_p2(&q), put_fp12(&f), end();
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: blst_vectors SEED\n");
        return 2;
    }
    state = strtoull(argv[1], NULL, 0);
    for (int i = 0; i < 4; i++) {
        fields();
        groups();
        pairing();
    }
    edges();
    for (size_t n = 1; n <= 7; n += 3)
        msm(n);
    return fflush(stdout) == 0 ? 0 : 1;
}
