/* From a C1 to all values of a partition, gadget by gadget with the check driver: public inputs,
   aux and row values of the reference, every row satisfied. The packed witness of the same files is
   compared in test_shapes.c. With CUZK_TEST_LONG=1 all files. */
#include "support/support.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "r1cs/cs.h"
#include "vanilla/c1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row_hashers {
    struct hasher *side[3]; /* a, b, c */
};

static void hash_fr(struct hasher *hasher, const struct fr *value)
{
    uint8_t bytes[FR_BYTES];
    fr_to_bytes(bytes, value);
    hasher_update(hasher, bytes, sizeof bytes);
}

static void hash_row(void *context, const struct fr *a, const struct fr *b, const struct fr *c)
{
    struct row_hashers *hashers = context;
    hash_fr(hashers->side[0], a);
    hash_fr(hashers->side[1], b);
    hash_fr(hashers->side[2], c);
}

/* Compares with the line "<name>-sha256 <hex>" or "<name>_sha256 <hex>"; frees the hasher. */
static void assert_digest(struct hasher *hasher, const char *known, const char *name)
{
    uint8_t digest[SHA256_BYTES];
    char hex[65];
    hasher_final(hasher, digest);
    for (const char *separator = "-_"; *separator; separator++) {
        char key[32];
        snprintf(key, sizeof key, "\n%s%csha256 ", name, *separator);
        const char *line = strstr(known, key);
        if (!line)
            continue;
        snprintf(hex, sizeof hex, "%s", line + strlen(key));
        assert_hex_equal(digest, sizeof digest, hex);
        return;
    }
    fail_msg("no digest %s", name);
}

static void assert_values(const struct c1 *c1, const char *known)
{
    struct circuit_program program = {porep_synthesize, c1_partition(c1, 0)};
    struct row_hashers rows = {{sha256_new(), sha256_new(), sha256_new()}};
    struct hasher *hasher = sha256_new();
    struct check_result result;
    struct cuzk_error err;
    struct fr *inputs;
    struct fr *aux;
    assert_ok(cs_check(&program, &result, hash_row, &rows, &inputs, &aux, &err), err);
    assert_int_equal(result.unsatisfied, 0);

    /* The circuit's inputs are those that follow from the public values alone. */
    size_t count = porep_inputs_count(c1_public(c1)->config);
    struct fr *derived = mem_alloc(count, sizeof *derived);
    porep_inputs(c1_public(c1), 0, derived);
    assert_int_equal(result.n_inputs, count + 1);
    assert_memory_equal(inputs + 1, derived, count * sizeof *derived);
    mem_free(derived);

    for (uint32_t i = 0; i < result.n_inputs; i++) {
        hash_fr(hasher, &inputs[i]);
        hash_row(&rows, &inputs[i], &fr_zero, &fr_zero); /* the rows of part A.7 */
    }
    assert_digest(hasher, known, "inputs");
    hasher = sha256_new();
    for (uint32_t i = 0; i < result.n_aux; i++)
        hash_fr(hasher, &aux[i]);
    assert_digest(hasher, known, "aux");
    assert_digest(rows.side[0], known, "a");
    assert_digest(rows.side[1], known, "b");
    assert_digest(rows.side[2], known, "c");
    mem_free(inputs);
    mem_free(aux);
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
