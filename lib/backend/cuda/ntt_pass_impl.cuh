/* The kernels of passes; each file that includes this has those of one column length (four files,
   so that they compile side by side). */
#ifndef CUDA_NTT_PASS_IMPL_CUH
#define CUDA_NTT_PASS_IMPL_CUH

#include "ntt_pass.cuh"

namespace
{

/* --- transforms of columns -------------------------------------------------------------------- */

/* e of order 8: e², (e + e³)/2, (e - e³)/2. */
__constant__ Factor EIGHTH[3] = {
    {{0x00000000u, 0x00010000u, 0x76030000u, 0xec030002u, 0x760304d0u, 0x8d51ccceu, 0x00000000u,
      0x00000000u},
     {0x5576304fu, 0x61c5d9dau, 0x3e76ec2au, 0x33cfcc0du, 0x56cd56b5u, 0x381204cau, 0x00000001u,
      0x00000000u}},
    {{0xa306c7d4u, 0x69307ddau, 0x8de2036cu, 0x20ffd8fcu, 0x9daf1e24u, 0x23614066u, 0x306dbb96u,
      0x23c58c92u},
     {0xca853396u, 0x8a8dc2a9u, 0x7f68e2f3u, 0x93bdc41bu, 0xf62d255cu, 0x00ad26bbu, 0x0956072du,
      0x4efe41cau}},
    {{0xf46d77a6u, 0x08f87f58u, 0xf931b394u, 0x928b48c5u, 0xd3285ebeu, 0x68a4e566u, 0xd38cab51u,
      0x1091da63u},
     {0x0937dc72u, 0xda6003c9u, 0x9a31192fu, 0x8e381741u, 0x4c1e8070u, 0x305e3aa4u, 0x4adf8f8au,
      0x24971e36u}},
};

/* Eight elements with four products (Winograd). In: canonical; out: x[0] canonical, the others
   below 2r. */
__device__ __forceinline__ void dft8(Fr x[8])
{
    Fr t0 = x[0] + x[4], t1 = x[0] - x[4];
    Fr t2 = x[2] + x[6], t3 = sub_lazy(x[2], x[6]) * EIGHTH[0];
    Fr t4 = x[1] + x[5], t5 = x[1] - x[5];
    Fr t6 = x[3] + x[7], t7 = x[3] - x[7];
    Fr p = t1 + t3, q = t1 - t3;
    Fr a = add_lazy(t5, t7) * EIGHTH[1], b = sub_lazy(t5, t7) * EIGHTH[2];
    Fr s = a + b, d = a - b;
    x[1] = add_lazy(p, s);
    x[5] = sub_lazy(p, s);
    x[3] = add_lazy(q, d);
    x[7] = sub_lazy(q, d);
    Fr u0 = t0 + t2, u1 = t0 - t2, u2 = t4 + t6;
    Fr u3 = sub_lazy(t4, t6) * EIGHTH[0];
    x[0] = u0 + u2;
    x[4] = sub_lazy(u0, u2);
    x[2] = add_lazy(u1, u3);
    x[6] = sub_lazy(u1, u3);
}

__device__ __forceinline__ void dft4(Fr &x0, Fr &x1, Fr &x2, Fr &x3)
{
    Fr a = x0 + x2, b = x0 - x2, c = x1 + x3, d = sub_lazy(x1, x3) * EIGHTH[0];
    x0 = add_lazy(a, c);
    x2 = sub_lazy(a, c);
    x1 = add_lazy(b, d);
    x3 = sub_lazy(b, d);
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
   rows j + 8·R·p, before and after. Out: below 2r. Stage A: radix 8 over p, then w^(k·j); stage B:
   radix 8 over the next three bits of the row, then w^(8·k·(j mod R)); stage C: radix R. The loop
   keeps one copy of dft8 in the instruction cache. */
template <int LOG2_R, bool CONTIGUOUS>
__device__ __forceinline__ void dft_columns(Fr x[8], int j,
                                            Exchange<64 << LOG2_R, CONTIGUOUS> exchange,
                                            const uint4 *stage_a, const uint4 *stage_b)
{
    constexpr int R = 1 << LOG2_R, J = 8 * R;
    int put_row = j, put_step = J;
    int get_row = (j >> LOG2_R) * J + (j & (R - 1)), get_step = R;
    const uint4 *stage = stage_a + j;
    int parts = J;
#pragma unroll 1
    for (int number = 0; LOG2_R == 3 || number < 2; number++) {
        dft8(x);
        if (LOG2_R == 3 && number == 2)
            break;
#pragma unroll
        for (int k = 1; k < 8; k++) {
            union {
                Factor factor;
                uint4 parts[4];
            } entry;
#pragma unroll
            for (int i = 0; i < 4; i++)
                entry.parts[i] = __ldg(stage + ((k - 1) * 4 + i) * parts);
            x[k] = x[k] * entry.factor;
        }
#pragma unroll
        for (int k = 0; k < 8; k++)
            exchange.put(put_row + k * put_step, x[k]);
        __syncthreads();
        if (LOG2_R == 3 || number == 0) {
#pragma unroll
            for (int k = 0; k < 8; k++)
                x[k] = exchange.get(get_row + k * get_step);
            put_row = get_row;
            put_step = get_step;
            get_row = (j & 7) * J + (j >> 3) * R;
            get_step = 1;
            stage = stage_b + (j & (R - 1));
            parts = R;
        }
    }
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
            x[g] = add_lazy(a, b);
            x[g + 4] = sub_lazy(a, b);
        }
        if (LOG2_R == 2)
            dft4(x[g], x[g + 2], x[g + 4], x[g + 6]);
    }
}

__device__ __forceinline__ Factor load_factor(const Factor *from)
{
    union {
        Factor factor;
        uint4 parts[4];
    } entry;
#pragma unroll
    for (int i = 0; i < 4; i++)
        entry.parts[i] = __ldg(reinterpret_cast<const uint4 *>(from) + i);
    return entry.factor;
}

template <int LOG2_R, bool CONTIGUOUS, After AFTER>
__global__ void __launch_bounds__(NTT_THREADS, 4) run_pass(const __grid_constant__ Pass pass)
{
    constexpr int ROWS = 64 << LOG2_R, J = ROWS / 8, COLUMNS = NTT_TILE / ROWS;
    __shared__ uint4 shared[2 * NTT_TILE];
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
    Fr x[8];
#pragma unroll
    for (int p = 0; p < 8; p++) {
        uint32_t row = j + p * J;
        if (pass.reversed)
            row = (ROWS - row) & (ROWS - 1);
        x[p] = load_element<Fr>(pass.in + base + (row << log2_step));
    }
    dft_columns<LOG2_R, CONTIGUOUS>(x, j, {shared, shared + NTT_TILE, column}, pass.stage_a,
                                    pass.stage_b);
#pragma unroll
    for (int p = 0; p < 8; p++) {
        uint32_t row = j + p * J;
        uint32_t address = base + (row << log2_step);
        if (AFTER == AFTER_NOTHING)
            x[p].reduce_once();
        if (AFTER == AFTER_FACTOR || AFTER == AFTER_LAST) {
            uint32_t i = address & ((1u << (box.log2_2 + box.log2_3)) - 1);
            if (CONTIGUOUS && (AFTER == AFTER_LAST || pass.by_k1))
                i = k1 * ROWS + row;
            x[p] = x[p] * load_factor(pass.factors + i);
        }
        if (AFTER == AFTER_POWER) {
            uint32_t k = address >> (box.log2_2 + box.log2_3);
            uint32_t x2 = address >> box.log2_3 & ((1u << box.log2_2) - 1);
            uint32_t x3 = address & ((1u << box.log2_3) - 1);
            x[p] = x[p] * load_factor(pass.power_2 + (k << box.log2_2) + x2);
            x[p] = x[p] * load_factor(pass.power_3 + (k << box.log2_3) + x3);
        }
        if (AFTER == AFTER_LAST) {
            x[p] = x[p] - load_element<Fr>(pass.minus + address);
            address = number + (row << (box.log2_1 + box.log2_2));
        }
        store_element(pass.out + address, x[p]);
    }
}

template <int LOG2_R, bool CONTIGUOUS>
void launch(const Pass &pass, After after, cudaStream_t stream)
{
    unsigned blocks = (1u << pass.box.log2_n) / NTT_TILE;
    switch (after) {
    case AFTER_NOTHING:
        run_pass<LOG2_R, CONTIGUOUS, AFTER_NOTHING><<<blocks, NTT_THREADS, 0, stream>>>(pass);
        break;
    case AFTER_FACTOR:
        run_pass<LOG2_R, CONTIGUOUS, AFTER_FACTOR><<<blocks, NTT_THREADS, 0, stream>>>(pass);
        break;
    case AFTER_POWER:
        if (!CONTIGUOUS)
            run_pass<LOG2_R, false, AFTER_POWER><<<blocks, NTT_THREADS, 0, stream>>>(pass);
        break;
    case AFTER_LAST:
        if (CONTIGUOUS)
            run_pass<LOG2_R, true, AFTER_LAST><<<blocks, NTT_THREADS, 0, stream>>>(pass);
        break;
    }
}

} // namespace

#endif
