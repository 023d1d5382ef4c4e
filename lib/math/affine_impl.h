/* The portable kernel of math/affine.h over blst. Included by affine_g1.c and affine_g2.c, which
   define G(name) as the group's prefix, FIELD as the coordinates' type, FIELD_OP(name) as blst's
   function on it, FIELD_ONE and POINT_BYTES. */

#include "math/affine_case_impl.h"

/* The number that is to be inverted for the pair; never zero, or it would spoil the whole batch. */
static enum pair_case denominator(FIELD *d, const struct G(pair) * pair)
{
    FIELD_OP(sub)(d, &pair->b->p.x, &pair->a->p.x);
    if (!field_is_zero(d) && !field_is_zero(&pair->a->p.x) && !field_is_zero(&pair->b->p.x))
        return PAIR_PLAIN;
    const enum pair_case kind = classify_rare(pair);
    if (kind == PAIR_DOUBLE)
        FIELD_OP(add)(d, &pair->a->p.y, &pair->a->p.y);
    else if (kind != PAIR_PLAIN)
        *d = FIELD_ONE;
    return kind;
}

static void add_with_inverse(const struct G(pair) * pair, enum pair_case kind, const FIELD *inverse)
{
    const struct G(affine) a = *pair->a;
    const struct G(affine) b = *pair->b;
    struct G(affine) *out = pair->out;
    FIELD slope;
    if (kind == PAIR_PLAIN) {
        signed_y(&slope, pair);
        FIELD_OP(sub)(&slope, &slope, &a.p.y);
    } else if (kind == PAIR_DOUBLE) {
        FIELD_OP(sqr)(&slope, &a.p.x);
        FIELD_OP(mul_by_3)(&slope, &slope);
    } else {
        if (kind == PAIR_A) {
            *out = a;
        } else if (kind == PAIR_B) {
            *out = b;
            FIELD_OP(cneg)(&out->p.y, &out->p.y, pair->negate_b);
        } else {
            memset(out, 0, sizeof *out);
        }
        return;
    }
    FIELD x;
    FIELD y;
    FIELD_OP(mul)(&slope, &slope, inverse);
    FIELD_OP(sqr)(&x, &slope);
    FIELD_OP(sub)(&x, &x, &a.p.x);
    FIELD_OP(sub)(&x, &x, &b.p.x);
    FIELD_OP(sub)(&y, &a.p.x, &x);
    FIELD_OP(mul)(&y, &y, &slope);
    FIELD_OP(sub)(&out->p.y, &y, &a.p.y);
    out->p.x = x;
}

static void add_pairs(const struct G(pair) * pairs, size_t n, void *scratch,
                      struct affine_ahead *ahead)
{
    FIELD *prefix = scratch;
    FIELD product = FIELD_ONE;
    FIELD d;
    for (size_t i = 0; i < n; i++) {
        denominator(&d, &pairs[i]);
        prefix[i] = product;
        FIELD_OP(mul)(&product, &product, &d);
    }
    FIELD inverse;
    FIELD_OP(eucl_inverse)(&inverse, &product);
    for (size_t i = n; i-- > 0;) {
        affine_fetch(ahead, 2, sizeof(struct G(affine)));
        const enum pair_case kind = denominator(&d, &pairs[i]);
        FIELD own;
        FIELD_OP(mul)(&own, &inverse, &prefix[i]);
        FIELD_OP(mul)(&inverse, &inverse, &d);
        add_with_inverse(&pairs[i], kind, &own);
    }
}

static size_t decode(struct G(affine) * out, const uint8_t *points, const uint32_t *index, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const size_t number = index ? index[i] : i;
        if (!G(decode)(&out[i], points + number * POINT_BYTES, POINT_CHECK_NONE))
            return i;
    }
    return n;
}

static void to_standard(struct G(affine) * out, const struct G(affine) * a)
{
    *out = *a;
}
