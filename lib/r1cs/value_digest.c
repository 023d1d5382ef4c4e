#include "r1cs/value_digest.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/mem.h"
#include "math/spread.h"
#include "r1cs/driver.h"
#include "r1cs/rows_compile.h"

#include <stdatomic.h>

/* Values that are hashed in one piece. */
enum { BLOCK = 1 << 15 };

enum task { TASK_ROWS, TASK_AUX = MATRIX_COUNT, TASK_INPUTS, TASK_COUNT };

struct digests {
    const struct row_evaluator *evaluator;
    const struct witness *witness;
    struct value_digests *out;
    atomic_bool failed;
};

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

static void hash_values(struct hasher *hasher, const struct fr *values, size_t n, uint8_t *bytes)
{
    for (size_t i = 0; i < n; i++)
        value_bytes(bytes + i * FR_BYTES, &values[i]);
    hasher_update(hasher, bytes, n * FR_BYTES);
}

/* The next n aux variables, of which witness->full[*next_full …) are the full-size ones. */
static void hash_aux(struct hasher *hasher, const struct witness *witness,
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
        hasher_update(hasher, bytes, (size_t)n * FR_BYTES);
    }
}

static void hash_all_aux(const struct digests *digests, struct hasher *hasher, uint8_t *bytes)
{
    const struct shape *shape = digests->evaluator->shape;
    uint32_t next_full = 0;
    for (uint32_t i = 0; i < shape->n_placements; i++) {
        const struct shape_placement *placement = &shape->placements[i];
        hash_aux(hasher, digests->witness, &shape->templates[placement->template_index],
                 placement->first_aux, &next_full, bytes);
    }
}

static void hash_inputs(const struct digests *digests, struct hasher *hasher, uint8_t *bytes)
{
    const struct witness *witness = digests->witness;
    for (uint32_t i = 0; i < witness->n_inputs; i += BLOCK) {
        uint32_t n = witness->n_inputs - i < BLOCK ? witness->n_inputs - i : BLOCK;
        hash_values(hasher, witness->inputs + i, n, bytes);
    }
}

/* False without memory. */
static bool hash_rows(const struct digests *digests, struct hasher *hasher, size_t matrix,
                      struct fr *values, uint8_t *bytes)
{
    const struct shape *shape = digests->evaluator->shape;
    uint64_t total = shape->n_rows + shape->n_inputs;
    struct fr *out[MATRIX_COUNT] = { NULL };
    out[matrix] = values;
    for (uint64_t row = 0; row < total; row += BLOCK) {
        size_t n = total - row < BLOCK ? (size_t)(total - row) : BLOCK;
        if (row_evaluator_run(digests->evaluator, digests->witness, NULL, row, n, out, NULL) !=
            CUZK_OK)
            return false;
        hash_values(hasher, values, n, bytes);
    }
    return true;
}

static void run_task(void *context, unsigned worker, size_t task)
{
    (void)worker;
    struct digests *digests = context;
    uint8_t *results[TASK_COUNT] = {
        digests->out->rows[MATRIX_A], digests->out->rows[MATRIX_B],
        digests->out->rows[MATRIX_C], digests->out->aux,
        digests->out->inputs,
    };
    struct hasher *hasher = sha256_new();
    struct fr *values = mem_alloc(BLOCK, sizeof *values);
    uint8_t *bytes = mem_alloc(BLOCK, FR_BYTES);
    bool done = hasher && values && bytes;
    if (done && task == TASK_AUX)
        hash_all_aux(digests, hasher, bytes);
    else if (done && task == TASK_INPUTS)
        hash_inputs(digests, hasher, bytes);
    else if (done)
        done = hash_rows(digests, hasher, task - TASK_ROWS, values, bytes);
    if (hasher)
        hasher_final(hasher, done ? results[task] : NULL);
    if (!done)
        atomic_store(&digests->failed, true);
    mem_free(values);
    mem_free(bytes);
}

enum cuzk_status value_digests_make(const struct row_evaluator *evaluator,
                                    const struct witness *witness, struct pool *pool,
                                    struct value_digests *out, struct cuzk_error *err)
{
    struct digests digests = { .evaluator = evaluator, .witness = witness, .out = out };
    spread(pool, TASK_COUNT, run_task, &digests);
    if (atomic_load(&digests.failed))
        return error_set(err, CUZK_NO_MEMORY, "value digests: no memory");
    return CUZK_OK;
}
