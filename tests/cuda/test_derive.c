/* The Lagrange form of a large key of known points: derived, and compared with the key.

   CUZK_CUDA_DERIVE names the circuit ("porep-32g": some minutes, 40 GB of memory); without it there
   is nothing to do. Small ones are in test_proof.c and the backends' own tests. */
#include "cuda/device.h"
#include "cuda/repeated.h"

#include "base/clock.h"
#include "base/pool.h"
#include "circuits/registry.h"
#include "groth16/lagrange_check.h"

static uint64_t start_ns;

static void print_progress(void *context, double done, const char *what)
{
    (void)context;
    printf("%6.1f s: %3.0f %%, %s\n", (double)(clock_now_ns() - start_ns) / 1e9, 100 * done, what);
    fflush(stdout);
}

static void test_derive(void **state)
{
    (void)state;
    skip_without_device();
    const char *circuit = variable_or_skip("CUZK_CUDA_DERIVE");
    const struct backend *cuda = backend_find("cuda");
    struct backend_device *device;
    struct shape *shape;
    struct cuzk_error err;
    const struct circuit_info *info = circuit_by_id(circuit);
    assert_non_null(info);
    assert_ok(circuit_shape(info, &shape, &err), err);
    const struct pattern g1 = g1_pattern();
    const uint32_t n = UINT32_C(1) << shape->log2_domain;
    struct key_vectors key = {.v = {[KEY_H] = {repeat(&g1, n - 1), n - 1},
                                    [KEY_L] = {repeat(&g1, shape->n_aux), shape->n_aux}}};
    const struct lagrange_points form = {
        .h = mem_alloc(n, G1_BYTES),
        .l = mem_alloc(shape->n_aux, G1_BYTES),
        .inputs = mem_alloc(shape->n_inputs, G1_BYTES),
    };
    struct pool *pool = pool_new(0);
    assert_ok(cuda->open(&(struct backend_options){0}, 0, &device, &err), err);
    start_ns = clock_now_ns();
    assert_ok(cuda->derive(device, shape, &key, &form, print_progress, NULL, &err), err);
    print_progress(NULL, 1, "derived");
    key.lagrange = form;
    assert_ok(lagrange_check(cuda, device, shape, &key, pool, &err), err);
    print_progress(NULL, 1, "compared with the key");
    cuda->close(device);
    pool_free(pool);
    mem_free(form.h);
    mem_free(form.l);
    mem_free(form.inputs);
    shape_free(shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_derive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
