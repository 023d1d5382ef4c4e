/* Six transforms make the quotient (docs/spec/ntt.md, sections 2 and 6).

   The n elements are seen as a box of n1 × n2 × n3, each side a power of two from 2^6 to 2^9
   (below 2^18 elements n1 = 1). An inverse transform goes from natural order, address
   (x1, x2, x3), to reversed order, address (k1, k2, k3) for coefficient k1 + n1·k2 + n1·n2·k3;
   a forward one goes back. Each is one pass a side, in place. A pass transforms columns of that
   side within a block, by radix 8, and multiplies by what the next pass needs, with v = w^n1 and
   u = w^n3:

   inverse: side 1, then u^-(k1·x2); side 2, then w^-(k1·x3)·v^-(k2·x3); side 3

   forward: side 3, then v^(k2·x3); side 2, then w^(k1·x3)·u^(k1·x2); side 1

   (w^(k1·x3) may wait until side 2 is done, because it does not depend on x2.) So row k of a column
   is multiplied by h^k, with h the same for whole groups of columns, and sometimes by one scale
   for the column. h^k goes into the factors that are there anyway between the stages of a column's
   transform, one digit of k a stage, and costs only 7 products for 8 elements in the last stage;
   the scale makes it 8. A transform takes 11.6 products an element, 4.5 of them with constants.

   An inverse transform of a column is the forward one with the rows read in reversed order. 1/n
   and the coset's powers of 7 are in the tables: 7^k = 7^k1 · 7^(n1·k2) · 7^(n1·n2·k3), the first
   part in the scales, the others in h. */
#include "backend/cuda/device/arena.cuh"
#include "backend/cuda/ntt/ntt.h"
#include "backend/cuda/ntt/ntt_pass.cuh"
#include "backend/cuda/ntt/roots.cuh"

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

/* What a transform back is for: c's coefficients over d; a's and b's times powers of 7, for the
   coset; the quotient's, from values on the coset. */
enum Use { USE_COEFFICIENTS, USE_TO_COSET, USE_FROM_COSET, USE_COUNT };

struct Tables {
    Constants *constants;
    Twist inverse_1, inverse_2[USE_COUNT], inverse_3[USE_COUNT]; /* by side */
    Twist forward_3, forward_2, forward_1;
    Factor4 *inverse_scales[USE_COUNT], *forward_scales; /* of side 2, at [k1][x3] */
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
            if (box.log2_1 > 0) {
                inverse_1 = take_twist(arena, box.log2_1, box.log2_2, box.log2_3);
                forward_1 = take_twist(arena, box.log2_1, 0, 0);
            }
            for (int use = 0; use < USE_COUNT; use++) {
                inverse_2[use] = take_twist(arena, box.log2_2, box.log2_3, 0);
                inverse_3[use] = take_twist(arena, box.log2_3, 0, 0);
                inverse_scales[use] = arena.take<Factor4>(size_t(1) << (box.log2_1 + box.log2_3));
            }
            forward_3 = take_twist(arena, box.log2_3, box.log2_2, box.log2_1);
            forward_2 = take_twist(arena, box.log2_2, box.log2_1, box.log2_3);
            forward_scales = arena.take<Factor4>(size_t(1) << (box.log2_1 + box.log2_3));
        }
        bytes = arena.used();
    }

  private:
    static Twist take_twist(Arena &arena, unsigned log2_rows, unsigned log2_slices, unsigned shift)
    {
        size_t count = size_t(Slice(1 << (log2_rows - LOG2_SIDE_MIN)).size) << log2_slices;
        return {arena.take<uint4>(count), shift, (1u << log2_slices) - 1};
    }
};

__global__ void make_constants(unsigned log2_n, Constants *out)
{
    Constants c;
    c.omega = root_of_unity(log2_n);
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

/* The slices of columns of 2^log2_rows rows with h = w^±(slice·step) · 7^±seven. */
struct TwistSpec {
    unsigned log2_n, log2_rows;
    uint32_t step;
    bool inverse;
    uint32_t seven;
    bool inverse_seven;
};

__global__ void fill_twist(TwistSpec spec, const Constants *constants, uint32_t count, uint4 *out)
{
    uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count)
        return;
    const uint32_t r = 1u << (spec.log2_rows - LOG2_SIDE_MIN);
    const Slice layout(r);
    uint32_t slice = t >> spec.log2_rows, entry = t & ((1u << spec.log2_rows) - 1);
    uint32_t i_count, i, k; /* stage A has 56·r entries, B 7·r, C r */
    uint4 *to = out + size_t(slice) * layout.size;
    if (entry < 56 * r) {
        i_count = 8 * r;
        k = entry / i_count + 1;
        to += (k - 1) * FACTOR_PARTS * i_count;
    } else if (entry < 63 * r) {
        entry -= 56 * r;
        i_count = r;
        k = 8 * (entry / i_count + 1);
        to += layout.stage_b + (k / 8 - 1) * FACTOR_PARTS * i_count;
    } else {
        i_count = 1;
        k = 64 * (entry - 63 * r);
        to += layout.stage_c + k / 64 * FACTOR_PARTS;
    }
    i = entry % i_count;
    uint32_t h = slice * spec.step;
    uint32_t exponent = k * ((i << (spec.log2_n - spec.log2_rows)) + (spec.inverse ? 0 - h : h));
    Fr w = small_power(constants->omega, exponent & ((1u << spec.log2_n) - 1));
    Fr shift = small_power(spec.inverse_seven ? constants->inverse_seven : constants->seven,
                           k * spec.seven);
    union {
        Factor4 factor;
        uint4 parts[FACTOR_PARTS];
    } value;
    value.factor = make_factor<4>(w * shift);
    for (int part = 0; part < FACTOR_PARTS; part++)
        to[part * i_count + i] = value.parts[part];
}

/* scale · w^±(k1·x3) · 7^±k1 (seven: -1, 0, 1) at [k1][x3]. */
struct ScaleSpec {
    Box box;
    bool inverse;
    int seven;
    Scale scale;
};

__global__ void fill_scales(ScaleSpec spec, const Constants *constants, uint32_t count,
                            Factor4 *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    uint32_t k1 = i >> spec.box.log2_3, x3 = i & ((1u << spec.box.log2_3) - 1);
    Fr value = small_power(spec.inverse ? constants->inverse_omega : constants->omega, k1 * x3);
    if (spec.seven != 0)
        value =
            value * small_power(spec.seven < 0 ? constants->inverse_seven : constants->seven, k1);
    out[i] = make_factor<4>(value * constants->scale[spec.scale]);
}

__global__ void fill_powers(const Fr *base, uint32_t count, Fr *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        out[i] = small_power(*base, i);
}

/* --- the quotient ----------------------------------------------------------------------------- */

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

    /* Values in natural order to coefficients in reversed order, times what they are used for. */
    void inverse(Fr *data, Use use)
    {
        inverse_sides_1_and_2(data, use);
        launch_pass(make_pass(data, 3, true, tables_.inverse_3[use]),
                    use == USE_COEFFICIENTS ? AFTER_NOTHING : AFTER_TWIST);
    }

    /* Values on the coset to the quotient's coefficients in natural order; c already over d. */
    void inverse_to_quotient(Fr *data, const Fr *c, Fr *out)
    {
        inverse_sides_1_and_2(data, USE_FROM_COSET);
        Pass pass = make_pass(data, 3, true, tables_.inverse_3[USE_FROM_COSET]);
        pass.other = c;
        pass.out = out;
        launch_pass(pass, AFTER_LAST);
    }

    /* Coefficients in reversed order, times the coset's powers, to values on it; these times
       `other` (NULL: not), to `out`. */
    void forward(Fr *data, const Fr *other, Fr *out)
    {
        After last = other ? AFTER_PRODUCT : AFTER_NOTHING;
        launch_pass(make_pass(data, 3, false, tables_.forward_3), AFTER_TWIST);
        Pass pass = make_pass(data, 2, false, tables_.forward_2);
        pass.scales = tables_.forward_scales;
        if (box_.log2_1 > 0) {
            launch_pass(pass, AFTER_SCALE);
            pass = make_pass(data, 1, false, tables_.forward_1);
        }
        pass.other = other;
        pass.out = out;
        launch_pass(pass, last);
    }

    /* a's and b's values on the domain to their products on the coset, in `out`: a or b. */
    void products(Fr *a, Fr *b, Fr *out)
    {
        inverse(a, USE_TO_COSET);
        forward(a, nullptr, a);
        inverse(b, USE_TO_COSET);
        forward(b, a, out);
    }

  private:
    Pass make_pass(Fr *data, int side, bool reversed, const Twist &twist) const
    {
        Pass pass = {};
        pass.in = pass.out = data;
        pass.box = box_;
        pass.side = side;
        pass.log2_step = side == 1 ? box_.log2_2 + box_.log2_3 : box_.log2_3;
        pass.reversed = reversed;
        pass.twist = twist;
        return pass;
    }

    void inverse_sides_1_and_2(Fr *data, Use use)
    {
        if (box_.log2_1 > 0)
            launch_pass(make_pass(data, 1, true, tables_.inverse_1), AFTER_TWIST);
        Pass pass = make_pass(data, 2, true, tables_.inverse_2[use]);
        pass.scales = tables_.inverse_scales[use];
        launch_pass(pass, AFTER_SCALE);
    }

    void launch_pass(const Pass &pass, After after)
    {
        unsigned log2_rows = pass.side == 1   ? box_.log2_1
                             : pass.side == 2 ? box_.log2_2
                                              : box_.log2_3;
        if (log2_rows == 6)
            ntt_pass_64(pass, after, stream_);
        else if (log2_rows == 7)
            ntt_pass_128(pass, after, stream_);
        else if (log2_rows == 8)
            ntt_pass_256(pass, after, stream_);
        else
            ntt_pass_512(pass, after, stream_);
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

/* Products on the coset, in a. */
__device__ void small_to_products(const Small &s)
{
    uint32_t n = 1u << s.log2_n;
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
}

__global__ void __launch_bounds__(SMALL_THREADS) small_products(Small s)
{
    small_to_products(s);
}

__global__ void __launch_bounds__(SMALL_THREADS) small_quotient(Small s)
{
    uint32_t n = 1u << s.log2_n;
    for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
        s.c[i] = s.a[i] * s.b[i];
    small_transform(s, s.c, true);
    small_to_products(s);
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

void build_twist(const Tables &tables, const TwistSpec &spec, const Twist &twist,
                 cudaStream_t stream)
{
    uint32_t count = (twist.mask + 1) << spec.log2_rows;
    fill_twist<<<(count + 127) / 128, 128, 0, stream>>>(spec, tables.constants, count,
                                                        const_cast<uint4 *>(twist.slices));
}

void build_scales(const Tables &tables, const ScaleSpec &spec, Factor4 *out, cudaStream_t stream)
{
    uint32_t count = 1u << (spec.box.log2_1 + spec.box.log2_3);
    fill_scales<<<(count + 127) / 128, 128, 0, stream>>>(spec, tables.constants, count, out);
}

void build_box(const Tables &tables, const Box &box, cudaStream_t stream)
{
    const unsigned log2_n = box.log2_n, one = box.log2_1, two = box.log2_2, three = box.log2_3;
    const uint32_t n1 = 1u << one, n3 = 1u << three, n12 = n1 << two;
    if (one > 0) {
        build_twist(tables, {log2_n, one, n3, true, 0, false}, tables.inverse_1, stream);
        build_twist(tables, {log2_n, one, 0, false, 0, false}, tables.forward_1, stream);
    }
    const int seven[USE_COUNT] = {0, 1, -1};
    const Scale scale[USE_COUNT] = {SCALE_INVERSE_N_D, SCALE_INVERSE_N, SCALE_INVERSE_N_D};
    for (int use = 0; use < USE_COUNT; use++) {
        bool less = seven[use] < 0;
        uint32_t by_k2 = seven[use] ? n1 : 0, by_k3 = seven[use] ? n12 : 0;
        build_twist(tables, {log2_n, two, n1, true, by_k2, less}, tables.inverse_2[use], stream);
        build_twist(tables, {log2_n, three, 0, false, by_k3, less}, tables.inverse_3[use], stream);
        build_scales(tables, {box, true, seven[use], scale[use]}, tables.inverse_scales[use],
                     stream);
    }
    build_twist(tables, {log2_n, three, n1, false, 0, false}, tables.forward_3, stream);
    build_twist(tables, {log2_n, two, n3, false, 0, false}, tables.forward_2, stream);
    build_scales(tables, {box, false, 0, SCALE_NONE}, tables.forward_scales, stream);
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
    chain.inverse(c, USE_COEFFICIENTS);
    chain.products(a, b, b);
    chain.inverse_to_quotient(b, c, a);
    return cudaGetLastError();
}

extern "C" int ntt_products_enqueue(unsigned log2_n, const void *memory, void *a_out, void *b_in,
                                    struct CUstream_st *stream)
{
    Box box = make_box(log2_n);
    Tables tables(box, const_cast<void *>(memory));
    Fr *a = static_cast<Fr *>(a_out), *b = static_cast<Fr *>(b_in);
    if (log2_n < LOG2_BOX_MIN)
        small_products<<<1, SMALL_THREADS, 0, stream>>>(
            {log2_n, tables.constants, tables.small_roots, tables.small_coset,
             tables.small_inverse_coset, a, b, nullptr});
    else
        Chain(box, tables, stream).products(a, b, a);
    return cudaGetLastError();
}
