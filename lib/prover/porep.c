/* PoRep requests: one C1 in, a proof of each partition out. */
#include "prover/real.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "vanilla/c1.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct porep_work {
    struct work base;
    struct c1 *c1;
    size_t n_inputs;   /* of a partition, without the constant 1 */
    struct fr *inputs; /* of all partitions, one after the other */
};

static const struct porep_work *porep_of(const struct work *work)
{
    return (const struct porep_work *)(const void *)work;
}

/* --- Requests ---------------------------------------------------------------------- */

/* What the request says about the circuit: sector size and registered proof, each optional. NULL
   with CUZK_OK: only the C1 tells. */
static enum cuzk_status find_circuit(const struct request *request,
                                     const struct circuit_info **circuit, struct cuzk_error *err)
{
    uint64_t bytes = request->sector_bytes;
    if (request->registered_proof != 0) {
        const struct seal_proof *proof = seal_proof_by_number(request->registered_proof);
        if (!proof)
            return error_set(err, CUZK_INVALID_ARGUMENT,
                             "registered_proof: %" PRIu64 " is no seal proof, 0 to %zu are",
                             request->registered_proof, seal_proof_count() - 1);
        if (proof->feature == SEAL_NON_INTERACTIVE)
            return error_set(err, CUZK_UNSUPPORTED,
                             "registered_proof: %s is non-interactive, which is not supported",
                             proof->name);
        if (bytes != 0 && bytes != proof->sector_bytes)
            return error_set(err, CUZK_INVALID_ARGUMENT,
                             "sector_size: %" PRIu64 ", but registered_proof %s has %" PRIu64,
                             bytes, proof->name, proof->sector_bytes);
        bytes = proof->sector_bytes;
    }
    *circuit = bytes ? circuit_find(PROOF_KIND_POREP, bytes) : NULL;
    if (bytes && !*circuit)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "sector_size: no PoRep circuit for %" PRIu64 " bytes", bytes);
    return CUZK_OK;
}

enum cuzk_status porep_admit(void *context, const struct request *request,
                             char circuit_id[WORK_CIRCUIT_ID_BYTES], struct cuzk_error *err)
{
    const struct real *real = context;
    const struct circuit_info *circuit;
    if (request->kind != CUZK_POREP)
        return error_set(err, CUZK_UNSUPPORTED, "proof_kind: %s is not supported, porep_c2 is",
                         request_kind_label(request->kind));
    if (request->n_payloads != 1)
        return error_set(err, CUZK_INVALID_ARGUMENT, "vanilla proof: %zu given, a PoRep has one",
                         request->n_payloads);
    TRY(find_circuit(request, &circuit, err));
    if (!circuit)
        return CUZK_OK;
    snprintf(circuit_id, WORK_CIRCUIT_ID_BYTES, "%s", circuit->id);
    return real_params_present(real->param_cache, circuit, err);
}

/* --- Input ------------------------------------------------------------------------- */

static enum cuzk_status fill_inputs(struct porep_work *work, struct cuzk_error *err)
{
    const struct porep_public *values = c1_public(work->c1);
    const struct circuit_info *circuit =
        circuit_find(PROOF_KIND_POREP, values->config->sector_bytes);
    if (!circuit)
        return error_set(err, CUZK_UNSUPPORTED, "no PoRep circuit for sectors of %" PRIu64 " bytes",
                         values->config->sector_bytes);
    snprintf(work->base.circuit_id, sizeof work->base.circuit_id, "%s", circuit->id);
    work->base.n_partitions = values->config->partitions;
    work->n_inputs = porep_inputs_count(values->config);
    work->inputs = mem_alloc(work->n_inputs * work->base.n_partitions, sizeof *work->inputs);
    if (!work->inputs)
        return error_set(err, CUZK_NO_MEMORY, "no memory for public inputs");
    for (unsigned p = 0; p < work->base.n_partitions; p++)
        porep_inputs(values, p, work->inputs + p * work->n_inputs);
    return CUZK_OK;
}

enum cuzk_status porep_read(const uint8_t *bytes, size_t len, const struct c1_expect *expect,
                            struct pool *pool, struct work **out, struct cuzk_error *err)
{
    struct porep_work *work = mem_zalloc(1, sizeof *work);
    if (!work)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a C1");
    enum cuzk_status status = c1_parse_parallel(bytes, len, pool, &work->c1, err);
    if (status == CUZK_OK && expect)
        status = c1_check_expected(work->c1, expect, err);
    if (status == CUZK_OK)
        status = fill_inputs(work, err);
    if (status != CUZK_OK) {
        porep_free(&work->base);
        return status;
    }
    *out = &work->base;
    return CUZK_OK;
}

enum cuzk_status porep_parse(void *context, const struct request *request, struct work **out,
                             struct cuzk_error *err)
{
    struct real *real = context;
    struct c1_expect expect = {
        .sector_bytes = request->sector_bytes,
        .has_registered_proof = request->registered_proof != 0,
        .registered_proof = request->registered_proof,
        .has_sector_number = request->has_sector_number,
        .sector_number = request->sector_number,
        .has_miner_id = request->has_miner_id,
        .miner_id = request->miner_id,
    };
    return porep_read(request->payloads[0].bytes, request->payloads[0].len, &expect, real->pool,
                      out, err);
}

enum cuzk_status porep_check_all(struct work *work, struct pool *pool, struct cuzk_error *err)
{
    return c1_check(porep_of(work)->c1, NULL, pool, err);
}

void porep_free(struct work *base)
{
    if (!base)
        return;
    struct porep_work *work = (struct porep_work *)(void *)base;
    if (work->c1)
        c1_free(work->c1);
    mem_free(work->inputs);
    mem_free(work);
}

/* --- Partitions -------------------------------------------------------------------- */

static enum cuzk_status check_part(struct c1 *c1, const struct work_span *span, struct pool *pool,
                                   struct cuzk_error *err)
{
    uint64_t start = clock_now_ns();
    trace_emit(&span->scope, TRACE_CHECK_START, -1);
    enum cuzk_status status = c1_check_partition(c1, span->partition, pool, err);
    trace_emit(&span->scope, TRACE_CHECK_END, (int64_t)((clock_now_ns() - start) / 1000000));
    return status;
}

enum cuzk_status porep_synthesize_part(struct work *work, const struct shape *shape,
                                       const struct work_span *span, struct pool *pool,
                                       struct witness *out, struct cuzk_error *err)
{
    struct c1 *c1 = porep_of(work)->c1;
    TRY(check_part(c1, span, pool, err));
    struct circuit_program program = {porep_synthesize, c1_partition(c1, span->partition)};
    return witness_synthesize_parallel(&program, shape, pool, out, err);
}

enum cuzk_status porep_prove(struct work *work, struct loaded *base, void *witness,
                             const struct work_span *span, uint8_t bytes[CUZK_PROOF_BYTES],
                             uint64_t *device_ns, struct cuzk_error *err)
{
    (void)work;
    const struct real_loaded *loaded = (const struct real_loaded *)(const void *)base;
    const struct backend *backend = loaded->real->backend;
    struct backend_circuit *circuit = loaded->on[span->device];
    const struct backend_partition partition = {witness, span->job, span->scope};
    if (!backend->makes_proofs) {
        struct backend_sums sums;
        TRY(backend->prove(circuit, &partition, &sums, err));
        *device_ns = sums.device_ns;
        return CUZK_OK;
    }
    struct blinding blinding;
    struct proof proof;
    TRY(blinding_random(&blinding, err));
    enum cuzk_status status = prove_partition(backend, circuit, &loaded->params->vk, &partition,
                                              &blinding, &proof, device_ns, err);
    mem_wipe(&blinding, sizeof blinding);
    if (status == CUZK_OK)
        proof_encode(bytes, &proof);
    return status;
}

enum cuzk_status porep_verify(const struct work *base, const struct vk *vk, unsigned partition,
                              const uint8_t bytes[CUZK_PROOF_BYTES], struct cuzk_error *err)
{
    const struct porep_work *work = porep_of(base);
    struct proof proof;
    TRY(proof_decode(bytes, &proof, err));
    return verify_single(vk, &proof, work->inputs + partition * work->n_inputs, work->n_inputs,
                         err);
}

enum cuzk_status porep_verify_all(const struct work *base, const struct vk *vk,
                                  const uint8_t *proofs, struct cuzk_error *err)
{
    const struct porep_work *work = porep_of(base);
    unsigned n = work->base.n_partitions;
    struct proof *decoded = mem_alloc(n, sizeof *decoded);
    const struct fr **inputs = mem_alloc(n, sizeof *inputs);
    enum cuzk_status status = CUZK_OK;
    if (!decoded || !inputs)
        status = error_set(err, CUZK_NO_MEMORY, "no memory to verify %u proofs", n);
    for (unsigned p = 0; p < n && status == CUZK_OK; p++) {
        inputs[p] = work->inputs + p * work->n_inputs;
        status = proof_decode(proofs + (size_t)p * CUZK_PROOF_BYTES, &decoded[p], err);
        if (status != CUZK_OK)
            error_prefix(err, "partition %u", p);
    }
    if (status == CUZK_OK)
        status = verify_batch(vk, decoded, inputs, n, work->n_inputs, err);
    mem_free(decoded);
    mem_free(inputs);
    return status;
}
