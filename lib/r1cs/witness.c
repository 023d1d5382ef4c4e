/* The witness driver: keeps values and ignores rows. */
#include "r1cs/witness.h"

#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"
#include "r1cs/driver.h"
#include "r1cs/shape.h"

static struct var witness_alloc(struct cs *cs, enum var_kind kind, const struct fr *value)
{
    struct witness *witness = cs->witness;
    if (kind == VAR_KIND_INPUT) {
        if (witness->n_inputs == witness->inputs_capacity) {
            witness->overflow = true;
            return VAR_ONE;
        }
        witness->inputs[witness->n_inputs] = *value;
        cs->n_inputs = witness->n_inputs + 1;
        return (struct var){witness->n_inputs++};
    }
    struct var var = var_aux(witness->n_aux);
    if (kind == VAR_KIND_BIT)
        witness_append_bits(witness, !fr_is_zero(value), 1);
    else
        witness_append_full(witness, value);
    cs->n_aux = witness->n_aux;
    return var;
}

static void witness_enforce(struct cs *cs, struct lc *a, struct lc *b, struct lc *c)
{
    (void)cs;
    (void)a;
    (void)b;
    (void)c;
}

static void witness_parts(struct cs *cs, size_t count, cs_part_fn *part, void *context);

static const struct cs_driver witness_driver = {
    .alloc = witness_alloc,
    .enforce = witness_enforce,
    .template_begin = cs_template_begin_rows,
    .template_end = cs_template_end_rows,
    .parts = witness_parts,
};

/* --- Parts ------------------------------------------------------------------------------------ */

bool witness_skip(struct witness *witness, const struct witness_size *size, struct witness *part)
{
    if (witness->aux_capacity - witness->n_aux < size->n_aux ||
        witness->full_capacity - witness->n_full < size->n_full ||
        witness->inputs_capacity - witness->n_inputs < size->n_inputs) {
        witness->overflow = true;
        return false;
    }
    *part = *witness;
    witness->n_aux += size->n_aux;
    witness->n_full += size->n_full;
    witness->n_inputs += size->n_inputs;
    part->aux_capacity = witness->n_aux;
    part->full_capacity = witness->n_full;
    part->inputs_capacity = witness->n_inputs;
    return true;
}

bool witness_part_complete(const struct witness *part)
{
    return !part->overflow && part->n_aux == part->aux_capacity &&
           part->n_full == part->full_capacity && part->n_inputs == part->inputs_capacity;
}

/* --- Parts at the same time ------------------------------------------------------------------- */

/* Equal shares, one for each part, of the variables that the shape still expects. */
struct parts {
    struct cs *cs;
    cs_part_fn *part;
    void *context;
    size_t first;             /* parts first, first + 2, … run now */
    struct witness_size size; /* of each part */
    _Atomic int status;
    _Atomic bool overflow;
};

static void run_part(void *context, size_t i)
{
    struct parts *parts = context;
    uint32_t index = (uint32_t)(parts->first + 2 * i);
    struct witness before = *parts->cs->witness, share;
    before.n_aux += index * parts->size.n_aux;
    before.n_full += index * parts->size.n_full;
    before.n_inputs += index * parts->size.n_inputs;
    CHECK(witness_skip(&before, &parts->size, &share));
    struct cs cs = {.driver = &witness_driver, .witness = &share};
    parts->part(&cs, parts->context, index);
    if (cs.status != CUZK_OK)
        parts->status = (int)cs.status;
    if (!witness_part_complete(&share))
        parts->overflow = true;
    cs_free(&cs);
}

/* Neighbours share a word of the bit plane, so every other part runs first, and then the rest. */
static void witness_parts(struct cs *cs, size_t count, cs_part_fn *part, void *context)
{
    enum { PART_AUX_MIN = 128 }; /* more than a word, so that only neighbours share one */
    struct witness *witness = cs->witness;
    uint32_t n_aux = witness->aux_capacity - witness->n_aux;
    uint32_t n_full = witness->full_capacity - witness->n_full;
    uint32_t n_inputs = witness->inputs_capacity - witness->n_inputs;
    if (!witness->pool || count < 2 || n_aux / count < PART_AUX_MIN || n_aux % count != 0 ||
        n_full % count != 0 || n_inputs % count != 0) {
        for (size_t i = 0; i < count; i++)
            part(cs, context, i);
        return;
    }
    struct parts parts = {
        .cs = cs,
        .part = part,
        .context = context,
        .size =
            {
                .n_aux = (uint32_t)(n_aux / count),
                .n_full = (uint32_t)(n_full / count),
                .n_inputs = (uint32_t)(n_inputs / count),
            },
    };
    pool_run(witness->pool, (count + 1) / 2, run_part, &parts);
    parts.first = 1;
    pool_run(witness->pool, count / 2, run_part, &parts);
    if (parts.status != CUZK_OK)
        cs_fail(cs, (enum cuzk_status)parts.status);
    witness->overflow = witness->overflow || parts.overflow;
    witness->n_aux = witness->aux_capacity;
    witness->n_full = witness->full_capacity;
    witness->n_inputs = witness->inputs_capacity;
}

/* --- Whole witnesses -------------------------------------------------------------------------- */

static bool witness_reserve(struct witness *witness, const struct shape *shape)
{
    *witness = (struct witness){
        .aux_capacity = shape->n_aux,
        .full_capacity = shape->n_full,
        .inputs_capacity = shape->n_inputs,
    };
    witness->bits = mem_zalloc(witness_plane_words(shape->n_aux) + 1, sizeof *witness->bits);
    witness->full = mem_alloc(shape->n_full, sizeof *witness->full);
    witness->inputs = mem_alloc(shape->n_inputs, sizeof *witness->inputs);
    return witness->bits && witness->full && witness->inputs;
}

enum cuzk_status witness_synthesize(const struct circuit_program *program,
                                    const struct shape *shape, struct witness *out,
                                    struct cuzk_error *err)
{
    return witness_synthesize_parallel(program, shape, NULL, out, err);
}

enum cuzk_status witness_synthesize_parallel(const struct circuit_program *program,
                                             const struct shape *shape, struct pool *pool,
                                             struct witness *out, struct cuzk_error *err)
{
    enum cuzk_status status = CUZK_OK;
    if (!witness_reserve(out, shape)) {
        witness_free(out);
        return error_set(err, CUZK_NO_MEMORY, "witness: no memory for %u variables", shape->n_aux);
    }
    out->pool = pool;
    struct cs cs = {.witness = out};
    cs_start(&cs, &witness_driver);
    status = cs_run(&cs, program, err);
    if (status == CUZK_OK && (out->overflow || out->n_aux != shape->n_aux ||
                              out->n_full != shape->n_full || out->n_inputs != shape->n_inputs))
        status =
            error_set(err, CUZK_INTERNAL,
                      "witness: %u inputs, %u aux of which %u full-size%s where the circuit has "
                      "%u, %u and %u",
                      out->n_inputs, out->n_aux, out->n_full, out->overflow ? " and more" : "",
                      shape->n_inputs, shape->n_aux, shape->n_full);
    cs_free(&cs);
    if (status != CUZK_OK)
        witness_free(out);
    return status;
}

void witness_free(struct witness *witness)
{
    if (witness->bits)
        mem_wipe(witness->bits,
                 (witness_plane_words(witness->aux_capacity) + 1) * sizeof *witness->bits);
    if (witness->full)
        mem_wipe(witness->full, witness->n_full * sizeof *witness->full);
    if (witness->inputs)
        mem_wipe(witness->inputs, witness->n_inputs * sizeof *witness->inputs);
    mem_free(witness->bits);
    mem_free(witness->full);
    mem_free(witness->inputs);
    *witness = (struct witness){0};
}

enum cuzk_status witness_check(const struct witness *witness, const struct shape *shape,
                               struct cuzk_error *err)
{
    if (witness->n_aux == shape->n_aux && witness->n_full == shape->n_full &&
        witness->n_inputs == shape->n_inputs)
        return CUZK_OK;
    return error_set(err, CUZK_INVALID_ARGUMENT,
                     "witness of %u inputs, %u variables, %u of them full-size; the circuit has "
                     "%u, %u, %u",
                     witness->n_inputs, witness->n_aux, witness->n_full, shape->n_inputs,
                     shape->n_aux, shape->n_full);
}

size_t witness_bytes(const struct witness *witness)
{
    return (witness_plane_words(witness->aux_capacity) + 1) * sizeof *witness->bits +
           witness->full_capacity * sizeof *witness->full +
           witness->inputs_capacity * sizeof *witness->inputs;
}
