/* One block evaluates up to ROWS_PART_ROWS rows of one placement (docs/spec/ntt.md, section 7). It
   gathers the bits of the template's local variables in shared memory; then a thread works out
   where the value of its row already is (small integers are in a table), and pairs of lanes copy
   it, so that a warp's stores are contiguous. Wide rows take a warp each. */
#include "backend/cuda/field/curve.cuh"
#include "backend/cuda/rows/rows.h"

namespace
{

constexpr int ROW_THREADS = 256;
constexpr unsigned WARP = 0xffffffffu;

/* Everything on the device. */
struct Program {
    const Fr *small, *coeffs;
    const rows_template *templates;
    const uint2 *codes;
    const uint32_t *terms;
    const rows_wide *wide;
    const rows_wide_term *wide_terms;
    const rows_placement *placements;
    const rows_run *runs;
    const uint32_t *sources;
    const rows_part *parts;
    const uint32_t *bits;
    const Fr *full, *inputs;
    Fr *a, *b;
};

/* ORs `count` bits of the witness from `first` on into the local bits from `local` on. */
__device__ void gather_run(const uint32_t *bits, uint32_t first, uint32_t count, uint32_t local,
                           uint32_t *locals)
{
    for (uint32_t k = threadIdx.x; 32 * k < count; k += blockDim.x) {
        uint32_t from = first + 32 * k, to = local + 32 * k, left = count - 32 * k;
        uint32_t word = __funnelshift_r(bits[from / 32], bits[from / 32 + 1], from % 32);
        if (left < 32)
            word &= (1u << left) - 1;
        atomicOr(&locals[to / 32], word << (to % 32));
        if (to % 32)
            atomicOr(&locals[to / 32 + 1], word >> (32 - to % 32));
    }
}

__device__ void gather_bits(const Program &program, const rows_placement &placement,
                            const rows_template &shape, uint32_t *locals)
{
    uint32_t n_words = (1 + shape.n_externals + shape.n_internal + 31) / 32 + 1;
    for (uint32_t i = threadIdx.x; i < n_words; i += blockDim.x)
        locals[i] = i == 0; /* the constant 1 */
    __syncthreads();
    for (uint32_t i = 0; i < placement.n_runs; i++) {
        rows_run run = program.runs[placement.first_run + i];
        gather_run(program.bits, run.first_aux, run.count, run.local, locals);
    }
    gather_run(program.bits, placement.first_aux, shape.n_internal, 1 + shape.n_externals, locals);
    __syncthreads();
}

__device__ __forceinline__ uint32_t bit_of(const uint32_t *bits, uint32_t i)
{
    return bits[i / 32] >> (i % 32) & 1;
}

/* Where the value of a slot is. */
__device__ const Fr *slot_value(const Program &program, const rows_placement &placement,
                                const rows_template &shape, uint32_t slot)
{
    if (slot >= shape.n_external_slots)
        return program.full + placement.first_full + (slot - shape.n_external_slots);
    uint32_t source = program.sources[placement.first_source + slot];
    uint32_t index = source & 0x3fffffffu;
    switch (source >> 30) {
    case ROWS_FROM_INPUT:
        return program.inputs + index;
    case ROWS_FROM_FULL:
        return program.full + index;
    default:
        return program.small + ROWS_SMALL_MAX + bit_of(program.bits, index);
    }
}

/* Where the value of one side of a row is; NULL for wide rows. */
__device__ __forceinline__ const Fr *row_value(const Program &program,
                                               const rows_placement &placement,
                                               const rows_template &shape, const uint32_t *locals,
                                               uint32_t code)
{
    if (code >> 30 == ROWS_COPY)
        return slot_value(program, placement, shape, code & 0x3fffffffu);
    if (code >> 30 == ROWS_WIDE)
        return nullptr;
    const uint32_t *terms = program.terms + (code & 0x7fffffu);
    int value = 0;
    for (uint32_t i = code >> 23 & 0x7f; i > 0; i--, terms++) {
        uint32_t term = __ldg(terms);
        value += (int(term) >> 24) * int(bit_of(locals, term & 0xffffffu));
    }
    return program.small + ROWS_SMALL_MAX + value;
}

__device__ __forceinline__ void copy_half(const Fr *value, Fr *out, size_t row, uint32_t half)
{
    if (value)
        reinterpret_cast<uint4 *>(out + row)[half] =
            __ldg(reinterpret_cast<const uint4 *>(value) + half);
}

__device__ __forceinline__ const Fr *value_of_lane(const Fr *value, uint32_t lane)
{
    return reinterpret_cast<const Fr *>(
        __shfl_sync(WARP, reinterpret_cast<unsigned long long>(value), lane));
}

__device__ Fr sum_over_warp(Fr sum)
{
    for (int step = 16; step > 0; step /= 2) {
        Fr other;
#pragma unroll
        for (int i = 0; i < Fr::N; i++)
            other.limb[i] = __shfl_down_sync(WARP, sum.limb[i], step);
        sum = sum + other;
    }
    return sum;
}

/* The warp's lanes share the terms. */
__device__ void evaluate_wide(const Program &program, const rows_placement &placement,
                              const rows_template &shape, const uint32_t *locals,
                              const rows_wide &wide)
{
    Fr sum = Fr::zero();
    for (uint32_t t = threadIdx.x % 32; t < wide.count; t += 32) {
        rows_wide_term term = program.wide_terms[wide.first + t];
        const Fr *coeff = program.coeffs + term.coeff;
        if (term.variable & ROWS_SLOT) {
            const Fr *value = slot_value(program, placement, shape, term.variable & ~ROWS_SLOT);
            sum = sum + load_element<Fr>(coeff) * load_element<Fr>(value);
        } else if (bit_of(locals, term.variable)) {
            sum = sum + load_element<Fr>(coeff);
        }
    }
    sum = sum_over_warp(sum);
    Fr *out = wide.side == 0 ? program.a : program.b;
    if (threadIdx.x % 32 == 0)
        store_element(out + placement.first_row + wide.row, sum);
}

__global__ void __launch_bounds__(ROW_THREADS)
    evaluate_part(const __grid_constant__ Program program)
{
    extern __shared__ uint32_t locals[];
    rows_part part = program.parts[blockIdx.x];
    const rows_placement placement = program.placements[part.placement];
    const rows_template shape = program.templates[placement.template_index];
    gather_bits(program, placement, shape, locals);

    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, n_warps = ROW_THREADS / 32;
    uint32_t end = min(part.first_row + ROWS_PART_ROWS, shape.n_rows);
    for (uint32_t first = part.first_row + 32 * warp; first < end; first += ROW_THREADS) {
        const Fr *a = nullptr, *b = nullptr;
        if (first + lane < end) {
            uint2 code = __ldg(program.codes + shape.first_code / 2 + first + lane);
            a = row_value(program, placement, shape, locals, code.x);
            b = row_value(program, placement, shape, locals, code.y);
        }
        __syncwarp();
#pragma unroll
        for (uint32_t half_warp = 0; half_warp < 2; half_warp++) {
            uint32_t from = 16 * half_warp + lane / 2;
            size_t row = size_t(placement.first_row) + first + from;
            copy_half(value_of_lane(a, from), program.a, row, lane % 2);
            copy_half(value_of_lane(b, from), program.b, row, lane % 2);
        }
    }
    for (uint32_t i = warp; i < shape.n_wide; i += n_warps) {
        rows_wide wide = program.wide[shape.first_wide + i];
        if (wide.row >= part.first_row && wide.row < end)
            evaluate_wide(program, placement, shape, locals, wide);
    }
    __syncthreads(); /* patches overwrite */
    for (uint32_t i = warp; i < placement.n_patches; i += n_warps) {
        rows_wide wide = program.wide[placement.first_patch + i];
        if (wide.row >= part.first_row && wide.row < end)
            evaluate_wide(program, placement, shape, locals, wide);
    }
}

/* Input rows and the zeros behind them. */
__global__ void finish_rows(const Fr *inputs, uint32_t n_inputs, uint32_t n_rows, uint32_t domain,
                            Fr *a, Fr *b)
{
    uint32_t i = n_rows + blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= domain)
        return;
    store_element(a + i,
                  i - n_rows < n_inputs ? load_element<Fr>(inputs + (i - n_rows)) : Fr::zero());
    store_element(b + i, Fr::zero());
}

__global__ void gather(const Fr *values, const uint32_t *indices, uint32_t n, Fr *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        store_element(out + i, load_element<Fr>(values + indices[i]));
}

} // namespace

extern "C" int rows_enqueue(const struct rows_image *image, const void *image_device,
                            const struct rows_witness *witness, unsigned log2_domain, void *a,
                            void *b, struct CUstream_st *stream)
{
    const unsigned char *base = static_cast<const unsigned char *>(image_device);
    Program program;
    program.small = reinterpret_cast<const Fr *>(base + image->small);
    program.coeffs = reinterpret_cast<const Fr *>(base + image->coeffs);
    program.templates = reinterpret_cast<const rows_template *>(base + image->templates);
    program.codes = reinterpret_cast<const uint2 *>(base + image->codes);
    program.terms = reinterpret_cast<const uint32_t *>(base + image->terms);
    program.wide = reinterpret_cast<const rows_wide *>(base + image->wide);
    program.wide_terms = reinterpret_cast<const rows_wide_term *>(base + image->wide_terms);
    program.placements = reinterpret_cast<const rows_placement *>(base + image->placements);
    program.runs = reinterpret_cast<const rows_run *>(base + image->runs);
    program.sources = reinterpret_cast<const uint32_t *>(base + image->sources);
    program.parts = reinterpret_cast<const rows_part *>(base + image->parts);
    program.bits = static_cast<const uint32_t *>(witness->bits);
    program.full = static_cast<const Fr *>(witness->full);
    program.inputs = static_cast<const Fr *>(witness->inputs);
    program.a = static_cast<Fr *>(a);
    program.b = static_cast<Fr *>(b);
    unsigned shared_bytes = (image->most_locals / 32 + 2) * 4;
    if (image->n_parts > 0)
        evaluate_part<<<image->n_parts, ROW_THREADS, shared_bytes, stream>>>(program);
    uint32_t domain = 1u << log2_domain;
    if (domain > image->n_rows)
        finish_rows<<<(domain - image->n_rows + 255) / 256, 256, 0, stream>>>(
            program.inputs, image->n_inputs, image->n_rows, domain, program.a, program.b);
    return cudaGetLastError();
}

extern "C" int rows_gather(const void *values, const uint32_t *indices, uint32_t n, void *out,
                           struct CUstream_st *stream)
{
    if (n > 0)
        gather<<<(n + 255) / 256, 256, 0, stream>>>(static_cast<const Fr *>(values), indices, n,
                                                    static_cast<Fr *>(out));
    return cudaGetLastError();
}
