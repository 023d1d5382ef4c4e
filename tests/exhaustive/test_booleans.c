/* All operands of the gadgets on Booleans: constants, plain and negated bits, equal and different
   ones, with all values. A gadget is right if its value is, if its rows hold, and if they hold for
   no other value of its variables. */
#include "support/support.h"

#include "base/mem.h"
#include "gadgets/insertion.h"
#include "gadgets/uint32.h"
#include "oracle/check.h"
#include "oracle/digest.h"

/* --- Operands --------------------------------------------------------------------------------- */

enum { OPERAND_KINDS = 4, OPERANDS_MAX = 3 };

enum operation { XOR, AND, CH, MAJ };

/* Operands are numbered: constant 0, constant 1, plain, negated. values has a bit for the variable
   of each operand. */
struct use {
    enum operation operation;
    unsigned kind[OPERANDS_MAX];
    unsigned values;
    struct boolean result; /* for the test to look at */
};

static struct boolean operand(struct cs *cs, const struct use *use, unsigned i)
{
    bool value = use->values >> i & 1;
    if (use->kind[i] < 2)
        return boolean_constant(use->kind[i]);
    struct boolean bit = boolean_bit(cs, value);
    return use->kind[i] == 3 ? boolean_not(bit) : bit;
}

static void build_use(struct cs *cs, const void *input)
{
    struct use *const *use = input;
    struct boolean a = operand(cs, *use, 0), b = operand(cs, *use, 1);
    struct boolean c = boolean_constant(false);
    if ((*use)->operation >= CH)
        c = operand(cs, *use, 2);
    switch ((*use)->operation) {
    case XOR:
        (*use)->result = boolean_xor(cs, a, b);
        break;
    case AND:
        (*use)->result = boolean_and(cs, a, b);
        break;
    case CH:
        (*use)->result = boolean_ch(cs, a, b, c);
        break;
    case MAJ:
        (*use)->result = boolean_maj(cs, a, b, c);
        break;
    }
}

static bool plain_model(const struct use *use)
{
    bool x[OPERANDS_MAX];
    for (unsigned i = 0; i < OPERANDS_MAX; i++) {
        bool value = use->values >> i & 1;
        x[i] = use->kind[i] < 2 ? use->kind[i] : use->kind[i] == 3 ? !value : value;
    }
    switch (use->operation) {
    case XOR:
        return x[0] != x[1];
    case AND:
        return x[0] && x[1];
    case CH:
        return x[0] ? x[1] : x[2];
    default:
        return x[0] + x[1] + x[2] >= 2;
    }
}

/* --- Rows under other values ------------------------------------------------------------------ */

struct assignment {
    const struct fr *aux;
    bool holds;
};

static struct fr evaluate(const struct lc *lc, const struct fr *aux)
{
    struct fr sum = fr_zero, product;
    for (size_t i = 0; i < lc->len; i++) {
        const struct term *term = &lc->terms[i];
        fr_mul(&product, &term->coeff,
               var_is_aux(term->var) ? &aux[var_index(term->var)] : &fr_one);
        fr_add(&sum, &sum, &product);
    }
    return sum;
}

static void test_row(void *context, uint64_t row, const struct lc *a, const struct lc *b,
                     const struct lc *c)
{
    (void)row;
    struct assignment *assignment = context;
    struct fr x = evaluate(a, assignment->aux), y = evaluate(b, assignment->aux);
    struct fr z = evaluate(c, assignment->aux);
    fr_mul(&x, &x, &y);
    assignment->holds = assignment->holds && fr_equal(&x, &z);
}

/* Whether all rows hold when the variables have the given values. */
static bool rows_hold(const struct circuit_program *program, const struct fr *aux)
{
    struct assignment assignment = {aux, true};
    struct cs_digest digest;
    struct cuzk_error err = {0};
    assert_ok(cs_digest(program, &digest, test_row, &assignment, &err), err);
    return assignment.holds;
}

static void check_use(struct use *use)
{
    struct use *place = use;
    struct circuit_program program = {build_use, &place};
    struct check_result result;
    struct fr *aux;
    struct cuzk_error err = {0};
    assert_ok(cs_check(&program, &result, NULL, NULL, NULL, &aux, &err), err);
    assert_int_equal(result.unsatisfied, 0);
    assert_int_equal(use->result.value, plain_model(use));
    /* No other values of the variables after the operands satisfy the rows: nothing is left
       open. */
    unsigned n_operands = 0;
    for (unsigned i = 0; i < (use->operation >= CH ? 3u : 2u); i++)
        n_operands += use->kind[i] >= 2;
    unsigned n_results = result.n_aux - n_operands;
    assert_in_range(n_results, 0, 2);
    unsigned satisfying = 0;
    for (unsigned values = 0; values < 1u << n_results; values++) {
        for (unsigned i = 0; i < n_results; i++)
            aux[n_operands + i] = values >> i & 1 ? fr_one : fr_zero;
        satisfying += rows_hold(&program, aux);
    }
    assert_int_equal(satisfying, 1);
    mem_free(aux);
}

static void every_operation_on_every_operand(void **state)
{
    (void)state;
    for (unsigned operation = XOR; operation <= MAJ; operation++) {
        for (unsigned kinds = 0; kinds < 64; kinds++) {
            for (unsigned values = 0; values < 8; values++) {
                struct use use = {
                    .operation = (enum operation)operation,
                    .kind = {kinds % 4, kinds / 4 % 4, kinds / 16},
                    .values = values,
                };
                check_use(&use);
            }
        }
    }
}

/* --- Insertion and selection ------------------------------------------------------------------ */

struct insertion {
    unsigned arity;
    unsigned index;
    struct num out[INSERTION_ARITY_MAX];
    struct num selected;
};

/* Siblings are 1, 2, …; the inserted number is 100. */
static void build_insertion(struct cs *cs, const void *input)
{
    struct insertion *const *place = input;
    struct insertion *insertion = *place;
    struct num siblings[INSERTION_ARITY_MAX - 1];
    struct boolean bits[3];
    struct fr value;
    fr_from_u64(&value, 100);
    struct num x = num_alloc(cs, &value);
    for (unsigned i = 0; i + 1 < insertion->arity; i++) {
        fr_from_u64(&value, i + 1);
        siblings[i] = num_alloc(cs, &value);
    }
    unsigned n_bits = 0;
    for (; 1u << n_bits < insertion->arity; n_bits++)
        bits[n_bits] = boolean_bit(cs, insertion->index >> n_bits & 1);
    num_insert(cs, insertion->arity, x, bits, siblings, insertion->out);
    struct num values[INSERTION_ARITY_MAX];
    memcpy(values, insertion->out, sizeof values);
    insertion->selected = num_select(cs, values, bits, n_bits);
}

static void insertion_at_every_index(void **state)
{
    (void)state;
    for (unsigned arity = 2; arity <= 8; arity *= 2) {
        for (unsigned index = 0; index < arity; index++) {
            struct insertion insertion = {.arity = arity, .index = index};
            struct insertion *place = &insertion;
            struct circuit_program program = {build_insertion, &place};
            struct check_result result;
            struct cuzk_error err = {0};
            assert_ok(cs_check(&program, &result, NULL, NULL, NULL, NULL, &err), err);
            assert_int_equal(result.unsatisfied, 0);
            struct fr expected;
            for (unsigned i = 0; i < arity; i++) {
                fr_from_u64(&expected, i == index ? 100 : i < index ? i + 1 : i);
                assert_true(fr_equal(&insertion.out[i].value, &expected));
            }
            fr_from_u64(&expected, 100);
            assert_true(fr_equal(&insertion.selected.value, &expected));
        }
    }
}

/* --- Sums ------------------------------------------------------------------------------------- */

struct sum {
    size_t n;
    uint32_t words[UINT32_ADDENDS_MAX];
    unsigned constant; /* bit k: word k is a constant */
    uint32_t result;
    bool result_constant;
};

static void build_sum(struct cs *cs, const void *input)
{
    struct sum *const *place = input;
    struct sum *sum = *place;
    struct uint32 words[UINT32_ADDENDS_MAX];
    const struct uint32 *list[UINT32_ADDENDS_MAX];
    for (size_t k = 0; k < sum->n; k++) {
        words[k] = uint32_constant(sum->words[k]);
        for (unsigned i = 0; !(sum->constant >> k & 1) && i < 32; i++)
            words[k].bit[i] = boolean_bit(cs, sum->words[k] >> i & 1);
        list[k] = &words[k];
    }
    struct multieq equations;
    multieq_start(&equations, cs);
    /* Enough sums to fill the accumulator more than once. */
    struct uint32 result = uint32_add(&equations, list, sum->n);
    for (unsigned i = 0; i < 9; i++)
        uint32_add(&equations, list, sum->n);
    multieq_finish(&equations);
    sum->result = uint32_value(&result);
    sum->result_constant = uint32_is_constant(&result);
}

static void check_sum(struct sum *sum)
{
    struct sum *place = sum;
    struct circuit_program program = {build_sum, &place};
    struct check_result result;
    struct cuzk_error err = {0};
    assert_ok(cs_check(&program, &result, NULL, NULL, NULL, NULL, &err), err);
    assert_int_equal(result.unsatisfied, 0);
    uint32_t expected = 0;
    for (size_t k = 0; k < sum->n; k++)
        expected += sum->words[k];
    assert_int_equal(sum->result, expected);
    bool constant = sum->constant == (1u << sum->n) - 1;
    assert_int_equal(sum->result_constant, constant);
    if (constant)
        assert_int_equal(result.n_rows, 0);
}

static void sums_of_edge_words(void **state)
{
    (void)state;
    static const uint32_t edges[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff};
    enum { EDGES = sizeof edges / sizeof edges[0] };
    for (unsigned i = 0; i < EDGES * EDGES * 4; i++) {
        struct sum sum = {.n = 2, .constant = i % 4};
        sum.words[0] = edges[i / 4 % EDGES];
        sum.words[1] = edges[i / 4 / EDGES];
        check_sum(&sum);
    }
    for (size_t n = 3; n <= UINT32_ADDENDS_MAX; n++) {
        for (size_t edge = 0; edge < EDGES; edge++) {
            struct sum sum = {.n = n, .constant = edge == 0 ? (1u << n) - 1 : 1u << edge % n};
            for (size_t k = 0; k < n; k++)
                sum.words[k] = edges[edge];
            check_sum(&sum);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_on_every_operand),
        cmocka_unit_test(insertion_at_every_index),
        cmocka_unit_test(sums_of_edge_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
