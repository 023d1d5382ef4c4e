/* With n, d, w, h', l', x and f as in key/lagrange.h, and y random:

     Σ_j y^j·h'_j = Σ_k t_k·H_k         t_k = 7^-k/(n·d) · (y^n - 1)/(y·w^-k - 1)

   because Σ_j (y·w^-k)^j is a geometric series, and with variables numbered inputs first

     Σ_v y^v·(L_v - l'_v) - Σ_v y^v·x_v = Σ_i r_i·f_i = Σ_k u_k·H_k         r_i = Σ_v C_iv·y^v

   where the first sum is over the aux variables, the second over the inputs, and u_k =
   1/(n·d)·Σ_i r_i·w^-ik: the coefficients of the polynomial with the values r_i, over d. In both,
   H_(n-1) is left out. Both sides are polynomials in y of a degree below 2^32: if they differ, then
   for nearly all y. */
#include "groth16/lagrange_check.h"

#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"
#include "math/ntt.h"
#include "math/spread.h"
#include "r1cs/transpose.h"

/* A chunk is what the device adds up at a time; its scalars are made in blocks. */
enum { CHUNKS = 32, BLOCK = 1024 };

struct check {
    const struct backend *backend;
    struct backend_device *device;
    const struct shape *shape;
    const struct key_vectors *key;
    struct pool *pool;
    size_t n;             /* 2^log2_domain */
    struct fr y;          /* y^n is not 1 */
    struct fr t_factor;   /* (y^n - 1)/(n·d) */
    struct fr u_factor;   /* 1/d */
    struct fr root;       /* w^-1 */
    struct fr *rows;      /* zeros; r; its polynomial's coefficients */
    struct fr *scalars;   /* of a chunk */
    size_t chunk;         /* how many there is room for */
    struct g1 difference; /* of the sides of an equation, so far */
};

/* Writes the scalars of points first … first + n - 1, n ≤ BLOCK. */
typedef void fill_fn(const struct check *check, uint64_t first, struct fr *scalars, size_t n);

/* One sum of an equation. */
struct section {
    const char *name; /* for messages */
    const uint8_t *points;
    size_t n_points;
    fill_fn *fill;
    uint64_t first; /* number of the first point, as fill counts */
    bool negative;
};

/* --- Scalars ---------------------------------------------------------------------------------- */

static void fill_powers(const struct check *check, uint64_t first, struct fr *scalars, size_t n)
{
    struct fr power;
    fr_pow(&power, &check->y, first);
    for (size_t i = 0; i < n; i++) {
        scalars[i] = power;
        fr_mul(&power, &power, &check->y);
    }
}

static void fill_t(const struct check *check, uint64_t first, struct fr *scalars, size_t n)
{
    struct fr scratch[BLOCK];
    struct fr power, factor, ratio;
    fr_pow(&power, &check->root, first);
    fr_mul(&power, &power, &check->y);
    for (size_t i = 0; i < n; i++) {
        fr_sub(&scalars[i], &power, &fr_one);
        fr_mul(&power, &power, &check->root);
    }
    fr_batch_inv(scalars, n, scratch);
    fr_inv(&ratio, &fr_generator);
    fr_pow(&factor, &ratio, first);
    fr_mul(&factor, &factor, &check->t_factor);
    for (size_t i = 0; i < n; i++) {
        fr_mul(&scalars[i], &scalars[i], &factor);
        fr_mul(&factor, &factor, &ratio);
    }
}

static void fill_u(const struct check *check, uint64_t first, struct fr *scalars, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fr_mul(&scalars[i], &check->rows[first + i], &check->u_factor);
}

/* --- Sums ------------------------------------------------------------------------------------- */

struct chunk {
    const struct check *check;
    const struct section *section;
    size_t first, n; /* points of the section */
};

static void fill_task(void *context, unsigned worker, size_t number)
{
    const struct chunk *chunk = context;
    (void)worker;
    const size_t at = number * BLOCK;
    const size_t n = chunk->n - at < BLOCK ? chunk->n - at : BLOCK;
    chunk->section->fill(chunk->check, chunk->section->first + chunk->first + at,
                         chunk->check->scalars + at, n);
}

static enum cuzk_status add_section(struct check *check, const struct section *section,
                                    struct cuzk_error *err)
{
    struct chunk chunk = {.check = check, .section = section};
    for (; chunk.first < section->n_points; chunk.first += chunk.n) {
        struct g1 sum;
        const size_t left = section->n_points - chunk.first;
        chunk.n = left < check->chunk ? left : check->chunk;
        spread(check->pool, (chunk.n + BLOCK - 1) / BLOCK, fill_task, &chunk);
        enum cuzk_status status =
            check->backend->sum(check->device, section->points + chunk.first * G1_BYTES,
                                (uint32_t)chunk.n, check->scalars, &sum, err);
        if (status != CUZK_OK) {
            error_prefix(err, "%s, points from %zu on", section->name, chunk.first);
            return status;
        }
        if (section->negative)
            g1_neg(&sum, &sum);
        g1_add(&check->difference, &check->difference, &sum);
    }
    return CUZK_OK;
}

/* Adds up the sections and expects infinity. */
static enum cuzk_status check_equation(struct check *check, const struct section *sections,
                                       size_t n, struct cuzk_error *err)
{
    g1_set_infinity(&check->difference);
    for (size_t i = 0; i < n; i++)
        TRY(add_section(check, &sections[i], err));
    if (g1_is_infinity(&check->difference))
        return CUZK_OK;
    return error_set(err, CUZK_BAD_PARAMS,
                     "%s is wrong: a random sum of its points is not what the key's points give",
                     sections[0].name);
}

static enum cuzk_status check_h(struct check *check, struct cuzk_error *err)
{
    const struct key_vectors *key = check->key;
    const struct section sections[] = {
        {"h of the Lagrange form", key->lagrange.h, check->n, fill_powers, 0, false},
        {"section h", key->v[KEY_H].at, key->v[KEY_H].n, fill_t, 0, true},
    };
    return check_equation(check, sections, ARRAY_LEN(sections), err);
}

static enum cuzk_status check_l(struct check *check, struct cuzk_error *err)
{
    const struct key_vectors *key = check->key;
    const struct shape *shape = check->shape;
    const struct section sections[] = {
        {"l of the Lagrange form", key->lagrange.l, key->v[KEY_L].n, fill_powers, shape->n_inputs,
         true},
        {"inputs of the Lagrange form", key->lagrange.inputs, shape->n_inputs, fill_powers, 0,
         true},
        {"section l", key->v[KEY_L].at, key->v[KEY_L].n, fill_powers, shape->n_inputs, false},
        {"section h", key->v[KEY_H].at, key->v[KEY_H].n, fill_u, 0, true},
    };
    TRY(shape_combine_columns(shape, MATRIX_C, &check->y, check->pool, check->rows, err));
    TRY(ntt_inverse(check->rows, shape->log2_domain, NULL, check->pool, err));
    return check_equation(check, sections, ARRAY_LEN(sections), err);
}

/* --- Both equations --------------------------------------------------------------------------- */

static enum cuzk_status check_fit(const struct backend *backend, const struct shape *shape,
                                  const struct key_vectors *key, struct cuzk_error *err)
{
    if (!backend->sum)
        return error_set(err, CUZK_INVALID_ARGUMENT, "the %s backend does not add up points",
                         backend->name);
    return key_check_h_and_l(key, shape, err);
}

static enum cuzk_status draw_y(struct check *check, struct cuzk_error *err)
{
    struct fr power, divisor;
    do { /* the series' denominators must not be 0 */
        TRY(fr_random(&check->y, err));
        fr_pow(&power, &check->y, check->n);
    } while (fr_is_one(&power));
    fr_pow(&divisor, &fr_generator, check->n);
    fr_sub(&divisor, &divisor, &fr_one);
    fr_inv(&check->u_factor, &divisor);
    fr_from_u64(&divisor, check->n);
    fr_inv(&divisor, &divisor);
    fr_sub(&check->t_factor, &power, &fr_one);
    fr_mul(&check->t_factor, &check->t_factor, &divisor);
    fr_mul(&check->t_factor, &check->t_factor, &check->u_factor);
    return CUZK_OK;
}

enum cuzk_status lagrange_check(const struct backend *backend, struct backend_device *device,
                                const struct shape *shape, const struct key_vectors *key,
                                struct pool *pool, struct cuzk_error *err)
{
    const size_t n = (size_t)1 << shape->log2_domain;
    struct check check = {
        .backend = backend,
        .device = device,
        .shape = shape,
        .key = key,
        .pool = pool,
        .n = n,
        .chunk = n / CHUNKS + 1,
    };
    TRY(check_fit(backend, shape, key, err));
    TRY(draw_y(&check, err));
    fr_omega(&check.root, shape->log2_domain);
    fr_inv(&check.root, &check.root);
    check.rows = mem_zalloc(n, sizeof *check.rows);
    check.scalars = mem_alloc(check.chunk, sizeof *check.scalars);
    enum cuzk_status status = CUZK_OK;
    if (!check.rows || !check.scalars)
        status = error_set(err, CUZK_NO_MEMORY, "check of a Lagrange form: no memory for 2^%u rows",
                           shape->log2_domain);
    if (status == CUZK_OK)
        status = check_h(&check, err);
    if (status == CUZK_OK)
        status = check_l(&check, err);
    mem_free(check.rows);
    mem_free(check.scalars);
    return status;
}
