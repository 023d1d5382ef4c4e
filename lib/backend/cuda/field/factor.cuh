/* Products of Fr elements with factors known in advance.

   A number of 256 bits is cut into P digits x_0 … x_(P-1) of 256/P bits, and the table holds
   w_i = w·2^(256/P·(i+1)) mod r for each. Σ x_i·w_i has only 256/P bits more than r, and as many
   are removed at the bottom, Montgomery's way, which divides by 2^(256/P):

   Σ x_i·w_i / 2^(256/P) = x·w mod r

   with 64 + 48/P products of limbs, where Montgomery's product needs 112. As r is
   2^256 - 2^64·D - 2^32 + 1, the quotient's digits are the limbs that vanish, and each costs the
   six products with D (docs/spec/ntt.md, section 1). What is subtracted at the top is left for
   the end, so all chains of carries only add.

   x may be in Montgomery form or not: the result is in the same form. */
#ifndef CUDA_FACTOR_CUH
#define CUDA_FACTOR_CUH

#include "backend/cuda/field/field.cuh"

/* Plain integers below r, not in Montgomery form; the last is w's Montgomery form. */
template <int P> struct Factor {
    Fr multiple[P];
};

/* An integer in two's complement: a residue before its reduction. */
struct Sum {
    uint32_t limb[9];
};

namespace factor
{
/* D: limbs 2 … 7 of 2^256 - r. */
static __device__ __forceinline__ constexpr uint32_t d(int i)
{
    constexpr uint32_t limbs[6] = {0x0001a401u, 0xac425bfdu, 0xf65e27fau,
                                   0xccc627f7u, 0xd66282b7u, 0x8c1258acu};
    return limbs[i];
}

/* acc += digit·(b_first, b_(first+2), …), b_first at acc[first]; the carry goes to the limb after
   the last. Without `carries` there is none. */
static __device__ __forceinline__ void add_row(uint32_t *acc, const uint32_t *b, uint32_t digit,
                                               int first, bool carries)
{
#pragma unroll
    for (int j = first; j < 8; j += 2) {
        if (j == first)
            carry::mad_first(acc[j], acc[j + 1], digit, b[j]);
        else
            carry::mad_next(acc[j], acc[j + 1], digit, b[j]);
    }
    if (carries)
        carry::add_carry(acc[first + 8]);
}

/* Makes limb `s` of the two accumulators' sum vanish by adding a multiple of r + 2^256, and returns
   the multiplier. `same` holds the products that start at limbs of the parity of s. */
static __device__ __forceinline__ uint32_t clear_limb(uint32_t *same, uint32_t *other, int s)
{
    uint32_t digit = same[s];
    if (s > 0) {
        carry::add_first(digit, other[s]);
        carry::add_next(same[s + 1], digit);
    } else {
        carry::add_first(same[s + 1], digit);
    }
#pragma unroll
    for (int j = 0; j < 6; j += 2)
        carry::mad_next(same[s + 2 + j], same[s + 3 + j], digit, d(j));
    carry::add_carry(same[s + 8]);
#pragma unroll
    for (int j = 1; j < 6; j += 2) {
        if (j == 1)
            carry::mad_first(other[s + 2 + j], other[s + 3 + j], digit, d(j));
        else
            carry::mad_next(other[s + 2 + j], other[s + 3 + j], digit, d(j));
    }
    carry::add_carry(other[s + 9]);
    return digit;
}

/* (start + Σ x_i·w_i) / 2^(256/P) mod r, above -r and at most P·r. start < 2^256. */
template <int P>
static __device__ __forceinline__ Sum multiply(const uint32_t *x, const Factor<P> &w,
                                               const Fr &start, bool started)
{
    constexpr int STEPS = 8 / P; /* limbs of a digit */
    uint32_t even[STEPS + 10] = {}, odd[STEPS + 10] = {};
#pragma unroll
    for (int i = 0; i < 8; i++)
        even[i] = start.limb[i];
    uint32_t digits[STEPS];
#pragma unroll
    for (int s = 0; s < STEPS; s++) {
        uint32_t *same = s % 2 ? odd : even, *other = s % 2 ? even : odd;
#pragma unroll
        for (int i = 0; i < P; i++) {
            const uint32_t digit = x[i * STEPS + s], *b = w.multiple[i].limb;
            /* The top limb of a multiple is below 0.46·2^32: two such products do not carry. */
            add_row(same + s, b, digit, 0, s > 0 || i > 0 || started);
            add_row(other + s, b, digit, 1, i > 1 || (s > 0 && P < 4));
        }
        digits[s] = clear_limb(same, other, s);
    }
    Sum out;
#pragma unroll
    for (int i = 0; i < 9; i++) {
        out.limb[i] = even[STEPS + i];
        if (i == 0)
            carry::add_first(out.limb[i], odd[STEPS + i]);
        else
            carry::add_next(out.limb[i], odd[STEPS + i]);
    }
#pragma unroll
    for (int i = 0; i <= STEPS; i++) {
        uint32_t &limb = out.limb[8 - STEPS + i];
        if (i == 0)
            carry::sub_first(limb, limb, digits[i]);
        else
            carry::sub_next(limb, limb, i < STEPS ? digits[i] : 0);
    }
    return out;
}
} // namespace factor

/* x·w mod r, above -r and at most P·r, for any x < 2^256. */
template <int P> static __device__ __forceinline__ Sum operator*(const Fr &x, const Factor<P> &w)
{
    return factor::multiply(x.limb, w, Fr::zero(), false);
}

/* The factor of an element in Montgomery form. */
template <int P> static __device__ __forceinline__ Factor<P> make_factor(const Fr &form)
{
    Factor<P> out;
    for (int i = 0; i < P; i++) {
        Fr shift = Fr::zero();
        if (i < P - 1)
            shift.limb[8 / P * (i + 1)] = 1;
        out.multiple[i] = i < P - 1 ? form * shift : form;
    }
    return out;
}

static __device__ __forceinline__ Sum add_wide(const Fr &a, const Fr &b)
{
    Sum out;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        out.limb[i] = a.limb[i];
        if (i == 0)
            carry::add_first(out.limb[i], b.limb[i]);
        else
            carry::add_next(out.limb[i], b.limb[i]);
    }
    out.limb[8] = 0;
    carry::add_carry(out.limb[8]);
    return out;
}

static __device__ __forceinline__ Sum sub_wide(const Fr &a, const Fr &b)
{
    Sum out;
    out.limb[8] = Fr::subtract(out.limb, a.limb, b.limb, 8);
    return out;
}

static __device__ __forceinline__ Sum operator+(Sum a, const Sum &b)
{
    carry::add_first(a.limb[0], b.limb[0]);
#pragma unroll
    for (int i = 1; i < 9; i++)
        carry::add_next(a.limb[i], b.limb[i]);
    return a;
}

static __device__ __forceinline__ Sum operator-(const Sum &a, const Sum &b)
{
    Sum out;
    carry::sub_first(out.limb[0], a.limb[0], b.limb[0]);
#pragma unroll
    for (int i = 1; i < 9; i++)
        carry::sub_next(out.limb[i], a.limb[i], b.limb[i]);
    return out;
}

#endif
