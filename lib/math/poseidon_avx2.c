/* Poseidon with AVX2 and FMA: four instances side by side, in one or two groups. */
#include "math/fr_avx2.h"

#include "math/poseidon_arith.h"

#if defined(MATH_HAVE_AVX2)

#include <pthread.h>

enum {
    LANES = 4, /* of a group */
    GROUPS_MAX = 2,
    BLOCK = 4,
    PRODUCTS_MAX = POSEIDON_WIDTH_MAX - 1 + BLOCK,
    COLUMNS = 2 * LIMBS,
};

/* --- Sums of products ------------------------------------------------------------------------- */

/* The patterns in column k of one product (avx2.h). */
AVX2_INLINE uint64_t patterns(unsigned k)
{
    const uint64_t low = avx2_column_products(k, LIMBS);
    const uint64_t high = k == 0 ? 0 : avx2_column_products(k - 1, LIMBS);
    return low * AVX2_PATTERN_LOW + high * AVX2_PATTERN_HIGH;
}

/* What takes away the patterns of n products and of the one that reduce adds. */
static int64_t biases[PRODUCTS_MAX + 1][COLUMNS];
static pthread_once_t biases_once = PTHREAD_ONCE_INIT;

static void set_biases(void)
{
    for (unsigned n = 0; n <= PRODUCTS_MAX; n++) {
        for (unsigned k = 0; k < COLUMNS; k++)
            biases[n][k] = (int64_t)(0 - (n + 1) * patterns(k));
    }
}

/* A number in columns of 52 bits that may be larger than that. It starts with what takes away the
   patterns (avx2.h) of its products and of the one that reduce will add. */
struct sum {
    __m256i column[COLUMNS];
};

/* sum = Σ a[m]·b[m] */
static __attribute__((noinline)) void add_products(struct sum *sum, const struct factor *a,
                                                   const struct single_factor *b, size_t n)
{
    const struct avx2_constants c = avx2_constants();
    __m256i column[COLUMNS];
    AVX2_UNROLL
    for (unsigned k = 0; k < COLUMNS; k++)
        column[k] = avx2_set(biases[n][k]);
    for (size_t m = 0; m < n; m++) {
        AVX2_UNROLL
        for (unsigned j = 0; j < LIMBS; j++) {
            const __m256d y = _mm256_broadcast_sd(&b[m].limb[j]);
            AVX2_UNROLL
            for (unsigned i = 0; i < LIMBS; i++)
                avx2_multiply_add(&column[i + j], &column[i + j + 1], y, &a[m].limb[i], &c);
        }
    }
    AVX2_UNROLL
    for (unsigned k = 0; k < COLUMNS; k++)
        sum->column[k] = column[k];
}

/* sum = 16·a·b */
AVX2_INLINE void multiply(struct sum *sum, const struct factor *a, const struct factor *b)
{
    const struct avx2_constants c = avx2_constants();
    AVX2_UNROLL
    for (unsigned k = 0; k < COLUMNS; k++)
        sum->column[k] = avx2_set((int64_t)(0 - (patterns(k) + patterns(k) / 16)));
    AVX2_UNROLL
    for (unsigned j = 0; j < LIMBS; j++) {
        const __m256d y = b->limb[j];
        AVX2_UNROLL
        for (unsigned i = 0; i < LIMBS; i++)
            avx2_multiply_add(&sum->column[i + j], &sum->column[i + j + 1], y, &a->limb[i], &c);
    }
    AVX2_UNROLL
    for (unsigned k = 0; k < COLUMNS; k++)
        sum->column[k] = _mm256_slli_epi64(sum->column[k], 4);
}

/* sum = 16·a² */
AVX2_INLINE void square(struct sum *sum, const struct factor *a)
{
    const struct avx2_constants c = avx2_constants();
    AVX2_UNROLL
    for (unsigned k = 0; k < COLUMNS; k++)
        sum->column[k] = avx2_set((int64_t)(0 - (patterns(k) / 2 + patterns(k) / 32)));
    AVX2_UNROLL
    for (unsigned j = 0; j < LIMBS; j++) {
        const __m256d y = a->limb[j];
        AVX2_UNROLL
        for (unsigned i = j + 1; i < LIMBS; i++)
            avx2_multiply_add(&sum->column[i + j], &sum->column[i + j + 1], y, &a->limb[i], &c);
    }
    AVX2_UNROLL
    for (unsigned k = 0; k < COLUMNS; k++)
        sum->column[k] = _mm256_add_epi64(sum->column[k], sum->column[k]);
    AVX2_UNROLL
    for (unsigned j = 0; j < LIMBS; j++)
        avx2_multiply_add(&sum->column[2 * j], &sum->column[2 * j + 1], a->limb[j], &a->limb[j],
                          &c);
    AVX2_UNROLL
    for (unsigned k = 0; k < COLUMNS; k++)
        sum->column[k] = _mm256_slli_epi64(sum->column[k], 4);
}

/* Makes column i a multiple of 2^52 by adding q·r, and carries it into the next one. −1/r modulo
   2^52 is −(2^32 + 1). Patterns are multiples of 2^52. */
AVX2_INLINE void reduce_column(struct sum *sum, unsigned i)
{
    const struct avx2_constants c = avx2_constants();
    const __m256i t = sum->column[i];
    const __m256i minus_q = _mm256_add_epi64(t, _mm256_slli_epi64(t, 32));
    const __m256i q = _mm256_and_si256(_mm256_sub_epi64(_mm256_setzero_si256(), minus_q),
                                       avx2_set(AVX2_LIMB_MASK));
    const __m256d factor = avx2_to_double(q);
    AVX2_UNROLL
    for (unsigned j = 0; j < LIMBS; j++)
        avx2_multiply_add(&sum->column[i + j], &sum->column[i + j + 1], factor, &modulus.limb[j],
                          &c);
    sum->column[i + 1] =
        _mm256_add_epi64(sum->column[i + 1], _mm256_srli_epi64(sum->column[i], 52));
}

/* out[g] = sum[g] / 2^260 mod r, below T/2^260 + r, without carries. */
AVX2_INLINE void reduce(struct vec *out, struct sum *sum, const unsigned groups)
{
    AVX2_UNROLL
    for (unsigned i = 0; i < LIMBS; i++) {
        AVX2_UNROLL
        for (unsigned g = 0; g < groups; g++)
            reduce_column(&sum[g], i);
    }
    AVX2_UNROLL
    for (unsigned g = 0; g < groups; g++) {
        AVX2_UNROLL
        for (unsigned i = 0; i < LIMBS; i++)
            out[g].limb[i] = sum[g].column[LIMBS + i];
    }
}

/* --- Vectors ---------------------------------------------------------------------------------- */

static void load_lanes(struct vec *out, const struct fr *const elements[LANES])
{
    __m256i w[LANES];
    for (unsigned i = 0; i < LANES; i++)
        w[i] = _mm256_loadu_si256((const __m256i *)(const void *)elements[i]);
    vec_from_rows(out, w);
}

AVX2_INLINE void store_lanes(struct fr *const out[LANES], const struct vec *canonical)
{
    __m256i w[LANES];
    vec_to_rows(w, canonical);
    AVX2_UNROLL
    for (unsigned i = 0; i < LANES; i++)
        _mm256_storeu_si256((__m256i *)(void *)out[i], w[i]);
}

AVX2_INLINE void set_all(struct vec *out, const int64_t limbs[LIMBS])
{
    AVX2_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        out->limb[i] = avx2_set(limbs[i]);
}

AVX2_INLINE void add_limbs(struct vec *a, const int64_t limbs[LIMBS])
{
    AVX2_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        a->limb[i] = _mm256_add_epi64(a->limb[i], avx2_set(limbs[i]));
}

AVX2_INLINE void add(struct vec *a, const struct vec *b)
{
    AVX2_UNROLL
    for (unsigned i = 0; i < LIMBS; i++)
        a->limb[i] = _mm256_add_epi64(a->limb[i], b->limb[i]);
}

AVX2_INLINE void carry(struct vec *a)
{
    avx2_carry(a->limb, LIMBS);
}

AVX2_INLINE void subtract_r(struct vec *a)
{
    subtract_if(a, minus_r);
}

AVX2_INLINE void subtract_2r(struct vec *a)
{
    subtract_if(a, minus_2r);
}

#include "math/poseidon_impl.h"

static void permute_avx2(unsigned arity, enum poseidon_domain domain, size_t n,
                         const struct fr *const inputs[], struct fr *const out[], bool trace)
{
    pthread_once(&biases_once, set_biases);
    const unsigned before = avx2_rounding_to_zero();
    permute_lanes(arity, domain, n, inputs, out, trace);
    avx2_rounding_restore(before);
}

const struct poseidon_arith poseidon_arith_avx2 = {
    .name = "avx2",
    .lanes = GROUPS_MAX * LANES,
    .permute = permute_avx2,
};

#endif
