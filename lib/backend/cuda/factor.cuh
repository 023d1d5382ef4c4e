/* Products of Fr elements with factors known in advance (Shoup; V. Shoup's NTL, "MulModPrecon").

   For a factor w the table also holds q = ⌊w·2^256 / r⌋. Then ⌊x·q / 2^256⌋·r is x·w less a number
   below 2r, and only low halves of two products are left. Of x·q the columns below 2^192 are
   dropped, which makes the quotient too small by at most one, provided that x < 2^256·(1 - 2^-28):
   86 wide products in place of 128 (spec/gpu-ntt.md, section 1).

   x may be in Montgomery form or not: the result is in the same form. */
#ifndef CUDA_FACTOR_CUH
#define CUDA_FACTOR_CUH

#include "field.cuh"

/* Both plain integers, not in Montgomery form. */
struct Factor {
    Fr value, quotient;
};

namespace carry
{
static __device__ __forceinline__ void mad_low(uint32_t &lo, uint32_t a, uint32_t b)
{
    asm volatile("mad.lo.u32 %0, %1, %2, %0;" : "+r"(lo) : "r"(a), "r"(b));
}

static __device__ __forceinline__ void mad_low_last(uint32_t &lo, uint32_t a, uint32_t b)
{
    asm volatile("madc.lo.u32 %0, %1, %2, %0;" : "+r"(lo) : "r"(a), "r"(b));
}
} // namespace carry

namespace factor
{
/* 2^256 - r. */
static __device__ __forceinline__ constexpr uint32_t minus_r(int i)
{
    constexpr uint32_t limbs[8] = {0xffffffffu, 0x00000000u, 0x0001a401u, 0xac425bfdu,
                                   0xf65e27fau, 0xccc627f7u, 0xd66282b7u, 0x8c1258acu};
    return limbs[i];
}

/* One limb's products with columns of one parity, from column `low` on, whose accumulator is
 * acc[0]. */
static __device__ __forceinline__ void mad_row(uint32_t *acc, const uint32_t *b, uint32_t a,
                                               int count)
{
#pragma unroll
    for (int k = 0; k < count; k++) {
        if (k == 0)
            carry::mad_first(acc[0], acc[1], a, b[0]);
        else
            carry::mad_next(acc[2 * k], acc[2 * k + 1], a, b[2 * k]);
    }
}

/* ⌊x·y / 2^256⌋ from the columns 2^192 on; may be too small by 1. */
static __device__ __forceinline__ void mul_high(uint32_t out[8], const Fr &x, const Fr &y)
{
    uint32_t even[10] = {}; /* limbs 6 … 15 */
    uint32_t odd[9] = {};   /* limbs 7 … 15 */
#pragma unroll
    for (int i = 0; i < 8; i++) {
        /* Columns low, low + 2, … ≤ i + 7. A chain without a new column carries into a fresh limb.
         */
        int low = i <= 6 ? 6 : 8;
        int count = (i + 7 - low) / 2 + 1;
        mad_row(even + low - 6, y.limb + low - i, x.limb[i], count);
        if (i % 2 == 0 && i > 0)
            carry::add_carry(even[low - 6 + 2 * count]);
        low = 7;
        count = i / 2 + 1;
        mad_row(odd, y.limb + low - i, x.limb[i], count);
        if (i % 2 == 1)
            carry::add_carry(odd[2 * count]);
    }
    uint32_t limb7 = even[1];
    carry::add_first(limb7, odd[0]);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        out[i] = even[i + 2];
        carry::add_next(out[i], odd[i + 1]);
    }
}

/* Adds a·b·2^(32·column) to the low 256 bits, held as limbs 0 … 7 and, for odd columns, 1 … 7. */
static __device__ __forceinline__ void mad_low_row(uint32_t *even, uint32_t *odd, const uint32_t *b,
                                                   uint32_t a, int column)
{
    int next = column % 2;
    int count = (8 - column) / 2;
    if (next == 0) {
        mad_row(even + column, b, a, count);
        if (column < 6)
            mad_row(odd + column, b + 1, a, count - 1);
        if (column < 6)
            carry::mad_low_last(odd[6], a, b[7 - column]);
        else
            carry::mad_low(odd[6], a, b[7 - column]);
    } else {
        if (column < 7)
            mad_row(even + column + 1, b + 1, a, count);
        if (column < 7)
            mad_row(odd + column - 1, b, a, count);
        if (column < 7)
            carry::mad_low_last(odd[6], a, b[7 - column]);
        else
            carry::mad_low(odd[6], a, b[0]);
    }
}
} // namespace factor

/* x·w mod r, canonical. x < 2r. */
static __device__ __forceinline__ Fr operator*(const Fr &x, const Factor &w)
{
    uint32_t q[8], minus[8];
    factor::mul_high(q, x, w.quotient);
    uint32_t even[8] = {}, odd[7] = {}; /* odd: limbs 1 … 7 */
#pragma unroll
    for (int i = 0; i < 8; i++)
        factor::mad_low_row(even, odd, w.value.limb, x.limb[i], i);
        /* -q·r = q·(minus_r), whose limbs 0 and 1 stand for 2^32 - 1. */
#pragma unroll
    for (int i = 0; i < 8; i++)
        minus[i] = factor::minus_r(i);
#pragma unroll
    for (int i = 0; i < 6; i++)
        factor::mad_low_row(even, odd, minus + 2, q[i], i + 2);
    Fr out;
    out.limb[0] = even[0];
    out.limb[1] = even[1];
    carry::add_first(out.limb[1], odd[0]);
#pragma unroll
    for (int i = 2; i < 8; i++) {
        out.limb[i] = even[i];
        carry::add_next(out.limb[i], odd[i - 1]);
    }
    carry::add_first(out.limb[1], q[0]);
#pragma unroll
    for (int i = 2; i < 8; i++)
        carry::add_next(out.limb[i], q[i - 1]);
    carry::sub_first(out.limb[0], out.limb[0], q[0]);
#pragma unroll
    for (int i = 1; i < 8; i++)
        carry::sub_next(out.limb[i], out.limb[i], q[i]);
    out.reduce_once();
    return out;
}

/* a + b and a - b + r, below 2r: good enough as operands of a product with a factor. */
static __device__ __forceinline__ Fr add_lazy(Fr a, const Fr &b)
{
    carry::add_first(a.limb[0], b.limb[0]);
#pragma unroll
    for (int i = 1; i < 8; i++)
        carry::add_next(a.limb[i], b.limb[i]);
    return a;
}

static __device__ __forceinline__ Fr sub_lazy(const Fr &a, const Fr &b)
{
    Fr out;
    carry::sub_first(out.limb[0], a.limb[0], b.limb[0]);
#pragma unroll
    for (int i = 1; i < 8; i++)
        carry::sub_next(out.limb[i], a.limb[i], b.limb[i]);
    carry::add_first(out.limb[0], FrModulus::p(0));
#pragma unroll
    for (int i = 1; i < 8; i++)
        carry::add_next(out.limb[i], FrModulus::p(i));
    return out;
}

/* The factor of an element in Montgomery form. w·2^256 = q·r + (w·2^256 mod r), and the remainder
   is that form, so q = -form/r mod 2^256, limb by limb since r = 1 mod 2^32. */
static __device__ __noinline__ Factor make_factor(const Fr &form)
{
    Factor out;
    Fr unit = Fr::zero();
    unit.limb[0] = 1;
    out.value = form * unit;
    uint32_t t[8];
    for (int i = 0; i < 8; i++)
        t[i] = form.limb[i];
    for (int i = 0; i < 8; i++) {
        uint32_t digit = 0u - t[i];
        out.quotient.limb[i] = digit;
        uint64_t sum = 0;
        for (int k = 0; i + k < 8; k++) {
            sum += uint64_t(digit) * FrModulus::p(k) + t[i + k];
            t[i + k] = uint32_t(sum);
            sum >>= 32;
        }
    }
    return out;
}

#endif
