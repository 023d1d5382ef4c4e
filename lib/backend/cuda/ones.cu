/* Sums of the points whose variable is 1: indices by a scan over the bitmap, then a tree of affine
   additions over neighbours. */
#include "arena.cuh"
#include "msm.h"
#include "rounds.cuh"

#include <cub/device/device_scan.cuh>

namespace
{

constexpr int ROUNDS = 28; /* 2^27 points at most */

/* The variables of word w that are summed; the last word may have bits beyond the last variable. */
__device__ __forceinline__ uint64_t chosen(const uint64_t *bits, const uint64_t *density,
                                           uint32_t n_vars, uint32_t w)
{
    uint64_t word = density ? bits[w] & density[w] : bits[w];
    uint32_t left = n_vars - 64 * w;
    return left < 64 ? word & ((uint64_t(1) << left) - 1) : word;
}

__global__ void count_ones(const uint64_t *bits, const uint64_t *density, uint32_t n_vars,
                           uint32_t n_words, uint32_t *counts)
{
    uint32_t w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w <= n_words)
        counts[w] = w < n_words ? __popcll(chosen(bits, density, n_vars, w)) : 0;
}

/* refs: the points of all chosen variables, in order. offsets: the scanned counts. A warp takes
   32 words, one after the other, two bits a lane, so that what it writes lies together. */
__global__ void list_ones(const uint64_t *bits, const uint64_t *density, const uint32_t *ranks,
                          uint32_t n_vars, uint32_t n_words, const uint32_t *offsets,
                          uint32_t first_point, uint32_t *refs)
{
    uint32_t lane = threadIdx.x % 32, w = blockIdx.x * blockDim.x + threadIdx.x;
    bool there = w < n_words;
    uint64_t own_chosen = there ? chosen(bits, density, n_vars, w) : 0;
    uint64_t own_dense = there && density ? density[w] : ~uint64_t(0);
    uint32_t own_rank = first_point + (there && ranks ? ranks[w] : 64 * w);
    uint32_t own_offset = there ? offsets[w] : 0;
    for (int from = 0; from < 32; from++) {
        uint64_t word = __shfl_sync(~0u, own_chosen, from);
        uint64_t dense = __shfl_sync(~0u, own_dense, from);
        uint32_t rank = __shfl_sync(~0u, own_rank, from);
        uint32_t offset = __shfl_sync(~0u, own_offset, from);
#pragma unroll
        for (uint32_t bit = lane; bit < 64; bit += 32) {
            uint64_t below = (uint64_t(1) << bit) - 1;
            if (word >> bit & 1)
                refs[offset + __popcll(word & below)] = rank + __popcll(dense & below);
        }
    }
}

/* Lays out all rounds: counts[r] references enter round r, as pairs of neighbours; an odd one
   out goes on to the next round. */
__global__ void lay_out_tree(const uint32_t *n, RoundRange *ranges, uint32_t *counts)
{
    uint32_t count = *n, slot = 0;
    for (int round = 0; round < ROUNDS; round++) {
        counts[round] = count;
        ranges[round] = {0, slot, count / 2};
        slot += count / 2;
        count -= count / 2;
    }
    counts[ROUNDS] = count;
}

/* References after a round: its slots, and the odd one out of the references before. */
__global__ void next_refs(const uint32_t *before, const uint32_t *count, const RoundRange *range,
                          uint32_t first_slot_ref, uint32_t *after)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < range->count)
        after[i] = first_slot_ref + range->first_slot + i;
    else if (i == range->count && *count % 2 == 1)
        after[i] = before[*count - 1];
}

/* So few points are summed by blocks, a point a thread, rather than by rounds that wait for
   inversions. */
constexpr int FEW_THREADS = 64, FEW_PARTS = 8, FEW_BLOCKS = FEW_THREADS * FEW_PARTS;
constexpr int FEW = FEW_BLOCKS * FEW_THREADS;

/* The sum over a block, in thread 0. */
template <class F, int THREADS> __device__ Xyzz<F> sum_of_block(Xyzz<F> own)
{
    __shared__ Xyzz<F> shared[THREADS];
    shared[threadIdx.x] = own;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (int(threadIdx.x) < half)
            shared[threadIdx.x].add(shared[threadIdx.x + half]);
        __syncthreads();
    }
    return shared[0];
}

template <class F>
__global__ void __launch_bounds__(FEW_THREADS)
    sum_few(RoundMemory<F> memory, const uint32_t *refs, const uint32_t *count, Xyzz<F> *partial)
{
    uint32_t i = blockIdx.x * FEW_THREADS + threadIdx.x;
    Xyzz<F> own = Xyzz<F>::infinity();
    if (i < *count)
        own = Xyzz<F>::from(memory.point(refs[i]));
    Xyzz<F> sum = sum_of_block<F, FEW_THREADS>(own);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sum;
}

template <class F>
__global__ void __launch_bounds__(FEW_THREADS) sum_partial(const Xyzz<F> *partial, Xyzz<F> *parts)
{
    Xyzz<F> sum = sum_of_block<F, FEW_THREADS>(partial[blockIdx.x * FEW_THREADS + threadIdx.x]);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = sum;
}

template <class F>
__global__ void __launch_bounds__(FEW_PARTS) sum_parts(const Xyzz<F> *parts, Affine<F> *sum)
{
    Xyzz<F> all = sum_of_block<F, FEW_PARTS>(parts[threadIdx.x]);
    if (threadIdx.x == 0)
        *sum = all.to_affine();
}

template <class F> struct OnesSum {
    uint32_t n_words, ones;
    uint32_t *offsets, *refs[2], *counts;
    RoundRange *ranges;
    RoundMemory<F> memory;
    Xyzz<F> *partial;
    void *scan_temp;
    size_t scan_bytes, bytes;

    OnesSum(uint32_t n_vars, uint32_t ones_max, void *scratch)
    {
        n_words = (n_vars + 63) / 64;
        ones = ones_max;
        scan_bytes = 0;
        cub::DeviceScan::ExclusiveSum(nullptr, scan_bytes, static_cast<uint32_t *>(nullptr),
                                      static_cast<uint32_t *>(nullptr), int(n_words + 1));
        Arena arena(scratch);
        offsets = arena.take<uint32_t>(n_words + 1);
        refs[0] = arena.take<uint32_t>(ones + 2);
        refs[1] = arena.take<uint32_t>(ones / 2 + 2);
        counts = arena.take<uint32_t>(ROUNDS + 1);
        ranges = arena.take<RoundRange>(ROUNDS);
        partial = arena.take<Xyzz<F>>(FEW_BLOCKS + FEW_PARTS);
        memory = RoundMemory<F>::take(arena, ones + 1, ones / 2 + 1);
        scan_temp = arena.take<unsigned char>(scan_bytes);
        bytes = arena.used();
    }

    void run(const ones_job &job, cudaStream_t stream)
    {
        memory.points = static_cast<const unsigned char *>(job.points);
        memory.n_points = job.n_points;
        count_ones<<<n_words / 256 + 1, 256, 0, stream>>>(job.bits, job.density, job.n_vars,
                                                          n_words, offsets);
        cub::DeviceScan::ExclusiveSum(scan_temp, scan_bytes, offsets, offsets, int(n_words + 1),
                                      stream);
        list_ones<<<(n_words + 255) / 256, 256, 0, stream>>>(job.bits, job.density, job.ranks,
                                                             job.n_vars, n_words, offsets,
                                                             job.first_point, refs[0]);
        lay_out_tree<<<1, 1, 0, stream>>>(offsets + n_words, ranges, counts);
        int current = 0, round = 0;
        for (uint32_t left = ones; left > FEW; left -= left / 2, round++) {
            run_round(stream, memory, reinterpret_cast<const uint2 *>(refs[current]),
                      ranges + round, left / 2, round == 0 ? Operands::INPUTS : Operands::ANY);
            next_refs<<<left / 2 / 256 + 1, 256, 0, stream>>>(
                refs[current], counts + round, ranges + round, job.n_points, refs[1 - current]);
            current = 1 - current;
        }
        sum_few<F><<<FEW_BLOCKS, FEW_THREADS, 0, stream>>>(memory, refs[current], counts + round,
                                                           partial);
        sum_partial<F><<<FEW_PARTS, FEW_THREADS, 0, stream>>>(partial, partial + FEW_BLOCKS);
        sum_parts<F>
            <<<1, FEW_PARTS, 0, stream>>>(partial + FEW_BLOCKS, static_cast<Affine<F> *>(job.sum));
    }
};

template <class F> int enqueue(const ones_job &job, uint32_t ones_max, cudaStream_t stream)
{
    OnesSum<F> ones(job.n_vars, ones_max, job.scratch);
    if (ones.bytes > job.scratch_bytes)
        return cudaErrorInvalidValue;
    ones.run(job, stream);
    return cudaGetLastError();
}

} // namespace

extern "C" size_t ones_scratch_bytes(enum msm_group group, uint32_t n_vars, uint32_t ones_max)
{
    return group == MSM_G1 ? OnesSum<Fp>(n_vars, ones_max, nullptr).bytes
                           : OnesSum<Fp2>(n_vars, ones_max, nullptr).bytes;
}

extern "C" int ones_enqueue(const struct ones_job *job, uint32_t ones_max,
                              struct CUstream_st *stream)
{
    return job->group == MSM_G1 ? enqueue<Fp>(*job, ones_max, stream)
                                : enqueue<Fp2>(*job, ones_max, stream);
}
