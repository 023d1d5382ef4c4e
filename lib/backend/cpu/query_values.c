#include "backend/cpu/query_values.h"

#include "base/bits.h"
#include "base/error.h"
#include "base/mem.h"

/* The bits of the dense variables, closed up, behind the inputs' zeros. */
static void compact_bits(uint64_t *selected, const struct query *query,
                         const struct witness *witness)
{
    size_t rank = query->n_inputs;
    for (size_t i = 0; i < bit_words(witness->n_aux); i++) {
        const uint64_t dense = query->dense ? query->dense[i] : UINT64_MAX;
        for (uint64_t set = witness->bits[i] & dense; set != 0; set &= set - 1) {
            const uint64_t below = (set & -set) - 1;
            const size_t point = rank + (size_t)__builtin_popcountll(dense & below);
            selected[point / 64] |= UINT64_C(1) << (point % 64);
        }
        rank += (size_t)__builtin_popcountll(dense);
    }
}

enum cuzk_status query_values_init(struct query_values *out, const struct query *query,
                                   const struct witness *witness, struct cuzk_error *err)
{
    *out = (struct query_values){
        .selected = mem_zalloc(bit_words(query->n_points), sizeof *out->selected),
        .scalars = mem_alloc(query->n_scalars, sizeof *out->scalars),
    };
    if (!out->selected || !out->scalars) {
        query_values_free(out, query);
        return error_set(err, CUZK_NO_MEMORY, "partition of %u variables: out of memory",
                         witness->n_aux);
    }
    compact_bits(out->selected, query, witness);
    for (uint32_t i = 0; i < query->n_scalars; i++) {
        const uint32_t source = query->source[i];
        out->scalars[i] = source < witness->n_inputs ? witness->inputs[source]
                                                     : witness->full[source - witness->n_inputs];
    }
    return CUZK_OK;
}

void query_values_free(struct query_values *values, const struct query *query)
{
    if (values->selected)
        mem_wipe(values->selected, bit_words(query->n_points) * sizeof *values->selected);
    if (values->scalars)
        mem_wipe(values->scalars, query->n_scalars * sizeof *values->scalars);
    mem_free(values->selected);
    mem_free(values->scalars);
}
