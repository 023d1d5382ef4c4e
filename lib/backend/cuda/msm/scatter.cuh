/* The kernels of one level of bucket_sort.h: counting the parts of bins, and moving entries there.

   A source of entries says how many tiles there are (tiles), opens one (open), and reads of an
   entry its key, whose bits from rest_bits on choose the part, or NO_KEY, and its reference; bit 31
   of either is the reference's sign. */
#ifndef CUDA_SCATTER_CUH
#define CUDA_SCATTER_CUH

#include "backend/cuda/msm/bucket_sort.h"
#include "backend/cuda/msm/rounds.cuh"

#include <cub/block/block_scan.cuh>

static constexpr uint32_t NO_KEY = UINT32_MAX;
static constexpr int SCATTER_THREADS = 512;

/* Listed tiles of entries whose keys are in memory. */
template <class Key> struct KeySource {
    const Key *keys;
    const uint32_t *refs;
    const Tile *list;
    const uint32_t *n_tiles;

    __device__ __forceinline__ uint32_t tiles() const { return *n_tiles; }
    __device__ __forceinline__ Tile open(uint32_t tile) const { return list[tile]; }
    __device__ __forceinline__ uint32_t key(const Tile &, uint32_t i) const { return keys[i]; }
    __device__ __forceinline__ uint32_t ref(const Tile &, uint32_t i) const { return refs[i]; }
};

/* Loads of one thread that are under way together. */
static constexpr uint32_t BATCH = 8, BATCH_ENTRIES = BATCH * SCATTER_THREADS;

/* counts[part] += entries of a tile, in shared memory. */
template <class Source>
__device__ __forceinline__ void count_tile(const Source &source, const Tile &tile, int rest_bits,
                                           uint32_t *counts)
{
    for (uint32_t at = tile.begin + threadIdx.x; at < tile.end; at += BATCH_ENTRIES) {
        uint32_t keys[BATCH];
#pragma unroll
        for (uint32_t k = 0; k < BATCH; k++) /* clamped: loads that need not wait */
            keys[k] = source.key(tile, min(at + k * SCATTER_THREADS, tile.end - 1));
#pragma unroll
        for (uint32_t k = 0; k < BATCH; k++)
            if (at + k * SCATTER_THREADS < tile.end && keys[k] != NO_KEY)
                atomicAdd(&counts[(keys[k] & ~REF_SIGN) >> rest_bits], 1);
    }
}

/* counts[tile.first_bin + part] += entries of the part. */
template <class Source>
__global__ void __launch_bounds__(SCATTER_THREADS)
    count_parts(const __grid_constant__ Source source, int rest_bits, uint32_t *counts)
{
    __shared__ uint32_t own[LEVEL_BINS];
    for (uint32_t t = blockIdx.x; t < source.tiles(); t += gridDim.x) {
        const Tile tile = source.open(t);
        for (uint32_t i = threadIdx.x; i < LEVEL_BINS; i += SCATTER_THREADS)
            own[i] = 0;
        __syncthreads();
        count_tile(source, tile, rest_bits, own);
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < LEVEL_BINS; i += SCATTER_THREADS)
            if (own[i] > 0)
                atomicAdd(&counts[tile.first_bin + i], own[i]);
        __syncthreads();
    }
}

static constexpr int SCATTER_BYTES = 2 * int(TILE_ENTRIES * sizeof(uint32_t));

/* Moves entries to cursors[tile.first_bin + part]…, and moves the cursors on. A tile is put in
   order in shared memory (SCATTER_BYTES) first, so that the entries of one part are written
   together. Keys are read twice, since registers would not hold them. */
template <class Source, class Rest>
__global__ void __launch_bounds__(SCATTER_THREADS, 3)
    scatter(const __grid_constant__ Source source, int rest_bits, uint32_t *cursors, Rest *rests,
            uint32_t *refs)
{
    using Scan = cub::BlockScan<uint32_t, SCATTER_THREADS>;
    extern __shared__ uint32_t staged_keys[]; /* TILE_ENTRIES, and as many references */
    uint32_t *staged_refs = staged_keys + TILE_ENTRIES;
    __shared__ typename Scan::TempStorage scan_storage;
    __shared__ uint32_t counts[LEVEL_BINS], places[LEVEL_BINS];

    for (uint32_t t = blockIdx.x; t < source.tiles(); t += gridDim.x) {
        const Tile tile = source.open(t);
        for (uint32_t i = threadIdx.x; i < LEVEL_BINS; i += SCATTER_THREADS)
            counts[i] = 0;
        __syncthreads();
        count_tile(source, tile, rest_bits, counts);
        __syncthreads();
        const uint32_t part = threadIdx.x, count = part < LEVEL_BINS ? counts[part] : 0;
        uint32_t offset, total;
        Scan(scan_storage).ExclusiveSum(count, offset, total);
        if (part < LEVEL_BINS) {
            places[part] = offset;
            /* From an entry's place in the tile to its place in memory. */
            counts[part] = count ? atomicAdd(&cursors[tile.first_bin + part], count) - offset : 0;
        }
        __syncthreads();
        for (uint32_t at = tile.begin + threadIdx.x; at < tile.end; at += BATCH_ENTRIES) {
            uint32_t keys[BATCH], entries[BATCH];
#pragma unroll
            for (uint32_t k = 0; k < BATCH; k++) {
                uint32_t i = min(at + k * SCATTER_THREADS, tile.end - 1);
                keys[k] = source.key(tile, i);
                entries[k] = source.ref(tile, i);
            }
#pragma unroll
            for (uint32_t k = 0; k < BATCH; k++) {
                if (at + k * SCATTER_THREADS < tile.end && keys[k] != NO_KEY) {
                    uint32_t key = keys[k] & ~REF_SIGN;
                    uint32_t place = atomicAdd(&places[key >> rest_bits], 1);
                    staged_keys[place] = key;
                    staged_refs[place] = entries[k] | (keys[k] & REF_SIGN);
                }
            }
        }
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < total; i += SCATTER_THREADS) {
            uint32_t key = staged_keys[i], at = counts[key >> rest_bits] + i;
            refs[at] = staged_refs[i];
            if (rest_bits > 0)
                rests[at] = Rest(key & ((1u << rest_bits) - 1));
        }
        __syncthreads();
    }
}

#endif
