/* Bits in the order of points, sums over the bits of several witnesses, and points on their way
   from a file, on the card against known discrete logarithms. Prints one line a failure; exits with
   1 if there was any, with 77 without a GPU. */
#include "expect.cuh"

#include "backend/cuda/msm/select.h"

extern "C" {
#include "backend/cuda/points/points_load.h"
}

#include <algorithm>
#include <list>
#include <random>

static std::mt19937_64 generator_of_tests(20261201);

static constexpr unsigned char GARBAGE = 0xa5; /* what is not written shows */

struct Scratch : DeviceArray<unsigned char> {
    size_t bytes;
    explicit Scratch(size_t n) : DeviceArray(n), bytes(n) { CUDA_OK(cudaMemset(data, GARBAGE, n)); }
};

template <class F> struct Points {
    std::vector<int32_t> logs;
    Scratch slots;
    explicit Points(const std::vector<int32_t> &from)
        : logs(from), slots(from.size() * Slot<F>::BYTES)
    {
        DeviceArray<int32_t> device_logs(logs);
        uint32_t n = uint32_t(logs.size());
        points_of_logs<F>
            <<<(n + 63) / 64, 64>>>(device_generator<F>(), device_logs.data, n, slots.data);
        CUDA_OK(cudaGetLastError());
        CUDA_OK(cudaDeviceSynchronize());
    }
};

template <class F> Affine<F> slot_of(const std::vector<unsigned char> &slots, size_t index)
{
    Affine<F> point;
    memcpy(&point.x, &slots[index * Slot<F>::BYTES], sizeof(F));
    memcpy(&point.y, &slots[index * Slot<F>::BYTES + Slot<F>::BYTES / 2], sizeof(F));
    return point;
}

/* --- bits ------------------------------------------------------------------------------------- */

enum BitKind { EMPTY, FULL, FIRST_BIT, LAST_BIT, RANDOM_BITS, BIT_KINDS };
static const char *const bit_kind_names[] = {"empty", "full", "first", "last", "random"};

static bool bit_of(const std::vector<uint64_t> &words, uint32_t i)
{
    return words[i / 64] >> i % 64 & 1;
}

/* Bits beyond the last are garbage. */
static std::vector<uint64_t> make_bits(uint32_t n, int kind)
{
    std::vector<uint64_t> bits((n + 63) / 64);
    for (uint64_t &word : bits)
        word = kind == FULL ? ~uint64_t(0) : kind == RANDOM_BITS ? generator_of_tests() : 0;
    if (kind == FIRST_BIT)
        bits[0] |= 1;
    if (kind == LAST_BIT)
        bits[(n - 1) / 64] |= uint64_t(1) << (n - 1) % 64;
    if (n % 64 != 0)
        bits.back() ^= generator_of_tests() << n % 64;
    return bits;
}

static void check_select(uint32_t n, int bit_kind, int density_kind, uint32_t first)
{
    std::vector<uint64_t> bits = make_bits(n, bit_kind);
    std::vector<uint64_t> density = make_bits(n, density_kind < 0 ? int(FULL) : density_kind);
    std::vector<uint32_t> ranks;
    std::vector<bool> expected(first);
    for (uint32_t i = 0; i < n; i++) {
        if (i % 64 == 0)
            ranks.push_back(uint32_t(expected.size()) - first);
        if (bit_of(density, i))
            expected.push_back(bit_of(bits, i));
    }
    uint32_t n_points = uint32_t(expected.size());
    expected.resize((n_points + 63) / 64 * 64);
    DeviceArray<uint64_t> device_bits(bits), device_density(density);
    DeviceArray<uint32_t> device_ranks(ranks);
    std::vector<uint64_t> garbage((n_points + 63) / 64 + 1, 0xa5a5a5a5a5a5a5a5u);
    DeviceArray<uint64_t> selected(garbage);
    CUDA_OK(bits_select(device_bits.data, density_kind < 0 ? nullptr : device_density.data,
                        density_kind < 0 ? nullptr : device_ranks.data, n, first, n_points,
                        selected.data, nullptr));
    std::vector<uint64_t> got = selected.read(garbage.size());
    bool same = got.back() == garbage.back();
    for (uint32_t i = 0; i < expected.size(); i++)
        same = same && bit_of(got, i) == expected[i];
    EXPECT(same, "select %u bits (%s), density %s, first point %u", n, bit_kind_names[bit_kind],
           density_kind < 0 ? "none" : bit_kind_names[density_kind], first);
}

static void test_select(const std::vector<uint32_t> &sizes)
{
    for (uint32_t n : sizes)
        for (int bit_kind = 0; bit_kind < BIT_KINDS; bit_kind++)
            for (int density_kind = -1; density_kind < BIT_KINDS; density_kind++)
                for (uint32_t first : {0u, 1u, 63u, 64u, 321u})
                    check_select(n, bit_kind, density_kind, first);
}

/* --- sums ------------------------------------------------------------------------------------- */

/* Bits of several witnesses, and the same on the device. */
struct Witnesses {
    std::vector<std::vector<uint64_t>> bits;
    std::list<DeviceArray<uint64_t>> copies;

    Witnesses(uint32_t n, unsigned count, bool all_kinds)
    {
        for (unsigned w = 0; w < count; w++) {
            bits.push_back(make_bits(n, all_kinds ? int(w) % BIT_KINDS : int(RANDOM_BITS)));
            copies.emplace_back(bits[w]);
        }
    }
    /* From word `first` on. */
    std::vector<const uint64_t *> from(uint32_t first) const
    {
        std::vector<const uint64_t *> out;
        for (const auto &copy : copies)
            out.push_back(copy.data + first);
        return out;
    }
};

/* Sums of all witnesses over the section in two parts, cut at `cut`, against Σ b_i·log(i). */
template <class F>
void check_sums(const char *name, const char *what, const unsigned char *slots, uint32_t n,
                uint32_t cut, unsigned count, bool all_kinds, int64_t (*log)(uint32_t))
{
    Witnesses witnesses(n, count, all_kinds);
    std::vector<typename Group<F>::Point> sums(count);
    for (auto &sum : sums)
        Group<F>::infinity(&sum);
    const uint32_t bounds[] = {0, cut, n};
    for (int part = 0; part < 2; part++) {
        const uint32_t first = bounds[part];
        if (first == bounds[part + 1])
            continue;
        msm_size size = {};
        size.n = bounds[part + 1] - first;
        size.g1_sets = Group<F>::ID == MSM_G1;
        size.g2_sets = Group<F>::ID == MSM_G2;
        Job job(size, {slots + size_t(first) * Slot<F>::BYTES}, witnesses.from(first / 64));
        job.enqueue();
        for (unsigned w = 0; w < count; w++) {
            auto sum = job.bitmap_result<F>(0, w);
            Group<F>::add(&sums[w], &sums[w], &sum);
        }
    }
    for (unsigned w = 0; w < count; w++) {
        int64_t expected = 0;
        for (uint32_t i = 0; i < n; i++)
            expected += bit_of(witnesses.bits[w], i) ? log(i) : 0;
        typename Group<F>::Point wanted = multiple<F>(fr_signed(expected));
        EXPECT(Group<F>::equal(&sums[w], &wanted),
               "%s: %s, %u points cut at %u, witness %u of %u (%s)", name, what, n, cut, w, count,
               all_kinds ? bit_kind_names[w % BIT_KINDS] : bit_kind_names[RANDOM_BITS]);
    }
}

static constexpr uint32_t FIRST = 1000003;

static int64_t counting(uint32_t i)
{
    return int64_t(FIRST) + i;
}

static int64_t equal_logs(uint32_t)
{
    return 7;
}

static int64_t opposite_logs(uint32_t i)
{
    return i % 2 ? 3 : -3;
}

static int64_t small_logs(uint32_t i)
{
    return int64_t(i % 7 * (i % 5) % 9) - 4;
}

/* Any number of witnesses: from one pattern to as many as there are points. */
template <class F> void test_sums(const char *name, const std::vector<uint32_t> &sizes)
{
    uint32_t n_max = *std::max_element(sizes.begin(), sizes.end());
    Scratch slots(size_t(n_max) * Slot<F>::BYTES);
    make_points<F>(FIRST, n_max, slots.data);
    for (uint32_t n : sizes) {
        for (unsigned count : {1u, 2u, 5u, 7u, 8u, 10u, 16u})
            check_sums<F>(name, "different points", slots.data, n, n, count, true, counting);
        check_sums<F>(name, "different points", slots.data, n, n / 2 / 64 * 64, 10, false,
                      counting);
        check_sums<F>(name, "different points", slots.data, n, n / 5 / 64 * 64, 3, false, counting);
    }
}

/* Buckets in which all points meet themselves, their opposites and infinity. */
template <class F> void test_special_points(const char *name, uint32_t n)
{
    int64_t (*const kinds[])(uint32_t) = {equal_logs, opposite_logs, small_logs};
    const char *const names[] = {"equal points", "opposite points", "few points"};
    for (int kind = 0; kind < 3; kind++) {
        std::vector<int32_t> logs(n);
        for (uint32_t i = 0; i < n; i++)
            logs[i] = int32_t(kinds[kind](i));
        Points<F> points(logs);
        for (bool all_kinds : {false, true})
            check_sums<F>(name, names[kind], points.slots.data, n, n, 10, all_kinds, kinds[kind]);
    }
}

static void test_refusals()
{
    msm_job job = {};
    job.size.n = 1000;
    job.size.g1_sets = 1;
    job.size.bitmaps = 10;
    job.scratch_bytes = msm_scratch_bytes(&job.size) - 1;
    EXPECT(msm_enqueue(&job, nullptr) == cudaErrorInvalidValue, "too little scratch is refused");
    job.scratch_bytes = SIZE_MAX;
    job.size.tables = true;
    EXPECT(msm_enqueue(&job, nullptr) == cudaErrorInvalidValue, "bitmaps with tables are refused");
    job.size.tables = false;
    job.size.bitmaps = MSM_BITMAPS_MAX + 1;
    EXPECT(msm_enqueue(&job, nullptr) == cudaErrorInvalidValue, "too many bitmaps are refused");
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

/* What the chunks of a load become: all slots together, and some points alone. */
template <class F> struct Loaded {
    static constexpr uint32_t CHUNK = 6 * POINTS_ALIGNMENT;
    Scratch slots, gathered;
    DeviceArray<uint32_t> wanted;
    uint32_t n_wanted, n_seen = 0;

    Loaded(uint32_t n, const std::vector<uint32_t> &points)
        : slots(n * Slot<F>::BYTES), gathered(points.size() * Slot<F>::BYTES), wanted(points),
          n_wanted(uint32_t(points.size()))
    {
    }

    static cuzk_status use(void *context, const points_chunk *chunk, cudaStream_t stream,
                           cuzk_error *)
    {
        Loaded *self = static_cast<Loaded *>(context);
        EXPECT(chunk->first == self->n_seen, "chunk at %u after %u points", chunk->first,
               self->n_seen);
        self->n_seen += chunk->n;
        CUDA_OK(cudaMemcpyAsync(self->slots.data + size_t(chunk->first) * Slot<F>::BYTES,
                                chunk->slots, chunk->n * size_t(Slot<F>::BYTES),
                                cudaMemcpyDeviceToDevice, stream));
        CUDA_OK(points_gather(Group<F>::ID, chunk->slots, chunk->first, chunk->n, self->wanted.data,
                              self->n_wanted, self->gathered.data, stream));
        return CUZK_OK;
    }
};

/* A file with a point wrong in every way. */
template <class F>
std::vector<uint8_t> faulty_file(std::vector<typename Group<F>::Coordinates> *points, uint32_t n)
{
    constexpr size_t BYTES = 2 * sizeof(F);
    std::vector<uint8_t> file(n * BYTES);
    typename Group<F>::Point sum, step = multiple<F>(fr_signed(12345));
    Group<F>::infinity(&sum);
    points->resize(n);
    for (uint32_t i = 0; i < n; i++) {
        Group<F>::add(&sum, &sum, &step);
        Group<F>::to_affine(&(*points)[i], &sum);
        encode(&file[i * BYTES], &(*points)[i]);
    }
    file[10 * BYTES] |= 0x80; /* a flag */
    file[11 * BYTES] |= 0x40;
    memset(&file[12 * BYTES], 0xff, sizeof(F));       /* x far above the modulus */
    memset(&file[13 * BYTES + BYTES - 48], 0x1f, 48); /* the last coordinate above it */
    memset(&file[14 * BYTES], 0, BYTES);              /* infinity as zeros */
    memset(&file[18 * BYTES], 0, BYTES);              /* and with its flag */
    file[18 * BYTES] = 0x40;
    file[15 * BYTES + BYTES - 1] ^= 1; /* off the curve */
    file[16 * BYTES + sizeof(F) - 1] ^= 1;
    memset(&file[17 * BYTES], 0, sizeof(F)); /* x = 0, y of another point */
    return file;
}

template <class F>
points_faults load(points_loader *loader, const std::vector<uint8_t> &file, uint32_t n,
                   Loaded<F> *loaded)
{
    Scratch staging(points_staging_bytes(Group<F>::ID, Loaded<F>::CHUNK));
    DeviceArray<points_faults> faults(1);
    CUDA_OK(cudaMemset(faults.data, 0, sizeof(points_faults)));
    CUDA_OK(cudaDeviceSynchronize());
    points_source source = {};
    source.group = Group<F>::ID;
    source.bytes = file.data();
    source.n = n;
    source.chunk_points = Loaded<F>::CHUNK;
    source.staging = staging.data;
    source.faults = faults.data;
    cuzk_error error;
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    EXPECT(points_load(loader, &source, Loaded<F>::use, loaded, stream, &error) == CUZK_OK,
           "loading: %s", error.text);
    CUDA_OK(cudaStreamSynchronize(stream));
    CUDA_OK(cudaStreamDestroy(stream));
    return faults.read(1)[0];
}

template <class F> void test_points(const char *name, points_loader *loader)
{
    constexpr uint32_t N = 5 * Loaded<F>::CHUNK + 100;
    std::vector<typename Group<F>::Coordinates> points;
    std::vector<uint8_t> file = faulty_file<F>(&points, N);
    std::vector<uint32_t> wanted = {0, 9, 14, 383, 384, 1000, 1000, N - 1};
    Loaded<F> loaded(N, wanted);
    points_faults found = load(loader, file, N, &loaded);
    EXPECT(found.malformed == 4, "%s: %u malformed points", name, found.malformed);
    EXPECT(found.infinite == 2, "%s: %u infinite points", name, found.infinite);
    EXPECT(found.off_curve == 3, "%s: %u points off the curve", name, found.off_curve);
    EXPECT(loaded.n_seen == N, "%s: %u of %u points seen", name, loaded.n_seen, N);
    std::vector<unsigned char> out = loaded.slots.read(loaded.slots.bytes);
    for (uint32_t i = 0; i < N; i++) {
        Affine<F> got = slot_of<F>(out, i), expected;
        memset(&expected, 0, sizeof expected);
        if (i < 10 || i > 18)
            memcpy(&expected, &points[i], sizeof expected);
        EXPECT(memcmp(&got, &expected, sizeof got) == 0, "%s: point %u converted", name, i);
    }
    std::vector<unsigned char> gathered = loaded.gathered.read(loaded.gathered.bytes);
    for (uint32_t i = 0; i < wanted.size(); i++) {
        Affine<F> got = slot_of<F>(gathered, i), expected = slot_of<F>(out, wanted[i]);
        EXPECT(memcmp(&got, &expected, sizeof got) == 0, "%s: point %u gathered", name, wanted[i]);
    }
}

int main(int argc, char **argv)
{
    bool brief = argc > 1 && strcmp(argv[1], "brief") == 0; /* for compute-sanitizer */
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("SKIP: no CUDA device on this machine\n");
        return 77;
    }
    CUDA_OK(msm_prepare());
    test_select(brief ? std::vector<uint32_t>{100, 1000}
                      : std::vector<uint32_t>{1, 63, 64, 65, 1000, 100003});
    printf("bits: %d checks, %d failures\n", checks, failures);
    points_loader *loader;
    cuzk_error error;
    if (points_loader_open(0, &loader, &error) != CUZK_OK) {
        printf("FAILED: %s\n", error.text);
        return 1;
    }
    test_points<Fp>("G1", loader);
    test_points<Fp2>("G2", loader);
    points_loader_close(loader);
    printf("points: %d checks, %d failures\n", checks, failures);
    test_refusals();
    if (brief) {
        test_sums<Fp>("G1", {3000});
        test_special_points<Fp2>("G2", 503);
    } else {
        test_sums<Fp>("G1", {1, 2, 3, 63, 64, 65, 1000, 100003, (1u << 20) + 13});
        test_sums<Fp2>("G2", {1, 65, 10007, 200001});
        test_special_points<Fp>("G1", 50001);
        test_special_points<Fp2>("G2", 20002);
    }
    printf("%d checks, %d failures\n", checks, failures);
    return failures != 0;
}
