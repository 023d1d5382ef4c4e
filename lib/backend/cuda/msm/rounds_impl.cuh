/* The kernels of rounds.cuh. Three a round: `forward` multiplies up the denominators of each
   thread's chain of pairs and keeps the prefixes, `invert` inverts the chains' products, `backward`
   walks back and adds. Equal, opposite and infinite operands are one rarely taken branch that keeps
   zero out of the products.

   Products that only go into further products are left between 0 and 1.2·p ("loose"); coordinates
   in memory are canonical, so that equality and infinity show.

   Operands come through shared memory by asynchronous copies, a pair or two ahead of the
   arithmetic, so that they take no registers while they are under way. Where they are random input
   points, several lanes fetch one point together: a warp's request then touches a few lines instead
   of 32 (docs/spec/msm.md, section 1, "Operand fetch"). */
#ifndef CUDA_ROUNDS_IMPL_CUH
#define CUDA_ROUNDS_IMPL_CUH

#include "backend/cuda/msm/rounds.cuh"

namespace
{

constexpr int INVERT_BLOCKS = 132, INVERTERS = 128, INVERT_THREADS = 3 * INVERTERS;
/* Short rounds use fewer threads rather than shorter chains: fewer products to invert. */
constexpr uint32_t CHAIN_MIN = 4;

template <class F> constexpr int CHUNKS = sizeof(F) / 16;              /* 16-byte pieces */
template <class F> constexpr int HALF_LANES = Slot<F>::BYTES / 2 / 16; /* of half a slot */

/* One piece of all lanes of a warp; padded so that lanes that fetch one point hit different
   banks. */
using Plane = uint4[33];

/* Planes of one warp: x (and y) of both operands; backward also the prefix. */
template <class F> constexpr int FORWARD_PLANES = 2 * CHUNKS<F>;
template <class F> constexpr int BACKWARD_PLANES = 5 * CHUNKS<F>;
/* Pairs that forward has under way: random points take longer to come. */
template <class F, Operands OPERANDS>
constexpr int FORWARD_DEPTH = OPERANDS == Operands::INPUTS && sizeof(F) == 48 ? 2 : 1;
template <int PLANES> constexpr int STAGE_BYTES = ROUND_THREADS / 32 * PLANES *int(sizeof(Plane));

__device__ __forceinline__ void copy_async(uint4 *to_shared, const void *from_global)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(
                     uint32_t(__cvta_generic_to_shared(to_shared))),
                 "l"(from_global)
                 : "memory");
}

__device__ __forceinline__ void commit_copies()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* All of this warp's copies but the last LEFT groups are there for all of its lanes. */
template <int LEFT = 0> __device__ __forceinline__ void await_copies()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
    __syncwarp();
}

template <class F> __device__ __forceinline__ F read_plane(const Plane *planes, int lane)
{
    union {
        F element;
        uint4 vectors[CHUNKS<F>];
    } value;
#pragma unroll
    for (int i = 0; i < CHUNKS<F>; i++)
        value.vectors[i] = planes[i][lane];
    return value.element;
}

/* Starts fetching one operand of each lane's pair into planes: x, and with HALVES = 2 y after
   it. All lanes take part. */
template <class F, Operands OPERANDS, int HALVES>
__device__ __forceinline__ void fetch_operand(const RoundMemory<F> &memory, uint32_t ref,
                                              Plane *planes, int lane)
{
    if (OPERANDS == Operands::INPUTS) {
        constexpr int LANES = HALF_LANES<F> * HALVES; /* that fetch one point */
        int half = lane % LANES / HALF_LANES<F>, chunk = lane % HALF_LANES<F>;
        const unsigned char *from = memory.points + lane % LANES * 16;
        bool used = chunk < CHUNKS<F>;
        uint4 *to = &planes[used ? half * CHUNKS<F> + chunk : 0][lane / LANES];
        ref &= ~REF_SIGN;
#pragma unroll
        for (int i = 0; i < LANES; i++) {
            uint32_t index = __shfl_sync(~0u, ref, i * (32 / LANES) + lane / LANES);
            if (used)
                copy_async(to + i * (32 / LANES), from + size_t(index) * Slot<F>::BYTES);
        }
    } else {
        const unsigned char *x = memory.x_of(ref);
#pragma unroll
        for (int i = 0; i < CHUNKS<F>; i++)
            copy_async(&planes[i][lane], x + 16 * i);
        if (HALVES == 2) {
            const unsigned char *y = memory.y_of(ref);
#pragma unroll
            for (int i = 0; i < CHUNKS<F>; i++)
                copy_async(&planes[CHUNKS<F> + i][lane], y + 16 * i);
        }
    }
}

/* The denominator of a pair whose x differ by nothing or with infinity in it: 2y for a doubling,
   else 1, which leaves the product alone. */
template <class F>
__device__ __noinline__ F special_denominator(const RoundMemory<F> &memory, uint2 pair)
{
    pair.y ^= pair.x & REF_SIGN; /* only the relative sign counts */
    pair.x &= ~REF_SIGN;
    Affine<F> a = memory.point(pair.x), b = memory.point(pair.y);
    if (a.is_infinity() || b.is_infinity() || !(a.y == b.y))
        return F::one();
    return a.y.doubled();
}

/* Makes the sum of such a pair, given the inverse of its denominator. */
template <class F>
__device__ __noinline__ void special_sum(const RoundMemory<F> &memory, uint2 pair, const F &inverse,
                                         size_t slot)
{
    pair.y ^= pair.x & REF_SIGN;
    pair.x &= ~REF_SIGN;
    Affine<F> a = memory.point(pair.x), b = memory.point(pair.y);
    Affine<F> sum = {F::zero(), F::zero()};
    if (a.is_infinity()) {
        sum = b;
    } else if (b.is_infinity()) {
        sum = a;
    } else if (a.y == b.y) {
        F square = a.x.squared();
        F slope = (square.doubled() + square) * inverse;
        sum.x = slope.squared() - a.x.doubled();
        sum.y = slope * (a.x - sum.x) - a.y;
    }
    store_element(memory.scratch_x + slot, sum.x);
    store_element(memory.scratch_y + slot, sum.y);
}

template <class F>
__device__ __forceinline__ void store_prefix(const RoundMemory<F> &memory, size_t i, const F &value)
{
    union {
        F element;
        uint4 vectors[CHUNKS<F>];
    } parts;
    parts.element = value;
#pragma unroll
    for (int plane = 0; plane < CHUNKS<F>; plane++)
        memory.prefix[plane * memory.prefix_stride + i] = parts.vectors[plane];
}

/* Each block owns a contiguous stretch of the round; its threads take every 128th pair, so that
   a warp works on neighbours. */
struct Chain {
    uint32_t first; /* this thread's first pair, relative to the round */
    uint32_t length;
    uint32_t warp_length; /* the longest of the warp */
};

__device__ __forceinline__ uint32_t chain_longest(uint32_t count, uint32_t blocks)
{
    uint32_t threads = blocks * ROUND_THREADS;
    return max((count + threads - 1) / threads, CHAIN_MIN);
}

__device__ __forceinline__ uint32_t pairs_from(uint32_t first, uint32_t count, uint32_t longest)
{
    uint32_t left = first < count ? (count - first - 1) / ROUND_THREADS + 1 : 0;
    return min(left, longest);
}

__device__ __forceinline__ Chain chain_of(uint32_t count)
{
    uint32_t longest = chain_longest(count, gridDim.x);
    Chain chain;
    chain.first = blockIdx.x * longest * ROUND_THREADS + threadIdx.x;
    chain.length = pairs_from(chain.first, count, longest);
    chain.warp_length = pairs_from(chain.first - threadIdx.x % 32, count, longest);
    return chain;
}

__device__ __forceinline__ uint2 load_pair(const uint2 *pairs, const Chain &chain, uint32_t j)
{
    return j < chain.length ? pairs[chain.first + j * ROUND_THREADS] : make_uint2(0, 0);
}

template <class F, Operands OPERANDS>
__global__ void __launch_bounds__(ROUND_THREADS, sizeof(F) > 48 ? 3 : 6)
    round_forward(const __grid_constant__ RoundMemory<F> memory, const uint2 *pairs,
                  const RoundRange *range)
{
    extern __shared__ Plane stage[];
    constexpr int C = CHUNKS<F>, DEPTH = FORWARD_DEPTH<F, OPERANDS>;
    int lane = threadIdx.x % 32;
    Plane *planes = stage + threadIdx.x / 32 * (DEPTH * FORWARD_PLANES<F>);
    Chain chain = chain_of(range->count);
    F *total = memory.totals + blockIdx.x * ROUND_THREADS + threadIdx.x;
    if (chain.warp_length == 0) {
        store_element(total, F::one());
        return;
    }
    pairs += range->first_pair;
#pragma unroll
    for (int j = 0; j < DEPTH; j++) {
        if (j < int(chain.warp_length)) {
            uint2 pair = load_pair(pairs, chain, j);
            fetch_operand<F, OPERANDS, 1>(memory, pair.x, planes + j * 2 * C, lane);
            fetch_operand<F, OPERANDS, 1>(memory, pair.y, planes + (j * 2 + 1) * C, lane);
        }
        commit_copies();
    }
    uint2 next = load_pair(pairs, chain, DEPTH);
    F product = F::one();
    Plane *now = planes;
#pragma unroll 1
    for (uint32_t j = 0; j < chain.warp_length; j++) {
        await_copies<DEPTH - 1>();
        F xa = read_plane<F>(now, lane), xb = read_plane<F>(now + C, lane);
        __syncwarp();
        if (j + DEPTH < chain.warp_length) {
            fetch_operand<F, OPERANDS, 1>(memory, next.x, now, lane);
            fetch_operand<F, OPERANDS, 1>(memory, next.y, now + C, lane);
        }
        commit_copies();
        next = load_pair(pairs, chain, j + DEPTH + 1);
        now = now == planes + (DEPTH - 1) * 2 * C ? planes : now + 2 * C;
        if (j < chain.length) {
            F difference = xb - xa;
            if (difference.is_zero() || xa.is_zero() || xb.is_zero())
                difference = special_denominator<F>(memory, load_pair(pairs, chain, j));
            store_prefix(memory, chain.first + j * ROUND_THREADS, product);
            product = F::loose_product(product, difference);
        }
        __syncwarp();
    }
    store_element(total, product);
}

/* Inverts the products of all chains in place. Each thread has a chain of its own; one in three
   inverts for its column, since an inversion is mostly not made of products, which alone would
   need more warps. */
template <class F>
__global__ void __launch_bounds__(INVERT_THREADS)
    round_invert(F *totals, F *carry, uint32_t blocks, const RoundRange *range)
{
    __shared__ F products[INVERT_THREADS];
    uint32_t count = range->count;
    uint32_t stretch = chain_longest(count, blocks) * ROUND_THREADS;
    uint32_t n = (count + stretch - 1) / stretch * ROUND_THREADS;
    uint32_t thread = blockIdx.x * INVERT_THREADS + threadIdx.x;
    uint32_t threads = gridDim.x * INVERT_THREADS;
    if (blockIdx.x * INVERT_THREADS >= n)
        return;
    F product = thread < n ? load_element<F>(totals + thread) : F::one();
    for (uint32_t i = thread + threads; i < n; i += threads) {
        store_element(carry + i, product);
        product = product * load_element<F>(totals + i);
    }
    products[threadIdx.x] = product;
    __syncthreads();
    if (threadIdx.x < INVERTERS) {
        F *a = &products[threadIdx.x], *b = a + INVERTERS, *c = b + INVERTERS;
        F ab = *a * *b;
        F inverse = (ab * *c).inverse();
        F inverse_ab = inverse * *c;
        *c = inverse * ab;
        F old_a = *a;
        *a = inverse_ab * *b;
        *b = inverse_ab * old_a;
    }
    __syncthreads();
    if (thread >= n)
        return;
    F inverse = products[threadIdx.x];
    for (uint32_t i = thread + (n - 1 - thread) / threads * threads; i != thread; i -= threads) {
        F total = load_element<F>(totals + i);
        store_element(totals + i, inverse * load_element<F>(carry + i));
        inverse = inverse * total;
    }
    store_element(totals + thread, inverse);
}

template <class F, Operands OPERANDS>
__device__ __forceinline__ void fetch_pair(const RoundMemory<F> &memory, uint2 pair, size_t i,
                                           Plane *planes, int lane)
{
    constexpr int C = CHUNKS<F>;
    fetch_operand<F, OPERANDS, 2>(memory, pair.x, planes, lane);
    fetch_operand<F, OPERANDS, 2>(memory, pair.y, planes + 2 * C, lane);
#pragma unroll
    for (int c = 0; c < C; c++)
        copy_async(&planes[4 * C + c][lane], memory.prefix + c * memory.prefix_stride + i);
    commit_copies();
}

template <class F, Operands OPERANDS>
__global__ void __launch_bounds__(ROUND_THREADS, sizeof(F) > 48 ? 2 : 5)
    round_backward(const __grid_constant__ RoundMemory<F> memory, const uint2 *pairs,
                   const RoundRange *range)
{
    extern __shared__ Plane stage[];
    constexpr int C = CHUNKS<F>;
    const int lane = threadIdx.x % 32;
    Plane *planes = stage + threadIdx.x / 32 * BACKWARD_PLANES<F>;
    const Chain chain = chain_of(range->count);
    if (chain.warp_length == 0)
        return;
    pairs += range->first_pair;
    F inverse = load_element<F>(memory.totals + blockIdx.x * ROUND_THREADS + threadIdx.x);
    /* i goes down from the warp's last pair; lanes without one there fetch some other. */
    uint32_t i = chain.first + (chain.warp_length - 1) * ROUND_THREADS;
    const uint32_t first_slot = range->first_slot, first = chain.first;
    const uint32_t end = first + chain.length * ROUND_THREADS;
    uint2 pair = i < end ? pairs[i] : make_uint2(0, 0);
    fetch_pair<F, OPERANDS>(memory, pair, i < end ? i : 0, planes, lane);
#pragma unroll 1
    for (;;) {
        bool more = i >= first + ROUND_THREADS;
        uint32_t next_i = i - ROUND_THREADS;
        uint2 next = more && next_i < end ? pairs[next_i] : make_uint2(0, 0);
        bool store = i < end; /* this lane has a pair here; and it is an ordinary one */
        await_copies();
        F own;
        {
            F xa = read_plane<F>(planes, lane), xb = read_plane<F>(planes + 2 * C, lane);
            F difference = xb - xa;
            bool special = store && (difference.is_zero() || xa.is_zero() || xb.is_zero());
            if (special)
                difference = special_denominator<F>(memory, pair);
            own = F::loose_product(inverse, read_plane<F>(planes + 4 * C, lane));
            if (store)
                inverse = F::loose_product(inverse, difference);
            if (special) {
                F copy = own; /* so that only this branch has it in memory */
                special_sum<F>(memory, pair, copy, first_slot + i);
                store = false;
            }
        }
        /* Coordinates are read again where they are needed: registers are scarcer. */
        __syncwarp();
        F slope;
        {
            F yb = read_plane<F>(planes + 3 * C, lane);
            yb = yb.nonzero_negated_if((pair.x ^ pair.y) & REF_SIGN);
            slope = F::loose_product(yb - read_plane<F>(planes + C, lane), own);
        }
        F rest = slope.loose_square();
        __syncwarp();
        {
            F xa = read_plane<F>(planes, lane);
            F x = rest - xa - read_plane<F>(planes + 2 * C, lane);
            x.reduce_once();
            if (store)
                store_element(memory.scratch_x + (first_slot + i), x);
            rest = xa - x;
        }
        F ya = read_plane<F>(planes + C, lane);
        __syncwarp();
        if (more)
            fetch_pair<F, OPERANDS>(memory, next, next_i < end ? next_i : 0, planes, lane);
        F y = F::loose_product(slope, rest) - ya;
        y.reduce_once();
        if (store)
            store_element(memory.scratch_y + (first_slot + i), y);
        if (!more)
            return;
        i = next_i, pair = next;
    }
}

template <class F, Operands OPERANDS>
constexpr int FORWARD_BYTES = STAGE_BYTES<FORWARD_DEPTH<F, OPERANDS> * FORWARD_PLANES<F>>;
template <class F> constexpr int BACKWARD_BYTES = STAGE_BYTES<BACKWARD_PLANES<F>>;

template <class F, Operands OPERANDS>
void enqueue_round(cudaStream_t stream, const RoundMemory<F> &memory, const uint2 *pairs,
                   const RoundRange *range, int blocks)
{
    F *carry = memory.totals + size_t(blocks) * ROUND_THREADS;
    int inverters = (blocks * ROUND_THREADS + INVERT_THREADS - 1) / INVERT_THREADS;
    if (inverters > INVERT_BLOCKS)
        inverters = INVERT_BLOCKS;
    round_forward<F, OPERANDS>
        <<<blocks, ROUND_THREADS, FORWARD_BYTES<F, OPERANDS>, stream>>>(memory, pairs, range);
    round_invert<F>
        <<<inverters, INVERT_THREADS, 0, stream>>>(memory.totals, carry, uint32_t(blocks), range);
    round_backward<F, OPERANDS>
        <<<blocks, ROUND_THREADS, BACKWARD_BYTES<F>, stream>>>(memory, pairs, range);
}

template <class F, Operands OPERANDS> cudaError_t prepare_kernels()
{
    cudaError_t result = cudaFuncSetAttribute(round_forward<F, OPERANDS>,
                                              cudaFuncAttributeMaxDynamicSharedMemorySize,
                                              FORWARD_BYTES<F, OPERANDS>);
    if (result != cudaSuccess)
        return result;
    return cudaFuncSetAttribute(round_backward<F, OPERANDS>,
                                cudaFuncAttributeMaxDynamicSharedMemorySize, BACKWARD_BYTES<F>);
}

} // namespace

template <class F>
void run_round(cudaStream_t stream, const RoundMemory<F> &memory, const uint2 *pairs,
               const RoundRange *range, size_t pairs_max, Operands operands)
{
    size_t wanted = (pairs_max + CHAIN_MIN * ROUND_THREADS - 1) / (CHAIN_MIN * ROUND_THREADS);
    int blocks = int(wanted < ROUND_BLOCKS ? (wanted ? wanted : 1) : ROUND_BLOCKS);
    if (operands == Operands::INPUTS)
        enqueue_round<F, Operands::INPUTS>(stream, memory, pairs, range, blocks);
    else
        enqueue_round<F, Operands::ANY>(stream, memory, pairs, range, blocks);
}

template <class F> cudaError_t prepare_rounds()
{
    cudaError_t result = prepare_kernels<F, Operands::INPUTS>();
    return result == cudaSuccess ? prepare_kernels<F, Operands::ANY>() : result;
}

#endif
