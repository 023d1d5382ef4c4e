#include "plan.h"

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>

static constexpr int PLAN_THREADS = 256;
/* A block takes groups up to this weight, where an entry weighs 1 and a group GROUP_WEIGHT more:
   at most PLAN_THREADS groups, and their entries fit into shared memory unless one group alone
   is huge. */
static constexpr uint32_t BLOCK_WEIGHT = 8192;
static constexpr uint32_t GROUP_WEIGHT = BLOCK_WEIGHT / PLAN_THREADS;
static constexpr uint32_t PLAN_SHARED = BLOCK_WEIGHT + PLAN_GROUP_MAX;

size_t plan_blocks(uint32_t entries_max, uint32_t n_groups_max)
{
    return (entries_max + size_t(GROUP_WEIGHT) * n_groups_max) / BLOCK_WEIGHT + 1;
}

/* block_groups[k]: the first group whose weight before it is at least k blocks' worth. */
__global__ void share_groups(PlanMemory memory, uint32_t blocks)
{
    uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k > blocks)
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

/* Pairs of each round from the counts alone: n entries give n/2 pairs and leave n − n/2. */
__global__ void __launch_bounds__(PLAN_THREADS) count_pairs(PlanMemory memory, int rounds)
{
    using Reduce = cub::BlockReduce<uint32_t, PLAN_THREADS>;
    __shared__ typename Reduce::TempStorage storage;
    uint32_t group = memory.block_groups[blockIdx.x] + threadIdx.x;
    uint32_t entries = 0;
    if (group < memory.block_groups[blockIdx.x + 1])
        entries = memory.starts[group + 1] - memory.starts[group];
    /* Also keeps the rounds' uses of `storage` apart. */
    for (int round = 0; round < rounds && __syncthreads_or(entries > 1); round++) {
        uint32_t pairs = Reduce(storage).Sum(entries / 2);
        if (threadIdx.x == 0)
            memory.block_bases[blockIdx.x * PLAN_ROUNDS_MAX + round] =
                pairs ? atomicAdd(&memory.counters[round], pairs) : 0;
        entries -= entries / 2;
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

/* A block plays through all rounds of its groups on the references alone. */
__global__ void __launch_bounds__(PLAN_THREADS) write_pairs(PlanMemory memory, int rounds)
{
    using Scan = cub::BlockScan<uint32_t, PLAN_THREADS>;
    __shared__ typename Scan::TempStorage storage;
    __shared__ uint32_t shared_entries[PLAN_SHARED];
    __shared__ uint32_t group_start[PLAN_THREADS];
    __shared__ uint32_t first_pair[PLAN_THREADS + 1];

    uint32_t first_group = memory.block_groups[blockIdx.x];
    uint32_t last_group = memory.block_groups[blockIdx.x + 1];
    if (first_group == last_group)
        return;
    uint32_t begin = memory.starts[first_group], end = memory.starts[last_group];
    uint32_t group = first_group + threadIdx.x;
    bool owns = group < last_group;
    uint32_t start = owns ? memory.starts[group] - begin : 0;
    uint32_t left = owns ? memory.starts[group + 1] - memory.starts[group] : 0;
    if (!__syncthreads_or(left > 1)) {
        if (owns)
            memory.finals[group] = left ? memory.entries[begin + start] : memory.empty_ref;
        return;
    }
    bool in_shared = end - begin <= PLAN_SHARED;
    uint32_t *entries = in_shared ? shared_entries : memory.entries + begin;
    if (in_shared) {
        for (uint32_t i = threadIdx.x; i < end - begin; i += PLAN_THREADS)
            shared_entries[i] = memory.entries[begin + i];
    }
    group_start[threadIdx.x] = start;
    __syncthreads();
    for (int round = 0; round < rounds; round++) {
        uint32_t offset, total;
        Scan(storage).ExclusiveSum(left / 2, offset, total);
        first_pair[threadIdx.x] = offset;
        if (threadIdx.x == 0)
            first_pair[PLAN_THREADS] = total;
        __syncthreads();
        if (total == 0)
            break;
        uint32_t slot = memory.ranges[round].first_slot +
                        memory.block_bases[blockIdx.x * PLAN_ROUNDS_MAX + round];
        /* Whole turns, so that all threads meet at the barriers. */
        for (uint32_t turn = 0; turn < total; turn += PLAN_THREADS) {
            uint32_t pair = turn + threadIdx.x;
            uint32_t low = 0;
            uint2 refs = make_uint2(0, 0);
            if (pair < total) {
                uint32_t high = PLAN_THREADS;
                while (high - low > 1) {
                    uint32_t middle = (low + high) / 2;
                    if (first_pair[middle] <= pair)
                        low = middle;
                    else
                        high = middle;
                }
                uint32_t at = group_start[low] + 2 * (pair - first_pair[low]);
                refs = make_uint2(entries[at], entries[at + 1]);
                memory.pairs[slot + pair] = refs;
            }
            __syncthreads(); /* all are read before any is overwritten */
            if (pair < total)
                entries[group_start[low] + pair - first_pair[low]] =
                    (memory.first_slot_ref + slot + pair) | (refs.x & REF_SIGN);
            __syncthreads();
        }
        if (left & 1 && left > 1)
            entries[start + left / 2] = entries[start + left - 1];
        left -= left / 2;
        __syncthreads();
    }
    if (owns)
        memory.finals[group] = left ? entries[start] : memory.empty_ref;
}

void plan_rounds(cudaStream_t stream, const PlanMemory &memory, int rounds)
{
    uint32_t blocks = uint32_t(plan_blocks(memory.entries_max, memory.n_groups_max));
    cudaMemsetAsync(memory.counters, 0, PLAN_ROUNDS_MAX * sizeof(uint32_t), stream);
    share_groups<<<blocks / 256 + 1, 256, 0, stream>>>(memory, blocks);
    count_pairs<<<blocks, PLAN_THREADS, 0, stream>>>(memory, rounds);
    lay_out_rounds<<<1, 1, 0, stream>>>(memory, rounds);
    write_pairs<<<blocks, PLAN_THREADS, 0, stream>>>(memory, rounds);
}

__global__ void count_groups(const uint32_t *bucket_starts, uint32_t n_buckets, uint32_t *counts)
{
    uint32_t b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b < n_buckets)
        counts[b] = (bucket_starts[b + 1] - bucket_starts[b] + PLAN_GROUP_MAX - 1) / PLAN_GROUP_MAX;
    else if (b == n_buckets)
        counts[b] = 0;
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
                      uint32_t *group_first, uint32_t *starts, void *scan_temp,
                      size_t scan_temp_bytes)
{
    uint32_t blocks = n_buckets / 256 + 1;
    count_groups<<<blocks, 256, 0, stream>>>(bucket_starts, n_buckets, group_first);
    cub::DeviceScan::ExclusiveSum(scan_temp, scan_temp_bytes, group_first, group_first,
                                  int(n_buckets + 1), stream);
    fill_groups<<<blocks, 256, 0, stream>>>(bucket_starts, n_buckets, group_first, starts);
}
