/* One pass of a transform: columns of 64, 128, 256 or 512 elements within a block. See ntt.cu. */
#ifndef CUDA_NTT_PASS_CUH
#define CUDA_NTT_PASS_CUH

#include "curve.cuh"
#include "factor.cuh"

constexpr int NTT_THREADS = 128;
constexpr int NTT_TILE = 8 * NTT_THREADS; /* elements of a block */

/* The sides n1, n2, n3 of the box of n elements. */
struct Box {
    unsigned log2_n, log2_1, log2_2, log2_3;
};

enum After {
    AFTER_NOTHING,
    AFTER_FACTOR, /* times one table entry */
    AFTER_POWER,  /* times w^±(k1·(x2,x3)); sides 1 and 2 */
    AFTER_LAST,   /* times the coset's part, minus c, to natural order; side 3 */
};

struct Pass {
    const Fr *in;
    Fr *out;
    const uint4 *stage_a, *stage_b;
    Box box;
    unsigned log2_step; /* between rows of a column; sides 1 and 2 */
    bool reversed;      /* rows are read in reversed order */
    bool by_k1;         /* the factor's table is [k1][row], else [k2][x3] */
    const Factor *factors;
    const Factor *power_2, *power_3;
    const Fr *minus;
};

/* Enqueues a pass over columns of 64, 128, …; `contiguous`: over side 3. */
void ntt_pass_64(const Pass &pass, bool contiguous, After after, cudaStream_t stream);
void ntt_pass_128(const Pass &pass, bool contiguous, After after, cudaStream_t stream);
void ntt_pass_256(const Pass &pass, bool contiguous, After after, cudaStream_t stream);
void ntt_pass_512(const Pass &pass, bool contiguous, After after, cudaStream_t stream);

#endif
