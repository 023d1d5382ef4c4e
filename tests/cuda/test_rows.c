/* Row values on the device against those of the processor, bit for bit.

   CUZK_CUDA_C1 names one more C1 file, for instance one of a full-size sector; times are printed.
 */
#include "cuda/device.h"
#include "unit/r1cs/toy.h"

#include "backend/cuda/rows/rows.h"
#include "base/file.h"
#include "base/pool.h"
#include "circuits/porep.h"
#include "r1cs/shape.h"
#include "vanilla/c1.h"

#define C1_BYTES_MAX ((size_t)256 << 20)

/* What is in device memory for one circuit and witness. */
struct on_device {
    void *image, *bits, *full, *inputs, *a, *b;
};

static struct on_device upload(const struct rows_image *image, const struct witness *witness,
                               size_t domain)
{
    const size_t bits_bytes = witness_plane_words(witness->n_aux) * sizeof(uint64_t);
    struct on_device d = {
        .image = device_copy(image->bytes, image->n_bytes),
        .bits = device_alloc(bits_bytes + 64),
        .full = device_alloc(witness->n_full * sizeof(struct fr) + 32),
        .inputs = device_copy(witness->inputs, witness->n_inputs * sizeof(struct fr)),
        .a = device_alloc(domain * sizeof(struct fr)),
        .b = device_alloc(domain * sizeof(struct fr)),
    };
    MUST(cudaMemcpy(d.bits, witness->bits, bits_bytes, cudaMemcpyHostToDevice));
    MUST(cudaMemcpy(d.full, witness->full, witness->n_full * sizeof(struct fr),
                    cudaMemcpyHostToDevice));
    return d;
}

static void on_device_free(struct on_device *d)
{
    void *all[] = {d->image, d->bits, d->full, d->inputs, d->a, d->b};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        MUST(cudaFree(all[i]));
}

static void assert_rows(const char *side, const void *device, const struct fr *expected,
                        size_t domain)
{
    struct fr *found = mem_alloc(domain, sizeof *found);
    MUST(cudaMemcpy(found, device, domain * sizeof *found, cudaMemcpyDeviceToHost));
    size_t wrong = 0, first = 0;
    for (size_t i = domain; i-- > 0;) {
        if (!fr_equal(&found[i], &expected[i])) {
            wrong++;
            first = i;
        }
    }
    mem_free(found);
    if (wrong > 0)
        fail_msg("side %s: %zu of %zu rows are wrong, the first is %zu", side, wrong, domain,
                 first);
}

static double run_rows(const struct rows_image *image, const struct on_device *d,
                       unsigned log2_domain)
{
    const struct rows_witness witness = {d->bits, d->full, d->inputs};
    cudaEvent_t events[2];
    double best_ms = 1e9;
    for (int i = 0; i < 2; i++)
        MUST(cudaEventCreate(&events[i]));
    for (int run = 0; run < 4; run++) {
        MUST(cudaEventRecord(events[0], NULL));
        MUST(rows_enqueue(image, d->image, &witness, log2_domain, d->a, d->b, NULL));
        MUST(cudaEventRecord(events[1], NULL));
        double ms = event_ms(events[0], events[1]);
        best_ms = ms < best_ms ? ms : best_ms;
    }
    for (int i = 0; i < 2; i++)
        MUST(cudaEventDestroy(events[i]));
    return best_ms;
}

static void check_program(const char *name, const struct circuit_program *program)
{
    struct cuzk_error err;
    struct shape *shape;
    struct witness witness;
    struct rows_image image;
    struct pool *pool = pool_new(0);
    assert_ok(shape_record(program, &shape, &err), err);
    assert_ok(witness_synthesize(program, shape, &witness, &err), err);
    assert_ok(rows_image_make(shape, &image, &err), err);
    const size_t domain = (size_t)1 << shape->log2_domain;
    struct on_device d = upload(&image, &witness, domain);
    const double ms = run_rows(&image, &d, shape->log2_domain);
    struct fr *a = mem_alloc(domain, sizeof *a), *b = mem_alloc(domain, sizeof *b);
    assert_ok(shape_eval_rows(shape, &witness, pool, a, b, domain, &err), err);
    assert_rows("a", d.a, a, domain);
    assert_rows("b", d.b, b, domain);
    printf("rows of %s: %llu in 2^%u, %.3f ms; image %zu bytes\n", name,
           (unsigned long long)shape->n_rows, shape->log2_domain, ms, image.n_bytes);
    on_device_free(&d);
    rows_image_free(&image);
    mem_free(a);
    mem_free(b);
    witness_free(&witness);
    shape_free(shape);
    pool_free(pool);
}

static void test_toys(void **state)
{
    (void)state;
    skip_without_device();
    const struct toy toys[] = {
        {.values = 1, .rounds = 1},
        {.values = 2, .rounds = 7},
        {.values = 3, .rounds = 7, .bits_only = true},
        {.values = 4, .rounds = 20, .one_more_bit = true},
        {.values = 5, .rounds = 200},
    };
    for (size_t i = 0; i < ARRAY_LEN(toys); i++) {
        struct circuit_program program = toy_program(&toys[i]);
        check_program("a toy", &program);
    }
}

static void check_c1(const char *path)
{
    struct cuzk_error err;
    struct c1 *c1;
    uint8_t *text;
    size_t len;
    assert_ok(file_read(path, C1_BYTES_MAX, &text, &len, &err), err);
    assert_ok(c1_parse(text, len, &c1, &err), err);
    assert_ok(c1_check(c1, NULL, NULL, &err), err);
    mem_free(text);
    struct circuit_program program = {porep_synthesize, c1_partition(c1, 0)};
    check_program(path, &program);
    c1_free(c1);
}

static void test_porep(void **state)
{
    (void)state;
    skip_without_device();
    check_c1(vector_path_or_skip("reference/porep-2k/c1.json"));
    if (getenv("CUZK_CUDA_C1"))
        check_c1(getenv("CUZK_CUDA_C1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_toys),
        cmocka_unit_test(test_porep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
