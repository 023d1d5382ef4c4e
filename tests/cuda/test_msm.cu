/* Fields, curves and multi-scalar multiplications on the card against the CPU and against known
   discrete logarithms. Prints one line a failure; exits with 1 if there was any, with
   77 without a GPU. */
#include "expect.cuh"

#include "backend/cuda/points/points.h"

#include <random>

static std::mt19937_64 generator_of_tests(20261130);

/* --- fields ---------------------------------------------------------------------------------- */

template <class F> struct FieldResults {
    F product, square, sum, difference, inverse, negated;
};

template <class F>
__global__ void field_operations(const F *a, const F *b, uint32_t n, FieldResults<F> *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = {a[i] * b[i], a[i].squared(), a[i] + b[i],
                  a[i] - b[i], a[i].inverse(), a[i].negated_if(true)};
}

struct HostFr {
    using Value = blst_fr;
    static FieldResults<Value> run(const Value &a, const Value &b)
    {
        FieldResults<Value> out;
        blst_fr_mul(&out.product, &a, &b);
        blst_fr_sqr(&out.square, &a);
        blst_fr_add(&out.sum, &a, &b);
        blst_fr_sub(&out.difference, &a, &b);
        blst_fr_eucl_inverse(&out.inverse, &a);
        blst_fr_cneg(&out.negated, &a, true);
        return out;
    }
};

struct HostFp {
    using Value = blst_fp;
    static FieldResults<Value> run(const Value &a, const Value &b)
    {
        FieldResults<Value> out;
        blst_fp_mul(&out.product, &a, &b);
        blst_fp_sqr(&out.square, &a);
        blst_fp_add(&out.sum, &a, &b);
        blst_fp_sub(&out.difference, &a, &b);
        blst_fp_eucl_inverse(&out.inverse, &a);
        blst_fp_cneg(&out.negated, &a, true);
        return out;
    }
};

struct HostFp2 {
    using Value = blst_fp2;
    static FieldResults<Value> run(const Value &a, const Value &b)
    {
        FieldResults<Value> out;
        blst_fp2_mul(&out.product, &a, &b);
        blst_fp2_sqr(&out.square, &a);
        blst_fp2_add(&out.sum, &a, &b);
        blst_fp2_sub(&out.difference, &a, &b);
        blst_fp2_eucl_inverse(&out.inverse, &a);
        out.negated = a;
        blst_fp2_cneg(&out.negated, &a, true);
        return out;
    }
};

/* Random residues, and such near 0, near the modulus and with limbs of all zeros or ones. */
template <class Value> Value host_element(const uint64_t *modulus, int limbs, unsigned kind)
{
    uint64_t words[6];
    for (int i = 0; i < limbs; i++)
        words[i] = generator_of_tests();
    switch (kind) {
    case 0:
        memset(words, 0, sizeof words);
        words[0] = generator_of_tests() % 3;
        break;
    case 1:
        memcpy(words, modulus, size_t(limbs) * 8);
        words[0] -= 1 + generator_of_tests() % 3;
        break;
    case 2:
        for (int i = 0; i < limbs; i++)
            words[i] = generator_of_tests() & 1 ? ~uint64_t(0) : 0;
        break;
    case 3:
        for (int i = 0; i < limbs; i++)
            words[i] = generator_of_tests() & 1 ? modulus[i] : 0;
        break;
    default:
        break;
    }
    for (;;) { /* below the modulus */
        bool less = false, differs = false;
        for (int i = limbs - 1; i >= 0 && !differs; i--)
            if (words[i] != modulus[i])
                differs = true, less = words[i] < modulus[i];
        if (less)
            break;
        words[limbs - 1] >>= 1;
    }
    Value out;
    memcpy(&out, words, sizeof out);
    return out;
}

static const uint64_t modulus_r[] = {0xffffffff00000001u, 0x53bda402fffe5bfeu, 0x3339d80809a1d805u,
                                     0x73eda753299d7d48u};
static const uint64_t modulus_p[] = {0xb9feffffffffaaabu, 0x1eabfffeb153ffffu, 0x6730d2a0f6b0f624u,
                                     0x64774b84f38512bfu, 0x4b1ba7b6434bacd7u, 0x1a0111ea397fe69au};

static void make_element(blst_fr *out, unsigned kind)
{
    *out = host_element<blst_fr>(modulus_r, 4, kind);
}

static void make_element(blst_fp *out, unsigned kind)
{
    *out = host_element<blst_fp>(modulus_p, 6, kind);
}

static void make_element(blst_fp2 *out, unsigned kind)
{
    make_element(&out->fp[0], kind % 5);
    make_element(&out->fp[1], kind == 4 ? 4 : unsigned(generator_of_tests() % 5));
}

template <class F, class Host> void test_field(const char *name)
{
    using Value = typename Host::Value;
    static_assert(sizeof(Value) == sizeof(F), "same layout");
    constexpr uint32_t N = 1 << 14;
    std::vector<Value> a(N), b(N);
    for (uint32_t i = 0; i < N; i++) {
        make_element(&a[i], i < 4096 ? i % 5 : 4);
        make_element(&b[i], i < 4096 ? i / 5 % 5 : 4);
    }
    DeviceArray<Value> device_a(a), device_b(b);
    DeviceArray<FieldResults<F>> device_out(N);
    field_operations<F><<<N / 64, 64>>>(reinterpret_cast<F *>(device_a.data),
                                        reinterpret_cast<F *>(device_b.data), N, device_out.data);
    CUDA_OK(cudaGetLastError());
    std::vector<FieldResults<F>> out = device_out.read(N);
    const char *const operations[] = {"product",    "square",  "sum",
                                      "difference", "inverse", "negation"};
    unsigned wrong[6] = {};
    for (uint32_t i = 0; i < N; i++) {
        FieldResults<Value> expected = Host::run(a[i], b[i]);
        for (int k = 0; k < 6; k++)
            wrong[k] += memcmp(reinterpret_cast<const char *>(&expected) + size_t(k) * sizeof(F),
                               reinterpret_cast<const char *>(&out[i]) + size_t(k) * sizeof(F),
                               sizeof(F)) != 0;
    }
    for (int k = 0; k < 6; k++)
        EXPECT(wrong[k] == 0, "%s %s: %u of %u wrong", name, operations[k], wrong[k], N);
}

/* --- curves ---------------------------------------------------------------------------------- */

/* XYZZ sums of all pairs, with both operands scaled so that ZZ ≠ 1. */
template <class F>
__global__ void add_all_pairs(const unsigned char *slots, uint32_t n, Affine<F> *sums)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * n)
        return;
    Xyzz<F> a = Xyzz<F>::from(Affine<F>::load(slots, i / n));
    Xyzz<F> b = Xyzz<F>::from(Affine<F>::load(slots, i % n));
    F z = (F::one().doubled() + F::one()), zz = z.squared(), zzz = zz * z;
    if (!b.is_infinity())
        b = {b.x * zz, b.y * zzz, zz, zzz};
    a.add(b);
    sums[i] = a.to_affine();
}

template <class F> void test_curve(const char *name)
{
    std::vector<int32_t> logs = {0, 1, -1, 2, -2, 3, -3, 4, 1000003, -1000003};
    uint32_t n = uint32_t(logs.size());
    DeviceArray<int32_t> device_logs(logs);
    DeviceArray<unsigned char> slots(n * Slot<F>::BYTES);
    DeviceArray<Affine<F>> sums(n * n);
    points_of_logs<F><<<1, 32>>>(device_generator<F>(), device_logs.data, n, slots.data);
    add_all_pairs<F><<<(n * n + 31) / 32, 32>>>(slots.data, n, sums.data);
    CUDA_OK(cudaGetLastError());
    std::vector<Affine<F>> out = sums.read(n * n);
    for (uint32_t i = 0; i < n * n; i++)
        EXPECT(matches(out[i], multiple<F>(fr_signed(int64_t(logs[i / n]) + logs[i % n]))),
               "%s: %d·G + %d·G", name, logs[i / n], logs[i % n]);
    constexpr uint32_t MANY = 9001, FIRST = 1000003;
    DeviceArray<unsigned char> many(size_t(MANY) * Slot<F>::BYTES);
    make_points<F>(FIRST, MANY, many.data);
    std::vector<unsigned char> bytes = many.read(size_t(MANY) * Slot<F>::BYTES);
    for (uint32_t i : {0u, 1u, 4095u, 4096u, 9000u}) {
        Affine<F> point;
        memcpy(&point.x, &bytes[size_t(i) * Slot<F>::BYTES], sizeof(F));
        memcpy(&point.y, &bytes[size_t(i) * Slot<F>::BYTES + Slot<F>::BYTES / 2], sizeof(F));
        EXPECT(matches(point, multiple<F>(fr_signed(int64_t(FIRST) + i))), "%s: point %u", name, i);
    }
}

/* --- multi-scalar multiplication -------------------------------------------------------------- */

/* The first of the kinds of scalars; the rest differ from them in values, not in what works beside
   what. */
static int kinds_tried = KINDS;

/* Ways to do one job: with and without tables, in one batch and in many. */
struct Way {
    bool tables;
    uint32_t windows_at_once; /* 0: as many as there are */
};
static const Way ways[] = {{false, 0}, {true, 0}, {false, 1}, {true, 3}};

static msm_size size_of(const Way &way, uint32_t n, unsigned g1_sets, unsigned g2_sets)
{
    msm_size size = {};
    size.n = n;
    size.g1_sets = g1_sets;
    size.g2_sets = g2_sets;
    size.tables = way.tables;
    size.entries_max = n * way.windows_at_once;
    return size;
}

template <class F> msm_size size_of(const Way &way, uint32_t n)
{
    return size_of(way, n, sizeof(F) == sizeof(Fp), sizeof(F) != sizeof(Fp));
}

/* Every second job has a side stream. */
static const Side *some_side()
{
    static const Side side;
    static int turn;
    return turn++ % 2 == 1 ? &side : nullptr;
}

template <class F> typename Group<F>::Point run_msm(const PointSet<F> &points, const Fr *scalars)
{
    Job job(points.size, {points.slots.data}, scalars, some_side());
    job.enqueue();
    return job.result<F>(0);
}

/* Points (1000003 + i)·G, of any number. */
template <class F>
void test_msm_sizes(const char *name, const Way &way, const std::vector<uint32_t> &sizes)
{
    constexpr uint32_t FIRST = 1000003;
    for (uint32_t n : sizes) {
        PointSet<F> points(size_of<F>(way, n));
        make_points<F>(FIRST, n, points.slots.data);
        points.complete();
        DeviceArray<Fr> scalars(n);
        for (int kind = 0; kind < kinds_tried; kind++) {
            fill_scalars<<<(n + 255) / 256, 256>>>(kind, 77 + uint64_t(kind), n, scalars.data);
            auto got = run_msm(points, scalars.data);
            auto expected = multiple<F>(expected_log(scalars.data, nullptr, FIRST, n));
            EXPECT(Group<F>::equal(&got, &expected),
                   "%s: n = %u, tables %d, %u at once, scalars %s", name, n, way.tables,
                   way.windows_at_once, kind_names[kind]);
        }
    }
}

/* Few different logs, so that points meet themselves, their opposites and infinity in the
   buckets. */
static std::vector<int32_t> special_logs(int choice, uint32_t n)
{
    std::vector<int32_t> logs(n);
    for (int32_t &log : logs) {
        int32_t random = int32_t(generator_of_tests() % 9);
        log = choice == 0   ? random % 5
              : choice == 1 ? 7
              : choice == 2 ? (random & 1 ? 3 : -3)
                            : random - 4;
    }
    return logs;
}

template <class F> void fill_points(const DeviceArray<int32_t> &logs, const PointSet<F> &points)
{
    uint32_t n = points.size.n;
    points_of_logs<F>
        <<<(n + 63) / 64, 64>>>(device_generator<F>(), logs.data, n, points.slots.data);
    CUDA_OK(cudaGetLastError());
    points.complete();
}

template <class F> void test_msm_special_points(const char *name, const Way &way)
{
    constexpr uint32_t N = 3001;
    for (int choice = 0; choice < 4; choice++) {
        DeviceArray<int32_t> logs(special_logs(choice, N));
        PointSet<F> points(size_of<F>(way, N));
        fill_points(logs, points);
        DeviceArray<Fr> scalars(N);
        for (int kind = 0; kind < kinds_tried; kind++) {
            fill_scalars<<<(N + 255) / 256, 256>>>(kind, 5, N, scalars.data);
            auto got = run_msm(points, scalars.data);
            auto expected = multiple<F>(expected_log(scalars.data, logs.data, 0, N));
            EXPECT(Group<F>::equal(&got, &expected), "%s: special points %d, tables %d, scalars %s",
                   name, choice, way.tables, kind_names[kind]);
        }
    }
}

/* Two sets in each group with the same scalars. */
static void test_msm_sets(const Way &way, uint32_t n)
{
    msm_size size = size_of(way, n, 2, 2);
    PointSet<Fp> g1_few(size), g1_many(size);
    PointSet<Fp2> g2_many(size), g2_few(size);
    constexpr uint32_t FIRST = 5;
    DeviceArray<int32_t> logs_a(special_logs(3, n)), logs_b(special_logs(0, n));
    fill_points(logs_a, g1_few);
    fill_points(logs_b, g2_few);
    make_points<Fp>(FIRST, n, g1_many.slots.data);
    make_points<Fp2>(FIRST, n, g2_many.slots.data);
    g1_many.complete();
    g2_many.complete();
    DeviceArray<Fr> scalars(n);
    for (int kind = 0; kind < kinds_tried; kind++) {
        fill_scalars<<<(n + 255) / 256, 256>>>(kind, 6, n, scalars.data);
        Job job(size,
                {g1_few.slots.data, g1_many.slots.data, g2_many.slots.data, g2_few.slots.data},
                scalars.data, some_side());
        job.enqueue();
        const int32_t *const logs[] = {logs_a.data, nullptr, nullptr, logs_b.data};
        for (size_t i = 0; i < 4; i++) {
            fr log = expected_log(scalars.data, logs[i], FIRST, n);
            bool right;
            if (i < 2) {
                g1 got = job.result<Fp>(i), expected = multiple<Fp>(log);
                right = g1_equal(&got, &expected);
            } else {
                g2 got = job.result<Fp2>(i), expected = multiple<Fp2>(log);
                right = g2_equal(&got, &expected);
            }
            EXPECT(right, "four sets of %u: set %zu, tables %d, %u at once, scalars %s", n, i,
                   way.tables, way.windows_at_once, kind_names[kind]);
        }
    }
}

/* slots[w·n + i] of a table: windows share the 256 bits equally, the wider ones come first. */
template <class F> void test_tables(const char *name)
{
    for (uint32_t n : {1u, 33u, 5000u}) {
        DeviceArray<int32_t> logs(special_logs(3, n));
        PointSet<F> points(size_of<F>({true, 0}, n));
        fill_points(logs, points);
        std::vector<int32_t> host_logs = logs.read(n);
        size_t count = msm_slots(&points.size) / n;
        std::vector<unsigned char> slots = points.slots.read(n * count * Slot<F>::BYTES);
        fr power = fr_one;
        unsigned wrong = 0;
        for (size_t w = 0; w < count; w++) {
            for (uint32_t i = 0; i < n; i += 1 + n / 50) {
                fr log = fr_signed(host_logs[i]);
                fr_mul(&log, &log, &power);
                Affine<F> point;
                const unsigned char *slot = &slots[(w * n + i) * Slot<F>::BYTES];
                memcpy(&point.x, slot, sizeof(F));
                memcpy(&point.y, slot + Slot<F>::BYTES / 2, sizeof(F));
                wrong += !matches(point, multiple<F>(log));
            }
            for (size_t bit = 0; bit < 256 / count + (w < 256 % count); bit++)
                fr_add(&power, &power, &power);
        }
        EXPECT(wrong == 0, "%s: table of %u points: %u entries wrong", name, n, wrong);
    }
}

/* What cannot be done is refused before anything is enqueued. */
static void test_msm_refusals()
{
    msm_job job = {};
    job.size = size_of({false, 0}, 1000, 1, 0);
    job.scratch_bytes = msm_scratch_bytes(&job.size) - 1;
    EXPECT(msm_enqueue(&job, nullptr) != 0, "scratch too small");
    job.scratch_bytes = SIZE_MAX;
    job.size.n = 0;
    EXPECT(msm_enqueue(&job, nullptr) != 0, "no scalars");
    job.size.n = 1000;
    job.size.g2_sets = MSM_SETS_MAX;
    EXPECT(msm_enqueue(&job, nullptr) != 0, "too many sets");
    job.size.g1_sets = job.size.g2_sets = 0;
    EXPECT(msm_enqueue(&job, nullptr) != 0, "no sets");
    job.size = size_of({true, 0}, 1u << 27, 1, 0);
    job.size.entries_max = UINT32_MAX;
    EXPECT(msm_enqueue(&job, nullptr) != 0, "more slots than references can name");
    msm_size plain = size_of({false, 0}, 1000, 1, 0), tables = size_of({true, 0}, 1000, 1, 0);
    EXPECT(msm_build_tables(&plain, MSM_G1, nullptr, nullptr, SIZE_MAX, nullptr) != 0,
           "tables of a job without");
    EXPECT(msm_build_tables(&tables, MSM_G1, nullptr, nullptr, 1000, nullptr) != 0,
           "tables with too little scratch");
}

/* Against the CPU's own scalar multiplication, with points and scalars made there. */
template <class F> void test_msm_against_cpu(const char *name)
{
    constexpr uint32_t N = 37;
    std::vector<typename Group<F>::Coordinates> points(N);
    std::vector<fr> scalars(N);
    typename Group<F>::Point expected, term;
    Group<F>::infinity(&expected);
    std::vector<unsigned char> bytes(size_t(N) * Slot<F>::BYTES);
    for (uint32_t i = 0; i < N; i++) {
        fr log;
        make_element(&log.v, 4);
        make_element(&scalars[i].v, i < 10 ? i % 5 : 4);
        auto point = multiple<F>(log);
        Group<F>::to_affine(&points[i], &point);
        memcpy(&bytes[size_t(i) * Slot<F>::BYTES], &points[i], sizeof(F));
        memcpy(&bytes[size_t(i) * Slot<F>::BYTES + Slot<F>::BYTES / 2],
               reinterpret_cast<const char *>(&points[i]) + sizeof(F), sizeof(F));
        Group<F>::mul(&term, &point, &scalars[i]);
        Group<F>::add(&expected, &expected, &term);
    }
    DeviceArray<fr> device_scalars(scalars);
    for (const Way &way : ways) {
        PointSet<F> set(size_of<F>(way, N));
        CUDA_OK(cudaMemcpy(set.slots.data, bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
        set.complete();
        auto got = run_msm(set, reinterpret_cast<Fr *>(device_scalars.data));
        EXPECT(Group<F>::equal(&got, &expected), "%s: against the CPU, tables %d", name,
               way.tables);
    }
}

/* --- points ---------------------------------------------------------------------------------- */

/* Points anywhere, some several times, from slots that are there only in part. */
template <class F> void test_gather(const char *name)
{
    constexpr uint32_t N_POINTS = 5000, FIRST = 1000, COUNT = 2500, N = 7001;
    DeviceArray<unsigned char> slots(size_t(N_POINTS) * Slot<F>::BYTES);
    make_points<F>(17, N_POINTS, slots.data);
    std::vector<uint32_t> points(N);
    for (uint32_t &point : points)
        point =
            generator_of_tests() % 10 == 0 ? UINT32_MAX : uint32_t(generator_of_tests() % N_POINTS);
    DeviceArray<uint32_t> device_points(points);
    DeviceArray<unsigned char> out(size_t(N) * Slot<F>::BYTES);
    CUDA_OK(cudaMemset(out.data, 0x5a, size_t(N) * Slot<F>::BYTES));
    CUDA_OK(points_gather(Group<F>::ID, slots.data + size_t(FIRST) * Slot<F>::BYTES, FIRST, COUNT,
                          device_points.data, N, out.data, nullptr));
    std::vector<unsigned char> from = slots.read(size_t(N_POINTS) * Slot<F>::BYTES);
    std::vector<unsigned char> got = out.read(size_t(N) * Slot<F>::BYTES);
    unsigned char untouched[Slot<F>::BYTES];
    memset(untouched, 0x5a, sizeof untouched);
    unsigned wrong = 0;
    for (uint32_t i = 0; i < N; i++) {
        bool there = points[i] >= FIRST && points[i] < FIRST + COUNT;
        const unsigned char *wanted = there ? &from[size_t(points[i]) * Slot<F>::BYTES] : untouched;
        wrong += memcmp(&got[size_t(i) * Slot<F>::BYTES], wanted, Slot<F>::BYTES) != 0;
    }
    EXPECT(wrong == 0, "%s: %u of %u points gathered wrongly", name, wrong, N);
}

static void report(const char *what)
{
    printf("%s: %d checks, %d failures\n", what, checks, failures);
}

static void test_parts()
{
    test_field<Fr, HostFr>("Fr");
    test_field<Fp, HostFp>("Fp");
    test_field<Fp2, HostFp2>("Fp2");
    test_curve<Fp>("G1");
    test_curve<Fp2>("G2");
    test_gather<Fp>("G1");
    test_gather<Fp2>("G2");
    report("fields, curves, points");
    test_msm_refusals();
    test_msm_against_cpu<Fp>("G1");
    test_msm_against_cpu<Fp2>("G2");
    test_tables<Fp>("G1");
    test_tables<Fp2>("G2");
    report("tables, against the CPU");
}

static void test_all_sizes()
{
    const std::vector<uint32_t> all = {1, 2, 3, 31, 1000, 4097, 32768, 65537};
    for (const Way &way : ways) {
        test_msm_sizes<Fp>("G1", way, all);
        test_msm_sizes<Fp2>("G2", way, {1, 33, 4097});
    }
    /* With equal scalars a bucket, and a sorted bin, of as many entries: at and beside the
       limits where they are cut into groups, shared memory ends, and tiles end. */
    test_msm_sizes<Fp>("G1", ways[0], {511, 512, 513, 3072, 3073, 4095, 4096, 8192, 8193});
    /* 16-bit scalars: bins of about as many entries as one may have, some more, some less. */
    test_msm_sizes<Fp>("G1", ways[0], {1u << 18, 1000003, 1u << 20});
    test_msm_sizes<Fp>("G1", ways[1], {1000003});
    report("sizes");
    for (const Way &way : ways) {
        test_msm_special_points<Fp>("G1", way);
        test_msm_special_points<Fp2>("G2", way);
    }
    report("special points");
    for (const Way &way : ways)
        for (uint32_t n : {1u, 2u, 777u, 20001u})
            test_msm_sets(way, n);
    report("sets");
}

/* What threads share is the same for all sizes: few are enough, and a tool that follows every
   access to shared memory gets through them. Equal scalars take the ways of large bins and buckets.
 */
static void test_races()
{
    kinds_tried = ALL_EQUAL + 1;
    for (const Way &way : ways)
        test_msm_sizes<Fp>("G1", way, {600});
    test_msm_sizes<Fp>("G1", ways[0], {4100});
    test_msm_sizes<Fp2>("G2", ways[0], {40});
}

/* brief, races: for compute-sanitizer's memcheck and racecheck. */
int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("SKIP: no CUDA device on this machine\n");
        return 77;
    }
    CUDA_OK(msm_prepare());
    if (strcmp(mode, "races") == 0) {
        test_races();
    } else if (strcmp(mode, "brief") == 0) {
        test_parts();
        for (const Way &way : ways)
            test_msm_sets(way, 300);
        test_msm_sizes<Fp>("G1", ways[0], {5000});
    } else {
        test_parts();
        test_all_sizes();
    }
    report("all");
    return failures != 0;
}
