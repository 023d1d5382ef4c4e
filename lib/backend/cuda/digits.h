/* Windows, digits and buckets of a multi-scalar multiplication: everything before points are
   touched. */
#ifndef CUDA_DIGITS_H
#define CUDA_DIGITS_H

#include "msm.h"
#include "bucket_sort.h"
#include "rounds.cuh"

/* The scalars' bits cut into windows as equal as possible, the wide ones first. */
struct Windows {
    int count;
    int position[MSM_WINDOWS_MAX];
    int width[MSM_WINDOWS_MAX]; /* all windows of one width are neighbours; they sum up to 256 */
};

/* Consecutive windows that are worked on together, and the buckets that their digits fall into:
   2^(width - 1) to a matrix. Without tables the windows are of one width and each has a matrix of
   its own; with tables the batch has one, for the widest. */
struct Batch {
    int first, count;
    int width;
    int first_matrix, matrices;

    uint32_t buckets() const { return uint32_t(matrices) << (width - 1); }
};

/* The cheapest windows for a job, and their batches; returns the number of batches. */
int make_batches(const struct msm_size &size, Windows *windows, Batch batches[MSM_WINDOWS_MAX]);

/* The matrices as windows of the result: with tables all are at position 0. */
Windows make_matrices(const struct msm_size &size, const Batch *batches, int n_batches,
                      const Windows &windows);

/* Sums of one result: for each matrix one a bit of the row number, which are column_bits_of(width),
   and one a bit of the column number and one, which are row_bits_of(width) + 1. */
static inline unsigned count_sums(const Windows &matrices)
{
    unsigned count = 0;
    for (int i = 0; i < matrices.count; i++)
        count += unsigned(matrices.width[i]);
    return count;
}

/* In a matrix, bucket b = row·2^row_bits + column. */
static inline __host__ __device__ int row_bits_of(int width)
{
    return (width - 1) / 2;
}

static inline __host__ __device__ int column_bits_of(int width)
{
    return width - 1 - row_bits_of(width);
}

/* Device memory of sorting one batch. */
struct DigitMemory {
    uint32_t *planes; /* 8·n words: the scalars, word by word */
    BucketSort sort;

    static DigitMemory take(Arena &arena, uint32_t n, uint32_t entries_max, uint32_t buckets_max);
};

/* Cuts n scalars (Montgomery form) for the digits of all batches to come. */
void prepare_digits(cudaStream_t stream, const DigitMemory &memory, const Windows &windows,
                    const void *scalars, uint32_t n);

/* Sorts a batch's entries by bucket: fills sort.starts and returns the references in the order
   of their buckets. Scalar i of window w refers to point i, with tables w·n + i. Digits 0 are left
   out. */
uint32_t *sort_digits(cudaStream_t stream, const DigitMemory &memory, const Windows &windows,
                      const Batch &batch, const struct msm_size &size);

/* Before the first call of these on a device. */
cudaError_t prepare_sorting();

#endif
