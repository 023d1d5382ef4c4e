/* The witness driver: values only, rows are not looked at. */
#include "r1cs/witness.h"

#include "base/error.h"
#include "base/mem.h"
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
        return (struct var){ witness->n_inputs++ };
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

static const struct cs_driver witness_driver = {
    .alloc = witness_alloc,
    .enforce = witness_enforce,
    .template_begin = cs_template_begin_rows,
    .template_end = cs_template_end_rows,
};

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
    enum cuzk_status status = CUZK_OK;
    if (!witness_reserve(out, shape)) {
        witness_free(out);
        return error_set(err, CUZK_NO_MEMORY, "witness: no memory for %u variables", shape->n_aux);
    }
    struct cs cs = { .witness = out };
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
    *witness = (struct witness){ 0 };
}

size_t witness_bytes(const struct witness *witness)
{
    return (witness_plane_words(witness->aux_capacity) + 1) * sizeof *witness->bits +
           witness->full_capacity * sizeof *witness->full +
           witness->inputs_capacity * sizeof *witness->inputs;
}
