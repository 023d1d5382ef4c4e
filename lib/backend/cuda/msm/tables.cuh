/* Tables of multiples of points, for multi-scalar multiplications whose windows share their
   buckets. */
#ifndef CUDA_TABLES_CUH
#define CUDA_TABLES_CUH

#include "backend/cuda/msm/digits.h"

size_t tables_scratch_bytes(enum msm_group group, uint32_t n);

/* See msm_build_tables. */
int tables_build(enum msm_group group, const Windows &windows, uint32_t n, void *slots,
                 void *scratch, cudaStream_t stream);

#endif
