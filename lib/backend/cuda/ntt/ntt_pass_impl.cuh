/* The kernels of passes; each file that includes this has those of one column length (four files,
   so that they compile side by side).

   Between stages elements are below r + r/2^21 ("almost reduced"), which is all that the next
   stage asks for; within a stage they are signed sums of nine limbs (struct Sum). With e a little
   above r, the bounds are: sums of two elements below 2e < 2^256; differences above -e; a product
   with one of the eighth roots above -r and at most 8·r, with a factor from a table above -r and
   at most 4·r. So no sum of dft8 leaves (-19·r, 27·r). */
#ifndef CUDA_NTT_PASS_IMPL_CUH
#define CUDA_NTT_PASS_IMPL_CUH

#include "backend/cuda/ntt/ntt_pass.cuh"

namespace
{

/* --- reduction -------------------------------------------------------------------------------- */

/* e of order 8: e², (e + e³)/2, (e - e³)/2. */
__constant__ Factor<8> EIGHTH[3] = {
    {{{0x00000000u, 0x00000000u, 0x00010000u, 0x76030000u, 0xec030002u, 0x760304d0u, 0x8d51ccceu,
       0x00000000u},
      {0xffffffffu, 0x00000000u, 0x0001a401u, 0xac435bfdu, 0x6c6127fau, 0xb8c927fau, 0x4c658788u,
       0x1964257bu},
      {0xc7edfb36u, 0x381204c8u, 0xc7ed6ccbu, 0xc59889a0u, 0x307d7343u, 0x26b07cdau, 0xd246eae2u,
       0x274ed2c8u},
      {0xa932a94bu, 0x1ebb51eau, 0x71204f7eu, 0x85590315u, 0xd1333fc5u, 0xd858ed2cu, 0x3e3a33b3u,
       0x177671e7u},
      {0xcc3033f3u, 0xdd027557u, 0x3d5071f7u, 0xda5fec58u, 0x53ff4e10u, 0xd6b1d7c9u, 0x8bee15e0u,
       0x1c496903u},
      {0xc18913d6u, 0x0aa7201cu, 0x36ee4982u, 0x599f2bf5u, 0x35f10b23u, 0x1350d0f3u, 0x97ad1bbcu,
       0x2c46a4efu},
      {0x9e3a2626u, 0x234eedafu, 0x05d6a1f7u, 0xce1bb45du, 0xb4dc675bu, 0x44ba87bbu, 0x600997adu,
       0x26b36dfau},
      {0xaa89cfb1u, 0xf3b05674u, 0x6006b9feu, 0x072f0140u, 0x25667a26u, 0xce9a0dbfu, 0x2d598374u,
       0x4d2ce405u}}},
    {{{0xb101be36u, 0xf205099du, 0xdc1e27a4u, 0xaea057a7u, 0x7aa52c63u, 0xb747bef4u, 0x030e9d35u,
       0x043a4ff8u},
      {0xf6a9f8d3u, 0xba57c562u, 0x1f20e4cau, 0xc04a4d6fu, 0xce896cf4u, 0x09880dbfu, 0x781d81d6u,
       0x004e6924u},
      {0xff52d945u, 0xf7571f8du, 0xce8fb81du, 0xf73aa5b5u, 0xb5671ff4u, 0xcfc8eb48u, 0x991a3450u,
       0x6f7ad07bu},
      {0x09d2daa4u, 0xf57ffea0u, 0xfecf34eau, 0x972eebecu, 0x05704ac0u, 0x3db91ca5u, 0xb129df2cu,
       0x42e76657u},
      {0x6c423be5u, 0x9d909ebeu, 0xdefa0ebbu, 0x29068efdu, 0x1eb45710u, 0x39794f00u, 0x5279960eu,
       0x39b26554u},
      {0x80971d0du, 0xebab1ed7u, 0x31502db1u, 0xd8f58aebu, 0xbcfcb499u, 0xae09fb03u, 0xf9a32492u,
       0x3ebe4e3eu},
      {0x75723d57u, 0x0b24dfb5u, 0x09962581u, 0x3f2e8508u, 0xfd568c14u, 0xc4787367u, 0xefc02a37u,
       0x5bb5d7dbu},
      {0x357acc6au, 0x3ff770ecu, 0x5e4c2b4cu, 0x9d3dbf02u, 0xed78bd49u, 0xdfa1a7e9u, 0xf34d6761u,
       0x1d1faa85u}}},
    {{{0xdb68e1cau, 0x190495dbu, 0x1b20358fu, 0xec33fcfau, 0x682c07e9u, 0xaf8b6b14u, 0x1ff3a8abu,
       0x21e7ef63u},
      {0xb5207076u, 0x26487153u, 0x2b628d66u, 0x4bab99c8u, 0x9c71ccb9u, 0xf987e9c6u, 0x46f735b5u,
       0x15e73b31u},
      {0xcfa1c55cu, 0xe57eab19u, 0xeedbbbf7u, 0xc5a31cd4u, 0x2363b302u, 0xdbafb376u, 0x1823a42bu,
       0x22785db0u},
      {0xb3e17f90u, 0x1bc045cbu, 0x3c54eb8au, 0x5d88f78au, 0xbd55d3b7u, 0x1a43fd94u, 0xca799d59u,
       0x40673954u},
      {0x71c7e8bfu, 0x421996d0u, 0xb01f010du, 0x64caeb1bu, 0x2b6b2134u, 0xd2235f95u, 0xeed06729u,
       0x45d3328cu},
      {0x65cee6d1u, 0x0bf901edu, 0x699bcc00u, 0x98b79679u, 0x4496a0fdu, 0xee5e7adcu, 0x635ab84bu,
       0x62e3db52u},
      {0x259ffc37u, 0x402eea99u, 0x6c8ec9b7u, 0x61ab62ebu, 0x97ce0587u, 0x836c7bebu, 0xf28ccceau,
       0x042ca6c4u},
      {0xf6c8238eu, 0x2ed7d8a8u, 0xef11cf0bu, 0xd1843b80u, 0x68ddf412u, 0x6054274eu, 0x2f509bb9u,
       0x379857e1u}}},
};

/* Minus 2^288 times those: what a negative operand starts with. */
__constant__ Fr EIGHTH_NEGATIVE[3] = {
    {0xaa6c5e2du, 0xab09d222u, 0x9761775du, 0x29cb1cedu, 0xc3712f5au, 0x92e0fc87u, 0x228f809du,
     0x47959314u},
    {0x40500e31u, 0x8a352565u, 0x28701ce2u, 0x08e7f9c3u, 0xeb2678dbu, 0x8f55855bu, 0xe7bbbdcau,
     0x50ba8c58u},
    {0x7ac4b9e8u, 0x8e73228au, 0x9562cd6eu, 0x009c3541u, 0xcc3fe032u, 0x0b6a2307u, 0x799f5862u,
     0x5b7b0affu},
};

/* Constants in shared memory. Low and high halves lie apart, so that lanes with neighbouring k do
   not meet in a bank. */
class Reducer
{
  public:
    static constexpr int K_MIN = -24, K_COUNT = 58;
    static constexpr int VECTORS = 2 * K_COUNT + 12;

    __device__ __forceinline__ explicit Reducer(uint4 *memory) : memory_(memory) {}

    /* By all threads of the block; a barrier must follow. */
    __device__ __forceinline__ void fill(int thread)
    {
        if (thread < K_COUNT) { /* k·r mod 2^256 */
            Fr multiple;
            int64_t sum = 0;
#pragma unroll
            for (int i = 0; i < 8; i++) {
                sum += int64_t(FrModulus::p(i)) * (thread + K_MIN);
                multiple.limb[i] = uint32_t(sum);
                sum >>= 32;
            }
            put(thread, K_COUNT + thread, multiple);
        } else if (thread < K_COUNT + 6) {
            int which = thread - K_COUNT;
            put(2 * K_COUNT + which, 2 * K_COUNT + 6 + which,
                which % 2 ? EIGHTH_NEGATIVE[which / 2] : Fr::zero());
        }
    }

    /* y mod r, almost reduced: from [-23·r, 33·r] to [0, r + r/2^21).

       With f = ⌊y/2^230⌋, c = 2^285/r rounded and k = ⌊(f - 1)·c/2^55⌋: (f - 1)·2^230/r is between
       y/r - 2^-23.8 and y/r - 2^-24.9, and rounding of c changes it by less than 2^-26, as
       |f| < 2^30. So k ≤ y/r and y - k·r < r·(1 + 2^-23). */
    __device__ __forceinline__ Fr reduce(const Sum &y) const
    {
        int f = int(__funnelshift_r(y.limb[7], y.limb[8], 6));
        int k = __mulhi(f - 1, 0x46aa129e) >> 23;
        Fr out, multiple = get(k - K_MIN, k - K_MIN + K_COUNT);
        carry::sub_first(out.limb[0], y.limb[0], multiple.limb[0]);
#pragma unroll
        for (int i = 1; i < 8; i++)
            carry::sub_next(out.limb[i], y.limb[i], multiple.limb[i]);
        return out;
    }

    /* y·EIGHTH[which] mod r for y from [-2^256, 2^256), above -r and at most 8·r. */
    __device__ __forceinline__ Sum eighth(const Sum &y, int which) const
    {
        int at = 2 * K_COUNT + 2 * which - int(y.limb[8]); /* 1 more for a negative one */
        return factor::multiply(y.limb, EIGHTH[which], get(at, at + 6), true);
    }

  private:
    __device__ __forceinline__ void put(int low, int high, const Fr &x)
    {
        memory_[low] = make_uint4(x.limb[0], x.limb[1], x.limb[2], x.limb[3]);
        memory_[high] = make_uint4(x.limb[4], x.limb[5], x.limb[6], x.limb[7]);
    }
    __device__ __forceinline__ Fr get(int low, int high) const
    {
        uint4 a = memory_[low], b = memory_[high];
        return {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
    }

    uint4 *memory_;
};

/* --- transforms of columns -------------------------------------------------------------------- */

/* Eight elements with four products (Winograd). In and out: almost reduced. */
__device__ __forceinline__ void dft8(Fr x[8], const Reducer &reducer)
{
    Sum t3 = reducer.eighth(sub_wide(x[2], x[6]), 0);
    Fr t2 = x[2].loose_sum(x[6]);
    Sum t1 = sub_wide(x[0], x[4]);
    Fr t0 = x[0].loose_sum(x[4]);
    Sum p = t1 + t3, q = t1 - t3;
    Sum t5 = sub_wide(x[1], x[5]), t7 = sub_wide(x[3], x[7]);
    Fr t4 = x[1].loose_sum(x[5]), t6 = x[3].loose_sum(x[7]);
    Sum a = reducer.eighth(t5 + t7, 1), b = reducer.eighth(t5 - t7, 2);
    Sum s = a + b, d = a - b;
    x[1] = reducer.reduce(p + s);
    x[5] = reducer.reduce(p - s);
    x[3] = reducer.reduce(q + d);
    x[7] = reducer.reduce(q - d);
    Sum u3 = reducer.eighth(sub_wide(t4, t6), 0);
    Sum u2 = add_wide(t4, t6), u1 = sub_wide(t0, t2), u0 = add_wide(t0, t2);
    x[2] = reducer.reduce(u1 + u3);
    x[6] = reducer.reduce(u1 - u3);
    x[0] = reducer.reduce(u0 + u2);
    x[4] = reducer.reduce(u0 - u2);
}

__device__ __forceinline__ void dft4(Fr &x0, Fr &x1, Fr &x2, Fr &x3, const Reducer &reducer)
{
    Sum d = reducer.eighth(sub_wide(x1, x3), 0);
    Sum a = add_wide(x0, x2), b = sub_wide(x0, x2), c = add_wide(x1, x3);
    x0 = reducer.reduce(a + c);
    x2 = reducer.reduce(a - c);
    x1 = reducer.reduce(b + d);
    x3 = reducer.reduce(b - d);
}

/* The factor whose parts lie `stride` vectors apart. */
__device__ __forceinline__ Factor4 load_factor(const uint4 *from, int stride)
{
    union {
        Factor4 factor;
        uint4 parts[FACTOR_PARTS];
    } entry;
#pragma unroll
    for (int i = 0; i < FACTOR_PARTS; i++)
        entry.parts[i] = __ldg(from + i * stride);
    return entry.factor;
}

/* A block's elements for exchanges among its threads, as two planes of halves. */
template <int ROWS, bool CONTIGUOUS> struct Exchange {
    static constexpr int COLUMNS = NTT_TILE / ROWS;
    uint4 *low, *high;
    int column;

    /* The exclusive or keeps the three access patterns free of bank conflicts. */
    __device__ __forceinline__ int slot(int row) const
    {
        int mixed = row ^ (((row >> 3) ^ (row >> 6)) & 7);
        return CONTIGUOUS ? column * ROWS + mixed : mixed * COLUMNS + column;
    }
    __device__ __forceinline__ void put(int row, const Fr &x)
    {
        int i = slot(row);
        low[i] = make_uint4(x.limb[0], x.limb[1], x.limb[2], x.limb[3]);
        high[i] = make_uint4(x.limb[4], x.limb[5], x.limb[6], x.limb[7]);
    }
    __device__ __forceinline__ Fr get(int row) const
    {
        uint4 a = low[slot(row)], b = high[slot(row)];
        return {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
    }
};

/* Transforms columns of 64·R elements; eight elements a thread, of which thread j of a column holds
   rows j + 8·R·p, before and after. Stage A: radix 8 over p; stage B: radix 8 over the next three
   bits of the row; stage C: radix R. The factors between them are a slice's. The loop keeps one
   copy of dft8 in the instruction cache. */
template <int LOG2_R, bool CONTIGUOUS>
__device__ __forceinline__ void dft_columns(Fr x[8], int j,
                                            Exchange<64 << LOG2_R, CONTIGUOUS> exchange,
                                            const uint4 *slice, const Reducer &reducer)
{
    constexpr int R = 1 << LOG2_R, J = 8 * R;
    int put_row = j, put_step = J;
    int get_row = (j >> LOG2_R) * J + (j & (R - 1)), get_step = R;
    const uint4 *stage = slice + j;
    int count = J, stages_left = LOG2_R == 3 ? 3 : 2;
#pragma unroll 1
    do {
        dft8(x, reducer);
        stages_left--;
        if (LOG2_R < 3 || stages_left > 0) {
#pragma unroll
            for (int k = 1; k < 8; k++) {
                Factor4 w = load_factor(stage + (k - 1) * FACTOR_PARTS * count, count);
                x[k] = reducer.reduce(x[k] * w);
            }
#pragma unroll
            for (int k = 0; k < 8; k++)
                exchange.put(put_row + k * put_step, x[k]);
            __syncthreads();
            if (LOG2_R == 3 || stages_left > 0) {
#pragma unroll
                for (int k = 0; k < 8; k++)
                    x[k] = exchange.get(get_row + k * get_step);
                put_row = get_row;
                put_step = get_step;
                get_row = (j & 7) * J + (j >> 3) * R;
                get_step = 1;
                stage = slice + Slice(R).stage_b + (j & (R - 1));
                count = R;
            }
        }
        /* Hidden from the compiler, which would write out a stage of its own for the last turn. */
        asm volatile("" : "+r"(stages_left));
    } while (stages_left > 0);
    if (LOG2_R == 3)
        return;
    constexpr int COUNT = 8 / R; /* transforms of stage C */
#pragma unroll
    for (int g = 0; g < COUNT; g++) {
        int at = j + J * g;
#pragma unroll
        for (int i = 0; i < R; i++)
            x[g + COUNT * i] = exchange.get((at & 7) * J + (at >> 3) * R + i);
        if (LOG2_R == 1) {
            Fr a = x[g], b = x[g + 4];
            x[g] = reducer.reduce(add_wide(a, b));
            x[g + 4] = reducer.reduce(sub_wide(a, b));
        }
        if (LOG2_R == 2)
            dft4(x[g], x[g + 2], x[g + 4], x[g + 6], reducer);
    }
}

/* The block's columns' scales times h^(64·k), k < R, as factors in `out`: 16 of four multiples. */
template <int R>
__device__ __forceinline__ void make_scales(Fr *out, int thread, const Factor4 *scales,
                                            const Twist &twist, uint32_t first_column)
{
    if (thread >= 64)
        return;
    int multiple = thread % 4, k = thread / 4 % R;
    uint32_t number = first_column + thread / (4 * R);
    const uint4 *slice = twist.slices + size_t(number >> twist.shift & twist.mask) * Slice(R).size;
    /* The last multiple of a factor is its Montgomery form. */
    const uint4 *power = slice + Slice(R).stage_c + k * FACTOR_PARTS + FACTOR_PARTS - 2;
    out[thread] = load_element<Fr>(&scales[number].multiple[multiple]) * load_element<Fr>(power);
}

template <int LOG2_R, bool CONTIGUOUS, After AFTER>
__global__ void __launch_bounds__(NTT_THREADS, 4) run_pass(const __grid_constant__ Pass pass)
{
    constexpr int R = 1 << LOG2_R, ROWS = 64 * R, J = ROWS / 8, COLUMNS = NTT_TILE / ROWS;
    __shared__ uint4 exchanged[2 * NTT_TILE], constants[Reducer::VECTORS];
    __shared__ uint4 scales[AFTER == AFTER_SCALE ? 128 : 1];
    int j = CONTIGUOUS ? threadIdx.x % J : threadIdx.x / COLUMNS;
    int column = CONTIGUOUS ? threadIdx.x / J : threadIdx.x % COLUMNS;
    /* Columns of side 3 are numbered k1 + n1·k2, so that a block's are neighbours in natural order.
     */
    uint32_t number = blockIdx.x * COLUMNS + column;
    const Box &box = pass.box;
    uint32_t k1 = number & ((1u << box.log2_1) - 1), k2 = number >> box.log2_1;
    unsigned log2_step = CONTIGUOUS ? 0 : pass.log2_step;
    uint32_t base = CONTIGUOUS ? ((k1 << box.log2_2) + k2) * ROWS
                               : ((number >> log2_step << (6 + LOG2_R + log2_step)) |
                                  (number & ((1u << log2_step) - 1)));
    const uint4 *slice =
        pass.twist.slices + size_t(number >> pass.twist.shift & pass.twist.mask) * Slice(R).size;
    Fr x[8];
#pragma unroll
    for (int p = 0; p < 8; p++) {
        uint32_t row = j + p * J;
        if (pass.reversed)
            row = (ROWS - row) & (ROWS - 1);
        x[p] = load_element<Fr>(pass.in + base + (row << log2_step));
    }
    Reducer reducer(constants);
    reducer.fill(threadIdx.x);
    if (AFTER == AFTER_SCALE)
        make_scales<R>(reinterpret_cast<Fr *>(scales), threadIdx.x, pass.scales, pass.twist,
                       blockIdx.x * COLUMNS);
    __syncthreads();
    dft_columns<LOG2_R, CONTIGUOUS>(x, j, {exchanged, exchanged + NTT_TILE, column}, slice,
                                    reducer);
#pragma unroll
    for (int p = 0; p < 8; p++) {
        uint32_t row = j + p * J;
        uint32_t address = base + (row << log2_step);
        int k = p >> (3 - LOG2_R); /* row / 64 */
        const uint4 *power = slice + Slice(R).stage_c + k * FACTOR_PARTS;
        if (AFTER == AFTER_SCALE) {
            const uint4 *scale = scales + (column * R + k) * FACTOR_PARTS;
            x[p] = reducer.reduce(x[p] * *reinterpret_cast<const Factor4 *>(scale));
        }
        if (AFTER == AFTER_TWIST && k > 0)
            x[p] = reducer.reduce(x[p] * load_factor(power, 1));
        if (AFTER == AFTER_PRODUCT)
            x[p] = x[p] * load_element<Fr>(pass.other + address);
        if (AFTER == AFTER_LAST) {
            if (k > 0)
                x[p] = reducer.reduce(x[p] * load_factor(power, 1));
            x[p] = reducer.reduce(sub_wide(x[p], load_element<Fr>(pass.other + address)));
            x[p].reduce_once();
            address = number + (row << (box.log2_1 + box.log2_2));
        }
        store_element(pass.out + address, x[p]);
    }
}

template <int LOG2_R, bool CONTIGUOUS, After AFTER>
void launch_after(const Pass &pass, cudaStream_t stream)
{
    unsigned blocks = (1u << pass.box.log2_n) / NTT_TILE;
    run_pass<LOG2_R, CONTIGUOUS, AFTER><<<blocks, NTT_THREADS, 0, stream>>>(pass);
}

template <int LOG2_R> void launch(const Pass &pass, After after, cudaStream_t stream)
{
    if (pass.side == 3) {
        if (after == AFTER_NOTHING)
            launch_after<LOG2_R, true, AFTER_NOTHING>(pass, stream);
        else if (after == AFTER_TWIST)
            launch_after<LOG2_R, true, AFTER_TWIST>(pass, stream);
        else
            launch_after<LOG2_R, true, AFTER_LAST>(pass, stream);
    } else {
        if (after == AFTER_NOTHING)
            launch_after<LOG2_R, false, AFTER_NOTHING>(pass, stream);
        else if (after == AFTER_TWIST)
            launch_after<LOG2_R, false, AFTER_TWIST>(pass, stream);
        else if (after == AFTER_SCALE)
            launch_after<LOG2_R, false, AFTER_SCALE>(pass, stream);
        else
            launch_after<LOG2_R, false, AFTER_PRODUCT>(pass, stream);
    }
}

} // namespace

#endif
