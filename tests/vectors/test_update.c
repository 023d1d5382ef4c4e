/* From the vanilla proof of a sector update to all values of its partition: public inputs, aux and
   row values of the reference, every row satisfied. */
#include "vectors/witness_known.h"

#include "base/bytes.h"
#include "base/mem.h"
#include "vanilla/update.h"

static void update_2kib(void **state)
{
    (void)state;
    struct update_public values = {.config = update_config(2048, false)};
    assert_true(hex_decode("eed5db93114136e9b9544c14b216d747adc830bf4fd3618f39527a4cd4034622",
                           values.comm_r_old, 32));
    assert_true(hex_decode("db523eedcd5823a671db89bb8c5a3164a1025ff1c21d31529b010f635fbcb229",
                           values.comm_r_new, 32));
    assert_true(hex_decode("7622dcc4ab15fcf527ce1fad80ee67295bc02372a7b15b4a7b692ef160d52423",
                           values.comm_d_new, 32));
    size_t len;
    struct cuzk_error err;
    struct update *update;
    char *inputs_known = (char *)vector_read_or_skip("reference/update-2k/public-inputs.txt", &len);
    char *known = (char *)vector_read_or_skip("reference/update-2k/witness.sha256", &len);
    uint8_t *text = vector_read_or_skip("reference/update-2k/vanilla-partition0.bin", &len);
    assert_int_equal(len, update_vanilla_bytes(values.config));
    const struct update_vanilla proof = {text, len};
    assert_ok(update_read(&values, &proof, 1, NULL, &update, &err), err);
    assert_ok(update_check_partition(update, 0, NULL, &err), err);
    struct fr inputs[UPDATE_INPUTS];
    update_inputs(update, 0, inputs);
    assert_inputs_known(inputs, UPDATE_INPUTS, inputs_known, 0);
    struct circuit_program program = {update_synthesize, update_checked(update, 0)};
    assert_witness_known(&program, inputs, UPDATE_INPUTS, known, 0);
    update_free(update);
    mem_free(text);
    mem_free(known);
    mem_free(inputs_known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(update_2kib)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
