/* Transforms of points and their sums by columns, against logarithms: point k is p_k·G, so that
   every result is known as a multiple of G. */
#include "cuda/device.h"

#include "backend/cuda/msm/msm.h"
#include "backend/cuda/ntt/point_ntt.h"
#include "base/mem.h"
#include "math/group.h"
#include "math/ntt.h"

#include <string.h>

enum { LOG2_MAX = 10, N_MAX = 1 << LOG2_MAX };

/* Logarithms: of points that meet their like, their opposite or infinity at each step, and of any.
 */
enum pattern { ALL_EQUAL, OPPOSITES, MOSTLY_NONE, ONE_ONLY, NONE, ANY, PATTERNS };

static void make_log(struct fr *out, enum pattern pattern, uint32_t k)
{
    fr_from_u64(out, 1);
    if (pattern == OPPOSITES && k % 2)
        fr_neg(out, out);
    if (pattern == NONE || (pattern == ONE_ONLY && k != 3) || (pattern == MOSTLY_NONE && k % 7))
        *out = fr_zero;
    if (pattern == ANY || pattern == MOSTLY_NONE) {
        struct fr factor;
        fr_from_u64(&factor, 0x9e3779b97f4a7c15u * (k + 1));
        fr_mul(out, out, &factor);
        fr_mul(out, out, &factor);
    }
}

static void multiple(struct g1_affine *out, const struct fr *log)
{
    struct g1 point;
    g1_from_affine(&point, g1_generator());
    g1_mul(&point, &point, log);
    g1_to_affine(out, &point);
}

/* Slots as in curve.cuh, on the device. */
static void *make_slots(const struct fr *logs, uint32_t n)
{
    const size_t slot = msm_slot_bytes(MSM_G1);
    char *slots = mem_zalloc(n, slot);
    for (uint32_t i = 0; i < n; i++) {
        struct g1_affine point;
        multiple(&point, &logs[i]);
        if (g1_affine_is_infinity(&point))
            continue;
        memcpy(slots + i * slot, &point, sizeof point / 2);
        memcpy(slots + i * slot + slot / 2, (char *)&point + sizeof point / 2, sizeof point / 2);
    }
    void *copy = device_copy(slots, n * slot);
    mem_free(slots);
    return copy;
}

/* The slots, in the order that log2_n tells of, are these multiples of G. */
static void check_slots(const void *slots, const struct fr *logs, uint32_t n, unsigned log2_n)
{
    uint8_t *bytes = mem_alloc(n, G1_BYTES);
    void *encoded = device_alloc((size_t)n * G1_BYTES);
    MUST(point_encode(slots, 0, n, log2_n, encoded, NULL));
    MUST(cudaMemcpy(bytes, encoded, (size_t)n * G1_BYTES, cudaMemcpyDeviceToHost));
    for (uint32_t i = 0; i < n; i++) {
        struct g1_affine point;
        uint8_t wanted[G1_BYTES];
        multiple(&point, &logs[i]);
        g1_encode(wanted, &point);
        if (memcmp(wanted, bytes + (size_t)i * G1_BYTES, G1_BYTES) != 0)
            fail_msg("point %u of %u differs", i, n);
    }
    cudaFree(encoded);
    mem_free(bytes);
}

/* 1/(n·d)·Σ_k z_j^k·p_k, z_j = w^-j, times 7^-1 on the coset. */
static void transform_logs(struct fr *logs, unsigned log2_n, bool coset)
{
    struct cuzk_error err;
    struct fr seven, d, factor = fr_one;
    fr_from_u64(&seven, 7);
    fr_pow(&d, &seven, UINT64_C(1) << log2_n);
    fr_sub(&d, &d, &fr_one);
    fr_inv(&d, &d);
    fr_inv(&seven, &seven);
    for (uint32_t k = 0; k < 1u << log2_n; k++) {
        fr_mul(&logs[k], &logs[k], &d);
        fr_mul(&logs[k], &logs[k], &factor);
        if (coset)
            fr_mul(&factor, &factor, &seven);
    }
    assert_ok(ntt_inverse(logs, log2_n, NULL, NULL, &err), err);
}

static void check_transform(unsigned log2_n, bool coset, enum pattern pattern)
{
    static struct fr logs[N_MAX];
    const uint32_t n = 1u << log2_n;
    void *scratch = device_alloc(point_ntt_scratch_bytes());
    for (uint32_t k = 0; k < n; k++)
        make_log(&logs[k], pattern, k);
    void *slots = make_slots(logs, n);
    for (unsigned step = 0; step <= log2_n; step++)
        MUST(point_ntt_step(log2_n, coset, step, slots, scratch, NULL));
    transform_logs(logs, log2_n, coset);
    check_slots(slots, logs, n, log2_n);
    cudaFree(slots);
    cudaFree(scratch);
}

static void test_transform(void **state)
{
    (void)state;
    skip_without_device();
    for (enum pattern pattern = 0; pattern < PATTERNS; pattern++) {
        for (unsigned log2_n = 1; log2_n <= (pattern == ANY ? LOG2_MAX : 7); log2_n++) {
            check_transform(log2_n, false, pattern);
            check_transform(log2_n, true, pattern);
        }
    }
}

/* Column v has entries (row, coefficient) with rows v, v + 1, …; some columns have none, one has so
   many that threads of a block take several. */
enum { LOG2_ROWS = 6, N_ROWS = 1 << LOG2_ROWS, COLUMNS = 40, ENTRIES_MAX = 4000, FACTORS = 6 };

struct matrix_of {
    uint32_t start[COLUMNS + 1], row[ENTRIES_MAX];
    uint16_t coeff[ENTRIES_MAX];
    struct point_factor factors[FACTORS];
    struct fr values[FACTORS];
};

static void make_value(struct matrix_of *matrix, unsigned i, unsigned log2_size, bool negative)
{
    struct point_factor *factor = &matrix->factors[i];
    factor->size[log2_size / 32] = 1u << (log2_size % 32);
    factor->size[0] |= 1;
    factor->n_bits = log2_size + 1;
    factor->negative = negative;
    fr_from_u64(&matrix->values[i], 2);
    fr_pow(&matrix->values[i], &matrix->values[i], log2_size);
    if (log2_size > 0)
        fr_add(&matrix->values[i], &matrix->values[i], &fr_one);
    if (negative)
        fr_neg(&matrix->values[i], &matrix->values[i]);
}

static void make_matrix(struct matrix_of *matrix)
{
    static const unsigned log2_sizes[FACTORS] = {0, 0, 1, 35, 64, 250};
    uint32_t n = 0;
    *matrix = (struct matrix_of){0};
    for (unsigned i = 0; i < FACTORS; i++)
        make_value(matrix, i, log2_sizes[i], i % 2);
    for (uint32_t v = 0; v < COLUMNS; v++) {
        const uint32_t count = v == 7 ? 1000 : v % 5;
        matrix->start[v] = n + 100; /* as in the middle of a larger matrix */
        for (uint32_t i = 0; i < count; i++) {
            matrix->row[n] = (v + i) % N_ROWS;
            matrix->coeff[n++] = (uint16_t)((v + i) % FACTORS);
        }
    }
    matrix->start[COLUMNS] = n + 100;
}

static void expect_columns(const struct matrix_of *matrix, const struct fr *rows, struct fr *sums)
{
    for (uint32_t v = 0; v < COLUMNS; v++) {
        for (uint32_t e = matrix->start[v]; e < matrix->start[v + 1]; e++) {
            struct fr term;
            fr_mul(&term, &matrix->values[matrix->coeff[e - 100]], &rows[matrix->row[e - 100]]);
            fr_sub(&sums[v], &sums[v], &term);
        }
    }
}

static void check_columns(bool are_dense, enum pattern pattern)
{
    static struct matrix_of matrix;
    struct fr rows[N_ROWS], reversed[N_ROWS], sums[COLUMNS];
    void *scratch = device_alloc(point_ntt_scratch_bytes());
    make_matrix(&matrix);
    for (uint32_t i = 0; i < N_ROWS; i++)
        make_log(&rows[i], pattern, i);
    for (uint32_t i = 0; i < N_ROWS; i++) {
        uint32_t at = 0;
        for (unsigned bit = 0; bit < LOG2_ROWS; bit++)
            at |= (i >> bit & 1) << (LOG2_ROWS - 1 - bit);
        reversed[at] = rows[i];
    }
    for (uint32_t v = 0; v < COLUMNS; v++)
        make_log(&sums[v], v % 3 ? ALL_EQUAL : NONE, v);
    void *points = make_slots(reversed, N_ROWS), *slots = make_slots(sums, COLUMNS);
    struct matrix_of *copy = device_copy(&matrix, sizeof matrix);
    const struct point_columns columns = {
        .log2_n = LOG2_ROWS,
        .points = points,
        .factors = copy->factors,
        .start = copy->start,
        .row = copy->row,
        .coeff = copy->coeff,
        .n = COLUMNS,
        .are_dense = are_dense,
    };
    MUST(point_columns_subtract(&columns, slots, scratch, NULL));
    expect_columns(&matrix, rows, sums);
    check_slots(slots, sums, COLUMNS, 0);
    cudaFree(copy);
    cudaFree(points);
    cudaFree(slots);
    cudaFree(scratch);
}

static void test_columns(void **state)
{
    (void)state;
    skip_without_device();
    for (enum pattern pattern = 0; pattern < PATTERNS; pattern++) {
        check_columns(false, pattern);
        check_columns(true, pattern);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transform),
        cmocka_unit_test(test_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
