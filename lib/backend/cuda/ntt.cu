/* Six transforms make the quotient (spec/gpu-ntt.md, sections 2 and 6).

   The n elements are seen as a box of n1 × n2 × n3, each side a power of two from 2^6 to 2^9
   (below 2^18 elements n1 = 1). An inverse transform goes from natural order, address
   (x1, x2, x3), to reversed order, address (k1, k2, k3) for coefficient k1 + n1·k2 + n1·n2·k3;
   a forward one goes back. Each is one pass a side, in place. A pass transforms columns of that
   side within a block, by radix 8, and multiplies by what the next pass needs, with v = w^n1:

   inverse: side 1, then w^-(k1·(x2,x3)); side 2, then v^-(k2·x3); side 3

   forward: side 3, then v^(k2·x3); side 2, then w^(k1·(x2,x3)); side 1

   An inverse transform of a column is the forward one with the rows read in reversed order. Powers
   of w are looked up as a product of two table entries. 1/n and the coset's powers of 7 are in the
   tables: 7^k = 7^(n1·k2) · 7^(k1 + n1·n2·k3), the first part beside v's powers, the second a table
   of its own. */
#include "arena.cuh"
#include "ntt.h"
#include "ntt_pass.cuh"

namespace
{

constexpr unsigned LOG2_SIDE_MIN = 6, LOG2_SIDE_MAX = 9;
constexpr unsigned LOG2_BOX_MIN = 12; /* smaller sizes are left to one block */
constexpr int SMALL_THREADS = 1024;

Box make_box(unsigned log2_n)
{
    Box box = {log2_n, 0, 0, 0};
    if (log2_n <= 2 * LOG2_SIDE_MAX) {
        box.log2_3 =
            log2_n <= LOG2_SIDE_MAX + LOG2_SIDE_MIN ? LOG2_SIDE_MIN : log2_n - LOG2_SIDE_MAX;
    } else {
        box.log2_3 = log2_n <= 24 ? LOG2_SIDE_MIN : log2_n - 2 * LOG2_SIDE_MAX;
        box.log2_1 = log2_n - box.log2_3 - LOG2_SIDE_MIN;
        if (box.log2_1 > LOG2_SIDE_MAX)
            box.log2_1 = LOG2_SIDE_MAX;
    }
    box.log2_2 = log2_n - box.log2_1 - box.log2_3;
    return box;
}

/* --- tables ----------------------------------------------------------------------------------- */

enum Scale { SCALE_NONE, SCALE_INVERSE_N, SCALE_INVERSE_N_D, SCALE_COUNT };

/* Montgomery form. d = 7^n - 1 is the divisor's value on the coset. */
struct Constants {
    Fr omega, inverse_omega, seven, inverse_seven;
    Fr scale[SCALE_COUNT];
};

struct Tables {
    Constants *constants;
    uint4 *stage_a[3], *stage_b[3]; /* by side: see dft_columns */
    Factor *power_2[2], *power_3[2]; /* [forward]: w^±(k1·x2·n3), w^±(k1·x3) at [k1][x2 or x3] */
    Factor *v_inverse, *v_inverse_d;   /* v^-(k2·x3)/n at [k2][x3]; and /d */
    Factor *v_coset, *v_inverse_coset; /* v^(k2·x3)·7^(n1·k2); v^-(k2·x3)·7^-(n1·k2)/n/d */
    Factor *coset, *inverse_coset;     /* 7^±(k1 + n1·n2·k3) at [k1][k3] */
    Fr *small_roots, *small_coset, *small_inverse_coset; /* small sizes: w^i, 7^i, 7^-i */
    size_t bytes;

    Tables(const Box &box, void *base)
    {
        Arena arena(base);
        constants = arena.take<Constants>(1);
        if (box.log2_n < LOG2_BOX_MIN) {
            small_roots = arena.take<Fr>(size_t(1) << box.log2_n);
            small_coset = arena.take<Fr>(size_t(1) << box.log2_n);
            small_inverse_coset = arena.take<Fr>(size_t(1) << box.log2_n);
        } else {
            const unsigned sides[3] = {box.log2_1, box.log2_2, box.log2_3};
            for (int i = 0; i < 3; i++) {
                stage_a[i] = arena.take<uint4>(size_t(7 * 4) << (sides[i] ? sides[i] - 3 : 0));
                stage_b[i] = arena.take<uint4>(size_t(7 * 4) << (sides[i] ? sides[i] - 6 : 0));
            }
            for (int i = 0; i < 2; i++) {
                power_2[i] = arena.take<Factor>(size_t(1) << (box.log2_1 + box.log2_2));
                power_3[i] = arena.take<Factor>(size_t(1) << (box.log2_1 + box.log2_3));
            }
            const size_t v_count = size_t(1) << (box.log2_2 + box.log2_3);
            v_inverse = arena.take<Factor>(v_count);
            v_inverse_d = arena.take<Factor>(v_count);
            v_coset = arena.take<Factor>(v_count);
            v_inverse_coset = arena.take<Factor>(v_count);
            coset = arena.take<Factor>(size_t(1) << (box.log2_1 + box.log2_3));
            inverse_coset = arena.take<Factor>(size_t(1) << (box.log2_1 + box.log2_3));
        }
        bytes = arena.used();
    }
};

__device__ Fr small_power(const Fr &base, uint32_t exponent)
{
    return base.power(&exponent, 1);
}

/* 7^((r-1)/2^32), of order 2^32, and 7, both in Montgomery form. */
__device__ Fr root_of_unity()
{
    return {0x5f0e466au, 0xb9b58d8cu, 0x1819d7ecu, 0x5b1b4c80u,
            0x52a31e64u, 0x0af53ae3u, 0x19e9b27bu, 0x5bf3addau};
}

__device__ Fr generator()
{
    return {0xfffffff1u, 0x0000000eu, 0x00189c0fu, 0x17e363d3u,
            0x6f8457b0u, 0xff9c5787u, 0x8fc5a8c4u, 0x35133220u};
}

__global__ void make_constants(unsigned log2_n, Constants *out)
{
    Constants c;
    c.omega = root_of_unity();
    for (unsigned i = log2_n; i < 32; i++)
        c.omega = c.omega.squared();
    c.inverse_omega = c.omega.inverse();
    c.seven = generator();
    c.inverse_seven = c.seven.inverse();
    Fr n = small_power(Fr::one().doubled(), log2_n);
    Fr d = small_power(c.seven, 1u << log2_n) - Fr::one();
    c.scale[SCALE_NONE] = Fr::one();
    c.scale[SCALE_INVERSE_N] = n.inverse();
    c.scale[SCALE_INVERSE_N_D] = (n * d).inverse();
    *out = c;
}

/* Entry (high, low), low < 2^log2_low, of a table: scale · w^±(high·low·step) · 7^±(high·coset_high
   + low·coset_low). */
struct TableSpec {
    unsigned log2_low;
    uint32_t step, coset_high, coset_low;
    bool inverse;
    Scale scale;
};

__device__ Fr table_entry(const TableSpec &spec, const Constants &c, uint32_t i)
{
    uint32_t high = i >> spec.log2_low, low = i & ((1u << spec.log2_low) - 1);
    Fr w = small_power(spec.inverse ? c.inverse_omega : c.omega, high * low * spec.step);
    Fr shift = small_power(spec.inverse ? c.inverse_seven : c.seven,
                           high * spec.coset_high + low * spec.coset_low);
    return w * shift * c.scale[spec.scale];
}

__global__ void fill_factors(TableSpec spec, const Constants *constants, uint32_t count,
                             Factor *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = make_factor(table_entry(spec, *constants, i));
}

__global__ void fill_powers(const Fr *base, uint32_t count, Fr *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = small_power(*base, i);
}

/* Factors w^(k·i·step), k = 1 … 7, i < count, as [k - 1][16-byte part][i]. */
__global__ void fill_stage(const Constants *constants, uint32_t step, uint32_t count, uint4 *out)
{
    uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= 7 * count)
        return;
    uint32_t k = t / count + 1, i = t % count;
    union {
        Factor factor;
        uint4 parts[4];
    } entry;
    entry.factor = make_factor(small_power(constants->omega, k * i * step));
    for (int part = 0; part < 4; part++)
        out[((k - 1) * 4 + part) * count + i] = entry.parts[part];
}

/* --- the quotient ----------------------------------------------------------------------------- */

void launch_pass(const Pass &pass, unsigned log2_rows, bool contiguous, After after,
                 cudaStream_t stream)
{
    switch (log2_rows) {
    case 6:
        ntt_pass_64(pass, contiguous, after, stream);
        break;
    case 7:
        ntt_pass_128(pass, contiguous, after, stream);
        break;
    case 8:
        ntt_pass_256(pass, contiguous, after, stream);
        break;
    default:
        ntt_pass_512(pass, contiguous, after, stream);
    }
}

__global__ void multiply(const Fr *a, const Fr *b, Fr *out, uint32_t n)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        store_element(out + i, load_element<Fr>(a + i) * load_element<Fr>(b + i));
}

void launch_multiply(const Fr *a, const Fr *b, Fr *out, uint32_t n, cudaStream_t stream)
{
    multiply<<<(n + 255) / 256, 256, 0, stream>>>(a, b, out, n);
}

/* The transforms of one quotient. */
class Chain
{
  public:
    Chain(const Box &box, const Tables &tables, cudaStream_t stream)
        : box_(box), tables_(tables), stream_(stream)
    {
    }

    /* Row values to coefficients in reversed order, times the factors by_k1 (NULL: none). */
    void to_coefficients(Fr *data, const Factor *v, const Factor *by_k1)
    {
        inverse_sides_1_and_2(data, v);
        Pass pass = make_pass(data, 2, true);
        pass.by_k1 = true;
        pass.factors = by_k1;
        launch_pass(pass, box_.log2_3, true, by_k1 ? AFTER_FACTOR : AFTER_NOTHING, stream_);
    }

    /* The same, times the inverse coset's powers, minus c, in natural order. */
    void to_quotient(Fr *data, const Fr *c, Fr *out)
    {
        inverse_sides_1_and_2(data, tables_.v_inverse_coset);
        Pass pass = make_pass(data, 2, true);
        pass.factors = tables_.inverse_coset;
        pass.minus = c;
        pass.out = out;
        launch_pass(pass, box_.log2_3, true, AFTER_LAST, stream_);
    }

    /* Coefficients in reversed order, already times the coset's part by k1 and k3, to values on it.
     */
    void to_coset_values(Fr *data)
    {
        Pass pass = make_pass(data, 2, false);
        pass.factors = tables_.v_coset;
        launch_pass(pass, box_.log2_3, true, AFTER_FACTOR, stream_);
        pass = make_pass(data, 1, false);
        if (box_.log2_1 == 0) {
            launch_pass(pass, box_.log2_2, false, AFTER_NOTHING, stream_);
            return;
        }
        pass.power_2 = tables_.power_2[1];
        pass.power_3 = tables_.power_3[1];
        launch_pass(pass, box_.log2_2, false, AFTER_POWER, stream_);
        launch_pass(make_pass(data, 0, false), box_.log2_1, false, AFTER_NOTHING, stream_);
    }

  private:
    Pass make_pass(Fr *data, int side, bool reversed) const
    {
        Pass pass = {};
        pass.in = pass.out = data;
        pass.stage_a = tables_.stage_a[side];
        pass.stage_b = tables_.stage_b[side];
        pass.box = box_;
        pass.log2_step = side == 0 ? box_.log2_2 + box_.log2_3 : box_.log2_3;
        pass.reversed = reversed;
        return pass;
    }

    void inverse_sides_1_and_2(Fr *data, const Factor *v)
    {
        if (box_.log2_1 > 0) {
            Pass pass = make_pass(data, 0, true);
            pass.power_2 = tables_.power_2[0];
            pass.power_3 = tables_.power_3[0];
            launch_pass(pass, box_.log2_1, false, AFTER_POWER, stream_);
        }
        Pass pass = make_pass(data, 1, true);
        pass.factors = v;
        launch_pass(pass, box_.log2_2, false, AFTER_FACTOR, stream_);
    }

    Box box_;
    const Tables &tables_;
    cudaStream_t stream_;
};

/* --- small sizes: one block, radix 2, natural order ------------------------------------------- */

struct Small {
    unsigned log2_n;
    const Constants *constants;
    const Fr *roots, *coset, *inverse_coset;
    Fr *a, *b, *c;
};

__device__ void small_transform(const Small &s, Fr *x, bool inverse)
{
    uint32_t n = 1u << s.log2_n;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) {
        uint32_t k = __brev(i) >> (32 - s.log2_n);
        if (i < k) {
            Fr swapped = x[i];
            x[i] = x[k];
            x[k] = swapped;
        }
    }
    for (uint32_t half = 1; half < n; half *= 2) {
        __syncthreads();
        for (uint32_t t = threadIdx.x; t < n / 2; t += blockDim.x) {
            uint32_t k = t & (half - 1), i = 2 * (t - k) + k;
            uint32_t exponent = k * (n / 2 / half);
            Fr odd = x[i + half] * s.roots[inverse ? (n - exponent) & (n - 1) : exponent];
            Fr even = x[i];
            x[i] = even + odd;
            x[i + half] = even - odd;
        }
    }
    __syncthreads();
}

__global__ void __launch_bounds__(SMALL_THREADS) small_quotient(Small s)
{
    uint32_t n = 1u << s.log2_n;
    for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
        s.c[i] = s.a[i] * s.b[i];
    small_transform(s, s.c, true);
    small_transform(s, s.a, true);
    small_transform(s, s.b, true);
    for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) {
        Fr factor = s.coset[i] * s.constants->scale[SCALE_INVERSE_N];
        s.a[i] = s.a[i] * factor;
        s.b[i] = s.b[i] * factor;
    }
    small_transform(s, s.a, false);
    small_transform(s, s.b, false);
    for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
        s.a[i] = s.a[i] * s.b[i];
    small_transform(s, s.a, true);
    for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
        s.a[i] = (s.a[i] * s.inverse_coset[i] - s.c[i]) * s.constants->scale[SCALE_INVERSE_N_D];
}

void build_small(const Tables &tables, unsigned log2_n, cudaStream_t stream)
{
    uint32_t n = 1u << log2_n;
    Constants *c = tables.constants;
    fill_powers<<<(n + 255) / 256, 256, 0, stream>>>(&c->omega, n, tables.small_roots);
    fill_powers<<<(n + 255) / 256, 256, 0, stream>>>(&c->seven, n, tables.small_coset);
    fill_powers<<<(n + 255) / 256, 256, 0, stream>>>(&c->inverse_seven, n,
                                                     tables.small_inverse_coset);
}

void fill(const TableSpec &spec, const Tables &tables, unsigned log2_count, Factor *out,
          cudaStream_t stream)
{
    uint32_t count = 1u << log2_count;
    fill_factors<<<(count + 127) / 128, 128, 0, stream>>>(spec, tables.constants, count, out);
}

void build_box(const Tables &tables, const Box &box, cudaStream_t stream)
{
    const unsigned sides[3] = {box.log2_1, box.log2_2, box.log2_3};
    for (int i = 0; i < 3; i++) {
        if (sides[i] == 0)
            continue;
        uint32_t step = 1u << (box.log2_n - sides[i]), count = 1u << (sides[i] - 3);
        fill_stage<<<(7 * count + 127) / 128, 128, 0, stream>>>(tables.constants, step, count,
                                                                tables.stage_a[i]);
        fill_stage<<<(7 * count / 8 + 127) / 128, 128, 0, stream>>>(tables.constants, 8 * step,
                                                                    count / 8, tables.stage_b[i]);
    }
    for (int forward = 0; forward < 2; forward++) {
        bool inverse = forward == 0;
        fill({box.log2_2, 1u << box.log2_3, 0, 0, inverse, SCALE_NONE}, tables,
             box.log2_1 + box.log2_2, tables.power_2[forward], stream);
        fill({box.log2_3, 1, 0, 0, inverse, SCALE_NONE}, tables, box.log2_1 + box.log2_3,
             tables.power_3[forward], stream);
    }
    uint32_t n1 = 1u << box.log2_1, n12 = n1 << box.log2_2;
    unsigned log2_v = box.log2_2 + box.log2_3, log2_coset = box.log2_1 + box.log2_3;
    fill({box.log2_3, n1, 0, 0, true, SCALE_INVERSE_N}, tables, log2_v, tables.v_inverse, stream);
    fill({box.log2_3, n1, 0, 0, true, SCALE_INVERSE_N_D}, tables, log2_v, tables.v_inverse_d,
         stream);
    fill({box.log2_3, n1, n1, 0, false, SCALE_NONE}, tables, log2_v, tables.v_coset, stream);
    fill({box.log2_3, n1, n1, 0, true, SCALE_INVERSE_N_D}, tables, log2_v, tables.v_inverse_coset,
         stream);
    fill({box.log2_3, 0, 1, n12, false, SCALE_NONE}, tables, log2_coset, tables.coset, stream);
    fill({box.log2_3, 0, 1, n12, true, SCALE_NONE}, tables, log2_coset, tables.inverse_coset,
         stream);
}

} // namespace

extern "C" size_t ntt_table_bytes(unsigned log2_n)
{
    return Tables(make_box(log2_n), nullptr).bytes;
}

extern "C" int ntt_build_tables(unsigned log2_n, void *memory, struct CUstream_st *stream)
{
    Box box = make_box(log2_n);
    Tables tables(box, memory);
    make_constants<<<1, 1, 0, stream>>>(log2_n, tables.constants);
    if (log2_n < LOG2_BOX_MIN)
        build_small(tables, log2_n, stream);
    else
        build_box(tables, box, stream);
    return cudaGetLastError();
}

extern "C" int ntt_quotient_enqueue(unsigned log2_n, const void *memory, void *a_out, void *b_in,
                                    void *c_in, struct CUstream_st *stream)
{
    Box box = make_box(log2_n);
    Tables tables(box, const_cast<void *>(memory));
    Fr *a = static_cast<Fr *>(a_out), *b = static_cast<Fr *>(b_in), *c = static_cast<Fr *>(c_in);
    uint32_t n = 1u << log2_n;
    if (log2_n < LOG2_BOX_MIN) {
        small_quotient<<<1, SMALL_THREADS, 0, stream>>>({log2_n, tables.constants,
                                                         tables.small_roots, tables.small_coset,
                                                         tables.small_inverse_coset, a, b, c});
        return cudaGetLastError();
    }
    Chain chain(box, tables, stream);
    launch_multiply(a, b, c, n, stream);
    chain.to_coefficients(c, tables.v_inverse_d, nullptr);
    chain.to_coefficients(a, tables.v_inverse, tables.coset);
    chain.to_coset_values(a);
    chain.to_coefficients(b, tables.v_inverse, tables.coset);
    chain.to_coset_values(b);
    launch_multiply(a, b, b, n, stream);
    chain.to_quotient(b, c, a);
    return cudaGetLastError();
}
