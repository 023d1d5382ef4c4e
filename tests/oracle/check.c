#include "oracle/check.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/pointer.h"
#include "r1cs/driver.h"

struct check_cs {
    struct cs cs;
    struct fr *inputs;
    struct fr *aux;
    size_t inputs_capacity;
    size_t aux_capacity;
    struct check_result *result;
    row_value_fn *on_row;
    void *row_context;
};

static struct check_cs *check_of(struct cs *cs)
{
    return CONTAINER_OF(cs, struct check_cs, cs);
}

static struct var check_alloc(struct cs *cs, enum var_kind kind, const struct fr *value)
{
    struct check_cs *check = check_of(cs);
    bool input = kind == VAR_KIND_INPUT;
    struct fr **values = input ? &check->inputs : &check->aux;
    size_t *capacity = input ? &check->inputs_capacity : &check->aux_capacity;
    size_t count = input ? cs->n_inputs : cs->n_aux;
    if (cs->status != CUZK_OK)
        return VAR_ONE;
    if (!MEM_GROW(*values, *capacity, count + 1)) {
        cs_fail(cs, CUZK_NO_MEMORY);
        return VAR_ONE;
    }
    (*values)[count] = *value;
    return cs_next_var(cs, kind);
}

static void evaluate_combination(const struct check_cs *check, const struct lc *lc, struct fr *sum)
{
    *sum = fr_zero;
    for (size_t i = 0; i < lc->len; i++) {
        const struct term *term = &lc->terms[i];
        const struct fr *values = var_is_aux(term->var) ? check->aux : check->inputs;
        const struct fr *value = &values[var_index(term->var)];
        struct fr product;
        if (fr_is_zero(value))
            continue;
        if (fr_is_one(value))
            product = term->coeff;
        else
            fr_mul(&product, value, &term->coeff);
        fr_add(sum, sum, &product);
    }
}

static void check_enforce(struct cs *cs, struct lc *a, struct lc *b, struct lc *c)
{
    struct check_cs *check = check_of(cs);
    struct fr value_a, value_b, value_c, product;
    evaluate_combination(check, a, &value_a);
    evaluate_combination(check, b, &value_b);
    evaluate_combination(check, c, &value_c);
    fr_mul(&product, &value_a, &value_b);
    struct check_result *result = check->result;
    if (!fr_equal(&product, &value_c) && result->unsatisfied++ == 0) {
        result->first_unsatisfied = cs->n_rows;
        cs_path(cs, result->first_path, sizeof result->first_path);
    }
    if (check->on_row)
        check->on_row(check->row_context, &value_a, &value_b, &value_c);
}

static const struct cs_driver check_driver = {
    .alloc = check_alloc,
    .enforce = check_enforce,
    .template_begin = cs_template_begin_rows,
    .template_end = cs_template_end_rows,
};

enum cuzk_status cs_check(const struct circuit_program *program, struct check_result *result,
                          row_value_fn *on_row, void *row_context, struct fr **inputs,
                          struct fr **aux, struct cuzk_error *err)
{
    *result = (struct check_result){0};
    struct check_cs check = {.result = result, .on_row = on_row, .row_context = row_context};
    cs_start(&check.cs, &check_driver);
    enum cuzk_status status = cs_run(&check.cs, program, err);
    result->n_inputs = check.cs.n_inputs;
    result->n_aux = check.cs.n_aux;
    result->n_rows = check.cs.n_rows;
    if (status == CUZK_OK && inputs) {
        *inputs = check.inputs;
        check.inputs = NULL;
    }
    if (status == CUZK_OK && aux) {
        *aux = check.aux;
        check.aux = NULL;
    }
    mem_free(check.inputs);
    mem_free(check.aux);
    cs_free(&check.cs);
    return status;
}
