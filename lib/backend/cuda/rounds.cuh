/* Affine additions in rounds, with one inversion shared by thousands of them (Montgomery's trick).

   A round is a list of pairs of references; each pair makes the sum in one scratch slot. A reference is 32
   bits: bit 31 the sign, the rest an index, below n_points an input point, from there on a scratch
   slot. A pair adds A and ±B with the relative sign only; A's sign stays with whoever refers to the
   sum. So no point is ever copied or negated in memory (spec/gpu-msm.md, section 1).

   Three kernels a round: `forward` multiplies up the denominators of each thread's chain of pairs and
   keeps the prefixes, `invert` inverts the chains' products, `backward` walks back and adds. Equal,
   opposite and infinite operands are one rarely taken branch that keeps zero out of the products. */
#ifndef CUDA_ROUNDS_CUH
#define CUDA_ROUNDS_CUH

#include "curve.cuh"

static constexpr uint32_t REF_SIGN = 0x80000000u;
static constexpr int ROUND_THREADS = 128;

/* Where a round's operands are and where its sums go. */
template <class F> struct RoundMemory {
    const unsigned char *points; /* n_points slots */
    uint32_t n_points;
    unsigned char *scratch;
    uint4 *prefix;               /* planes of 16 bytes, prefix_stride elements each */
    size_t prefix_stride;        /* at least the pairs of the longest round */
    F *totals;                   /* one a thread of the grid */
};

/* One round: `count` pairs, from first_pair of a list, whose sums go to scratch slots from first_slot.
   Written by planning kernels and read by the adding ones, so that the host never waits for it. */
struct RoundRange {
    uint32_t first_pair;
    uint32_t first_slot;
    uint32_t count;
};

template <class F>
__device__ __forceinline__ const unsigned char *slot_of(const RoundMemory<F> &memory, uint32_t ref)
{
    uint32_t index = ref & ~REF_SIGN;
    return index < memory.n_points
               ? memory.points + size_t(index) * Slot<F>::BYTES
               : memory.scratch + size_t(index - memory.n_points) * Slot<F>::BYTES;
}

template <class F> __device__ __forceinline__ F slot_x(const unsigned char *slot)
{
    return load_element<F>(slot);
}

template <class F> __device__ __forceinline__ F slot_y(const unsigned char *slot)
{
    return load_element<F>(slot + Slot<F>::BYTES / 2);
}

/* The denominator of a pair whose x differ by nothing or with infinity in it: 2y for a doubling, else
   1, which leaves the product alone. */
template <class F>
__device__ __noinline__ F special_denominator(const unsigned char *a, const unsigned char *b,
                                              bool negate)
{
    F xa = slot_x<F>(a), xb = slot_x<F>(b);
    if (xa.is_zero() || xb.is_zero())
        return F::one();
    F ya = slot_y<F>(a);
    F yb = slot_y<F>(b).negated_if(negate);
    return ya == yb ? ya.doubled() : F::one();
}

/* The sum of such a pair, given the inverse of its denominator. */
template <class F>
__device__ __noinline__ Affine<F> special_sum(const unsigned char *a, const unsigned char *b,
                                              bool negate, const F &inverse)
{
    Affine<F> p = { slot_x<F>(a), slot_y<F>(a) };
    Affine<F> q = { slot_x<F>(b), slot_y<F>(b).negated_if(negate) };
    if (p.is_infinity())
        return q;
    if (q.is_infinity())
        return p;
    if (!(p.y == q.y))
        return { F::zero(), F::zero() };
    F square = p.x.squared();
    F slope = (square.doubled() + square) * inverse;
    F x = slope.squared() - p.x.doubled();
    return { x, slope * (p.x - x) - p.y };
}

template <class F>
__device__ __forceinline__ void store_prefix(const RoundMemory<F> &memory, size_t i, const F &value)
{
    union {
        F element;
        uint4 vectors[sizeof(F) / 16];
    } parts;
    parts.element = value;
#pragma unroll
    for (unsigned plane = 0; plane < sizeof(F) / 16; plane++)
        memory.prefix[plane * memory.prefix_stride + i] = parts.vectors[plane];
}

template <class F>
__device__ __forceinline__ F load_prefix(const RoundMemory<F> &memory, size_t i)
{
    union {
        F element;
        uint4 vectors[sizeof(F) / 16];
    } parts;
#pragma unroll
    for (unsigned plane = 0; plane < sizeof(F) / 16; plane++)
        parts.vectors[plane] = memory.prefix[plane * memory.prefix_stride + i];
    return parts.element;
}

/* Each block owns a contiguous stretch of the round; its threads take every 128th pair, so that a warp
   works on neighbours. */
struct Chain {
    uint32_t first;  /* this thread's first pair, relative to the round */
    uint32_t length;
};

static __device__ __forceinline__ Chain chain_of(uint32_t count)
{
    uint32_t threads = gridDim.x * ROUND_THREADS;
    uint32_t longest = (count + threads - 1) / threads;
    Chain chain;
    chain.first = blockIdx.x * longest * ROUND_THREADS + threadIdx.x;
    uint32_t left = chain.first < count ? (count - chain.first - 1) / ROUND_THREADS + 1 : 0;
    chain.length = left < longest ? left : longest;
    return chain;
}

template <class F>
__global__ void __launch_bounds__(ROUND_THREADS, sizeof(F) > 48 ? 3 : 6)
    round_forward(RoundMemory<F> memory, const uint2 *pairs, const RoundRange *range)
{
    uint32_t first_pair = range->first_pair;
    Chain chain = chain_of(range->count);
    F product = F::one();
    for (uint32_t j = 0; j < chain.length; j++) {
        uint32_t i = chain.first + j * ROUND_THREADS;
        uint2 pair = pairs[first_pair + i];
        const unsigned char *a = slot_of(memory, pair.x), *b = slot_of(memory, pair.y);
        F xa = slot_x<F>(a), xb = slot_x<F>(b);
        F difference = xb - xa;
        if (difference.is_zero() || xa.is_zero() || xb.is_zero())
            difference = special_denominator<F>(a, b, (pair.x ^ pair.y) & REF_SIGN);
        store_prefix(memory, i, product);
        product = product * difference;
    }
    memory.totals[blockIdx.x * ROUND_THREADS + threadIdx.x] = product;
}

/* Inverts totals[0 … n) in place; each thread a chain of its own. `carry` has room for n elements. */
template <class F>
__global__ void __launch_bounds__(ROUND_THREADS)
    round_invert(F *totals, F *carry, uint32_t n, const RoundRange *range)
{
    if (range->count == 0)
        return;
    uint32_t thread = blockIdx.x * ROUND_THREADS + threadIdx.x;
    uint32_t threads = gridDim.x * ROUND_THREADS;
    F product = F::one();
    for (uint32_t i = thread; i < n; i += threads) {
        carry[i] = product;
        product = product * totals[i];
    }
    F inverse = product.inverse();
    uint32_t steps = thread < n ? (n - thread - 1) / threads + 1 : 0;
    for (uint32_t j = steps; j-- > 0;) {
        uint32_t i = thread + j * threads;
        F total = totals[i];
        totals[i] = inverse * carry[i];
        inverse = inverse * total;
    }
}

template <class F>
__global__ void __launch_bounds__(ROUND_THREADS, sizeof(F) > 48 ? 2 : 4)
    round_backward(RoundMemory<F> memory, const uint2 *pairs, const RoundRange *range)
{
    uint32_t first_pair = range->first_pair, first_slot = range->first_slot;
    Chain chain = chain_of(range->count);
    if (chain.length == 0)
        return;
    F inverse = memory.totals[blockIdx.x * ROUND_THREADS + threadIdx.x];
    for (uint32_t j = chain.length; j-- > 0;) {
        uint32_t i = chain.first + j * ROUND_THREADS;
        uint2 pair = pairs[first_pair + i];
        bool negate = (pair.x ^ pair.y) & REF_SIGN;
        const unsigned char *a = slot_of(memory, pair.x), *b = slot_of(memory, pair.y);
        F xa = slot_x<F>(a), xb = slot_x<F>(b);
        F difference = xb - xa;
        bool special = difference.is_zero() || xa.is_zero() || xb.is_zero();
        if (special)
            difference = special_denominator<F>(a, b, negate);
        F own = inverse * load_prefix(memory, i);
        inverse = inverse * difference;
        Affine<F> sum;
        if (special) {
            sum = special_sum<F>(a, b, negate, own);
        } else {
            F ya = slot_y<F>(a);
            F slope = (slot_y<F>(b).negated_if(negate) - ya) * own;
            sum.x = slope.squared() - xa - xb;
            sum.y = slope * (xa - sum.x) - ya;
        }
        sum.store(memory.scratch, first_slot + i);
    }
}

/* The grid: two to four waves, so that blocks that drift apart leave no long tail. */
static constexpr int ROUND_BLOCKS = 2640;
static constexpr int INVERT_BLOCKS = 132;

/* Enqueues one round. pairs_max bounds the count that the planner may have written. */
template <class F>
static void run_round(cudaStream_t stream, const RoundMemory<F> &memory, const uint2 *pairs,
                      const RoundRange *range, size_t pairs_max)
{
    size_t wanted = (pairs_max + ROUND_THREADS - 1) / ROUND_THREADS;
    int blocks = int(wanted < ROUND_BLOCKS ? (wanted ? wanted : 1) : ROUND_BLOCKS);
    uint32_t totals = uint32_t(blocks) * ROUND_THREADS;
    int inverters = blocks < INVERT_BLOCKS ? blocks : INVERT_BLOCKS;
    round_forward<F><<<blocks, ROUND_THREADS, 0, stream>>>(memory, pairs, range);
    round_invert<F><<<inverters, ROUND_THREADS, 0, stream>>>(memory.totals, memory.totals + totals,
                                                             totals, range);
    round_backward<F><<<blocks, ROUND_THREADS, 0, stream>>>(memory, pairs, range);
}

/* Elements of RoundMemory.totals. */
static constexpr size_t ROUND_TOTALS = 2 * size_t(ROUND_BLOCKS) * ROUND_THREADS;

#endif
