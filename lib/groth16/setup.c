#include "groth16/setup.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/pool.h"
#include "groth16/columns.h"
#include "groth16/multiples.h"
#include "key/params.h"

#include <limits.h>
#include <stdio.h>

/* --- Development trapdoors -------------------------------------------------------------------- */

void setup_dev_scalar(struct fr *out, const char *name)
{
    char text[128];
    uint8_t digest[SHA256_BYTES];
    int len = snprintf(text, sizeof text, "cuzk-dev-params-v1/%s", name);
    CHECK(len > 0 && len < (int)sizeof text);
    sha256(text, (size_t)len, digest);
    fr_make_safe(digest);
    CHECK(fr_from_bytes(out, digest));
}

void setup_dev_trapdoor(struct setup_trapdoor *out)
{
    setup_dev_scalar(&out->alpha, "alpha");
    setup_dev_scalar(&out->beta, "beta");
    setup_dev_scalar(&out->gamma, "gamma");
    setup_dev_scalar(&out->delta, "delta");
    setup_dev_scalar(&out->tau, "tau");
}

/* --- What is written -------------------------------------------------------------------------- */

struct setup {
    const struct shape *shape;
    const struct setup_trapdoor *trapdoor;
    struct pool *pool;
    struct columns columns;
    struct fr h_factor; /* (τ^m - 1) / δ */
    struct fixed_base_g1 *g1;
    struct fixed_base_g2 *g2;
    struct multiples vectors[KEY_VECTORS];
    size_t file_bytes;
    struct file_part file;
    setup_progress_fn *progress;
    void *progress_context;
};

/* The share of the whole that the columns take: measured, for progress only. */
static const double columns_share = 0.05;

static void report_progress(struct setup *setup, double done, const char *what)
{
    if (setup->progress)
        setup->progress(setup->progress_context, done, what);
}

/* --- Scalars ---------------------------------------------------------------------------------- */

struct combination {
    struct columns *columns;
    struct fr alpha, beta, inverse_gamma, inverse_delta;
};

enum { COMBINE_VARIABLES = 16384 };

/* w becomes (β u + α v + w) / γ for inputs, / δ for aux variables: the scalars of ic and l. */
static void combine(void *context, size_t task)
{
    const struct combination *c = context;
    const struct columns *columns = c->columns;
    size_t first = task * COMBINE_VARIABLES;
    size_t end = first + COMBINE_VARIABLES;
    end = end < columns->n_variables ? end : columns->n_variables;
    for (size_t i = first; i < end; i++) {
        struct fr u, v;
        struct fr *w = &columns->w[i];
        fr_mul(&u, &c->beta, &columns->u[i]);
        fr_mul(&v, &c->alpha, &columns->v[i]);
        fr_add(w, w, &u);
        fr_add(w, w, &v);
        fr_mul(w, w, i < columns->n_inputs ? &c->inverse_gamma : &c->inverse_delta);
    }
}

/* Moves the elements that are not zero together; returns their number. */
static size_t drop_zeros(struct fr *elements, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (!fr_is_zero(&elements[i]))
            elements[kept++] = elements[i];
    }
    return kept;
}

static enum cuzk_status check_combined(const struct columns *columns, struct cuzk_error *err)
{
    for (size_t i = 0; i < columns->n_variables; i++) {
        if (!fr_is_zero(&columns->w[i]))
            continue;
        bool aux = i >= columns->n_inputs;
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "%s variable %zu gets the point at infinity: it occurs in no row",
                         aux ? "aux" : "input", i - (aux ? columns->n_inputs : 0));
    }
    return CUZK_OK;
}

void setup_quotient(struct fr *out, const struct shape *shape,
                    const struct setup_trapdoor *trapdoor)
{
    struct fr inverse_delta;
    fr_inv(&inverse_delta, &trapdoor->delta);
    fr_pow(out, &trapdoor->tau, (uint64_t)1 << shape->log2_domain);
    fr_sub(out, out, &fr_one);
    fr_mul(out, out, &inverse_delta);
}

/* h_i = τ^i (τ^m - 1) / δ. */
static enum cuzk_status make_h_scalars(const void *context, size_t first, struct fr *scalars,
                                       size_t n, struct cuzk_error *err)
{
    (void)err;
    const struct setup *setup = context;
    struct fr power;
    fr_pow(&power, &setup->trapdoor->tau, first);
    fr_mul(&power, &power, &setup->h_factor);
    for (size_t i = 0; i < n; i++) {
        scalars[i] = power;
        fr_mul(&power, &power, &setup->trapdoor->tau);
    }
    return CUZK_OK;
}

/* Fills the columns and makes the vectors' scalars of them. */
static enum cuzk_status make_scalars(struct setup *setup, struct cuzk_error *err)
{
    const struct shape *shape = setup->shape;
    const struct setup_trapdoor *trapdoor = setup->trapdoor;
    struct columns *columns = &setup->columns;
    TRY(columns_evaluate(shape, &trapdoor->tau, columns, err));
    struct combination combination = {
        .columns = columns,
        .alpha = trapdoor->alpha,
        .beta = trapdoor->beta,
    };
    fr_inv(&combination.inverse_gamma, &trapdoor->gamma);
    fr_inv(&combination.inverse_delta, &trapdoor->delta);
    pool_run(setup->pool, (columns->n_variables + COMBINE_VARIABLES - 1) / COMBINE_VARIABLES,
             combine, &combination);
    TRY(check_combined(columns, err));

    setup_quotient(&setup->h_factor, shape, trapdoor);
    size_t n_a = drop_zeros(columns->u, columns->n_variables);
    size_t n_b = drop_zeros(columns->v, columns->n_variables);
    /* A variable that occurs in A or B vanishes at τ for no more than m values of τ. */
    if (n_a != (size_t)shape->n_inputs + shape->a_dense_aux ||
        n_b != (size_t)shape->b_dense_inputs + shape->b_dense_aux)
        return error_set(err, CUZK_INVALID_ARGUMENT, "tau is a root of a variable's polynomial");
    struct multiples *vectors = setup->vectors;
    vectors[KEY_H].count = ((size_t)1 << shape->log2_domain) - 1;
    vectors[KEY_H].make = make_h_scalars;
    vectors[KEY_H].context = setup;
    vectors[KEY_L].count = shape->n_aux;
    vectors[KEY_L].scalars = columns->w + columns->n_inputs;
    vectors[KEY_A].count = n_a;
    vectors[KEY_A].scalars = columns->u;
    vectors[KEY_B_G1].count = vectors[KEY_B_G2].count = n_b;
    vectors[KEY_B_G1].scalars = vectors[KEY_B_G2].scalars = columns->v;
    vectors[KEY_B_G2].in_g2 = true;
    return CUZK_OK;
}

/* --- Layout and tables ------------------------------------------------------------------------ */

static void lay_out(struct setup *setup)
{
    size_t offset = VK_BYTES(setup->shape->n_inputs);
    for (int which = KEY_H; which < KEY_VECTORS; which++) {
        struct multiples *vector = &setup->vectors[which];
        vector->name = key_vector_name((enum key_vector)which);
        vector->offset = offset + 4;
        offset = vector->offset + vector->count * key_point_bytes((enum key_vector)which);
    }
    setup->file_bytes = offset;
}

static enum cuzk_status make_tables(struct setup *setup, struct cuzk_error *err)
{
    size_t n_g1 = setup->shape->n_inputs;
    for (int which = KEY_H; which <= KEY_B_G1; which++)
        n_g1 += setup->vectors[which].count;
    TRY(fixed_base_g1_new(g1_generator(), n_g1, setup->pool, &setup->g1, err));
    return fixed_base_g2_new(g2_generator(), setup->vectors[KEY_B_G2].count + 3, setup->pool,
                             &setup->g2, err);
}

/* --- The verifying key ------------------------------------------------------------------------ */

static enum cuzk_status make_vk(const struct setup *setup, uint8_t *bytes, struct cuzk_error *err)
{
    const struct setup_trapdoor *trapdoor = setup->trapdoor;
    uint32_t n_ic = setup->shape->n_inputs;
    struct fr g1_scalars[] = {trapdoor->alpha, trapdoor->beta, trapdoor->delta};
    struct fr g2_scalars[] = {trapdoor->beta, trapdoor->gamma, trapdoor->delta};
    struct g1_affine g1[ARRAY_LEN(g1_scalars)];
    struct g2_affine g2[ARRAY_LEN(g2_scalars)];
    TRY(fixed_base_g1_mul(setup->g1, g1_scalars, ARRAY_LEN(g1), g1, err));
    TRY(fixed_base_g2_mul(setup->g2, g2_scalars, ARRAY_LEN(g2), g2, err));
    struct g1_affine *ic = mem_alloc(n_ic, sizeof *ic);
    if (!ic)
        return error_set(err, CUZK_NO_MEMORY, "no memory for %u ic points", n_ic);
    enum cuzk_status status = fixed_base_g1_mul(setup->g1, setup->columns.w, n_ic, ic, err);
    if (status == CUZK_OK) {
        g1_encode(bytes, &g1[0]);
        g1_encode(bytes + 96, &g1[1]);
        g2_encode(bytes + 192, &g2[0]);
        g2_encode(bytes + 384, &g2[1]);
        g1_encode(bytes + 576, &g1[2]);
        g2_encode(bytes + 672, &g2[2]);
        store_u32_be(bytes + 864, n_ic);
        for (uint32_t i = 0; i < n_ic; i++)
            g1_encode(bytes + VK_BYTES(i), &ic[i]);
    }
    mem_free(ic);
    return status;
}

/* --- The vectors ------------------------------------------------------------------------------ */

static enum cuzk_status write_vectors(const struct setup *setup, struct cuzk_error *err)
{
    const struct multiples_writer writer = {
        .file = &setup->file,
        .g1 = setup->g1,
        .g2 = setup->g2,
        .pool = setup->pool,
        .progress = setup->progress,
        .progress_context = setup->progress_context,
        .progress_from = columns_share,
    };
    for (int which = KEY_H; which < KEY_VECTORS; which++) {
        uint8_t count[4];
        const struct multiples *vector = &setup->vectors[which];
        store_u32_be(count, (uint32_t)vector->count);
        TRY(file_part_write(&setup->file, vector->offset - 4, count, sizeof count, err));
    }
    return multiples_write(&writer, setup->vectors, KEY_VECTORS, err);
}

/* --- All together ----------------------------------------------------------------------------- */

static enum cuzk_status check_trapdoor(const struct setup_trapdoor *trapdoor,
                                       struct cuzk_error *err)
{
    if (fr_is_zero(&trapdoor->alpha) || fr_is_zero(&trapdoor->beta) ||
        fr_is_zero(&trapdoor->gamma) || fr_is_zero(&trapdoor->delta) || fr_is_zero(&trapdoor->tau))
        return error_set(err, CUZK_INVALID_ARGUMENT, "a trapdoor is zero");
    return CUZK_OK;
}

/* Fills the .params file, and writes the .vk file: the first is to appear last. */
static enum cuzk_status write_files(struct setup *setup, const uint8_t *vk, const char *vk_path,
                                    struct cuzk_error *err)
{
    size_t vk_bytes = VK_BYTES(setup->shape->n_inputs);
    TRY(file_part_write(&setup->file, 0, vk, vk_bytes, err));
    TRY(write_vectors(setup, err));
    return file_write(vk_path, vk, vk_bytes, err);
}

static enum cuzk_status write_and_rename(struct setup *setup, const char *path, const char *vk_path,
                                         struct cuzk_error *err)
{
    uint8_t *vk = mem_alloc(VK_BYTES(setup->shape->n_inputs), 1);
    if (!vk)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a verifying key");
    enum cuzk_status status = make_vk(setup, vk, err);
    if (status == CUZK_OK)
        status = file_part_begin(&setup->file, path, setup->file_bytes, err);
    if (status == CUZK_OK) {
        status = write_files(setup, vk, vk_path, err);
        if (status == CUZK_OK)
            status = file_part_finish(&setup->file, err);
        else
            file_part_drop(&setup->file);
    }
    mem_free(vk);
    return status;
}

enum cuzk_status setup_write(const struct shape *shape, const struct setup_trapdoor *trapdoor,
                             const char *path, struct pool *pool, setup_progress_fn *progress,
                             void *progress_context, struct cuzk_error *err)
{
    char vk_path[PATH_MAX];
    TRY(check_trapdoor(trapdoor, err));
    TRY(key_path_beside(path, KEY_FILE_VK, vk_path, err));
    struct setup setup = {
        .shape = shape,
        .trapdoor = trapdoor,
        .pool = pool,
        .progress = progress,
        .progress_context = progress_context,
    };
    report_progress(&setup, 0, "columns");
    enum cuzk_status status = make_scalars(&setup, err);
    if (status == CUZK_OK) {
        lay_out(&setup);
        report_progress(&setup, columns_share, "tables");
        status = make_tables(&setup, err);
    }
    if (status == CUZK_OK)
        status = write_and_rename(&setup, path, vk_path, err);
    fixed_base_g1_free(setup.g1);
    fixed_base_g2_free(setup.g2);
    columns_free(&setup.columns);
    return status;
}
