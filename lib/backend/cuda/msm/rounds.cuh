/* Affine additions in rounds, with one inversion shared by thousands of them (Montgomery's trick).

   A round is a list of pairs of references; each pair makes the sum in one scratch slot. A
   reference is 32 bits: bit 31 the sign, the rest an index, below n_points an input point, from
   there on a scratch slot. A pair adds A and ±B with the relative sign only; A's sign stays with
   whoever refers to the sum. So no point is ever copied or negated in memory (docs/spec/msm.md,
   section 1).

   The kernels are in rounds_impl.cuh and compiled once a group, in rounds_g1.cu and
   rounds_g2.cu. */
#ifndef CUDA_ROUNDS_CUH
#define CUDA_ROUNDS_CUH

#include "backend/cuda/device/arena.cuh"
#include "backend/cuda/field/curve.cuh"

static constexpr uint32_t REF_SIGN = 0x80000000u;

/* Where a round's operands are and where its sums go. Scratch slots are two planes, x and y,
   without gaps: sums are written and read in order. */
template <class F> struct RoundMemory {
    const unsigned char *points; /* n_points slots */
    uint32_t n_points;
    F *scratch_x, *scratch_y;
    uint4 *prefix;        /* planes of 16 bytes, prefix_stride elements each */
    size_t prefix_stride; /* at least the pairs of the longest round */
    F *totals;            /* products of chains, then their inverses, and as many for scratch */

    /* Takes what rounds need beside the points, in the same order for sizing and for use. */
    static RoundMemory take(Arena &arena, size_t slots, size_t pairs_max);

    __device__ __forceinline__ const unsigned char *x_of(uint32_t ref) const
    {
        uint32_t index = ref & ~REF_SIGN;
        return index < n_points
                   ? points + size_t(index) * Slot<F>::BYTES
                   : reinterpret_cast<const unsigned char *>(scratch_x + (index - n_points));
    }

    __device__ __forceinline__ const unsigned char *y_of(uint32_t ref) const
    {
        uint32_t index = ref & ~REF_SIGN;
        return index < n_points
                   ? points + size_t(index) * Slot<F>::BYTES + Slot<F>::BYTES / 2
                   : reinterpret_cast<const unsigned char *>(scratch_y + (index - n_points));
    }

    /* The point that a reference means, sign applied. */
    __device__ __forceinline__ Affine<F> point(uint32_t ref) const
    {
        F y = load_element<F>(y_of(ref));
        return {load_element<F>(x_of(ref)), y.negated_if(ref & REF_SIGN)};
    }
};

/* One round: `count` pairs, from first_pair of a list, whose sums go to scratch slots from
   first_slot. Written by planning kernels and read by the adding ones, so that the host never
   waits for it. */
struct RoundRange {
    uint32_t first_pair;
    uint32_t first_slot;
    uint32_t count;
};

enum class Operands {
    INPUTS, /* all references are to input points, anywhere */
    ANY,    /* input points and slots, mostly neighbours */
};

/* Enqueues one round. pairs_max bounds the count that the planner may have written. */
template <class F>
void run_round(cudaStream_t stream, const RoundMemory<F> &memory, const uint2 *pairs,
               const RoundRange *range, size_t pairs_max, Operands operands);

/* Once a process and device, before the first round: shared memory limits. */
template <class F> cudaError_t prepare_rounds();

/* The grid: two to four waves, so that blocks that drift apart leave no long tail. */
static constexpr int ROUND_THREADS = 128;
static constexpr int ROUND_BLOCKS = 2640;

template <class F> RoundMemory<F> RoundMemory<F>::take(Arena &arena, size_t slots, size_t pairs_max)
{
    RoundMemory memory = {};
    memory.scratch_x = arena.take<F>(slots);
    memory.scratch_y = arena.take<F>(slots);
    memory.prefix = arena.take<uint4>(pairs_max * (sizeof(F) / 16));
    memory.prefix_stride = pairs_max;
    memory.totals = arena.take<F>(2 * size_t(ROUND_BLOCKS) * ROUND_THREADS);
    return memory;
}

#endif
