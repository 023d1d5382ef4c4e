/* One pass of a transform: columns of 64, 128, 256 or 512 elements within a block. See ntt.cu. */
#ifndef CUDA_NTT_PASS_CUH
#define CUDA_NTT_PASS_CUH

#include "backend/cuda/field/curve.cuh"
#include "backend/cuda/field/factor.cuh"

constexpr int NTT_THREADS = 128;
constexpr int NTT_TILE = 8 * NTT_THREADS; /* elements of a block */

/* The sides n1, n2, n3 of the box of n elements. */
struct Box {
    unsigned log2_n, log2_1, log2_2, log2_3;
};

/* Elements in vectors of 16 bytes. */
using Factor4 = Factor<4>;
constexpr int FACTOR_PARTS = sizeof(Factor4) / sizeof(uint4);

/* The factors of one transform of a column of R·64 rows whose row k is then multiplied by h^k, as
   they lie in memory, entry (k, i) of n at [k][part][i]: for stage A w^(k·i)·h^k, k = 1 … 7 and
   i < 8·R; for B w^(8·k·i)·h^(8·k), k = 1 … 7 and i < R; for C h^(64·k), k < R. */
struct Slice {
    int stage_b, stage_c, size; /* in vectors; stage A comes first */

    __host__ __device__ constexpr explicit Slice(int r)
        : stage_b(7 * 8 * r * FACTOR_PARTS), stage_c(stage_b + 7 * r * FACTOR_PARTS),
          size(stage_c + r * FACTOR_PARTS)
    {
    }
};

/* A slice for each h, and which of them a column takes: (number >> shift) & mask. */
struct Twist {
    const uint4 *slices;
    unsigned shift;
    uint32_t mask;
};

enum After {
    AFTER_NOTHING, /* h = 1 */
    AFTER_TWIST,   /* times h^k */
    AFTER_SCALE,   /* times h^k and the column's scale */
    AFTER_PRODUCT, /* times another vector's element; h = 1 */
    AFTER_LAST,    /* times h^k, minus another vector's element, to natural order; side 3 */
};

struct Pass {
    const Fr *in;
    Fr *out;
    Box box;
    int side;           /* 1, 2 or 3 */
    unsigned log2_step; /* between rows of a column; sides 1 and 2 */
    bool reversed;      /* rows are read in reversed order */
    Twist twist;
    const Factor4 *scales; /* by column */
    const Fr *other;
};

/* Enqueues a pass over columns of 64, 128, … elements. */
void ntt_pass_64(const Pass &pass, After after, cudaStream_t stream);
void ntt_pass_128(const Pass &pass, After after, cudaStream_t stream);
void ntt_pass_256(const Pass &pass, After after, cudaStream_t stream);
void ntt_pass_512(const Pass &pass, After after, cudaStream_t stream);

#endif
