/* The quotient, and its products on the coset, on the device against their twins on the processor,
   element by element.

   CUZK_CUDA_LOG2_MIN and CUZK_CUDA_LOG2_MAX choose the sizes (default: 1 to 20); times are
   printed. */
#include "cuda/coset.h"
#include "cuda/device.h"

#include "backend/cuda/ntt/ntt.h"
#include "base/mem.h"
#include "base/pool.h"
#include "math/ntt.h"

#include <stdlib.h>

enum { LOG2_ALL_PATTERNS = 19 };

static uint64_t next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Canonical residues, also the largest one, r - 1. */
static const struct fr largest = {
    {{0xffffffff00000000u, 0x53bda402fffe5bfeu, 0x3339d80809a1d805u, 0x73eda753299d7d48u}}};

static struct fr residue(uint64_t *state)
{
    struct fr out;
    switch (next(state) % 16) {
    case 0:
        return fr_zero;
    case 1:
        return fr_minus_one;
    case 2:
        return largest;
    case 3:
        fr_from_u64(&out, next(state) & 1);
        return out;
    default:
        for (size_t k = 0; k < 4; k++)
            out.v.l[k] = next(state);
        out.v.l[3] &= 0x3fffffffffffffffu;
        return out;
    }
}

enum pattern { MIXED, ALL_ZERO, ALL_ONE, ALL_LARGEST, ALL_EQUAL, SINGLE, PATTERN_COUNT };
static const char *const pattern_names[] = {"mixed",       "all 0",     "all 1",
                                            "all largest", "all equal", "one element"};

static void fill(struct fr *elements, size_t n, enum pattern pattern, uint64_t seed)
{
    struct fr value = fr_zero;
    if (pattern == ALL_ONE)
        fr_from_u64(&value, 1);
    if (pattern == ALL_LARGEST)
        value = largest;
    if (pattern == ALL_EQUAL)
        value = residue(&seed);
    for (size_t i = 0; i < n; i++)
        elements[i] = pattern == MIXED ? residue(&seed) : value;
    if (pattern == SINGLE)
        elements[next(&seed) % n] = largest;
}

enum result { QUOTIENT, PRODUCTS, RESULT_COUNT };
static const char *const result_names[] = {"quotient", "products"};

struct vectors {
    struct fr *a, *b, *found; /* on the host */
    void *a_device, *b_device, *c_device, *tables;
};

static int enqueue(const struct vectors *v, unsigned log2_n, enum result result)
{
    if (result == PRODUCTS)
        return ntt_products_enqueue(log2_n, v->tables, v->a_device, v->b_device, NULL);
    return ntt_quotient_enqueue(log2_n, v->tables, v->a_device, v->b_device, v->c_device, NULL);
}

/* a and b, filled, to the device's result in `found`; the milliseconds that took. */
static double run_device(struct vectors *v, unsigned log2_n, enum result result)
{
    const size_t bytes = sizeof(struct fr) << log2_n;
    cudaEvent_t events[2];
    for (int i = 0; i < 2; i++)
        MUST(cudaEventCreate(&events[i]));
    MUST(cudaMemcpy(v->a_device, v->a, bytes, cudaMemcpyHostToDevice));
    MUST(cudaMemcpy(v->b_device, v->b, bytes, cudaMemcpyHostToDevice));
    MUST(cudaMemset(v->c_device, 0xa5, bytes));
    MUST(cudaEventRecord(events[0], NULL));
    MUST(enqueue(v, log2_n, result));
    MUST(cudaEventRecord(events[1], NULL));
    double ms = event_ms(events[0], events[1]);
    MUST(cudaMemcpy(v->found, v->a_device, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 2; i++)
        MUST(cudaEventDestroy(events[i]));
    return ms;
}

/* The processor's result, in a. */
static void run_host(struct vectors *v, unsigned log2_n, enum result result, struct pool *pool)
{
    struct cuzk_error err;
    if (result == PRODUCTS)
        products_on_coset(v->a, v->b, log2_n, pool);
    else
        assert_ok(ntt_quotient(v->a, v->b, log2_n, NULL, pool, &err), err);
}

static void check_pattern(struct vectors *v, unsigned log2_n, enum result result,
                          enum pattern pattern, struct pool *pool)
{
    const size_t n = (size_t)1 << log2_n;
    fill(v->a, n, pattern, log2_n);
    fill(v->b, n, pattern, log2_n + 100);
    double best_ms = 1e9;
    for (int run = 0; run < (pattern == MIXED ? 4 : 1); run++) {
        double ms = run_device(v, log2_n, result);
        best_ms = ms < best_ms ? ms : best_ms;
    }
    run_host(v, log2_n, result, pool);
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++)
        wrong += !fr_equal(&v->a[i], &v->found[i]);
    if (pattern == MIXED)
        printf("%s 2^%u: %.3f ms\n", result_names[result], log2_n, best_ms);
    if (wrong > 0)
        fail_msg("%s of 2^%u, %s: %zu of %zu differ", result_names[result], log2_n,
                 pattern_names[pattern], wrong, n);
}

static void check_size(unsigned log2_n, struct pool *pool)
{
    const size_t n = (size_t)1 << log2_n, bytes = n * sizeof(struct fr);
    struct vectors v = {mem_alloc(n, sizeof *v.a),
                        mem_alloc(n, sizeof *v.b),
                        mem_alloc(n, sizeof *v.found),
                        device_alloc(bytes),
                        device_alloc(bytes),
                        device_alloc(bytes),
                        device_alloc(ntt_table_bytes(log2_n))};
    MUST(ntt_build_tables(log2_n, v.tables, NULL));
    /* What values do shows at small sizes; large ones are for the indices. */
    const int patterns = log2_n <= LOG2_ALL_PATTERNS ? PATTERN_COUNT : 1;
    for (int i = 0; i < patterns * RESULT_COUNT; i++)
        check_pattern(&v, log2_n, (enum result)(i / patterns), (enum pattern)(i % patterns), pool);
    MUST(cudaFree(v.a_device));
    MUST(cudaFree(v.b_device));
    MUST(cudaFree(v.c_device));
    MUST(cudaFree(v.tables));
    mem_free(v.a);
    mem_free(v.b);
    mem_free(v.found);
}

static unsigned number_from(const char *variable, unsigned otherwise)
{
    const char *text = getenv(variable);
    return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static void test_quotient(void **state)
{
    (void)state;
    skip_without_device();
    unsigned least = number_from("CUZK_CUDA_LOG2_MIN", NTT_CUDA_LOG2_MIN);
    unsigned most = number_from("CUZK_CUDA_LOG2_MAX", 20);
    struct pool *pool = pool_new(0);
    assert_non_null(pool);
    for (unsigned log2_n = least; log2_n <= most && log2_n <= NTT_CUDA_LOG2_MAX; log2_n++)
        check_size(log2_n, pool);
    pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_quotient)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
