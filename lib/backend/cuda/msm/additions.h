/* Planning of additions: which pairs of references are added in which round. Integers only. */
#ifndef CUDA_ADDITIONS_H
#define CUDA_ADDITIONS_H

#include "backend/cuda/msm/rounds.cuh"

/* Rounds that one planning makes at most: log2 of its largest group. */
static constexpr int PLAN_ROUNDS_MAX = 27;

/* Buckets of more entries than this are cut into several groups, so that a bucket that holds nearly
   everything (skewed scalars) is spread over many blocks. */
static constexpr uint32_t PLAN_GROUP_MAX = 512;
static constexpr int PLAN_GROUP_ROUNDS = 9;

/* Device memory of one planning. Group g holds entries [starts[g], starts[g + 1]), starts[0] =
   0. */
struct PlanMemory {
    uint32_t *entries;        /* references; used up */
    const uint32_t *starts;   /* *n_groups + 1 */
    const uint32_t *n_groups; /* in device memory */
    const uint32_t *needed;   /* NULL, or in device memory 0: no group has two entries, and finals
                                 are not asked for */
    uint32_t entries_max, n_groups_max;
    uint32_t *finals;        /* one a group: what its sum is referred to by; empty_ref if empty */
    uint2 *pairs;            /* pair i of the plan makes slot i */
    RoundRange *ranges;      /* PLAN_ROUNDS_MAX */
    uint32_t *next_slot;     /* in: first free slot; out: likewise */
    uint32_t *counters;      /* PLAN_ROUNDS_MAX */
    uint32_t *block_groups;  /* plan_blocks() + 1 */
    uint32_t *block_bases;   /* plan_blocks() · PLAN_ROUNDS_MAX */
    uint32_t first_slot_ref; /* the reference of slot 0: the number of input points */
    uint32_t empty_ref;      /* refers to a slot with infinity */
};

size_t plan_blocks(uint32_t entries_max, uint32_t n_groups_max);

/* Enqueues the planning of `rounds` rounds: fills pairs, ranges, finals and moves next_slot. */
void plan_rounds(cudaStream_t stream, const PlanMemory &memory, int rounds);

/* Cuts buckets into groups of at most PLAN_GROUP_MAX entries: group_first[b] is the first group
   of bucket b (n_buckets + 1 of them, the last one being the number of groups), starts[g] the
   first entry of group g, with one more at the end; *several = 1 if some bucket has several, else
   0. bucket_starts has n_buckets + 1. scan_temp: plan_scan_bytes(). */
void plan_cut_buckets(cudaStream_t stream, const uint32_t *bucket_starts, uint32_t n_buckets,
                      uint32_t *group_first, uint32_t *starts, uint32_t *several, void *scan_temp,
                      size_t scan_temp_bytes);
size_t plan_scan_bytes(uint32_t n_buckets);

/* The finals of buckets of one group or none. */
void plan_pass_finals(cudaStream_t stream, const uint32_t *group_first, uint32_t n_buckets,
                      const uint32_t *group_finals, uint32_t empty_ref, uint32_t *bucket_finals);

#endif
