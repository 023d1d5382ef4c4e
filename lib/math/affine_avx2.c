/* The kernel of math/affine.h for AVX2 and FMA: four pairs at a time.

   A coordinate is x·2^416 mod p, worked on as 8 limbs of 52 bits in floating-point form
   (math/avx2.h) and stored as 6 words. 416 bits leave 35 to spare above p, so a product of anything
   below 2^30·p is below p + p/2^5 without a final subtraction, and sums need none before a
   product. Only what is stored is made canonical. */
#include "math/avx2.h"

#include "math/affine.h"

#if defined(MATH_HAVE_AVX2)

#define G(name) g1_##name
#define FIELD blst_fp
#define FIELD_OP(name) blst_fp_##name
#include "math/affine_case_impl.h"

enum { LIMBS = 8, LANES = 4, WORDS = 6 };

/* 2^416 mod p: the form of 1 */
static const int64_t one[LIMBS] = {
    0x6480ea8e9b9af, 0x65766c8fe444f, 0x8b540fea96f7d, 0x3b2ee82efd422,
    0xa6723e5f0ade5, 0xff6eb6fdd4230, 0xe06ef23c24a25, 0x0000000014c8e,
};
/* 2^416 - p, 2^416 - 2p: adding one of them carries out of the top unless a value is smaller */
static const int64_t minus_p[LIMBS] = {
    0x1000000005555, 0x014eac0000460, 0x94f09dbe15400, 0xed4098cf2d5f0,
    0x89b88b47b0c7a, 0xe45849bcb4532, 0xe15c6801965b4, 0xffffffffe5fee,
};
static const int64_t minus_2p[LIMBS] = {
    0x200000000aaaa, 0x029d5800008c0, 0x29e13b7c2a800, 0xda81319e5abe1,
    0x1371168f618f5, 0xc8b0937968a65, 0xc2b8d0032cb69, 0xffffffffcbfdd,
};
/* p and 2p with limbs 0 ... 6 large enough that up to two normal limbs can be taken away */
static const int64_t spread_p[LIMBS] = {
    0x4effffffffaaab, 0x4feb153ffffb9b, 0x46b0f6241eabfb, 0x412bf6730d2a0b,
    0x4764774b84f381, 0x41ba7b6434bac9, 0x41ea397fe69a47, 0x000000001a00d,
};
static const int64_t spread_2p[LIMBS] = {
    0x4dffffffff5556, 0x4fd62a7ffff73b, 0x4d61ec483d57fb, 0x4257ece61a541a,
    0x4ec8ee9709e706, 0x4374f6c8697596, 0x43d472ffcd3492, 0x000000003401e,
};

/* Limbs as integers, and as floating point for products. */
struct fp4 {
    __m256i limb[LIMBS];
};
struct fp4d {
    __m256d limb[LIMBS];
};

/* p */
static const struct fp4d modulus = {{
    AVX2_LANES(0xeffffffffaaab),
    AVX2_LANES(0xfeb153ffffb9f),
    AVX2_LANES(0x6b0f6241eabff),
    AVX2_LANES(0x12bf6730d2a0f),
    AVX2_LANES(0x764774b84f385),
    AVX2_LANES(0x1ba7b6434bacd),
    AVX2_LANES(0x1ea397fe69a4b),
    AVX2_LANES(0x000000001a011),
}};
/* -1/p modulo 2^416 */
static const struct fp4d minus_inverse = {{
    AVX2_LANES(0x3fffcfffcfffd),
    AVX2_LANES(0x92d9d113e889f),
    AVX2_LANES(0x8e30b48286adb),
    AVX2_LANES(0xdb4c16ef2ef0c),
    AVX2_LANES(0x819ecca0e8eb2),
    AVX2_LANES(0xb316fee268cf5),
    AVX2_LANES(0x106feaafc9468),
    AVX2_LANES(0x7f7e27a0ceb06),
}};
/* 2^832 mod p: a product with it brings an integer into the form */
static const struct fp4d to_form = {{
    AVX2_LANES(0xa5bf4cb89af51),
    AVX2_LANES(0x3afbba7ca31a2),
    AVX2_LANES(0x2646160ec71f1),
    AVX2_LANES(0xa84d710465903),
    AVX2_LANES(0x3480a4a188311),
    AVX2_LANES(0x98e5907ad91f5),
    AVX2_LANES(0x2075d74507266),
    AVX2_LANES(0x0000000008746),
}};

AVX2_INLINE void to_double(struct fp4d *out, const struct fp4 *a)
{
    AVX2_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        out->limb[i] = avx2_to_double(a->limb[i]);
}

/* out = a·b/2^416 mod p, below p + a·b/2^416. */
static __attribute__((noinline)) void multiply(struct fp4 *out, const struct fp4d *a,
                                               const struct fp4d *b)
{
    avx2_montgomery(out->limb, a->limb, b->limb, modulus.limb, minus_inverse.limb, LIMBS);
}

/* --- Words and limbs -------------------------------------------------------------------------- */

static void unpack(struct fp4 *out, const __m256i w[WORDS])
{
    const __m256i mask = avx2_set(AVX2_LIMB_MASK);
    __m256i *l = out->limb;
    l[0] = w[0];
    l[1] = _mm256_or_si256(_mm256_srli_epi64(w[0], 52), _mm256_slli_epi64(w[1], 12));
    l[2] = _mm256_or_si256(_mm256_srli_epi64(w[1], 40), _mm256_slli_epi64(w[2], 24));
    l[3] = _mm256_or_si256(_mm256_srli_epi64(w[2], 28), _mm256_slli_epi64(w[3], 36));
    l[4] = _mm256_or_si256(_mm256_srli_epi64(w[3], 16), _mm256_slli_epi64(w[4], 48));
    l[5] = _mm256_srli_epi64(w[4], 4);
    l[6] = _mm256_or_si256(_mm256_srli_epi64(w[4], 56), _mm256_slli_epi64(w[5], 8));
    l[7] = _mm256_srli_epi64(w[5], 44);
    AVX2_UNROLL
    for (unsigned i = 0; i < LIMBS - 1; i++)
        l[i] = _mm256_and_si256(l[i], mask);
}

static void pack(__m256i w[WORDS], const struct fp4 *a)
{
    const __m256i *l = a->limb;
    w[0] = _mm256_or_si256(l[0], _mm256_slli_epi64(l[1], 52));
    w[1] = _mm256_or_si256(_mm256_srli_epi64(l[1], 12), _mm256_slli_epi64(l[2], 40));
    w[2] = _mm256_or_si256(_mm256_srli_epi64(l[2], 24), _mm256_slli_epi64(l[3], 28));
    w[3] = _mm256_or_si256(_mm256_srli_epi64(l[3], 36), _mm256_slli_epi64(l[4], 16));
    w[4] = _mm256_or_si256(_mm256_srli_epi64(l[4], 48), _mm256_slli_epi64(l[5], 4));
    w[4] = _mm256_or_si256(w[4], _mm256_slli_epi64(l[6], 56));
    w[5] = _mm256_or_si256(_mm256_srli_epi64(l[6], 8), _mm256_slli_epi64(l[7], 44));
}

static const __m256i *words_at(const blst_fp *a)
{
    return (const __m256i *)(const void *)a;
}

/* Four numbers from four places, as words and as limbs. */
static void load_words(__m256i w[WORDS], const blst_fp *const from[LANES])
{
    __m256i row[LANES];
    __m128i end[LANES];
    AVX2_UNROLL
    for (unsigned i = 0; i < LANES; i++) {
        row[i] = _mm256_loadu_si256(words_at(from[i]));
        end[i] = _mm_loadu_si128((const __m128i *)(const void *)&from[i]->l[4]);
    }
    avx2_transpose(row);
    AVX2_UNROLL
    for (unsigned i = 0; i < 4; i++)
        w[i] = row[i];
    const __m256i even = _mm256_set_m128i(end[2], end[0]);
    const __m256i odd = _mm256_set_m128i(end[3], end[1]);
    w[4] = _mm256_unpacklo_epi64(even, odd);
    w[5] = _mm256_unpackhi_epi64(even, odd);
}

static void store(blst_fp *const to[LANES], const struct fp4 *a)
{
    __m256i w[WORDS];
    pack(w, a);
    const __m256i even = _mm256_unpacklo_epi64(w[4], w[5]);
    const __m256i odd = _mm256_unpackhi_epi64(w[4], w[5]);
    const __m128i end[LANES] = {_mm256_castsi256_si128(even), _mm256_castsi256_si128(odd),
                                _mm256_extracti128_si256(even, 1),
                                _mm256_extracti128_si256(odd, 1)};
    avx2_transpose(w);
    AVX2_UNROLL
    for (unsigned i = 0; i < LANES; i++) {
        _mm256_storeu_si256((__m256i *)(void *)to[i], w[i]);
        _mm_storeu_si128((__m128i *)(void *)&to[i]->l[4], end[i]);
    }
}

/* --- Sums ------------------------------------------------------------------------------------- */

/* a + bias - b, normal; the bias is a spread multiple of p that keeps it positive. */
static void subtract(struct fp4 *out, const struct fp4 *a, const struct fp4 *b,
                     const int64_t bias[LIMBS])
{
    AVX2_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        out->limb[i] =
            _mm256_sub_epi64(_mm256_add_epi64(a->limb[i], avx2_set(bias[i])), b->limb[i]);
    avx2_carry(out->limb, LIMBS);
}

/* Takes k·p away if that leaves a positive number; minus_kp = 2^416 - k·p. */
static void subtract_if(struct fp4 *a, const int64_t minus_kp[LIMBS])
{
    avx2_subtract_if(a->limb, minus_kp, LIMBS);
}

/* Canonical, from below 4p. */
static void reduce(struct fp4 *a)
{
    subtract_if(a, minus_2p);
    subtract_if(a, minus_p);
}

static void blend(struct fp4 *a, const struct fp4 *b, __m256i mask)
{
    AVX2_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        a->limb[i] = _mm256_blendv_epi8(a->limb[i], b->limb[i], mask);
}

/* --- Pairs ------------------------------------------------------------------------------------ */

/* Four pairs at work. */
struct quad {
    const struct g1_pair *pairs[LANES];
    struct fp4 x_a, x_b;
    struct fp4 d; /* to be inverted */
    bool rare;    /* some lane does not take the plain formula: kind tells */
    enum pair_case kind[LANES];
    __m256i doubles, others; /* lanes of kind PAIR_DOUBLE, and of the remaining rare ones */
};

static void load(struct fp4 *out, const struct quad *quad, bool of_b, bool y)
{
    const blst_fp *from[LANES];
    __m256i w[WORDS];
    AVX2_UNROLL
    for (unsigned i = 0; i < LANES; i++) {
        const struct g1_affine *point = of_b ? quad->pairs[i]->b : quad->pairs[i]->a;
        from[i] = y ? &point->p.y : &point->p.x;
    }
    load_words(w, from);
    unpack(out, w);
}

/* All ones in the lanes where a is zero. */
static __m256i zero_lanes(const struct fp4 *a)
{
    __m256i any = a->limb[0];
    AVX2_UNROLL
    for (unsigned i = 1; i < LIMBS; i++)
        any = _mm256_or_si256(any, a->limb[i]);
    return _mm256_cmpeq_epi64(any, _mm256_setzero_si256());
}

static __m256i equal_lanes(const struct fp4 *a, const struct fp4 *b)
{
    __m256i any = _mm256_xor_si256(a->limb[0], b->limb[0]);
    AVX2_UNROLL
    for (unsigned i = 1; i < LIMBS; i++)
        any = _mm256_or_si256(any, _mm256_xor_si256(a->limb[i], b->limb[i]));
    return _mm256_cmpeq_epi64(any, _mm256_setzero_si256());
}

/* Sorts out the lanes with equal x or infinite operands, and gives them a d that has an inverse. */
static __attribute__((noinline)) void treat_rare(struct quad *quad)
{
    int64_t doubles[LANES];
    int64_t others[LANES];
    AVX2_UNROLL
    for (unsigned i = 0; i < LANES; i++) {
        quad->kind[i] = classify_rare(quad->pairs[i]);
        doubles[i] = -(quad->kind[i] == PAIR_DOUBLE);
        others[i] = -(quad->kind[i] != PAIR_DOUBLE && quad->kind[i] != PAIR_PLAIN);
    }
    quad->doubles = _mm256_loadu_si256((const __m256i *)(const void *)doubles);
    quad->others = _mm256_loadu_si256((const __m256i *)(const void *)others);
    struct fp4 y;
    load(&y, quad, false, true);
    struct fp4 unit;
    AVX2_UNROLL
    for (unsigned i = 0; i < LIMBS; i++) {
        y.limb[i] = _mm256_add_epi64(y.limb[i], y.limb[i]);
        unit.limb[i] = avx2_set(one[i]);
    }
    avx2_carry(y.limb, LIMBS);
    blend(&quad->d, &y, quad->doubles);
    blend(&quad->d, &unit, quad->others);
}

static void load_quad(struct quad *quad, const struct g1_pair *pairs)
{
    AVX2_UNROLL
    for (unsigned i = 0; i < LANES; i++)
        quad->pairs[i] = &pairs[i];
    load(&quad->x_a, quad, false, false);
    load(&quad->x_b, quad, true, false);
    subtract(&quad->d, &quad->x_b, &quad->x_a, spread_p);
    const __m256i rare =
        _mm256_or_si256(equal_lanes(&quad->x_a, &quad->x_b),
                        _mm256_or_si256(zero_lanes(&quad->x_a), zero_lanes(&quad->x_b)));
    quad->rare = !_mm256_testz_si256(rare, rare);
    if (quad->rare)
        treat_rare(quad);
}

/* ±y_b - y_a, or 3·x_a² where the point is doubled. */
static void numerator(struct fp4d *out, const struct quad *quad, const struct fp4 *y_a)
{
    int64_t signs[LANES];
    AVX2_UNROLL
    for (unsigned i = 0; i < LANES; i++)
        signs[i] = -(int64_t)quad->pairs[i]->negate_b;
    const __m256i sign = _mm256_loadu_si256((const __m256i *)(const void *)signs);
    struct fp4 y;
    load(&y, quad, true, true);
    AVX2_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        y.limb[i] = _mm256_sub_epi64(_mm256_xor_si256(y.limb[i], sign), sign);
    subtract(&y, &y, y_a, spread_2p);
    if (quad->rare) {
        struct fp4 square;
        struct fp4d x;
        to_double(&x, &quad->x_a);
        multiply(&square, &x, &x);
        AVX2_UNROLL
        for (unsigned i = 0; i < LIMBS; i++)
            square.limb[i] =
                _mm256_add_epi64(square.limb[i], _mm256_add_epi64(square.limb[i], square.limb[i]));
        avx2_carry(square.limb, LIMBS);
        blend(&y, &square, quad->doubles);
    }
    to_double(out, &y);
}

/* Results of the lanes that are no additions of two different finite points; a and b are copies of
   their operands, as out may be one of them. */
static void store_rare(const struct quad *quad, const struct g1_affine *a,
                       const struct g1_affine *b)
{
    AVX2_UNROLL
    for (unsigned i = 0; i < LANES; i++) {
        struct g1_affine *out = quad->pairs[i]->out;
        if (quad->kind[i] == PAIR_A) {
            *out = a[i];
        } else if (quad->kind[i] == PAIR_B) {
            *out = b[i];
            blst_fp_cneg(&out->p.y, &out->p.y, quad->pairs[i]->negate_b);
        } else if (quad->kind[i] == PAIR_INFINITY) {
            memset(out, 0, sizeof *out);
        }
    }
}

/* Given 1/d. */
static void add_quad(const struct quad *quad, const struct fp4 *inverse)
{
    struct g1_affine a[LANES];
    struct g1_affine b[LANES];
    for (unsigned i = 0; quad->rare && i < LANES; i++) {
        a[i] = *quad->pairs[i]->a;
        b[i] = *quad->pairs[i]->b;
    }
    struct fp4 y_a;
    struct fp4 product;
    struct fp4d slope;
    struct fp4d other;
    load(&y_a, quad, false, true);
    numerator(&slope, quad, &y_a);
    to_double(&other, inverse);
    multiply(&product, &slope, &other);
    to_double(&slope, &product);

    struct fp4 x;
    multiply(&x, &slope, &slope);
    AVX2_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        x.limb[i] = _mm256_sub_epi64(x.limb[i], quad->x_b.limb[i]);
    subtract(&x, &x, &quad->x_a, spread_2p);
    reduce(&x);

    struct fp4 y;
    subtract(&y, &quad->x_a, &x, spread_p);
    to_double(&other, &y);
    multiply(&y, &slope, &other);
    subtract(&y, &y, &y_a, spread_p);
    reduce(&y);

    blst_fp *to_x[LANES];
    blst_fp *to_y[LANES];
    AVX2_UNROLL
    for (unsigned i = 0; i < LANES; i++) {
        to_x[i] = &quad->pairs[i]->out->p.x;
        to_y[i] = &quad->pairs[i]->out->p.y;
    }
    store(to_x, &x);
    store(to_y, &y);
    if (quad->rare)
        store_rare(quad, a, b);
}

/* 1/a in every lane, with one inversion. */
static void invert(struct fp4 *a)
{
    /* 2^64 in blst's form: read there, a lane is x·2^32, whose inverse lacks that factor twice. */
    static const blst_fp factor = {{0x42b7fde37dba9366, 0x7784894e27525bc3, 0xb2b91b9dc1f5b1e9,
                                    0x206f497dfcafb872, 0x594137cc89a9b0bb, 0x0411cd9d20d7e399}};
    blst_fp lane[LANES];
    blst_fp before[LANES]; /* product of the lanes before */
    blst_fp *lanes[LANES];
    const blst_fp *const_lanes[LANES];
    AVX2_UNROLL
    for (unsigned i = 0; i < LANES; i++)
        lanes[i] = &lane[i];
    reduce(a);
    store(lanes, a);
    blst_fp product = lane[0];
    AVX2_UNROLL
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
    AVX2_UNROLL
    for (unsigned i = 0; i < LANES; i++)
        const_lanes[i] = &lane[i];
    __m256i w[WORDS];
    load_words(w, const_lanes);
    unpack(a, w);
}

/* The pairs of quad number i; a last, incomplete one is filled up with copies of `filler`. */
static const struct g1_pair *quad_pairs(const struct g1_pair *pairs, size_t n, size_t i,
                                        struct g1_pair last[LANES], const struct g1_pair *filler)
{
    if ((i + 1) * LANES <= n)
        return &pairs[i * LANES];
    for (size_t j = 0; j < LANES; j++)
        last[j] = i * LANES + j < n ? pairs[i * LANES + j] : *filler;
    return last;
}

static __attribute__((noinline)) void add_quads(const struct g1_pair *pairs, size_t n,
                                                struct fp4d *prefix, struct affine_ahead *ahead)
{
    /* Any two points with different x. */
    struct g1_affine fill[3] = {{{{{1}}, {{1}}}}, {{{{2}}, {{1}}}}};
    const struct g1_pair filler = {&fill[0], &fill[1], &fill[2], false};
    struct g1_pair last[LANES];
    const size_t n_quads = (n + LANES - 1) / LANES;
    struct quad quad;
    struct fp4 product;
    struct fp4d d;
    AVX2_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        product.limb[i] = avx2_set(one[i]);
    for (size_t i = 0; i < n_quads; i++) {
        load_quad(&quad, quad_pairs(pairs, n, i, last, &filler));
        to_double(&prefix[i], &product);
        to_double(&d, &quad.d);
        multiply(&product, &prefix[i], &d);
    }
    invert(&product);
    for (size_t i = n_quads; i-- > 0;) {
        struct fp4 own;
        struct fp4d inverse;
        affine_fetch(ahead, 2 * LANES, sizeof(struct g1_affine));
        load_quad(&quad, quad_pairs(pairs, n, i, last, &filler));
        to_double(&inverse, &product);
        to_double(&d, &quad.d);
        multiply(&own, &prefix[i], &inverse);
        multiply(&product, &inverse, &d);
        add_quad(&quad, &own);
    }
}

static void add_pairs(const struct g1_pair *pairs, size_t n, void *scratch,
                      struct affine_ahead *ahead)
{
    const unsigned before = avx2_rounding_to_zero();
    add_quads(pairs, n, scratch, ahead);
    avx2_rounding_restore(before);
}

/* --- In and out ------------------------------------------------------------------------------- */

/* Canonical integers to the kernel's form, four points at a time. */
static __attribute__((noinline)) void enter_form(struct g1_affine *points, size_t n)
{
    for (size_t i = 0; i < 2 * n; i += LANES) {
        /* A point is two coordinates; beyond the end the last one is done again. */
        blst_fp *to[LANES];
        const blst_fp *from[LANES];
        for (size_t j = 0; j < LANES; j++) {
            struct g1_affine *point = &points[(i + j) / 2 < n ? (i + j) / 2 : n - 1];
            to[j] = j % 2 ? &point->p.y : &point->p.x;
            from[j] = to[j];
        }
        __m256i w[WORDS];
        struct fp4 value;
        struct fp4d number;
        load_words(w, from);
        unpack(&value, w);
        to_double(&number, &value);
        multiply(&value, &number, &to_form);
        reduce(&value);
        store(to, &value);
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
    const unsigned before = avx2_rounding_to_zero();
    enter_form(out, good);
    avx2_rounding_restore(before);
    return good;
}

static void to_standard(struct g1_affine *out, const struct g1_affine *a)
{
    /* blst's product divides by 2^384: 2^352 takes the factor 2^32 away. */
    static const blst_fp factor = {{0, 0, 0, 0, 0, UINT64_C(1) << 32}};
    blst_fp_mul(&out->p.x, &a->p.x, &factor);
    blst_fp_mul(&out->p.y, &a->p.y, &factor);
}

const struct g1_kernel g1_kernel_avx2 = {
    .name = "avx2",
    .decode = decode,
    .add_pairs = add_pairs,
    .to_standard = to_standard,
};

#endif
