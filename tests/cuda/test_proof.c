/* The proof of a real 2 KiB sector with fixed blinding: the reference's 192 bytes, also from more
   workers than a batch takes in and a device has slots for.

   CUZK_CUDA_PARAMS names the development parameters of the 2 KiB PoRep; they are made there if they
   are not yet (a minute on 16 processors). */
#include "cuda/device.h"

#include "backend/backend.h"
#include "backend/cuda/host/circuit.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/pool.h"
#include "groth16/lagrange_check.h"
#include "groth16/prove.h"
#include "groth16/setup.h"
#include "vanilla/c1.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORKERS = SLOTS_MAX + 2, PROOFS_EACH = 2, CIRCUITS_MAX = 2 };

struct work {
    const struct backend *backend;
    struct backend_circuit *circuit;
    const struct vk *vk;
    struct circuit_program program;
    const struct shape *shape;
    struct witness witness;
    uint8_t proofs[PROOFS_EACH][CUZK_PROOF_BYTES];
    struct cuzk_error err;
    enum cuzk_status status;
};

static enum cuzk_status prove_one(struct work *work, uint8_t *bytes)
{
    const struct backend_partition partition = {.witness = &work->witness};
    struct blinding blinding;
    struct proof proof;
    setup_dev_scalar(&blinding.r, "test-r");
    setup_dev_scalar(&blinding.s, "test-s");
    TRY(prove_partition(work->backend, work->circuit, work->vk, &partition, &blinding, &proof, NULL,
                        &work->err));
    proof_encode(bytes, &proof);
    return CUZK_OK;
}

static void *worker(void *context)
{
    struct work *work = context;
    for (unsigned i = 0; i < PROOFS_EACH && work->status == CUZK_OK; i++)
        work->status = prove_one(work, work->proofs[i]);
    return NULL;
}

/* Many workers on each circuit, all at once. */
static void prove_on(const struct work *const circuits[], unsigned n_circuits, const char *hex)
{
    static struct work works[WORKERS * CIRCUITS_MAX];
    pthread_t threads[WORKERS * CIRCUITS_MAX];
    const unsigned n = WORKERS * n_circuits;
    for (unsigned i = 0; i < n; i++) {
        works[i] = *circuits[i % n_circuits];
        assert_int_equal(pthread_create(&threads[i], NULL, worker, &works[i]), 0);
    }
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < n; i++) {
        assert_ok(works[i].status, works[i].err);
        for (unsigned k = 0; k < PROOFS_EACH; k++)
            assert_hex_equal(works[i].proofs[k], CUZK_PROOF_BYTES, hex);
    }
}

static void prove_together(const struct work *work, const char *hex)
{
    prove_on(&work, 1, hex);
}

/* Batches of two circuits take turns on the device. */
static void prove_on_two_circuits(const struct work *work, struct backend_device *device,
                                  const struct key_vectors *key, const char *hex)
{
    struct work other = *work;
    assert_ok(work->backend->load(device, work->shape, key, &other.circuit, &other.err), other.err);
    prove_on((const struct work *const[]){work, &other}, 2, hex);
    work->backend->unload(other.circuit);
}

#ifdef CUZK_CUDA_FAULTS
/* A failure of any call is a fault of the device, and the next proof is right again. */
static void fail_each_call(const struct work *work, const char *hex)
{
    struct work again = *work;
    uint8_t proof[CUZK_PROOF_BYTES];
    long calls = 0;
    for (;; calls++) {
        device_fail_after(calls);
        const enum cuzk_status status = prove_one(&again, proof);
        device_fail_after(-1);
        if (status == CUZK_OK)
            break;
        assert_int_equal(status, CUZK_DEVICE_FAULT);
        assert_non_null(strstr(again.err.text, "a fault was asked for"));
        assert_ok(prove_one(&again, proof), again.err);
        assert_hex_equal(proof, sizeof proof, hex);
    }
    assert_true(calls > 20);
    assert_hex_equal(proof, sizeof proof, hex);
}

/* A bit that turns over in what comes back makes an invalid proof, and our verifier sees it. */
static void flip_a_bit(const struct work *work, const char *hex)
{
    struct work again = *work;
    uint8_t bytes[CUZK_PROOF_BYTES];
    struct proof proof;
    const struct fr *inputs = again.witness.inputs + 1;
    const size_t n_inputs = again.witness.n_inputs - 1;
    assert_ok(prove_one(&again, bytes), again.err);
    assert_ok(proof_decode(bytes, &proof, &again.err), again.err);
    assert_ok(verify_single(again.vk, &proof, inputs, n_inputs, &again.err), again.err);
    device_flip_next();
    assert_ok(prove_one(&again, bytes), again.err);
    if (proof_decode(bytes, &proof, &again.err) == CUZK_OK)
        assert_int_equal(verify_single(again.vk, &proof, inputs, n_inputs, &again.err),
                         CUZK_VERIFY_FAILED);
    assert_ok(prove_one(&again, bytes), again.err);
    assert_hex_equal(bytes, sizeof bytes, hex);
}

/* A failed kernel loses the context: this process is told so, now and later. */
static void lose_the_context(const struct work *work)
{
    struct work again = *work;
    uint8_t bytes[CUZK_PROOF_BYTES];
    assert_int_equal(device_fail_kernel(again.circuit->device->stream), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(prove_one(&again, bytes), CUZK_DEVICE_LOST);
}

static void test_faults(const struct work *work, const char *hex)
{
    fail_each_call(work, hex);
    flip_a_bit(work, hex);
}
#else
static void test_faults(const struct work *work, const char *hex)
{
    (void)work;
    (void)hex;
}

static void lose_the_context(const struct work *work)
{
    (void)work;
}
#endif

/* Proves within a budget. False: it is too small, which is said. */
static bool prove_within(uint64_t budget, struct work *work, const struct key_vectors *key,
                         const char *hex, bool *streamed)
{
    const struct backend_options options = {.vram_budget_bytes = budget};
    struct backend_device *device;
    struct cuzk_error err;
    assert_ok(work->backend->open(&options, 0, &device, &err), err);
    const enum cuzk_status status =
        work->backend->load(device, work->shape, key, &work->circuit, &err);
    if (status == CUZK_OK) {
        assert_true(budget == 0 || work->backend->bytes(work->circuit) <= budget);
        *streamed = !plan_is_resident(&work->circuit->plan);
        prove_together(work, hex);
        work->backend->unload(work->circuit);
    } else {
        assert_int_equal(status, CUZK_RESOURCE_EXHAUSTED);
        assert_non_null(strstr(err.text, "needs at least"));
    }
    work->backend->close(device);
    return status == CUZK_OK;
}

/* Less and less memory: the same proof as long as there is enough for anything. */
static void prove_within_budgets(struct work *work, const struct key_vectors *key, const char *hex)
{
    unsigned n_streamed = 0;
    for (uint64_t budget = UINT64_C(4) << 30;; budget = budget / 8 * 7) {
        bool streamed;
        if (!prove_within(budget, work, key, hex, &streamed))
            break;
        n_streamed += streamed;
    }
    assert_true(n_streamed >= 2);
}

/* The key's Lagrange form, made on the device. */
static void derive(const struct work *work, struct key_vectors *key)
{
    struct backend_device *device;
    struct pool *pool = pool_new(0);
    struct cuzk_error err;
    const size_t domain = (size_t)1 << work->shape->log2_domain;
    const struct lagrange_points form = {
        .h = mem_alloc(domain, G1_BYTES),
        .l = mem_alloc(work->shape->n_aux, G1_BYTES),
        .inputs = mem_alloc(work->shape->n_inputs, G1_BYTES),
    };
    assert_ok(work->backend->open(&(struct backend_options){0}, 0, &device, &err), err);
    const uint64_t start = clock_now_ns();
    assert_ok(work->backend->derive(device, work->shape, key, &form, NULL, NULL, &err), err);
    const uint64_t derived = clock_now_ns();
    key->lagrange = form;
    assert_ok(lagrange_check(work->backend, device, work->shape, key, pool, &err), err);
    print_message("Lagrange form derived in %.1f s, checked in %.1f s\n",
                  (double)(derived - start) / 1e9, (double)(clock_now_ns() - derived) / 1e9);
    uint8_t kept[G1_BYTES], *point = form.h + domain / 2 * G1_BYTES;
    memcpy(kept, point, G1_BYTES);
    memcpy(point, point + G1_BYTES, G1_BYTES);
    assert_int_equal(lagrange_check(work->backend, device, work->shape, key, pool, &err),
                     CUZK_BAD_PARAMS);
    memcpy(point, kept, G1_BYTES);
    work->backend->close(device);
    pool_free(pool);
}

static char *read_text(const char *name)
{
    size_t len;
    char *text = (char *)vector_read_or_skip(name, &len);
    char *copy = mem_zalloc(len + 1, 1);
    memcpy(copy, text, len);
    copy[strcspn(copy, "\r\n")] = '\0';
    mem_free(text);
    return copy;
}

static void test_porep(void **state)
{
    (void)state;
    skip_without_device();
    const char *path = variable_or_skip("CUZK_CUDA_PARAMS");
    struct cuzk_error err;
    struct c1 *c1;
    struct shape *shape;
    struct params *params;
    struct key_vectors key;
    struct backend_device *device;
    size_t len;
    uint8_t *text = vector_read_or_skip("reference/porep-2k/c1.json", &len);
    char *hex = read_text("reference/porep-2k/proof.hex");
    assert_ok(c1_parse(text, len, &c1, &err), err);
    assert_ok(c1_check(c1, NULL, NULL, &err), err);
    struct work work = {
        .backend = backend_find("cuda"),
        .program = {porep_synthesize, c1_partition(c1, 0)},
    };
    assert_non_null(work.backend);
    assert_ok(shape_record(&work.program, &shape, &err), err);
    work.shape = shape;
    assert_ok(witness_synthesize(&work.program, shape, &work.witness, &err), err);
    if (access(path, R_OK) != 0) {
        struct setup_trapdoor trapdoor;
        struct pool *pool = pool_new(0);
        setup_dev_trapdoor(&trapdoor);
        assert_ok(setup_write(shape, &trapdoor, path, pool, NULL, NULL, &err), err);
        pool_free(pool);
    }
    assert_ok(params_open(path, &params, &err), err);
    key = params->key;
    work.vk = &params->vk;
    prove_within_budgets(&work, &key, hex);
    derive(&work, &key);
    prove_within_budgets(&work, &key, hex);
    assert_ok(work.backend->open(&(struct backend_options){0}, 0, &device, &err), err);
    assert_ok(work.backend->load(device, shape, &key, &work.circuit, &err), err);
    prove_together(&work, hex);
    prove_on_two_circuits(&work, device, &key, hex);
    test_faults(&work, hex);
    lose_the_context(&work); /* the last thing that this process does there */
    work.backend->unload(work.circuit);
    work.backend->close(device);
    mem_free(key.lagrange.h);
    mem_free(key.lagrange.l);
    mem_free(key.lagrange.inputs);
    params_close(params);
    witness_free(&work.witness);
    shape_free(shape);
    c1_free(c1);
    mem_free(text);
    mem_free(hex);
}

/* A budget that is too small is refused with the plan's numbers. */
static void test_budget(void **state)
{
    (void)state;
    skip_without_device();
    const struct backend_options options = {.vram_budget_bytes = 8 << 20};
    const struct backend *cuda = backend_find("cuda");
    struct cuzk_error err;
    struct c1 *c1;
    struct shape *shape;
    struct backend_device *device;
    struct backend_circuit *circuit;
    size_t len;
    uint8_t *text = vector_read_or_skip("reference/porep-2k/c1.json", &len);
    assert_ok(c1_parse(text, len, &c1, &err), err);
    assert_ok(c1_check(c1, NULL, NULL, &err), err);
    struct circuit_program program = {porep_synthesize, c1_partition(c1, 0)};
    assert_ok(shape_record(&program, &shape, &err), err);
    const struct key_vectors key = {
        .v = {[KEY_H] = {NULL, (1u << shape->log2_domain) - 1},
              [KEY_L] = {NULL, shape->n_aux},
              [KEY_A] = {NULL, shape->n_inputs + shape->a_dense_aux},
              [KEY_B_G1] = {NULL, shape->b_dense_inputs + shape->b_dense_aux},
              [KEY_B_G2] = {NULL, shape->b_dense_inputs + shape->b_dense_aux}},
    };
    assert_ok(cuda->open(&options, 0, &device, &err), err);
    assert_int_equal(cuda->load(device, shape, &key, &circuit, &err), CUZK_RESOURCE_EXHAUSTED);
    assert_non_null(strstr(err.text, "available are 8 MiB"));
    cuda->close(device);
    shape_free(shape);
    c1_free(c1);
    mem_free(text);
}

/* Devices that are not there are refused by name; those that are can be named by index. */
static void test_devices(void **state)
{
    (void)state;
    skip_without_device();
    const struct backend *cuda = backend_find("cuda");
    static const char *const absent[] = {"99", "GPU-00000000-0000", "0,77", "x", "GPU", "0,"};
    struct cuzk_error err;
    unsigned n;
    for (size_t i = 0; i < ARRAY_LEN(absent); i++) {
        const struct backend_options options = {.devices = absent[i]};
        assert_int_equal(cuda->count(&options, &n, &err), CUZK_NO_DEVICE);
    }
    assert_ok(cuda->count(&(struct backend_options){.devices = "0"}, &n, &err), err);
    assert_int_equal(n, 1);
    struct backend_device *device;
    assert_ok(cuda->open(&(struct backend_options){0}, 0, &device, &err), err);
    const char *uuid = strstr(cuda->describe(device), "GPU-");
    assert_non_null(uuid);
    char text[41] = {0};
    memcpy(text, uuid, 40);
    assert_ok(cuda->count(&(struct backend_options){.devices = text}, &n, &err), err);
    assert_int_equal(n, 1);
    cuda->close(device);
}

/* A machine without a driver or a device: the program runs and says so. */
static void test_no_device(void **state)
{
    (void)state;
    if (!no_device()) {
        print_message("SKIP: there is a CUDA device on this machine\n");
        skip();
    }
    struct cuzk_error err;
    struct backend_device *device;
    unsigned n;
    const struct backend_options options = {0};
    const struct backend *cuda = backend_find("cuda");
    assert_int_equal(cuda->count(&options, &n, &err), CUZK_NO_DEVICE);
    assert_memory_equal(err.text, "cuda: ", strlen("cuda: "));
    assert_int_equal(cuda->open(&options, 0, &device, &err), CUZK_NO_DEVICE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_device),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_porep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
