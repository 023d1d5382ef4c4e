/* The reference's proof of the 2 KiB PoRep, byte for byte: its C1, its parameters, its r and s. */
#include "support/support.h"

#include "base/bytes.h"
#include "base/mem.h"
#include "circuits/registry.h"
#include "groth16/prove.h"
#include "groth16/setup.h"
#include "vanilla/c1.h"

#include <string.h>

static void porep_2kib_bytes(void **state)
{
    (void)state;
    const char *folder = dev_params_or_skip();
    size_t len;
    uint8_t *hex = vector_read_or_skip("reference/porep-2k/proof.hex", &len);
    uint8_t *text = vector_read_or_skip("reference/porep-2k/c1.json", &len);
    struct cuzk_error err;
    struct c1 *c1;
    struct params *params;
    struct shape *shape;
    struct witness witness;
    assert_ok(c1_parse(text, len, &c1, &err), err);
    assert_ok(c1_check(c1, NULL, NULL, &err), err);
    const struct circuit_info *circuit = circuit_by_id("porep-2k");
    assert_ok(params_open_circuit(folder, circuit, &params, &err), err);
    struct circuit_program program = {porep_synthesize, c1_partition(c1, 0)};
    assert_ok(shape_record(&program, &shape, &err), err);
    assert_ok(witness_synthesize(&program, shape, &witness, &err), err);

    const struct backend *backend = backend_find("cpu");
    const struct backend_options options = {0};
    struct backend_device *device;
    struct backend_circuit *loaded;
    struct key_vectors key;
    key = params->key;
    assert_ok(backend->open(&options, 0, &device, &err), err);
    assert_ok(backend->load(device, shape, &key, &loaded, &err), err);
    struct blinding blinding;
    struct proof proof;
    setup_dev_scalar(&blinding.r, "test-r");
    setup_dev_scalar(&blinding.s, "test-s");
    const struct backend_partition partition = {.witness = &witness};
    assert_ok(
        prove_partition(backend, loaded, &params->vk, &partition, &blinding, &proof, NULL, &err),
        err);
    uint8_t bytes[CUZK_PROOF_BYTES];
    proof_encode(bytes, &proof);
    hex[strcspn((char *)hex, "\r\n")] = '\0';
    assert_hex_equal(bytes, sizeof bytes, (char *)hex);

    backend->unload(loaded);
    backend->close(device);
    witness_free(&witness);
    shape_free(shape);
    params_close(params);
    c1_free(c1);
    mem_free(text);
    mem_free(hex);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(porep_2kib_bytes)};
    return cmocka_run_group_tests_name("porep proof", tests, NULL, NULL);
}
