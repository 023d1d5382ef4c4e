#include "backend/cuda/msm/additions.h"

#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>

static constexpr int PLAN_THREADS = 128;
/* Groups of one thread. */
static constexpr int OWN = 2;
static constexpr uint32_t BLOCK_GROUPS = PLAN_THREADS * OWN;
/* A share is the groups that a block works on at a time: up to this weight, where an entry weighs 1
   and a group GROUP_WEIGHT more. That is at most BLOCK_GROUPS groups, and their entries fit into
   shared memory unless one group alone is huge. */
static constexpr uint32_t BLOCK_WEIGHT = 2560;
static constexpr uint32_t GROUP_WEIGHT = BLOCK_WEIGHT / BLOCK_GROUPS;
static constexpr uint32_t PLAN_SHARED = BLOCK_WEIGHT + PLAN_GROUP_MAX;
/* Shares of a block that only counts. */
static constexpr uint32_t COUNT_SHARES = 8;
/* More pairs than this of one group are not left to one thread. */
static constexpr uint32_t OWN_PAIRS_MAX = 64;

size_t plan_blocks(uint32_t entries_max, uint32_t n_groups_max)
{
    return (entries_max + size_t(GROUP_WEIGHT) * n_groups_max) / BLOCK_WEIGHT + 1;
}

/* Nobody needs this plan: it has no pairs. */
__device__ __forceinline__ bool is_needed(const PlanMemory &memory)
{
    return !memory.needed || *memory.needed;
}

/* block_groups[k]: the first group whose weight before it is at least k shares' worth. */
__global__ void share_groups(PlanMemory memory, uint32_t blocks)
{
    uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k > blocks || !is_needed(memory))
        return;
    uint64_t wanted = uint64_t(k) * BLOCK_WEIGHT;
    uint32_t low = 0, high = *memory.n_groups;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (memory.starts[middle] + uint64_t(GROUP_WEIGHT) * middle < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    memory.block_groups[k] = low;
}

/* Pairs of each round from the counts alone: n entries give n/2 pairs and leave n − n/2. A warp
   counts a share; a block reserves the pairs of its shares together. */
__global__ void __launch_bounds__(32 * COUNT_SHARES)
    count_pairs(const __grid_constant__ PlanMemory memory, uint32_t shares, int rounds)
{
    __shared__ uint32_t pairs[PLAN_ROUNDS_MAX][COUNT_SHARES];
    if (!is_needed(memory))
        return;
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const uint32_t first_share = blockIdx.x * COUNT_SHARES, share = first_share + warp;
    uint32_t group = 0, end = 0;
    if (share < shares) {
        group = memory.block_groups[share] + lane;
        end = memory.block_groups[share + 1];
    }
    uint32_t left[BLOCK_GROUPS / 32];
#pragma unroll
    for (uint32_t k = 0; k < BLOCK_GROUPS / 32; k++, group += 32)
        left[k] = group < end ? memory.starts[group + 1] - memory.starts[group] : 0;
    for (int round = 0; round < rounds; round++) {
        uint32_t own = 0;
#pragma unroll
        for (uint32_t k = 0; k < BLOCK_GROUPS / 32; k++) {
            own += left[k] / 2;
            left[k] -= left[k] / 2;
        }
        own = __reduce_add_sync(~0u, own);
        if (lane == 0)
            pairs[round][warp] = own;
    }
    __syncthreads();
    if (int(threadIdx.x) >= rounds)
        return;
    const uint32_t round = threadIdx.x;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < COUNT_SHARES; i++)
        sum += pairs[round][i];
    uint32_t base = sum ? atomicAdd(&memory.counters[round], sum) : 0;
    for (uint32_t i = 0; i < COUNT_SHARES && first_share + i < shares; i++) {
        memory.block_bases[size_t(first_share + i) * PLAN_ROUNDS_MAX + round] = base;
        base += pairs[round][i];
    }
}

__global__ void lay_out_rounds(PlanMemory memory, int rounds)
{
    uint32_t next = *memory.next_slot;
    for (int round = 0; round < rounds; round++) {
        memory.ranges[round] = {next, next, memory.counters[round]};
        next += memory.counters[round];
    }
    *memory.next_slot = next;
}

/* A group in a block's hands: its entries lie from `start` on. */
struct Group {
    uint32_t start, left;
    uint32_t first_pair; /* of this round and share */
};

/* One pair of a group, and what refers to its sum in place of the two. */
struct Rounds {
    uint32_t *entries;
    uint2 *pairs; /* of this round and share */
    uint32_t first_ref;

    __device__ __forceinline__ uint2 read(const Group &group, uint32_t k) const
    {
        return make_uint2(entries[group.start + 2 * k], entries[group.start + 2 * k + 1]);
    }
    __device__ __forceinline__ void write(const Group &group, uint32_t k, uint2 refs) const
    {
        uint32_t pair = group.first_pair + k;
        pairs[pair] = refs;
        entries[group.start + k] = (first_ref + pair) | (refs.x & REF_SIGN);
    }
};

/* Large groups of a round, a pair a thread. All threads take part. */
__device__ __forceinline__ void pair_large(const Rounds &at, const Group *large, uint32_t n_large)
{
    for (uint32_t i = 0; i < n_large; i++) {
        const Group group = large[i];
        for (uint32_t turn = 0; turn < group.left / 2; turn += PLAN_THREADS) {
            uint32_t k = turn + threadIdx.x;
            bool there = k < group.left / 2;
            uint2 refs = there ? at.read(group, k) : make_uint2(0, 0);
            __syncthreads(); /* all are read before any is overwritten */
            if (there)
                at.write(group, k, refs);
            __syncthreads();
        }
    }
}

/* Plays through all rounds of a share on the references alone. IN_SHARED: entries are in shared
   memory, and pairs are collected there to be written in order. */
template <bool IN_SHARED>
__device__ __forceinline__ void play(const PlanMemory &memory, uint32_t share, int rounds,
                                     uint32_t *entries, uint2 *pairs_of_round, Group *groups)
{
    using Scan = cub::BlockScan<uint32_t, PLAN_THREADS>;
    __shared__ typename Scan::TempStorage storage;
    __shared__ Group large[PLAN_SHARED / OWN_PAIRS_MAX];
    __shared__ uint32_t n_large;

    Rounds at;
    at.entries = entries;
    for (int round = 0; round < rounds; round++) {
        uint32_t pairs = 0, first, total;
#pragma unroll
        for (int own = 0; own < OWN; own++)
            pairs += groups[own].left / 2;
        if (threadIdx.x == 0)
            n_large = 0;
        __syncthreads();
        Scan(storage).ExclusiveSum(pairs, first, total);
        if (total == 0)
            break;
        const uint32_t slot = memory.ranges[round].first_slot +
                              memory.block_bases[size_t(share) * PLAN_ROUNDS_MAX + round];
        at.pairs = IN_SHARED ? pairs_of_round : memory.pairs + slot;
        at.first_ref = memory.first_slot_ref + slot;
#pragma unroll
        for (int own = 0; own < OWN; own++) {
            Group &group = groups[own];
            group.first_pair = first;
            first += group.left / 2;
            if (group.left / 2 > OWN_PAIRS_MAX) {
                large[atomicAdd(&n_large, 1)] = group;
            } else {
                for (uint32_t k = 0; k < group.left / 2; k++)
                    at.write(group, k, at.read(group, k));
            }
        }
        __syncthreads();
        pair_large(at, large, n_large);
#pragma unroll
        for (int own = 0; own < OWN; own++) {
            Group &group = groups[own];
            if (group.left & 1 && group.left > 1)
                at.entries[group.start + group.left / 2] = at.entries[group.start + group.left - 1];
            group.left -= group.left / 2;
        }
        if (IN_SHARED) {
            for (uint32_t i = threadIdx.x; i < total; i += PLAN_THREADS)
                memory.pairs[slot + i] = pairs_of_round[i];
        }
        __syncthreads();
    }
}

__global__ void __launch_bounds__(PLAN_THREADS, 9)
    write_pairs(const __grid_constant__ PlanMemory memory, int rounds)
{
    __shared__ uint2 pairs[PLAN_SHARED / 2];
    __shared__ uint32_t entries[PLAN_SHARED];
    if (!is_needed(memory))
        return;
    const uint32_t share = blockIdx.x;
    const uint32_t first = memory.block_groups[share], last = memory.block_groups[share + 1];
    if (first == last)
        return;
    const uint32_t begin = memory.starts[first], size = memory.starts[last] - begin;
    Group groups[OWN] = {};
#pragma unroll
    for (int own = 0; own < OWN; own++) {
        uint32_t number = first + own * PLAN_THREADS + threadIdx.x;
        if (number < last) {
            groups[own].start = memory.starts[number] - begin;
            groups[own].left = memory.starts[number + 1] - begin - groups[own].start;
        }
    }
    const bool in_shared = size <= PLAN_SHARED;
    if (in_shared) {
#pragma unroll 8
        for (uint32_t i = threadIdx.x; i < size; i += PLAN_THREADS)
            entries[i] = memory.entries[begin + i];
        play<true>(memory, share, rounds, entries, pairs, groups);
    } else {
        play<false>(memory, share, rounds, memory.entries + begin, nullptr, groups);
    }
#pragma unroll
    for (int own = 0; own < OWN; own++) {
        uint32_t number = first + own * PLAN_THREADS + threadIdx.x, final = memory.empty_ref;
        if (groups[own].left)
            final =
                in_shared ? entries[groups[own].start] : memory.entries[begin + groups[own].start];
        if (number < last)
            memory.finals[number] = final;
    }
}

void plan_rounds(cudaStream_t stream, const PlanMemory &memory, int rounds)
{
    uint32_t shares = uint32_t(plan_blocks(memory.entries_max, memory.n_groups_max));
    cudaMemsetAsync(memory.counters, 0, PLAN_ROUNDS_MAX * sizeof(uint32_t), stream);
    share_groups<<<shares / 128 + 1, 128, 0, stream>>>(memory, shares);
    count_pairs<<<(shares + COUNT_SHARES - 1) / COUNT_SHARES, 32 * COUNT_SHARES, 0, stream>>>(
        memory, shares, rounds);
    lay_out_rounds<<<1, 1, 0, stream>>>(memory, rounds);
    write_pairs<<<shares, PLAN_THREADS, 0, stream>>>(memory, rounds);
}

__global__ void count_groups(const uint32_t *bucket_starts, uint32_t n_buckets, uint32_t *counts,
                             uint32_t *several)
{
    uint32_t b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b > n_buckets)
        return;
    uint32_t count = 0;
    if (b < n_buckets)
        count = (bucket_starts[b + 1] - bucket_starts[b] + PLAN_GROUP_MAX - 1) / PLAN_GROUP_MAX;
    counts[b] = count;
    if (count > 1)
        *several = 1;
}

__global__ void fill_groups(const uint32_t *bucket_starts, uint32_t n_buckets,
                            const uint32_t *group_first, uint32_t *starts)
{
    uint32_t b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b > n_buckets)
        return;
    if (b == n_buckets) {
        starts[group_first[b]] = bucket_starts[b];
        return;
    }
    uint32_t groups = group_first[b + 1] - group_first[b];
    for (uint32_t i = 0; i < groups; i++)
        starts[group_first[b] + i] = bucket_starts[b] + i * PLAN_GROUP_MAX;
}

size_t plan_scan_bytes(uint32_t n_buckets)
{
    size_t bytes = 0;
    cub::DeviceScan::ExclusiveSum(nullptr, bytes, static_cast<uint32_t *>(nullptr),
                                  static_cast<uint32_t *>(nullptr), int(n_buckets + 1));
    return bytes;
}

void plan_cut_buckets(cudaStream_t stream, const uint32_t *bucket_starts, uint32_t n_buckets,
                      uint32_t *group_first, uint32_t *starts, uint32_t *several, void *scan_temp,
                      size_t scan_temp_bytes)
{
    uint32_t blocks = n_buckets / 256 + 1;
    cudaMemsetAsync(several, 0, sizeof *several, stream);
    count_groups<<<blocks, 256, 0, stream>>>(bucket_starts, n_buckets, group_first, several);
    cub::DeviceScan::ExclusiveSum(scan_temp, scan_temp_bytes, group_first, group_first,
                                  int(n_buckets + 1), stream);
    fill_groups<<<n_buckets / 128 + 1, 128, 0, stream>>>(bucket_starts, n_buckets, group_first,
                                                         starts);
}

__global__ void pass_finals(const uint32_t *group_first, uint32_t n_buckets,
                            const uint32_t *group_finals, uint32_t empty_ref,
                            uint32_t *bucket_finals)
{
    uint32_t b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= n_buckets)
        return;
    uint32_t group = group_first[b], groups = group_first[b + 1] - group;
    if (groups <= 1)
        bucket_finals[b] = groups == 1 ? group_finals[group] : empty_ref;
}

void plan_pass_finals(cudaStream_t stream, const uint32_t *group_first, uint32_t n_buckets,
                      const uint32_t *group_finals, uint32_t empty_ref, uint32_t *bucket_finals)
{
    pass_finals<<<(n_buckets + 255) / 256, 256, 0, stream>>>(group_first, n_buckets, group_finals,
                                                             empty_ref, bucket_finals);
}
