#include "r1cs/value_digest.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/mem.h"
#include "math/spread.h"
#include "r1cs/rows_program.h"

#include <stdatomic.h>

/* Values that are hashed in one piece. */
enum { BLOCK = 1 << 15 };

struct digests {
    const struct row_evaluator *evaluator;
    const struct witness *witness;
    const struct value_chunks *chunks;
    struct value_digests *out;
    atomic_bool failed;
};

/* --- Hashing one sequence, as a whole and in chunks ------------------------------------------- */

struct stream {
    enum value_sequence sequence;
    struct hasher *whole;
    const struct value_chunks *chunks; /* or NULL */
    struct hasher *chunk;              /* NULL between two chunks */
    uint32_t n_chunks;
    uint32_t left; /* values that the current chunk still takes */
    bool failed;
};

static bool stream_start(struct stream *stream, enum value_sequence sequence,
                         const struct value_chunks *chunks)
{
    *stream = (struct stream){.sequence = sequence, .whole = sha256_new(), .chunks = chunks};
    return stream->whole != NULL;
}

static void end_chunk(struct stream *stream)
{
    uint8_t digest[SHA256_BYTES];
    hasher_final(stream->chunk, digest);
    stream->chunk = NULL;
    stream->chunks->fn(stream->chunks->context, stream->sequence, stream->n_chunks++, digest);
}

static void add_to_chunks(struct stream *stream, const uint8_t *bytes, uint32_t n)
{
    while (n > 0) {
        if (!stream->chunk) {
            stream->chunk = sha256_new();
            stream->left = stream->chunks->size;
        }
        if (!stream->chunk) {
            stream->failed = true;
            return;
        }
        const uint32_t step = n < stream->left ? n : stream->left;
        hasher_update(stream->chunk, bytes, (size_t)step * FR_BYTES);
        bytes += (size_t)step * FR_BYTES;
        n -= step;
        stream->left -= step;
        if (stream->left == 0)
            end_chunk(stream);
    }
}

static void stream_add(struct stream *stream, const uint8_t *bytes, uint32_t n)
{
    hasher_update(stream->whole, bytes, (size_t)n * FR_BYTES);
    if (stream->chunks)
        add_to_chunks(stream, bytes, n);
}

/* Frees the stream; digest NULL: without results. */
static void stream_end(struct stream *stream, uint8_t *digest)
{
    if (stream->whole)
        hasher_final(stream->whole, digest);
    if (stream->chunk && digest)
        end_chunk(stream);
    else if (stream->chunk)
        hasher_final(stream->chunk, NULL);
}

/* --- The sequences ---------------------------------------------------------------------------- */

/* Most values are 0 or 1. */
static void value_bytes(uint8_t bytes[FR_BYTES], const struct fr *value)
{
    if (fr_is_zero(value) || fr_is_one(value)) {
        memset(bytes, 0, FR_BYTES);
        bytes[0] = fr_is_one(value);
    } else {
        fr_to_bytes(bytes, value);
    }
}

static void hash_values(struct stream *stream, const struct fr *values, uint32_t n, uint8_t *bytes)
{
    for (uint32_t i = 0; i < n; i++)
        value_bytes(bytes + (size_t)i * FR_BYTES, &values[i]);
    stream_add(stream, bytes, n);
}

/* The next n aux variables, of which witness->full[*next_full …) are the full-size ones. */
static void hash_aux(struct stream *stream, const struct witness *witness,
                     const struct shape_template *template, uint32_t first_aux, uint32_t *next_full,
                     uint8_t *bytes)
{
    for (uint32_t i = 0; i < template->n_internal; i += BLOCK) {
        uint32_t n = template->n_internal - i < BLOCK ? template->n_internal - i : BLOCK;
        for (uint32_t k = 0; k < n; k++) {
            uint8_t *value = bytes + (size_t)k * FR_BYTES;
            if (bit_get(template->is_full, i + k)) {
                value_bytes(value, &witness->full[(*next_full)++]);
                continue;
            }
            memset(value, 0, FR_BYTES);
            value[0] = bit_get(witness->bits, first_aux + i + k);
        }
        stream_add(stream, bytes, n);
    }
}

static void hash_all_aux(const struct digests *digests, struct stream *stream, uint8_t *bytes)
{
    const struct shape *shape = digests->evaluator->shape;
    uint32_t next_full = 0;
    for (uint32_t i = 0; i < shape->n_placements; i++) {
        const struct shape_placement *placement = &shape->placements[i];
        hash_aux(stream, digests->witness, &shape->templates[placement->template_index],
                 placement->first_aux, &next_full, bytes);
    }
}

static void hash_inputs(const struct digests *digests, struct stream *stream, uint8_t *bytes)
{
    const struct witness *witness = digests->witness;
    for (uint32_t i = 0; i < witness->n_inputs; i += BLOCK) {
        uint32_t n = witness->n_inputs - i < BLOCK ? witness->n_inputs - i : BLOCK;
        hash_values(stream, witness->inputs + i, n, bytes);
    }
}

/* False without memory. */
static bool hash_rows(const struct digests *digests, struct stream *stream, size_t matrix,
                      struct fr *values, uint8_t *bytes)
{
    const struct shape *shape = digests->evaluator->shape;
    uint64_t total = shape->n_rows + shape->n_inputs;
    struct fr *out[MATRIX_COUNT] = {NULL};
    out[matrix] = values;
    for (uint64_t row = 0; row < total; row += BLOCK) {
        uint32_t n = total - row < BLOCK ? (uint32_t)(total - row) : BLOCK;
        if (row_evaluator_run(digests->evaluator, digests->witness, NULL, row, n, out, NULL) !=
            CUZK_OK)
            return false;
        hash_values(stream, values, n, bytes);
    }
    return true;
}

static void run_task(void *context, unsigned worker, size_t task)
{
    (void)worker;
    struct digests *digests = context;
    uint8_t *results[VALUES_COUNT] = {
        digests->out->rows[MATRIX_A], digests->out->rows[MATRIX_B],
        digests->out->rows[MATRIX_C], digests->out->aux,
        digests->out->inputs,
    };
    struct stream stream;
    struct fr *values = mem_alloc(BLOCK, sizeof *values);
    uint8_t *bytes = mem_alloc(BLOCK, FR_BYTES);
    bool done =
        stream_start(&stream, (enum value_sequence)task, digests->chunks) && values && bytes;
    if (done && task == VALUES_AUX)
        hash_all_aux(digests, &stream, bytes);
    else if (done && task == VALUES_INPUTS)
        hash_inputs(digests, &stream, bytes);
    else if (done)
        done = hash_rows(digests, &stream, task - VALUES_A, values, bytes);
    done = done && !stream.failed;
    stream_end(&stream, done ? results[task] : NULL);
    if (!done)
        atomic_store(&digests->failed, true);
    mem_free(values);
    mem_free(bytes);
}

enum cuzk_status value_digests_make(const struct row_evaluator *evaluator,
                                    const struct witness *witness, struct pool *pool,
                                    const struct value_chunks *chunks, struct value_digests *out,
                                    struct cuzk_error *err)
{
    struct digests digests = {
        .evaluator = evaluator, .witness = witness, .chunks = chunks, .out = out};
    spread(pool, VALUES_COUNT, run_task, &digests);
    if (atomic_load(&digests.failed))
        return error_set(err, CUZK_NO_MEMORY, "value digests: no memory");
    return CUZK_OK;
}
