/* Many multiples of one point: the work of making parameters (groth16/setup.h).

   A table holds, for each window of `width` scalar bits, the multiples 1 … 2^(width-1) of the
   window's power of two times the base, as affine points. A product is then one table entry for
   each window, added up; digits are signed, which halves the table, and a scalar above (r-1)/2 is
   replaced by its negative, which saves the bit that would overflow the last window.

   The additions are those of math/affine.h, 14 for a product at the widest table.

   Running time depends on the scalars: not for secrets. */
#ifndef MATH_FIXED_BASE_H
#define MATH_FIXED_BASE_H

#include "math/group.h"

struct pool;
struct fixed_base_g1;
struct fixed_base_g2;

/* Makes a table for about `uses` products; more uses make a larger one, up to 15 windows of 17 bits
   (90 MiB for G1) or 16 of 16 bits (96 MiB for G2). The base is finite and in the subgroup. pool
   may be NULL. CUZK_NO_MEMORY is the only failure. */
enum cuzk_status fixed_base_g1_new(const struct g1_affine *base, size_t uses, struct pool *pool,
                                   struct fixed_base_g1 **out, struct cuzk_error *err);
enum cuzk_status fixed_base_g2_new(const struct g2_affine *base, size_t uses, struct pool *pool,
                                   struct fixed_base_g2 **out, struct cuzk_error *err);
void fixed_base_g1_free(struct fixed_base_g1 *table);
void fixed_base_g2_free(struct fixed_base_g2 *table);

/* out[i] = scalars[i] · base for i < n; infinity (all zero) for a zero scalar. Several threads may
   share a table. CUZK_NO_MEMORY is the only failure. */
enum cuzk_status fixed_base_g1_mul(const struct fixed_base_g1 *table, const struct fr *scalars,
                                   size_t n, struct g1_affine *out, struct cuzk_error *err);
enum cuzk_status fixed_base_g2_mul(const struct fixed_base_g2 *table, const struct fr *scalars,
                                   size_t n, struct g2_affine *out, struct cuzk_error *err);

#endif
