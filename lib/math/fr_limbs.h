/* Elements of Fr as limbs of 52 bits, for the arithmetics on vectors. Private to lib/math. */
#ifndef MATH_FR_LIMBS_H
#define MATH_FR_LIMBS_H

#include "math/fr.h"

enum { LIMBS = 5 };

/* From x·2^256 to x·2^260. */
static inline void to_factor_form(struct fr *out, const struct fr *a)
{
    fr_double(out, a);
    for (unsigned i = 1; i < 4; i++)
        fr_double(out, out);
}

/* The limbs of an element's words. */
static inline void set_limbs(int64_t out[LIMBS], const struct fr *a)
{
    const uint64_t *w = a->v.l;
    const uint64_t mask = (UINT64_C(1) << 52) - 1;
    out[0] = (int64_t)(w[0] & mask);
    out[1] = (int64_t)((w[0] >> 52 | w[1] << 12) & mask);
    out[2] = (int64_t)((w[1] >> 40 | w[2] << 24) & mask);
    out[3] = (int64_t)((w[2] >> 28 | w[3] << 36) & mask);
    out[4] = (int64_t)(w[3] >> 16);
}

#endif
