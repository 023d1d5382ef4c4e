/* Tables of signed groups of three and their trees; see subset.h. */
#include "arena.cuh"
#include "rounds.cuh"
#include "subset.h"

namespace
{

/* --- Tables ------------------------------------------------------------------------------------
 */

/* The room of a table that is made. First P2 + P3 and P2 − P3 of all groups, slots 0 … 2·groups,
   then what the table holds, then infinity, which points beyond the last refer to. */
template <class F> struct Combiner {
    uint32_t n, groups;
    uint2 *pairs;
    RoundRange *ranges; /* of both rounds */
    RoundMemory<F> memory;
    size_t bytes;

    Combiner(uint32_t n_points, void *scratch)
    {
        n = n_points;
        groups = subset_groups(n);
        Arena arena(scratch);
        pairs = arena.take<uint2>(6 * size_t(groups));
        ranges = arena.take<RoundRange>(2);
        memory = RoundMemory<F>::take(arena, 6 * size_t(groups) + 1, 4 * size_t(groups));
        bytes = arena.used();
    }

    __device__ uint32_t slot_ref(uint32_t slot) const { return n + slot; }
};

template <class F> __global__ void list_combinations(const __grid_constant__ Combiner<F> combiner)
{
    uint32_t groups = combiner.groups, group = blockIdx.x * blockDim.x + threadIdx.x;
    if (group >= groups)
        return;
    uint32_t point[3];
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t index = 3 * group + i;
        point[i] = index < combiner.n ? index : combiner.slot_ref(6 * groups);
    }
    uint32_t sum = combiner.slot_ref(2 * group), difference = sum + 1;
    uint2 *inner = combiner.pairs + 2 * group;
    uint2 *outer = combiner.pairs + 2 * size_t(groups) + 4 * size_t(group);
    inner[0] = {point[1], point[2]};
    inner[1] = {point[1], point[2] ^ REF_SIGN};
    outer[0] = {point[0], sum};
    outer[1] = {point[0], difference};
    outer[2] = {point[0], difference ^ REF_SIGN};
    outer[3] = {point[0], sum ^ REF_SIGN};
    if (group == 0) {
        combiner.ranges[0] = {0, 0, 2 * groups};
        combiner.ranges[1] = {2 * groups, 2 * groups, 4 * groups};
    }
}

/* Sums to slots, 16 bytes a thread. */
template <class F>
__global__ void store_table(const __grid_constant__ Combiner<F> combiner, unsigned char *table)
{
    constexpr uint32_t VECTORS = sizeof(F) / 16;
    size_t thread = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    size_t entry = thread / (2 * VECTORS);
    uint32_t vector = uint32_t(thread % (2 * VECTORS));
    if (entry >= 4 * size_t(combiner.groups))
        return;
    bool is_y = vector >= VECTORS;
    const F *plane = is_y ? combiner.memory.scratch_y : combiner.memory.scratch_x;
    unsigned char *to = table + entry * Slot<F>::BYTES + (is_y ? Slot<F>::BYTES / 2 : 0);
    vector = is_y ? vector - VECTORS : vector;
    reinterpret_cast<uint4 *>(to)[vector] =
        reinterpret_cast<const uint4 *>(plane + 2 * size_t(combiner.groups) + entry)[vector];
}

template <class F>
int combine(const void *slots, uint32_t n, void *table, void *scratch, size_t scratch_bytes,
            cudaStream_t stream)
{
    Combiner<F> combiner(n, scratch);
    if (n == 0)
        return cudaSuccess;
    if (combiner.bytes > scratch_bytes)
        return cudaErrorInvalidValue;
    size_t groups = combiner.groups;
    RoundMemory<F> &memory = combiner.memory;
    memory.points = static_cast<const unsigned char *>(slots);
    memory.n_points = n;
    cudaMemsetAsync(memory.scratch_x + 6 * groups, 0, sizeof(F), stream);
    cudaMemsetAsync(memory.scratch_y + 6 * groups, 0, sizeof(F), stream);
    list_combinations<<<unsigned((groups + 255) / 256), 256, 0, stream>>>(combiner);
    run_round(stream, memory, combiner.pairs, combiner.ranges, 2 * groups, Operands::ANY);
    run_round(stream, memory, combiner.pairs, combiner.ranges + 1, 4 * groups, Operands::ANY);
    size_t threads = 4 * groups * (2 * sizeof(F) / 16);
    store_table<<<unsigned((threads + 255) / 256), 256, 0, stream>>>(
        combiner, static_cast<unsigned char *>(table));
    return cudaGetLastError();
}

/* --- Bits in the order of points ----------------------------------------------------------------
 */

/* The bits of `word` where `mask` is set, moved together at the low end (Warren: "Hacker's
   Delight", 2nd edition, section 7-4). */
__device__ uint64_t closed_up(uint64_t word, uint64_t mask)
{
    word &= mask;
    uint64_t to_right = ~mask << 1; /* zeros of the mask to the right of a bit are counted */
#pragma unroll
    for (int step = 1; step < 64; step *= 2) {
        uint64_t odd = to_right; /* whether that count is odd */
#pragma unroll
        for (int shift = 1; shift < 64; shift *= 2)
            odd ^= odd << shift;
        uint64_t moved = odd & mask;
        mask = (mask ^ moved) | moved >> step;
        uint64_t part = word & moved;
        word = (word ^ part) | part >> step;
        to_right &= ~odd;
    }
    return word;
}

/* A word of variables a thread; `selected` is zero before. */
__global__ void select_words(const uint64_t *bits, const uint64_t *density, const uint32_t *ranks,
                             uint32_t n_vars, uint32_t first_point, unsigned long long *selected)
{
    uint32_t w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= (n_vars + 63) / 64)
        return;
    uint32_t left = n_vars - 64 * w; /* bits beyond the last variable do not count */
    uint64_t word = left < 64 ? bits[w] & ((uint64_t(1) << left) - 1) : bits[w];
    if (density && ~density[w] != 0)
        word = closed_up(word, density[w]);
    if (word == 0)
        return;
    uint32_t at = first_point + (density ? ranks[w] : 64 * w), shift = at % 64;
    atomicOr(selected + at / 64, word << shift);
    if (shift > 0 && word >> (64 - shift) != 0)
        atomicOr(selected + at / 64 + 1, word >> (64 - shift));
}

/* --- Sums ---------------------------------------------------------------------------------------
 */

constexpr int ROUNDS_MAX = 30;

/* The trees of a job, one a witness and all of one shape. Round r adds references i and
   i + pairs[r], i < pairs[r], of each tree; an odd one out, the last, goes on to the next round.
   A round's pairs lie in a list of all rounds' pairs, tree after tree, and their sums in slots of
   the same numbers. */
struct Trees {
    uint32_t groups;
    unsigned witnesses;
    int rounds;
    uint32_t pairs[ROUNDS_MAX]; /* of one tree */
    uint32_t first[ROUNDS_MAX + 1];
    uint32_t left; /* references of a tree after all rounds */
    uint32_t n_words;
    const uint64_t *selected[SUBSET_WITNESSES_MAX]; /* from the first point on */

    __device__ uint32_t table_ref(uint32_t witness, uint32_t group) const
    {
        const uint64_t *words = selected[witness];
        if (!words)
            return 4 * group;
        uint32_t word = 3 * group / 64, shift = 3 * group % 64;
        uint64_t three = words[word] >> shift;
        if (shift > 61 && word + 1 < n_words)
            three |= words[word + 1] << (64 - shift);
        uint32_t one = three & 1, two = three >> 1 & 1, last = three >> 2 & 1;
        uint32_t index = 4 * group + 2 * (one ^ two) + (one ^ last);
        return one ? index : index | REF_SIGN;
    }

    /* Reference i of a tree when it enters the round. A sum has the sign of its first operand
       (rounds.cuh), at last that of group i. */
    __device__ uint32_t ref(int round, uint32_t witness, uint32_t i) const
    {
        for (; round > 0; round--) {
            uint32_t before = pairs[round - 1];
            if (i < before)
                return (4 * groups + first[round - 1] + witness * before + i) |
                       (table_ref(witness, i) & REF_SIGN);
            i = 2 * before; /* the odd one out */
        }
        return table_ref(witness, i);
    }
};

__global__ void list_pairs(const __grid_constant__ Trees trees, uint2 *list, RoundRange *ranges)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, witness = blockIdx.y;
    for (int round = 0; round < trees.rounds && i < trees.pairs[round]; round++) {
        uint32_t pairs = trees.pairs[round], first = trees.first[round];
        list[first + witness * pairs + i] = {trees.ref(round, witness, i),
                                             trees.ref(round, witness, i + pairs)};
        if (i == 0 && witness == 0)
            ranges[round] = {first, first, trees.witnesses * pairs};
    }
}

/* So few points are summed by blocks, one or a few a thread, rather than by rounds that wait for
   inversions: first FEW_BLOCKS sums for each witness, then one. */
constexpr int FEW = 1 << 16, FEW_THREADS = 128, FEW_BLOCKS = 128;

/* The sum over a block, in thread 0. */
template <class F> __device__ Xyzz<F> sum_of_block(const Xyzz<F> &own)
{
    __shared__ Xyzz<F> shared[FEW_THREADS];
    shared[threadIdx.x] = own;
    __syncthreads();
#pragma unroll 1
    for (int half = FEW_THREADS / 2; half > 0; half /= 2) {
        if (int(threadIdx.x) < half)
            shared[threadIdx.x].add(shared[threadIdx.x + half]);
        __syncthreads();
    }
    return shared[0];
}

template <class F>
__global__ void __launch_bounds__(FEW_THREADS)
    sum_left(const __grid_constant__ RoundMemory<F> memory, const __grid_constant__ Trees trees,
             Xyzz<F> *partial)
{
    Xyzz<F> own = Xyzz<F>::infinity();
#pragma unroll 1
    for (uint32_t i = blockIdx.x * FEW_THREADS + threadIdx.x; i < trees.left;
         i += FEW_BLOCKS * FEW_THREADS)
        own.add(Xyzz<F>::from(memory.point(trees.ref(trees.rounds, blockIdx.y, i))));
    own = sum_of_block(own);
    if (threadIdx.x == 0)
        partial[blockIdx.y * FEW_BLOCKS + blockIdx.x] = own;
}

template <class F>
__global__ void __launch_bounds__(FEW_THREADS) sum_partial(const Xyzz<F> *partial, Affine<F> *sums)
{
    static_assert(FEW_BLOCKS == FEW_THREADS, "a partial sum a thread");
    Xyzz<F> all = sum_of_block(partial[blockIdx.x * FEW_BLOCKS + threadIdx.x]);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = all.to_affine();
}

template <class F> struct Subset {
    Trees trees;
    uint2 *list;
    RoundRange *ranges;
    RoundMemory<F> memory;
    Xyzz<F> *partial;
    size_t bytes;

    Subset(uint32_t n_points, unsigned witnesses, void *scratch)
    {
        trees = {};
        trees.groups = subset_groups(n_points);
        trees.witnesses = witnesses;
        trees.n_words = (n_points + 63) / 64;
        trees.left = trees.groups;
        for (int &round = trees.rounds; trees.left * witnesses > FEW; round++) {
            trees.pairs[round] = trees.left / 2;
            trees.first[round + 1] = trees.first[round] + witnesses * trees.pairs[round];
            trees.left -= trees.pairs[round];
        }
        size_t slots = trees.first[trees.rounds];
        Arena arena(scratch);
        list = arena.take<uint2>(slots);
        ranges = arena.take<RoundRange>(ROUNDS_MAX);
        partial = arena.take<Xyzz<F>>(size_t(witnesses) * FEW_BLOCKS);
        memory = RoundMemory<F>::take(arena, slots, size_t(witnesses) * trees.pairs[0]);
        bytes = arena.used();
    }

    void run(const subset_job &job, cudaStream_t stream)
    {
        memory.points = static_cast<const unsigned char *>(job.table);
        memory.n_points = 4 * trees.groups;
        for (unsigned w = 0; w < job.n_witnesses; w++)
            trees.selected[w] = job.selected[w] ? job.selected[w] + job.first_point / 64 : nullptr;
        if (trees.rounds > 0)
            list_pairs<<<dim3((trees.pairs[0] + 255) / 256, trees.witnesses), 256, 0, stream>>>(
                trees, list, ranges);
        for (int round = 0; round < trees.rounds; round++)
            run_round(stream, memory, list, ranges + round,
                      size_t(trees.witnesses) * trees.pairs[round],
                      round == 0 ? Operands::INPUTS : Operands::ANY);
        sum_left<F>
            <<<dim3(FEW_BLOCKS, trees.witnesses), FEW_THREADS, 0, stream>>>(memory, trees, partial);
        sum_partial<F><<<trees.witnesses, FEW_THREADS, 0, stream>>>(
            partial, static_cast<Affine<F> *>(job.sums));
    }
};

/* References are 31 bits: of table entries and of sums. */
bool fits(const subset_job &job)
{
    uint64_t groups = subset_groups(job.n_points);
    return job.n_points > 0 && job.first_point % SUBSET_ALIGNMENT == 0 && job.n_witnesses > 0 &&
           job.n_witnesses <= SUBSET_WITNESSES_MAX &&
           (4 + uint64_t(job.n_witnesses)) * groups < REF_SIGN;
}

template <class F> int enqueue(const subset_job &job, cudaStream_t stream)
{
    if (!fits(job))
        return cudaErrorInvalidValue;
    Subset<F> subset(job.n_points, job.n_witnesses, job.scratch);
    if (subset.bytes > job.scratch_bytes)
        return cudaErrorInvalidValue;
    subset.run(job, stream);
    return cudaGetLastError();
}

} // namespace

extern "C" uint32_t subset_groups(uint32_t n_points)
{
    return n_points / 3 + (n_points % 3 != 0);
}

extern "C" size_t subset_table_bytes(enum msm_group group, uint32_t n_points)
{
    return 4 * size_t(subset_groups(n_points)) * msm_slot_bytes(group);
}

extern "C" size_t subset_combine_scratch_bytes(enum msm_group group, uint32_t n)
{
    return group == MSM_G1 ? Combiner<Fp>(n, nullptr).bytes : Combiner<Fp2>(n, nullptr).bytes;
}

extern "C" int subset_combine(enum msm_group group, const void *slots, uint32_t n, void *table,
                              void *scratch, size_t scratch_bytes, struct CUstream_st *stream)
{
    return group == MSM_G1 ? combine<Fp>(slots, n, table, scratch, scratch_bytes, stream)
                           : combine<Fp2>(slots, n, table, scratch, scratch_bytes, stream);
}

extern "C" int subset_select(const uint64_t *bits, const uint64_t *density, const uint32_t *ranks,
                             uint32_t n_vars, uint32_t first_point, uint32_t n_points,
                             uint64_t *selected, struct CUstream_st *stream)
{
    cudaMemsetAsync(selected, 0, (size_t(n_points) + 63) / 64 * sizeof *selected, stream);
    if (n_vars > 0)
        select_words<<<n_vars / (64 * 256) + 1, 256, 0, stream>>>(
            bits, density, ranks, n_vars, first_point,
            reinterpret_cast<unsigned long long *>(selected));
    return cudaGetLastError();
}

extern "C" size_t subset_scratch_bytes(enum msm_group group, uint32_t n_points,
                                       unsigned n_witnesses)
{
    return group == MSM_G1 ? Subset<Fp>(n_points, n_witnesses, nullptr).bytes
                           : Subset<Fp2>(n_points, n_witnesses, nullptr).bytes;
}

extern "C" int subset_enqueue(const struct subset_job *job, struct CUstream_st *stream)
{
    return job->group == MSM_G1 ? enqueue<Fp>(*job, stream) : enqueue<Fp2>(*job, stream);
}
