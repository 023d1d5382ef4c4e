/* Which point of a key's section belongs to which variable (the specification, part A.6). */
#ifndef BACKEND_CPU_SECTIONS_H
#define BACKEND_CPU_SECTIONS_H

#include "r1cs/shape.h"

struct msm_terms;

/* Sections l, a and b over the variables of a circuit. A variable that does not occur in a matrix
   has no point in its section, so points are numbered by rank: dense inputs, then dense aux
   variables. */
struct section_map {
    uint32_t n_points;
    uint32_t n_scalars; /* points whose variable is full-size: all inputs' and some aux' */
    uint32_t *point;    /* their point numbers … */
    uint32_t *source;   /* … and values: input i is i, full-size variable k is n_inputs + k */
    uint64_t *dense;    /* aux variables with a point; NULL: all */
    uint32_t n_inputs;  /* points of inputs, which come first */
};

struct sections {
    struct section_map l, a, b;
};

/* Computes all maps from the circuit. */
enum cuzk_status sections_init(struct sections *out, const struct shape *shape,
                               struct cuzk_error *err);
void sections_free(struct sections *sections);
size_t sections_bytes(const struct sections *sections);

/* One partition's values in the form that sums want: the points whose variables are bits and set,
   and the scalars of the others. */
struct section_values {
    uint64_t *selected;
    struct fr *scalars;
};
enum cuzk_status section_values_init(struct section_values *out, const struct section_map *map,
                                     const struct witness *witness, struct cuzk_error *err);
/* Wipes and frees. */
void section_values_free(struct section_values *values, const struct section_map *map);

#endif
