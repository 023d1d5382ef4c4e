#include "r1cs/digest.h"

#include "base/bits.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/mem.h"
#include "r1cs/driver.h"

/* --- The stream ------------------------------------------------------------------------------- */

enum { BUFFER_BYTES = 1 << 16 };

bool digest_start(struct digest_stream *stream)
{
    *stream = (struct digest_stream){.hasher = sha256_new()};
    stream->buffer = mem_alloc(BUFFER_BYTES, 1);
    if (stream->hasher && stream->buffer)
        return true;
    digest_drop(stream);
    return false;
}

uint8_t *digest_room(struct digest_stream *stream, size_t bytes)
{
    if (stream->len + bytes > BUFFER_BYTES) {
        hasher_update(stream->hasher, stream->buffer, stream->len);
        stream->len = 0;
    }
    return stream->buffer + stream->len;
}

void digest_add_u32(struct digest_stream *stream, uint32_t value)
{
    store_u32_le(digest_room(stream, 4), value);
    stream->len += 4;
}

void digest_add_term(struct digest_stream *stream, uint32_t id, const uint8_t coeff[FR_BYTES])
{
    uint8_t *out = digest_room(stream, DIGEST_TERM_BYTES);
    store_u32_le(out, id);
    memcpy(out + 4, coeff, FR_BYTES);
    stream->len += DIGEST_TERM_BYTES;
}

void digest_finish(struct digest_stream *stream, uint32_t n_inputs, uint32_t n_aux, uint64_t n_rows,
                   uint8_t digest[32])
{
    uint8_t *out = digest_room(stream, 24);
    store_u64_le(out, n_inputs);
    store_u64_le(out + 8, n_aux);
    store_u64_le(out + 16, n_rows);
    stream->len += 24;
    hasher_update(stream->hasher, stream->buffer, stream->len);
    hasher_final(stream->hasher, digest);
    stream->hasher = NULL;
    digest_drop(stream);
}

void digest_drop(struct digest_stream *stream)
{
    if (stream->hasher)
        hasher_final(stream->hasher, NULL);
    mem_free(stream->buffer);
    *stream = (struct digest_stream){0};
}

/* --- The driver ------------------------------------------------------------------------------- */

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
    return (struct digest_cs *)cs;
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
