#include "backend/cpu/derive.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"
#include "r1cs/transpose.h"

#include <pthread.h>

/* Points that a task takes: each costs a tenth of a millisecond or more. */
enum { TASK_POINTS = 64 };

struct derivation {
    const struct shape *shape;
    const struct key_vectors *key;
    const struct lagrange_points *out;
    struct pool *pool;
    backend_progress_fn *progress;
    void *context;
    unsigned steps_done, steps;

    size_t n;                     /* 2^log2_domain */
    struct g1 *points;            /* n, transformed in place */
    struct shape_columns columns; /* of C */
    struct fr first, ratio;       /* H_k is multiplied by first·ratio^k */
    struct fr root;               /* w^-1, w of order n */
    unsigned level;               /* butterflies of 2^level points are under way */

    pthread_mutex_t lock;
    enum cuzk_status status; /* of the first task that failed, as err */
    struct cuzk_error err;
};

/* Runs fn(context, task) over n items, and returns what went wrong so far. */
static enum cuzk_status run_tasks(struct derivation *d, size_t n,
                                  void (*fn)(void *context, size_t task), const char *what,
                                  struct cuzk_error *err)
{
    pool_run(d->pool, (n + TASK_POINTS - 1) / TASK_POINTS, fn, d);
    if (d->status != CUZK_OK) {
        if (err)
            *err = d->err;
        return d->status;
    }
    d->steps_done++;
    if (d->progress)
        d->progress(d->context, (double)d->steps_done / d->steps, what);
    return CUZK_OK;
}

static size_t task_end(size_t task, size_t n)
{
    const size_t end = (task + 1) * TASK_POINTS;
    return end < n ? end : n;
}

static void note_failure(struct derivation *d, enum cuzk_status status, const char *what,
                         size_t number)
{
    pthread_mutex_lock(&d->lock);
    if (d->status == CUZK_OK && status == CUZK_BAD_PARAMS)
        error_set(&d->err, status,
                  "section %s, point %zu: not an uncompressed finite point with canonical "
                  "coordinates",
                  what, number);
    else if (d->status == CUZK_OK)
        error_set(&d->err, status, "%s of the Lagrange form, point %zu: infinity, not finite", what,
                  number);
    d->status = d->err.status;
    pthread_mutex_unlock(&d->lock);
}

/* --- Transforms ------------------------------------------------------------------------------- */

static size_t reverse_bits(size_t i, unsigned n_bits)
{
    size_t reversed = 0;
    for (unsigned bit = 0; bit < n_bits; bit++)
        reversed = reversed << 1 | (i >> bit & 1);
    return reversed;
}

/* Points of the key, with their factors, in the order that the butterflies want. */
static void load_task(void *context, size_t task)
{
    struct derivation *d = context;
    const size_t first = task * TASK_POINTS;
    struct fr factor;
    fr_pow(&factor, &d->ratio, first);
    fr_mul(&factor, &factor, &d->first);
    for (size_t k = first; k < task_end(task, d->n); k++) {
        struct g1 *to = &d->points[reverse_bits(k, d->shape->log2_domain)];
        struct g1_affine point;
        g1_set_infinity(to);
        if (k == d->key->v[KEY_H].n) /* the one that the key does not have */
            break;
        if (!g1_decode(&point, d->key->v[KEY_H].at + k * G1_BYTES, POINT_CHECK_NONE)) {
            note_failure(d, CUZK_BAD_PARAMS, "h", k);
            break;
        }
        g1_from_affine(to, &point);
        g1_mul(to, to, &factor);
        fr_mul(&factor, &factor, &d->ratio);
    }
}

/* (x, y) becomes (x + w·y, x - w·y). */
static void butterfly(struct g1 *x, struct g1 *y, const struct fr *w)
{
    struct g1 product = *y;
    if (!fr_is_one(w))
        g1_mul(&product, y, w);
    struct g1 negative;
    g1_neg(&negative, &product);
    g1_add(y, x, &negative);
    g1_add(x, x, &product);
}

static void butterflies_task(void *context, size_t task)
{
    struct derivation *d = context;
    const size_t half = (size_t)1 << (d->level - 1);
    for (size_t i = task * TASK_POINTS; i < task_end(task, d->n / 2); i++) {
        const size_t j = i % half;
        const size_t x = i / half * 2 * half + j;
        struct fr w;
        fr_pow(&w, &d->root, j * (d->n / (2 * half)));
        butterfly(&d->points[x], &d->points[x + half], &w);
    }
}

/* points[j] = first·Σ_k ratio^k·w^-jk·H_k */
static enum cuzk_status transform(struct derivation *d, const char *what, struct cuzk_error *err)
{
    TRY(run_tasks(d, d->n, load_task, what, err));
    for (d->level = 1; d->level <= d->shape->log2_domain; d->level++)
        TRY(run_tasks(d, d->n / 2, butterflies_task, what, err));
    return CUZK_OK;
}

/* --- What they give --------------------------------------------------------------------------- */

static void h_task(void *context, size_t task)
{
    struct derivation *d = context;
    for (size_t j = task * TASK_POINTS; j < task_end(task, d->n); j++) {
        struct g1_affine point;
        g1_to_affine(&point, &d->points[j]);
        if (g1_is_infinity(&d->points[j]))
            note_failure(d, CUZK_INVALID_ARGUMENT, "h", j);
        else
            g1_encode(d->out->h + j * G1_BYTES, &point);
    }
}

/* - Σ_i C_iv·f_i */
static void minus_column(const struct derivation *d, size_t v, struct g1 *sum)
{
    const struct shape_columns *columns = &d->columns;
    g1_set_infinity(sum);
    for (uint32_t e = columns->start[v]; e < columns->start[v + 1]; e++) {
        const struct fr *coeff = &d->shape->coeffs[columns->coeff[e]];
        struct g1 term = d->points[columns->row[e]];
        if (fr_equal(coeff, &fr_minus_one)) {
            g1_neg(&term, &term);
        } else if (!fr_is_one(coeff)) {
            g1_mul(&term, &term, coeff);
        }
        g1_add(sum, sum, &term);
    }
    g1_neg(sum, sum);
}

static void variables_task(void *context, size_t task)
{
    struct derivation *d = context;
    const size_t n_inputs = d->shape->n_inputs;
    for (size_t v = task * TASK_POINTS; v < task_end(task, d->columns.n); v++) {
        struct g1 sum;
        struct g1_affine point;
        minus_column(d, v, &sum);
        if (v >= n_inputs) {
            if (!g1_decode(&point, d->key->v[KEY_L].at + (v - n_inputs) * G1_BYTES,
                           POINT_CHECK_NONE)) {
                note_failure(d, CUZK_BAD_PARAMS, "l", v - n_inputs);
                return;
            }
            g1_add_affine(&sum, &sum, &point);
            if (g1_is_infinity(&sum)) {
                note_failure(d, CUZK_INVALID_ARGUMENT, "l", v - n_inputs);
                return;
            }
        }
        g1_to_affine(&point, &sum);
        g1_encode(v < n_inputs ? d->out->inputs + v * G1_BYTES
                               : d->out->l + (v - n_inputs) * G1_BYTES,
                  &point);
    }
}

/* 1/(n·d), d = 7^n - 1. */
static void set_first(struct derivation *d)
{
    struct fr divisor;
    fr_pow(&divisor, &fr_generator, d->n);
    fr_sub(&divisor, &divisor, &fr_one);
    fr_from_u64(&d->first, d->n);
    fr_mul(&d->first, &d->first, &divisor);
    fr_inv(&d->first, &d->first);
}

static enum cuzk_status derive_all(struct derivation *d, struct cuzk_error *err)
{
    d->points = mem_alloc(d->n, sizeof *d->points);
    if (!d->points)
        return error_set(err, CUZK_NO_MEMORY, "Lagrange form: no memory for 2^%u points",
                         d->shape->log2_domain);
    TRY(shape_columns_make(d->shape, MATRIX_C, &d->columns, err));
    set_first(d);
    fr_omega(&d->root, d->shape->log2_domain);
    fr_inv(&d->root, &d->root);
    fr_inv(&d->ratio, &fr_generator);
    TRY(transform(d, "h", err));
    TRY(run_tasks(d, d->n, h_task, "h", err));
    d->ratio = fr_one;
    TRY(transform(d, "l", err));
    return run_tasks(d, d->columns.n, variables_task, "l", err);
}

enum cuzk_status derive_points(const struct shape *shape, const struct key_vectors *key,
                               const struct lagrange_points *out, struct pool *pool,
                               backend_progress_fn *progress, void *context, struct cuzk_error *err)
{
    struct derivation derivation = {
        .shape = shape,
        .key = key,
        .out = out,
        .pool = pool,
        .progress = progress,
        .context = context,
        .steps = 2 * (shape->log2_domain + 2),
        .n = (size_t)1 << shape->log2_domain,
        .lock = PTHREAD_MUTEX_INITIALIZER,
    };
    enum cuzk_status status = derive_all(&derivation, err);
    shape_columns_free(&derivation.columns);
    mem_free(derivation.points);
    return status;
}
