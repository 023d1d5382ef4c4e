/* PoRep: one C1 in, a proof of each partition out. */
#include "prover/kind.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/pointer.h"
#include "vanilla/c1.h"

#include <inttypes.h>
#include <stdio.h>

struct porep_work {
    struct kind_work base;
    struct c1 *c1;
    size_t n_inputs;   /* of a partition, without the constant 1 */
    struct fr *inputs; /* of all partitions, one after the other */
};

static const struct porep_work *porep_of(const struct kind_work *work)
{
    return CONTAINER_OF(unconst(work), struct porep_work, base);
}

/* --- Requests --------------------------------------------------------------------------------- */

/* What the request says about the circuit: sector size and registered proof, each optional. */
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
    *circuit = bytes ? circuit_find(CUZK_POREP, bytes) : NULL;
    if (bytes && !*circuit)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "sector_size: no PoRep circuit for %" PRIu64 " bytes", bytes);
    return CUZK_OK;
}

static enum cuzk_status porep_admit(const struct request *request,
                                    const struct circuit_info **circuit, struct cuzk_error *err)
{
    if (request->n_payloads != 1)
        return error_set(err, CUZK_INVALID_ARGUMENT, "vanilla proof: %zu given, a PoRep has one",
                         request->n_payloads);
    return find_circuit(request, circuit, err);
}

/* --- Input ------------------------------------------------------------------------------------ */

static enum cuzk_status fill_inputs(struct porep_work *work, struct cuzk_error *err)
{
    const struct porep_public *values = c1_public(work->c1);
    const struct circuit_info *circuit = circuit_find(CUZK_POREP, values->config->sector_bytes);
    if (!circuit)
        return error_set(err, CUZK_UNSUPPORTED, "no PoRep circuit for sectors of %" PRIu64 " bytes",
                         values->config->sector_bytes);
    struct work *base = &work->base.base;
    snprintf(base->circuit_id, sizeof base->circuit_id, "%s", circuit->id);
    base->n_partitions = values->config->partitions;
    work->n_inputs = porep_inputs_count(values->config);
    work->inputs = mem_alloc(work->n_inputs * base->n_partitions, sizeof *work->inputs);
    if (!work->inputs)
        return error_set(err, CUZK_NO_MEMORY, "no memory for public inputs");
    for (unsigned p = 0; p < base->n_partitions; p++)
        porep_inputs(values, p, work->inputs + p * work->n_inputs);
    return CUZK_OK;
}

static void porep_free(struct kind_work *base)
{
    struct porep_work *work = CONTAINER_OF(base, struct porep_work, base);
    if (work->c1)
        c1_free(work->c1);
    mem_free(work->inputs);
    mem_free(work);
}

static enum cuzk_status porep_parse(const struct request *request, struct pool *pool,
                                    struct kind_work **out, struct cuzk_error *err)
{
    const struct request_payload *payload = &request->payloads[0];
    const struct c1_expect expect = {
        .sector_bytes = request->sector_bytes,
        .has_registered_proof = request->registered_proof != 0,
        .registered_proof = request->registered_proof,
        .has_sector_number = request->has_sector_number,
        .sector_number = request->sector_number,
        .has_miner_id = request->has_miner_id,
        .miner_id = request->miner_id,
    };
    struct porep_work *work = mem_zalloc(1, sizeof *work);
    if (!work)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a C1");
    enum cuzk_status status = c1_parse_parallel(payload->bytes, payload->len, pool, &work->c1, err);
    if (status == CUZK_OK)
        status = c1_check_expected(work->c1, &expect, err);
    if (status == CUZK_OK)
        status = fill_inputs(work, err);
    if (status != CUZK_OK) {
        porep_free(&work->base);
        return status;
    }
    *out = &work->base;
    return CUZK_OK;
}

/* --- Partitions ------------------------------------------------------------------------------- */

static enum cuzk_status porep_check(struct kind_work *work, unsigned partition, struct pool *pool,
                                    struct cuzk_error *err)
{
    return c1_check_partition(porep_of(work)->c1, partition, pool, err);
}

static struct circuit_program porep_program(const struct kind_work *work, unsigned partition)
{
    return (struct circuit_program){porep_synthesize, c1_partition(porep_of(work)->c1, partition)};
}

static const struct fr *porep_public_inputs(const struct kind_work *base, unsigned partition,
                                            size_t *n)
{
    const struct porep_work *work = porep_of(base);
    *n = work->n_inputs;
    return work->inputs + partition * work->n_inputs;
}

const struct proof_kind kind_porep = {
    .admit = porep_admit,
    .parse = porep_parse,
    .check = porep_check,
    .program = porep_program,
    .public_inputs = porep_public_inputs,
    .free = porep_free,
};
