/* cuzk/verify.h: bytes in, verdict out. */
#include <cuzk/verify.h>

#include "prover/prove.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"
#include "groth16/verify.h"

#include <unistd.h>

/* --- Under a key ------------------------------------------------------------------------------ */

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

/* --- For a C1 --------------------------------------------------------------------------------- */

/* The .vk file, or the key at the head of the .params file. */
static enum cuzk_status read_vk(const char *folder, const struct circuit_info *circuit,
                                struct vk *vk, struct cuzk_error *err)
{
    char path[PATH_MAX];
    if (!folder || !folder[0])
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "param_cache: the folder of parameters is missing");
    TRY(key_path(folder, circuit->params_name, KEY_FILE_VK, path, err));
    if (access(path, F_OK) != 0)
        TRY(key_path(folder, circuit->params_name, KEY_FILE_PARAMS, path, err));
    TRY(vk_read(path, vk, err));
    enum cuzk_status status = vk_match_circuit(vk, params_in_dev_folder(path), path, circuit, err);
    if (status != CUZK_OK)
        vk_free(vk);
    return status;
}

/* All proofs at once; if they are not valid, the first one that is not is looked for. */
static enum cuzk_status verify_partitions(const struct kind_work *work, const struct vk *vk,
                                          const uint8_t *proof, size_t proof_len,
                                          struct cuzk_error *err)
{
    const unsigned n = work->base.n_partitions;
    if (proof_len != (size_t)n * CUZK_PROOF_BYTES)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "proof: %zu bytes, %zu expected for %u partitions", proof_len,
                         (size_t)n * CUZK_PROOF_BYTES, n);
    struct cuzk_error whole;
    enum cuzk_status status = prover_verify_all(work, vk, proof, &whole);
    for (unsigned p = 0; p < n && status == CUZK_VERIFY_FAILED; p++)
        if (prover_verify(work, vk, p, proof + (size_t)p * CUZK_PROOF_BYTES, err) != CUZK_OK)
            return error_prefix(err, "partition %u of %u", p, n);
    if (status != CUZK_OK && err)
        *err = whole;
    return status;
}

enum cuzk_status cuzk_verify_c1(const struct cuzk_verify_options *options, const uint8_t *c1,
                                size_t c1_len, const uint8_t *proof, size_t proof_len,
                                struct cuzk_error *err)
{
    struct request_payload payload = {c1, c1_len};
    const struct request request = {
        .kind = CUZK_POREP,
        .has_sector_number = options->has_sector_number,
        .sector_number = options->sector_number,
        .has_miner_id = options->has_miner_id,
        .miner_id = options->miner_id,
        .payloads = &payload,
        .n_payloads = 1,
    };
    struct kind_work *work = NULL;
    struct vk vk = {0};
    struct pool *pool = pool_new(options->threads);
    if (!pool)
        return error_set(err, CUZK_NO_MEMORY, "no memory for threads");
    enum cuzk_status status = kind_parse(&request, pool, &work, err);
    if (status == CUZK_OK)
        status = prover_check_all(work, pool, err);
    if (status == CUZK_OK)
        status = read_vk(options->param_cache, circuit_by_id(work->base.circuit_id), &vk, err);
    if (status == CUZK_OK) {
        status = verify_partitions(work, &vk, proof, proof_len, err);
        vk_free(&vk);
    }
    kind_free(work);
    pool_free(pool);
    return status;
}
