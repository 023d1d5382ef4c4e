/* Points of known discrete logarithms and scalars of several kinds, made on the card, so that
   sums of any size can be checked: Σ s_i·(k_i·G) = (Σ s_i·k_i)·G. */
#ifndef TESTS_CUDA_KNOWN_LOGS_CUH
#define TESTS_CUDA_KNOWN_LOGS_CUH

#include "backend/cuda/field/curve.cuh"
#include "backend/cuda/msm/msm.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

extern "C" {
#include "backend/cuda/msm/msm_finish.h"
}

#define CUDA_OK(call)                                                                              \
    do {                                                                                           \
        int error_ = int(call);                                                                    \
        if (error_ != 0) {                                                                         \
            printf("%s:%d: CUDA error %d, %s\n", __FILE__, __LINE__, error_,                       \
                   cudaGetErrorString(cudaError_t(error_)));                                       \
            exit(2);                                                                               \
        }                                                                                          \
    } while (0)

template <class T> struct DeviceArray {
    T *data = nullptr;
    explicit DeviceArray(size_t count)
    {
        CUDA_OK(cudaMalloc(&data, (count ? count : 1) * sizeof(T)));
    }
    explicit DeviceArray(const std::vector<T> &from) : DeviceArray(from.size())
    {
        CUDA_OK(cudaMemcpy(data, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    DeviceArray(const DeviceArray &) = delete;
    ~DeviceArray() { cudaFree(data); }
    std::vector<T> read(size_t count) const
    {
        std::vector<T> out(count);
        CUDA_OK(cudaMemcpy(out.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
        return out;
    }
};

/* A side stream and its events for a job. */
struct Side {
    cudaStream_t stream;
    cudaEvent_t events[4];
    Side()
    {
        CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        for (cudaEvent_t &event : events)
            CUDA_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    }
    ~Side()
    {
        cudaStreamDestroy(stream);
        for (cudaEvent_t event : events)
            cudaEventDestroy(event);
    }
    void lend(msm_job *job) const
    {
        job->side = stream;
        job->planned[0] = events[0];
        job->planned[1] = events[1];
        job->added[0] = events[2];
        job->added[1] = events[3];
    }
};

template <class F> struct Group;
template <> struct Group<Fp> {
    static constexpr msm_group ID = MSM_G1;
    using Point = g1;
    using Coordinates = g1_affine;
    static const g1_affine *generator() { return g1_generator(); }
    static void mul(g1 *out, const g1 *a, const fr *s) { g1_mul(out, a, s); }
    static void from_affine(g1 *out, const g1_affine *a) { g1_from_affine(out, a); }
    static void to_affine(g1_affine *out, const g1 *a) { g1_to_affine(out, a); }
    static void add(g1 *out, const g1 *a, const g1 *b) { g1_add(out, a, b); }
    static void infinity(g1 *out) { g1_set_infinity(out); }
    static bool equal(const g1 *a, const g1 *b) { return g1_equal(a, b); }
    static void finish(g1 *out, const msm_size &size, const g1_affine *sums)
    {
        msm_finish_g1(out, &size, sums);
    }
};
template <> struct Group<Fp2> {
    static constexpr msm_group ID = MSM_G2;
    using Point = g2;
    using Coordinates = g2_affine;
    static const g2_affine *generator() { return g2_generator(); }
    static void mul(g2 *out, const g2 *a, const fr *s) { g2_mul(out, a, s); }
    static void from_affine(g2 *out, const g2_affine *a) { g2_from_affine(out, a); }
    static void to_affine(g2_affine *out, const g2 *a) { g2_to_affine(out, a); }
    static void add(g2 *out, const g2 *a, const g2 *b) { g2_add(out, a, b); }
    static void infinity(g2 *out) { g2_set_infinity(out); }
    static bool equal(const g2 *a, const g2 *b) { return g2_equal(a, b); }
    static void finish(g2 *out, const msm_size &size, const g2_affine *sums)
    {
        msm_finish_g2(out, &size, sums);
    }
};

/* k·G on the host. */
template <class F> typename Group<F>::Point multiple(const fr &k)
{
    typename Group<F>::Point g, out;
    Group<F>::from_affine(&g, Group<F>::generator());
    Group<F>::mul(&out, &g, &k);
    return out;
}

template <class F> Affine<F> device_generator()
{
    static_assert(sizeof(Affine<F>) == sizeof(typename Group<F>::Coordinates), "same layout");
    Affine<F> out;
    memcpy(&out, Group<F>::generator(), sizeof out);
    return out;
}

static inline fr fr_signed(int64_t value)
{
    fr out;
    fr_from_u64(&out, uint64_t(value < 0 ? -value : value));
    if (value < 0)
        fr_neg(&out, &out);
    return out;
}

/* --- points ---------------------------------------------------------------------------------- */

/* slots[i] = logs[i]·G. */
template <class F>
__global__ void points_of_logs(Affine<F> generator, const int32_t *logs, uint32_t n,
                               unsigned char *slots)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int32_t log = logs[i];
    Xyzz<F> sum = Xyzz<F>::infinity();
    if (log != 0)
        sum = Xyzz<F>::from(generator).times(uint32_t(log < 0 ? -log : log));
    Affine<F> point = sum.to_affine();
    point.y = point.y.negated_if(log < 0);
    point.store(slots, i);
}

static constexpr int LOW_BITS = 12;

/* table[i] = (first + i·step)·G. */
template <class F>
__global__ void progression(Affine<F> generator, uint32_t first, uint32_t step, uint32_t n,
                            Affine<F> *table)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        table[i] = Xyzz<F>::from(generator).times(first + i * step).to_affine();
}

template <class F>
__global__ void points_by_table(const Affine<F> *low, const Affine<F> *high, uint32_t n,
                                unsigned char *slots)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Xyzz<F> sum = Xyzz<F>::from(low[i & ((1u << LOW_BITS) - 1)]);
    sum.add(Xyzz<F>::from(high[i >> LOW_BITS]));
    sum.to_affine().store(slots, i);
}

/* slots[i] = (first + i)·G. */
template <class F> void make_points(uint32_t first, uint32_t n, unsigned char *slots)
{
    uint32_t lows = 1u << LOW_BITS, highs = (n >> LOW_BITS) + 1;
    DeviceArray<Affine<F>> low(lows), high(highs);
    Affine<F> generator = device_generator<F>();
    progression<F><<<(lows + 63) / 64, 64>>>(generator, 1, 1, lows, low.data);
    progression<F><<<(highs + 63) / 64, 64>>>(generator, first - 1, lows, highs, high.data);
    points_by_table<F><<<(n + 127) / 128, 128>>>(low.data, high.data, n, slots);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaDeviceSynchronize());
}

/* --- scalars --------------------------------------------------------------------------------- */

enum ScalarKind {
    RANDOM,
    ALL_EQUAL,
    PLUS_MINUS_ONE,
    BITS_99,
    HALF_ZERO,
    SIXTEEN_BITS,
    ZEROS,
    KINDS
};
static const char *const kind_names[] = {"random",    "all equal", "1 or r-1", "99 % bits",
                                         "half zero", "16 bits",   "zeros"};

__device__ inline uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

__device__ inline Fr random_fr(uint64_t seed)
{
    Fr out;
    for (int i = 0; i < 4; i++) {
        uint64_t word = mix(seed * 4 + uint64_t(i));
        out.limb[2 * i] = uint32_t(word);
        out.limb[2 * i + 1] = uint32_t(word >> 32);
    }
    out.limb[7] &= 0x7fffffffu;
    out.reduce_once();
    return out;
}

static __global__ void fill_scalars(int kind, uint64_t seed, uint32_t n, Fr *scalars)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint64_t key = seed << 32 | i;
    uint32_t choice = uint32_t(mix(key ^ 0x5555555500000000u) >> 32);
    Fr value = random_fr(key);
    Fr small = Fr::zero();
    switch (kind) {
    case ALL_EQUAL:
        value = random_fr(seed << 32);
        break;
    case PLUS_MINUS_ONE:
        value = choice & 1 ? Fr::one() : Fr::zero() - Fr::one();
        break;
    case BITS_99:
        if (choice % 100 != 0)
            value = choice & 0x10000 ? Fr::one() : Fr::zero();
        break;
    case HALF_ZERO:
        if (choice & 1)
            value = Fr::zero();
        break;
    case SIXTEEN_BITS:
        small.limb[0] = choice & 0xffff;
        value = small * Fr::r_squared();
        break;
    case ZEROS:
        value = Fr::zero();
        break;
    default:
        break;
    }
    store_element(scalars + i, value);
}

/* partial[thread] = Σ scalars[i]·log(i), the log being logs[i] or first + i. */
static __global__ void dot_logs(const Fr *scalars, const int32_t *logs, uint32_t first, uint32_t n,
                                Fr *partial)
{
    uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    Fr sum = Fr::zero();
    for (uint32_t i = thread; i < n; i += threads) {
        int64_t log = logs ? logs[i] : int64_t(first) + i;
        Fr k = Fr::zero();
        k.limb[0] = uint32_t(log < 0 ? -log : log);
        k = k * Fr::r_squared();
        sum = sum + load_element<Fr>(scalars + i) * (log < 0 ? Fr::zero() - k : k);
    }
    store_element(partial + thread, sum);
}

/* Σ scalars[i]·log(i) modulo r. */
static inline fr expected_log(const Fr *scalars, const int32_t *logs, uint32_t first, uint32_t n)
{
    constexpr uint32_t THREADS = 256 * 128;
    DeviceArray<Fr> partial(THREADS);
    dot_logs<<<256, 128>>>(scalars, logs, first, n, partial.data);
    CUDA_OK(cudaGetLastError());
    std::vector<Fr> host = partial.read(THREADS);
    fr sum = fr_zero;
    for (const Fr &term : host) {
        fr value;
        memcpy(&value, &term, sizeof value);
        fr_add(&sum, &sum, &value);
    }
    return sum;
}

/* --- jobs ------------------------------------------------------------------------------------ */

/* A set's slots: the first n are to be filled, then completed. */
template <class F> struct PointSet {
    msm_size size;
    DeviceArray<unsigned char> slots;

    explicit PointSet(const msm_size &job_size)
        : size(job_size), slots(msm_slots(&job_size) * Slot<F>::BYTES)
    {
    }
    void complete() const
    {
        if (!size.tables)
            return;
        size_t scratch_bytes = msm_scratch_bytes(&size);
        DeviceArray<unsigned char> scratch(scratch_bytes);
        CUDA_OK(msm_build_tables(&size, Group<F>::ID, slots.data, scratch.data, scratch_bytes,
                                 nullptr));
        CUDA_OK(cudaDeviceSynchronize());
    }
};

/* A job with memory of its own. points: those of sets in G1, then those in G2. */
class Job
{
  public:
    Job(const msm_size &size, const std::vector<const void *> &points, const Fr *scalars,
        const Side *side)
        : Job(size, points)
    {
        job_.scalars = scalars;
        if (side)
            side->lend(&job_);
    }
    /* size says nothing of bitmaps. */
    Job(const msm_size &size, const std::vector<const void *> &points,
        const std::vector<const uint64_t *> &bitmaps)
        : Job(with_bitmaps(size, bitmaps.size()), points)
    {
        for (size_t i = 0; i < bitmaps.size(); i++)
            job_.bitmaps[i] = bitmaps[i];
    }
    void enqueue() const { CUDA_OK(msm_enqueue(&job_, nullptr)); }
    size_t scratch_bytes() const { return job_.scratch_bytes; }

    /* The result of set i, which is in group F. */
    template <class F> typename Group<F>::Point result(size_t i) const
    {
        using Coordinates = typename Group<F>::Coordinates;
        std::vector<Coordinates> sums(msm_sum_count(&job_.size));
        CUDA_OK(cudaMemcpy(sums.data(), job_.sets[i].sums, sums.size() * sizeof(Coordinates),
                           cudaMemcpyDeviceToHost));
        typename Group<F>::Point out;
        Group<F>::finish(&out, job_.size, sums.data());
        return out;
    }

    /* The sum of a bitmap over set i. */
    template <class F> typename Group<F>::Point bitmap_result(size_t i, unsigned bitmap) const
    {
        using Coordinates = typename Group<F>::Coordinates;
        Coordinates sum;
        typename Group<F>::Point out;
        CUDA_OK(cudaMemcpy(&sum,
                           static_cast<const Coordinates *>(job_.sets[i].sums) +
                               msm_bitmap_sum(&job_.size, bitmap),
                           sizeof sum, cudaMemcpyDeviceToHost));
        Group<F>::from_affine(&out, &sum);
        return out;
    }

  private:
    Job(const msm_size &size, const std::vector<const void *> &points)
        : scratch_(msm_scratch_bytes(&size))
    {
        job_.size = size;
        job_.scratch = scratch_.data;
        job_.scratch_bytes = msm_scratch_bytes(&size);
        for (size_t i = 0; i < points.size(); i++) {
            sums_.emplace_back(new DeviceArray<g2_affine>(msm_sum_count(&size)));
            job_.sets[i] = {points[i], sums_[i]->data};
        }
        CUDA_OK(
            cudaMemset(scratch_.data, 0xa5, job_.scratch_bytes)); /* what is not written shows */
    }
    static msm_size with_bitmaps(msm_size size, size_t bitmaps)
    {
        size.bitmaps = unsigned(bitmaps);
        return size;
    }

    msm_job job_ = {};
    DeviceArray<unsigned char> scratch_;
    std::vector<std::unique_ptr<DeviceArray<g2_affine>>> sums_; /* room for either group */
};

#endif
