/* The public interface of verification: bytes in, verdict out. */
#include <cuzk/verify.h>

#include "base/error.h"
#include "base/mem.h"
#include "groth16/verify.h"

struct cuzk_vk {
    struct vk vk;
};

enum cuzk_status cuzk_vk_open(const char *path, struct cuzk_vk **out, struct cuzk_error *err)
{
    struct cuzk_vk *vk = mem_zalloc(1, sizeof *vk);
    if (!vk)
        return error_set(err, CUZK_NO_MEMORY, "%s: no memory", path);
    enum cuzk_status status = vk_read(path, &vk->vk, err);
    if (status != CUZK_OK) {
        mem_free(vk);
        return status;
    }
    *out = vk;
    return CUZK_OK;
}

void cuzk_vk_close(struct cuzk_vk *vk)
{
    if (!vk)
        return;
    vk_free(&vk->vk);
    mem_free(vk);
}

size_t cuzk_vk_inputs(const struct cuzk_vk *vk)
{
    return vk->vk.n_ic - 1;
}

struct decoded {
    size_t n;
    size_t n_inputs;
    struct proof *proofs;
    struct fr *elements;
    const struct fr **inputs;
};

static enum cuzk_status decode(struct decoded *decoded, const uint8_t *proofs,
                               const uint8_t *inputs, struct cuzk_error *err)
{
    for (size_t j = 0; j < decoded->n; j++) {
        if (proof_decode(proofs + j * CUZK_PROOF_BYTES, &decoded->proofs[j], err) != CUZK_OK) {
            error_prefix(err, "proof %zu of %zu", j + 1, decoded->n);
            return CUZK_INVALID_ARGUMENT;
        }
        struct fr *own = decoded->elements + j * decoded->n_inputs;
        decoded->inputs[j] = own;
        for (size_t i = 0; i < decoded->n_inputs; i++) {
            if (!fr_from_bytes(&own[i], inputs + (j * decoded->n_inputs + i) * FR_BYTES))
                return error_set(err, CUZK_INVALID_ARGUMENT,
                                 "input %zu of proof %zu is not below the field's modulus", i,
                                 j + 1);
        }
    }
    return CUZK_OK;
}

enum cuzk_status cuzk_verify(const struct cuzk_vk *vk, const uint8_t *proofs, size_t proofs_len,
                             const uint8_t *inputs, size_t inputs_len, struct cuzk_error *err)
{
    struct decoded decoded = {.n = proofs_len / CUZK_PROOF_BYTES, .n_inputs = cuzk_vk_inputs(vk)};
    if (proofs_len == 0 || proofs_len % CUZK_PROOF_BYTES != 0)
        return error_set(err, CUZK_INVALID_ARGUMENT, "proof: %zu bytes, expected a multiple of %d",
                         proofs_len, CUZK_PROOF_BYTES);
    if (inputs_len % FR_BYTES != 0 || inputs_len / FR_BYTES != decoded.n * decoded.n_inputs)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "inputs: %zu bytes, expected %zu for %zu proofs with %zu inputs each",
                         inputs_len, decoded.n * decoded.n_inputs * FR_BYTES, decoded.n,
                         decoded.n_inputs);
    decoded.proofs = mem_alloc(decoded.n, sizeof *decoded.proofs);
    decoded.elements = mem_alloc(decoded.n * decoded.n_inputs, sizeof *decoded.elements);
    decoded.inputs = mem_alloc(decoded.n, sizeof *decoded.inputs);
    enum cuzk_status status;
    if (decoded.proofs && decoded.elements && decoded.inputs)
        status = decode(&decoded, proofs, inputs, err);
    else
        status = error_set(err, CUZK_NO_MEMORY, "no memory to verify %zu proofs", decoded.n);
    if (status == CUZK_OK)
        status =
            verify_batch(&vk->vk, decoded.proofs, decoded.inputs, decoded.n, decoded.n_inputs, err);
    mem_free(decoded.proofs);
    mem_free(decoded.elements);
    mem_free(decoded.inputs);
    return status;
}
