/* Points are multiplied by twiddle factors by way of G1's endomorphism: with
   x = -0xd201000000010000 and l = x² - 1, l² + l + 1 = r, the point (beta·x, y) is l times (x, y)
   (Gallant, Lambert, Vanstone: "Faster point multiplication on elliptic curves with efficient
   endomorphisms", CRYPTO 2001). A scalar is k0 + k1·l with k0 and k1 of 128 bits, an element of
   Z[l], whose six units ±1, ±l, ±l² take a point to one with the same y, up to its sign, and x
   times a third root of unity. So a scalar's digits in base 2 are 0 and units. What is left after a
   digit can be divided by 2; of the two units that do, the one after which it can be divided by 4
   is taken, if either does: 77 of 129 digits are not 0. */
#include "backend/cuda/device/arena.cuh"
#include "backend/cuda/field/curve.cuh"
#include "backend/cuda/ntt/point_ntt.h"
#include "backend/cuda/ntt/roots.cuh"

namespace
{

using Point = Affine<Fp>;
using Sum = Xyzz<Fp>;

constexpr int THREADS = 128;
constexpr int PER_INVERSION = 16; /* denominators that share one */

/* A scalar: its digits, each 0 or the number of a unit plus 1, four bits each, the lowest first. */
constexpr int DIGITS = 136;
struct Digits {
    uint32_t words[DIGITS / 8];

    __device__ int at(int i) const { return words[i / 8] >> (4 * (i % 8)) & 15; }
};

/* Units 2·i and 2·i + 1 are l^i and -l^i. */
enum Unit { PLUS_1, MINUS_1, PLUS_L, MINUS_L, PLUS_L2, MINUS_L2 };

struct Scratch {
    Digits *factors;
    Fp *zz, *zzz; /* of what is not affine yet */
    size_t bytes;

    explicit Scratch(void *base)
    {
        Arena arena(base);
        factors = arena.take<Digits>(POINT_NTT_SLICE);
        zz = arena.take<Fp>(POINT_NTT_SLICE);
        zzz = arena.take<Fp>(POINT_NTT_SLICE);
        bytes = arena.used();
    }
};

unsigned blocks_of(size_t threads)
{
    return unsigned((threads + THREADS - 1) / THREADS);
}

__device__ uint32_t reverse_bits(uint32_t value, unsigned n_bits)
{
    return n_bits == 0 ? 0 : __brev(value) >> (32 - n_bits);
}

/* --- Scalars ---------------------------------------------------------------------------------- */

/* out = a·b, of n_a and n_b words. */
__device__ void multiply_words(uint32_t *out, const uint32_t *a, int n_a, const uint32_t *b,
                               int n_b)
{
    for (int i = 0; i < n_a + n_b; i++)
        out[i] = 0;
    for (int i = 0; i < n_a; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < n_b; j++) {
            carry += uint64_t(a[i]) * b[j] + out[i + j];
            out[i + j] = uint32_t(carry);
            carry >>= 32;
        }
        out[i + n_b] = uint32_t(carry);
    }
}

/* k -= small, in two's complement. */
__device__ void subtract_small(uint32_t k[5], int small)
{
    int64_t carry = -small;
    for (int i = 0; i < 5; i++) {
        carry += k[i];
        k[i] = uint32_t(carry);
        carry >>= 32;
    }
}

/* a -= b over n words; true if it was smaller, and a has wrapped around. */
__device__ bool subtract_words(uint32_t *a, const uint32_t *b, int n)
{
    int64_t carry = 0;
    for (int i = 0; i < n; i++) {
        carry += int64_t(a[i]) - b[i];
        a[i] = uint32_t(carry);
        carry >>= 32;
    }
    return carry < 0;
}

/* scalar = k[0] + k[1]·l, five words each. Division by l: the product with floor(2^256 / l) gives
   the quotient or one less, for every scalar below r. */
__device__ void divide(const Fr &scalar, uint32_t k[2][5])
{
    const uint32_t l[5] = {0xffffffffu, 0x00000000u, 0x0001a402u, 0xac45a401u, 0};
    const uint32_t inverse[5] = {0xf6cfee30u, 0x63f6e522u, 0xe01faaddu, 0x7c6becf1u, 1};
    Fr one = Fr::zero();
    one.limb[0] = 1;
    const Fr plain = scalar * one;
    uint32_t wide[13], product[10], less[5];
    multiply_words(wide, plain.limb, 8, inverse, 5);
    for (int i = 0; i < 5; i++)
        k[1][i] = wide[8 + i];
    multiply_words(product, k[1], 5, l, 5);
    for (int i = 0; i < 5; i++)
        k[0][i] = plain.limb[i];
    subtract_words(k[0], product, 5);
    for (int i = 0; i < 5; i++)
        less[i] = k[0][i];
    if (subtract_words(less, l, 5))
        return;
    for (int i = 0; i < 5; i++)
        k[0][i] = less[i];
    subtract_small(k[1], -1);
}

/* For numbers k[0] + k[1]·l that 2 does not divide, modulo 4: l² is -1 - l. */
__device__ Unit choose_unit(uint32_t k0, uint32_t k1)
{
    if (k1 % 2 == 0)
        return k0 % 4 == 1 ? PLUS_1 : MINUS_1;
    if (k0 % 2 == 0)
        return k1 % 4 == 1 ? PLUS_L : MINUS_L;
    return k0 % 4 == 3 ? PLUS_L2 : MINUS_L2;
}

__device__ void halve(uint32_t k[5])
{
    for (int i = 0; i < 5; i++)
        k[i] = i < 4 ? k[i] >> 1 | k[i + 1] << 31 : uint32_t(int32_t(k[i]) >> 1);
}

__device__ Digits make_digits(const Fr &scalar)
{
    const int units[6][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {-1, -1}, {1, 1}};
    uint32_t k[2][5];
    Digits out = {};
    divide(scalar, k);
    for (int i = 0; i < DIGITS; i++) {
        if ((k[0][0] | k[1][0]) % 2 != 0) {
            const Unit unit = choose_unit(k[0][0], k[1][0]);
            subtract_small(k[0], units[unit][0]);
            subtract_small(k[1], units[unit][1]);
            out.words[i / 8] |= uint32_t(unit + 1) << (4 * (i % 8));
        }
        halve(k[0]);
        halve(k[1]);
    }
    return out;
}

/* The factors of blocks first … first + count - 1 of a step: z^(half a block) for the z_j whose
   values end up in the first half of the block. */
struct FactorSpec {
    unsigned log2_n, step;
    bool coset;
    uint32_t first, count;
};

__global__ void make_factors(FactorSpec spec, Digits *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= spec.count)
        return;
    const uint32_t apart = 1u << (spec.log2_n - spec.step); /* half a block */
    const uint32_t exponent = reverse_bits(spec.first + i, spec.step - 1) * apart;
    Fr factor =
        small_power(root_of_unity(spec.log2_n), (0u - exponent) & ((1u << spec.log2_n) - 1));
    if (spec.coset)
        factor = factor * small_power(generator().inverse(), apart);
    out[i] = make_digits(factor);
}

/* 1/(n·d) */
__global__ void make_scale(unsigned log2_n, Digits *out)
{
    const Fr n = small_power(Fr::one().doubled(), log2_n);
    const Fr d = small_power(generator(), 1u << log2_n) - Fr::one();
    *out = make_digits((n * d).inverse());
}

/* --- Points ----------------------------------------------------------------------------------- */

__device__ Fp beta()
{
    return {0x8671f071u, 0xcd03c9e4u, 0x1fcda5d2u, 0x5dab2246u, 0xd3851b95u, 0x587042afu,
            0x01bacb9eu, 0x8eb60ebeu, 0x83d050d2u, 0x03f97d6eu, 0x54638741u, 0x18f02065u};
}

/* x = X/Z², y = Y/Z³; infinity: Z = 0. Doubling is cheaper than in XYZZ, and here it is most of the
   work. */
struct Jacobian {
    Fp x, y, z;

    /* dbl-2009-l; right for infinity, and no point has order 2. */
    __device__ void double_it()
    {
        const Fp a = x.squared(), b = y.squared(), c = b.squared();
        const Fp d = ((x + b).squared() - a - c).doubled();
        const Fp e = a.doubled() + a;
        z = (y * z).doubled();
        x = e.squared() - d.doubled();
        y = e * (d - x) - c.doubled().doubled().doubled();
    }

    /* Complete. */
    __device__ void add(const Point &other)
    {
        if (z.is_zero()) {
            *this = {other.x, other.y, Fp::one()};
            return;
        }
        const Fp zz = z.squared(), h = other.x * zz - x, r = other.y * (z * zz) - y;
        if (h.is_zero()) {
            if (r.is_zero())
                double_it();
            else
                z = Fp::zero();
            return;
        }
        const Fp hh = h.squared(), hhh = h * hh, v = x * hh;
        z = z * h;
        x = r.squared() - hhh - v.doubled();
        y = r * (v - x) - y * hhh;
    }
};

__device__ Sum multiply(const Point &point, const Digits &scalar)
{
    if (point.is_infinity())
        return Sum::infinity();
    const Fp x1 = point.x * beta(), x2 = Fp::zero() - point.x - x1;
    Jacobian sum = {Fp::one(), Fp::one(), Fp::zero()};
#pragma unroll 1
    for (int i = DIGITS - 1; i >= 0; i--) {
        sum.double_it();
        const int digit = scalar.at(i);
        if (digit == 0)
            continue;
        const int unit = digit - 1;
        sum.add({unit < PLUS_L ? point.x : unit < PLUS_L2 ? x1 : x2, point.y.negated_if(unit & 1)});
    }
    const Fp zz = sum.z.squared();
    return {sum.x, sum.y, zz, zz * sum.z};
}

/* a + t and a - t over the same denominators. */
struct SumAndDifference {
    Fp x[2], y[2], zz, zzz;
};

__device__ SumAndDifference add_and_subtract(const Point &a, const Sum &t)
{
    SumAndDifference out;
    if (t.is_infinity() || a.is_infinity()) {
        const bool is_a = t.is_infinity();
        out.x[0] = out.x[1] = is_a ? a.x : t.x;
        out.y[0] = is_a ? a.y : t.y;
        out.y[1] = is_a ? a.y : t.y.negated_if(true);
        out.zz = is_a ? Fp::one() : t.zz;
        out.zzz = is_a ? Fp::one() : t.zzz;
        return out;
    }
    const Fp p = a.x * t.zz - t.x, s = a.y * t.zzz;
    const Fp r[2] = {s - t.y, s + t.y};
    if (p.is_zero()) { /* one of them is infinity, the other ±2t */
        const Sum twice = t.doubled();
        const int other = r[0].is_zero() ? 0 : 1;
        out.x[other] = twice.x;
        out.y[other] = twice.y.negated_if(other == 1);
        out.x[1 - other] = out.y[1 - other] = Fp::zero();
        out.zz = twice.zz;
        out.zzz = twice.zzz;
        return out;
    }
    const Fp pp = p.squared(), ppp = p * pp, q = t.x * pp, yppp = t.y * ppp;
    for (int i = 0; i < 2; i++) {
        out.x[i] = r[i].squared() - ppp - q.doubled();
        const Fp rest = r[i] * (q - out.x[i]);
        out.y[i] = i == 0 ? rest - yppp : rest + yppp;
    }
    out.zz = t.zz * pp;
    out.zzz = t.zzz * ppp;
    return out;
}

/* Butterfly i of a step: two slots. */
struct Pairs {
    unsigned log2_half;

    static constexpr int POINTS = 2;
    __device__ size_t slot(uint32_t i, int which) const
    {
        const uint32_t block = i >> log2_half, within = i & ((1u << log2_half) - 1);
        return (size_t(block) << (log2_half + 1)) + within + (size_t(which) << log2_half);
    }
};

struct Singles {
    static constexpr int POINTS = 1;
    __device__ size_t slot(uint32_t i, int) const { return i; }
};

__global__ void __launch_bounds__(THREADS)
    butterflies(Pairs pairs, uint32_t first, uint32_t count, const Digits *factors,
                unsigned char *slots, Fp *zz, Fp *zzz)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const size_t low = pairs.slot(first + i, 0), high = pairs.slot(first + i, 1);
    const Digits &factor = factors[((first + i) >> pairs.log2_half) - (first >> pairs.log2_half)];
    const Sum term = multiply(Point::load(slots, high), factor);
    const SumAndDifference out = add_and_subtract(Point::load(slots, low), term);
    Point{out.x[0], out.y[0]}.store(slots, low);
    Point{out.x[1], out.y[1]}.store(slots, high);
    zz[i] = out.zz;
    zzz[i] = out.zzz;
}

__device__ void keep(const Sum &sum, unsigned char *slots, size_t slot, Fp *zz, Fp *zzz)
{
    const bool none = sum.is_infinity();
    Point{none ? Fp::zero() : sum.x, sum.y}.store(slots, slot);
    *zz = none ? Fp::one() : sum.zz;
    *zzz = none ? Fp::one() : sum.zzz;
}

__global__ void __launch_bounds__(THREADS)
    scale(const Digits *factor, uint32_t first, uint32_t count, unsigned char *slots, Fp *zz,
          Fp *zzz)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        keep(multiply(Point::load(slots, first + i), *factor), slots, first + i, &zz[i], &zzz[i]);
}

/* What was kept becomes affine: x·(ZZ/ZZZ)² and y/ZZZ. Infinity stays, its x is 0. */
template <class Where>
__global__ void __launch_bounds__(THREADS)
    make_affine(Where where, uint32_t first, uint32_t count, unsigned char *slots, const Fp *zz,
                const Fp *zzz)
{
    const uint32_t stride = gridDim.x * blockDim.x;
    const uint32_t begin = blockIdx.x * blockDim.x + threadIdx.x;
    Fp before[PER_INVERSION]; /* products of the denominators before each */
    Fp product = Fp::one();
    for (uint32_t k = 0, i = begin; k < PER_INVERSION && i < count; k++, i += stride) {
        before[k] = product;
        product = product * zzz[i];
    }
    Fp inverse = product.inverse();
    const uint32_t n = begin < count ? (count - begin + stride - 1) / stride : 0;
    for (uint32_t k = n; k-- > 0;) {
        const uint32_t i = begin + k * stride;
        const Fp own = inverse * before[k], z = own * zz[i], factor = z.squared();
        inverse = inverse * zzz[i];
        for (int which = 0; which < Where::POINTS; which++) {
            const size_t slot = where.slot(first + i, which);
            Point point = Point::load(slots, slot);
            point = {point.x * factor, point.y * own};
            point.store(slots, slot);
        }
    }
}

template <class Where>
void launch_make_affine(Where where, uint32_t first, uint32_t count, unsigned char *slots,
                        const Scratch &scratch, cudaStream_t stream)
{
    const unsigned blocks = blocks_of((count + PER_INVERSION - 1) / PER_INVERSION);
    make_affine<<<blocks, THREADS, 0, stream>>>(where, first, count, slots, scratch.zz,
                                                scratch.zzz);
}

/* --- Columns ---------------------------------------------------------------------------------- */

__device__ Sum times_factor(const Point &point, const point_factor &factor)
{
    Sum sum = Sum::infinity();
    for (int bit = int(factor.n_bits) - 1; bit >= 0; bit--) {
        sum = sum.doubled();
        if (factor.size[bit / 32] >> (bit % 32) & 1)
            sum.add(point);
    }
    return sum;
}

__device__ void subtract_entry(const point_columns &columns, uint32_t entry, Sum *sum)
{
    const point_factor &factor = columns.factors[columns.coeff[entry]];
    const uint32_t at = reverse_bits(columns.row[entry], columns.log2_n);
    Point point = Point::load(static_cast<const unsigned char *>(columns.points), at);
    point.y = point.y.negated_if(!factor.negative);
    if (factor.n_bits == 1)
        sum->add(point);
    else
        sum->add(times_factor(point, factor));
}

/* A thread takes a column. */
__global__ void __launch_bounds__(THREADS)
    subtract_columns(point_columns columns, unsigned char *slots, Fp *zz, Fp *zzz)
{
    const uint32_t v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= columns.n)
        return;
    Sum sum = Sum::from(Point::load(slots, v));
    for (uint32_t e = columns.start[v]; e < columns.start[v + 1]; e++)
        subtract_entry(columns, e - columns.start[0], &sum);
    keep(sum, slots, v, &zz[v], &zzz[v]);
}

/* A block takes a column. */
__global__ void __launch_bounds__(THREADS)
    subtract_dense_columns(point_columns columns, unsigned char *slots, Fp *zz, Fp *zzz)
{
    __shared__ Sum parts[THREADS];
    const uint32_t v = blockIdx.x;
    Sum sum = Sum::infinity();
    for (uint32_t e = columns.start[v] + threadIdx.x; e < columns.start[v + 1]; e += THREADS)
        subtract_entry(columns, e - columns.start[0], &sum);
    parts[threadIdx.x] = sum;
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            sum.add(parts[threadIdx.x + half]);
            parts[threadIdx.x] = sum;
        }
    }
    if (threadIdx.x > 0)
        return;
    sum.add(Point::load(slots, v));
    keep(sum, slots, v, &zz[v], &zzz[v]);
}

/* --- Bytes ------------------------------------------------------------------------------------ */

__device__ void write_coordinate(const Fp &value, uint4 *out)
{
    Fp one = Fp::zero();
    one.limb[0] = 1;
    const Fp plain = value * one;
    uint32_t words[12];
#pragma unroll
    for (int i = 0; i < 12; i++)
        words[11 - i] = __byte_perm(plain.limb[i], 0, 0x0123);
#pragma unroll
    for (int i = 0; i < 3; i++)
        out[i] = make_uint4(words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]);
}

__global__ void encode(const unsigned char *slots, uint32_t first, uint32_t n, unsigned log2_n,
                       uint4 *bytes)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const uint32_t at = log2_n > 0 ? reverse_bits(first + i, log2_n) : first + i;
    const Point point = Point::load(slots, at);
    uint4 *to = bytes + size_t(i) * 6;
    if (point.is_infinity()) {
        for (int k = 0; k < 6; k++)
            to[k] = make_uint4(k == 0 ? 0x40 : 0, 0, 0, 0);
        return;
    }
    write_coordinate(point.x, to);
    write_coordinate(point.y, to + 3);
}

} // namespace

extern "C" size_t point_ntt_scratch_bytes(void)
{
    return Scratch(nullptr).bytes;
}

static void scale_all(unsigned log2_n, unsigned char *slots, const Scratch &scratch,
                      cudaStream_t stream)
{
    const uint32_t n = 1u << log2_n;
    make_scale<<<1, 1, 0, stream>>>(log2_n, scratch.factors);
    for (uint32_t first = 0; first < n; first += POINT_NTT_SLICE) {
        const uint32_t count = n < POINT_NTT_SLICE ? n : POINT_NTT_SLICE;
        scale<<<blocks_of(count), THREADS, 0, stream>>>(scratch.factors, first, count, slots,
                                                        scratch.zz, scratch.zzz);
        launch_make_affine(Singles{}, first, count, slots, scratch, stream);
    }
}

extern "C" int point_ntt_step(unsigned log2_n, bool coset, unsigned step, void *slots_in_out,
                              void *memory, struct CUstream_st *stream)
{
    const Scratch scratch(memory);
    auto slots = static_cast<unsigned char *>(slots_in_out);
    if (step == 0) {
        scale_all(log2_n, slots, scratch, stream);
        return cudaGetLastError();
    }
    const uint32_t n_pairs = 1u << (log2_n - 1);
    const Pairs pairs = {log2_n - step};
    for (uint32_t first = 0; first < n_pairs; first += POINT_NTT_SLICE) {
        const uint32_t count = n_pairs < POINT_NTT_SLICE ? n_pairs : POINT_NTT_SLICE;
        const uint32_t first_block = first >> pairs.log2_half;
        const uint32_t n_blocks = ((first + count - 1) >> pairs.log2_half) - first_block + 1;
        make_factors<<<blocks_of(n_blocks), THREADS, 0, stream>>>(
            {log2_n, step, coset, first_block, n_blocks}, scratch.factors);
        butterflies<<<blocks_of(count), THREADS, 0, stream>>>(pairs, first, count, scratch.factors,
                                                              slots, scratch.zz, scratch.zzz);
        launch_make_affine(pairs, first, count, slots, scratch, stream);
    }
    return cudaGetLastError();
}

extern "C" int point_columns_subtract(const struct point_columns *columns, void *slots_in_out,
                                      void *memory, struct CUstream_st *stream)
{
    const Scratch scratch(memory);
    auto slots = static_cast<unsigned char *>(slots_in_out);
    if (columns->n == 0)
        return cudaSuccess;
    if (columns->are_dense)
        subtract_dense_columns<<<columns->n, THREADS, 0, stream>>>(*columns, slots, scratch.zz,
                                                                   scratch.zzz);
    else
        subtract_columns<<<blocks_of(columns->n), THREADS, 0, stream>>>(*columns, slots, scratch.zz,
                                                                        scratch.zzz);
    launch_make_affine(Singles{}, 0, columns->n, slots, scratch, stream);
    return cudaGetLastError();
}

extern "C" int point_encode(const void *slots, uint32_t first, uint32_t n, unsigned log2_n,
                            void *bytes, struct CUstream_st *stream)
{
    if (n > 0)
        encode<<<blocks_of(n), THREADS, 0, stream>>>(static_cast<const unsigned char *>(slots),
                                                     first, n, log2_n, static_cast<uint4 *>(bytes));
    return cudaGetLastError();
}
