#include "digits.h"

#include <cub/device/device_radix_sort.cuh>

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
               size_t(batch.count + 1) * size.n <= entries_max)
            batch.count++;
        if (!size.tables)
            batch.matrices = batch.count;
        matrices += batch.matrices;
        batches[count++] = batch;
        w += batch.count;
    }
    return count;
}

/* The cheapest number of windows: an entry costs its sorting and an addition, a bucket two
   additions in shorter rounds. In halves of an entry's cost; weights from the measured
   break-even points of spec/gpu-msm.md, section 3 (12 or 13 windows at 2^24, 11 or 12 at 2^26). */
int make_batches(const struct msm_size &size, Windows *windows, Batch batches[MSM_WINDOWS_MAX])
{
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

DigitMemory DigitMemory::take(Arena &arena, uint32_t n, uint32_t entries_max, uint32_t buckets_max)
{
    DigitMemory memory = {};
    cub::DoubleBuffer<uint32_t> none;
    cub::DeviceRadixSort::SortPairs(nullptr, memory.sort_bytes, none, none, int(entries_max));
    memory.planes = arena.take<uint32_t>(size_t(8) * n);
    for (int i = 0; i < 2; i++) {
        memory.keys[i] = arena.take<uint32_t>(entries_max);
        memory.values[i] = arena.take<uint32_t>(entries_max);
    }
    memory.bucket_starts = arena.take<uint32_t>(buckets_max + 1);
    memory.sort_temp = arena.take<unsigned char>(memory.sort_bytes);
    return memory;
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

void prepare_digits(cudaStream_t stream, const DigitMemory &memory, const Windows &windows,
                    const void *scalars, uint32_t n)
{
    Offset offset = {};
    for (int w = 0; w + 1 < windows.count; w++) {
        int bit = windows.position[w + 1] - 1;
        offset.word[bit / 32] |= 1u << (bit % 32);
    }
    split_scalars<<<(n + 255) / 256, 256, 0, stream>>>(static_cast<const Fr *>(scalars), n, offset,
                                                       memory.planes);
}

/* Entry (window, scalar): its bucket in the batch, or n_buckets for digit 0; its reference. */
__global__ void make_digits(const uint32_t *planes, uint32_t n, uint32_t first_point, int position,
                            int width, bool top, uint32_t first_bucket, uint32_t n_buckets,
                            uint32_t *keys, uint32_t *values)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int word = position / 32, shift = position % 32;
    uint64_t bits = planes[size_t(word) * n + i];
    if (shift + width > 32)
        bits |= uint64_t(planes[size_t(word + 1) * n + i]) << 32;
    uint32_t raw = uint32_t(bits >> shift) & ((1u << width) - 1);
    int digit = top ? int(raw) : int(raw) - (1 << (width - 1));
    uint32_t sign = digit < 0 ? REF_SIGN : 0;
    uint32_t magnitude = uint32_t(digit < 0 ? -digit : digit);
    keys[i] = magnitude ? first_bucket + magnitude - 1 : n_buckets;
    values[i] = (first_point + i) | sign;
}

/* starts[b] = first entry of bucket b, b ≤ n_buckets, from the sorted keys. A search for each
   bucket rather than a look at each key's neighbour: the same time however the keys are
   distributed. */
__global__ void find_buckets(const uint32_t *keys, uint32_t n, uint32_t n_buckets, uint32_t *starts)
{
    uint32_t b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b > n_buckets)
        return;
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (keys[middle] < b)
            low = middle + 1;
        else
            high = middle;
    }
    starts[b] = low;
}

uint32_t *sort_digits(cudaStream_t stream, const DigitMemory &memory, const Windows &windows,
                      const Batch &batch, const struct msm_size &size)
{
    uint32_t n = size.n, entries = uint32_t(batch.count) * n, n_buckets = batch.buckets();
    for (int i = 0; i < batch.count; i++) {
        int w = batch.first + i;
        make_digits<<<(n + 255) / 256, 256, 0, stream>>>(
            memory.planes, n, size.tables ? uint32_t(w) * n : 0, windows.position[w],
            windows.width[w], w == windows.count - 1,
            size.tables ? 0 : uint32_t(i) << (batch.width - 1), n_buckets,
            memory.keys[0] + size_t(i) * n, memory.values[0] + size_t(i) * n);
    }
    int key_bits = 1;
    while (n_buckets >> key_bits)
        key_bits++;
    cub::DoubleBuffer<uint32_t> keys(memory.keys[0], memory.keys[1]);
    cub::DoubleBuffer<uint32_t> values(memory.values[0], memory.values[1]);
    size_t bytes = memory.sort_bytes;
    cub::DeviceRadixSort::SortPairs(memory.sort_temp, bytes, keys, values, int(entries), 0,
                                    key_bits, stream);
    find_buckets<<<n_buckets / 256 + 1, 256, 0, stream>>>(keys.Current(), entries, n_buckets,
                                                          memory.bucket_starts);
    return values.Current();
}
