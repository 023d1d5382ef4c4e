/* Walking over the placements of a shape. Private to lib/r1cs. */
#ifndef R1CS_WALK_H
#define R1CS_WALK_H

#include "r1cs/shape.h"

/* Number of local variables: the constant 1, the externals, the internal ones. */
static inline size_t template_locals(const struct shape_template *template)
{
    return 1 + (size_t) template->n_externals + template->n_internal;
}

/* The number of local variables of the largest template, and an array for their global ids; NULL
   without memory. */
size_t shape_most_locals(const struct shape *shape);
uint32_t *shape_alloc_globals(const struct shape *shape);

/* Writes the global id of every local variable of a placement. */
void placement_globals(const struct shape *shape, const struct shape_placement *placement,
                       uint32_t *globals);

/* The placement's own A-side coefficient of the constant 1 in the row. NULL if the template's
   holds. Rows are passed in ascending order; *next_patch starts as 0. */
const struct fr *patched_constant(const struct shape *shape,
                                  const struct shape_placement *placement, uint32_t *next_patch,
                                  uint32_t row);

#endif
