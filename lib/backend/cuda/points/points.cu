#include "backend/cuda/points/points.h"
#include "backend/cuda/field/curve.cuh"

namespace
{

/* 48 big-endian bytes; false unless they are below the modulus, which also means no flag bits. */
__device__ bool read_coordinate(const uint4 *bytes, Fp *out)
{
    uint32_t words[12];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        uint4 part = bytes[i];
        words[4 * i] = part.x;
        words[4 * i + 1] = part.y;
        words[4 * i + 2] = part.z;
        words[4 * i + 3] = part.w;
    }
    Fp value;
#pragma unroll
    for (int i = 0; i < 12; i++)
        value.limb[i] = __byte_perm(words[11 - i], 0, 0x0123);
    uint32_t unused;
    carry::sub_first(unused, value.limb[0], FpModulus::p(0));
#pragma unroll
    for (int i = 1; i < 12; i++)
        carry::sub_next(unused, value.limb[i], FpModulus::p(i));
    bool below = carry::borrow() != 0;
    *out = value * Fp::r_squared();
    return below;
}

__device__ bool read_element(const uint4 *bytes, Fp *out)
{
    return read_coordinate(bytes, out);
}

/* Files hold c1 before c0. */
__device__ bool read_element(const uint4 *bytes, Fp2 *out)
{
    bool high = read_coordinate(bytes, &out->c1);
    bool low = read_coordinate(bytes + 3, &out->c0);
    return high && low;
}

__device__ Fp four()
{
    return Fp::one().doubled().doubled();
}

/* b of y² = x³ + b: 4, and 4·(1 + u). */
__device__ void curve_constant(Fp *out)
{
    *out = four();
}

__device__ void curve_constant(Fp2 *out)
{
    *out = {four(), four()};
}

/* 0x40, then zeros; or only zeros. */
__device__ bool is_encoded_infinity(const uint4 *bytes, int n)
{
    uint32_t rest = bytes[0].x & ~0x40u;
    for (int i = 0; i < n; i++)
        rest |= (i > 0 ? bytes[i].x : 0) | bytes[i].y | bytes[i].z | bytes[i].w;
    return rest == 0;
}

template <class F>
__global__ void __launch_bounds__(128)
    convert(const uint4 *bytes, uint32_t n, unsigned char *slots, points_faults *faults)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    constexpr size_t VECTORS = sizeof(F) / 16;
    const uint4 *from = bytes + size_t(i) * 2 * VECTORS;
    Affine<F> point;
    bool formed = read_element(from, &point.x);
    formed = read_element(from + VECTORS, &point.y) && formed;
    F b;
    curve_constant(&b);
    if (is_encoded_infinity(from, 2 * VECTORS))
        atomicAdd(&faults->infinite, 1);
    else if (!formed)
        atomicAdd(&faults->malformed, 1);
    else if (!(point.y.squared() == point.x.squared() * point.x + b))
        atomicAdd(&faults->off_curve, 1);
    else {
        point.store(slots, i);
        return;
    }
    Affine<F>{F::zero(), F::zero()}.store(slots, i);
}

/* A thread copies 16 bytes. */
__global__ void gather(const uint4 *slots, uint32_t first, uint32_t count, const uint32_t *points,
                       size_t n_vectors, uint32_t slot_vectors, uint4 *out)
{
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= n_vectors)
        return;
    uint32_t point = points[i / slot_vectors];
    if (point >= first && point - first < count)
        out[i] = slots[size_t(point - first) * slot_vectors + i % slot_vectors];
}

} // namespace

extern "C" size_t points_file_bytes(enum msm_group group)
{
    return group == MSM_G1 ? 2 * sizeof(Fp) : 2 * sizeof(Fp2);
}

extern "C" int points_convert(enum msm_group group, const void *bytes, uint32_t n, void *slots,
                              struct points_faults *faults, struct CUstream_st *stream)
{
    if (n == 0)
        return cudaSuccess;
    auto from = static_cast<const uint4 *>(bytes);
    auto to = static_cast<unsigned char *>(slots);
    if (group == MSM_G1)
        convert<Fp><<<(n + 127) / 128, 128, 0, stream>>>(from, n, to, faults);
    else
        convert<Fp2><<<(n + 127) / 128, 128, 0, stream>>>(from, n, to, faults);
    return cudaGetLastError();
}

extern "C" int points_gather(enum msm_group group, const void *slots, uint32_t first,
                             uint32_t count, const uint32_t *points, uint32_t n, void *out,
                             struct CUstream_st *stream)
{
    if (n == 0)
        return cudaSuccess;
    uint32_t slot_vectors = uint32_t(msm_slot_bytes(group) / sizeof(uint4));
    size_t n_vectors = size_t(n) * slot_vectors;
    gather<<<unsigned((n_vectors + 255) / 256), 256, 0, stream>>>(
        static_cast<const uint4 *>(slots), first, count, points, n_vectors, slot_vectors,
        static_cast<uint4 *>(out));
    return cudaGetLastError();
}
