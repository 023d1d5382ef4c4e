/* Multi-scalar multiplication and subset sums on the device: what the host side calls.

   Points lie in slots (curve.cuh) made by points.h. Everything is enqueued on the caller's
   stream; nothing is allocated and nothing waits. Scratch comes from the caller, as many bytes
   as the *_scratch_bytes functions say. */
#ifndef CUDA_MSM_H
#define CUDA_MSM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* cudaStream_t */
struct CUevent_st;  /* cudaEvent_t */

enum msm_group { MSM_G1, MSM_G2 };

/* Once for each device, before its first job. 0, or a CUDA error. */
int msm_prepare(void);

/* Bytes of one point in device memory, and of one affine point in a result (x, y in Montgomery
   form). */
size_t msm_slot_bytes(enum msm_group group);
size_t msm_point_bytes(enum msm_group group);

/* Σ scalars[i]·points[indices ? indices[i] : i], i < n ≤ 2^27. */
struct msm_job {
    enum msm_group group;
    const void *points;      /* slots */
    uint32_t n_points;       /* slots that references may name; < 2^30 */
    const void *scalars;     /* 32 bytes each, Montgomery form */
    const uint32_t *indices; /* NULL: scalar i belongs to point i */
    uint32_t n;
    void *scratch;
    size_t scratch_bytes;
    void *sums; /* out: msm_sum_count(n) affine points, for msm_finish */
    /* NULL, or a stream of this job's own on which the next windows are sorted and planned while
       points are added, and four events without timing. All its work is ordered before what follows
       the job. */
    struct CUstream_st *side;
    struct CUevent_st *planned[2], *added[2];
};

size_t msm_scratch_bytes(enum msm_group group, uint32_t n);
uint32_t msm_sum_count(uint32_t n);

/* 0, or the first CUDA error of the launches. */
int msm_enqueue(const struct msm_job *job, struct CUstream_st *stream);

/* How the sums make the result: windows from the least significant on, each with two sums, P and Q:
   result = Σ 2^position·(2^row_bits·P + Q). For the host to finish. */
struct msm_window {
    unsigned position;
    unsigned row_bits;
};
/* Returns the number of windows (at most 32). */
unsigned msm_windows(uint32_t n, struct msm_window windows[32]);

/* Σ points[first_point + rank(i)] over the variables i < n_vars whose bit is set, rank counting
   the dense variables before i; variables that are not dense are left out. */
struct subset_job {
    enum msm_group group;
    const void *points;
    uint32_t n_points;
    uint32_t first_point;
    const uint64_t *bits;    /* device, (n_vars + 63) / 64 words */
    const uint64_t *density; /* NULL: all are dense */
    const uint32_t *ranks;   /* dense variables before each word; NULL with density NULL */
    uint32_t n_vars;
    void *scratch;
    size_t scratch_bytes;
    void *sum; /* out: one affine point */
};

/* ones_max: the most set bits that there can be. */
size_t subset_scratch_bytes(enum msm_group group, uint32_t n_vars, uint32_t ones_max);
int subset_enqueue(const struct subset_job *job, uint32_t ones_max, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
