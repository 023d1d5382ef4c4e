#include "math/ntt.h"

#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"
#include "math/cpu.h"
#include "math/ntt_arith.h"
#include "math/spread.h"

enum {
    LOG2_SMALL = 4,          /* below 2^4 elements the definition is used directly */
    TASK_ELEMENTS = 1 << 12, /* of element-wise work */
    REORDER_BLOCK = 4        /* least number of rows of a level */
};

/* Tables and room for all transforms of one call. */
struct ntt {
    const struct ntt_arith *arith;
    struct pool *pool;
    unsigned log2_n;
    unsigned n_levels;
    unsigned log2_rows[NTT_LEVELS_MAX];
    struct fr omega, inverse_omega;
    void *stages, *inverse_stages;
    void **tiles; /* one for each worker */
};

static void ntt_free(struct ntt *ntt)
{
    mem_free(ntt->stages);
    mem_free(ntt->inverse_stages);
    for (unsigned i = 0; ntt->tiles && i < spread_workers(ntt->pool); i++)
        mem_free(ntt->tiles[i]);
    mem_free(ntt->tiles);
}

/* The tables of ntt_impl.h for blocks of up to `rows` elements; NULL without memory. */
static void *make_stages(const struct ntt *ntt, const struct fr *omega, size_t rows)
{
    const size_t bytes = ntt->arith->twiddle_bytes;
    char *stages = mem_alloc(1 + 3 * (rows / 2 - 1), bytes);
    if (!stages)
        return NULL;
    char *next = stages + bytes;
    /* roots[k] is of order 2^k */
    struct fr roots[NTT_LOG2_MAX + 1];
    roots[ntt->log2_n] = *omega;
    for (unsigned k = ntt->log2_n; k > 0; k--)
        fr_sqr(&roots[k - 1], &roots[k]);
    ntt->arith->twiddle(stages, &roots[2]);
    for (unsigned k = 2; ((size_t)1 << k) <= rows; k++) {
        struct fr power = fr_one;
        for (size_t j = 0; j < (size_t)1 << (k - 2); j++) {
            struct fr square;
            struct fr cube;
            fr_sqr(&square, &power);
            fr_mul(&cube, &square, &power);
            ntt->arith->twiddle(next, &power);
            ntt->arith->twiddle(next + bytes, &square);
            ntt->arith->twiddle(next + 2 * bytes, &cube);
            next += 3 * bytes;
            fr_mul(&power, &power, &roots[k]);
        }
    }
    return stages;
}

static bool ntt_init(struct ntt *ntt, const struct ntt_arith *arith, unsigned log2_n,
                     struct pool *pool)
{
    CHECK(log2_n <= NTT_LOG2_MAX);
    /* Each level has at least as many rows as a tile has lanes. */
    if ((size_t)1 << log2_n < (size_t)arith->lanes * arith->lanes)
        arith = &ntt_arith_portable;
    *ntt = (struct ntt){.arith = arith, .pool = pool, .log2_n = log2_n};
    fr_omega(&ntt->omega, log2_n);
    fr_inv(&ntt->inverse_omega, &ntt->omega);
    if (log2_n < LOG2_SMALL)
        return true;
    /* Two levels at least: the lanes of a tile are columns or blocks of a level. */
    ntt->n_levels = log2_n <= 2 * arith->log2_rows_max ? 2 : 3;
    CHECK(log2_n <= ntt->n_levels * arith->log2_rows_max);
    unsigned left = log2_n;
    for (unsigned l = 0; l < ntt->n_levels; l++) {
        const unsigned levels_left = ntt->n_levels - l;
        ntt->log2_rows[l] = (left + levels_left - 1) / levels_left;
        left -= ntt->log2_rows[l];
    }
    const size_t rows = (size_t)1 << ntt->log2_rows[0];
    ntt->stages = make_stages(ntt, &ntt->omega, rows);
    ntt->inverse_stages = make_stages(ntt, &ntt->inverse_omega, rows);
    ntt->tiles = mem_zalloc(spread_workers(pool), sizeof *ntt->tiles);
    if (!ntt->stages || !ntt->inverse_stages || !ntt->tiles)
        return false;
    for (unsigned i = 0; i < spread_workers(pool); i++) {
        ntt->tiles[i] = mem_alloc(rows, arith->vector_bytes);
        if (!ntt->tiles[i])
            return false;
    }
    return true;
}

/* --- Transforms ------------------------------------------------------------------------------- */

struct level_run {
    const struct ntt *ntt;
    const struct ntt_transform *transform;
    unsigned level;
};

static void tile_task(void *context, unsigned worker, size_t task)
{
    const struct level_run *run = context;
    const struct ntt *ntt = run->ntt;
    const void *stages = run->transform->to_coefficients ? ntt->inverse_stages : ntt->stages;
    ntt->arith->tile(run->transform, run->level, task, stages, ntt->tiles[worker]);
}

/* By definition, for a few elements. Their order is natural, which is right for a single level. */
static void transform_small(const struct ntt_transform *t)
{
    struct fr in[1 << LOG2_SMALL];
    const size_t n = (size_t)1 << t->log2_n;
    memcpy(in, t->elements, n * sizeof *in);
    for (size_t i = 0; i < n; i++) {
        struct fr sum = fr_zero;
        for (size_t j = 0; j < n; j++) {
            struct fr power;
            struct fr term;
            fr_pow(&power, &t->omega, i * j);
            fr_mul(&term, &in[j], &power);
            if (!t->to_coefficients) {
                fr_pow(&power, &t->shift, j);
                fr_mul(&term, &term, &power);
            }
            fr_add(&sum, &sum, &term);
        }
        if (t->to_coefficients) {
            struct fr factor;
            fr_pow(&factor, &t->shift, i);
            fr_mul(&factor, &factor, &t->scale);
            fr_mul(&sum, &sum, &factor);
        }
        t->elements[i] = sum;
    }
}

static void run_transform(const struct ntt *ntt, struct fr *elements, bool to_coefficients,
                          const struct fr *shift, const struct fr *scale)
{
    struct ntt_transform transform = {
        .elements = elements,
        .log2_n = ntt->log2_n,
        .n_levels = ntt->n_levels,
        .omega = to_coefficients ? ntt->inverse_omega : ntt->omega,
        .shift = *shift,
        .scale = *scale,
        .to_coefficients = to_coefficients,
    };
    memcpy(transform.log2_rows, ntt->log2_rows, sizeof transform.log2_rows);
    if (ntt->n_levels == 0) {
        transform_small(&transform);
        return;
    }
    const size_t n = (size_t)1 << ntt->log2_n;
    for (unsigned i = 0; i < ntt->n_levels; i++) {
        const unsigned level = to_coefficients ? i : ntt->n_levels - 1 - i;
        struct level_run run = {ntt, &transform, level};
        spread(ntt->pool, n / ntt->arith->lanes >> ntt->log2_rows[level], tile_task, &run);
    }
}

/* Row values to coefficients: c_k = scale/n · shift^k · Σ v_j·w^-jk, in reversed order. */
static void to_coefficients(const struct ntt *ntt, struct fr *elements, const struct fr *shift,
                            const struct fr *scale)
{
    struct fr factor;
    fr_from_u64(&factor, UINT64_C(1) << ntt->log2_n);
    fr_inv(&factor, &factor);
    fr_mul(&factor, &factor, scale);
    run_transform(ntt, elements, true, shift, &factor);
}

/* Coefficients in reversed order to values at shift·w^j. */
static void to_values(const struct ntt *ntt, struct fr *elements, const struct fr *shift)
{
    run_transform(ntt, elements, false, shift, &fr_one);
}

/* --- Order ------------------------------------------------------------------------------------ */

struct reorder {
    const struct ntt *ntt;
    struct fr *natural;
    struct fr *reversed;
    const struct fr *subtract; /* in reversed order; NULL: nothing */
    bool to_natural;
};

static void move_element(const struct reorder *r, size_t natural, size_t reversed)
{
    if (!r->to_natural)
        r->reversed[reversed] = r->natural[natural];
    else if (r->subtract)
        fr_sub(&r->natural[natural], &r->reversed[reversed], &r->subtract[reversed]);
    else
        r->natural[natural] = r->reversed[reversed];
}

/* Rows k0 … k0 + 3 for one k1 (three levels) and all k of the last level. In both arrays runs of
   four elements, two cache lines, are used together. */
static void reorder_task(void *context, unsigned worker, size_t task)
{
    (void)worker;
    const struct reorder *r = context;
    const struct ntt *ntt = r->ntt;
    const size_t rows = (size_t)1 << ntt->log2_rows[0];
    const size_t middle = ntt->n_levels == 3 ? (size_t)1 << ntt->log2_rows[1] : 1;
    const size_t last = (size_t)1 << ntt->log2_rows[ntt->n_levels - 1];
    const size_t first_row = task / middle * REORDER_BLOCK;
    const size_t k1 = task % middle;
    for (size_t k2 = 0; k2 < last; k2 += REORDER_BLOCK) {
        for (size_t i = 0; i < REORDER_BLOCK; i++) {
            for (size_t j = 0; j < REORDER_BLOCK; j++) {
                const size_t row = first_row + j;
                move_element(r, row + rows * (k1 + middle * (k2 + i)),
                             (row * middle + k1) * last + k2 + i);
            }
        }
    }
}

static void run_reorder(struct reorder *r)
{
    const struct ntt *ntt = r->ntt;
    const size_t n = (size_t)1 << ntt->log2_n;
    if (ntt->n_levels == 0) {
        for (size_t i = 0; i < n; i++)
            move_element(r, i, i);
        return;
    }
    const size_t last = (size_t)1 << ntt->log2_rows[ntt->n_levels - 1];
    spread(ntt->pool, n / last / REORDER_BLOCK, reorder_task, r);
}

/* --- Element-wise ----------------------------------------------------------------------------- */

struct product {
    const struct ntt *ntt;
    struct fr *out;
    const struct fr *a, *b;
    size_t n;
};

static void product_task(void *context, unsigned worker, size_t task)
{
    (void)worker;
    const struct product *p = context;
    const size_t first = task * TASK_ELEMENTS;
    const size_t count = p->n - first < TASK_ELEMENTS ? p->n - first : TASK_ELEMENTS;
    if (p->out != p->a)
        memcpy(p->out + first, p->a + first, count * sizeof *p->out);
    if (count % p->ntt->arith->lanes == 0)
        p->ntt->arith->multiply(p->out + first, p->b + first, count);
    else
        ntt_arith_portable.multiply(p->out + first, p->b + first, count);
}

/* out = a∘b, divided by *fix in some arithmetics. */
static void run_product(const struct ntt *ntt, struct fr *out, const struct fr *a,
                        const struct fr *b, struct fr *fix)
{
    const size_t n = (size_t)1 << ntt->log2_n;
    struct product p = {ntt, out, a, b, n};
    spread(ntt->pool, (n + TASK_ELEMENTS - 1) / TASK_ELEMENTS, product_task, &p);
    fr_pow2(fix, n % ntt->arith->lanes == 0 ? ntt->arith->log2_fix : 0);
}

/* --- The calls -------------------------------------------------------------------------------- */

static enum cuzk_status report_no_memory(unsigned log2_n, struct cuzk_error *err)
{
    return error_set(err, CUZK_NO_MEMORY, "transform of 2^%u elements: out of memory", log2_n);
}

static enum cuzk_status whole_transform(struct fr *elements, unsigned log2_n, bool forward,
                                        const struct ntt_arith *arith, struct pool *pool,
                                        struct cuzk_error *err)
{
    const size_t n = (size_t)1 << log2_n;
    enum cuzk_status status = CUZK_OK;
    struct ntt ntt;
    struct fr *copy = mem_alloc(n, sizeof *copy);
    if (!ntt_init(&ntt, arith, log2_n, pool) || !copy) {
        status = report_no_memory(log2_n, err);
        goto out;
    }
    struct reorder reorder = {&ntt, elements, copy, NULL, !forward};
    if (forward) {
        run_reorder(&reorder);
        memcpy(elements, copy, n * sizeof *elements);
        to_values(&ntt, elements, &fr_one);
    } else {
        memcpy(copy, elements, n * sizeof *copy);
        to_coefficients(&ntt, copy, &fr_one, &fr_one);
        run_reorder(&reorder);
    }
out:
    ntt_free(&ntt);
    mem_free(copy);
    return status;
}

enum cuzk_status ntt_forward(struct fr *elements, unsigned log2_n, const struct ntt_arith *arith,
                             struct pool *pool, struct cuzk_error *err)
{
    return whole_transform(elements, log2_n, true, arith ? arith : ntt_ariths()[0], pool, err);
}

enum cuzk_status ntt_inverse(struct fr *elements, unsigned log2_n, const struct ntt_arith *arith,
                             struct pool *pool, struct cuzk_error *err)
{
    return whole_transform(elements, log2_n, false, arith ? arith : ntt_ariths()[0], pool, err);
}

/* On the coset 7·w^j the divisor X^n - 1 is the constant d = 7^n - 1. There A·B/d agrees with
   h + C/d, and both sides have degree below n: so h is the interpolation of A·B/d minus the
   coefficients of C/d. C never goes to the coset, which saves the seventh transform. */
enum cuzk_status ntt_quotient(struct fr *a, struct fr *b, unsigned log2_n,
                              const struct ntt_arith *arith, struct pool *pool,
                              struct cuzk_error *err)
{
    enum cuzk_status status = CUZK_OK;
    struct ntt ntt;
    struct fr *c = mem_alloc((size_t)1 << log2_n, sizeof *c);
    if (!ntt_init(&ntt, arith ? arith : ntt_ariths()[0], log2_n, pool) || !c) {
        status = report_no_memory(log2_n, err);
        goto out;
    }
    struct fr fix;
    struct fr scale;
    struct fr inverse_shift;
    struct fr inverse_d;
    fr_pow(&inverse_d, &fr_generator, UINT64_C(1) << log2_n);
    fr_sub(&inverse_d, &inverse_d, &fr_one);
    fr_inv(&inverse_d, &inverse_d);
    fr_inv(&inverse_shift, &fr_generator);

    run_product(&ntt, c, a, b, &fix);
    fr_mul(&scale, &inverse_d, &fix);
    to_coefficients(&ntt, c, &fr_one, &scale);
    to_coefficients(&ntt, a, &fr_one, &fr_one);
    to_values(&ntt, a, &fr_generator);
    to_coefficients(&ntt, b, &fr_one, &fr_one);
    to_values(&ntt, b, &fr_generator);
    run_product(&ntt, b, b, a, &fix);
    fr_mul(&scale, &inverse_d, &fix);
    to_coefficients(&ntt, b, &inverse_shift, &scale);
    struct reorder reorder = {&ntt, a, b, c, true};
    run_reorder(&reorder);
out:
    ntt_free(&ntt);
    mem_free(c);
    return status;
}

const struct ntt_arith *const *ntt_ariths(void)
{
    static const struct ntt_arith *const all[] = {
#if defined(__x86_64__)
        &ntt_arith_ifma,
        &ntt_arith_avx2,
#endif
        &ntt_arith_portable,
        NULL
    };
    return cpu_has_ifma() ? &all[0] : cpu_has_avx2() ? &all[1] : &all[ARRAY_LEN(all) - 2];
}

const char *ntt_arith_name(const struct ntt_arith *arith)
{
    return arith->name;
}
