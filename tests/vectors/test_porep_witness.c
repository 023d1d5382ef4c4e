/* From a C1 to all values of a partition, gadget by gadget with the check driver: public inputs,
   aux and row values of the reference, every row satisfied. The packed witness of the same files is
   compared in test_shapes.c. With CUZK_TEST_LONG=1 all files. */
#include "vectors/witness_known.h"

#include "base/mem.h"
#include "vanilla/c1.h"

#include <stdlib.h>

static void assert_values(const struct c1 *c1, const char *known)
{
    struct circuit_program program = {porep_synthesize, c1_partition(c1, 0)};
    size_t count = porep_inputs_count(c1_public(c1)->config);
    struct fr *derived = mem_alloc(count, sizeof *derived);
    porep_inputs(c1_public(c1), 0, derived);
    assert_witness_known(&program, derived, count, known, 0);
    mem_free(derived);
}

static void assert_file(const char *c1_name, const char *known_name)
{
    size_t len;
    struct c1 *c1;
    struct cuzk_error err;
    char *known = (char *)vector_read_or_skip(known_name, &len);
    uint8_t *text = vector_read_or_skip(c1_name, &len);
    assert_ok(c1_parse(text, len, &c1, &err), err);
    assert_ok(c1_check(c1, NULL, NULL, &err), err);
    mem_free(text);
    assert_values(c1, known);
    c1_free(c1);
    mem_free(known);
}

static void real_2kib_sector(void **state)
{
    (void)state;
    assert_file("reference/porep-2k/c1.json", "reference/porep-2k/witness.sha256");
}

/* Repeated challenges, challenges that are each other's parents, the first and the last node. */
static void sparse_sectors_with_special_challenges(void **state)
{
    (void)state;
    if (!getenv("CUZK_TEST_LONG")) {
        print_message("SKIP: long tier (CUZK_TEST_LONG=1)\n");
        skip();
    }
    assert_file("sparse/c1-2KiB.json.xz", "sparse/witness-2KiB-p0.txt");
    assert_file("sparse/c1-2KiB-seed03.json.xz", "sparse/witness-2KiB-seed03-p0.txt");
    assert_file("sparse/c1-2KiB-seed13.json.xz", "sparse/witness-2KiB-seed13-p0.txt");
    assert_file("sparse/c1-2KiB-seed1c.json.xz", "sparse/witness-2KiB-seed1c-p0.txt");
    assert_file("sparse/c1-2KiB-seed2b.json.xz", "sparse/witness-2KiB-seed2b-p0.txt");
    assert_file("sparse/c1-2KiB-seed62.json.xz", "sparse/witness-2KiB-seed62-p0.txt");
}

static void larger_sectors(void **state)
{
    (void)state;
    if (!getenv("CUZK_TEST_LONG")) {
        print_message("SKIP: long tier (CUZK_TEST_LONG=1)\n");
        skip();
    }
    assert_file("sparse/c1-8MiB.json.xz", "sparse/witness-8MiB-p0.txt");
    assert_file("reference/porep-8m/c1.json.xz", "reference/porep-8m/witness.sha256");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_2kib_sector),
        cmocka_unit_test(sparse_sectors_with_special_challenges),
        cmocka_unit_test(larger_sectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
