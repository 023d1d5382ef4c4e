/* Fields, curves, multi-scalar multiplications and subset sums on the card against the CPU and
   against known discrete logarithms. Prints one line a failure; exits with 1 if there was any, with
   77 without a GPU. */
#include "known_logs.cuh"

#include "backend/cuda/points.h"

#include <random>

static int failures, checks;

#define EXPECT(condition, ...)                                                                     \
    do {                                                                                           \
        checks++;                                                                                  \
        if (!(condition)) {                                                                        \
            failures++;                                                                            \
            printf("FAILED %s:%d: ", __FILE__, __LINE__);                                          \
            printf(__VA_ARGS__);                                                                   \
            printf("\n");                                                                          \
        }                                                                                          \
    } while (0)

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

template <class F> bool matches(const Affine<F> &point, const typename Group<F>::Point &expected)
{
    typename Group<F>::Coordinates coordinates;
    typename Group<F>::Point got;
    memcpy(&coordinates, &point, sizeof coordinates);
    Group<F>::from_affine(&got, &coordinates);
    return Group<F>::equal(&got, &expected);
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

template <class F>
typename Group<F>::Point run_msm(const unsigned char *slots, uint32_t n_points, const Fr *scalars,
                                 const uint32_t *indices, uint32_t n)
{
    size_t scratch_bytes = msm_scratch_bytes(Group<F>::ID, n);
    DeviceArray<unsigned char> scratch(scratch_bytes);
    DeviceArray<typename Group<F>::Coordinates> sums(msm_sum_count(n));
    CUDA_OK(cudaMemset(scratch.data, 0xa5, scratch_bytes));
    msm_job job = {};
    job.group = Group<F>::ID;
    job.points = slots;
    job.n_points = n_points;
    job.scalars = scalars;
    job.indices = indices;
    job.n = n;
    job.scratch = scratch.data;
    job.scratch_bytes = scratch_bytes;
    job.sums = sums.data;
    static const Side side;
    static int turn;
    if (turn++ % 2 == 1)
        side.lend(&job);
    CUDA_OK(msm_enqueue(&job, nullptr));
    typename Group<F>::Point out;
    Group<F>::finish(&out, n, sums.read(msm_sum_count(n)).data());
    return out;
}

/* Points (1000003 + i)·G, of any number. */
template <class F> void test_msm_sizes(const char *name, const std::vector<uint32_t> &sizes)
{
    constexpr uint32_t FIRST = 1000003;
    uint32_t n_max = 0;
    for (uint32_t n : sizes)
        n_max = n > n_max ? n : n_max;
    DeviceArray<unsigned char> slots(size_t(n_max) * Slot<F>::BYTES);
    DeviceArray<Fr> scalars(n_max);
    make_points<F>(FIRST, n_max, slots.data);
    for (uint32_t n : sizes) {
        for (int kind = 0; kind < KINDS; kind++) {
            fill_scalars<<<(n + 255) / 256, 256>>>(kind, 77 + uint64_t(kind), n, scalars.data);
            auto got = run_msm<F>(slots.data, n_max, scalars.data, nullptr, n);
            auto expected = multiple<F>(expected_log(scalars.data, nullptr, FIRST, nullptr, n));
            EXPECT(Group<F>::equal(&got, &expected), "%s: n = %u, scalars %s", name, n,
                   kind_names[kind]);
        }
    }
}

/* Points that meet themselves, their opposites and infinity in the buckets. */
template <class F> void test_msm_special_points(const char *name)
{
    constexpr uint32_t N = 3001;
    for (int points = 0; points < 4; points++) {
        std::vector<int32_t> logs(N);
        for (uint32_t i = 0; i < N; i++) {
            int32_t random = int32_t(generator_of_tests() % 9);
            logs[i] = points == 0   ? random % 5
                      : points == 1 ? 7
                      : points == 2 ? (random & 1 ? 3 : -3)
                                    : random - 4;
        }
        DeviceArray<int32_t> device_logs(logs);
        DeviceArray<unsigned char> slots(size_t(N) * Slot<F>::BYTES);
        DeviceArray<Fr> scalars(N);
        points_of_logs<F>
            <<<(N + 63) / 64, 64>>>(device_generator<F>(), device_logs.data, N, slots.data);
        for (int kind = 0; kind < KINDS; kind++) {
            fill_scalars<<<(N + 255) / 256, 256>>>(kind, 5, N, scalars.data);
            auto got = run_msm<F>(slots.data, N, scalars.data, nullptr, N);
            auto expected =
                multiple<F>(expected_log(scalars.data, device_logs.data, 0, nullptr, N));
            EXPECT(Group<F>::equal(&got, &expected), "%s: special points %d, scalars %s", name,
                   points, kind_names[kind]);
        }
    }
}

/* A few scalars for points anywhere, some points several times. */
template <class F> void test_msm_indices(const char *name)
{
    constexpr uint32_t N_POINTS = 5000, FIRST = 17;
    DeviceArray<unsigned char> slots(size_t(N_POINTS) * Slot<F>::BYTES);
    make_points<F>(FIRST, N_POINTS, slots.data);
    for (uint32_t n : {1u, 7u, 2500u, 20001u}) {
        std::vector<uint32_t> indices(n);
        for (uint32_t &index : indices)
            index = uint32_t(generator_of_tests() % N_POINTS);
        DeviceArray<uint32_t> device_indices(indices);
        DeviceArray<Fr> scalars(n);
        fill_scalars<<<(n + 255) / 256, 256>>>(RANDOM, 9, n, scalars.data);
        auto got = run_msm<F>(slots.data, N_POINTS, scalars.data, device_indices.data, n);
        auto expected =
            multiple<F>(expected_log(scalars.data, nullptr, FIRST, device_indices.data, n));
        EXPECT(Group<F>::equal(&got, &expected), "%s: %u indices", name, n);
    }
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
    DeviceArray<unsigned char> slots(bytes);
    DeviceArray<fr> device_scalars(scalars);
    auto got = run_msm<F>(slots.data, N, reinterpret_cast<Fr *>(device_scalars.data), nullptr, N);
    EXPECT(Group<F>::equal(&got, &expected), "%s: against the CPU", name);
}

/* --- subset sums ------------------------------------------------------------------------------ */

template <class F> void test_subset(const char *name, const std::vector<uint32_t> &sizes)
{
    constexpr uint32_t FIRST = 1000003, FIRST_POINT = 5;
    uint32_t n_max = 0;
    for (uint32_t n : sizes)
        n_max = n > n_max ? n : n_max;
    DeviceArray<unsigned char> slots(size_t(n_max + FIRST_POINT) * Slot<F>::BYTES);
    make_points<F>(FIRST, n_max + FIRST_POINT, slots.data);
    const char *const kinds[] = {"empty", "full", "first", "last", "random"};
    for (uint32_t n : sizes) {
        for (int kind = 0; kind < 5; kind++) {
            for (int with_density = 0; with_density < 2; with_density++) {
                uint32_t words = (n + 63) / 64, rank = 0, ones = 0;
                std::vector<uint64_t> bits(words), density(words);
                std::vector<uint32_t> ranks(words);
                uint64_t log = 0;
                for (uint32_t w = 0; w < words; w++) {
                    density[w] = with_density ? generator_of_tests() : ~uint64_t(0);
                    bits[w] = kind == 1 ? ~uint64_t(0) : kind == 4 ? generator_of_tests() : 0;
                    if (kind == 2 && w == 0)
                        bits[w] = 1;
                    if (kind == 3 && w == words - 1)
                        bits[w] = uint64_t(1) << ((n - 1) % 64);
                    if (w == words - 1 && n % 64 != 0)
                        bits[w] |= ~uint64_t(0) << n % 64; /* beyond the last: does not count */
                    ranks[w] = rank;
                    for (uint32_t i = 64 * w; i < 64 * w + 64 && i < n; i++) {
                        if (!(density[w] >> i % 64 & 1))
                            continue;
                        if (bits[w] >> i % 64 & 1) {
                            log += uint64_t(FIRST) + FIRST_POINT + rank;
                            ones++;
                        }
                        rank++;
                    }
                }
                DeviceArray<uint64_t> device_bits(bits), device_density(density);
                DeviceArray<uint32_t> device_ranks(ranks);
                uint32_t ones_max = kind == 4 ? n : ones;
                size_t scratch_bytes = subset_scratch_bytes(Group<F>::ID, n, ones_max);
                DeviceArray<unsigned char> scratch(scratch_bytes);
                CUDA_OK(cudaMemset(scratch.data, 0xa5, scratch_bytes));
                DeviceArray<Affine<F>> sum(1);
                subset_job job = {};
                job.group = Group<F>::ID;
                job.points = slots.data;
                job.n_points = n_max + FIRST_POINT;
                job.first_point = FIRST_POINT;
                job.bits = device_bits.data;
                job.density = with_density ? device_density.data : nullptr;
                job.ranks = with_density ? device_ranks.data : nullptr;
                job.n_vars = n;
                job.scratch = scratch.data;
                job.scratch_bytes = scratch_bytes;
                job.sum = sum.data;
                CUDA_OK(subset_enqueue(&job, ones_max, nullptr));
                EXPECT(matches(sum.read(1)[0], multiple<F>(fr_signed(int64_t(log)))),
                       "%s: subset of %u, %s%s", name, n, kinds[kind],
                       with_density ? ", density" : "");
            }
        }
    }
}

/* --- points of a file --------------------------------------------------------------------------
 */

static void encode(uint8_t *bytes, const g1_affine *point)
{
    g1_encode(bytes, point);
}

static void encode(uint8_t *bytes, const g2_affine *point)
{
    g2_encode(bytes, point);
}

template <class F> void test_points(const char *name)
{
    constexpr uint32_t N = 1001;
    constexpr size_t BYTES = 2 * sizeof(F);
    std::vector<typename Group<F>::Coordinates> points(N);
    std::vector<uint8_t> file(N * BYTES);
    typename Group<F>::Point sum, step = multiple<F>(fr_signed(12345));
    Group<F>::infinity(&sum);
    for (uint32_t i = 0; i < N; i++) {
        Group<F>::add(&sum, &sum, &step);
        Group<F>::to_affine(&points[i], &sum);
        encode(&file[i * BYTES], &points[i]);
    }
    file[10 * BYTES] |= 0x80; /* a flag */
    file[11 * BYTES] |= 0x40;
    memset(&file[12 * BYTES], 0xff, sizeof(F));       /* x far above the modulus */
    memset(&file[13 * BYTES + BYTES - 48], 0x1f, 48); /* the last coordinate above it */
    memset(&file[14 * BYTES], 0, BYTES);              /* infinity as zeros */
    file[15 * BYTES + BYTES - 1] ^= 1;                /* off the curve */
    file[16 * BYTES + sizeof(F) - 1] ^= 1;
    memset(&file[17 * BYTES], 0, sizeof(F)); /* x = 0, y of another point */

    DeviceArray<unsigned char> slots(N * Slot<F>::BYTES), staging_a(4000), staging_b(4000);
    DeviceArray<points_faults> faults(1);
    CUDA_OK(cudaMemset(faults.data, 0, sizeof(points_faults)));
    points_loader loader = {};
    loader.chunk_bytes = 4000; /* not a multiple of a point */
    loader.staging[0] = staging_a.data;
    loader.staging[1] = staging_b.data;
    for (int i = 0; i < 2; i++) {
        CUDA_OK(cudaMallocHost(&loader.pinned[i], loader.chunk_bytes));
        CUDA_OK(cudaEventCreateWithFlags(&loader.copied[i], cudaEventDisableTiming));
    }
    CUDA_OK(points_load(&loader, Group<F>::ID, file.data(), N, slots.data, faults.data, nullptr));
    std::vector<unsigned char> out = slots.read(N * Slot<F>::BYTES);
    points_faults found = faults.read(1)[0];
    EXPECT(found.malformed == 4, "%s: %u malformed points", name, found.malformed);
    EXPECT(found.infinite == 1, "%s: %u infinite points", name, found.infinite);
    EXPECT(found.off_curve == 3, "%s: %u points off the curve", name, found.off_curve);
    for (uint32_t i = 0; i < N; i++) {
        Affine<F> got, expected = {F(), F()};
        memcpy(&got.x, &out[i * Slot<F>::BYTES], sizeof(F));
        memcpy(&got.y, &out[i * Slot<F>::BYTES + Slot<F>::BYTES / 2], sizeof(F));
        memset(&expected, 0, sizeof expected);
        if (i < 10 || i > 17)
            memcpy(&expected, &points[i], sizeof expected);
        EXPECT(memcmp(&got, &expected, sizeof got) == 0, "%s: point %u converted", name, i);
    }
    for (int i = 0; i < 2; i++) {
        CUDA_OK(cudaFreeHost(loader.pinned[i]));
        CUDA_OK(cudaEventDestroy(loader.copied[i]));
    }
}

int main(int argc, char **argv)
{
    bool brief = argc > 1 && strcmp(argv[1], "brief") == 0; /* for compute-sanitizer */
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("skipped: no GPU\n");
        return 77;
    }
    CUDA_OK(msm_prepare());
    test_field<Fr, HostFr>("Fr");
    test_field<Fp, HostFp>("Fp");
    test_field<Fp2, HostFp2>("Fp2");
    test_curve<Fp>("G1");
    test_curve<Fp2>("G2");
    test_points<Fp>("G1");
    test_points<Fp2>("G2");
    printf("fields, curves, points: %d checks, %d failures\n", checks, failures);
    test_msm_against_cpu<Fp>("G1");
    test_msm_against_cpu<Fp2>("G2");
    if (brief) {
        test_msm_sizes<Fp>("G1", {5000});
        test_msm_sizes<Fp2>("G2", {300});
        test_subset<Fp>("G1", {1000});
        test_subset<Fp2>("G2", {300});
    } else {
        test_msm_sizes<Fp>("G1", {1, 2, 3, 31, 1000, 4097, 20000, 65537, 1u << 18, 1000003});
        test_msm_sizes<Fp2>("G2", {1, 2, 33, 4097, 65537});
        printf("sizes: %d checks, %d failures\n", checks, failures);
        test_msm_special_points<Fp>("G1");
        test_msm_special_points<Fp2>("G2");
        test_msm_indices<Fp>("G1");
        test_msm_indices<Fp2>("G2");
        printf("special points, indices: %d checks, %d failures\n", checks, failures);
        test_subset<Fp>("G1", {1, 2, 63, 64, 65, 1000, 100003, (1u << 20) + 13});
        test_subset<Fp2>("G2", {1, 65, 10007});
    }
    printf("%d checks, %d failures\n", checks, failures);
    return failures != 0;
}
