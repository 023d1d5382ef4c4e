/* The interface of an arithmetic to the transforms; see ntt_impl.h. Private to lib/math. */
#ifndef MATH_NTT_ARITH_H
#define MATH_NTT_ARITH_H

#include "math/ntt.h"

enum { NTT_LEVELS_MAX = 3 };

/* One transform of n = 2^log2_n ≥ 16 elements.

   n is split into levels, n = rows[0]·rows[1]·… An index of level l's blocks is row·columns +
   column, columns being the product of the later levels' rows. Transforms go over the rows of each
   level and twiddles join the levels; with two levels that is the "four-step" algorithm.
   Coefficients are in mixed-radix-reversed order: coefficient k0 + rows[0]·(k1 + rows[1]·k2) at
   (k0·rows[1] + k1)·rows[2] + k2. */
struct ntt_transform {
    struct fr *elements;
    unsigned log2_n;
    unsigned n_levels;
    unsigned log2_rows[NTT_LEVELS_MAX];
    struct fr omega; /* root of order n: forward, or its inverse */
    struct fr shift; /* coefficient k is multiplied by shift^k … */
    struct fr scale; /* … and, to_coefficients, by scale */
    bool to_coefficients;
};

/* An arithmetic's transforms. Elements are canonical before and after. */
struct ntt_arith {
    const char *name;
    unsigned lanes;       /* 4 or 8 */
    size_t vector_bytes;  /* of as many elements in a tile */
    size_t twiddle_bytes; /* of one element of the stage tables */
    /* elements[k] = value_k in the arithmetic's form of a stage table. */
    void (*twiddle)(void *out, const struct fr *value);
    /* One tile: `lanes` transforms of one level side by side. */
    void (*tile)(const struct ntt_transform *transform, unsigned level, size_t number,
                 const void *stages, void *tile);
    /* a[i] = a[i]·b[i]·(1/fix); n is a multiple of lanes. */
    void (*multiply)(struct fr *a, const struct fr *b, size_t n);
    unsigned log2_fix;      /* fix = 2^log2_fix */
    unsigned log2_rows_max; /* largest tile */
};

#endif
