/* WinningPoSt and WindowPoSt: one vanilla proof of each sector in, a proof of one partition out. */
#include "prover/kind.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/pointer.h"
#include "vanilla/post.h"
#include "vanilla/post_proof.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct post_work {
    struct kind_work base;
    struct post *post;
    size_t n_inputs; /* without the constant 1 */
    struct fr *inputs;
};

static const struct post_work *post_of(const struct kind_work *work)
{
    return CONTAINER_OF(unconst(work), struct post_work, base);
}

static bool is_winning(const struct request *request)
{
    return request->kind == CUZK_WINNING_POST;
}

static const char *name_of(const struct request *request)
{
    return is_winning(request) ? "WinningPoSt" : "WindowPoSt";
}

static const struct post_config *config_of(const struct request *request, uint64_t sector_bytes)
{
    return is_winning(request) ? post_winning_config(sector_bytes)
                               : post_window_config(sector_bytes);
}

/* --- Requests --------------------------------------------------------------------------------- */

/* The registered proof that the request names. NULL with CUZK_OK: none. The number 0 is that of a
   WinningPoSt and also what a field that was left out reads as, so it is taken for none. */
static enum cuzk_status find_proof(const struct request *request, const struct post_proof **proof,
                                   struct cuzk_error *err)
{
    *proof = NULL;
    if (request->registered_proof == 0)
        return CUZK_OK;
    *proof = post_proof_by_number(request->registered_proof);
    if (!*proof)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "registered_proof: %" PRIu64 " is no PoSt proof, 0 to %zu are",
                         request->registered_proof, post_proof_count() - 1);
    if ((*proof)->winning != is_winning(request))
        return error_set(err, CUZK_INVALID_ARGUMENT, "registered_proof: %s is not a %s",
                         (*proof)->name, name_of(request));
    return CUZK_OK;
}

/* The sector size whose vanilla proofs are as long as the first one; 0: there is none. */
static uint64_t size_by_payload(const struct request *request)
{
    for (size_t i = 0; i < circuit_count(); i++) {
        const struct circuit_info *circuit = circuit_at(i);
        if (circuit->kind != request->kind)
            continue;
        const struct post_public values = {.config = config_of(request, circuit->sector_bytes),
                                           .winning = is_winning(request)};
        if (request->payloads[0].len == post_vanilla_bytes(&values))
            return circuit->sector_bytes;
    }
    return 0;
}

/* The sector size follows from the registered proof, the request's sector size, or the length of
   the payload, in this order; what is said twice must agree. */
static enum cuzk_status find_circuit(const struct request *request, const struct post_proof *proof,
                                     const struct circuit_info **circuit, struct cuzk_error *err)
{
    uint64_t bytes = request->sector_bytes;
    if (proof && bytes != 0 && bytes != proof->sector_bytes)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "sector_size: %" PRIu64 ", but registered_proof %s has %" PRIu64, bytes,
                         proof->name, proof->sector_bytes);
    if (proof)
        bytes = proof->sector_bytes;
    if (bytes == 0)
        bytes = size_by_payload(request);
    if (bytes == 0)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "sector_size: not given, and vanilla_proofs[0] of %zu bytes is not a %s "
                         "proof of any sector size",
                         request->payloads[0].len, name_of(request));
    *circuit = circuit_find(request->kind, bytes);
    if (!*circuit)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "sector_size: no %s circuit for %" PRIu64 " bytes", name_of(request),
                         bytes);
    return CUZK_OK;
}

/* The request's payloads as vanilla proofs; the caller frees the list. */
static enum cuzk_status list_proofs(const struct request *request, struct post_vanilla **out,
                                    struct cuzk_error *err)
{
    struct post_vanilla *proofs = mem_alloc(request->n_payloads, sizeof *proofs);
    if (!proofs)
        return error_set(err, CUZK_NO_MEMORY, "no memory for %zu vanilla proofs",
                         request->n_payloads);
    for (size_t i = 0; i < request->n_payloads; i++)
        proofs[i] = (struct post_vanilla){request->payloads[i].bytes, request->payloads[i].len};
    *out = proofs;
    return CUZK_OK;
}

static enum cuzk_status check_sizes(const struct request *request,
                                    const struct circuit_info *circuit, struct cuzk_error *err)
{
    const struct post_public values = {.config = config_of(request, circuit->sector_bytes),
                                       .winning = is_winning(request)};
    struct post_vanilla *proofs;
    TRY(list_proofs(request, &proofs, err));
    enum cuzk_status status = post_check_sizes(&values, proofs, request->n_payloads, err);
    mem_free(proofs);
    return status;
}

static enum cuzk_status post_admit(const struct request *request,
                                   const struct circuit_info **circuit, struct cuzk_error *err)
{
    const struct post_proof *proof;
    if (request->n_payloads == 0)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "vanilla_proofs: none given, a %s has one of each sector",
                         name_of(request));
    if (!request->randomness)
        return error_set(err, CUZK_INVALID_ARGUMENT, "randomness: missing, a %s has 32 bytes",
                         name_of(request));
    TRY(post_check_randomness(request->randomness, err));
    TRY(find_proof(request, &proof, err));
    TRY(find_circuit(request, proof, circuit, err));
    return check_sizes(request, *circuit, err);
}

/* --- Input ------------------------------------------------------------------------------------ */

static void post_work_free(struct kind_work *base)
{
    struct post_work *work = CONTAINER_OF(base, struct post_work, base);
    post_free(work->post);
    mem_free(work->inputs);
    mem_free(work);
}

static enum cuzk_status read_proofs(struct post_work *work, const struct post_public *values,
                                    const struct request *request, struct pool *pool,
                                    struct cuzk_error *err)
{
    struct post_vanilla *proofs;
    TRY(list_proofs(request, &proofs, err));
    enum cuzk_status status =
        post_read(values, proofs, request->n_payloads, pool, &work->post, err);
    mem_free(proofs);
    return status;
}

static enum cuzk_status fill_work(struct post_work *work, const struct request *request,
                                  struct pool *pool, struct cuzk_error *err)
{
    const struct post_proof *proof;
    const struct circuit_info *circuit;
    TRY(find_proof(request, &proof, err));
    TRY(find_circuit(request, proof, &circuit, err));
    struct post_public values = {
        .config = config_of(request, circuit->sector_bytes),
        .winning = is_winning(request),
        .api_v1_2 = proof ? proof->api_v1_2 : !is_winning(request),
        .partition = request->partition_index,
    };
    memcpy(values.randomness, request->randomness, sizeof values.randomness);
    TRY(read_proofs(work, &values, request, pool, err));
    snprintf(work->base.base.circuit_id, sizeof work->base.base.circuit_id, "%s", circuit->id);
    work->base.base.n_partitions = 1;
    work->n_inputs = post_inputs_count(values.config);
    work->inputs = mem_alloc(work->n_inputs, sizeof *work->inputs);
    if (!work->inputs)
        return error_set(err, CUZK_NO_MEMORY, "no memory for public inputs");
    post_inputs(work->post, work->inputs);
    return CUZK_OK;
}

static enum cuzk_status post_parse(const struct request *request, struct pool *pool,
                                   struct kind_work **out, struct cuzk_error *err)
{
    struct post_work *work = mem_zalloc(1, sizeof *work);
    if (!work)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a PoSt");
    enum cuzk_status status = fill_work(work, request, pool, err);
    if (status != CUZK_OK) {
        post_work_free(&work->base);
        return status;
    }
    *out = &work->base;
    return CUZK_OK;
}

/* --- The partition ---------------------------------------------------------------------------- */

static enum cuzk_status post_check_input(struct kind_work *work, unsigned partition,
                                         struct pool *pool, struct cuzk_error *err)
{
    (void)partition;
    return post_check(post_of(work)->post, pool, err);
}

static struct circuit_program post_program(const struct kind_work *work, unsigned partition)
{
    (void)partition;
    return (struct circuit_program){post_synthesize, post_checked(post_of(work)->post)};
}

static const struct fr *post_public_inputs(const struct kind_work *work, unsigned partition,
                                           size_t *n)
{
    (void)partition;
    *n = post_of(work)->n_inputs;
    return post_of(work)->inputs;
}

const struct proof_kind kind_post = {
    .admit = post_admit,
    .parse = post_parse,
    .check = post_check_input,
    .program = post_program,
    .public_inputs = post_public_inputs,
    .free = post_work_free,
};
