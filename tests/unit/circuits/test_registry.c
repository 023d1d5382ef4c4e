/* The table of circuits against the circuits themselves. */
#include "support/support.h"

#include "circuits/registry.h"

#include <string.h>

static uint64_t params_bytes(const struct shape *shape)
{
    uint64_t h = ((uint64_t)1 << shape->log2_domain) - 1;
    uint64_t a = shape->n_inputs + (uint64_t)shape->a_dense_aux;
    uint64_t b = shape->b_dense_inputs + (uint64_t)shape->b_dense_aux;
    return 868 + 96 * (uint64_t)shape->n_inputs + 5 * 4 + 96 * (h + shape->n_aux + a + b) + 192 * b;
}

/* The sizes of the parameter files follow from the shapes (part A.6). Recording is quick even for
   the largest circuits. */
static void shapes_fit_the_parameter_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < circuit_count(); i++) {
        const struct circuit_info *circuit = circuit_at(i);
        struct shape *shape;
        struct cuzk_error err = {0};
        assert_ok(circuit_shape(circuit, &shape, &err), err);
        print_message("%s: %zu bytes\n", circuit->id, shape_bytes(shape));
        assert_int_equal(shape->n_inputs, circuit->n_inputs);
        assert_int_equal(params_bytes(shape), circuit->params_bytes);
        if (circuit->kind == CUZK_POREP)
            assert_true(shape_bytes(shape) <= (size_t)8 << 20);
        shape_free(shape);
    }
}

static void circuits_are_found_by_id_and_by_size(void **state)
{
    (void)state;
    for (size_t i = 0; i < circuit_count(); i++) {
        const struct circuit_info *circuit = circuit_at(i);
        const char *kind = cuzk_proof_kind_name(circuit->kind);
        assert_int_equal(strncmp(circuit->id, kind, strlen(kind)), 0);
        assert_int_equal(circuit->id[strlen(kind)], '-');
        assert_ptr_equal(circuit_by_id(circuit->id), circuit);
        assert_ptr_equal(circuit_find(circuit->kind, circuit->sector_bytes), circuit);
    }
    assert_null(circuit_at(circuit_count()));
    assert_null(circuit_by_id("porep-3k"));
    assert_null(circuit_by_id("POREP-2K"));
    assert_null(circuit_find(CUZK_SNAP, (uint64_t)1 << 30));
    assert_null(circuit_find((enum cuzk_proof_kind)0, 2048));
    const struct circuit_info *porep = circuit_by_id("porep-32g");
    assert_int_equal(porep->partitions, 10);
    assert_string_equal(porep->size_text, "32GiB");
    assert_string_equal(porep->params_digest, "6a388072a518cf46ebd661f5cc46900a");
    assert_int_equal(circuit_by_id("snap-32g")->partitions, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_fit_the_parameter_files),
        cmocka_unit_test(circuits_are_found_by_id_and_by_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
