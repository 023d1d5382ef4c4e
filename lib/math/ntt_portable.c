#include "math/ntt_arith.h"

enum { NTT_LANES = 4 };

struct vec {
    struct fr lane[NTT_LANES];
};

struct twiddle {
    struct fr value;
};

static void vec_load(struct vec *out, const struct fr *elements, size_t lane_stride)
{
    for (unsigned i = 0; i < NTT_LANES; i++)
        out->lane[i] = elements[i * lane_stride];
}

static void vec_store(struct fr *elements, size_t lane_stride, const struct vec *a)
{
    for (unsigned i = 0; i < NTT_LANES; i++)
        elements[i * lane_stride] = a->lane[i];
}

static void vec_set(struct vec *out, const struct fr elements[NTT_LANES])
{
    vec_load(out, elements, 1);
}

static void vec_mul(struct vec *out, const struct vec *a, const struct vec *factor)
{
    for (unsigned i = 0; i < NTT_LANES; i++)
        fr_mul(&out->lane[i], &a->lane[i], &factor->lane[i]);
}

static inline void sum_and_difference(struct fr *a, struct fr *b)
{
    struct fr sum;
    fr_add(&sum, a, b);
    fr_sub(b, a, b);
    *a = sum;
}

static void dif2(struct vec *e)
{
    for (unsigned i = 0; i < NTT_LANES; i++)
        sum_and_difference(&e[0].lane[i], &e[1].lane[i]);
}

static void dit2(struct vec *e)
{
    dif2(e);
}

/* (e0, e1, e2, e3) to (e0+e2)+(e1+e3), ((e0+e2)-(e1+e3))·w^2, ((e0-e2)+i(e1-e3))·w,
   ((e0-e2)-i(e1-e3))·w^3: two radix-2 stages in one. */
static void dif4(struct vec *e, size_t quarter, const struct twiddle *i, const struct twiddle *w)
{
    for (unsigned lane = 0; lane < NTT_LANES; lane++) {
        struct fr *e0 = &e[0].lane[lane];
        struct fr *e1 = &e[quarter].lane[lane];
        struct fr *e2 = &e[2 * quarter].lane[lane];
        struct fr *e3 = &e[3 * quarter].lane[lane];
        sum_and_difference(e0, e2);
        sum_and_difference(e1, e3);
        fr_mul(e3, e3, &i->value);
        sum_and_difference(e0, e1);
        sum_and_difference(e2, e3);
        if (w) {
            fr_mul(e1, e1, &w[1].value);
            fr_mul(e2, e2, &w[0].value);
            fr_mul(e3, e3, &w[2].value);
        }
    }
}

/* The transpose of dif4. */
static void dit4(struct vec *e, size_t quarter, const struct twiddle *i, const struct twiddle *w)
{
    for (unsigned lane = 0; lane < NTT_LANES; lane++) {
        struct fr *e0 = &e[0].lane[lane];
        struct fr *e1 = &e[quarter].lane[lane];
        struct fr *e2 = &e[2 * quarter].lane[lane];
        struct fr *e3 = &e[3 * quarter].lane[lane];
        if (w) {
            fr_mul(e1, e1, &w[1].value);
            fr_mul(e2, e2, &w[0].value);
            fr_mul(e3, e3, &w[2].value);
        }
        sum_and_difference(e0, e1);
        sum_and_difference(e2, e3);
        fr_mul(e3, e3, &i->value);
        sum_and_difference(e0, e2);
        sum_and_difference(e1, e3);
    }
}

static void set_twiddle(void *out, const struct fr *value)
{
    *(struct fr *)out = *value;
}

static void multiply(struct fr *a, const struct fr *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fr_mul(&a[i], &a[i], &b[i]);
}

#include "math/ntt_impl.h"

const struct ntt_arith ntt_arith_portable = {
    .name = "portable",
    .lanes = NTT_LANES,
    .vector_bytes = sizeof(struct vec),
    .twiddle_bytes = sizeof(struct twiddle),
    .twiddle = set_twiddle,
    .tile = transform_tile,
    .multiply = multiply,
    .log2_fix = 0,
    .log2_rows_max = 11,
};
