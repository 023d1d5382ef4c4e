/* The host's part of a subset sum on the device (subset.h). */
#ifndef CUDA_SUBSET_FINISH_H
#define CUDA_SUBSET_FINISH_H

#include "math/group.h"

/* Σ b_i·P_i = (all + sum) / 2 from all = ΣP_i and sum = Σ (2·b_i − 1)·P_i, each over all parts of a
   section. */
void subset_finish_g1(struct g1 *out, const struct g1 *all, const struct g1 *sum);
void subset_finish_g2(struct g2 *out, const struct g2 *all, const struct g2 *sum);

#endif
