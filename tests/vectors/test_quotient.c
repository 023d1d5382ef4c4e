/* The quotient polynomial of the 2 KiB PoRep, from the C1 to all its coefficients. */
#include "support/support.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/pool.h"
#include "math/ntt.h"
#include "r1cs/shape.h"
#include "vanilla/c1.h"

#include <stdio.h>
#include <string.h>

static void porep_2kib_coefficients(void **state)
{
    (void)state;
    size_t len;
    struct c1 *c1;
    struct shape *shape;
    struct witness witness;
    struct cuzk_error err;
    char *known = (char *)vector_read_or_skip("reference/porep-2k/witness.sha256", &len);
    uint8_t *text = vector_read_or_skip("reference/porep-2k/c1.json", &len);
    assert_ok(c1_parse(text, len, &c1, &err), err);
    assert_ok(c1_check(c1, NULL, NULL, &err), err);
    struct circuit_program program = {porep_synthesize, c1_partition(c1, 0)};
    assert_ok(shape_record(&program, &shape, &err), err);
    assert_ok(witness_synthesize(&program, shape, &witness, &err), err);

    const size_t domain = (size_t)1 << shape->log2_domain;
    struct pool *pool = pool_new(2);
    struct fr *a = mem_alloc(domain, sizeof *a);
    struct fr *b = mem_alloc(domain, sizeof *b);
    assert_ok(shape_eval_rows(shape, &witness, pool, a, b, domain, &err), err);
    assert_ok(ntt_quotient(a, b, shape->log2_domain, NULL, pool, &err), err);

    uint8_t digest[SHA256_BYTES];
    char hex[65];
    struct hasher *hasher = sha256_new();
    for (size_t i = 0; i + 1 < domain; i++) {
        uint8_t bytes[FR_BYTES];
        fr_to_bytes(bytes, &a[i]);
        hasher_update(hasher, bytes, sizeof bytes);
    }
    hasher_final(hasher, digest);
    const char *line = strstr(known, "\nh_sha256 ");
    assert_non_null(line);
    snprintf(hex, sizeof hex, "%s", line + strlen("\nh_sha256 "));
    assert_hex_equal(digest, sizeof digest, hex);

    pool_free(pool);
    mem_free(a);
    mem_free(b);
    witness_free(&witness);
    shape_free(shape);
    c1_free(c1);
    mem_free(text);
    mem_free(known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(porep_2kib_coefficients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
