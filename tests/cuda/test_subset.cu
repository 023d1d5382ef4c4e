/* Tables of signed groups of three, subset sums by them, and points on their way from a file, on
   the card against known discrete logarithms. Prints one line a failure; exits with 1 if there was
   any, with 77 without a GPU. */
#include "expect.cuh"

#include "backend/cuda/subset.h"

extern "C" {
#include "backend/cuda/points_load.h"
#include "backend/cuda/subset_finish.h"
}

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

template <class F> void combine(const unsigned char *slots, uint32_t n, unsigned char *table)
{
    Scratch scratch(subset_combine_scratch_bytes(Group<F>::ID, n));
    CUDA_OK(subset_combine(Group<F>::ID, slots, n, table, scratch.data, scratch.bytes, nullptr));
    CUDA_OK(cudaDeviceSynchronize());
}

template <class F> Affine<F> slot_of(const std::vector<unsigned char> &slots, size_t index)
{
    Affine<F> point;
    memcpy(&point.x, &slots[index * Slot<F>::BYTES], sizeof(F));
    memcpy(&point.y, &slots[index * Slot<F>::BYTES + Slot<F>::BYTES / 2], sizeof(F));
    return point;
}

/* --- tables ----------------------------------------------------------------------------------- */

template <class F> void check_table(const char *name, const std::vector<int32_t> &logs)
{
    uint32_t n = uint32_t(logs.size()), groups = subset_groups(n);
    Points<F> points(logs);
    Scratch table(subset_table_bytes(Group<F>::ID, n));
    combine<F>(points.slots.data, n, table.data);
    std::vector<unsigned char> out = table.read(table.bytes);
    for (uint32_t group = 0; group < groups; group++) {
        int64_t log[3] = {};
        for (uint32_t i = 0; i < 3 && 3 * group + i < n; i++)
            log[i] = logs[3 * group + i];
        for (uint32_t k = 0; k < 4; k++) {
            int64_t expected = log[0] + (k & 2 ? -log[1] : log[1]) + (k & 1 ? -log[2] : log[2]);
            EXPECT(matches(slot_of<F>(out, 4 * group + k), multiple<F>(fr_signed(expected))),
                   "%s: table of %u points, group %u (%d, %d, %d), entry %u", name, n, group,
                   int(log[0]), int(log[1]), int(log[2]), k);
        }
    }
}

/* All triples out of few points: every way in which operands are equal, opposite or infinite. */
template <class F> void test_tables(const char *name)
{
    std::vector<int32_t> triples;
    for (int i = 0; i < 125; i++)
        triples.insert(triples.end(), {i / 25 - 2, i / 5 % 5 - 2, i % 5 - 2});
    check_table<F>(name, triples);
    for (uint32_t n : {1u, 2u, 3u, 4u, 5u, 191u, 192u, 193u}) {
        std::vector<int32_t> logs(n);
        for (int32_t &log : logs)
            log = int32_t(generator_of_tests() % 2000001) - 1000000;
        check_table<F>(name, logs);
    }
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
    CUDA_OK(subset_select(device_bits.data, density_kind < 0 ? nullptr : device_density.data,
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

template <class F> std::vector<Affine<F>> run(subset_job job)
{
    job.group = Group<F>::ID;
    Scratch scratch(subset_scratch_bytes(&job));
    DeviceArray<Affine<F>> out(job.n_sums);
    job.scratch = scratch.data;
    job.scratch_bytes = scratch.bytes;
    job.out = out.data;
    CUDA_OK(subset_enqueue(&job, nullptr));
    return out.read(job.n_sums);
}

template <class F> typename Group<F>::Point point_of(const Affine<F> &sum)
{
    typename Group<F>::Coordinates coordinates;
    typename Group<F>::Point out;
    memcpy(&coordinates, &sum, sizeof coordinates);
    Group<F>::from_affine(&out, &coordinates);
    return out;
}

static void finish(g1 *out, const g1 *all, const g1 *sum)
{
    subset_finish_g1(out, all, sum);
}

static void finish(g2 *out, const g2 *all, const g2 *sum)
{
    subset_finish_g2(out, all, sum);
}

/* Bits of several witnesses, and the same on the device. */
struct Witnesses {
    std::vector<std::vector<uint64_t>> bits;
    std::list<DeviceArray<uint64_t>> copies;
    std::vector<const uint64_t *> selected;

    Witnesses(uint32_t n, unsigned count)
    {
        for (unsigned w = 0; w < count; w++) {
            bits.push_back(make_bits(n, int(w) % BIT_KINDS));
            copies.emplace_back(bits[w]);
            selected.push_back(copies.back().data);
        }
        selected.push_back(nullptr); /* all bits one */
    }
};

/* Sums of all witnesses over the section in two parts, cut at `cut`, against Σ b_i·log(i). The
   parts of a witness are in one job, or all first parts are and all second parts. */
template <class F>
void check_sums(const char *name, const char *what, const unsigned char *slots, uint32_t n,
                uint32_t cut, unsigned count, int64_t (*log)(uint32_t))
{
    Scratch table(subset_table_bytes(Group<F>::ID, n));
    combine<F>(slots, n, table.data);
    Witnesses witnesses(n, count);
    std::vector<typename Group<F>::Point> sums(count + 1);
    for (auto &sum : sums)
        Group<F>::infinity(&sum);
    auto add = [&](const subset_job &job, const std::vector<unsigned> &of) {
        std::vector<Affine<F>> out = run<F>(job);
        for (unsigned i = 0; i < job.n_sums; i++) {
            auto term = point_of<F>(out[i]);
            Group<F>::add(&sums[of[i]], &sums[of[i]], &term);
        }
    };
    subset_sum first = {table.data, 0, cut, nullptr};
    subset_sum second = {table.data + subset_table_bytes(Group<F>::ID, cut), cut, n - cut, nullptr};
    for (const subset_sum &part : {first, second}) {
        if (part.n_points == 0 || count < 5)
            continue;
        subset_job job = {};
        std::vector<unsigned> of;
        for (unsigned w = 0; w <= count; w++) {
            job.sums[job.n_sums] = part;
            job.sums[job.n_sums++].selected = witnesses.selected[w];
            of.push_back(w);
        }
        add(job, of);
    }
    for (unsigned w = 0; w <= count && count < 5; w++) {
        subset_job job = {};
        for (const subset_sum &part : {second, first}) {
            if (part.n_points == 0)
                continue;
            job.sums[job.n_sums] = part;
            job.sums[job.n_sums++].selected = witnesses.selected[w];
        }
        add(job, {w, w});
    }
    for (unsigned w = 0; w < count; w++) {
        int64_t expected = 0;
        for (uint32_t i = 0; i < n; i++)
            expected += bit_of(witnesses.bits[w], i) ? log(i) : 0;
        typename Group<F>::Point got, wanted = multiple<F>(fr_signed(expected));
        finish(&got, &sums[count], &sums[w]);
        EXPECT(Group<F>::equal(&got, &wanted), "%s: %s, %u points cut at %u, witness %u of %u (%s)",
               name, what, n, cut, w, count, bit_kind_names[w % BIT_KINDS]);
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

template <class F> void test_sums(const char *name, const std::vector<uint32_t> &sizes)
{
    uint32_t n_max = 0;
    for (uint32_t n : sizes)
        n_max = n > n_max ? n : n_max;
    Scratch slots(size_t(n_max) * Slot<F>::BYTES);
    make_points<F>(FIRST, n_max, slots.data);
    for (uint32_t n : sizes) {
        check_sums<F>(name, "different points", slots.data, n, n, 5, counting);
        check_sums<F>(name, "different points", slots.data, n, n / 2 / 192 * 192, 15, counting);
        check_sums<F>(name, "different points", slots.data, n, n / 5 / 192 * 192, 3, counting);
    }
}

/* Trees in which all points meet themselves, their opposites and infinity. */
template <class F> void test_special_points(const char *name, uint32_t n)
{
    int64_t (*const kinds[])(uint32_t) = {equal_logs, opposite_logs, small_logs};
    const char *const names[] = {"equal points", "opposite points", "few points"};
    for (int kind = 0; kind < 3; kind++) {
        std::vector<int32_t> logs(n);
        for (uint32_t i = 0; i < n; i++)
            logs[i] = int32_t(kinds[kind](i));
        Points<F> points(logs);
        check_sums<F>(name, names[kind], points.slots.data, n, n, 15, kinds[kind]);
    }
}

static void test_refusals()
{
    Scratch room(1 << 26);
    subset_job job = {};
    job.n_sums = 2;
    job.sums[0] = {room.data, 0, 1000, nullptr};
    job.sums[1] = {room.data + (1 << 20), 192, 1000, nullptr};
    job.scratch_bytes = subset_scratch_bytes(&job);
    auto refused = [](const subset_job &other) {
        return subset_enqueue(&other, nullptr) == cudaErrorInvalidValue;
    };
    subset_job other = job;
    other.scratch_bytes--;
    EXPECT(refused(other), "too little scratch is refused");
    other = job;
    other.n_sums = SUBSET_SUMS_MAX + 1;
    EXPECT(refused(other), "too many sums are refused");
    other = job;
    other.sums[1].first_point = 64;
    EXPECT(refused(other), "a part that begins within a group is refused");
    other = job;
    other.sums[1].table = room.data + 64;
    EXPECT(refused(other), "tables that do not lie slot on slot are refused");
    other = job;
    other.sums[1].table = room.data + (size_t(1) << 38);
    EXPECT(refused(other), "tables too far apart are refused");
    other = job;
    other.sums[1].n_points = 0;
    EXPECT(refused(other), "no points are refused");
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

/* What the chunks of a load become: all slots together, a table, and some points alone. */
template <class F> struct Loaded {
    static constexpr uint32_t CHUNK = 2 * SUBSET_ALIGNMENT;
    Scratch slots, table, combine_scratch, gathered;
    DeviceArray<uint32_t> wanted;
    uint32_t n_wanted, n_seen = 0;

    Loaded(uint32_t n, const std::vector<uint32_t> &points)
        : slots(n * Slot<F>::BYTES), table(subset_table_bytes(Group<F>::ID, n)),
          combine_scratch(subset_combine_scratch_bytes(Group<F>::ID, CHUNK)),
          gathered(points.size() * Slot<F>::BYTES), wanted(points),
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
        CUDA_OK(subset_combine(Group<F>::ID, chunk->slots, chunk->n,
                               self->table.data + subset_table_bytes(Group<F>::ID, chunk->first),
                               self->combine_scratch.data, self->combine_scratch.bytes, stream));
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
    file[15 * BYTES + BYTES - 1] ^= 1;                /* off the curve */
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
    EXPECT(found.infinite == 1, "%s: %u infinite points", name, found.infinite);
    EXPECT(found.off_curve == 3, "%s: %u points off the curve", name, found.off_curve);
    EXPECT(loaded.n_seen == N, "%s: %u of %u points seen", name, loaded.n_seen, N);
    std::vector<unsigned char> out = loaded.slots.read(loaded.slots.bytes);
    for (uint32_t i = 0; i < N; i++) {
        Affine<F> got = slot_of<F>(out, i), expected;
        memset(&expected, 0, sizeof expected);
        if (i < 10 || i > 17)
            memcpy(&expected, &points[i], sizeof expected);
        EXPECT(memcmp(&got, &expected, sizeof got) == 0, "%s: point %u converted", name, i);
    }
    std::vector<unsigned char> gathered = loaded.gathered.read(loaded.gathered.bytes);
    for (uint32_t i = 0; i < wanted.size(); i++) {
        Affine<F> got = slot_of<F>(gathered, i), expected = slot_of<F>(out, wanted[i]);
        EXPECT(memcmp(&got, &expected, sizeof got) == 0, "%s: point %u gathered", name, wanted[i]);
    }
    Scratch table(loaded.table.bytes);
    combine<F>(loaded.slots.data, N, table.data);
    std::vector<unsigned char> by_chunks = loaded.table.read(loaded.table.bytes);
    std::vector<unsigned char> at_once = table.read(table.bytes);
    bool same = true;
    for (uint32_t i = 0; i < 4 * subset_groups(N); i++) {
        Affine<F> a = slot_of<F>(by_chunks, i), b = slot_of<F>(at_once, i);
        same = same && memcmp(&a, &b, sizeof a) == 0;
    }
    EXPECT(same, "%s: table by chunks", name);
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
    test_tables<Fp>("G1");
    test_tables<Fp2>("G2");
    printf("tables: %d checks, %d failures\n", checks, failures);
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
        test_sums<Fp>("G1", {1000, 30011});
        test_special_points<Fp2>("G2", 1003);
    } else {
        test_sums<Fp>("G1", {1, 2, 3, 4, 5, 6, 7, 63, 64, 65, 1000, 100003, (1u << 20) + 13});
        test_sums<Fp2>("G2", {1, 65, 10007, 200001});
        test_special_points<Fp>("G1", 50001);
        test_special_points<Fp2>("G2", 20002);
    }
    printf("%d checks, %d failures\n", checks, failures);
    return failures != 0;
}
