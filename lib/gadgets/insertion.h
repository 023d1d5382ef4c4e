/* Selection among numbers by bits (docs/spec/gadgets.md, part B.5). Bits are plain Booleans. */
#ifndef GADGETS_INSERTION_H
#define GADGETS_INSERTION_H

#include "gadgets/num.h"

enum { INSERTION_ARITY_MAX = 8 };

/* condition ? a : b, for different variables a and b */
struct num num_pick(struct cs *cs, struct boolean condition, struct num a, struct num b);

/* values[Σ 2^i · bits[i]] of 2^n_bits values, with 2^n_bits − 1 picks. `values` is overwritten. */
struct num num_select(struct cs *cs, struct num *values, const struct boolean *bits, size_t n_bits);

/* out[0 … arity−1]: the siblings in order, with x inserted at index Σ 2^i · bits[i]. arity is 2, 4
   or 8; there are log2(arity) bits and arity − 1 siblings. */
void num_insert(struct cs *cs, unsigned arity, struct num x, const struct boolean *bits,
                const struct num *siblings, struct num *out);

/* The numbers of bits and of full-size variables that num_insert allocates. */
struct insertion_size {
    unsigned n_bits;
    unsigned n_full;
};
struct insertion_size num_insert_size(unsigned arity);

#endif
