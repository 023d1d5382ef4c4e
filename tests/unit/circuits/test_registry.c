/* The table of circuits against the circuits themselves. */
#include "support/support.h"

#include "circuits/registry.h"

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
        struct cuzk_error err = { 0 };
        assert_ok(circuit_shape(circuit, &shape, &err), err);
        print_message("%s: %zu bytes\n", circuit->id, shape_bytes(shape));
        assert_int_equal(shape->n_inputs, circuit->n_inputs);
        assert_int_equal(params_bytes(shape), circuit->params_bytes);
        if (circuit->kind == PROOF_KIND_POREP)
            assert_true(shape_bytes(shape) <= (size_t)8 << 20);
        shape_free(shape);
    }
}

static void circuits_are_found_by_id_and_by_size(void **state)
{
    (void)state;
    for (size_t i = 0; i < circuit_count(); i++) {
        const struct circuit_info *circuit = circuit_at(i);
        assert_ptr_equal(circuit_by_id(circuit->id), circuit);
        assert_ptr_equal(circuit_find(circuit->kind, circuit->sector_bytes), circuit);
    }
    assert_null(circuit_at(circuit_count()));
    assert_null(circuit_by_id("porep-3k"));
    assert_null(circuit_by_id("POREP-2K"));
    assert_null(circuit_find(PROOF_KIND_UPDATE, (uint64_t)1 << 30));
    assert_null(circuit_find(PROOF_KIND_NONE, 2048));
    const struct circuit_info *porep = circuit_by_id("porep-32g");
    assert_int_equal(porep->partitions, 10);
    assert_string_equal(porep->size_text, "32GiB");
    assert_string_equal(porep->params_digest, "6a388072a518cf46ebd661f5cc46900a");
    assert_int_equal(circuit_by_id("snap-32g")->partitions, 16);
}

/* Compiled forms have the digests of the reference. (The large ones are in the tests of their
   circuits, in the long tier.) */
static void shapes_have_the_digests_of_the_reference(void **state)
{
    (void)state;
    static const struct {
        const char *id, *digest;
    } known[] = {
        { "porep-2k", "dc15b615135b87fca8169bb29ec71946ee7d5652ac57adfe0ffb789af6d81000" },
        { "winning-32g", "55eda60b104e697c2586d1b87478ef8820d2e79807f937d240c90df3546212ae" },
        { "wpost-2k", "f8ba7b86efda8fa8cfeb67e179175a602a5ded01f9e293e9f7c46fea566d5e31" },
        { "snap-2k", "6210f571efe0d06e909326e6988c7320681695ebf1c3c21c5e89ac925113f232" },
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct shape *shape;
        struct cuzk_error err = { 0 };
        assert_ok(circuit_shape(circuit_by_id(known[i].id), &shape, &err), err);
        assert_ok(shape_digest(shape, &err), err);
        assert_hex_equal(shape->digest, sizeof shape->digest, known[i].digest);
        shape_free(shape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_fit_the_parameter_files),
        cmocka_unit_test(circuits_are_found_by_id_and_by_size),
        cmocka_unit_test(shapes_have_the_digests_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
