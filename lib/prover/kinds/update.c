/* Empty sector updates, "SnapDeals": one vanilla proof of each partition in, a proof of each
   partition out. */
#include "prover/kind.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/pointer.h"
#include "circuits/sector.h"
#include "vanilla/update.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct update_work {
    struct kind_work base;
    struct update *update;
    struct fr *inputs; /* UPDATE_INPUTS of each partition */
};

static const struct update_work *update_of(const struct kind_work *work)
{
    return CONTAINER_OF(unconst(work), struct update_work, base);
}

/* --- Requests --------------------------------------------------------------------------------- */

/* Sector sizes by the number of the registered update proof, StackedDrg<size>V1. */
static const uint64_t registered_sizes[] = {2 * KIB, 8 * MIB, 512 * MIB, 32 * GIB, 64 * GIB};
enum { N_REGISTERED = sizeof registered_sizes / sizeof *registered_sizes };

/* The sector size whose vanilla proofs are as many and as long; 0: there is none. */
static uint64_t size_by_payload(const struct request *request)
{
    for (size_t i = 0; i < circuit_count(); i++) {
        const struct circuit_info *circuit = circuit_at(i);
        const struct update_config *config = update_config(circuit->sector_bytes, false);
        if (circuit->kind == CUZK_SNAP && request->n_payloads == config->partitions &&
            request->payloads[0].len == update_vanilla_bytes(config))
            return circuit->sector_bytes;
    }
    return 0;
}

/* The sector size follows from the registered proof, the request's sector size, or the payload, in
   this order; what is said twice must agree. The number 0 is that of 2 KiB and also what a field
   that was left out reads as, so it is taken for none. */
static enum cuzk_status find_circuit(const struct request *request,
                                     const struct circuit_info **circuit, struct cuzk_error *err)
{
    uint64_t bytes = request->sector_bytes;
    uint64_t number = request->registered_proof;
    if (number >= N_REGISTERED)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "registered_proof: %" PRIu64 " is no update proof, 0 to %d are", number,
                         N_REGISTERED - 1);
    if (number != 0 && bytes != 0 && bytes != registered_sizes[number])
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "sector_size: %" PRIu64 ", but update proof %" PRIu64 " has %" PRIu64,
                         bytes, number, registered_sizes[number]);
    if (number != 0)
        bytes = registered_sizes[number];
    if (bytes == 0)
        bytes = size_by_payload(request);
    if (bytes == 0)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "sector_size: not given, and %zu vanilla proofs, the first of %zu bytes, "
                         "are no update of any sector size",
                         request->n_payloads, request->payloads[0].len);
    *circuit = circuit_find(CUZK_SNAP, bytes);
    if (!*circuit)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "sector_size: no sector update circuit for %" PRIu64 " bytes", bytes);
    return CUZK_OK;
}

static enum cuzk_status check_commitment(const char *name, const uint8_t *bytes,
                                         struct cuzk_error *err)
{
    if (bytes)
        return CUZK_OK;
    return error_set(err, CUZK_INVALID_ARGUMENT, "%s: missing, a sector update has 32 bytes", name);
}

/* The request's payloads as vanilla proofs; the caller frees the list. */
static enum cuzk_status list_proofs(const struct request *request, struct update_vanilla **out,
                                    struct cuzk_error *err)
{
    struct update_vanilla *proofs = mem_alloc(request->n_payloads, sizeof *proofs);
    if (!proofs)
        return error_set(err, CUZK_NO_MEMORY, "no memory for %zu vanilla proofs",
                         request->n_payloads);
    for (size_t i = 0; i < request->n_payloads; i++)
        proofs[i] = (struct update_vanilla){request->payloads[i].bytes, request->payloads[i].len};
    *out = proofs;
    return CUZK_OK;
}

static enum cuzk_status check_sizes(const struct request *request,
                                    const struct circuit_info *circuit, struct cuzk_error *err)
{
    const struct update_config *config = update_config(circuit->sector_bytes, false);
    struct update_vanilla *proofs;
    TRY(list_proofs(request, &proofs, err));
    enum cuzk_status status = update_check_sizes(config, proofs, request->n_payloads, err);
    mem_free(proofs);
    return status;
}

static enum cuzk_status update_admit(const struct request *request,
                                     const struct circuit_info **circuit, struct cuzk_error *err)
{
    if (request->n_payloads == 0)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "vanilla_proofs: none given, a sector update has one of each partition");
    TRY(check_commitment("comm_r_old", request->comm_r_old, err));
    TRY(check_commitment("comm_r_new", request->comm_r_new, err));
    TRY(check_commitment("comm_d_new", request->comm_d_new, err));
    TRY(find_circuit(request, circuit, err));
    return check_sizes(request, *circuit, err);
}

/* --- Input ------------------------------------------------------------------------------------ */

static void update_work_free(struct kind_work *base)
{
    struct update_work *work = CONTAINER_OF(base, struct update_work, base);
    update_free(work->update);
    mem_free(work->inputs);
    mem_free(work);
}

static enum cuzk_status read_proofs(struct update_work *work, const struct update_public *values,
                                    const struct request *request, struct pool *pool,
                                    struct cuzk_error *err)
{
    struct update_vanilla *proofs;
    TRY(list_proofs(request, &proofs, err));
    enum cuzk_status status =
        update_read(values, proofs, request->n_payloads, pool, &work->update, err);
    mem_free(proofs);
    return status;
}

static enum cuzk_status fill_work(struct update_work *work, const struct request *request,
                                  struct pool *pool, struct cuzk_error *err)
{
    const struct circuit_info *circuit;
    TRY(find_circuit(request, &circuit, err));
    struct update_public values = {.config = update_config(circuit->sector_bytes, false)};
    memcpy(values.comm_r_old, request->comm_r_old, sizeof values.comm_r_old);
    memcpy(values.comm_r_new, request->comm_r_new, sizeof values.comm_r_new);
    memcpy(values.comm_d_new, request->comm_d_new, sizeof values.comm_d_new);
    TRY(read_proofs(work, &values, request, pool, err));
    struct work *base = &work->base.base;
    snprintf(base->circuit_id, sizeof base->circuit_id, "%s", circuit->id);
    base->n_partitions = values.config->partitions;
    work->inputs = mem_alloc((size_t)base->n_partitions * UPDATE_INPUTS, sizeof *work->inputs);
    if (!work->inputs)
        return error_set(err, CUZK_NO_MEMORY, "no memory for public inputs");
    for (unsigned k = 0; k < base->n_partitions; k++)
        update_inputs(work->update, k, work->inputs + k * UPDATE_INPUTS);
    return CUZK_OK;
}

static enum cuzk_status update_parse(const struct request *request, struct pool *pool,
                                     struct kind_work **out, struct cuzk_error *err)
{
    struct update_work *work = mem_zalloc(1, sizeof *work);
    if (!work)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a sector update");
    enum cuzk_status status = fill_work(work, request, pool, err);
    if (status != CUZK_OK) {
        update_work_free(&work->base);
        return status;
    }
    *out = &work->base;
    return CUZK_OK;
}

/* --- Partitions ------------------------------------------------------------------------------- */

static enum cuzk_status update_check(struct kind_work *work, unsigned partition, struct pool *pool,
                                     struct cuzk_error *err)
{
    return update_check_partition(update_of(work)->update, partition, pool, err);
}

static struct circuit_program update_program(const struct kind_work *work, unsigned partition)
{
    return (struct circuit_program){update_synthesize,
                                    update_checked(update_of(work)->update, partition)};
}

static const struct fr *update_public_inputs(const struct kind_work *work, unsigned partition,
                                             size_t *n)
{
    *n = UPDATE_INPUTS;
    return update_of(work)->inputs + partition * UPDATE_INPUTS;
}

const struct proof_kind kind_update = {
    .admit = update_admit,
    .parse = update_parse,
    .check = update_check,
    .program = update_program,
    .public_inputs = update_public_inputs,
    .free = update_work_free,
};
