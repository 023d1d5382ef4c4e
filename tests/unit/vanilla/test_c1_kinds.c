/* Every kind of registered proof, from a made-up sector to the circuit: the C1 is written, read and
   checked, and its partition satisfies all rows. */
#include "support/sparse.h"
#include "support/support.h"

#include "base/mem.h"
#include "base/pool.h"
#include "oracle/check.h"
#include "r1cs/cs.h"
#include "vanilla/c1.h"

#include <string.h>

static void make_text(const struct seal_proof *proof, struct text *text)
{
    struct cuzk_error err;
    struct sparse_sector sector;
    *text = (struct text){0};
    assert_ok(sparse_make(&sector, proof, NULL, &err), err);
    assert_ok(sparse_write(&sector, add_text, text, &err), err);
    assert_false(text->failed);
    sparse_free(&sector);
}

static void read_and_check(const struct seal_proof *proof, struct c1 **c1)
{
    struct text text;
    struct cuzk_error err;
    struct pool *pool = pool_new(0);
    struct c1_expect expect = {.sector_bytes = proof->sector_bytes,
                               .has_registered_proof = true,
                               .registered_proof = proof->number,
                               .has_sector_number = true,
                               .sector_number = 42,
                               .has_miner_id = true,
                               .miner_id = 1000};
    make_text(proof, &text);
    assert_ok(c1_parse(text.data, text.len, c1, &err), err);
    assert_ok(c1_check(*c1, &expect, pool, &err), err);
    assert_ptr_equal(c1_public(*c1)->proof, proof);
    text_free(&text);
    pool_free(pool);
}

static void interactive_proofs_of_both_apis(void **state)
{
    (void)state;
    static const unsigned numbers[] = {0, 1, 2, 3, 5}; /* the larger V1_1 are in test_sparse.c */
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct c1 *c1;
        read_and_check(seal_proof_by_number(numbers[i]), &c1);
        c1_free(c1);
    }
}

/* The graph and the challenges of one kind are not those of another. */
static void a_c1_does_not_pass_as_another_kind(void **state)
{
    (void)state;
    static const unsigned numbers[] = {0, 5, 10};
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned j = 0; j < 3; j++) {
            const struct seal_proof *other = seal_proof_by_number(numbers[j]);
            struct text text;
            struct text changed = {0};
            struct c1 *c1;
            struct cuzk_error err;
            make_text(seal_proof_by_number(numbers[i]), &text);
            const char *rest = strstr(text.data, "\",\"vanilla_proofs\"");
            text_add(&changed, "{\"registered_proof\":\"%s%s", other->name, rest);
            assert_ok(c1_parse(changed.data, changed.len, &c1, &err), err);
            assert_int_equal(c1_check(c1, NULL, NULL, &err),
                             i == j ? CUZK_OK : CUZK_INVALID_ARGUMENT);
            c1_free(c1);
            text_free(&changed);
            text_free(&text);
        }
    }
}

static void rows_are_satisfied(void **state)
{
    (void)state;
    static const unsigned numbers[] = {0, 10}; /* API 1.0.0, synthetic */
    for (unsigned i = 0; i < 2; i++) {
        struct c1 *c1;
        struct cuzk_error err;
        struct check_result result;
        read_and_check(seal_proof_by_number(numbers[i]), &c1);
        struct circuit_program program = {porep_synthesize, c1_partition(c1, 0)};
        assert_ok(cs_check(&program, &result, NULL, NULL, NULL, NULL, &err), err);
        assert_int_equal(result.unsatisfied, 0);
        c1_free(c1);
    }
}

static void what_cannot_be_made_up(void **state)
{
    (void)state;
    static const unsigned numbers[] = {13, 15, 18};
    for (unsigned i = 0; i < 3; i++) {
        struct cuzk_error err;
        struct sparse_sector sector;
        assert_int_equal(sparse_make(&sector, seal_proof_by_number(numbers[i]), NULL, &err),
                         CUZK_UNSUPPORTED);
        assert_non_null(strstr(err.text, "the challenges depend on all labels"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interactive_proofs_of_both_apis),
        cmocka_unit_test(a_c1_does_not_pass_as_another_kind),
        cmocka_unit_test(rows_are_satisfied),
        cmocka_unit_test(what_cannot_be_made_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
