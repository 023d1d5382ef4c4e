/* Inversion in a prime field by the binary greatest common divisor.

   Thirty halvings at a time are decided on 62-bit approximations of the two numbers (their low
   30 and top 32 bits) and then applied to the whole numbers as a 2×2 matrix of small factors
   (Pornin: "Optimized binary GCD for modular inversion", eprint 2020/972, algorithm 2). The
   cofactors are divided by 2^30 the Montgomery way. A tenth of the latency of a power by p − 2,
   which is what a round of affine additions waits for. */
#ifndef CUDA_INVERSE_CUH
#define CUDA_INVERSE_CUH

template <class Modulus> struct Inverter {
    static constexpr int N = Modulus::N;
    static constexpr int LIMBS = (32 * N + 29) / 30; /* 30 bits each, the top one signed */
    static constexpr int STEPS = 30;
    static constexpr int32_t MASK = (1 << STEPS) - 1;
    /* 2·bits − 1 halvings are enough. */
    static constexpr int TURNS_MAX = (2 * 32 * N + STEPS - 1) / STEPS;

    static __device__ __forceinline__ constexpr int32_t thirty_bits(const uint32_t *words, int i)
    {
        int bit = 30 * i, word = bit / 32, shift = bit % 32;
        uint64_t pair = words[word];
        if (word + 1 < N)
            pair |= uint64_t(words[word + 1]) << 32;
        return int32_t(pair >> shift) & MASK;
    }

    static __device__ __forceinline__ int32_t modulus(int i)
    {
        uint32_t words[N];
#pragma unroll
        for (int j = 0; j < N; j++)
            words[j] = Modulus::p(j);
        return thirty_bits(words, i);
    }

    /* The factors of one turn: (a, b) becomes (a·fa + b·ga, a·fb + b·gb) / 2^30. */
    struct Factors {
        int32_t fa, ga, fb, gb;
    };

    static __device__ __forceinline__ Factors decide(const int32_t *a, const int32_t *b)
    {
        uint32_t above = 0;
#pragma unroll
        for (int i = 3; i < LIMBS; i++)
            above |= uint32_t(a[i] | b[i]);
        uint64_t x, y;
        if (above == 0 && (a[2] | b[2]) < 4) { /* at most 62 bits: exact */
            x = uint64_t(a[2]) << 60 | uint64_t(a[1]) << 30 | uint64_t(a[0]);
            y = uint64_t(b[2]) << 60 | uint64_t(b[1]) << 30 | uint64_t(b[0]);
        } else {
            uint32_t a2 = 0, a1 = 0, a0 = 0, b2 = 0, b1 = 0, b0 = 0;
#pragma unroll
            for (int i = LIMBS - 1; i >= 2; i--) {
                if ((a2 | b2) == 0) {
                    a2 = uint32_t(a[i]), a1 = uint32_t(a[i - 1]), a0 = uint32_t(a[i - 2]);
                    b2 = uint32_t(b[i]), b1 = uint32_t(b[i - 1]), b0 = uint32_t(b[i - 2]);
                }
            }
            int shift = __clz(int(a2 | b2)) - 2;
            uint64_t high_a = (uint64_t(a2) << 30 | a1) << shift | a0 >> (30 - shift);
            uint64_t high_b = (uint64_t(b2) << 30 | b1) << shift | b0 >> (30 - shift);
            x = (high_a >> 28) << 30 | uint64_t(a[0]);
            y = (high_b >> 28) << 30 | uint64_t(b[0]);
        }
        /* Without branches: the lanes of a warp all take different ways. */
        Factors f = {1, 0, 0, 1};
#pragma unroll 5
        for (int i = 0; i < STEPS; i++) {
            bool odd = x & 1, swap = odd && x < y;
            uint64_t large = swap ? y : x, small = swap ? x : y;
            Factors g = f;
            if (swap)
                g = {f.fb, f.gb, f.fa, f.ga};
            x = (odd ? large - small : large) >> 1;
            y = small;
            f = {odd ? g.fa - g.fb : g.fa, odd ? g.ga - g.gb : g.ga, 2 * g.fb, 2 * g.gb};
        }
        return f;
    }

    /* (a·f + b·g) / 2^30, an exact division; true if the result was negative and its sign was
       changed. */
    static __device__ __forceinline__ bool combine(int32_t *out, const int32_t *a, const int32_t *b,
                                                   int32_t f, int32_t g)
    {
        int64_t sum = (int64_t(a[0]) * f + int64_t(b[0]) * g) >> STEPS;
#pragma unroll
        for (int i = 1; i < LIMBS; i++) {
            sum += int64_t(a[i]) * f + int64_t(b[i]) * g;
            out[i - 1] = int32_t(sum) & MASK;
            sum >>= STEPS;
        }
        out[LIMBS - 1] = int32_t(sum);
        if (sum >= 0)
            return false;
        int32_t carry = 0;
#pragma unroll
        for (int i = 0; i < LIMBS - 1; i++) {
            carry -= out[i];
            out[i] = carry & MASK;
            carry >>= STEPS;
        }
        out[LIMBS - 1] = carry - out[LIMBS - 1];
        return true;
    }

    /* (u·f + v·g) / 2^30 mod p. Grows by at most p/2 a turn, for which the top limb has room. */
    static __device__ __forceinline__ void combine_modular(int32_t *out, const int32_t *u,
                                                           const int32_t *v, int32_t f, int32_t g)
    {
        int64_t sum = int64_t(u[0]) * f + int64_t(v[0]) * g;
        /* −1/p mod 2^30 is the low part of −1/p mod 2^32; as a signed 30-bit number. */
        int32_t digit = int32_t((uint32_t(sum) * Modulus::M0) << 2) >> 2;
        sum = (sum + int64_t(modulus(0)) * digit) >> STEPS;
#pragma unroll
        for (int i = 1; i < LIMBS; i++) {
            sum += int64_t(u[i]) * f + int64_t(v[i]) * g + int64_t(modulus(i)) * digit;
            out[i - 1] = int32_t(sum) & MASK;
            sum >>= STEPS;
        }
        out[LIMBS - 1] = int32_t(sum);
    }

    /* v += sign·p, limbs carried. */
    static __device__ __forceinline__ void add_modulus(int32_t *v, int32_t sign)
    {
        int32_t carry = 0;
#pragma unroll
        for (int i = 0; i < LIMBS - 1; i++) {
            carry += v[i] + sign * modulus(i);
            v[i] = carry & MASK;
            carry >>= STEPS;
        }
        v[LIMBS - 1] += carry + sign * modulus(LIMBS - 1);
    }

    static __device__ __noinline__ void invert(uint32_t *element)
    {
        int32_t a[LIMBS], b[LIMBS], u[LIMBS], v[LIMBS], next[LIMBS];
        uint32_t squared[N];
#pragma unroll
        for (int i = 0; i < N; i++)
            squared[i] = Modulus::r2(i);
#pragma unroll
        for (int i = 0; i < LIMBS; i++) {
            a[i] = thirty_bits(element, i);
            b[i] = modulus(i);
            u[i] = thirty_bits(squared, i); /* 1/(xR)·R² is the Montgomery form of 1/x */
            v[i] = 0;
        }
#pragma unroll 1
        for (int turn = 0; turn < TURNS_MAX; turn++) {
            int32_t any = 0;
#pragma unroll
            for (int i = 0; i < LIMBS; i++)
                any |= a[i];
            if (any == 0)
                break;
            Factors f = decide(a, b);
            bool flip_a = combine(next, a, b, f.fa, f.ga);
            bool flip_b = combine(b, a, b, f.fb, f.gb);
#pragma unroll
            for (int i = 0; i < LIMBS; i++)
                a[i] = next[i];
            if (flip_a)
                f.fa = -f.fa, f.ga = -f.ga;
            if (flip_b)
                f.fb = -f.fb, f.gb = -f.gb;
            combine_modular(next, u, v, f.fa, f.ga);
            combine_modular(v, u, v, f.fb, f.gb);
#pragma unroll
            for (int i = 0; i < LIMBS; i++)
                u[i] = next[i];
        }
#pragma unroll 1
        while (v[LIMBS - 1] < 0)
            add_modulus(v, 1);
#pragma unroll 1
        for (;;) { /* down to below p */
            add_modulus(v, -1);
            if (v[LIMBS - 1] < 0)
                break;
        }
        add_modulus(v, 1);
#pragma unroll
        for (int i = 0; i < N; i++) {
            int limb = 32 * i / 30, shift = 32 * i % 30;
            uint64_t bits = uint64_t(v[limb]) >> shift;
            if (limb + 1 < LIMBS)
                bits |= uint64_t(v[limb + 1]) << (30 - shift);
            if (limb + 2 < LIMBS)
                bits |= uint64_t(v[limb + 2]) << (60 - shift);
            element[i] = uint32_t(bits);
        }
    }
};

template <class Modulus> __device__ __forceinline__ Field<Modulus> Field<Modulus>::inverse() const
{
    Field out = *this;
    Inverter<Modulus>::invert(out.limb);
    return out;
}

#endif
