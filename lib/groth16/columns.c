#include "groth16/columns.h"

#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"

/* Lagrange values are made for this many rows at a time: they share an inversion, and never take
   memory in proportion to the circuit. */
enum { ROWS = 4096 };

struct evaluation {
    struct columns *columns;
    struct fr tau;
    struct fr omega;
    struct fr next_power; /* ω^(first + ROWS) */
    struct fr factor;     /* (τ^m - 1) / m */
    uint64_t first;       /* row of lagrange[0] */
    struct fr lagrange[ROWS];
    struct fr scratch[ROWS];
};

/* L_j(τ) = ω^j (τ^m - 1) / (m (τ - ω^j)) for the next ROWS rows. Those beyond the domain are never
   used. */
static void next_lagrange(struct evaluation *eval)
{
    struct fr power = eval->next_power;
    for (size_t i = 0; i < ROWS; i++) {
        fr_sub(&eval->lagrange[i], &eval->tau, &power);
        fr_mul(&power, &power, &eval->omega);
    }
    fr_batch_inv(eval->lagrange, ROWS, eval->scratch);
    struct fr numerator;
    fr_mul(&numerator, &eval->next_power, &eval->factor);
    for (size_t i = 0; i < ROWS; i++) {
        fr_mul(&eval->lagrange[i], &eval->lagrange[i], &numerator);
        fr_mul(&numerator, &numerator, &eval->omega);
    }
    eval->next_power = power;
}

static const struct fr *lagrange(struct evaluation *eval, uint64_t row)
{
    if (row == eval->first + ROWS) {
        eval->first += ROWS;
        next_lagrange(eval);
    }
    CHECK(row >= eval->first && row < eval->first + ROWS);
    return &eval->lagrange[row - eval->first];
}

static void add_terms(const struct columns *columns, struct fr *column,
                      const struct lc *combination, const struct fr *value)
{
    for (size_t t = 0; t < combination->len; t++) {
        const struct term *term = &combination->terms[t];
        size_t variable = var_index(term->var) + (var_is_aux(term->var) ? columns->n_inputs : 0);
        struct fr *sum = &column[variable];
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

static void add_row(void *context, uint64_t row, const struct lc combos[MATRIX_COUNT])
{
    struct evaluation *eval = context;
    const struct fr *value = lagrange(eval, row);
    add_terms(eval->columns, eval->columns->u, &combos[MATRIX_A], value);
    add_terms(eval->columns, eval->columns->v, &combos[MATRIX_B], value);
    add_terms(eval->columns, eval->columns->w, &combos[MATRIX_C], value);
}

static enum cuzk_status prepare(struct evaluation *eval, const struct shape *shape,
                                const struct fr *tau, struct cuzk_error *err)
{
    struct fr size;
    uint64_t m = (uint64_t)1 << shape->log2_domain;
    fr_pow(&eval->factor, tau, m);
    if (fr_is_one(&eval->factor))
        return error_set(err, CUZK_INVALID_ARGUMENT, "tau is a root of unity of order 2^%u",
                         shape->log2_domain);
    fr_sub(&eval->factor, &eval->factor, &fr_one);
    fr_pow2(&size, shape->log2_domain);
    fr_inv(&size, &size);
    fr_mul(&eval->factor, &eval->factor, &size);
    eval->tau = *tau;
    fr_omega(&eval->omega, shape->log2_domain);
    eval->next_power = fr_one;
    next_lagrange(eval);
    return CUZK_OK;
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
    struct evaluation *eval = mem_zalloc(1, sizeof *eval);
    enum cuzk_status status = CUZK_OK;
    if (!out->u || !out->v || !out->w || !eval)
        status = error_set(err, CUZK_NO_MEMORY, "no memory to evaluate %zu columns", n);
    if (status == CUZK_OK) {
        eval->columns = out;
        status = prepare(eval, shape, tau, err);
    }
    if (status == CUZK_OK)
        status = shape_visit_rows(shape, add_row, eval, err);
    for (uint32_t i = 0; status == CUZK_OK && i < shape->n_inputs; i++) {
        const struct fr *value = lagrange(eval, shape->n_rows + i);
        fr_add(&out->u[i], &out->u[i], value);
    }
    mem_free(eval);
    return status;
}

void columns_free(struct columns *columns)
{
    mem_free(columns->u);
    mem_free(columns->v);
    mem_free(columns->w);
    *columns = (struct columns){0};
}
