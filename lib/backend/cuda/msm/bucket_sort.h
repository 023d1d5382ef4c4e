/* Sorting entries by bucket in three levels: into coarse bins by the top bits of the bucket, those
   into bins by the next bits, and each bin by the rest in one block's shared memory. The order
   within a bucket is left open, so that no block has to wait for its neighbours as in a stable
   radix sort. A bin too large for shared memory (skewed scalars) is spread over blocks like those
   of the levels before. */
#ifndef CUDA_BUCKET_SORT_H
#define CUDA_BUCKET_SORT_H

#include "backend/cuda/device/arena.cuh"

#include <cuda_runtime_api.h>

/* A level makes at most 2^LEVEL_BITS parts of each of its bins. */
static constexpr int LEVEL_BITS = 8;
static constexpr uint32_t LEVEL_BINS = 1u << LEVEL_BITS;

/* Buckets that three levels can tell apart. */
static constexpr int BUCKET_SORT_MAX = 1 << (3 * LEVEL_BITS);

/* How the bits of a bucket's number are spent, from the top. */
struct Levels {
    int coarse, fine, low;
};

/* For at most BUCKET_SORT_MAX buckets, a multiple of 2^bucket_bits; no bin reaches beyond the last
 * bucket. */
Levels make_levels(uint32_t entries, uint32_t n_buckets, int bucket_bits);

/* Entries [begin, end), at least one and at most TILE_ENTRIES of one bin, whose parts are number
   first_bin and following. */
struct Tile {
    uint32_t begin, end, first_bin;
    uint32_t window; /* of digits */
};
static constexpr uint32_t TILE_ENTRIES = 8192;

/* Device memory. */
struct BucketSort {
    uint32_t *refs[2];   /* entries_max: references, in and out of a level in turn */
    uint16_t *rests;     /* entries_max: what is left of their buckets below coarse bins */
    unsigned char *lows; /* entries_max: and below bins */
    uint32_t *coarse;    /* LEVEL_BINS + 1: first entries of coarse bins */
    uint32_t *bins;      /* LEVEL_BINS² + 1: of bins */
    uint32_t *starts;    /* buckets_max + 1: of buckets; the result */
    uint32_t *cursors;   /* where the next entry of a part goes */
    Tile *tiles;
    uint32_t *n_tiles;
    void *scan_temp;
    size_t scan_bytes;

    static BucketSort take(Arena &arena, uint32_t entries_max, uint32_t buckets_max);
};

/* Before entries are counted in `coarse`, and between that and their being scattered to refs[0] and
   rests by `cursors`. */
void bucket_sort_clear(cudaStream_t stream, const BucketSort &memory);
void bucket_sort_begin(cudaStream_t stream, const BucketSort &memory);

/* Sorts what is there by bucket: fills starts; returns the references in order. */
uint32_t *bucket_sort_finish(cudaStream_t stream, const BucketSort &memory, const Levels &levels,
                             uint32_t entries_max, uint32_t n_buckets);

/* Before the first call of this on a device. */
cudaError_t prepare_bucket_sort();

#endif
