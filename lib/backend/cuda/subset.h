/* Subset sums on the device: Σ b_i·P_i for bits b_i, by tables of signed groups of three.

   A section's points are cut, in their order, into groups of three, the last one filled up with
   infinity. A table holds four points a group, P1 + P2 + P3, P1 + P2 − P3, P1 − P2 + P3 and
   P1 − P2 − P3; with their negatives these are all ±P1 ± P2 ± P3. So Σ (2·b_i − 1)·P_i takes
   exactly one point a group, wherever the bits are: n/3 additions where the points of set bits
   alone are n/2, and nothing to search for. From it and the same sum with all bits one, which is
   ΣP_i, the host gets Σ b_i·P_i (subset_finish.h). See spec/gpu.md, section 4.3, for groups of
   four.

   Points and tables are slots (curve.cuh). Everything is enqueued on the caller's stream; nothing
   is allocated and nothing waits. Functions return 0, or the first CUDA error. */
#ifndef CUDA_SUBSET_H
#define CUDA_SUBSET_H

#include "backend/cuda/msm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* SUMS_MAX: of one job. ALIGNMENT: where in a section parts of it may begin, so that groups and
   words of bits begin there too. */
enum { SUBSET_SUMS_MAX = 16, SUBSET_ALIGNMENT = 192 };

/* Groups of n points, and bytes of their table. */
uint32_t subset_groups(uint32_t n_points);
size_t subset_table_bytes(enum msm_group group, uint32_t n_points);

/* Makes the table of n points: the whole section, or a part of it, then a multiple of three except
   at the section's end. Any points will do: equal, opposite, infinite. */
size_t subset_combine_scratch_bytes(enum msm_group group, uint32_t n);
int subset_combine(enum msm_group group, const void *slots, uint32_t n, void *table, void *scratch,
                   size_t scratch_bytes, struct CUstream_st *stream);

/* Brings a witness's bits into the order of a section's points: bit first_point + rank(i) of
   `selected` is bit i of `bits`, for the dense variables i < n_vars, rank counting the dense ones
   before i; all other bits are 0 (the first ones belong to the points of inputs). density: NULL if
   all variables are dense, else with the rank of each word's first variable. `selected` takes
   (n_points + 63) / 64 words, n_points ≥ first_point + the dense variables. */
int subset_select(const uint64_t *bits, const uint64_t *density, const uint32_t *ranks,
                  uint32_t n_vars, uint32_t first_point, uint32_t n_points, uint64_t *selected,
                  struct CUstream_st *stream);

/* Σ (2·b_i − 1)·P_i over n_points points of a section from first_point on. */
struct subset_sum {
    const void *table;        /* of these points */
    uint32_t first_point;     /* a multiple of SUBSET_ALIGNMENT */
    uint32_t n_points;        /* at least 1; a multiple of three except at the section's end */
    const uint64_t *selected; /* a bit for each point of the section; NULL: all bits are one */
};

/* Several sums, made in common rounds: of several sections, or of several witnesses over the same
   points. */
struct subset_job {
    enum msm_group group;
    struct subset_sum sums[SUBSET_SUMS_MAX]; /* all tables within 2^31 slots */
    unsigned n_sums;
    void *scratch;
    size_t scratch_bytes;
    void *out; /* an affine point for each sum */
};

/* Depends on the group, and on how many sums there are and of how many points. */
size_t subset_scratch_bytes(const struct subset_job *job);
int subset_enqueue(const struct subset_job *job, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
