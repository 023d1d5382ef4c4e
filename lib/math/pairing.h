/* Products of pairings, Π e(P_i, Q_i), which a verifier compares with 1 (docs/spec/groth16.md, part
   A.10). */
#ifndef MATH_PAIRING_H
#define MATH_PAIRING_H

#include "math/group.h"

/* A product that grows. */
struct pairing_product;

/* The empty product; NULL without memory. Free with pairing_product_free. */
struct pairing_product *pairing_product_new(void);
void pairing_product_free(struct pairing_product *product); /* NULL is allowed */

/* Multiplies by e(p, q), which is 1 if one of the points is infinity. The points are in their
   subgroups. */
void pairing_product_add(struct pairing_product *product, const struct g1_affine *p,
                         const struct g2_affine *q);

/* Whether the product is 1. Called once; it ends the product. */
bool pairing_product_is_one(struct pairing_product *product);

#endif
