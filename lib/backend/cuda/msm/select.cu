#include "backend/cuda/msm/select.h"

#include <cuda_runtime_api.h>

namespace
{

/* The bits of `word` where `mask` is set, moved together at the low end (Warren: "Hacker's
   Delight", 2nd edition, section 7-4). */
__device__ uint64_t closed_up(uint64_t word, uint64_t mask)
{
    word &= mask;
    uint64_t to_right = ~mask << 1; /* zeros of the mask to the right of a bit are counted */
#pragma unroll
    for (int step = 1; step < 64; step *= 2) {
        uint64_t odd = to_right; /* whether that count is odd */
#pragma unroll
        for (int shift = 1; shift < 64; shift *= 2)
            odd ^= odd << shift;
        uint64_t moved = odd & mask;
        mask = (mask ^ moved) | moved >> step;
        uint64_t part = word & moved;
        word = (word ^ part) | part >> step;
        to_right &= ~odd;
    }
    return word;
}

/* A word of variables a thread; `selected` is zero before. */
__global__ void select_words(const uint64_t *bits, const uint64_t *density, const uint32_t *ranks,
                             uint32_t n_vars, uint32_t first_point, unsigned long long *selected)
{
    uint32_t w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= (n_vars + 63) / 64)
        return;
    uint32_t left = n_vars - 64 * w; /* bits beyond the last variable do not count */
    uint64_t word = left < 64 ? bits[w] & ((uint64_t(1) << left) - 1) : bits[w];
    if (density && ~density[w] != 0)
        word = closed_up(word, density[w]);
    if (word == 0)
        return;
    uint32_t at = first_point + (density ? ranks[w] : 64 * w), shift = at % 64;
    atomicOr(selected + at / 64, word << shift);
    if (shift > 0 && word >> (64 - shift) != 0)
        atomicOr(selected + at / 64 + 1, word >> (64 - shift));
}

} // namespace

extern "C" int bits_select(const uint64_t *bits, const uint64_t *density, const uint32_t *ranks,
                           uint32_t n_vars, uint32_t first_point, uint32_t n_points,
                           uint64_t *selected, struct CUstream_st *stream)
{
    cudaMemsetAsync(selected, 0, (size_t(n_points) + 63) / 64 * sizeof *selected, stream);
    if (n_vars > 0)
        select_words<<<n_vars / (64 * 256) + 1, 256, 0, stream>>>(
            bits, density, ranks, n_vars, first_point,
            reinterpret_cast<unsigned long long *>(selected));
    return cudaGetLastError();
}
