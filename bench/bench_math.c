/* Speed of number-theoretic transforms, point sums and Poseidon hashes, by size: minimum, median
   and maximum of several runs, and the least CPU time of all threads together. It is not a test:
   the figures depend on the machine.

   bench_math [--json] [--threads N] [--runs N] [--log2 FROM TO] [--variant NAME]
              [--only ntt|quotient|poseidon|msm|bits|msm-g2]

   --variant: of the implementations that run here, the one of that name ("ifma", "avx2",
   "portable"); what has none of that name is left out. */
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/pool.h"
#include "math/msm.h"
#include "math/ntt.h"
#include "math/poseidon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 32 };

struct options {
    bool json;
    const char *variant; /* NULL: the best */
    unsigned threads;
    unsigned runs;
    unsigned log2_from, log2_to;
    const char *only;
};

struct inputs {
    struct pool *pool;
    /* NULL where there is none of the wanted name. */
    const struct ntt_arith *ntt;
    const struct poseidon_arith *poseidon;
    const struct g1_kernel *g1;
    const struct g2_kernel *g2;
    size_t n;
    unsigned log2_n;
    uint8_t *points, *points_g2; /* 2^log2_n small multiples of the generators */
    struct fr *a, *b;
    uint64_t *selected;
};

static uint64_t state = 0x9e3779b97f4a7c15;

static uint64_t next_random(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1d;
}

static void fill_random(struct fr *elements, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < 4; j++)
            elements[i].v.l[j] = next_random();
        elements[i].v.l[3] &= 0x3fffffffffffffff;
    }
}

/* fill_g1(points, n), fill_g2(points, n): distinct points, i + 1 times the generator. */
#define DEFINE_FILL(group, bytes, blst_point, blst_to_affine)                                      \
    static void fill_##group(uint8_t *points, size_t n)                                            \
    {                                                                                              \
        enum { BLOCK = 1024 };                                                                     \
        static struct group block[BLOCK];                                                          \
        static struct group##_affine affine[BLOCK];                                                \
        struct group sum;                                                                          \
        group##_set_infinity(&sum);                                                                \
        for (size_t first = 0; first < n; first += BLOCK) {                                        \
            const size_t count = n - first < BLOCK ? n - first : BLOCK;                            \
            for (size_t i = 0; i < count; i++) {                                                   \
                group##_add_affine(&sum, &sum, group##_generator());                               \
                block[i] = sum;                                                                    \
            }                                                                                      \
            const blst_point *list[] = {&block[0].p, NULL};                                        \
            blst_to_affine(&affine[0].p, list, count);                                             \
            for (size_t i = 0; i < count; i++)                                                     \
                group##_encode(points + (first + i) * (bytes), &affine[i]);                        \
        }                                                                                          \
    }

DEFINE_FILL(g1, G1_BYTES, blst_p1, blst_p1s_to_affine)
DEFINE_FILL(g2, G2_BYTES, blst_p2, blst_p2s_to_affine)

static void run_ntt(struct inputs *in)
{
    CHECK(ntt_inverse(in->a, in->log2_n, in->ntt, in->pool, NULL) == CUZK_OK);
}

static void run_quotient(struct inputs *in)
{
    CHECK(ntt_quotient(in->a, in->b, in->log2_n, in->ntt, in->pool, NULL) == CUZK_OK);
}

static void run_terms(struct inputs *in, const struct msm_terms *terms)
{
    struct g1 sum;
    CHECK(g1_msm(&sum, terms, in->g1, in->pool, NULL) == CUZK_OK);
}

static void run_msm(struct inputs *in)
{
    const struct msm_terms terms = {.name = "bench",
                                    .points = in->points,
                                    .n_points = (uint32_t)in->n,
                                    .scalars = in->a,
                                    .n_scalars = (uint32_t)in->n};
    run_terms(in, &terms);
}

static void run_bits(struct inputs *in)
{
    const struct msm_terms terms = {.name = "bench",
                                    .points = in->points,
                                    .n_points = (uint32_t)in->n,
                                    .selected = in->selected};
    run_terms(in, &terms);
}

static void run_msm_g2(struct inputs *in)
{
    const struct msm_terms terms = {.name = "bench",
                                    .points = in->points_g2,
                                    .n_points = (uint32_t)in->n,
                                    .scalars = in->a,
                                    .n_scalars = (uint32_t)in->n};
    struct g2 sum;
    CHECK(g2_msm(&sum, &terms, in->g2, in->pool, NULL) == CUZK_OK);
}

/* One hash of arity 8 for every eight elements, a multiple of 64 of them. */
enum { POSEIDON_ARITY = 8, POSEIDON_TASK = 64 };

static void hash_task(void *context, size_t task)
{
    struct inputs *in = context;
    const struct fr *inputs[POSEIDON_TASK];
    struct fr *out[POSEIDON_TASK];
    for (size_t i = 0; i < POSEIDON_TASK; i++) {
        const size_t k = task * POSEIDON_TASK + i;
        inputs[i] = &in->a[k * POSEIDON_ARITY];
        out[i] = &in->b[k];
    }
    poseidon_hashes(in->poseidon, POSEIDON_ARITY, POSEIDON_TASK, inputs, out);
}

static void run_poseidon(struct inputs *in)
{
    pool_run(in->pool, in->n / POSEIDON_ARITY / POSEIDON_TASK, hash_task, in);
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void measure(const struct options *options, const char *name, void (*run)(struct inputs *in),
                    struct inputs *in)
{
    uint64_t times[RUNS_MAX];
    uint64_t cpu_min = UINT64_MAX;
    for (unsigned i = 0; i < options->runs; i++) {
        const uint64_t start = clock_now_ns();
        const uint64_t cpu_start = clock_cpu_ns();
        run(in);
        times[i] = clock_now_ns() - start;
        const uint64_t cpu = clock_cpu_ns() - cpu_start;
        cpu_min = cpu < cpu_min ? cpu : cpu_min;
    }
    qsort(times, options->runs, sizeof times[0], compare);
    const double min = (double)times[0] / 1e6;
    const double median = (double)times[options->runs / 2] / 1e6;
    const double max = (double)times[options->runs - 1] / 1e6;
    const char *format = options->json
                             ? "{\"name\":\"%s\",\"log2\":%u,\"threads\":%u,\"min_ms\":%.3f,"
                               "\"median_ms\":%.3f,\"max_ms\":%.3f,\"cpu_ms\":%.3f}\n"
                             : "%-10s 2^%-2u %2u threads  min %10.3f  median %10.3f  max %10.3f  "
                               "cpu %10.3f ms\n";
    printf(format, name, in->log2_n, pool_threads(in->pool), min, median, max,
           (double)cpu_min / 1e6);
    fflush(stdout);
}

static bool is_wanted(const struct options *options, const char *name)
{
    return !options->only || strcmp(options->only, name) == 0;
}

static void choose_variants(struct inputs *in, const char *variant)
{
    const struct ntt_arith *const *ntt = ntt_ariths();
    const struct poseidon_arith *const *poseidon = poseidon_ariths();
    const struct g1_kernel *const *g1 = g1_kernels();
    const struct g2_kernel *const *g2 = g2_kernels();
    while (variant && *ntt && strcmp(ntt_arith_name(*ntt), variant) != 0)
        ntt++;
    while (variant && *poseidon && strcmp(poseidon_arith_name(*poseidon), variant) != 0)
        poseidon++;
    while (variant && *g1 && strcmp((*g1)->name, variant) != 0)
        g1++;
    while (variant && *g2 && strcmp((*g2)->name, variant) != 0)
        g2++;
    in->ntt = *ntt;
    in->poseidon = *poseidon;
    in->g1 = *g1;
    in->g2 = *g2;
}

static void run_size(const struct options *options, struct pool *pool, unsigned log2_n)
{
    const size_t n = (size_t)1 << log2_n;
    struct inputs in = {.pool = pool, .n = n, .log2_n = log2_n};
    choose_variants(&in, options->variant);
    in.points = mem_alloc(n, G1_BYTES);
    in.points_g2 = mem_alloc(n, G2_BYTES);
    in.a = mem_alloc(n, sizeof *in.a);
    in.b = mem_alloc(n, sizeof *in.b);
    in.selected = mem_alloc(n / 64 + 1, sizeof *in.selected);
    CHECK(in.points && in.points_g2 && in.a && in.b && in.selected);
    for (size_t i = 0; i < n / 64 + 1; i++)
        in.selected[i] = next_random() & (n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX);
    if (n % 64 == 0)
        in.selected[n / 64] = 0;
    fill_random(in.a, n);
    fill_random(in.b, n);
    if (in.ntt && is_wanted(options, "ntt"))
        measure(options, "ntt", run_ntt, &in);
    if (in.ntt && is_wanted(options, "quotient"))
        measure(options, "quotient", run_quotient, &in);
    if (in.poseidon && is_wanted(options, "poseidon"))
        measure(options, "poseidon", run_poseidon, &in);
    const bool msm = in.g1 && is_wanted(options, "msm");
    const bool bits = in.g1 && is_wanted(options, "bits");
    if (msm || bits)
        fill_g1(in.points, n);
    if (msm)
        measure(options, "msm", run_msm, &in);
    if (bits)
        measure(options, "bits", run_bits, &in);
    if (in.g2 && is_wanted(options, "msm-g2")) {
        fill_g2(in.points_g2, n);
        measure(options, "msm-g2", run_msm_g2, &in);
    }
    mem_free(in.points);
    mem_free(in.points_g2);
    mem_free(in.a);
    mem_free(in.b);
    mem_free(in.selected);
}

static unsigned number(const char *text, unsigned max)
{
    uint64_t value;
    if (!number_parse(text, 0, max, &value)) {
        fprintf(stderr, "bench_math: '%s': expected a number up to %u\n", text, max);
        exit(2);
    }
    return (unsigned)value;
}

int main(int argc, char **argv)
{
    struct options options = {.runs = 3, .log2_from = 14, .log2_to = 20};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            options.json = true;
        } else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc) {
            options.threads = number(argv[++i], 1024);
        } else if (strcmp(argv[i], "--runs") == 0 && i + 1 < argc) {
            options.runs = number(argv[++i], RUNS_MAX);
        } else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
            options.only = argv[++i];
        } else if (strcmp(argv[i], "--variant") == 0 && i + 1 < argc) {
            options.variant = argv[++i];
        } else if (strcmp(argv[i], "--log2") == 0 && i + 2 < argc) {
            options.log2_from = number(argv[++i], 27);
            options.log2_to = number(argv[++i], 27);
        } else {
            fprintf(stderr, "usage: bench_math [--json] [--threads N] [--runs N] [--log2 FROM TO]\n"
                            "                  [--only ntt|quotient|poseidon|msm|bits|msm-g2]\n"
                            "                  [--variant ifma|avx2|portable]\n");
            return 2;
        }
    }
    if (options.runs == 0)
        options.runs = 1;
    struct pool *pool = pool_new(options.threads);
    CHECK(pool);
    for (unsigned log2_n = options.log2_from; log2_n <= options.log2_to; log2_n++)
        run_size(&options, pool, log2_n);
    pool_free(pool);
    return 0;
}
