/* C1 files of the reference and of the sparse collection: accepted, and their public inputs,
   computed from public values alone, are those of the reference. */
#include "support/support.h"

#include "base/bytes.h"
#include "base/mem.h"
#include "base/pool.h"
#include "vanilla/c1.h"

#include <string.h>

/* Compares all inputs with the last words of the lines of a text; lines with # are left out. */
static void assert_inputs(const struct c1 *c1, const char *expected)
{
    const struct porep_public *values = c1_public(c1);
    size_t count = porep_inputs_count(values->config);
    struct fr *inputs = mem_alloc(count, sizeof *inputs);
    assert_non_null(inputs);
    for (unsigned k = 0; k < values->config->partitions; k++) {
        porep_inputs(values, k, inputs);
        for (size_t i = 0; i < count; i++) {
            uint8_t bytes[FR_BYTES];
            uint8_t wanted[FR_BYTES];
            while (*expected == '#')
                expected += strcspn(expected, "\n") + 1;
            size_t len = strcspn(expected, "\n");
            char hex[65] = "";
            assert_true(len >= 64);
            memcpy(hex, expected + len - 64, 64);
            assert_true(hex_decode(hex, wanted, sizeof wanted));
            fr_to_bytes(bytes, &inputs[i]);
            assert_memory_equal(bytes, wanted, sizeof bytes);
            expected += len + 1;
        }
    }
    assert_int_equal(*expected, '\0');
    mem_free(inputs);
}

static void assert_file(const char *c1_name, const char *inputs_name)
{
    size_t len;
    struct c1 *c1;
    struct cuzk_error err;
    char *expected = (char *)vector_read_or_skip(inputs_name, &len);
    uint8_t *text = vector_read_or_skip(c1_name, &len);
    assert_ok(c1_parse(text, len, &c1, &err), err);
    mem_free(text);
    struct c1_expect expect = {
        .has_miner_id = true, .miner_id = 1000, .has_sector_number = true, .sector_number = 42};
    struct pool *pool = pool_new(0);
    assert_non_null(pool);
    assert_ok(c1_check(c1, &expect, pool, &err), err);
    assert_inputs(c1, expected);
    pool_free(pool);
    c1_free(c1);
    mem_free(expected);
}

static void real_2kib(void **state)
{
    (void)state;
    assert_file("reference/porep-2k/c1.json", "reference/porep-2k/public-inputs.txt");
}

static void real_8mib(void **state)
{
    (void)state;
    assert_file("reference/porep-8m/c1.json.xz", "reference/porep-8m/public-inputs.txt");
}

static void sparse_2kib_of_all_seeds(void **state)
{
    (void)state;
    assert_file("sparse/c1-2KiB.json.xz", "sparse/inputs-2KiB.txt.xz");
    assert_file("sparse/c1-2KiB-seed03.json.xz", "sparse/inputs-2KiB-seed03.txt.xz");
    assert_file("sparse/c1-2KiB-seed13.json.xz", "sparse/inputs-2KiB-seed13.txt.xz");
    assert_file("sparse/c1-2KiB-seed1c.json.xz", "sparse/inputs-2KiB-seed1c.txt.xz");
    assert_file("sparse/c1-2KiB-seed2b.json.xz", "sparse/inputs-2KiB-seed2b.txt.xz");
    assert_file("sparse/c1-2KiB-seed62.json.xz", "sparse/inputs-2KiB-seed62.txt.xz");
}

static void sparse_8mib(void **state)
{
    (void)state;
    assert_file("sparse/c1-8MiB.json.xz", "sparse/inputs-8MiB.txt.xz");
}

static void sparse_512mib(void **state)
{
    (void)state;
    assert_file("sparse/c1-512MiB.json.xz", "sparse/inputs-512MiB.txt.xz");
}

static void sparse_32gib(void **state)
{
    (void)state;
    assert_file("sparse/c1-32GiB.json.xz", "sparse/inputs-32GiB.txt.xz");
}

static void sparse_64gib(void **state)
{
    (void)state;
    assert_file("sparse/c1-64GiB.json.xz", "sparse/inputs-64GiB.txt.xz");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_2kib),
        cmocka_unit_test(real_8mib),
        cmocka_unit_test(sparse_2kib_of_all_seeds),
        cmocka_unit_test(sparse_8mib),
        cmocka_unit_test(sparse_512mib),
        cmocka_unit_test(sparse_32gib),
        cmocka_unit_test(sparse_64gib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
