/* Points of G1 (F = Fp) and G2 (F = Fp2) on the device.

   Affine points in memory are slots: x at 0, y at half the slot, infinity marked by x = 0. No
   point of the prime-order subgroups has x = 0 (the curve's points with x = 0 have order 3), so
   x alone tells. Running sums are XYZZ: x = X/ZZ, y = Y/ZZZ, ZZ³ = ZZZ², infinity ZZ = 0
   (Explicit-Formulas Database, "short Weierstrass, XYZZ coordinates"; a = 0). */
#ifndef CUDA_CURVE_CUH
#define CUDA_CURVE_CUH

#include "backend/cuda/field/field.cuh"

template <class F> struct Slot;
template <> struct Slot<Fp> {
    static constexpr int BYTES = 128; /* DRAM is read in units of 64 bytes: x and y take one each */
};
template <> struct Slot<Fp2> {
    static constexpr int BYTES = 256;
};

/* A field element as 16-byte vectors. */
template <class F> __device__ __forceinline__ F load_element(const void *from)
{
    union {
        F element;
        uint4 vectors[sizeof(F) / 16];
    } value;
#pragma unroll
    for (unsigned i = 0; i < sizeof(F) / 16; i++)
        value.vectors[i] = static_cast<const uint4 *>(from)[i];
    return value.element;
}

template <class F> __device__ __forceinline__ void store_element(void *to, const F &element)
{
    union {
        F element;
        uint4 vectors[sizeof(F) / 16];
    } value;
    value.element = element;
#pragma unroll
    for (unsigned i = 0; i < sizeof(F) / 16; i++)
        static_cast<uint4 *>(to)[i] = value.vectors[i];
}

template <class F> __device__ __forceinline__ F load_x(const unsigned char *slots, size_t index)
{
    return load_element<F>(slots + index * Slot<F>::BYTES);
}

template <class F> __device__ __forceinline__ F load_y(const unsigned char *slots, size_t index)
{
    return load_element<F>(slots + index * Slot<F>::BYTES + Slot<F>::BYTES / 2);
}

template <class F> struct Affine {
    F x, y;

    static __device__ __forceinline__ Affine load(const unsigned char *slots, size_t index)
    {
        return {load_x<F>(slots, index), load_y<F>(slots, index)};
    }
    __device__ __forceinline__ void store(unsigned char *slots, size_t index) const
    {
        store_element(slots + index * Slot<F>::BYTES, x);
        store_element(slots + index * Slot<F>::BYTES + Slot<F>::BYTES / 2, y);
    }
    __device__ __forceinline__ bool is_infinity() const { return x.is_zero(); }
};

template <class F> struct Xyzz {
    F x, y, zz, zzz;

    static __device__ __forceinline__ Xyzz infinity()
    {
        return {F::zero(), F::zero(), F::zero(), F::zero()};
    }
    __device__ __forceinline__ bool is_infinity() const { return zz.is_zero(); }

    static __device__ __forceinline__ Xyzz from(const Affine<F> &point)
    {
        if (point.is_infinity())
            return infinity();
        return {point.x, point.y, F::one(), F::one()};
    }

    /* Sums are called, not inlined: they are used where latency counts, not throughput. In Fp2
       products are, too: fetching the code of all of them for one pass takes longer than the
       pass. */
    static __device__ __noinline__ F called_product(const F &a, const F &b) { return a * b; }
    static __device__ __forceinline__ F product(const F &a, const F &b)
    {
        return sizeof(F) > sizeof(Fp) ? called_product(a, b) : a * b;
    }

    /* dbl-2008-s-1 with a = 0. */
    __device__ __noinline__ Xyzz doubled() const
    {
        if (is_infinity())
            return *this;
        F u = y.doubled();
        F v = product(u, u);
        F w = product(u, v);
        F s = product(x, v);
        F square = product(x, x);
        F m = square.doubled() + square;
        Xyzz out;
        out.x = product(m, m) - s.doubled();
        out.y = product(m, s - out.x) - product(w, y);
        out.zz = product(v, zz);
        out.zzz = product(w, zzz);
        return out;
    }

    /* add-2008-s; complete. */
    __device__ __noinline__ void add(const Xyzz &other)
    {
        if (other.is_infinity())
            return;
        if (is_infinity()) {
            *this = other;
            return;
        }
        F u1 = product(x, other.zz);
        F s1 = product(y, other.zzz);
        F p = product(other.x, zz) - u1;
        F r = product(other.y, zzz) - s1;
        if (p.is_zero()) {
            *this = r.is_zero() ? doubled() : infinity();
            return;
        }
        F pp = product(p, p);
        F ppp = product(p, pp);
        F q = product(u1, pp);
        x = product(r, r) - ppp - q.doubled();
        y = product(r, q - x) - product(s1, ppp);
        zz = product(product(zz, other.zz), pp);
        zzz = product(product(zzz, other.zzz), ppp);
    }

    /* madd-2008-s; complete. */
    __device__ __noinline__ void add(const Affine<F> &other)
    {
        if (other.is_infinity())
            return;
        if (is_infinity()) {
            *this = from(other);
            return;
        }
        F p = other.x * zz - x;
        F r = other.y * zzz - y;
        if (p.is_zero()) {
            *this = r.is_zero() ? doubled() : infinity();
            return;
        }
        F pp = p.squared();
        F ppp = p * pp;
        F q = x * pp;
        x = r.squared() - ppp - q.doubled();
        y = r * (q - x) - y * ppp;
        zz = zz * pp;
        zzz = zzz * ppp;
    }

    /* scalar·this for a small scalar. */
    __device__ Xyzz times(uint32_t scalar) const
    {
        Xyzz out = infinity();
        for (int bit = 31 - __clz(scalar | 1); bit >= 0; bit--) {
            out = out.doubled();
            if (scalar >> bit & 1)
                out.add(*this);
        }
        return out;
    }

    __device__ Affine<F> to_affine() const
    {
        if (is_infinity())
            return {F::zero(), F::zero()};
        F inverse_zzz = zzz.inverse();
        F inverse_z = product(inverse_zzz, zz); /* ZZ/ZZZ = 1/Z */
        return {product(x, product(inverse_z, inverse_z)), product(y, inverse_zzz)};
    }
};

#endif
