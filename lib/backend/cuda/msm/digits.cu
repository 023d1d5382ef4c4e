#include "backend/cuda/msm/digits.h"

#include "backend/cuda/msm/scatter.cuh"

#include <algorithm>

static Windows windows_of(int count)
{
    Windows windows = {};
    windows.count = count;
    int narrow = 256 / count, wide = 256 % count;
    for (int w = 0, position = 0; w < count; w++) {
        windows.position[w] = position;
        windows.width[w] = narrow + (w < wide);
        position += windows.width[w];
    }
    return windows;
}

static int cut_into_batches(const struct msm_size &size, const Windows &windows, Batch *batches)
{
    size_t entries_max = size.entries_max ? size.entries_max : size_t(MSM_ENTRIES);
    int count = 0, matrices = 0;
    for (int w = 0; w < windows.count;) {
        Batch batch = {w, 1, windows.width[size.tables ? 0 : w], matrices, 1};
        while (w + batch.count < windows.count &&
               (size.tables || windows.width[w + batch.count] == batch.width) &&
               size_t(batch.count + 1) * size.n <= entries_max &&
               (size.tables || batch.count + 1 <= BUCKET_SORT_MAX >> (batch.width - 1)))
            batch.count++;
        if (!size.tables)
            batch.matrices = batch.count;
        matrices += batch.matrices;
        batches[count++] = batch;
        w += batch.count;
    }
    return count;
}

/* Rows and columns of fewer buckets than this many bits number could not be halved as often as all
   are (HALVINGS_ALONE, msm_parts.cuh). */
static constexpr int PATTERN_BITS_MIN = 7;

static Windows window_of_bitmaps(const struct msm_size &size)
{
    Windows windows = {};
    windows.count = 1;
    windows.width[0] = 1 + std::max(int(size.bitmaps), PATTERN_BITS_MIN);
    return windows;
}

/* The cheapest number of windows: an entry costs its sorting and an addition, a bucket two
   additions in shorter rounds. In halves of an entry's cost; weights from the measured
   break-even points of docs/spec/msm.md, section 3 (12 or 13 windows at 2^24, 11 or 12 at 2^26). */
int make_batches(const struct msm_size &size, Windows *windows, Batch batches[MSM_WINDOWS_MAX])
{
    if (size.bitmaps > 0) {
        *windows = window_of_bitmaps(size);
        return cut_into_batches(size, *windows, batches);
    }
    uint64_t best_cost = UINT64_MAX;
    for (int count = 11; count <= MSM_WINDOWS_MAX; count++) {
        Windows candidate = windows_of(count);
        uint64_t cost = 2 * uint64_t(count) * size.n;
        int n_batches = cut_into_batches(size, candidate, batches);
        for (int i = 0; i < n_batches; i++)
            cost += uint64_t(3) * batches[i].buckets();
        if (cost < best_cost) {
            best_cost = cost;
            *windows = candidate;
        }
    }
    return cut_into_batches(size, *windows, batches);
}

Windows make_matrices(const struct msm_size &size, const Batch *batches, int n_batches,
                      const Windows &windows)
{
    if (!size.tables)
        return windows;
    Windows matrices = {};
    matrices.count = n_batches;
    for (int i = 0; i < n_batches; i++)
        matrices.width[i] = batches[i].width;
    return matrices;
}

DigitMemory DigitMemory::take(Arena &arena, const struct msm_size &size, uint32_t entries_max,
                              uint32_t buckets_max)
{
    DigitMemory memory = {};
    if (size.bitmaps > 0)
        memory.patterns = arena.take<uint16_t>(size.n);
    else
        memory.planes = arena.take<uint32_t>(size_t(8) * size.n);
    memory.sort = BucketSort::take(arena, entries_max, buckets_max);
    return memory;
}

/* The batch's first bucket of window number `i` in it: each has a matrix of its own, or all share
   one. */
static __device__ __forceinline__ uint32_t first_bucket(const Batch &batch, int i)
{
    return batch.matrices > 1 ? uint32_t(i) << (batch.width - 1) : 0;
}

/* The bucket of a window's digit and its sign; false for digit 0. */
static __device__ __forceinline__ bool bucket_of(uint32_t raw, int width, bool top,
                                                 uint32_t *bucket, uint32_t *sign)
{
    int digit = top ? int(raw) : int(raw) - (1 << (width - 1));
    *sign = digit < 0 ? REF_SIGN : 0;
    *bucket = uint32_t(digit < 0 ? -digit : digit) - 1;
    return digit != 0;
}

struct Offset {
    uint32_t word[8]; /* Σ 2^(top bit of each window but the last): makes digits unsigned */
};

/* Canonical scalars plus the offset, as eight planes of words. */
__global__ void split_scalars(const Fr *scalars, uint32_t n, Offset offset, uint32_t *planes)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Fr one = Fr::zero();
    one.limb[0] = 1;
    Fr value = load_element<Fr>(scalars + i) * one; /* out of Montgomery form */
    uint64_t carry = 0;
#pragma unroll
    for (int w = 0; w < 8; w++) {
        carry += uint64_t(value.limb[w]) + offset.word[w];
        planes[size_t(w) * n + i] = uint32_t(carry);
        carry >>= 32;
    }
}

struct Bitmaps {
    const uint64_t *of[MSM_BITMAPS_MAX];
};

__global__ void pack_patterns(const __grid_constant__ Bitmaps bitmaps, unsigned count, uint32_t n,
                              uint16_t *patterns)
{
    static_assert(MSM_BITMAPS_MAX <= 16, "a pattern is 16 bits");
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t pattern = 0;
    for (unsigned k = 0; k < count; k++)
        pattern |= uint32_t(bitmaps.of[k][i / 64] >> i % 64 & 1) << k;
    patterns[i] = uint16_t(pattern);
}

void prepare_digits(cudaStream_t stream, const DigitMemory &memory, const Windows &windows,
                    const struct msm_job &job)
{
    const uint32_t n = job.size.n;
    if (job.size.bitmaps > 0) {
        Bitmaps bitmaps = {};
        std::copy_n(job.bitmaps, job.size.bitmaps, bitmaps.of);
        pack_patterns<<<(n + 255) / 256, 256, 0, stream>>>(bitmaps, job.size.bitmaps, n,
                                                           memory.patterns);
        return;
    }
    Offset offset = {};
    for (int w = 0; w + 1 < windows.count; w++) {
        int bit = windows.position[w + 1] - 1;
        offset.word[bit / 32] |= 1u << (bit % 32);
    }
    split_scalars<<<(n + 255) / 256, 256, 0, stream>>>(static_cast<const Fr *>(job.scalars), n,
                                                       offset, memory.planes);
}

/* The entries of a batch, window after window. */
struct DigitSource {
    const uint32_t *planes;
    uint32_t n, per_window; /* scalars; tiles */
    uint32_t points;        /* from one window's points to the next one's */
    Windows windows;
    Batch batch;

    __device__ __forceinline__ uint32_t tiles() const { return uint32_t(batch.count) * per_window; }
    __device__ __forceinline__ Tile open(uint32_t tile) const
    {
        uint32_t begin = tile % per_window * TILE_ENTRIES;
        return {begin, min(n, begin + TILE_ENTRIES), 0, tile / per_window};
    }
    __device__ __forceinline__ uint32_t key(const Tile &tile, uint32_t i) const
    {
        int w = batch.first + int(tile.window);
        int position = windows.position[w], width = windows.width[w];
        int word = position / 32, next = min(word + 1, 7);
        uint32_t low = planes[size_t(word) * n + i], high = planes[size_t(next) * n + i];
        uint32_t raw = __funnelshift_r(low, high, uint32_t(position)) & ((1u << width) - 1);
        uint32_t bucket, sign;
        bool there = bucket_of(raw, width, w + 1 == windows.count, &bucket, &sign);
        return there ? (first_bucket(batch, int(tile.window)) + bucket) | sign : NO_KEY;
    }
    __device__ __forceinline__ uint32_t ref(const Tile &tile, uint32_t i) const
    {
        return (uint32_t(batch.first) + tile.window) * points + i;
    }
};

/* Points by their patterns. */
struct PatternSource {
    const uint16_t *patterns;
    uint32_t n;

    __device__ __forceinline__ uint32_t tiles() const { return (n - 1) / TILE_ENTRIES + 1; }
    __device__ __forceinline__ Tile open(uint32_t tile) const
    {
        return {tile * TILE_ENTRIES, min(n, (tile + 1) * TILE_ENTRIES), 0, 0};
    }
    __device__ __forceinline__ uint32_t key(const Tile &, uint32_t i) const
    {
        return patterns[i] ? patterns[i] : NO_KEY;
    }
    __device__ __forceinline__ uint32_t ref(const Tile &, uint32_t i) const { return i; }
};

/* The first level, by coarse bins. */
template <class Source>
static void sort_coarsely(cudaStream_t stream, const BucketSort &sort, const Source &source,
                          uint32_t blocks, const Levels &levels)
{
    const int rest_bits = levels.fine + levels.low;
    bucket_sort_clear(stream, sort);
    count_parts<<<blocks, SCATTER_THREADS, 0, stream>>>(source, rest_bits, sort.coarse);
    bucket_sort_begin(stream, sort);
    scatter<<<blocks, SCATTER_THREADS, SCATTER_BYTES, stream>>>(source, rest_bits, sort.cursors,
                                                                sort.rests, sort.refs[0]);
}

uint32_t *sort_digits(cudaStream_t stream, const DigitMemory &memory, const Windows &windows,
                      const Batch &batch, const struct msm_size &size)
{
    const uint32_t n_buckets = batch.buckets(), entries = uint32_t(batch.count) * size.n;
    const Levels levels = make_levels(entries, n_buckets, batch.width - 1);
    const uint32_t per_window = (size.n - 1) / TILE_ENTRIES + 1;
    if (size.bitmaps > 0) {
        const PatternSource source = {memory.patterns, size.n};
        sort_coarsely(stream, memory.sort, source, per_window, levels);
    } else {
        DigitSource source = {};
        source.planes = memory.planes;
        source.n = size.n;
        source.per_window = per_window;
        source.points = size.tables ? size.n : 0;
        source.windows = windows;
        source.batch = batch;
        sort_coarsely(stream, memory.sort, source, per_window * uint32_t(batch.count), levels);
    }
    return bucket_sort_finish(stream, memory.sort, levels, entries, n_buckets);
}

cudaError_t prepare_sorting()
{
    cudaError_t result = cudaFuncSetAttribute(
        scatter<DigitSource, uint16_t>, cudaFuncAttributeMaxDynamicSharedMemorySize, SCATTER_BYTES);
    if (result == cudaSuccess)
        result = cudaFuncSetAttribute(scatter<PatternSource, uint16_t>,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, SCATTER_BYTES);
    return result == cudaSuccess ? prepare_bucket_sort() : result;
}
