#include "oracle/digest.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/pointer.h"
#include "oracle/digest_stream.h"
#include "r1cs/driver.h"

struct digest_cs {
    struct cs cs;
    struct digest_stream stream;
    struct bitmap a_aux;
    struct bitmap b_aux;
    struct bitmap b_inputs;
    row_fn *on_row;
    void *row_context;
};

static struct digest_cs *digest_of(struct cs *cs)
{
    return CONTAINER_OF(cs, struct digest_cs, cs);
}

static struct var digest_alloc(struct cs *cs, enum var_kind kind, const struct fr *value)
{
    (void)value;
    struct digest_cs *digest = digest_of(cs);
    if (cs->status != CUZK_OK)
        return VAR_ONE;
    bool room = kind == VAR_KIND_INPUT ? bitmap_reserve(&digest->b_inputs, cs->n_inputs + 1)
                                       : bitmap_reserve(&digest->a_aux, cs->n_aux + 1) &&
                                             bitmap_reserve(&digest->b_aux, cs->n_aux + 1);
    if (!room) {
        cs_fail(cs, CUZK_NO_MEMORY);
        return VAR_ONE;
    }
    return cs_next_var(cs, kind);
}

static void add_combination(struct digest_stream *stream, const struct lc *lc)
{
    digest_add_u32(stream, (uint32_t)lc->len);
    for (size_t i = 0; i < lc->len; i++) {
        uint8_t coeff[FR_BYTES];
        fr_to_bytes(coeff, &lc->terms[i].coeff);
        digest_add_term(stream, lc->terms[i].var.id, coeff);
    }
}

static void mark_dense(const struct lc *lc, struct bitmap *aux, struct bitmap *inputs)
{
    for (size_t i = 0; i < lc->len; i++) {
        struct var var = lc->terms[i].var;
        if (var_is_aux(var))
            bit_set(aux->words, var_index(var));
        else if (inputs)
            bit_set(inputs->words, var_index(var));
    }
}

static void digest_enforce(struct cs *cs, struct lc *a, struct lc *b, struct lc *c)
{
    struct digest_cs *digest = digest_of(cs);
    lc_normalise(a);
    lc_normalise(b);
    lc_normalise(c);
    add_combination(&digest->stream, a);
    add_combination(&digest->stream, b);
    add_combination(&digest->stream, c);
    mark_dense(a, &digest->a_aux, NULL);
    mark_dense(b, &digest->b_aux, &digest->b_inputs);
    if (digest->on_row)
        digest->on_row(digest->row_context, cs->n_rows, a, b, c);
}

static const struct cs_driver digest_driver = {
    .alloc = digest_alloc,
    .enforce = digest_enforce,
    .template_begin = cs_template_begin_rows,
    .template_end = cs_template_end_rows,
};

enum cuzk_status cs_digest(const struct circuit_program *program, struct cs_digest *digest,
                           row_fn *on_row, void *row_context, struct cuzk_error *err)
{
    *digest = (struct cs_digest){0};
    struct digest_cs driver = {.on_row = on_row, .row_context = row_context};
    if (!digest_start(&driver.stream))
        return error_set(err, CUZK_NO_MEMORY, "digest: no memory");
    cs_start(&driver.cs, &digest_driver);
    enum cuzk_status status = cs_run(&driver.cs, program, err);
    if (status == CUZK_OK) {
        digest->n_inputs = driver.cs.n_inputs;
        digest->n_aux = driver.cs.n_aux;
        digest->n_rows = driver.cs.n_rows;
        digest->a_dense_aux = (uint32_t)bitmap_count(&driver.a_aux);
        digest->b_dense_aux = (uint32_t)bitmap_count(&driver.b_aux);
        digest->b_dense_inputs = (uint32_t)bitmap_count(&driver.b_inputs);
        digest_finish(&driver.stream, digest->n_inputs, digest->n_aux, digest->n_rows,
                      digest->sha256);
    }
    digest_drop(&driver.stream);
    bitmap_free(&driver.a_aux);
    bitmap_free(&driver.b_aux);
    bitmap_free(&driver.b_inputs);
    cs_free(&driver.cs);
    return status;
}
