/* Times of sums over bits on the card, and of loading points; sums are checked by known discrete
   logarithms. One JSON object a line.
       bench_bits sums        those of 1, 2, 5 and 10 partitions of 32 GiB, half of the bits set
       bench_bits part        a part of a section, as when it is streamed, for ten partitions
       bench_bits load [MIB]  points from a mapped file */
#include "timer.cuh"

#include "backend/cuda/msm/select.h"

extern "C" {
#include "backend/cuda/points/points_load.h"
}

#include <chrono>
#include <random>

#include <sys/mman.h>
#include <unistd.h>

static constexpr uint32_t VARS = 130278847; /* of a 32 GiB partition; and its dense ones */
static constexpr uint32_t DENSE_A = 129700224, DENSE_B = 33100224;
static constexpr uint32_t PART = 1 << 22;
static int wrong;

template <class F> const char *group_name()
{
    return sizeof(F) > 48 ? "G2" : "G1";
}

/* --- points -----------------------------------------------------------------------------------
 */

/* Point i is log_of(i)·G. Sums of points whose logarithms only count up would meet now and then, as
   those of real points never do. */
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

__global__ void add_logs(const uint64_t *bits, uint32_t n, unsigned long long *sum)
{
    uint64_t own = 0;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        own += bits[i / 64] >> i % 64 & 1 ? log_of(i) : 0;
    atomicAdd(sum, (unsigned long long)own);
}

/* Σ b_i·log_of(i), i < n. */
static int64_t expected_log(const uint64_t *bits, uint32_t n)
{
    DeviceArray<unsigned long long> sum(1);
    CUDA_OK(cudaMemset(sum.data, 0, sizeof(unsigned long long)));
    add_logs<<<1024, 256>>>(bits, n, sum.data);
    return int64_t(sum.read(1)[0]);
}

template <class F> struct MadeSlots : DeviceArray<unsigned char> {
    explicit MadeSlots(uint32_t n) : DeviceArray(size_t(n) * Slot<F>::BYTES)
    {
        PointMaker<F>().make(0, n, data);
        CUDA_OK(cudaDeviceSynchronize());
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

/* Bits of a witness are those of the one before moved by a word. */
template <class F>
void time_sums(const char *name, const unsigned char *slots, uint32_t n, unsigned witnesses)
{
    DeviceArray<uint64_t> bits(random_words((size_t(n) + 63) / 64 + witnesses, 7));
    std::vector<const uint64_t *> bitmaps;
    for (unsigned i = 0; i < witnesses; i++)
        bitmaps.push_back(bits.data + i);
    msm_size size = {};
    size.n = n;
    size.g1_sets = Group<F>::ID == MSM_G1;
    size.g2_sets = Group<F>::ID == MSM_G2;
    Job job(size, {slots}, bitmaps);
    Timer timer;
    std::vector<float> times;
    for (int run = -1; run < 3; run++) {
        timer.start();
        job.enqueue();
        float ms = timer.stop_ms();
        if (run >= 0)
            times.push_back(ms);
    }
    bool right = true;
    for (unsigned i = 0; i < witnesses; i++) {
        auto sum = job.bitmap_result<F>(0, i);
        auto expected = multiple<F>(fr_signed(expected_log(bits.data + i, n)));
        right = right && Group<F>::equal(&sum, &expected);
    }
    wrong += !right;
    printf("{\"bench\":\"%s\",\"group\":\"%s\",\"n\":%u,\"witnesses\":%u,\"ms\":%.3f,"
           "\"g_points_s\":%.2f,\"scratch_gb\":%.2f,\"right\":%s}\n",
           name, group_name<F>(), n, witnesses, median(times), n / median(times) * 1e-6,
           double(job.scratch_bytes()) * 1e-9, right ? "true" : "false");
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
        CUDA_OK(bits_select(bits.data, device_density.data, device_ranks.data, VARS, 1, rank + 1,
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
        MadeSlots<Fp> slots(VARS);
        for (unsigned witnesses : {1u, 2u, 5u, 10u}) {
            time_sums<Fp>("l", slots.data, VARS, witnesses);
            time_sums<Fp>("a", slots.data, DENSE_A, witnesses);
            time_sums<Fp>("b_g1", slots.data, DENSE_B, witnesses);
        }
    }
    MadeSlots<Fp2> slots(DENSE_B);
    for (unsigned witnesses : {1u, 2u, 5u, 10u})
        time_sums<Fp2>("b_g2", slots.data, DENSE_B, witnesses);
}

static void bench_part()
{
    MadeSlots<Fp> slots(PART);
    time_sums<Fp>("part", slots.data, PART, 10);
    MadeSlots<Fp2> slots_g2(PART);
    time_sums<Fp2>("part", slots_g2.data, PART, 10);
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
    msm_group group;
    unsigned char *out;

    static cuzk_status enqueue(void *context, const points_chunk *chunk, cudaStream_t stream,
                               cuzk_error *)
    {
        const Use *use = static_cast<const Use *>(context);
        size_t slot_bytes = msm_slot_bytes(use->group);
        CUDA_OK(cudaMemcpyAsync(use->out + chunk->first * slot_bytes, chunk->slots,
                                chunk->n * slot_bytes, cudaMemcpyDeviceToDevice, stream));
        return CUZK_OK;
    }
};

template <class F> void time_load(const uint8_t *bytes, uint32_t n, unsigned threads)
{
    constexpr uint32_t CHUNK_POINTS = 8192 * POINTS_ALIGNMENT * (96 / sizeof(F));
    cuzk_error error;
    points_loader *loader;
    if (points_loader_open(threads, &loader, &error) != CUZK_OK) {
        printf("%s\n", error.text);
        exit(2);
    }
    Use use = {Group<F>::ID, nullptr};
    DeviceArray<unsigned char> staging(points_staging_bytes(use.group, CHUNK_POINTS));
    DeviceArray<unsigned char> out(size_t(n) * Slot<F>::BYTES);
    DeviceArray<points_faults> faults(1);
    CUDA_OK(cudaMemset(faults.data, 0, sizeof(points_faults)));
    use.out = out.data;
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
    printf("{\"bench\":\"load\",\"group\":\"%s\",\"gb\":%.2f,\"threads\":%u,\"gb_s\":%.1f,"
           "\"right\":%s}\n",
           group_name<F>(), gb, threads, gb / best, right ? "true" : "false");
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
    char path[] = "/tmp/bench_bits.XXXXXX";
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
        time_load<F>(static_cast<uint8_t *>(map), n, threads);
    munmap(map, n_bytes);
    close(fd);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    CUDA_OK(msm_prepare());
    if (strcmp(what, "sums") == 0)
        bench_sums();
    if (strcmp(what, "part") == 0)
        bench_part();
    if (strcmp(what, "load") == 0) {
        size_t mib = argc > 2 ? size_t(atoi(argv[2])) : 4096;
        bench_load<Fp>(mib << 20);
        bench_load<Fp2>(mib << 20);
    }
    return wrong != 0;
}
