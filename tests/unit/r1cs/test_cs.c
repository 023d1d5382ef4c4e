/* Linear combinations, scopes, and the check driver on its own. */
#include "toy.h"

#include "oracle/check.h"
#include "r1cs/witness.h"

/* --- Linear combinations ---------------------------------------------------------------------- */

static void test_normalise(void **state)
{
    (void)state;
    struct lc lc = {0};
    struct fr two, minus_two;
    fr_from_u64(&two, 2);
    fr_neg(&minus_two, &two);
    lc_add(&lc, var_aux(3), &two);
    lc_add_var(&lc, VAR_ONE);
    lc_add_var(&lc, var_aux(0));
    lc_sub_var(&lc, var_aux(3));
    lc_add(&lc, var_aux(7), &fr_zero); /* dropped */
    lc_add(&lc, (struct var){5}, &two);
    lc_add(&lc, (struct var){5}, &minus_two); /* cancel */
    lc_normalise(&lc);
    assert_int_equal(lc.len, 3);
    assert_int_equal(lc.terms[0].var.id, VAR_ONE.id); /* inputs before aux */
    assert_int_equal(lc.terms[1].var.id, var_aux(0).id);
    assert_int_equal(lc.terms[2].var.id, var_aux(3).id);
    assert_true(fr_is_one(&lc.terms[2].coeff));
    lc_clear(&lc);
    lc_normalise(&lc);
    assert_int_equal(lc.len, 0);
    lc_free(&lc);
}

static void test_normalise_many(void **state)
{
    (void)state;
    enum { VARS = 200 };
    uint64_t values = 3;
    for (size_t len = 0; len < 900; len = len * 2 + 1) {
        struct fr sums[VARS];
        memset(sums, 0, sizeof sums);
        struct lc lc = {0};
        for (size_t i = 0; i < len; i++) {
            uint32_t index = (uint32_t)toy_below(&values, VARS);
            struct fr coeff = toy_element(&values);
            fr_add(&sums[index], &sums[index], &coeff);
            lc_add(&lc, var_aux(index), &coeff);
        }
        lc_normalise(&lc);
        size_t next = 0;
        for (uint32_t i = 0; i < VARS; i++) {
            if (fr_is_zero(&sums[i]))
                continue;
            assert_true(next < lc.len);
            assert_int_equal(var_index(lc.terms[next].var), i);
            assert_true(fr_equal(&lc.terms[next++].coeff, &sums[i]));
        }
        assert_int_equal(next, lc.len);
        lc_free(&lc);
    }
}

static void test_add_scaled(void **state)
{
    (void)state;
    struct lc x = {0}, y = {0};
    struct fr three, six;
    fr_from_u64(&three, 3);
    fr_from_u64(&six, 6);
    lc_add(&x, var_aux(1), &three);
    lc_add_scaled(&y, &fr_one, &x);
    lc_add_scaled(&y, &fr_one, &x);
    lc_normalise(&y);
    assert_true(fr_equal(&y.terms[0].coeff, &six));
    lc_add_scaled(&y, &fr_minus_one, &y); /* with itself */
    lc_normalise(&y);
    assert_int_equal(y.len, 0);
    lc_free(&x);
    lc_free(&y);
}

static void test_failed_combination(void **state)
{
    (void)state;
    struct lc lc = {0}, sum = {0};
    mem_fail_after(0);
    lc_add_var(&lc, VAR_ONE);
    mem_fail_after(-1);
    assert_true(lc.failed);
    lc_add_scaled(&sum, &fr_one, &lc);
    assert_true(sum.failed); /* what is made of it is just as incomplete */
    lc_free(&lc);
    lc_free(&sum);
}

/* --- The check driver ------------------------------------------------------------------------- */

/* x · x = y under three scopes; `wrong` of the later rows are wrong. */
struct squares {
    unsigned wrong;
};

static void squares_synthesize(struct cs *cs, const void *input)
{
    const struct squares *squares = input;
    cs_push(cs, "all");
    for (unsigned i = 0; i < 4; i++) {
        cs_push(cs, i == 2 ? "third" : "other");
        cs_push(cs, "square");
        struct fr value, square;
        fr_from_u64(&value, i + 9);
        fr_sqr(&square, &value);
        if (i >= 2 && i - 2 < squares->wrong)
            fr_add(&square, &square, &fr_one);
        struct var x = cs_num(cs, &value), y = cs_input(cs, &square);
        struct lc a = {0}, b = {0}, c = {0};
        lc_add_var(&a, x);
        lc_add_var(&b, x);
        lc_add_var(&c, y);
        cs_enforce(cs, &a, &b, &c);
        lc_free(&a);
        lc_free(&b);
        lc_free(&c);
        cs_pop(cs);
        cs_pop(cs);
    }
    cs_pop(cs);
}

static void test_check(void **state)
{
    (void)state;
    struct squares squares = {0};
    struct circuit_program program = {squares_synthesize, &squares};
    struct cuzk_error err = {0};
    struct check_result result;
    assert_ok(cs_check(&program, &result, NULL, NULL, NULL, NULL, &err), err);
    assert_int_equal(result.n_rows, 4);
    assert_int_equal(result.n_aux, 4);
    assert_int_equal(result.n_inputs, 5); /* with the constant */
    assert_int_equal(result.unsatisfied, 0);

    squares.wrong = 2;
    assert_ok(cs_check(&program, &result, NULL, NULL, NULL, NULL, &err), err);
    assert_int_equal(result.unsatisfied, 2);
    assert_int_equal(result.first_unsatisfied, 2);
    assert_string_equal(result.first_path, "all / third / square");
}

static void deep_synthesize(struct cs *cs, const void *input)
{
    (void)input;
    for (unsigned i = 0; i < 100; i++)
        cs_push(cs, "a name of some length");
    cs_fail(cs, CUZK_INVALID_ARGUMENT);
    cs_fail(cs, CUZK_IO); /* the first failure counts */
}

static void test_failure_names_the_place(void **state)
{
    (void)state;
    struct circuit_program program = {deep_synthesize, NULL};
    struct cuzk_error err = {0};
    struct check_result result;
    assert_int_equal(cs_check(&program, &result, NULL, NULL, NULL, NULL, &err),
                     CUZK_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "a name of some length / a name of some length"));
    assert_true(strlen(err.text) < 400); /* a long path is cut */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normalise),  cmocka_unit_test(test_normalise_many),
        cmocka_unit_test(test_add_scaled), cmocka_unit_test(test_failed_combination),
        cmocka_unit_test(test_check),      cmocka_unit_test(test_failure_names_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
