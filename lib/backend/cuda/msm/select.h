/* A witness's bits in the order of a section's points. */
#ifndef CUDA_SELECT_H
#define CUDA_SELECT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* cudaStream_t */

/* Bit first_point + rank(i) of `selected` becomes bit i of `bits`, for the dense variables
   i < n_vars, rank counting the dense ones before i; all other bits become 0 (the first ones belong
   to the points of inputs). density: NULL if all variables are dense, else with the rank of each
   word's first variable. `selected` takes (n_points + 63) / 64 words, n_points ≥ first_point + the
   dense variables. Enqueues only; 0, or the first CUDA error. */
int bits_select(const uint64_t *bits, const uint64_t *density, const uint32_t *ranks,
                uint32_t n_vars, uint32_t first_point, uint32_t n_points, uint64_t *selected,
                struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
