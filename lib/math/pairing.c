#include "math/pairing.h"

#include "base/mem.h"

#include <blst_aux.h>

/* blst's context is of a size that only blst knows: the struct is never defined. blst runs the
   Miller loops of eight pairs together, and there is one final exponentiation for all. */
static blst_pairing *context_of(struct pairing_product *product)
{
    return (blst_pairing *)product;
}

struct pairing_product *pairing_product_new(void)
{
    struct pairing_product *product = mem_alloc(blst_pairing_sizeof(), 1);
    if (product) /* the arguments are for signatures only */
        blst_pairing_init(context_of(product), true, NULL, 0);
    return product;
}

void pairing_product_free(struct pairing_product *product)
{
    mem_free(product);
}

void pairing_product_add(struct pairing_product *product, const struct g1_affine *p,
                         const struct g2_affine *q)
{
    /* The Miller loop expects finite points. */
    if (!g1_affine_is_infinity(p) && !g2_affine_is_infinity(q))
        blst_pairing_raw_aggregate(context_of(product), &q->p, &p->p);
}

bool pairing_product_is_one(struct pairing_product *product)
{
    blst_fp12 value;
    blst_pairing_commit(context_of(product));
    blst_final_exp(&value, blst_pairing_as_fp12(context_of(product)));
    return blst_fp12_is_one(&value);
}
