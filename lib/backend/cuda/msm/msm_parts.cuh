/* The two parts of a multi-scalar multiplication: planning, which is about integers only and done
   once for all sets of points, and adding, once a set. Pippenger's method with signed digits;
   buckets are filled and reduced by rounds of affine additions (docs/spec/msm.md, sections 1 to 5).

   Sums of all sets go to slots of the same numbers, so one plan and one list of references serve
   them all. */
#ifndef CUDA_MSM_PARTS_CUH
#define CUDA_MSM_PARTS_CUH

#include "backend/cuda/msm/digits.h"
#include "backend/cuda/msm/msm.h"
#include "backend/cuda/msm/additions.h"

/* Halvings of a batch's rows and columns before they wait for the other batches and sets: short
   rounds, which mostly wait for an inversion, are then done once for all. */
static constexpr int HALVINGS_ALONE = 3;

/* What planning leaves for adding. Two of them, so that a batch is planned while the one before
   it is added. */
struct Planned {
    uint2 *pairs;
    RoundRange *group_ranges,
        *bucket_ranges; /* of filling groups; of adding up a bucket's groups */
    uint32_t *buckets;  /* references to the buckets' sums */
};

struct Planner {
    msm_size size;
    Windows windows, matrices;
    Batch batches[MSM_WINDOWS_MAX];
    int n_batches;
    uint32_t entries_max, buckets_max; /* of a batch */
    uint32_t n_points;                 /* references below it are to points, else to slots */
    uint32_t infinity_slot;            /* slots below it are for filling and reducing */
    size_t n_references;               /* what they would have to name; they can name REF_SIGN */

    DigitMemory digits;
    Planned planned[2];

    /* Lays the job out; takes memory for planning. */
    Planner(const msm_size &size, Arena &arena);
    /* Before the first batch. */
    void prepare(const msm_job &job, cudaStream_t stream) const;
    /* Which additions fill a batch's buckets. */
    void plan(const Batch &batch, const Planned &out, cudaStream_t stream) const;

    unsigned n_sums() const { return count_sums(size, matrices); }
    uint32_t entries_of(const Batch &batch) const { return uint32_t(batch.count) * size.n; }
    /* Rounds of adding up the groups of a bucket; there are several only with skewed scalars. */
    int bucket_rounds(const Batch &batch) const;

  private:
    uint32_t *group_first, *group_starts, *group_finals, *next_slot, *counters;
    uint32_t *block_groups, *block_bases, *bucket_count, *several;
    void *scan_temp;
    size_t scan_bytes;

    void find_sizes();
};

/* All sets in one group. Instantiated in msm_g1.cu and msm_g2.cu. */
template <class F> struct Adder {
    /* planner: must outlive this. Takes nothing for no sets. */
    Adder(const Planner &planner, unsigned n_sets, Arena &arena);
    void prepare(cudaStream_t stream) const;
    /* Fills a batch's buckets from each set and reduces them down to what is kept of them. */
    void add(const msm_set *sets, const Batch &batch, const Planned &plan, cudaStream_t stream);
    /* The sums, from what all batches have left. */
    void finish(const msm_set *sets, cudaStream_t stream) const;

  private:
    /* All matrices of one width. What is kept of each, and for each set: `kept` rows and as many
       columns. */
    struct Width {
        int first, count, width;
        uint32_t kept, first_slot;
        uint32_t *refs; /* rows of all sets and matrices, then columns */
    };

    const Planner &planner;
    uint32_t n_sets, cell_stride;
    Width widths[2];
    int n_widths;
    RoundMemory<F> memory;
    uint32_t *refs[2];
    RoundRange *range; /* of reducing */
    Xyzz<F> *cells;    /* rows and columns: [set][matrix][cell_stride] */

    void find_widths();
    const Width &width_of(const Batch &batch) const;
    void fill(const Batch &batch, const Planned &plan, cudaStream_t stream) const;
    void reduce(uint32_t set, const Batch &batch, const Planned &plan, cudaStream_t stream) const;
    void reduce_kept(const Width &width, cudaStream_t stream) const;
    void add_pairs(const uint2 *from, uint32_t count, uint32_t first_slot,
                   cudaStream_t stream) const;
    void refer(const uint2 *from, uint32_t count, uint32_t first_slot, uint32_t *to,
               cudaStream_t stream) const;
};

#endif
