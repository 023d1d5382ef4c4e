#include "groth16/setup_lagrange.h"

#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"
#include "groth16/columns.h"
#include "key/lagrange_file.h"
#include "groth16/multiples.h"

/* The share of the whole that the columns take: measured, for progress only. */
static const double columns_share = 0.05;

/* p·(pole / (τ - p) - constant): a point of a transform of h, from its p. */
struct series {
    struct coset coset;
    struct fr pole, constant;
};

struct form {
    const struct params *params;
    const struct shape *shape;
    const struct setup_trapdoor *trapdoor;
    struct pool *pool;
    setup_progress_fn *progress;
    void *progress_context;

    struct series h;   /* h'_j */
    struct series f;   /* f_i */
    struct fr a, b, c; /* row i of a matrix gives L_v this times w^i / (τ - w^i) */
    struct fr *sums;   /* logarithms of x_v, then of l'_v */
    struct fixed_base_g1 *table;
};

static void report_progress(const struct form *form, double done, const char *what)
{
    if (form->progress)
        form->progress(form->progress_context, done, what);
}

/* --- Logarithms ------------------------------------------------------------------------------- */

/* factor is s / (n·d). */
static enum cuzk_status series_init(struct series *out, const struct form *form,
                                    const struct fr *shift, const struct fr *factor,
                                    struct cuzk_error *err)
{
    const struct fr *tau = &form->trapdoor->tau;
    TRY(coset_init(&out->coset, form->shape->log2_domain, shift, tau, err));
    fr_sub(&out->pole, &out->coset.power, &fr_one);
    fr_mul(&out->pole, &out->pole, factor);
    fr_inv(&out->constant, tau);
    fr_mul(&out->constant, &out->constant, &out->coset.power);
    fr_mul(&out->constant, &out->constant, factor);
    return CUZK_OK;
}

static void series_point(const struct series *series, const struct fr *element,
                         const struct fr *ratio, struct fr *out)
{
    struct fr constant;
    fr_mul(out, &series->pole, ratio);
    fr_mul(&constant, &series->constant, element);
    fr_sub(out, out, &constant);
}

static enum cuzk_status make_factors(struct form *form, struct cuzk_error *err)
{
    const struct setup_trapdoor *trapdoor = form->trapdoor;
    const unsigned log2_n = form->shape->log2_domain;
    struct fr factor, divisor, size;
    fr_pow2(&size, log2_n);
    fr_pow(&divisor, &fr_generator, (uint64_t)1 << log2_n);
    fr_sub(&divisor, &divisor, &fr_one);
    fr_mul(&divisor, &divisor, &size);
    fr_inv(&divisor, &divisor);
    setup_quotient(&factor, form->shape, trapdoor);
    fr_inv(&size, &size);
    fr_mul(&form->c, &factor, &size); /* L_v = Σ_i (β A_iv + α B_iv + C_iv)·L_i(τ) / δ */
    fr_mul(&form->a, &form->c, &trapdoor->beta);
    fr_mul(&form->b, &form->c, &trapdoor->alpha);
    fr_mul(&factor, &factor, &divisor);
    TRY(series_init(&form->f, form, &fr_one, &factor, err));
    return series_init(&form->h, form, &fr_generator, &factor, err);
}

static void add_row(void *context, const struct columns_row *row)
{
    const struct form *form = context;
    const size_t n_inputs = form->shape->n_inputs;
    struct fr a, b, c, f, minus_f;
    series_point(&form->f, &row->element, &row->ratio, &f);
    fr_neg(&minus_f, &f);
    fr_mul(&a, &form->a, &row->ratio);
    fr_mul(&b, &form->b, &row->ratio);
    fr_mul(&c, &form->c, &row->ratio);
    fr_sub(&c, &c, &f);
    columns_add_terms(form->sums, n_inputs, &row->combos[MATRIX_A], NULL, &a);
    columns_add_terms(form->sums, n_inputs, &row->combos[MATRIX_B], NULL, &b);
    columns_add_terms(form->sums, n_inputs, &row->combos[MATRIX_C], &minus_f, &c);
}

static enum cuzk_status check_finite(const char *part, size_t first, const struct fr *scalars,
                                     size_t n, struct cuzk_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (fr_is_zero(&scalars[i]))
            return error_set(err, CUZK_INVALID_ARGUMENT,
                             "%s of the Lagrange form, point %zu: infinity, not finite", part,
                             first + i);
    }
    return CUZK_OK;
}

static enum cuzk_status make_sums(struct form *form, struct cuzk_error *err)
{
    const struct shape *shape = form->shape;
    form->sums = mem_zalloc((size_t)shape->n_inputs + shape->n_aux, sizeof *form->sums);
    if (!form->sums)
        return error_set(err, CUZK_NO_MEMORY, "no memory for the sums of %u columns",
                         shape->n_inputs + shape->n_aux);
    TRY(columns_visit(shape, &form->f.coset, add_row, form, err));
    return check_finite("l", 0, form->sums + shape->n_inputs, shape->n_aux, err);
}

/* multiples_scalars_fn of h'. */
static enum cuzk_status make_h_scalars(const void *context, size_t first, struct fr *scalars,
                                       size_t n, struct cuzk_error *err)
{
    const struct form *form = context;
    struct coset_block *block = mem_alloc(1, sizeof *block);
    if (!block)
        return error_set(err, CUZK_NO_MEMORY, "no memory to make points");
    for (size_t i = 0; i < n; i++) {
        const size_t at = i % COSET_BLOCK;
        if (at == 0)
            coset_make_block(&form->h.coset, first + i, block);
        series_point(&form->h, &block->elements[at], &block->ratios[at], &scalars[i]);
    }
    mem_free(block);
    return check_finite("h", first, scalars, n, err);
}

/* --- Points ----------------------------------------------------------------------------------- */

/* The first and last point of h, and what the verifying key has of the other trapdoors. */
enum { N_KNOWN = 5 };

static enum cuzk_status check_key(const struct form *form, struct cuzk_error *err)
{
    const struct params *params = form->params;
    const struct setup_trapdoor *trapdoor = form->trapdoor;
    const size_t last = params->key.v[KEY_H].n - 1;
    struct fr scalars[N_KNOWN] = {trapdoor->alpha, trapdoor->beta, trapdoor->delta};
    struct g1_affine points[N_KNOWN];
    uint8_t found[N_KNOWN][G1_BYTES], known[G1_BYTES];
    setup_quotient(&scalars[3], form->shape, trapdoor);
    fr_pow(&scalars[4], &trapdoor->tau, last);
    fr_mul(&scalars[4], &scalars[4], &scalars[3]);
    TRY(fixed_base_g1_mul(form->table, scalars, N_KNOWN, points, err));
    g1_encode(found[0], &params->vk.alpha_g1);
    g1_encode(found[1], &params->vk.beta_g1);
    g1_encode(found[2], &params->vk.delta_g1);
    memcpy(found[3], params->key.v[KEY_H].at, G1_BYTES);
    memcpy(found[4], params->key.v[KEY_H].at + last * G1_BYTES, G1_BYTES);
    for (size_t i = 0; i < N_KNOWN; i++) {
        g1_encode(known, &points[i]);
        if (memcmp(found[i], known, G1_BYTES) != 0)
            return error_set(err, CUZK_BAD_PARAMS,
                             "%s: not made from the trapdoors of development parameters",
                             params->path);
    }
    return CUZK_OK;
}

/* lagrange_fill_fn */
static enum cuzk_status fill_file(void *context, const struct file_part *file,
                                  struct cuzk_error *err)
{
    struct form *form = context;
    const struct shape *shape = form->shape;
    struct lagrange_layout layout;
    TRY(make_factors(form, err));
    TRY(make_sums(form, err));
    lagrange_lay_out(shape, &layout);
    const struct multiples parts[] = {
        {.name = "h",
         .make = make_h_scalars,
         .context = form,
         .count = (size_t)1 << shape->log2_domain,
         .offset = layout.h},
        {.name = "l",
         .scalars = form->sums + shape->n_inputs,
         .count = shape->n_aux,
         .offset = layout.l},
        {.name = "inputs",
         .scalars = form->sums,
         .count = shape->n_inputs,
         .offset = layout.inputs},
    };
    const struct multiples_writer writer = {
        .file = file,
        .g1 = form->table,
        .pool = form->pool,
        .progress = form->progress,
        .progress_context = form->progress_context,
        .progress_from = columns_share,
    };
    return multiples_write(&writer, parts, ARRAY_LEN(parts), err);
}

static enum cuzk_status write_form(struct form *form, struct cuzk_error *err)
{
    const struct shape *shape = form->shape;
    const size_t n_points =
        ((size_t)1 << shape->log2_domain) + shape->n_aux + shape->n_inputs + N_KNOWN;
    report_progress(form, 0, "columns");
    TRY(fixed_base_g1_new(g1_generator(), n_points, form->pool, &form->table, err));
    TRY(check_key(form, err));
    return lagrange_write(form->params, shape, fill_file, form, err);
}

enum cuzk_status setup_write_lagrange(const struct params *params, const struct shape *shape,
                                      const struct setup_trapdoor *trapdoor, struct pool *pool,
                                      setup_progress_fn *progress, void *progress_context,
                                      struct cuzk_error *err)
{
    struct form form = {
        .params = params,
        .shape = shape,
        .trapdoor = trapdoor,
        .pool = pool,
        .progress = progress,
        .progress_context = progress_context,
    };
    enum cuzk_status status = write_form(&form, err);
    mem_free(form.sums);
    fixed_base_g1_free(form.table);
    return status;
}
