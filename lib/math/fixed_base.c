#include "math/fixed_base.h"

#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"
#include "math/affine.h"

#include <stdalign.h>

/* A block of scalars goes through the table window by window, so that one window (a few MiB) stays
   in the last-level cache while it is used; the block itself streams. BATCH additions share an
   inversion, which then costs a few percent of a multiplication for each. */
enum { BLOCK = 16384, BATCH = 512 };

/* After the replacement by the negative a scalar has 254 bits, and its last digit a sign. */
enum { DIGIT_BITS = 255 };

/* A scalar as digits: the sign of the whole, and its value with half a window added to every window
   but the last, so that each window's bits minus that half are the signed digit. */
struct recoded {
    uint64_t limbs[5]; /* one zero limb more than there are, so that windows may straddle */
    bool negative;
};

static unsigned window_count(unsigned width)
{
    return (DIGIT_BITS + width - 1) / width;
}

/* The width with the fewest additions, those for the table included. */
static unsigned choose_width(size_t uses, unsigned max_width)
{
    unsigned best = 2;
    double best_cost = 0;
    for (unsigned width = 2; width <= max_width; width++) {
        double entries = (double)((size_t)1 << (width - 1));
        double cost = window_count(width) * (entries + (double)uses);
        if (width == 2 || cost < best_cost) {
            best = width;
            best_cost = cost;
        }
    }
    return best;
}

static bool above_half(const uint64_t limbs[4])
{
    /* (r - 1) / 2 */
    static const uint64_t half[4] = {0x7fffffff80000000, 0xa9ded2017fff2dff, 0x199cec0404d0ec02,
                                     0x39f6d3a994cebea4};
    for (int i = 3; i >= 0; i--) {
        if (limbs[i] != half[i])
            return limbs[i] > half[i];
    }
    return false;
}

static void recode(struct recoded *out, const struct fr *scalar, unsigned width)
{
    fr_to_limbs(out->limbs, scalar);
    out->limbs[4] = 0;
    out->negative = above_half(out->limbs);
    if (out->negative) {
        struct fr opposite;
        fr_neg(&opposite, scalar);
        fr_to_limbs(out->limbs, &opposite);
    }
    uint64_t offset[4] = {0};
    for (unsigned k = 0; k + 1 < window_count(width); k++) {
        unsigned bit = k * width + width - 1;
        offset[bit / 64] |= (uint64_t)1 << (bit % 64);
    }
    uint64_t carry = 0;
    for (int i = 0; i < 4; i++) {
        uint64_t sum = offset[i] + carry; /* no offset is all ones: no carry here */
        carry = __builtin_add_overflow(out->limbs[i], sum, &out->limbs[i]);
    }
}

/* The digit of window k: -2^(width-1) … 2^(width-1). */
static int64_t digit(const struct recoded *scalar, unsigned k, unsigned width)
{
    unsigned bit = k * width;
    uint64_t low = scalar->limbs[bit / 64] >> (bit % 64);
    uint64_t high = bit % 64 ? scalar->limbs[bit / 64 + 1] << (64 - bit % 64) : 0;
    uint64_t window = (low | high) & (((uint64_t)1 << width) - 1);
    bool last = k + 1 == window_count(width);
    return (int64_t)window - (last ? 0 : (int64_t)1 << (width - 1));
}

/* The code for both groups, written once with the names below. */
#define G(name) g1_##name
#define TABLE fixed_base_g1
#define API(name) fixed_base_g1_##name
#define POINT_BYTES G1_BYTES
#define PROJECTIVE g1
#define WIDTH_MAX 17
#include "math/fixed_base_impl.h"
#undef G
#undef TABLE
#undef API
#undef POINT_BYTES
#undef PROJECTIVE
#undef WIDTH_MAX

#define G(name) g2_##name
#define TABLE fixed_base_g2
#define API(name) fixed_base_g2_##name
#define POINT_BYTES G2_BYTES
#define PROJECTIVE g2
#define WIDTH_MAX 16
#include "math/fixed_base_impl.h"
