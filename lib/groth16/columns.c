#include "groth16/columns.h"

#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"

/* --- Rows ------------------------------------------------------------------------------------- */

struct visit {
    const struct coset *domain;
    columns_row_fn *fn;
    void *context;
    uint64_t first; /* row of the block's first element */
    struct coset_block block;
};

static void visit_row(void *context, uint64_t row, const struct lc combos[MATRIX_COUNT])
{
    struct visit *visit = context;
    if (row == visit->first + COSET_BLOCK) {
        visit->first += COSET_BLOCK;
        coset_make_block(visit->domain, visit->first, &visit->block);
    }
    CHECK(row >= visit->first && row < visit->first + COSET_BLOCK);
    const size_t i = row - visit->first;
    visit->fn(visit->context, &(struct columns_row){.element = visit->block.elements[i],
                                                    .ratio = visit->block.ratios[i],
                                                    .combos = combos});
}

/* Each has an input in A, and nothing else. */
static void visit_input_rows(struct visit *visit, const struct shape *shape)
{
    for (uint32_t i = 0; i < shape->n_inputs; i++) {
        struct term term = {.var = {i}, .coeff = fr_one};
        const struct lc combos[MATRIX_COUNT] = {[MATRIX_A] = {.terms = &term, .len = 1}};
        visit_row(visit, shape->n_rows + i, combos);
    }
}

enum cuzk_status columns_visit(const struct shape *shape, const struct coset *domain,
                               columns_row_fn *fn, void *context, struct cuzk_error *err)
{
    struct visit *visit = mem_alloc(1, sizeof *visit);
    if (!visit)
        return error_set(err, CUZK_NO_MEMORY, "no memory to visit rows");
    visit->domain = domain;
    visit->fn = fn;
    visit->context = context;
    visit->first = 0;
    coset_make_block(domain, 0, &visit->block);
    enum cuzk_status status = shape_visit_rows(shape, visit_row, visit, err);
    if (status == CUZK_OK)
        visit_input_rows(visit, shape);
    mem_free(visit);
    return status;
}

void columns_add_terms(struct fr *sums, size_t n_inputs, const struct lc *combination,
                       const struct fr *on_inputs, const struct fr *on_aux)
{
    for (size_t t = 0; t < combination->len; t++) {
        const struct term *term = &combination->terms[t];
        const bool aux = var_is_aux(term->var);
        const struct fr *value = aux ? on_aux : on_inputs;
        if (!value)
            continue;
        struct fr *sum = &sums[var_index(term->var) + (aux ? n_inputs : 0)];
        if (fr_is_one(&term->coeff)) { /* three of four */
            fr_add(sum, sum, value);
        } else if (fr_equal(&term->coeff, &fr_minus_one)) {
            fr_sub(sum, sum, value);
        } else {
            struct fr product;
            fr_mul(&product, &term->coeff, value);
            fr_add(sum, sum, &product);
        }
    }
}

/* --- Columns ---------------------------------------------------------------------------------- */

struct evaluation {
    struct columns *columns;
    struct fr factor; /* (τ^m - 1) / m */
};

static void add_row(void *context, const struct columns_row *row)
{
    const struct evaluation *eval = context;
    const struct columns *columns = eval->columns;
    struct fr *const sums[MATRIX_COUNT] = {columns->u, columns->v, columns->w};
    struct fr lagrange;
    fr_mul(&lagrange, &eval->factor, &row->ratio);
    for (int m = 0; m < MATRIX_COUNT; m++)
        columns_add_terms(sums[m], columns->n_inputs, &row->combos[m], &lagrange, &lagrange);
}

enum cuzk_status columns_evaluate(const struct shape *shape, const struct fr *tau,
                                  struct columns *out, struct cuzk_error *err)
{
    size_t n = (size_t)shape->n_inputs + shape->n_aux;
    *out = (struct columns){
        .n_inputs = shape->n_inputs,
        .n_variables = n,
        .u = mem_zalloc(n, sizeof *out->u),
        .v = mem_zalloc(n, sizeof *out->v),
        .w = mem_zalloc(n, sizeof *out->w),
    };
    if (!out->u || !out->v || !out->w)
        return error_set(err, CUZK_NO_MEMORY, "no memory to evaluate %zu columns", n);
    struct evaluation eval = {.columns = out};
    struct coset domain;
    struct fr size;
    TRY(coset_init(&domain, shape->log2_domain, &fr_one, tau, err));
    fr_pow2(&size, shape->log2_domain);
    fr_inv(&size, &size);
    fr_sub(&eval.factor, &domain.power, &fr_one);
    fr_mul(&eval.factor, &eval.factor, &size);
    return columns_visit(shape, &domain, add_row, &eval, err);
}

void columns_free(struct columns *columns)
{
    mem_free(columns->u);
    mem_free(columns->v);
    mem_free(columns->w);
    *columns = (struct columns){0};
}
