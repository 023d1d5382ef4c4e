/* Points of a parameter file on the device: uncompressed big-endian bytes (docs/spec/groth16.md,
   parts A.3 and A.6) become slots (curve.cuh), checked on the way. */
#ifndef CUDA_POINTS_H
#define CUDA_POINTS_H

#include "backend/cuda/msm/msm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Counters of what is wrong with points; all zero for a good file. A faulty point becomes
   infinity. */
struct points_faults {
    uint32_t malformed; /* a coordinate is not below the modulus, or a flag is set */
    uint32_t infinite;
    uint32_t off_curve;
};

/* Converts n points that lie in device memory, 16-byte aligned, to slots[0 … n). `faults`
   (device) is added to. 0, or the first CUDA error of the launch. */
int points_convert(enum msm_group group, const void *bytes, uint32_t n, void *slots,
                   struct points_faults *faults, struct CUstream_st *stream);

/* Bytes of one point in a file. */
size_t points_file_bytes(enum msm_group group);

/* out[i] = slots[points[i] - first] for all i < n with first ≤ points[i] < first + count; the
   others stay as they are. All in device memory, out too as slots. 0, or the first CUDA error of
   the launch. */
int points_gather(enum msm_group group, const void *slots, uint32_t first, uint32_t count,
                  const uint32_t *points, uint32_t n, void *out, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
