/* What makes a key's Lagrange form (key/lagrange.h) on the device: transforms of points in G1,
   and their sums by the columns of C.

   Everything is enqueued on the caller's stream; nothing is allocated and nothing waits. Each
   function returns 0, or the first CUDA error of its launches. */
#ifndef CUDA_POINT_NTT_H
#define CUDA_POINT_NTT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* cudaStream_t */

/* Points worked on by one launch, at most, so that none takes long; and room for them. */
enum { POINT_NTT_SLICE = 1 << 20 };
size_t point_ntt_scratch_bytes(void);

/* One step, 0 ≤ step ≤ log2_n, of the transform in place of 2^log2_n slots P_k (curve.cuh, infinity
   is allowed): all steps in order leave 1/(n·d)·Σ_k z_j^k·P_k at address j with its bits reversed,
   z_j = w^-j or, on the coset, 7^-1·w^-j. d = 7^n - 1. */
int point_ntt_step(unsigned log2_n, bool coset, unsigned step, void *slots, void *scratch,
                   struct CUstream_st *stream);

/* A factor of an entry: its size's 32-bit words, the least significant first, and sign. */
struct point_factor {
    uint32_t size[8];
    uint32_t n_bits; /* of size */
    uint32_t negative;
};

/* Columns of a matrix over 2^log2_n points whose addresses have reversed bits. */
struct point_columns {
    unsigned log2_n;
    const void *points;                 /* slots */
    const struct point_factor *factors; /* at an entry's coeff */
    const uint32_t *start;              /* n + 1; entries are at start[v] - start[0] … */
    const uint32_t *row;
    const uint16_t *coeff;
    uint32_t n;     /* columns, at most POINT_NTT_SLICE */
    bool are_dense; /* a block takes one column: for few columns, of many entries */
};

/* slots[v] -= Σ factor·points[row] over column v's entries. */
int point_columns_subtract(const struct point_columns *columns, void *slots, void *scratch,
                           struct CUstream_st *stream);

/* n slots as in a parameter file, 96 bytes each: slots[first + i], or with log2_n > 0 the one at
   that address with its log2_n bits reversed. */
int point_encode(const void *slots, uint32_t first, uint32_t n, unsigned log2_n, void *bytes,
                 struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
