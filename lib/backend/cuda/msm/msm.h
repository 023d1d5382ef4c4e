/* Multi-scalar multiplication and subset sums on the device: what the host side calls.

   Subset sums Σ b_i·P_i of several bitmaps over the same points are made together: the bits of a
   point in all bitmaps are its *pattern*, and the pattern is the number of the bucket that the
   point goes into. That is one addition a point, whatever the number of bitmaps; the sum of a
   bitmap is that of the buckets whose number has its bit.

   Points lie in slots (curve.cuh) made by points.h. Everything is enqueued on the caller's
   stream; nothing is allocated and nothing waits. Scratch comes from the caller, as many bytes
   as the *_scratch_bytes functions say. */
#ifndef CUDA_MSM_H
#define CUDA_MSM_H

#include <stdbool.h>
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

enum {
    MSM_SETS_MAX = 4,
    MSM_BITMAPS_MAX = 16,
    MSM_WINDOWS_MAX = 32,
    MSM_SUMS_MAX = 288,
    MSM_ENTRIES = 1 << 26
};

/* What decides a job's windows, scratch and results. */
struct msm_size {
    uint32_t n;                /* scalars, or bits of each bitmap: 1 to 2^27 */
    unsigned g1_sets, g2_sets; /* sets of points in each group, together 1 to MSM_SETS_MAX */
    bool tables;               /* the sets are tables of multiples, see msm_build_tables */
    unsigned bitmaps;          /* 0: scalars; else up to MSM_BITMAPS_MAX, without tables */
    /* Scratch is proportional to the entries worked on at a time, an entry being a scalar's digit
       in one window: about 120 to 170 bytes each with sets in G1, 300 with sets in G2, 440 with
       both. 0: MSM_ENTRIES. A window is never divided, so less than n counts as n. Bitmaps are one
       window. */
    uint32_t entries_max;
};

/* Points that are multiplied by the job's scalars. */
struct msm_set {
    const void *points; /* msm_slots(size) slots; infinity may be among them */
    void *sums;         /* out: msm_sum_count(size) affine points, for msm_finish */
};

/* Σ scalars[i]·points[i], i < size.n, for each set; or Σ bit i of bitmaps[k] · points[i], for each
   set and bitmap. Scalars or patterns are cut, sorted and planned once for all sets. */
struct msm_job {
    struct msm_size size;
    struct msm_set sets[MSM_SETS_MAX];        /* those in G1, then those in G2 */
    const void *scalars;                      /* 32 bytes each, Montgomery form */
    const uint64_t *bitmaps[MSM_BITMAPS_MAX]; /* words, bit 0 of each first */
    void *scratch;
    size_t scratch_bytes;
    /* NULL, or a stream of this job's own on which the next windows are sorted and planned while
       points are added, and four events without timing. All its work is ordered before what follows
       the job. */
    struct CUstream_st *side;
    struct CUevent_st *planned[2], *added[2];
};

/* Enough for msm_enqueue and for msm_build_tables. */
size_t msm_scratch_bytes(const struct msm_size *size);
uint32_t msm_sum_count(const struct msm_size *size); /* at most MSM_SUMS_MAX */
/* Of one set: n, with tables n for each window. */
size_t msm_slots(const struct msm_size *size);

/* 0, or the first CUDA error of the launches; an invalid value if scratch is too small or
   references (31 bits) cannot name all slots. */
int msm_enqueue(const struct msm_job *job, struct CUstream_st *stream);

/* Makes a table of multiples in place, once for points that are used often: slots[w·n + i] becomes
   2^(position of window w)·slots[i], the first n being given. With it the digits of all windows go
   into one set of buckets, so that windows can be wider, hence fewer. `size` must be that of the
   jobs to come. */
int msm_build_tables(const struct msm_size *size, enum msm_group group, void *slots, void *scratch,
                     size_t scratch_bytes, struct CUstream_st *stream);

/* How the sums of scalars make the result, for the host to finish: Σ 2^positions[i]·sums[i] over
   all msm_sum_count(size). */
void msm_positions(const struct msm_size *size, unsigned positions[MSM_SUMS_MAX]);
/* Which of the sums is that of a bitmap. */
unsigned msm_bitmap_sum(const struct msm_size *size, unsigned bitmap);

#ifdef __cplusplus
}
#endif

#endif
