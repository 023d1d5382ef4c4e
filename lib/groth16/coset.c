#include "groth16/coset.h"

#include "base/error.h"

enum cuzk_status coset_init(struct coset *out, unsigned log2_n, const struct fr *shift,
                            const struct fr *tau, struct cuzk_error *err)
{
    out->tau = *tau;
    out->shift = *shift;
    fr_omega(&out->omega, log2_n);
    fr_inv(&out->power, shift);
    fr_mul(&out->power, &out->power, tau);
    fr_pow(&out->power, &out->power, (uint64_t)1 << log2_n);
    if (fr_is_one(&out->power))
        return error_set(err, CUZK_INVALID_ARGUMENT, "tau is %s root of unity of order 2^%u",
                         fr_is_one(shift) ? "a" : "in the coset of a", log2_n);
    return CUZK_OK;
}

void coset_make_block(const struct coset *coset, uint64_t first, struct coset_block *out)
{
    struct fr element;
    fr_pow(&element, &coset->omega, first);
    fr_mul(&element, &element, &coset->shift);
    for (size_t i = 0; i < COSET_BLOCK; i++) {
        out->elements[i] = element;
        fr_sub(&out->ratios[i], &coset->tau, &element);
        fr_mul(&element, &element, &coset->omega);
    }
    fr_batch_inv(out->ratios, COSET_BLOCK, out->scratch);
    for (size_t i = 0; i < COSET_BLOCK; i++)
        fr_mul(&out->ratios[i], &out->ratios[i], &out->elements[i]);
}
