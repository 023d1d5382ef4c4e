/* Times of multi-scalar multiplications on the card, every result checked by known discrete
   logarithms. One JSON object a line.
       bench_msm h MIN MAX      Σ of 2^MIN … 2^MAX random scalars (the H query)
       bench_msm kinds LOG2     the same size with skewed scalars
       bench_msm tails          the full-size scalars of a 32 GiB partition, one set of points at a
                                time and sets with the same scalars together, with and without
                                tables
       bench_msm tail N G1_SETS G2_SETS TABLES    one such job, once; for a profiler
       bench_msm field          products a second */
#include "timer.cuh"

static constexpr uint32_t FIRST = 1000003;
static int wrong;

static msm_size plain_size(uint32_t n)
{
    msm_size size = {};
    size.n = n;
    size.g1_sets = 1;
    return size;
}

/* A job whose sets all have points (FIRST + i)·G. */
static void time_msm(const char *name, const msm_size &size,
                     const std::vector<const void *> &points, int kind, int runs,
                     bool with_side = true)
{
    static const Side side;
    DeviceArray<Fr> scalars(size.n);
    fill_scalars<<<(size.n + 255) / 256, 256>>>(kind, 3, size.n, scalars.data);
    Job job(size, points, scalars.data, with_side ? &side : nullptr);
    fr log = expected_log(scalars.data, nullptr, FIRST, size.n);
    g1 expected_g1 = multiple<Fp>(log);
    g2 expected_g2 = multiple<Fp2>(log);
    Timer timer;
    std::vector<float> times;
    bool right = true;
    for (int run = -1; run < runs; run++) { /* the first one is to warm up */
        timer.start();
        job.enqueue();
        float ms = timer.stop_ms();
        if (run >= 0)
            times.push_back(ms);
        for (size_t i = 0; i < points.size(); i++) {
            if (i < size.g1_sets) {
                g1 got = job.result<Fp>(i);
                right = right && g1_equal(&got, &expected_g1);
            } else {
                g2 got = job.result<Fp2>(i);
                right = right && g2_equal(&got, &expected_g2);
            }
        }
    }
    wrong += !right;
    printf("{\"bench\":\"%s\",\"g1_sets\":%u,\"g2_sets\":%u,\"n\":%u,\"scalars\":\"%s\","
           "\"tables\":%d,\"ms\":%.3f,\"best_ms\":%.3f,\"streams\":%d,\"slots\":%zu,\"sums\":%u,"
           "\"scratch_gb\":%.2f,\"right\":%s}\n",
           name, size.g1_sets, size.g2_sets, size.n, kind_names[kind], size.tables, median(times),
           double(*std::min_element(times.begin(), times.end())), with_side ? 2 : 1,
           msm_slots(&size), msm_sum_count(&size), double(job.scratch_bytes()) * 1e-9,
           right ? "true" : "false");
    fflush(stdout);
}

static void bench_h(int log2_min, int log2_max)
{
    DeviceArray<unsigned char> slots((size_t(1) << log2_max) * Slot<Fp>::BYTES);
    make_points<Fp>(FIRST, 1u << log2_max, slots.data);
    for (int log2 = log2_min; log2 <= log2_max; log2++) {
        for (int with_side = 0; with_side < 2; with_side++)
            time_msm("msm_h", plain_size((1u << log2) - (log2 > 20)), {slots.data}, RANDOM, 3,
                     with_side == 1);
    }
}

static void bench_kinds(int log2)
{
    DeviceArray<unsigned char> slots((size_t(1) << log2) * Slot<Fp>::BYTES);
    make_points<Fp>(FIRST, 1u << log2, slots.data);
    for (int kind = 0; kind < KINDS; kind++)
        time_msm("msm_kinds", plain_size(1u << log2), {slots.data}, kind, 1);
}

template <class F>
std::vector<std::unique_ptr<PointSet<F>>> tail_sets(const msm_size &size, unsigned count)
{
    std::vector<std::unique_ptr<PointSet<F>>> sets;
    for (unsigned i = 0; i < count; i++) {
        sets.emplace_back(new PointSet<F>(size));
        make_points<F>(FIRST, size.n, sets[i]->slots.data);
        Timer timer;
        timer.start();
        sets[i]->complete();
        float ms = timer.stop_ms();
        if (size.tables && i == 0)
            printf("{\"bench\":\"tables\",\"group\":\"%s\",\"n\":%u,\"gb\":%.2f,\"ms\":%.1f}\n",
                   sizeof(F) > 48 ? "G2" : "G1", size.n,
                   double(msm_slots(&size) * Slot<F>::BYTES) * 1e-9, double(ms));
    }
    return sets;
}

static void bench_tail(bool tables, uint32_t n, unsigned g1_sets, unsigned g2_sets, int kind,
                       int runs = 5)
{
    msm_size size = plain_size(n);
    size.tables = tables;
    size.g1_sets = g1_sets;
    size.g2_sets = g2_sets;
    auto in_g1 = tail_sets<Fp>(size, g1_sets);
    auto in_g2 = tail_sets<Fp2>(size, g2_sets);
    std::vector<const void *> points;
    for (const auto &set : in_g1)
        points.push_back(set->slots.data);
    for (const auto &set : in_g2)
        points.push_back(set->slots.data);
    time_msm("tail", size, points, kind, runs, false);
}

/* L and A have the same scalars, and so have B in both groups. */
static void bench_tails()
{
    constexpr uint32_t N_LA = 2600000, N_B = 660000;
    for (int tables = 0; tables < 2; tables++) {
        bench_tail(tables, N_LA, 1, 0, RANDOM);
        bench_tail(tables, N_LA, 2, 0, RANDOM);
        bench_tail(tables, N_B, 1, 0, RANDOM);
        bench_tail(tables, N_B, 0, 1, RANDOM);
        bench_tail(tables, N_B, 1, 1, RANDOM);
    }
    for (int kind = RANDOM + 1; kind < KINDS; kind++)
        bench_tail(true, N_B, 1, 1, kind);
}

/* Two chains of products a thread. */
template <class F> __global__ void __launch_bounds__(256) multiply(F *values, int turns)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    F a = values[2 * i], b = values[2 * i + 1];
#pragma unroll 1
    for (int turn = 0; turn < turns; turn++) {
        a = a * b;
        b = b * a;
    }
    values[2 * i] = a;
    values[2 * i + 1] = b;
}

template <class F> __global__ void __launch_bounds__(128) invert(F *values, int turns)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    F a = values[i];
#pragma unroll 1
    for (int turn = 0; turn < turns; turn++)
        a = (a + F::one()).inverse();
    values[i] = a;
}

template <class F> void bench_field(const char *name)
{
    constexpr int THREADS = 132 * 8 * 256, TURNS = 2000;
    DeviceArray<Fr> seeds(size_t(THREADS) * 4);
    fill_scalars<<<THREADS * 4 / 256, 256>>>(RANDOM, 1, THREADS * 4, seeds.data);
    Timer timer;
    F *values = reinterpret_cast<F *>(seeds.data);
    multiply<F><<<THREADS / 256, 256>>>(values, 10);
    timer.start();
    multiply<F><<<THREADS / 256, 256>>>(values, TURNS);
    float ms = timer.stop_ms();
    invert<F><<<132, 128>>>(values, 1);
    timer.start();
    invert<F><<<132, 128>>>(values, 10);
    printf("{\"bench\":\"field\",\"field\":\"%s\",\"g_products_s\":%.2f,\"inverse_us\":%.1f}\n",
           name, double(THREADS) * 2 * TURNS / double(ms) * 1e-6, double(timer.stop_ms()) * 100);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int low = argc > 2 ? atoi(argv[2]) : 20, high = argc > 3 ? atoi(argv[3]) : low;
    CUDA_OK(msm_prepare());
    if (strcmp(what, "h") == 0)
        bench_h(low, high);
    if (strcmp(what, "kinds") == 0)
        bench_kinds(low);
    if (strcmp(what, "tails") == 0)
        bench_tails();
    if (strcmp(what, "tail") == 0 && argc == 6)
        bench_tail(atoi(argv[5]), uint32_t(low), unsigned(high), unsigned(atoi(argv[4])), RANDOM,
                   1);
    if (strcmp(what, "field") == 0) {
        bench_field<Fp>("Fp");
        bench_field<Fr>("Fr");
    }
    return wrong != 0;
}
