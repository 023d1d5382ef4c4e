/* The host's part of a multi-scalar multiplication on the device: a few hundred doublings. */
#ifndef CUDA_MSM_FINISH_H
#define CUDA_MSM_FINISH_H

#include "backend/cuda/msm/msm.h"
#include "math/group.h"

/* The result of one set of a job from its sums (msm.h), copied to the host. */
void msm_finish_g1(struct g1 *out, const struct msm_size *size, const struct g1_affine *sums);
void msm_finish_g2(struct g2 *out, const struct msm_size *size, const struct g2_affine *sums);

#endif
