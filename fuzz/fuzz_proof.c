/* Any bytes as public inputs and proofs. The first byte sets the number of inputs that follow; then
   come proofs. What decodes must encode to the same bytes, and verification must give a verdict. */
#include "fuzz.h"

#include "base/check.h"
#include "groth16/verify.h"

enum { INPUTS_MAX = 3 };

/* A key of generators only, which no circuit has. */
static void make_vk(struct vk *vk, struct g1_affine *ic)
{
    const struct g1_affine *g1 = g1_generator();
    const struct g2_affine *g2 = g2_generator();
    *vk = (struct vk){.alpha_g1 = *g1,
                      .beta_g1 = *g1,
                      .delta_g1 = *g1,
                      .beta_g2 = *g2,
                      .gamma_g2 = *g2,
                      .delta_g2 = *g2,
                      .ic = ic};
    for (size_t i = 0; i <= INPUTS_MAX; i++)
        ic[i] = *g1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vk vk;
    struct g1_affine ic[INPUTS_MAX + 1];
    struct fr inputs[INPUTS_MAX];
    struct proof proofs[2];
    struct cuzk_error err;
    if (size == 0)
        return 0;
    size_t n_inputs = data[0] % (INPUTS_MAX + 1);
    make_vk(&vk, ic);
    vk.n_ic = (uint32_t)n_inputs + 1;
    data++;
    size--;
    for (size_t i = 0; i < n_inputs; i++, data += FR_BYTES, size -= FR_BYTES) {
        if (size < FR_BYTES || !fr_from_bytes(&inputs[i], data))
            return 0;
    }
    size_t n = 0;
    for (; n < 2 && size >= CUZK_PROOF_BYTES;
         n++, data += CUZK_PROOF_BYTES, size -= CUZK_PROOF_BYTES) {
        uint8_t again[CUZK_PROOF_BYTES];
        enum cuzk_status status = proof_decode(data, &proofs[n], &err);
        CHECK(status == CUZK_OK || status == CUZK_INVALID_ARGUMENT);
        if (status != CUZK_OK)
            return 0;
        proof_encode(again, &proofs[n]);
        CHECK(memcmp(again, data, CUZK_PROOF_BYTES) == 0);
    }
    const struct fr *list[] = {inputs, inputs};
    bool all_valid = true;
    for (size_t j = 0; j < n; j++) {
        enum cuzk_status status = verify_single(&vk, &proofs[j], inputs, n_inputs, &err);
        CHECK(status == CUZK_OK || status == CUZK_VERIFY_FAILED);
        all_valid = all_valid && status == CUZK_OK;
    }
    if (n > 0)
        CHECK(verify_batch(&vk, proofs, list, n, n_inputs, &err) ==
              (all_valid ? CUZK_OK : CUZK_VERIFY_FAILED));
    return 0;
}
