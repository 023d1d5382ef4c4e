/* Adding of a multi-scalar multiplication (msm_parts.cuh). Compiled once a group, in msm_g1.cu and
   msm_g2.cu. */
#ifndef CUDA_MSM_IMPL_CUH
#define CUDA_MSM_IMPL_CUH

#include "backend/cuda/msm/msm_parts.cuh"

namespace
{

constexpr int FEW_THREADS = 64;

/* rows: the n buckets as they are; columns[c·rows + r] = buckets[r·columns + c], matrix by
   matrix. */
__global__ void transpose_refs(const uint32_t *buckets, uint32_t n, int width, uint32_t *rows,
                               uint32_t *columns)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int row_bits = (width - 1) / 2, column_bits = width - 1 - row_bits;
    uint32_t matrix = i >> (width - 1), b = i & ((1u << (width - 1)) - 1);
    uint32_t row = b >> row_bits, column = b & ((1u << row_bits) - 1);
    rows[i] = buckets[i];
    columns[(matrix << (width - 1)) + (column << column_bits) + row] = buckets[i];
}

__global__ void set_range(RoundRange *range, uint32_t first_slot, uint32_t count)
{
    *range = {0, first_slot, count};
}

/* References to the sums of pairs: consecutive slots, with the sign of the first operand. */
__global__ void refer_to_sums(const uint2 *pairs, uint32_t n, uint32_t first, uint32_t *refs)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        refs[i] = (first + i) | (pairs[i].x & REF_SIGN);
}

template <class F> __global__ void set_infinity(F *x, F *y)
{
    *x = F::zero();
    *y = F::zero();
}

/* One round of so few pairs, mostly none, that each thread may invert for itself. */
template <class F>
__global__ void __launch_bounds__(FEW_THREADS)
    add_few(const __grid_constant__ RoundMemory<F> memory, const uint2 *pairs,
            const RoundRange *range)
{
    uint32_t count = range->count, threads = gridDim.x * FEW_THREADS;
    for (uint32_t i = blockIdx.x * FEW_THREADS + threadIdx.x; i < count; i += threads) {
        uint2 pair = pairs[range->first_pair + i];
        uint32_t sign = pair.x & REF_SIGN; /* stays with whoever refers to the sum */
        Xyzz<F> sum = Xyzz<F>::from(memory.point(pair.x ^ sign));
        sum.add(memory.point(pair.y ^ sign));
        Affine<F> point = sum.to_affine();
        store_element(memory.scratch_x + (range->first_slot + i), point.x);
        store_element(memory.scratch_y + (range->first_slot + i), point.y);
    }
}

/* Rounds of no more pairs than this mostly wait for an inversion. */
constexpr uint32_t PAIRS_FEW = 1 << 16;

/* Threads that add up one cell, at most. */
constexpr int LANES_LOG = 4;
template <class F> constexpr int SUM_THREADS = sizeof(F) > 48 ? 64 : 128;

/* Adds up what is left of rows (blockIdx.y 0) and columns (1) after `halvings`: all matrices of one
   width, `count` for each set of `all`. refs: those of all rows, then those of all columns. */
template <class F>
__global__ void __launch_bounds__(SUM_THREADS<F>)
    sum_cells(const __grid_constant__ RoundMemory<F> memory, const uint32_t *refs, int width,
              int halvings, uint32_t all, uint32_t count, uint32_t matrices, uint32_t stride,
              Xyzz<F> *cells)
{
    __shared__ Xyzz<F> shared[SUM_THREADS<F>];
    bool column = blockIdx.y == 1;
    int cells_log = column ? row_bits_of(width) : column_bits_of(width);
    int terms_log = width - 1 - cells_log - halvings;
    int lanes_log = min(terms_log, LANES_LOG);
    uint32_t thread = blockIdx.x * SUM_THREADS<F> + threadIdx.x;
    uint32_t cell = thread >> lanes_log, lane = thread & ((1u << lanes_log) - 1);
    uint32_t terms = 1u << (terms_log - lanes_log); /* of a lane */
    Xyzz<F> sum = Xyzz<F>::infinity();
    if (cell < all << cells_log) {
        refs += (column ? all << (width - 1 - halvings) : 0) + size_t(thread) * terms;
        for (uint32_t i = 0; i < terms; i++)
            sum.add(memory.point(refs[i]));
    }
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (uint32_t half = (1u << lanes_log) / 2; half > 0; half /= 2) {
        if (lane < half)
            shared[threadIdx.x].add(shared[threadIdx.x + half]);
        __syncthreads();
    }
    if (lane > 0 || cell >= all << cells_log)
        return;
    uint32_t matrix = cell >> cells_log, set = matrix / count;
    size_t place = size_t(set) * matrices + matrix % count;
    uint32_t rows = 1u << column_bits_of(width);
    cells[place * stride + (column ? rows : 0) + (cell & ((1u << cells_log) - 1))] =
        shared[threadIdx.x];
}

/* Where the sums of each set go. */
template <class F> struct SetSums {
    Affine<F> *of[MSM_SETS_MAX];
};

constexpr int WEIGH_THREADS = 128;

/* Rows count by their number, columns by theirs plus the least weight. A sum is that of the cells
   whose weight has one certain bit: for each matrix the rows' bits, then the columns' (see
   msm_positions). Each block makes one; blockIdx.y is the set. */
template <class F>
__global__ void __launch_bounds__(WEIGH_THREADS)
    weigh_cells(const Xyzz<F> *cells, uint32_t stride, const __grid_constant__ Windows matrices,
                uint32_t least, const __grid_constant__ SetSums<F> sums)
{
    __shared__ Xyzz<F> shared[WEIGH_THREADS];
    int matrix = 0, bit = int(blockIdx.x);
    for (; bit >= matrices.width[matrix]; matrix++)
        bit -= matrices.width[matrix];
    int row_bits = row_bits_of(matrices.width[matrix]);
    int column_bits = column_bits_of(matrices.width[matrix]);
    cells += (size_t(blockIdx.y) * uint32_t(matrices.count) + uint32_t(matrix)) * stride;
    uint32_t count = 1u << (column_bits - 1);
    if (bit >= column_bits) {
        bit -= column_bits;
        cells += (1u << column_bits) - least; /* the least weight is that of column 0 */
        count = bit < row_bits ? 1u << (row_bits - 1) : 1;
    }
    Xyzz<F> sum = Xyzz<F>::infinity();
    for (uint32_t i = threadIdx.x; i < count; i += WEIGH_THREADS) {
        uint32_t below = i & ((1u << bit) - 1);
        sum.add(cells[(i - below) * 2 + (1u << bit) + below]);
    }
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (int half = WEIGH_THREADS / 2; half > 0; half /= 2) {
        if (int(threadIdx.x) < half)
            shared[threadIdx.x].add(shared[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        sums.of[blockIdx.y][blockIdx.x] = shared[0].to_affine();
}

inline unsigned blocks_of(size_t n)
{
    return unsigned((n + 255) / 256);
}

/* The most pairs of a round: of e entries in g groups at most e/2^r + g·(1 − 2^−r) are left after
   r rounds, and every pair takes two. */
inline size_t pairs_bound(size_t entries, size_t groups, int round)
{
    size_t by_groups = (entries >> (round + 1)) + groups / 2 + 1;
    return min(by_groups, entries / 2);
}

} // namespace

template <class F> void Adder<F>::find_widths()
{
    const Windows &matrices = planner.matrices;
    n_widths = 0;
    for (int i = 0; i < matrices.count; i++) {
        if (i > 0 && matrices.width[i] == matrices.width[i - 1]) {
            widths[n_widths - 1].count++;
            continue;
        }
        Width width = {};
        width.first = i;
        width.count = 1;
        width.width = matrices.width[i];
        width.kept = 1u << (width.width - 1 - HALVINGS_ALONE);
        widths[n_widths++] = width;
    }
}

template <class F>
Adder<F>::Adder(const Planner &planner_of_all, unsigned sets, Arena &arena)
    : planner(planner_of_all), n_sets(sets)
{
    find_widths();
    if (n_sets == 0)
        return;
    uint32_t slots = planner.infinity_slot + 1;
    uint32_t refs_max = 2 * planner.buckets_max;
    uint32_t pairs_max = max(planner.entries_max / 2, planner.buckets_max) + 1;
    cell_stride = 0;
    for (int i = 0; i < n_widths; i++) {
        uint32_t kept = 2 * n_sets * uint32_t(widths[i].count) * widths[i].kept;
        widths[i].first_slot = slots;
        widths[i].refs = arena.take<uint32_t>(kept);
        slots += kept;
        refs_max = max(refs_max, kept / 2);
        pairs_max = max(pairs_max, kept / 2);
        cell_stride = max(cell_stride, (1u << row_bits_of(widths[i].width)) +
                                           (1u << column_bits_of(widths[i].width)));
    }
    for (int i = 0; i < 2; i++)
        refs[i] = arena.take<uint32_t>(refs_max);
    range = arena.take<RoundRange>(1);
    cells = arena.take<Xyzz<F>>(size_t(n_sets) * planner.matrices.count * cell_stride);
    memory = RoundMemory<F>::take(arena, slots, pairs_max);
    memory.n_points = planner.n_points;
}

template <class F> void Adder<F>::prepare(cudaStream_t stream) const
{
    if (n_sets > 0)
        set_infinity<F><<<1, 1, 0, stream>>>(memory.scratch_x + planner.infinity_slot,
                                             memory.scratch_y + planner.infinity_slot);
}

template <class F>
void Adder<F>::add(const msm_set *sets, const Batch &batch, const Planned &plan,
                   cudaStream_t stream)
{
    for (uint32_t set = 0; set < n_sets; set++) {
        memory.points = static_cast<const unsigned char *>(sets[set].points);
        fill(batch, plan, stream);
        reduce(set, batch, plan, stream);
    }
}

template <class F> void Adder<F>::finish(const msm_set *sets, cudaStream_t stream) const
{
    if (n_sets == 0)
        return;
    for (int i = 0; i < n_widths; i++)
        reduce_kept(widths[i], stream);
    SetSums<F> sums = {};
    for (uint32_t set = 0; set < n_sets; set++)
        sums.of[set] = static_cast<Affine<F> *>(sets[set].sums);
    weigh_cells<F><<<dim3(planner.n_sums(), n_sets), WEIGH_THREADS, 0, stream>>>(
        cells, cell_stride, planner.matrices, least_weight(planner.size), sums);
}

template <class F> auto Adder<F>::width_of(const Batch &batch) const -> const Width &
{
    return widths[n_widths > 1 && batch.first_matrix >= widths[1].first ? 1 : 0];
}

template <class F>
void Adder<F>::fill(const Batch &batch, const Planned &plan, cudaStream_t stream) const
{
    uint32_t entries = planner.entries_of(batch);
    for (int round = 0; round < PLAN_GROUP_ROUNDS; round++)
        run_round(stream, memory, plan.pairs, plan.group_ranges + round,
                  pairs_bound(entries, batch.buckets(), round),
                  round == 0 ? Operands::INPUTS : Operands::ANY);
    for (int round = 0; round < planner.bucket_rounds(batch); round++) {
        uint32_t most = (entries / PLAN_GROUP_MAX >> round) + 1;
        add_few<F><<<(most + FEW_THREADS - 1) / FEW_THREADS, FEW_THREADS, 0, stream>>>(
            memory, plan.pairs, plan.bucket_ranges + round);
    }
}

template <class F>
void Adder<F>::add_pairs(const uint2 *from, uint32_t count, uint32_t first_slot,
                         cudaStream_t stream) const
{
    set_range<<<1, 1, 0, stream>>>(range, first_slot, count);
    run_round(stream, memory, from, range, count, Operands::ANY);
}

template <class F>
void Adder<F>::refer(const uint2 *from, uint32_t count, uint32_t first_slot, uint32_t *to,
                     cudaStream_t stream) const
{
    refer_to_sums<<<blocks_of(count), 256, 0, stream>>>(from, count, planner.n_points + first_slot,
                                                        to);
}

/* The first halvings of rows and columns of a batch's buckets, down to what is kept of it. */
template <class F>
void Adder<F>::reduce(uint32_t set, const Batch &batch, const Planned &plan,
                      cudaStream_t stream) const
{
    uint32_t n_buckets = batch.buckets();
    transpose_refs<<<blocks_of(n_buckets), 256, 0, stream>>>(plan.buckets, n_buckets, batch.width,
                                                             refs[0], refs[0] + n_buckets);
    uint32_t slot = planner.entries_max, pairs_now = n_buckets;
    for (int round = 0; round + 1 < HALVINGS_ALONE; round++) {
        auto from = reinterpret_cast<const uint2 *>(refs[round % 2]);
        add_pairs(from, pairs_now, slot, stream);
        refer(from, pairs_now, slot, refs[1 - round % 2], stream);
        slot += pairs_now;
        pairs_now /= 2;
    }
    auto from = reinterpret_cast<const uint2 *>(refs[(HALVINGS_ALONE - 1) % 2]);
    uint32_t half = pairs_now / 2; /* the rows', then the columns' */
    const Width &width = width_of(batch);
    uint32_t all = n_sets * uint32_t(width.count);
    uint32_t before = set * uint32_t(width.count) + uint32_t(batch.first_matrix - width.first);
    uint32_t first_slot = width.first_slot + 2 * before * width.kept;
    add_pairs(from, pairs_now, first_slot, stream);
    refer(from, half, first_slot, width.refs + before * width.kept, stream);
    refer(from + half, half, first_slot + half, width.refs + (all + before) * width.kept, stream);
}

/* The rest of rows and columns, of all matrices of one width and all sets together: halvings while
   there are many pairs, then sums without inversions. */
template <class F> void Adder<F>::reduce_kept(const Width &width, cudaStream_t stream) const
{
    uint32_t all = n_sets * uint32_t(width.count);
    uint32_t slot = 0, pairs_now = all * width.kept;
    const uint32_t *now = width.refs;
    int halvings = HALVINGS_ALONE;
    /* There are never fewer column than row bits. */
    for (; halvings < row_bits_of(width.width) && pairs_now > PAIRS_FEW; halvings++) {
        auto from = reinterpret_cast<const uint2 *>(now);
        uint32_t *to = refs[halvings % 2];
        add_pairs(from, pairs_now, slot, stream);
        refer(from, pairs_now, slot, to, stream);
        slot += pairs_now;
        pairs_now /= 2;
        now = to;
    }
    auto threads = [&](int cells_log) {
        return all << (cells_log + min(width.width - 1 - cells_log - halvings, LANES_LOG));
    };
    uint32_t most = max(threads(row_bits_of(width.width)), threads(column_bits_of(width.width)));
    sum_cells<F>
        <<<dim3((most + SUM_THREADS<F> - 1) / SUM_THREADS<F>, 2), SUM_THREADS<F>, 0, stream>>>(
            memory, now, width.width, halvings, all, uint32_t(width.count),
            uint32_t(planner.matrices.count), cell_stride,
            cells + size_t(width.first) * cell_stride);
}

#endif
