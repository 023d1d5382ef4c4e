/* Windows, digits and buckets of a multi-scalar multiplication, and patterns of bitmaps, which
   count as digits of one window: everything before points are touched. */
#ifndef CUDA_DIGITS_H
#define CUDA_DIGITS_H

#include "backend/cuda/msm/msm.h"
#include "backend/cuda/msm/bucket_sort.h"
#include "backend/cuda/msm/rounds.cuh"

/* The scalars' bits cut into windows as equal as possible, the wide ones first. */
struct Windows {
    int count;
    int position[MSM_WINDOWS_MAX];
    int width[MSM_WINDOWS_MAX]; /* all windows of one width are neighbours; they sum up to 256 */
};

/* Consecutive windows that are worked on together, and the buckets that their digits fall into:
   2^(width - 1) to a matrix. Without tables the windows are of one width and each has a matrix of
   its own; with tables the batch has one, for the widest. Digit d ≥ 1 goes into bucket d - 1, a
   pattern p ≥ 1 into bucket p. */
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

/* Bucket b weighs b plus this. */
static inline unsigned least_weight(const struct msm_size &size)
{
    return size.bitmaps > 0 ? 0 : 1;
}

/* Sums of one result: for each matrix one a bit of the row number, which are column_bits_of(width),
   and one a bit of the column number plus the least weight, which are row_bits_of(width) plus
   it. */
static inline unsigned count_sums(const struct msm_size &size, const Windows &matrices)
{
    unsigned count = 0;
    for (int i = 0; i < matrices.count; i++)
        count += unsigned(matrices.width[i]) - 1 + least_weight(size);
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
    uint32_t *planes;   /* 8·n words: the scalars, word by word */
    uint16_t *patterns; /* or n patterns */
    BucketSort sort;

    static DigitMemory take(Arena &arena, const struct msm_size &size, uint32_t entries_max,
                            uint32_t buckets_max);
};

/* Cuts the job's scalars for the digits of all batches to come, or packs its patterns. */
void prepare_digits(cudaStream_t stream, const DigitMemory &memory, const Windows &windows,
                    const struct msm_job &job);

/* Sorts a batch's entries by bucket: fills sort.starts and returns the references in the order
   of their buckets. Scalar i of window w refers to point i, with tables w·n + i. Digits and
   patterns 0 are left out. */
uint32_t *sort_digits(cudaStream_t stream, const DigitMemory &memory, const Windows &windows,
                      const Batch &batch, const struct msm_size &size);

/* Before the first call of these on a device. */
cudaError_t prepare_sorting();

#endif
