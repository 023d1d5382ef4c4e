/* Windows, digits and buckets of a multi-scalar multiplication: everything before points are
   touched. */
#ifndef CUDA_DIGITS_H
#define CUDA_DIGITS_H

#include "rounds.cuh"

static constexpr int WINDOWS_MAX = 32;

/* The scalars' bits cut into windows as equal as possible. */
struct Windows {
    int count;
    int position[WINDOWS_MAX];
    int width[WINDOWS_MAX]; /* all windows of one width are neighbours; they sum up to 256 */
};

Windows make_windows(uint32_t n);

/* Consecutive windows of one width that are worked on together. */
struct Batch {
    int first, count, width;

    uint32_t buckets() const { return uint32_t(count) << (width - 1); }
};

int make_batches(const Windows &windows, uint32_t n, Batch batches[WINDOWS_MAX]);

/* Buckets of a window are a matrix: bucket b = row·2^row_bits + column. */
static inline int row_bits_of(int width)
{
    return (width - 1) / 2;
}

static inline int column_bits_of(int width)
{
    return width - 1 - row_bits_of(width);
}

/* Device memory of sorting one batch. */
struct DigitMemory {
    uint32_t *planes;           /* 8·n words: the scalars, word by word */
    uint32_t *keys[2], *values[2]; /* entries_max */
    uint32_t *bucket_starts;    /* buckets_max + 1 */
    void *sort_temp;
    size_t sort_bytes;

    static DigitMemory take(Arena &arena, uint32_t n, uint32_t entries_max, uint32_t buckets_max);
};

/* Cuts n scalars (Montgomery form) for the digits of all batches to come. */
void prepare_digits(cudaStream_t stream, const DigitMemory &memory, const Windows &windows,
                    const void *scalars, uint32_t n);

/* Sorts a batch's entries by bucket: bucket_starts, and the references in the order of their
   buckets, which are returned. */
uint32_t *sort_digits(cudaStream_t stream, const DigitMemory &memory, const Windows &windows,
                      const Batch &batch, const uint32_t *indices, uint32_t n);

#endif
