/* Times of subset sums on the card, by tables of signed groups of three, and of loading points;
   sums are checked by known discrete logarithms. One JSON object a line.
       bench_subset sums        the boolean sums of a 32 GiB partition, half of the bits set
       bench_subset batch       a part of a section for ten witnesses at once
       bench_subset load [MIB]  points from memory and from a mapped file, to slots and to a table
 */
#include "timer.cuh"

#include "backend/cuda/subset.h"

extern "C" {
#include "backend/cuda/points_load.h"
#include "backend/cuda/subset_finish.h"
}

#include <chrono>
#include <random>

#include <sys/mman.h>
#include <unistd.h>

static constexpr uint32_t VARS = 130278847; /* of a 32 GiB partition; and its dense ones */
static constexpr uint32_t DENSE_A = 129700224, DENSE_B = 33100224;
static constexpr uint32_t PART = 16384 * SUBSET_ALIGNMENT;
static int wrong;

template <class F> const char *group_name()
{
    return sizeof(F) > 48 ? "G2" : "G1";
}

/* --- points -----------------------------------------------------------------------------------
 */

/* Point i is log_of(i)·G. Logarithms that only count up would meet again and again in signed sums,
   as no real points do. */
__device__ uint32_t log_of(uint32_t i)
{
    return uint32_t(mix(i) >> 34);
}

template <class F>
__global__ void points_by_hash(const Affine<F> *low, const Affine<F> *high, uint32_t first,
                               uint32_t n, unsigned char *slots)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t log = log_of(first + i);
    Xyzz<F> sum = Xyzz<F>::from(low[log & ((1u << LOW_BITS) - 1)]);
    sum.add(Xyzz<F>::from(high[log >> LOW_BITS]));
    sum.to_affine().store(slots, i);
}

template <class F> class PointMaker
{
  public:
    PointMaker() : low_(LOWS), high_(HIGHS)
    {
        Affine<F> generator = device_generator<F>();
        progression<F><<<LOWS / 64, 64>>>(generator, 0, 1, LOWS, low_.data);
        progression<F><<<HIGHS / 64, 64>>>(generator, 0, LOWS, HIGHS, high_.data);
    }
    void make(uint32_t first, uint32_t n, unsigned char *slots) const
    {
        points_by_hash<F><<<(n + 127) / 128, 128>>>(low_.data, high_.data, first, n, slots);
        CUDA_OK(cudaGetLastError());
    }

  private:
    static constexpr uint32_t LOWS = 1 << LOW_BITS, HIGHS = 1 << (30 - LOW_BITS);
    DeviceArray<Affine<F>> low_, high_;
};

__global__ void add_signed_logs(const uint64_t *bits, uint32_t n, unsigned long long *sum)
{
    int64_t own = 0;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        own += bits[i / 64] >> i % 64 & 1 ? int64_t(log_of(i)) : -int64_t(log_of(i));
    atomicAdd(sum, (unsigned long long)own);
}

/* Σ (2·b_i − 1)·log_of(i), i < n. */
static int64_t signed_log(const uint64_t *bits, uint32_t n)
{
    DeviceArray<unsigned long long> sum(1);
    CUDA_OK(cudaMemset(sum.data, 0, sizeof(unsigned long long)));
    add_signed_logs<<<1024, 256>>>(bits, n, sum.data);
    return int64_t(sum.read(1)[0]);
}

/* The table of points 0 … n, made part by part. */
template <class F> struct Table {
    uint32_t n;
    DeviceArray<unsigned char> bytes;

    explicit Table(uint32_t n_points)
        : n(n_points), bytes(subset_table_bytes(Group<F>::ID, n_points))
    {
        PointMaker<F> maker;
        DeviceArray<unsigned char> slots(size_t(PART) * Slot<F>::BYTES);
        size_t scratch_bytes = subset_combine_scratch_bytes(Group<F>::ID, PART);
        DeviceArray<unsigned char> scratch(scratch_bytes);
        float ms = 0;
        Timer timer;
        for (uint32_t first = 0; first < n; first += PART) {
            uint32_t count = std::min(PART, n - first);
            maker.make(first, count, slots.data);
            timer.start();
            CUDA_OK(subset_combine(Group<F>::ID, slots.data, count,
                                   bytes.data + subset_table_bytes(Group<F>::ID, first),
                                   scratch.data, scratch_bytes, nullptr));
            ms += timer.stop_ms();
        }
        printf("{\"bench\":\"table\",\"group\":\"%s\",\"n\":%u,\"ms\":%.1f,\"table_gb\":%.2f}\n",
               group_name<F>(), n, double(ms), double(subset_table_bytes(Group<F>::ID, n)) * 1e-9);
        fflush(stdout);
    }
};

/* --- sums -------------------------------------------------------------------------------------
 */

static std::vector<uint64_t> random_words(size_t n, unsigned seed)
{
    std::mt19937_64 random(seed);
    std::vector<uint64_t> words(n);
    for (uint64_t &word : words)
        word = random();
    return words;
}

template <class F>
typename Group<F>::Point point_of(const typename Group<F>::Coordinates &coordinates)
{
    typename Group<F>::Point out;
    Group<F>::from_affine(&out, &coordinates);
    return out;
}

/* A sum for each number of points, over the first of the table's points; its bits are those of the
   one before moved by a word. */
template <class F>
void time_sums(const char *name, const Table<F> &table, const std::vector<uint32_t> &n_points)
{
    uint32_t most = *std::max_element(n_points.begin(), n_points.end());
    DeviceArray<uint64_t> bits(random_words((size_t(most) + 63) / 64 + n_points.size(), 7));
    DeviceArray<typename Group<F>::Coordinates> out(n_points.size());
    subset_job job = {};
    job.group = Group<F>::ID;
    double adds = 0;
    for (uint32_t n : n_points) {
        job.sums[job.n_sums] = {table.bytes.data, 0, n, bits.data + job.n_sums};
        job.n_sums++;
        adds += double(subset_groups(n));
    }
    job.scratch_bytes = subset_scratch_bytes(&job);
    DeviceArray<unsigned char> scratch(job.scratch_bytes);
    job.scratch = scratch.data;
    job.out = out.data;
    Timer timer;
    std::vector<float> times;
    bool right = true;
    for (int run = -1; run < 3; run++) {
        timer.start();
        CUDA_OK(subset_enqueue(&job, nullptr));
        float ms = timer.stop_ms();
        if (run >= 0)
            times.push_back(ms);
        auto got = out.read(job.n_sums);
        for (unsigned i = 0; i < job.n_sums && run < 1; i++) {
            auto sum = point_of<F>(got[i]);
            auto expected = multiple<F>(fr_signed(signed_log(bits.data + i, n_points[i])));
            right = right && Group<F>::equal(&sum, &expected);
        }
    }
    wrong += !right;
    printf("{\"bench\":\"%s\",\"group\":\"%s\",\"n\":%u,\"sums\":%u,\"ms\":%.3f,\"g_adds_s\":%.2f,"
           "\"scratch_gb\":%.2f,\"right\":%s}\n",
           name, group_name<F>(), n_points[0], job.n_sums, median(times),
           adds / median(times) * 1e-6, double(job.scratch_bytes) * 1e-9, right ? "true" : "false");
    fflush(stdout);
}

/* About n_dense of VARS variables are dense, in runs of whole words. */
static void time_select(const char *name, uint32_t n_dense)
{
    constexpr uint32_t WORDS = (VARS + 63) / 64;
    std::vector<uint64_t> density = random_words(WORDS, 8);
    std::vector<uint32_t> ranks(WORDS);
    uint32_t rank = 0;
    for (uint32_t w = 0; w < WORDS; w++) {
        if (w % 16 != 0) /* the rest is mixed */
            density[w] = uint64_t(w % 1024) * VARS < uint64_t(1024) * n_dense ? ~uint64_t(0) : 0;
        ranks[w] = rank;
        rank += unsigned(__builtin_popcountll(density[w]));
    }
    DeviceArray<uint64_t> bits(random_words(WORDS, 9)), device_density(density), selected(WORDS);
    DeviceArray<uint32_t> device_ranks(ranks);
    Timer timer;
    std::vector<float> times;
    for (int run = -1; run < 3; run++) {
        timer.start();
        CUDA_OK(subset_select(bits.data, device_density.data, device_ranks.data, VARS, 1, rank + 1,
                              selected.data, nullptr));
        float ms = timer.stop_ms();
        if (run >= 0)
            times.push_back(ms);
    }
    printf("{\"bench\":\"%s\",\"vars\":%u,\"dense\":%u,\"ms\":%.3f}\n", name, VARS, rank,
           median(times));
}

static void bench_sums()
{
    time_select("select_a", DENSE_A);
    time_select("select_b", DENSE_B);
    {
        Table<Fp> table(VARS);
        time_sums("l", table, {VARS});
        time_sums("a", table, {DENSE_A});
        time_sums("b_g1", table, {DENSE_B});
        time_sums("l, a, b_g1", table, {VARS, DENSE_A, DENSE_B});
    }
    Table<Fp2> table(DENSE_B);
    time_sums("b_g2", table, {DENSE_B});
}

/* A part of a section for ten witnesses. */
static void bench_batch()
{
    Table<Fp> table(PART);
    for (uint32_t n = PART; n >= PART / 4; n /= 2)
        time_sums("batch", table, std::vector<uint32_t>(10, n));
    Table<Fp2> table_g2(PART);
    time_sums("batch", table_g2, std::vector<uint32_t>(10, PART / 2));
}

/* --- loading ---------------------------------------------------------------------------------- */

template <class F> __global__ void file_bytes(const unsigned char *slots, uint32_t n, uint32_t *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Affine<F> point = Affine<F>::load(slots, i);
    const Fp *elements = reinterpret_cast<const Fp *>(&point);
    constexpr int PER_COORDINATE = sizeof(F) / sizeof(Fp);
    for (int k = 0; k < 2 * PER_COORDINATE; k++) { /* within a coordinate the last one first */
        int at = k / PER_COORDINATE * PER_COORDINATE + (PER_COORDINATE - 1 - k % PER_COORDINATE);
        Fp unit = Fp::zero();
        unit.limb[0] = 1;
        Fp plain = elements[at] * unit;
        for (int j = 0; j < 12; j++)
            out[(size_t(i) * 2 * PER_COORDINATE + k) * 12 + j] =
                __byte_perm(plain.limb[11 - j], 0, 0x0123);
    }
}

struct Use {
    bool combined;
    msm_group group;
    unsigned char *out, *scratch;
    size_t scratch_bytes;

    static cuzk_status enqueue(void *context, const points_chunk *chunk, cudaStream_t stream,
                               cuzk_error *)
    {
        const Use *use = static_cast<const Use *>(context);
        size_t slot_bytes = msm_slot_bytes(use->group);
        if (use->combined)
            CUDA_OK(subset_combine(use->group, chunk->slots, chunk->n,
                                   use->out + subset_table_bytes(use->group, chunk->first),
                                   use->scratch, use->scratch_bytes, stream));
        else
            CUDA_OK(cudaMemcpyAsync(use->out + chunk->first * slot_bytes, chunk->slots,
                                    chunk->n * slot_bytes, cudaMemcpyDeviceToDevice, stream));
        return CUZK_OK;
    }
};

template <class F>
void time_load(const char *name, const uint8_t *bytes, uint32_t n, unsigned threads, bool combined)
{
    constexpr uint32_t CHUNK_POINTS = 2730 * SUBSET_ALIGNMENT * (96 / sizeof(F));
    cuzk_error error;
    points_loader *loader;
    if (points_loader_open(threads, &loader, &error) != CUZK_OK) {
        printf("%s\n", error.text);
        exit(2);
    }
    Use use = {combined, Group<F>::ID, nullptr, nullptr, 0};
    DeviceArray<unsigned char> staging(points_staging_bytes(use.group, CHUNK_POINTS));
    DeviceArray<unsigned char> out(subset_table_bytes(use.group, n));
    use.scratch_bytes = subset_combine_scratch_bytes(use.group, CHUNK_POINTS);
    DeviceArray<unsigned char> scratch(use.scratch_bytes);
    DeviceArray<points_faults> faults(1);
    CUDA_OK(cudaMemset(faults.data, 0, sizeof(points_faults)));
    use.out = out.data;
    use.scratch = scratch.data;
    points_source source = {use.group, bytes, n, CHUNK_POINTS, staging.data, faults.data};
    CUDA_OK(cudaDeviceSynchronize());
    double best = 1e9;
    for (int run = 0; run < 2; run++) {
        auto begin = std::chrono::steady_clock::now();
        if (points_load(loader, &source, Use::enqueue, &use, nullptr, &error) != CUZK_OK) {
            printf("%s\n", error.text);
            exit(2);
        }
        CUDA_OK(cudaDeviceSynchronize());
        std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
        best = std::min(best, time.count());
    }
    points_faults found = faults.read(1)[0];
    bool right = found.malformed + found.infinite + found.off_curve == 0;
    wrong += !right;
    double gb = double(n) * double(points_file_bytes(use.group)) * 1e-9;
    printf("{\"bench\":\"load\",\"from\":\"%s\",\"to\":\"%s\",\"group\":\"%s\",\"gb\":%.2f,"
           "\"threads\":%u,\"gb_s\":%.1f,\"right\":%s}\n",
           name, combined ? "table" : "slots", group_name<F>(), gb, threads, gb / best,
           right ? "true" : "false");
    fflush(stdout);
    points_loader_close(loader);
}

template <class F> void bench_load(size_t n_bytes)
{
    constexpr uint32_t BLOCK = 1 << 20;
    constexpr size_t BLOCK_BYTES = BLOCK * 2 * sizeof(F);
    DeviceArray<unsigned char> slots(size_t(BLOCK) * Slot<F>::BYTES), bytes(BLOCK_BYTES);
    PointMaker<F>().make(0, BLOCK, slots.data);
    file_bytes<F>
        <<<BLOCK / 128, 128>>>(slots.data, BLOCK, reinterpret_cast<uint32_t *>(bytes.data));
    std::vector<unsigned char> block = bytes.read(BLOCK_BYTES);
    size_t blocks = n_bytes / BLOCK_BYTES;
    n_bytes = blocks * BLOCK_BYTES;
    char path[] = "/tmp/bench_subset.XXXXXX";
    int fd = mkstemp(path);
    unlink(path);
    for (size_t i = 0; i < blocks; i++) {
        if (write(fd, block.data(), BLOCK_BYTES) != ssize_t(BLOCK_BYTES)) {
            perror("writing points");
            exit(2);
        }
    }
    void *map = mmap(nullptr, n_bytes, PROT_READ, MAP_SHARED, fd, 0);
    uint32_t n = uint32_t(blocks) * BLOCK;
    for (unsigned threads : {1u, 2u, 4u, 8u, 12u, 0u})
        time_load<F>("file", static_cast<uint8_t *>(map), n, threads, false);
    time_load<F>("file", static_cast<uint8_t *>(map), n, 0, true);
    munmap(map, n_bytes);
    close(fd);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    CUDA_OK(msm_prepare());
    if (strcmp(what, "sums") == 0)
        bench_sums();
    if (strcmp(what, "batch") == 0)
        bench_batch();
    if (strcmp(what, "load") == 0) {
        size_t mib = argc > 2 ? size_t(atoi(argv[2])) : 4096;
        bench_load<Fp>(mib << 20);
        bench_load<Fp2>(mib << 20);
    }
    return wrong != 0;
}
