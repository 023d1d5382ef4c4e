/* The fields Fr and Fp of BLS12-381 on the device.

   Elements are canonical residues in Montgomery form, 32-bit limbs, least significant first: in
   memory exactly what the host's struct fr and blst's coordinates are. Multiplication is the
   interleaved (CIOS) Montgomery product on two accumulators, one for products that start at even
   limbs and one for those at odd limbs, so that every 32×32 product's low and high half land in
   one aligned pair and become a single wide multiply-add with carry (Emmart, Zheng, Weems:
   "Faster modular exponentiation using double precision floating point arithmetic on the GPU",
   ARITH 2018, section on integer baselines; docs/spec/gpu.md, section 2, has the measured floor of
   28.4 G Fp products/s). */
#ifndef CUDA_FIELD_CUH
#define CUDA_FIELD_CUH

#include <cstdint>

/* Moduli and constants. M0 = −p⁻¹ mod 2^32; ONE = 2^(32·N) mod p; R2 = 2^(64·N) mod p. */
struct FrModulus {
    static constexpr int N = 8;
    static constexpr uint32_t M0 = 0xffffffffu;
    static __device__ __forceinline__ constexpr uint32_t p(int i)
    {
        constexpr uint32_t limbs[N] = {0x00000001u, 0xffffffffu, 0xfffe5bfeu, 0x53bda402u,
                                       0x09a1d805u, 0x3339d808u, 0x299d7d48u, 0x73eda753u};
        return limbs[i];
    }
    static __device__ __forceinline__ constexpr uint32_t one(int i)
    {
        constexpr uint32_t limbs[N] = {0xfffffffeu, 0x00000001u, 0x00034802u, 0x5884b7fau,
                                       0xecbc4ff5u, 0x998c4fefu, 0xacc5056fu, 0x1824b159u};
        return limbs[i];
    }
    static __device__ __forceinline__ constexpr uint32_t r2(int i)
    {
        constexpr uint32_t limbs[N] = {0xf3f29c6du, 0xc999e990u, 0x87925c23u, 0x2b6cedcbu,
                                       0x7254398fu, 0x05d31496u, 0x9f59ff11u, 0x0748d9d9u};
        return limbs[i];
    }
};

struct FpModulus {
    static constexpr int N = 12;
    static constexpr uint32_t M0 = 0xfffcfffdu;
    static __device__ __forceinline__ constexpr uint32_t p(int i)
    {
        constexpr uint32_t limbs[N] = {0xffffaaabu, 0xb9feffffu, 0xb153ffffu, 0x1eabfffeu,
                                       0xf6b0f624u, 0x6730d2a0u, 0xf38512bfu, 0x64774b84u,
                                       0x434bacd7u, 0x4b1ba7b6u, 0x397fe69au, 0x1a0111eau};
        return limbs[i];
    }
    static __device__ __forceinline__ constexpr uint32_t one(int i)
    {
        constexpr uint32_t limbs[N] = {0x0002fffdu, 0x76090000u, 0xc40c0002u, 0xebf4000bu,
                                       0x53c758bau, 0x5f489857u, 0x70525745u, 0x77ce5853u,
                                       0xa256ec6du, 0x5c071a97u, 0xfa80e493u, 0x15f65ec3u};
        return limbs[i];
    }
    static __device__ __forceinline__ constexpr uint32_t r2(int i)
    {
        constexpr uint32_t limbs[N] = {0x1c341746u, 0xf4df1f34u, 0x09d104f1u, 0x0a76e6a6u,
                                       0x4c95b6d5u, 0x8de5476cu, 0x939d83c0u, 0x67eb88a9u,
                                       0xb519952du, 0x9a793e85u, 0x92cae3aau, 0x11988fe5u};
        return limbs[i];
    }
};

/* Carry chains live in the condition code between consecutive statements, which volatile keeps in
   order. */
namespace carry
{
static __device__ __forceinline__ void mul_wide(uint32_t &lo, uint32_t &hi, uint32_t a, uint32_t b)
{
    asm volatile("mul.lo.u32 %0, %2, %3; mul.hi.u32 %1, %2, %3;"
                 : "=r"(lo), "=r"(hi)
                 : "r"(a), "r"(b));
}

/* (hi, lo) += a·b, starting / continuing a chain; `last` drops the carry out. */
static __device__ __forceinline__ void mad_first(uint32_t &lo, uint32_t &hi, uint32_t a, uint32_t b)
{
    asm volatile("mad.lo.cc.u32 %0, %2, %3, %0; madc.hi.cc.u32 %1, %2, %3, %1;"
                 : "+r"(lo), "+r"(hi)
                 : "r"(a), "r"(b));
}

static __device__ __forceinline__ void mad_next(uint32_t &lo, uint32_t &hi, uint32_t a, uint32_t b)
{
    asm volatile("madc.lo.cc.u32 %0, %2, %3, %0; madc.hi.cc.u32 %1, %2, %3, %1;"
                 : "+r"(lo), "+r"(hi)
                 : "r"(a), "r"(b));
}

/* (hi, lo) = (c1, c0) + a·b + carry: the accumulator moves down by two limbs as it is added to. */
static __device__ __forceinline__ void mad_shift(uint32_t &lo, uint32_t &hi, uint32_t a, uint32_t b,
                                                 uint32_t c0, uint32_t c1)
{
    asm volatile("madc.lo.cc.u32 %0, %2, %3, %4; madc.hi.cc.u32 %1, %2, %3, %5;"
                 : "=r"(lo), "=r"(hi)
                 : "r"(a), "r"(b), "r"(c0), "r"(c1));
}

static __device__ __forceinline__ void mad_shift_last(uint32_t &lo, uint32_t &hi, uint32_t a,
                                                      uint32_t b)
{
    asm volatile("madc.lo.cc.u32 %0, %2, %3, 0; madc.hi.u32 %1, %2, %3, 0;"
                 : "=r"(lo), "=r"(hi)
                 : "r"(a), "r"(b));
}

static __device__ __forceinline__ void add_first(uint32_t &a, uint32_t b)
{
    asm volatile("add.cc.u32 %0, %0, %1;" : "+r"(a) : "r"(b));
}

static __device__ __forceinline__ void add_next(uint32_t &a, uint32_t b)
{
    asm volatile("addc.cc.u32 %0, %0, %1;" : "+r"(a) : "r"(b));
}

static __device__ __forceinline__ void add_carry(uint32_t &a)
{
    asm volatile("addc.u32 %0, %0, 0;" : "+r"(a));
}

static __device__ __forceinline__ void sub_first(uint32_t &out, uint32_t a, uint32_t b)
{
    asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
}

static __device__ __forceinline__ void sub_next(uint32_t &out, uint32_t a, uint32_t b)
{
    asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
}

/* All ones if the chain borrowed, else 0. */
static __device__ __forceinline__ uint32_t borrow()
{
    uint32_t mask;
    asm volatile("subc.u32 %0, 0, 0;" : "=r"(mask));
    return mask;
}
} // namespace carry

template <class Modulus> struct Field {
    static constexpr int N = Modulus::N;
    uint32_t limb[N];

    static __device__ __forceinline__ Field zero()
    {
        Field out;
#pragma unroll
        for (int i = 0; i < N; i++)
            out.limb[i] = 0;
        return out;
    }

    static __device__ __forceinline__ Field one()
    {
        Field out;
#pragma unroll
        for (int i = 0; i < N; i++)
            out.limb[i] = Modulus::one(i);
        return out;
    }

    /* 2^(64·N) mod p: the product with it turns an integer into Montgomery form. */
    static __device__ __forceinline__ Field r_squared()
    {
        Field out;
#pragma unroll
        for (int i = 0; i < N; i++)
            out.limb[i] = Modulus::r2(i);
        return out;
    }

    __device__ __forceinline__ bool is_zero() const
    {
        uint32_t any = 0;
#pragma unroll
        for (int i = 0; i < N; i++)
            any |= limb[i];
        return any == 0;
    }

    __device__ __forceinline__ bool operator==(const Field &other) const
    {
        uint32_t differ = 0;
#pragma unroll
        for (int i = 0; i < N; i++)
            differ |= limb[i] ^ other.limb[i];
        return differ == 0;
    }

    /* Subtracts p unless that borrows: from [0, 2p) to [0, p). Both moduli leave the top bit of the
       top limb free, so sums of two residues never carry out. */
    __device__ __forceinline__ void reduce_once()
    {
        uint32_t less[N];
        carry::sub_first(less[0], limb[0], Modulus::p(0));
#pragma unroll
        for (int i = 1; i < N; i++)
            carry::sub_next(less[i], limb[i], Modulus::p(i));
        uint32_t keep = carry::borrow();
#pragma unroll
        for (int i = 0; i < N; i++)
            limb[i] = keep ? limb[i] : less[i];
    }

    /* Not reduced: below 2·p. */
    __device__ __forceinline__ Field loose_sum(const Field &b) const
    {
        Field out = *this;
        carry::add_first(out.limb[0], b.limb[0]);
#pragma unroll
        for (int i = 1; i < N; i++)
            carry::add_next(out.limb[i], b.limb[i]);
        return out;
    }

    /* out = a - b over n limbs; all ones if it borrowed, else 0. */
    static __device__ __forceinline__ uint32_t subtract(uint32_t *out, const uint32_t *a,
                                                        const uint32_t *b, int n)
    {
        carry::sub_first(out[0], a[0], b[0]);
#pragma unroll
        for (int i = 1; i < n; i++)
            carry::sub_next(out[i], a[i], b[i]);
        return carry::borrow();
    }

    friend __device__ __forceinline__ Field operator+(const Field &a, const Field &b)
    {
        Field out = a.loose_sum(b);
        out.reduce_once();
        return out;
    }

    friend __device__ __forceinline__ Field operator-(const Field &a, const Field &b)
    {
        Field out;
        carry::sub_first(out.limb[0], a.limb[0], b.limb[0]);
#pragma unroll
        for (int i = 1; i < N; i++)
            carry::sub_next(out.limb[i], a.limb[i], b.limb[i]);
        uint32_t mask = carry::borrow();
        carry::add_first(out.limb[0], Modulus::p(0) & mask);
#pragma unroll
        for (int i = 1; i < N; i++)
            carry::add_next(out.limb[i], Modulus::p(i) & mask);
        return out;
    }

    /* −this if `negate`, else this; −0 = 0. */
    __device__ __forceinline__ Field negated_if(bool negate) const
    {
        Field flipped = zero() - *this;
        Field out;
#pragma unroll
        for (int i = 0; i < N; i++)
            out.limb[i] = negate ? flipped.limb[i] : limb[i];
        return out;
    }

    /* The same for what cannot be 0. */
    __device__ __forceinline__ Field nonzero_negated_if(bool negate) const
    {
        Field out;
        uint32_t flipped[N];
        carry::sub_first(flipped[0], Modulus::p(0), limb[0]);
#pragma unroll
        for (int i = 1; i < N; i++)
            carry::sub_next(flipped[i], Modulus::p(i), limb[i]);
#pragma unroll
        for (int i = 0; i < N; i++)
            out.limb[i] = negate ? flipped[i] : limb[i];
        return out;
    }

    __device__ __forceinline__ Field doubled() const
    {
        return *this + *this;
    }

    /* One limb of the multiplier: even += a_even·b with the running sum moved down one limb (the
       accumulators swap roles at each step), then one limb of reduction. */
    static __device__ __forceinline__ void step(uint32_t *even, uint32_t *odd, const uint32_t *a,
                                                uint32_t b, bool first)
    {
        if (first) {
#pragma unroll
            for (int j = 0; j < N; j += 2) {
                carry::mul_wide(odd[j], odd[j + 1], a[j + 1], b);
                carry::mul_wide(even[j], even[j + 1], a[j], b);
            }
        } else {
            carry::add_first(even[0], odd[1]);
#pragma unroll
            for (int j = 0; j < N - 2; j += 2)
                carry::mad_shift(odd[j], odd[j + 1], a[j + 1], b, odd[j + 2], odd[j + 3]);
            carry::mad_shift_last(odd[N - 2], odd[N - 1], a[N - 1], b);
            carry::mad_first(even[0], even[1], a[0], b);
#pragma unroll
            for (int j = 2; j < N; j += 2)
                carry::mad_next(even[j], even[j + 1], a[j], b);
            carry::add_carry(odd[N - 1]);
        }
        uint32_t digit = even[0] * Modulus::M0;
        carry::mad_first(odd[0], odd[1], Modulus::p(1), digit);
#pragma unroll
        for (int j = 2; j < N; j += 2)
            carry::mad_next(odd[j], odd[j + 1], Modulus::p(j + 1), digit);
        carry::mad_first(even[0], even[1], Modulus::p(0), digit);
#pragma unroll
        for (int j = 2; j < N; j += 2)
            carry::mad_next(even[j], even[j + 1], Modulus::p(j), digit);
        carry::add_carry(odd[N - 1]);
    }

    /* sum += factor·Σ limb[j]·2^(32(i+j)) over j = first, first + 2, … */
    __device__ __forceinline__ void add_row(uint32_t *sum, uint32_t factor, int i, int first) const
    {
#pragma unroll
        for (int j = first; j < N; j += 2) {
            if (j == first)
                carry::mad_first(sum[i + j], sum[i + j + 1], factor, limb[j]);
            else
                carry::mad_next(sum[i + j], sum[i + j + 1], factor, limb[j]);
            if (j + 2 >= N && i + j + 2 < 2 * N)
                carry::add_carry(sum[i + j + 2]);
        }
    }

    /* One limb of reduction: like step without the product. */
    static __device__ __forceinline__ void reduce_step(uint32_t *even, uint32_t *odd, bool first)
    {
        if (!first)
            carry::add_first(even[0], odd[1]);
        uint32_t digit = even[0] * Modulus::M0; /* leaves the carry alone */
        if (first) {
#pragma unroll
            for (int j = 0; j < N; j += 2)
                carry::mul_wide(odd[j], odd[j + 1], Modulus::p(j + 1), digit);
        } else {
#pragma unroll
            for (int j = 0; j < N - 2; j += 2)
                carry::mad_shift(odd[j], odd[j + 1], Modulus::p(j + 1), digit, odd[j + 2],
                                 odd[j + 3]);
            carry::mad_shift_last(odd[N - 2], odd[N - 1], Modulus::p(N - 1), digit);
        }
        carry::mad_first(even[0], even[1], Modulus::p(0), digit);
#pragma unroll
        for (int j = 2; j < N; j += 2)
            carry::mad_next(even[j], even[j + 1], Modulus::p(j), digit);
        carry::add_carry(odd[N - 1]);
    }

    /* wide / 2^(32·N) mod p, below p + wide / 2^(32·N). */
    static __device__ __forceinline__ Field reduced(const uint32_t *wide)
    {
        uint32_t even[N], odd[N];
#pragma unroll
        for (int i = 0; i < N; i++)
            even[i] = wide[i];
#pragma unroll
        for (int i = 0; i < N; i += 2) {
            reduce_step(even, odd, i == 0);
            reduce_step(odd, even, false);
        }
        carry::add_first(even[0], odd[1]);
#pragma unroll
        for (int i = 1; i < N - 1; i++)
            carry::add_next(even[i], odd[i + 1]);
        carry::add_carry(even[N - 1]);
        Field out;
#pragma unroll
        for (int i = 0; i < N; i++)
            out.limb[i] = even[i];
        carry::add_first(out.limb[0], wide[N]);
#pragma unroll
        for (int i = 1; i < N; i++)
            carry::add_next(out.limb[i], wide[N + i]);
        return out;
    }

    /* The full product, 2·N limbs. */
    static __device__ __forceinline__ void wide_product(const Field &a, const Field &b,
                                                        uint32_t *wide)
    {
        uint32_t other[2 * N]; /* products that start at odd limbs; `wide` takes the even ones */
#pragma unroll
        for (int i = 0; i < 2 * N; i++)
            wide[i] = other[i] = 0;
#pragma unroll
        for (int i = 0; i < N; i++) {
            b.add_row(i % 2 ? other : wide, a.limb[i], i, 0);
            b.add_row(i % 2 ? wide : other, a.limb[i], i, 1);
        }
        carry::add_first(wide[1], other[1]);
#pragma unroll
        for (int i = 2; i < 2 * N; i++)
            carry::add_next(wide[i], other[i]);
    }

    /* A residue below p + a·b/2^(32·N), not reduced further: below 1.5·p for Fp if neither factor
       is above 2·p. */
    static __device__ __forceinline__ Field loose_product(const Field &a, const Field &b)
    {
        uint32_t even[N], odd[N];
#pragma unroll
        for (int i = 0; i < N; i += 2) {
            step(even, odd, a.limb, b.limb[i], i == 0);
            step(odd, even, a.limb, b.limb[i + 1], false);
        }
        Field out;
        carry::add_first(even[0], odd[1]);
#pragma unroll
        for (int i = 1; i < N - 1; i++)
            carry::add_next(even[i], odd[i + 1]);
        carry::add_carry(even[N - 1]);
#pragma unroll
        for (int i = 0; i < N; i++)
            out.limb[i] = even[i];
        return out;
    }

    friend __device__ __forceinline__ Field operator*(const Field &a, const Field &b)
    {
        Field out = loose_product(a, b);
        out.reduce_once();
        return out;
    }

    /* Each cross product once, doubled, and the squares; then the reduction alone: 78 and N·(N + 1)
       products of limbs where * takes N·(2·N + 1), for a few additions more. */
    __device__ __forceinline__ Field loose_square() const
    {
        uint32_t even[2 * N], odd[2 * N]; /* products that start at even and at odd limbs */
#pragma unroll
        for (int i = 0; i < 2 * N; i++)
            even[i] = odd[i] = 0;
#pragma unroll
        for (int i = 0; i < N - 1; i++) {
            add_row(odd, limb[i], i, i + 1);
            add_row(even, limb[i], i, i + 2);
        }
        carry::add_first(odd[2], even[2]);
#pragma unroll
        for (int i = 3; i < 2 * N; i++)
            carry::add_next(odd[i], even[i]);
        carry::add_first(odd[1], odd[1]);
#pragma unroll
        for (int i = 2; i < 2 * N; i++)
            carry::add_next(odd[i], odd[i]);
        carry::mad_first(odd[0], odd[1], limb[0], limb[0]);
#pragma unroll
        for (int i = 1; i < N; i++)
            carry::mad_next(odd[2 * i], odd[2 * i + 1], limb[i], limb[i]);
        return reduced(odd);
    }

    __device__ __forceinline__ Field squared() const
    {
        Field out = loose_square();
        out.reduce_once();
        return out;
    }

    /* this^exponent, limbs of the exponent least significant first. Not inlined: used for
       inversions and other rare work. */
    __device__ __noinline__ Field power(const uint32_t *exponent, int limbs) const
    {
        Field out = one();
        bool started = false;
        for (int i = limbs * 32 - 1; i >= 0; i--) {
            if (started)
                out = out.squared();
            if (exponent[i / 32] >> (i % 32) & 1) {
                out = started ? out * *this : *this;
                started = true;
            }
        }
        return out;
    }

    __device__ Field inverse() const; /* 0 for 0 */
};

using Fr = Field<FrModulus>;
using Fp = Field<FpModulus>;

/* Fp² = Fp[u]/(u² + 1). */
struct Fp2 {
    Fp c0, c1;

    static __device__ __forceinline__ Fp2 zero() { return {Fp::zero(), Fp::zero()}; }
    static __device__ __forceinline__ Fp2 one() { return {Fp::one(), Fp::zero()}; }
    __device__ __forceinline__ bool is_zero() const { return c0.is_zero() && c1.is_zero(); }
    __device__ __forceinline__ bool operator==(const Fp2 &b) const
    {
        return c0 == b.c0 && c1 == b.c1;
    }
    friend __device__ __forceinline__ Fp2 operator+(const Fp2 &a, const Fp2 &b)
    {
        return {a.c0 + b.c0, a.c1 + b.c1};
    }
    friend __device__ __forceinline__ Fp2 operator-(const Fp2 &a, const Fp2 &b)
    {
        return {a.c0 - b.c0, a.c1 - b.c1};
    }
    /* Karatsuba with three products and two reductions. */
    friend __device__ __forceinline__ Fp2 operator*(const Fp2 &a, const Fp2 &b)
    {
        constexpr int N = Fp::N;
        uint32_t low[2 * N], high[2 * N], cross[2 * N];
        Fp::wide_product(a.c0.loose_sum(a.c1), b.c0.loose_sum(b.c1), cross);
        Fp::wide_product(a.c0, b.c0, low);
        Fp::subtract(cross, cross, low, 2 * N);
        Fp::wide_product(a.c1, b.c1, high);
        Fp::subtract(cross, cross, high, 2 * N);
        /* Below 0: p·2^(32·N) more. */
        uint32_t mask = Fp::subtract(low, low, high, 2 * N);
        carry::add_first(low[N], FpModulus::p(0) & mask);
#pragma unroll
        for (int i = 1; i < N; i++)
            carry::add_next(low[N + i], FpModulus::p(i) & mask);
        Fp2 out = {Fp::reduced(low), Fp::reduced(cross)};
        out.c0.reduce_once();
        out.c1.reduce_once();
        return out;
    }
    /* Where Fp has something cheaper. */
    static __device__ __forceinline__ Fp2 loose_product(const Fp2 &a, const Fp2 &b)
    {
        return a * b;
    }
    __device__ __forceinline__ Fp2 loose_square() const
    {
        return squared();
    }
    __device__ __forceinline__ void reduce_once() {}
    __device__ __forceinline__ Fp2 nonzero_negated_if(bool negate) const
    {
        return negated_if(negate);
    }
    __device__ __forceinline__ Fp2 squared() const
    {
        Fp product = c0 * c1;
        return {c0.loose_sum(c1) * (c0 - c1), product + product};
    }
    __device__ __forceinline__ Fp2 doubled() const
    {
        return {c0 + c0, c1 + c1};
    }
    __device__ __forceinline__ Fp2 negated_if(bool negate) const
    {
        return {c0.negated_if(negate), c1.negated_if(negate)};
    }
    __device__ __noinline__ Fp2 inverse() const
    {
        Fp norm = (c0.squared() + c1.squared()).inverse();
        return {c0 * norm, (Fp::zero() - c1) * norm};
    }
};

#include "backend/cuda/field/inverse.cuh"

#endif
