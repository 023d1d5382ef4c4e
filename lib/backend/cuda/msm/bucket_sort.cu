#include "backend/cuda/msm/bucket_sort.h"

#include "backend/cuda/msm/scatter.cuh"

#include <algorithm>
#include <cub/device/device_scan.cuh>

static constexpr int BIN_THREADS = 128;
static constexpr uint32_t BIN_BATCH = 8; /* loads of one thread that are under way together */
/* Larger bins do not fit into a block of sort_bins. */
static constexpr uint32_t BIN_MAX = 4096;

/* What bins are aimed at: half of it, since the top window is not quite uniform. */
static constexpr uint32_t BIN_WANTED = BIN_MAX / 2;

/* Enough blocks for what is rare: tiles of large bins. */
static constexpr uint32_t FEW_BLOCKS = 396;

Levels make_levels(uint32_t entries, uint32_t n_buckets, int bucket_bits)
{
    int bits = 0;
    while ((n_buckets - 1) >> bits)
        bits++;
    Levels levels = {};
    while (levels.low < LEVEL_BITS && levels.low < bucket_bits &&
           (uint64_t(entries) << (levels.low + 1)) <= uint64_t(BIN_WANTED) * n_buckets)
        levels.low++;
    levels.low = std::max(levels.low, bits - 2 * LEVEL_BITS);
    levels.coarse = std::min(bits - levels.low, LEVEL_BITS);
    levels.fine = bits - levels.low - levels.coarse;
    return levels;
}

/* Tiles of bins above a size, each of which is at least half a tile on average. */
static size_t tiles_max(uint32_t entries)
{
    return entries / (TILE_ENTRIES / 2) + LEVEL_BINS;
}

BucketSort BucketSort::take(Arena &arena, uint32_t entries_max, uint32_t buckets_max)
{
    BucketSort memory = {};
    for (int i = 0; i < 2; i++)
        memory.refs[i] = arena.take<uint32_t>(entries_max);
    memory.rests = arena.take<uint16_t>(entries_max);
    memory.lows = arena.take<unsigned char>(entries_max);
    memory.coarse = arena.take<uint32_t>(LEVEL_BINS + 1);
    memory.bins = arena.take<uint32_t>(LEVEL_BINS * LEVEL_BINS + 1);
    memory.starts = arena.take<uint32_t>(buckets_max + 1);
    memory.cursors = arena.take<uint32_t>(std::max(buckets_max, LEVEL_BINS * LEVEL_BINS));
    memory.tiles = arena.take<Tile>(tiles_max(entries_max));
    memory.n_tiles = arena.take<uint32_t>(1);
    cub::DeviceScan::ExclusiveSum(nullptr, memory.scan_bytes, static_cast<uint32_t *>(nullptr),
                                  static_cast<uint32_t *>(nullptr),
                                  int(LEVEL_BINS * LEVEL_BINS + 1));
    memory.scan_temp = arena.take<unsigned char>(memory.scan_bytes);
    return memory;
}

/* Turns counts into first entries. */
static __global__ void start_coarse(uint32_t *starts, uint32_t *cursors)
{
    using Scan = cub::BlockScan<uint32_t, LEVEL_BINS>;
    __shared__ typename Scan::TempStorage storage;
    uint32_t start, total;
    Scan(storage).ExclusiveSum(starts[threadIdx.x], start, total);
    starts[threadIdx.x] = cursors[threadIdx.x] = start;
    if (threadIdx.x == 0)
        starts[LEVEL_BINS] = total;
}

void bucket_sort_clear(cudaStream_t stream, const BucketSort &memory)
{
    cudaMemsetAsync(memory.coarse, 0, LEVEL_BINS * sizeof *memory.coarse, stream);
}

void bucket_sort_begin(cudaStream_t stream, const BucketSort &memory)
{
    start_coarse<<<1, LEVEL_BINS, 0, stream>>>(memory.coarse, memory.cursors);
}

/* The tiles of all bins of more than size_min entries; a warp lists those of one. */
static __global__ void list_tiles(const uint32_t *starts, uint32_t n_bins, int part_bits,
                                  uint32_t size_min, Tile *tiles, uint32_t *n_tiles)
{
    const uint32_t lane = threadIdx.x % 32, bin = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (bin >= n_bins)
        return;
    const uint32_t begin = starts[bin], end = starts[bin + 1];
    if (end - begin <= size_min)
        return;
    const uint32_t count = (end - begin - 1) / TILE_ENTRIES + 1;
    uint32_t first = lane == 0 ? atomicAdd(n_tiles, count) : 0;
    first = __shfl_sync(~0u, first, 0);
    for (uint32_t i = lane; i < count; i += 32) {
        uint32_t at = begin + i * TILE_ENTRIES;
        tiles[first + i] = {at, min(end, at + TILE_ENTRIES), bin << part_bits, 0};
    }
}

/* Sorts a bin by bucket. Of a large one, cursors hold its buckets' entries already: then only turns
   them into first entries, for scatter to do the rest. */
static __global__ void __launch_bounds__(BIN_THREADS, 12)
    sort_bins(const uint32_t *bins, int low_bits, const unsigned char *lows, const uint32_t *refs,
              uint32_t *starts, uint32_t *cursors, uint32_t *sorted)
{
    using Scan = cub::BlockScan<uint32_t, BIN_THREADS>;
    static_assert(2 * BIN_THREADS == LEVEL_BINS, "two parts a thread");
    __shared__ typename Scan::TempStorage scan_storage;
    __shared__ uint32_t counts[LEVEL_BINS], staged[BIN_MAX];
    const uint32_t bin = blockIdx.x, n_parts = 1u << low_bits, first_bucket = bin << low_bits;
    const uint32_t begin = bins[bin], size = bins[bin + 1] - begin;
    const bool large = size > BIN_MAX;
    const uint32_t used = large ? 0 : size; /* entries to be sorted here */
    lows += begin, refs += begin;

    for (uint32_t part = threadIdx.x; part < LEVEL_BINS; part += BIN_THREADS)
        counts[part] = large && part < n_parts ? cursors[first_bucket + part] : 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < used; i += BIN_BATCH * BIN_THREADS) {
        uint32_t parts[BIN_BATCH];
#pragma unroll
        for (uint32_t k = 0; k < BIN_BATCH; k++) /* clamped: loads that need not wait */
            parts[k] = lows[min(i + k * BIN_THREADS, size - 1)];
#pragma unroll
        for (uint32_t k = 0; k < BIN_BATCH; k++)
            if (i + k * BIN_THREADS < size)
                atomicAdd(&counts[parts[k]], 1);
    }
    __syncthreads();
    uint32_t own[2] = {counts[2 * threadIdx.x], counts[2 * threadIdx.x + 1]};
    Scan(scan_storage).ExclusiveSum(own, own);
#pragma unroll
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t part = 2 * threadIdx.x + k;
        counts[part] = own[k];
        if (part >= n_parts)
            continue;
        starts[first_bucket + part] = begin + own[k];
        if (large)
            cursors[first_bucket + part] = begin + own[k];
    }
    if (bin + 1 == gridDim.x && threadIdx.x == 0)
        starts[first_bucket + n_parts] = begin + size;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < used; i += BIN_BATCH * BIN_THREADS) {
        uint32_t parts[BIN_BATCH], entries[BIN_BATCH];
#pragma unroll
        for (uint32_t k = 0; k < BIN_BATCH; k++) {
            uint32_t from = min(i + k * BIN_THREADS, size - 1);
            parts[k] = lows[from];
            entries[k] = refs[from];
        }
#pragma unroll
        for (uint32_t k = 0; k < BIN_BATCH; k++)
            if (i + k * BIN_THREADS < size)
                staged[atomicAdd(&counts[parts[k]], 1)] = entries[k];
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < used; i += BIN_THREADS)
        sorted[begin + i] = staged[i];
}

static void list(cudaStream_t stream, const BucketSort &memory, const uint32_t *starts,
                 uint32_t n_bins, int part_bits, uint32_t size_min)
{
    cudaMemsetAsync(memory.n_tiles, 0, sizeof *memory.n_tiles, stream);
    list_tiles<<<(n_bins + 7) / 8, 256, 0, stream>>>(starts, n_bins, part_bits, size_min,
                                                     memory.tiles, memory.n_tiles);
}

uint32_t *bucket_sort_finish(cudaStream_t stream, const BucketSort &memory, const Levels &levels,
                             uint32_t entries_max, uint32_t n_buckets)
{
    const uint32_t n_bins = n_buckets >> levels.low;
    const uint32_t n_coarse = ((n_bins - 1) >> levels.fine) + 1, all_bins = n_coarse << levels.fine;
    const uint32_t blocks = entries_max / TILE_ENTRIES + n_coarse;

    if (levels.fine + levels.low == 0) { /* coarse bins are buckets */
        cudaMemcpyAsync(memory.starts, memory.coarse, (n_buckets + 1) * sizeof *memory.starts,
                        cudaMemcpyDeviceToDevice, stream);
        return memory.refs[0];
    }
    list(stream, memory, memory.coarse, n_coarse, levels.fine, 0);
    cudaMemsetAsync(memory.bins, 0, (all_bins + 1) * sizeof *memory.bins, stream);
    const KeySource<uint16_t> coarse = {memory.rests, memory.refs[0], memory.tiles, memory.n_tiles};
    count_parts<<<blocks, SCATTER_THREADS, 0, stream>>>(coarse, levels.low, memory.bins);
    size_t scan_bytes = memory.scan_bytes;
    cub::DeviceScan::ExclusiveSum(memory.scan_temp, scan_bytes, memory.bins, memory.bins,
                                  int(all_bins + 1), stream);
    cudaMemcpyAsync(memory.cursors, memory.bins, all_bins * sizeof *memory.bins,
                    cudaMemcpyDeviceToDevice, stream);
    scatter<<<blocks, SCATTER_THREADS, SCATTER_BYTES, stream>>>(coarse, levels.low, memory.cursors,
                                                                memory.lows, memory.refs[1]);
    if (levels.low == 0) { /* bins are buckets */
        cudaMemcpyAsync(memory.starts, memory.bins, (n_buckets + 1) * sizeof *memory.starts,
                        cudaMemcpyDeviceToDevice, stream);
        return memory.refs[1];
    }

    /* Large bins, of which there are none with random scalars. */
    list(stream, memory, memory.bins, n_bins, levels.low, BIN_MAX);
    cudaMemsetAsync(memory.cursors, 0, n_buckets * sizeof *memory.cursors, stream);
    const KeySource<unsigned char> large = {memory.lows, memory.refs[1], memory.tiles,
                                            memory.n_tiles};
    count_parts<<<FEW_BLOCKS, SCATTER_THREADS, 0, stream>>>(large, 0, memory.cursors);
    sort_bins<<<n_bins, BIN_THREADS, 0, stream>>>(memory.bins, levels.low, memory.lows,
                                                  memory.refs[1], memory.starts, memory.cursors,
                                                  memory.refs[0]);
    scatter<<<FEW_BLOCKS, SCATTER_THREADS, SCATTER_BYTES, stream>>>(
        large, 0, memory.cursors, static_cast<unsigned char *>(nullptr), memory.refs[0]);
    return memory.refs[0];
}

cudaError_t prepare_bucket_sort()
{
    cudaError_t result =
        cudaFuncSetAttribute(scatter<KeySource<uint16_t>, unsigned char>,
                             cudaFuncAttributeMaxDynamicSharedMemorySize, SCATTER_BYTES);
    if (result != cudaSuccess)
        return result;
    return cudaFuncSetAttribute(scatter<KeySource<unsigned char>, unsigned char>,
                                cudaFuncAttributeMaxDynamicSharedMemorySize, SCATTER_BYTES);
}
