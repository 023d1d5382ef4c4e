/* The kernel of math/affine.h for AVX-512 IFMA: eight pairs at a time.

   A coordinate is x·2^416 mod p, worked on as 8 limbs of 52 bits (math/ifma.h) and stored as 6
   words. 416 bits leave 35 to spare above p, so a product of anything below 2^30·p is below p +
   p/2^5 without a final subtraction, and sums need none before a product. Only what is stored is
   made canonical. The form in memory is that of affine_avx2.c. */
#include "math/ifma.h"

#include "math/affine.h"

#if defined(MATH_HAVE_IFMA)

#include <string.h>

#define G(name) g1_##name
#define FIELD blst_fp
#define FIELD_OP(name) blst_fp_##name
#include "math/affine_case_impl.h"

enum { LIMBS = 8, LANES = IFMA_LANES, WORDS = 6 };

/* p, 2p */
static const int64_t modulus[LIMBS] = {
    0xeffffffffaaab, 0xfeb153ffffb9f, 0x6b0f6241eabff, 0x12bf6730d2a0f,
    0x764774b84f385, 0x1ba7b6434bacd, 0x1ea397fe69a4b, 0x000000001a011,
};
static const int64_t modulus_2[LIMBS] = {
    0xdffffffff5556, 0xfd62a7ffff73f, 0xd61ec483d57ff, 0x257ece61a541e,
    0xec8ee9709e70a, 0x374f6c869759a, 0x3d472ffcd3496, 0x0000000034022,
};
/* -1/p modulo 2^52 */
static const int64_t minus_inverse = 0x3fffcfffcfffd;
/* 2^416 mod p: the form of 1 */
static const int64_t one[LIMBS] = {
    0x6480ea8e9b9af, 0x65766c8fe444f, 0x8b540fea96f7d, 0x3b2ee82efd422,
    0xa6723e5f0ade5, 0xff6eb6fdd4230, 0xe06ef23c24a25, 0x0000000014c8e,
};
/* 2^832 mod p: a product with it brings an integer into the form */
static const int64_t to_form[LIMBS] = {
    0xa5bf4cb89af51, 0x3afbba7ca31a2, 0x2646160ec71f1, 0xa84d710465903,
    0x3480a4a188311, 0x98e5907ad91f5, 0x2075d74507266, 0x0000000008746,
};

/* Eight numbers; limbs below 2^52 where they are multiplied. */
struct fp8 {
    __m512i limb[LIMBS];
};

/* out = a·b/2^416 mod p, below p + a·b/2^416. */
static __attribute__((noinline)) void multiply(struct fp8 *out, const struct fp8 *a,
                                               const struct fp8 *b)
{
    ifma_montgomery(out->limb, a->limb, b->limb, modulus, minus_inverse, LIMBS);
}

static __attribute__((noinline)) void square(struct fp8 *out, const struct fp8 *a)
{
    ifma_square(out->limb, a->limb, modulus, minus_inverse, LIMBS);
}

static void set_all(struct fp8 *out, const int64_t limbs[LIMBS])
{
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        out->limb[i] = ifma_set(limbs[i]);
}

/* --- Words and limbs -------------------------------------------------------------------------- */

static void unpack(struct fp8 *out, const __m512i w[WORDS])
{
    const __m512i mask = ifma_set(IFMA_LIMB_MASK);
    __m512i *l = out->limb;
    l[0] = w[0];
    l[1] = _mm512_or_si512(_mm512_srli_epi64(w[0], 52), _mm512_slli_epi64(w[1], 12));
    l[2] = _mm512_or_si512(_mm512_srli_epi64(w[1], 40), _mm512_slli_epi64(w[2], 24));
    l[3] = _mm512_or_si512(_mm512_srli_epi64(w[2], 28), _mm512_slli_epi64(w[3], 36));
    l[4] = _mm512_or_si512(_mm512_srli_epi64(w[3], 16), _mm512_slli_epi64(w[4], 48));
    l[5] = _mm512_srli_epi64(w[4], 4);
    l[6] = _mm512_or_si512(_mm512_srli_epi64(w[4], 56), _mm512_slli_epi64(w[5], 8));
    l[7] = _mm512_srli_epi64(w[5], 44);
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS - 1; i++)
        l[i] = _mm512_and_si512(l[i], mask);
}

static void pack(__m512i w[WORDS], const struct fp8 *a)
{
    const __m512i *l = a->limb;
    w[0] = _mm512_or_si512(l[0], _mm512_slli_epi64(l[1], 52));
    w[1] = _mm512_or_si512(_mm512_srli_epi64(l[1], 12), _mm512_slli_epi64(l[2], 40));
    w[2] = _mm512_or_si512(_mm512_srli_epi64(l[2], 24), _mm512_slli_epi64(l[3], 28));
    w[3] = _mm512_or_si512(_mm512_srli_epi64(l[3], 36), _mm512_slli_epi64(l[4], 16));
    w[4] = _mm512_or_si512(_mm512_srli_epi64(l[4], 48), _mm512_slli_epi64(l[5], 4));
    w[4] = _mm512_or_si512(w[4], _mm512_slli_epi64(l[6], 56));
    w[5] = _mm512_or_si512(_mm512_srli_epi64(l[6], 8), _mm512_slli_epi64(l[7], 44));
}

enum { WORDS_MASK = (1 << WORDS) - 1 };

/* Eight numbers from eight places. */
static void load_from(struct fp8 *out, const blst_fp *const from[LANES])
{
    __m512i row[LANES];
    IFMA_UNROLL
    for (unsigned i = 0; i < LANES; i++)
        row[i] = _mm512_maskz_loadu_epi64(WORDS_MASK, from[i]);
    ifma_transpose(row);
    unpack(out, row);
}

/* a is canonical. */
static void store_to(blst_fp *const to[LANES], const struct fp8 *a)
{
    __m512i row[LANES];
    pack(row, a);
    row[6] = _mm512_setzero_si512();
    row[7] = _mm512_setzero_si512();
    ifma_transpose(row);
    IFMA_UNROLL
    for (unsigned i = 0; i < LANES; i++)
        _mm512_mask_storeu_epi64(to[i], WORDS_MASK, row[i]);
}

/* --- Sums ------------------------------------------------------------------------------------- */

/* a - b + m, normal, where the multiple m of p keeps it positive. */
static void subtract(struct fp8 *out, const struct fp8 *a, const struct fp8 *b,
                     const int64_t m[LIMBS])
{
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        out->limb[i] = _mm512_add_epi64(_mm512_sub_epi64(a->limb[i], b->limb[i]), ifma_set(m[i]));
    ifma_carry(out->limb, LIMBS);
}

/* Canonical, from below 4p. */
static void reduce(struct fp8 *a)
{
    ifma_subtract_if(a->limb, modulus_2, LIMBS);
    ifma_subtract_if(a->limb, modulus, LIMBS);
}

static void blend(struct fp8 *a, const struct fp8 *b, __mmask8 lanes)
{
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        a->limb[i] = _mm512_mask_mov_epi64(a->limb[i], lanes, b->limb[i]);
}

/* --- Pairs ------------------------------------------------------------------------------------ */

/* Eight pairs at work. */
struct group {
    const struct g1_pair *pairs;
    struct fp8 x_a, x_b;
    struct fp8 d; /* to be inverted */
    bool rare;    /* some lane does not take the plain formula: kind tells */
    enum pair_case kind[LANES];
    __mmask8 doubles, others; /* lanes of kind PAIR_DOUBLE, and of the remaining rare ones */
};

static void load(struct fp8 *out, const struct group *group, bool of_b, bool y)
{
    const blst_fp *from[LANES];
    IFMA_UNROLL
    for (unsigned i = 0; i < LANES; i++) {
        const struct g1_affine *point = of_b ? group->pairs[i].b : group->pairs[i].a;
        from[i] = y ? &point->p.y : &point->p.x;
    }
    load_from(out, from);
}

static __mmask8 zero_lanes(const struct fp8 *a)
{
    __m512i any = a->limb[0];
    IFMA_UNROLL
    for (unsigned i = 1; i < LIMBS; i++)
        any = _mm512_or_si512(any, a->limb[i]);
    return _mm512_testn_epi64_mask(any, any);
}

static __mmask8 equal_lanes(const struct fp8 *a, const struct fp8 *b)
{
    __m512i any = _mm512_xor_si512(a->limb[0], b->limb[0]);
    IFMA_UNROLL
    for (unsigned i = 1; i < LIMBS; i++)
        any = _mm512_or_si512(any, _mm512_xor_si512(a->limb[i], b->limb[i]));
    return _mm512_testn_epi64_mask(any, any);
}

/* Sorts out the lanes with equal x or infinite operands, and gives them a d that has an inverse. */
static __attribute__((noinline)) void treat_rare(struct group *group)
{
    unsigned doubles = 0;
    unsigned others = 0;
    for (unsigned i = 0; i < LANES; i++) {
        group->kind[i] = classify_rare(&group->pairs[i]);
        if (group->kind[i] == PAIR_DOUBLE)
            doubles |= 1u << i;
        else if (group->kind[i] != PAIR_PLAIN)
            others |= 1u << i;
    }
    group->doubles = (__mmask8)doubles;
    group->others = (__mmask8)others;
    struct fp8 y;
    struct fp8 unit;
    load(&y, group, false, true);
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        y.limb[i] = _mm512_add_epi64(y.limb[i], y.limb[i]);
    ifma_carry(y.limb, LIMBS);
    set_all(&unit, one);
    blend(&group->d, &y, group->doubles);
    blend(&group->d, &unit, group->others);
}

static void load_group(struct group *group, const struct g1_pair *pairs)
{
    group->pairs = pairs;
    load(&group->x_a, group, false, false);
    load(&group->x_b, group, true, false);
    subtract(&group->d, &group->x_b, &group->x_a, modulus);
    group->rare = (equal_lanes(&group->x_a, &group->x_b) | zero_lanes(&group->x_a) |
                   zero_lanes(&group->x_b)) != 0;
    if (group->rare)
        treat_rare(group);
}

/* ±y_b - y_a, or 3·x_a² where the point is doubled. */
static void numerator(struct fp8 *out, const struct group *group, const struct fp8 *y_a)
{
    unsigned negated = 0;
    IFMA_UNROLL
    for (unsigned i = 0; i < LANES; i++)
        negated |= (unsigned)group->pairs[i].negate_b << i;
    struct fp8 y;
    load(&y, group, true, true);
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        y.limb[i] =
            _mm512_mask_sub_epi64(y.limb[i], (__mmask8)negated, _mm512_setzero_si512(), y.limb[i]);
    subtract(out, &y, y_a, modulus_2);
    if (group->rare) {
        struct fp8 x;
        square(&x, &group->x_a);
        IFMA_UNROLL
        for (unsigned i = 0; i < LIMBS; i++)
            x.limb[i] = _mm512_add_epi64(x.limb[i], _mm512_add_epi64(x.limb[i], x.limb[i]));
        ifma_carry(x.limb, LIMBS);
        blend(out, &x, group->doubles);
    }
}

/* Results of the lanes that are no additions of two different finite points; a and b are copies of
   their operands, as out may be one of them. */
static void store_rare(const struct group *group, const struct g1_affine *a,
                       const struct g1_affine *b)
{
    for (unsigned i = 0; i < LANES; i++) {
        struct g1_affine *out = group->pairs[i].out;
        if (group->kind[i] == PAIR_A) {
            *out = a[i];
        } else if (group->kind[i] == PAIR_B) {
            *out = b[i];
            blst_fp_cneg(&out->p.y, &out->p.y, group->pairs[i].negate_b);
        } else if (group->kind[i] == PAIR_INFINITY) {
            memset(out, 0, sizeof *out);
        }
    }
}

/* Given 1/d. */
static void add_group(const struct group *group, const struct fp8 *inverse)
{
    struct g1_affine a[LANES];
    struct g1_affine b[LANES];
    for (unsigned i = 0; group->rare && i < LANES; i++) {
        a[i] = *group->pairs[i].a;
        b[i] = *group->pairs[i].b;
    }
    struct fp8 y_a;
    struct fp8 slope;
    load(&y_a, group, false, true);
    numerator(&slope, group, &y_a);
    multiply(&slope, &slope, inverse);

    struct fp8 x;
    square(&x, &slope);
    IFMA_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        x.limb[i] = _mm512_sub_epi64(x.limb[i], group->x_b.limb[i]);
    subtract(&x, &x, &group->x_a, modulus_2);
    reduce(&x);

    struct fp8 y;
    subtract(&y, &group->x_a, &x, modulus);
    multiply(&y, &slope, &y);
    subtract(&y, &y, &y_a, modulus);
    reduce(&y);

    blst_fp *to_x[LANES];
    blst_fp *to_y[LANES];
    IFMA_UNROLL
    for (unsigned i = 0; i < LANES; i++) {
        to_x[i] = &group->pairs[i].out->p.x;
        to_y[i] = &group->pairs[i].out->p.y;
    }
    store_to(to_x, &x);
    store_to(to_y, &y);
    if (group->rare)
        store_rare(group, a, b);
}

/* 1/a in every lane, with one inversion. */
static void invert(struct fp8 *a)
{
    /* 2^64 in blst's form: read there, a lane is x·2^32, whose inverse lacks that factor twice. */
    static const blst_fp factor = {{0x42b7fde37dba9366, 0x7784894e27525bc3, 0xb2b91b9dc1f5b1e9,
                                    0x206f497dfcafb872, 0x594137cc89a9b0bb, 0x0411cd9d20d7e399}};
    blst_fp lane[LANES];
    blst_fp before[LANES]; /* product of the lanes before */
    blst_fp *lanes[LANES];
    const blst_fp *const_lanes[LANES];
    for (unsigned i = 0; i < LANES; i++) {
        lanes[i] = &lane[i];
        const_lanes[i] = &lane[i];
    }
    reduce(a);
    store_to(lanes, a);
    blst_fp product = lane[0];
    for (unsigned i = 1; i < LANES; i++) {
        before[i] = product;
        blst_fp_mul(&product, &product, &lane[i]);
    }
    blst_fp_eucl_inverse(&product, &product);
    for (unsigned i = LANES; i-- > 1;) {
        blst_fp own;
        blst_fp_mul(&own, &product, &before[i]);
        blst_fp_mul(&product, &product, &lane[i]);
        blst_fp_mul(&lane[i], &own, &factor);
    }
    blst_fp_mul(&lane[0], &product, &factor);
    load_from(a, const_lanes);
}

/* The pairs of group number i; a last, incomplete one is filled up with copies of `filler`. */
static const struct g1_pair *group_pairs(const struct g1_pair *pairs, size_t n, size_t i,
                                         struct g1_pair last[LANES], const struct g1_pair *filler)
{
    if ((i + 1) * LANES <= n)
        return &pairs[i * LANES];
    for (size_t j = 0; j < LANES; j++)
        last[j] = i * LANES + j < n ? pairs[i * LANES + j] : *filler;
    return last;
}

static void add_pairs(const struct g1_pair *pairs, size_t n, void *scratch,
                      struct affine_ahead *ahead)
{
    /* Any two points with different x. */
    struct g1_affine fill[3] = {{{{{1}}, {{1}}}}, {{{{2}}, {{1}}}}};
    const struct g1_pair filler = {&fill[0], &fill[1], &fill[2], false};
    struct g1_pair last[LANES];
    struct fp8 *prefix = scratch;
    const size_t n_groups = (n + LANES - 1) / LANES;
    struct group group;
    struct fp8 product;
    _Static_assert(sizeof *prefix <= LANES * AFFINE_SCRATCH_BYTES, "room for a prefix a group");
    set_all(&product, one);
    for (size_t i = 0; i < n_groups; i++) {
        load_group(&group, group_pairs(pairs, n, i, last, &filler));
        prefix[i] = product;
        multiply(&product, &product, &group.d);
    }
    invert(&product);
    for (size_t i = n_groups; i-- > 0;) {
        struct fp8 own;
        affine_fetch(ahead, 2 * LANES, sizeof(struct g1_affine));
        load_group(&group, group_pairs(pairs, n, i, last, &filler));
        multiply(&own, &prefix[i], &product);
        multiply(&product, &product, &group.d);
        add_group(&group, &own);
    }
}

/* --- In and out ------------------------------------------------------------------------------- */

/* Canonical integers to the kernel's form, four points at a time. */
static void enter_form(struct g1_affine *points, size_t n)
{
    struct fp8 factor;
    set_all(&factor, to_form);
    for (size_t i = 0; i < 2 * n; i += LANES) {
        /* A point is two coordinates; beyond the end the last one is done again. */
        blst_fp *to[LANES];
        const blst_fp *from[LANES];
        for (size_t j = 0; j < LANES; j++) {
            struct g1_affine *point = &points[(i + j) / 2 < n ? (i + j) / 2 : n - 1];
            to[j] = j % 2 ? &point->p.y : &point->p.x;
            from[j] = to[j];
        }
        struct fp8 value;
        load_from(&value, from);
        multiply(&value, &value, &factor);
        reduce(&value);
        store_to(to, &value);
    }
}

static size_t decode(struct g1_affine *out, const uint8_t *points, const uint32_t *index, size_t n)
{
    size_t good = 0;
    for (; good < n; good++) {
        const uint8_t *bytes = points + (index ? index[good] : good) * (size_t)G1_BYTES;
        if (!g1_read_integers(&out[good], bytes))
            break;
    }
    enter_form(out, good);
    return good;
}

static void to_standard(struct g1_affine *out, const struct g1_affine *a)
{
    /* blst's product divides by 2^384: 2^352 takes the factor 2^32 away. */
    static const blst_fp factor = {{0, 0, 0, 0, 0, UINT64_C(1) << 32}};
    blst_fp_mul(&out->p.x, &a->p.x, &factor);
    blst_fp_mul(&out->p.y, &a->p.y, &factor);
}

const struct g1_kernel g1_kernel_ifma = {
    .name = "ifma",
    .decode = decode,
    .add_pairs = add_pairs,
    .to_standard = to_standard,
};

#endif
