/* With fixed blinding all backends and thread counts give the reference's proof bytes. */
#include "unit/groth16/files.h"
#include "unit/r1cs/toy.h"

#include "groth16/prove.h"
#include "groth16/setup.h"

static const char *const names[] = {"cpu", "cuda"};

static const struct tiny {
    const char *name;
    size_t n_rows;
    uint32_t n_inputs, n_aux;
} tinies[] = {
    {"t1-mul", 1, 2, 2},
    {"t2-density", 4, 3, 7},
    {"t3-pow2", 6, 2, 6},
    {"t4-pow2-plus1", 7, 2, 7},
};

/* A reference circuit with its values, key and texts. */
struct sample {
    struct text_circuit circuit;
    struct shape *shape;
    struct witness witness;
    struct params *params;
    struct key_vectors key;
};

static void sample_init(struct sample *s, const struct tiny *tiny)
{
    char name[64];
    struct cuzk_error err;
    snprintf(name, sizeof name, "reference/tiny/%s.txt", tiny->name);
    s->circuit = text_circuit_load(name, tiny->n_rows, tiny->n_inputs, tiny->n_aux);
    s->circuit.given_values = true;
    struct circuit_program program = text_program(&s->circuit);
    assert_ok(shape_record(&program, &s->shape, &err), err);
    assert_ok(witness_synthesize(&program, s->shape, &s->witness, &err), err);
    snprintf(name, sizeof name, "reference/tiny/%s.params", tiny->name);
    assert_ok(params_open(vector_path_or_skip(name), &s->params, &err), err);
    assert_ok(params_match_shape(s->params, s->shape, &err), err);
    s->key = s->params->key;
}

static void sample_free(struct sample *s)
{
    params_close(s->params);
    witness_free(&s->witness);
    shape_free(s->shape);
    text_circuit_free(&s->circuit);
}

/* The hexadecimal text after "\nkey ". */
static const char *text_of(const struct sample *s, const char *key)
{
    static char hex[2 * CUZK_PROOF_BYTES + 1];
    char pattern[32];
    snprintf(pattern, sizeof pattern, "\n%s ", key);
    const char *at = strstr(s->circuit.text, pattern);
    assert_non_null(at);
    snprintf(hex, sizeof hex, "%s", at + strlen(pattern));
    hex[strcspn(hex, "\n")] = '\0';
    return hex;
}

static void prove_and_compare(const struct sample *s, const struct backend *backend,
                              struct backend_circuit *circuit, const struct blinding *blinding,
                              const char *key)
{
    const struct backend_partition partition = {.witness = &s->witness};
    struct proof proof;
    struct cuzk_error err;
    uint8_t bytes[CUZK_PROOF_BYTES];
    assert_ok(
        prove_partition(backend, circuit, &s->params->vk, &partition, blinding, &proof, NULL, &err),
        err);
    proof_encode(bytes, &proof);
    assert_hex_equal(bytes, sizeof bytes, text_of(s, key));
    assert_ok(
        verify_single(&s->params->vk, &proof, s->witness.inputs + 1, s->witness.n_inputs - 1, &err),
        err);
}

static void prove_all(const struct sample *s, const char *name, unsigned threads)
{
    const struct backend *backend = backend_find(name);
    const struct backend_options options = {.threads = threads};
    struct backend_device *device;
    struct backend_circuit *circuit;
    struct cuzk_error err;
    unsigned n;
    if (!backend || backend->count(&options, &n, &err) == CUZK_NO_DEVICE)
        return;
    assert_ok(backend->open(&options, 0, &device, &err), err);
    assert_ok(backend->load(device, s->shape, &s->key, &circuit, &err), err);
    struct blinding blinding;
    setup_dev_scalar(&blinding.r, "test-r");
    setup_dev_scalar(&blinding.s, "test-s");
    prove_and_compare(s, backend, circuit, &blinding, "proof");
    blinding.r = blinding.s = fr_zero;
    prove_and_compare(s, backend, circuit, &blinding, "proof_r0_s0");
    backend->unload(circuit);
    backend->close(device);
}

static void proofs_equal_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(tinies); i++) {
        struct sample sample;
        sample_init(&sample, &tinies[i]);
        for (size_t j = 0; j < ARRAY_LEN(names); j++) {
            for (unsigned threads = 1; threads <= 3; threads++)
                prove_all(&sample, names[j], threads);
        }
        sample_free(&sample);
    }
}

static void random_blinding_gives_another_valid_proof(void **state)
{
    (void)state;
    const struct backend *cpu = backend_find("cpu");
    struct sample s;
    const struct backend_partition partition = {.witness = &s.witness};
    struct cuzk_error err;
    struct backend_device *device;
    struct backend_circuit *circuit;
    struct proof proofs[2];
    sample_init(&s, &tinies[1]);
    assert_ok(cpu->open(&(struct backend_options){.threads = 1}, 0, &device, &err), err);
    assert_ok(cpu->load(device, s.shape, &s.key, &circuit, &err), err);
    for (unsigned i = 0; i < 2; i++) {
        struct blinding blinding;
        assert_ok(blinding_random(&blinding, &err), err);
        assert_ok(prove_partition(cpu, circuit, &s.params->vk, &partition, &blinding, &proofs[i],
                                  NULL, &err),
                  err);
        assert_ok(verify_single(&s.params->vk, &proofs[i], s.witness.inputs + 1,
                                s.witness.n_inputs - 1, &err),
                  err);
    }
    assert_memory_not_equal(&proofs[0].a, &proofs[1].a, sizeof proofs[0].a);
    assert_memory_not_equal(&proofs[0].b, &proofs[1].b, sizeof proofs[0].b);
    assert_memory_not_equal(&proofs[0].c, &proofs[1].c, sizeof proofs[0].c);
    cpu->unload(circuit);
    cpu->close(device);
    sample_free(&s);
}

static void a_simulation_makes_no_proof(void **state)
{
    (void)state;
    const struct backend *sim = backend_find("sim");
    struct sample s;
    const struct backend_partition partition = {.witness = &s.witness};
    struct cuzk_error err;
    struct backend_device *device;
    struct backend_circuit *circuit;
    struct blinding blinding = {fr_one, fr_one};
    struct proof proof;
    sample_init(&s, &tinies[0]);
    assert_ok(sim->open(&(struct backend_options){.sim_timing = "prove_ms=0"}, 0, &device, &err),
              err);
    assert_ok(sim->load(device, s.shape, &s.key, &circuit, &err), err);
    assert_ok(
        prove_partition(sim, circuit, &s.params->vk, &partition, &blinding, &proof, NULL, &err),
        err);
    uint8_t bytes[CUZK_PROOF_BYTES];
    proof_encode(bytes, &proof);
    assert_int_equal(proof_decode(bytes, &proof, &err), CUZK_INVALID_ARGUMENT);
    sim->unload(circuit);
    sim->close(device);
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proofs_equal_the_reference),
        cmocka_unit_test(random_blinding_gives_another_valid_proof),
        cmocka_unit_test(a_simulation_makes_no_proof),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
