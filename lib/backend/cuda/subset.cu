/* Tables of signed groups of three and their trees; see subset.h. */
#include "arena.cuh"
#include "rounds.cuh"
#include "subset.h"

#include <algorithm>

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

constexpr int ROUNDS_MAX = 27;

struct Tree {
    uint32_t first_entry; /* of its table, counted from the lowest one */
    uint32_t groups;
    const uint64_t *selected; /* from the first point on */
    uint32_t n_words;

    __host__ __device__ uint32_t left(int round) const
    {
        return (groups + (1u << round) - 1) >> round;
    }
    __host__ __device__ uint32_t pairs(int round) const { return left(round) / 2; }

    __device__ uint32_t table_ref(uint32_t group) const
    {
        uint32_t first = first_entry + 4 * group;
        if (!selected)
            return first;
        uint32_t word = 3 * group / 64, shift = 3 * group % 64;
        uint64_t three = selected[word] >> shift;
        if (shift > 61 && word + 1 < n_words)
            three |= selected[word + 1] << (64 - shift);
        uint32_t one = three & 1, two = three >> 1 & 1, last = three >> 2 & 1;
        uint32_t entry = first + 2 * (one ^ two) + (one ^ last);
        return one ? entry : entry | REF_SIGN;
    }
};

/* The trees of a job, one a sum. Round r adds references i and i + pairs(r), i < pairs(r), of each
   tree; an odd one out, the last, goes on to the next round. A round's pairs lie in a list of all
   rounds' pairs, tree after tree, and their sums in slots of the same numbers. */
struct Trees {
    unsigned n;
    int rounds;
    uint32_t n_entries; /* of all tables: where references to slots begin */
    Tree tree[SUBSET_SUMS_MAX];
    uint32_t first[ROUNDS_MAX + 1][SUBSET_SUMS_MAX]; /* a tree's first pair in a round */

    /* Reference i of a tree when it enters the round. A sum has the sign of its first operand
       (rounds.cuh), at last that of group i. */
    __device__ uint32_t ref(int round, uint32_t which, uint32_t i) const
    {
        for (; round > 0; round--) {
            uint32_t before = tree[which].pairs(round - 1);
            if (i < before)
                return (n_entries + first[round - 1][which] + i) |
                       (tree[which].table_ref(i) & REF_SIGN);
            i = 2 * before; /* the odd one out */
        }
        return tree[which].table_ref(i);
    }
};

__global__ void list_pairs(const __grid_constant__ Trees trees, uint2 *list, RoundRange *ranges)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, which = blockIdx.y;
    for (int round = 0; round < trees.rounds; round++) {
        uint32_t pairs = trees.tree[which].pairs(round), first = trees.first[round][0];
        if (i == 0 && which == 0)
            ranges[round] = {first, first, trees.first[round + 1][0] - first};
        if (i >= pairs)
            return;
        list[trees.first[round][which] + i] = {trees.ref(round, which, i),
                                               trees.ref(round, which, i + pairs)};
    }
}

/* So few points are summed by blocks, some a thread, rather than by rounds that wait for
   inversions: first FEW_BLOCKS sums for each tree, then one. */
template <class F> constexpr uint32_t FEW = sizeof(F) > 48 ? 1 << 16 : 1 << 17;
constexpr int FEW_THREADS = 128, FEW_BLOCKS = 128;

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
    for (uint32_t i = blockIdx.x * FEW_THREADS + threadIdx.x;
         i < trees.tree[blockIdx.y].left(trees.rounds); i += FEW_BLOCKS * FEW_THREADS)
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
    Trees trees = {};
    const unsigned char *base; /* the lowest table */
    uint2 *list;
    RoundRange *ranges;
    RoundMemory<F> memory;
    Xyzz<F> *partial;
    size_t bytes;

    explicit Subset(const subset_job &job)
    {
        trees.n = job.n_sums;
        uint64_t left = 0;
        for (unsigned i = 0; i < trees.n; i++) {
            trees.tree[i].groups = subset_groups(job.sums[i].n_points);
            left += trees.tree[i].groups;
        }
        uint32_t first = 0;
        for (int &round = trees.rounds; left > FEW<F>; round++) {
            left = 0;
            for (unsigned i = 0; i < trees.n; i++) {
                trees.first[round][i] = first;
                first += trees.tree[i].pairs(round);
                left += trees.tree[i].left(round + 1);
            }
            trees.first[round + 1][0] = first;
        }
        Arena arena(job.scratch);
        list = arena.take<uint2>(first);
        ranges = arena.take<RoundRange>(ROUNDS_MAX);
        partial = arena.take<Xyzz<F>>(size_t(trees.n) * FEW_BLOCKS);
        memory = RoundMemory<F>::take(arena, first, trees.first[1][0]);
        bytes = arena.used();
    }

    /* False if references, of 31 bits, cannot name all entries and slots. */
    bool place(const subset_job &job)
    {
        auto address = [](const void *table) { return reinterpret_cast<uintptr_t>(table); };
        uintptr_t lowest = address(job.sums[0].table);
        for (unsigned i = 1; i < trees.n; i++)
            lowest = std::min(lowest, address(job.sums[i].table));
        uint64_t entries = 0;
        for (unsigned i = 0; i < trees.n; i++) {
            const subset_sum &sum = job.sums[i];
            uint64_t offset = address(sum.table) - lowest, first = offset / Slot<F>::BYTES;
            if (offset % Slot<F>::BYTES != 0 || first >= REF_SIGN || sum.n_points == 0 ||
                sum.first_point % SUBSET_ALIGNMENT != 0)
                return false;
            Tree &tree = trees.tree[i];
            tree.first_entry = uint32_t(first);
            tree.n_words = (sum.n_points + 63) / 64;
            tree.selected = sum.selected ? sum.selected + sum.first_point / 64 : nullptr;
            entries = std::max(entries, first + 4 * uint64_t(tree.groups));
        }
        trees.n_entries = uint32_t(entries);
        memory.points = reinterpret_cast<const unsigned char *>(lowest);
        memory.n_points = trees.n_entries;
        return entries + trees.first[trees.rounds][0] < REF_SIGN;
    }

    void run(void *out, cudaStream_t stream) const
    {
        /* Table entries are near each other, but large ones are better fetched by several lanes. */
        Operands entries = sizeof(F) > 48 ? Operands::INPUTS : Operands::ANY;
        uint32_t longest = 0;
        for (const Tree &tree : trees.tree)
            longest = std::max(longest, tree.pairs(0));
        list_pairs<<<dim3(longest / 256 + 1, trees.n), 256, 0, stream>>>(trees, list, ranges);
        for (int round = 0; round < trees.rounds; round++)
            run_round(stream, memory, list, ranges + round,
                      trees.first[round + 1][0] - trees.first[round][0],
                      round == 0 ? entries : Operands::ANY);
        sum_left<F><<<dim3(FEW_BLOCKS, trees.n), FEW_THREADS, 0, stream>>>(memory, trees, partial);
        sum_partial<F><<<trees.n, FEW_THREADS, 0, stream>>>(partial, static_cast<Affine<F> *>(out));
    }
};

template <class F> int enqueue(const subset_job &job, cudaStream_t stream)
{
    if (job.n_sums == 0 || job.n_sums > SUBSET_SUMS_MAX)
        return cudaErrorInvalidValue;
    Subset<F> subset(job);
    if (subset.bytes > job.scratch_bytes || !subset.place(job))
        return cudaErrorInvalidValue;
    subset.run(job.out, stream);
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

extern "C" size_t subset_scratch_bytes(const struct subset_job *job)
{
    return job->group == MSM_G1 ? Subset<Fp>(*job).bytes : Subset<Fp2>(*job).bytes;
}

extern "C" int subset_enqueue(const struct subset_job *job, struct CUstream_st *stream)
{
    return job->group == MSM_G1 ? enqueue<Fp>(*job, stream) : enqueue<Fp2>(*job, stream);
}
