/* The quotient on the device against its twin on the processor, element by element.

   CUZK_CUDA_LOG2_MAX raises the largest size (default 20); times are printed. */
#include "cuda/device.h"

#include "backend/cuda/ntt.h"
#include "base/mem.h"
#include "base/pool.h"
#include "math/ntt.h"

#include <stdlib.h>

static uint64_t next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Any canonical residues will do; edges among them. */
static void fill(struct fr *elements, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        switch (next(&seed) % 16) {
        case 0:
            elements[i] = fr_zero;
            break;
        case 1:
            elements[i] = fr_minus_one;
            break;
        case 2: /* r - 1 as a residue */
            fr_from_u64(&elements[i], 1);
            elements[i].v.l[0] = 0xffffffff00000000u;
            elements[i].v.l[1] = 0x53bda402fffe5bfeu;
            elements[i].v.l[2] = 0x3339d80809a1d805u;
            elements[i].v.l[3] = 0x73eda753299d7d48u;
            break;
        default:
            for (size_t k = 0; k < 4; k++)
                elements[i].v.l[k] = next(&seed);
            elements[i].v.l[3] &= 0x3fffffffffffffffu;
        }
    }
}

static void check_size(unsigned log2_n, struct pool *pool)
{
    const size_t n = (size_t)1 << log2_n, bytes = n * sizeof(struct fr);
    struct cuzk_error err;
    struct fr *a = mem_alloc(n, sizeof *a), *b = mem_alloc(n, sizeof *b);
    struct fr *found = mem_alloc(n, sizeof *found);
    fill(a, n, log2_n);
    fill(b, n, log2_n + 100);
    void *a_device = device_copy(a, bytes), *b_device = device_copy(b, bytes);
    void *c_device = device_alloc(bytes), *tables = device_alloc(ntt_table_bytes(log2_n));
    cudaEvent_t events[3];
    for (int i = 0; i < 3; i++)
        MUST(cudaEventCreate(&events[i]));
    double best_ms = 1e9, tables_ms = 0;
    for (int run = 0; run < 3; run++) {
        MUST(cudaMemcpy(a_device, a, bytes, cudaMemcpyHostToDevice));
        MUST(cudaMemcpy(b_device, b, bytes, cudaMemcpyHostToDevice));
        MUST(cudaEventRecord(events[0], NULL));
        MUST(ntt_build_tables(log2_n, tables, NULL));
        MUST(cudaEventRecord(events[1], NULL));
        MUST(ntt_quotient_enqueue(log2_n, tables, a_device, b_device, c_device, NULL));
        MUST(cudaEventRecord(events[2], NULL));
        double ms = event_ms(events[1], events[2]);
        tables_ms = event_ms(events[0], events[1]);
        best_ms = ms < best_ms ? ms : best_ms;
    }
    MUST(cudaMemcpy(found, a_device, bytes, cudaMemcpyDeviceToHost));
    assert_ok(ntt_quotient(a, b, log2_n, NULL, pool, &err), err);
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++)
        wrong += !fr_equal(&a[i], &found[i]);
    printf("quotient 2^%u: %.3f ms, tables %.1f ms, %zu of %zu wrong\n", log2_n, best_ms, tables_ms,
           wrong, n);
    assert_int_equal(wrong, 0);
    for (int i = 0; i < 3; i++)
        MUST(cudaEventDestroy(events[i]));
    MUST(cudaFree(a_device));
    MUST(cudaFree(b_device));
    MUST(cudaFree(c_device));
    MUST(cudaFree(tables));
    mem_free(a);
    mem_free(b);
    mem_free(found);
}

static void test_quotient(void **state)
{
    (void)state;
    if (no_device())
        skip();
    const char *text = getenv("CUZK_CUDA_LOG2_MAX");
    unsigned most = text ? (unsigned)strtoul(text, NULL, 10) : 20;
    struct pool *pool = pool_new(0);
    assert_non_null(pool);
    for (unsigned log2_n = NTT_CUDA_LOG2_MIN; log2_n <= most && log2_n <= NTT_CUDA_LOG2_MAX;
         log2_n++)
        check_size(log2_n, pool);
    pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_quotient)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
