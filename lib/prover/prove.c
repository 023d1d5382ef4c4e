#include "prover/prove.h"

#include "base/error.h"
#include "base/mem.h"
#include "groth16/prove.h"

enum cuzk_status prover_check_all(struct kind_work *work, struct pool *pool, struct cuzk_error *err)
{
    for (unsigned p = 0; p < work->base.n_partitions; p++)
        TRY(work->kind->check(work, p, pool, err));
    return CUZK_OK;
}

enum cuzk_status prover_synthesize(struct kind_work *work, const struct shape *shape,
                                   const struct work_span *span, struct pool *pool,
                                   struct witness *out, struct cuzk_error *err)
{
    uint64_t begun = trace_begin(&span->scope, TRACE_SPAN_CHECK);
    enum cuzk_status status = work->kind->check(work, span->partition, pool, err);
    trace_end_timed(&span->scope, TRACE_SPAN_CHECK, begun);
    TRY(status);
    const struct circuit_program program = work->kind->program(work, span->partition);
    return witness_synthesize_parallel(&program, shape, pool, out, err);
}

enum cuzk_status prover_prove(const struct resident_circuit *circuit, const struct witness *witness,
                              const struct work_span *span, uint8_t bytes[CUZK_PROOF_BYTES],
                              uint64_t *device_ns, struct cuzk_error *err)
{
    struct blinding blinding;
    struct proof proof;
    const struct backend_partition partition = {witness, span->job, span->scope};
    TRY(blinding_random(&blinding, err));
    enum cuzk_status status =
        prove_partition(circuit->residency->backend, circuit->on[span->device],
                        &circuit->params->vk, &partition, &blinding, &proof, device_ns, err);
    mem_wipe(&blinding, sizeof blinding);
    if (status == CUZK_OK)
        proof_encode(bytes, &proof);
    return status;
}

enum cuzk_status prover_verify(const struct kind_work *work, const struct vk *vk,
                               unsigned partition, const uint8_t bytes[CUZK_PROOF_BYTES],
                               struct cuzk_error *err)
{
    struct proof proof;
    size_t n_inputs;
    const struct fr *inputs = work->kind->public_inputs(work, partition, &n_inputs);
    TRY(proof_decode(bytes, &proof, err));
    return verify_single(vk, &proof, inputs, n_inputs, err);
}

enum cuzk_status prover_verify_all(const struct kind_work *work, const struct vk *vk,
                                   const uint8_t *proofs, struct cuzk_error *err)
{
    const unsigned n = work->base.n_partitions;
    struct proof *decoded = mem_alloc(n, sizeof *decoded);
    const struct fr **inputs = mem_alloc(n, sizeof *inputs);
    size_t n_inputs = 0;
    enum cuzk_status status = CUZK_OK;
    if (!decoded || !inputs)
        status = error_set(err, CUZK_NO_MEMORY, "no memory to verify %u proofs", n);
    for (unsigned p = 0; p < n && status == CUZK_OK; p++) {
        inputs[p] = work->kind->public_inputs(work, p, &n_inputs);
        status = proof_decode(proofs + (size_t)p * CUZK_PROOF_BYTES, &decoded[p], err);
        if (status != CUZK_OK)
            error_prefix(err, "partition %u", p);
    }
    if (status == CUZK_OK)
        status = verify_batch(vk, decoded, inputs, n, n_inputs, err);
    mem_free(decoded);
    mem_free(inputs);
    return status;
}
