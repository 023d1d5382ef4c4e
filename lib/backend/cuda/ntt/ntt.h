/* From row values to the quotient on the device: the twin of ntt_quotient in math/ntt.h.

   Everything is enqueued on the caller's stream; nothing is allocated and nothing waits. */
#ifndef CUDA_NTT_H
#define CUDA_NTT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* cudaStream_t */

enum { NTT_CUDA_LOG2_MIN = 1, NTT_CUDA_LOG2_MAX = 27 };

/* Tables of one size, in the caller's device memory: 336 MB for 2^27 elements. Built once; then
   only read, by any number of streams at once. */
size_t ntt_table_bytes(unsigned log2_n);
/* 0, or the first CUDA error of the launches; so below. */
int ntt_build_tables(unsigned log2_n, void *tables, struct CUstream_st *stream);

/* a_j = A(w^j) and b_j = B(w^j) to the coefficients of (A·B - C) / (X^n - 1), C(w^j) = a_j·b_j: in
   a, in natural order; the last one is 0. b and c are used up. All have 2^log2_n elements of 32
   bytes, Montgomery form. */
int ntt_quotient_enqueue(unsigned log2_n, const void *tables, void *a, void *b, void *c,
                         struct CUstream_st *stream);

/* The same a and b to A·B on the coset, a_j = A(7·w^j)·B(7·w^j): four transforms in place of six.
   b is used up. */
int ntt_products_enqueue(unsigned log2_n, const void *tables, void *a, void *b,
                         struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
