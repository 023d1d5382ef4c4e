/* Jobs: submitting, waiting for the proof, both in one call, cancelling. */
#include "service_call.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/pointer.h"
#include "rpc/message.h"

#include <cuzk/v1/proving.pb-c.h>
#include <string.h>

/* --- Submitting ------------------------------------------------------------------------------- */

static enum cuzk_status check_digest_field(const ProtobufCBinaryData *field, const char *name,
                                           const uint8_t **out, struct cuzk_error *err)
{
    *out = field->len ? field->data : NULL;
    if (field->len == 0 || field->len == 32)
        return CUZK_OK;
    return error_set(err, CUZK_INVALID_ARGUMENT, "%s: %zu bytes, expected 32", name, field->len);
}

/* All fields but the payloads. The result points into the message. */
static enum cuzk_status read_fields(const Cuzk__V1__SubmitProofRequest *from,
                                    struct cuzk_request *out, struct cuzk_error *err)
{
    int kind = (int)from->proof_kind;
    if (kind < 1 || kind > CUZK_PROOF_KINDS)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "invalid proof_kind: %d, expected 1 (porep) to 4 (winning post)", kind);
    /* proto3 cannot tell an absent number from 0. Curio always sends both or neither. */
    bool has_owner = from->miner_id != 0 || from->sector_number != 0;
    *out = (struct cuzk_request){
        .request_id = from->request_id,
        .kind = (enum cuzk_proof_kind)kind,
        .priority = (enum cuzk_priority)from->priority,
        .sector_bytes = from->sector_size,
        .registered_proof = from->registered_proof,
        .has_sector_number = has_owner,
        .sector_number = from->sector_number,
        .has_miner_id = has_owner,
        .miner_id = from->miner_id,
        .partition_index = from->partition_index,
    };
    TRY(check_digest_field(&from->randomness, "randomness", &out->randomness, err));
    TRY(check_digest_field(&from->comm_r_old, "comm_r_old", &out->comm_r_old, err));
    TRY(check_digest_field(&from->comm_r_new, "comm_r_new", &out->comm_r_new, err));
    return check_digest_field(&from->comm_d_new, "comm_d_new", &out->comm_d_new, err);
}

static enum cuzk_status submit_request(struct cuzk_engine *engine,
                                       const Cuzk__V1__SubmitProofRequest *from,
                                       char job_id[CUZK_JOB_ID_BYTES], uint32_t *position,
                                       struct cuzk_error *err)
{
    struct cuzk_request request;
    TRY(read_fields(from, &request, err));
    bool single = request.kind == CUZK_POREP && from->vanilla_proof.len > 0;
    size_t count = single ? 1 : from->n_vanilla_proofs;
    const uint8_t **payloads = mem_alloc(count + 1, sizeof *payloads);
    size_t *lens = mem_alloc(count + 1, sizeof *lens);
    enum cuzk_status status;
    if (payloads && lens) {
        for (size_t i = 0; i < count; i++) {
            const ProtobufCBinaryData *data =
                single ? &from->vanilla_proof : &from->vanilla_proofs[i];
            payloads[i] = data->data;
            lens[i] = data->len;
        }
        request.payloads = payloads;
        request.payload_lens = lens;
        request.n_payloads = count;
        bool attached;
        status = cuzk_engine_submit(engine, &request, job_id, position, &attached, err);
    } else {
        status = error_set(err, CUZK_NO_MEMORY, "no memory for the request");
    }
    mem_free(lens);
    mem_free(payloads);
    return status;
}

/* Logs who submitted the job, and records the time from the last received byte to the accepted
   job. */
static void record_request(const struct service_call *call, const char *job_id)
{
    log_info("service", "job %s submitted from %s", job_id, rpc_call_peer(call->rpc));
    struct trace_scope scope = TRACE_SCOPE(call->context->trace, job_id);
    trace_emit_at(&scope, TRACE_RPC_START, -1, call->received_ns);
    trace_emit(&scope, TRACE_RPC_END, -1);
}

void serve_submit(struct service_call *call)
{
    Cuzk__V1__SubmitProofRequest *request =
        service_decode(call, &cuzk__v1__submit_proof_request__descriptor);
    if (!request)
        return;
    struct cuzk_error err = {0};
    Cuzk__V1__SubmitProofResponse response = CUZK__V1__SUBMIT_PROOF_RESPONSE__INIT;
    enum cuzk_status status = submit_request(call->context->engine, request, call->job_id,
                                             &response.queue_position, &err);
    message_free(&request->base);
    response.job_id = call->job_id;
    if (status == CUZK_OK)
        record_request(call, call->job_id);
    service_answer(call, status, &response.base, &err);
}

/* --- Waiting ---------------------------------------------------------------------------------- */

static void fill_result(Cuzk__V1__AwaitProofResponse *to, const struct cuzk_result *from)
{
    to->job_id = unconst(from->job_id);
    to->status = (Cuzk__V1__AwaitProofResponse__Status)from->outcome;
    if (from->outcome == CUZK_JOB_COMPLETED) {
        CHECK(from->proof_len > 0);
        to->proof = (ProtobufCBinaryData){from->proof_len, unconst(from->proof)};
    } else if (from->outcome == CUZK_JOB_FAILED) {
        to->error_message = unconst(from->error.text);
    }
    to->queue_wait_ms = from->queue_ms;
    to->srs_load_ms = from->srs_load_ms;
    to->synthesis_ms = from->synthesis_ms;
    to->gpu_compute_ms = from->device_ms;
    to->total_ms = from->total_ms;
}

/* Answers a call that waited, and gives back the reference of the wait. */
static void reply_result(struct service_call *call, const struct cuzk_result *result,
                         const ProtobufCMessage *message)
{
    struct trace_scope scope = TRACE_SCOPE(call->context->trace, result->job_id);
    trace_emit(&scope, TRACE_REPLY_START, (int64_t)result->proof_len);
    service_answer(call, CUZK_OK, message, NULL);
    trace_emit(&scope, TRACE_REPLY_END, (int64_t)result->proof_len);
    service_release_call(call);
}

static void reply_awaited(void *call, const struct cuzk_result *result)
{
    Cuzk__V1__AwaitProofResponse response = CUZK__V1__AWAIT_PROOF_RESPONSE__INIT;
    fill_result(&response, result);
    reply_result(call, result, &response.base);
}

static void reply_proved(void *call, const struct cuzk_result *result)
{
    Cuzk__V1__AwaitProofResponse inner = CUZK__V1__AWAIT_PROOF_RESPONSE__INIT;
    Cuzk__V1__ProveResponse response = CUZK__V1__PROVE_RESPONSE__INIT;
    fill_result(&inner, result);
    response.result = &inner;
    reply_result(call, result, &response.base);
}

/* Registers the call with the engine, which answers it through `reply`. A wait never outlives the
   client's deadline by more than a second. */
static void wait_for_job(struct service_call *call, const char *job_id, uint64_t timeout_ms,
                         cuzk_result_fn *reply)
{
    uint64_t deadline = rpc_call_deadline_ms(call->rpc);
    if (deadline != UINT64_MAX) {
        uint64_t now = clock_now_ms();
        /* The second more lets the server report the deadline before the engine a time-out. */
        uint64_t left = (deadline > now ? deadline - now : 0) + 1000;
        if (timeout_ms == 0 || left < timeout_ms)
            timeout_ms = left;
    }
    struct cuzk_error err = {0};
    atomic_fetch_add(&call->references, 1);
    if (cuzk_engine_watch(call->context->engine, job_id, timeout_ms, reply, call, NULL, &err) !=
        CUZK_OK) {
        service_fail(call, &err);
        service_release_call(call);
    }
}

void serve_await(struct service_call *call)
{
    Cuzk__V1__AwaitProofRequest *request =
        service_decode(call, &cuzk__v1__await_proof_request__descriptor);
    if (!request)
        return;
    wait_for_job(call, request->job_id, request->timeout_ms, reply_awaited);
    message_free(&request->base);
}

/* --- Submitting and waiting ------------------------------------------------------------------- */

static void cancel_abandoned(struct service_call *call)
{
    struct cuzk_error err = {0};
    bool was_running;
    if (call->context->cancel_on_disconnect)
        cuzk_engine_cancel(call->context->engine, call->job_id, &was_running, &err);
}

void serve_prove(struct service_call *call)
{
    Cuzk__V1__ProveRequest *request = service_decode(call, &cuzk__v1__prove_request__descriptor);
    if (!request)
        return;
    struct cuzk_error err = {0};
    uint32_t position;
    char job_id[CUZK_JOB_ID_BYTES];
    enum cuzk_status status =
        request->submit
            ? submit_request(call->context->engine, request->submit, job_id, &position, &err)
            : error_set(&err, CUZK_INVALID_ARGUMENT, "submit: missing");
    message_free(&request->base);
    if (status != CUZK_OK) {
        service_fail(call, &err);
        return;
    }
    record_request(call, job_id);
    memcpy(call->job_id, job_id, sizeof job_id);
    /* Of this and abandon_prove, the one that comes second finds `abandoned` set and cancels. */
    if (atomic_exchange(&call->abandoned, true))
        cancel_abandoned(call);
    wait_for_job(call, job_id, 0, reply_proved);
}

void abandon_prove(void *user, enum rpc_code reason)
{
    struct service_call *call = user;
    bool submitted = atomic_exchange(&call->abandoned, true);
    if (reason != RPC_UNAVAILABLE && submitted)
        cancel_abandoned(call);
}

/* --- Cancelling ------------------------------------------------------------------------------- */

void serve_cancel(struct service_call *call)
{
    Cuzk__V1__CancelProofRequest *request =
        service_decode(call, &cuzk__v1__cancel_proof_request__descriptor);
    if (!request)
        return;
    Cuzk__V1__CancelProofResponse response = CUZK__V1__CANCEL_PROOF_RESPONSE__INIT;
    struct cuzk_error err = {0};
    bool was_running = false;
    enum cuzk_status status =
        cuzk_engine_cancel(call->context->engine, request->job_id, &was_running, &err);
    message_free(&request->base);
    response.was_running = was_running;
    service_answer(call, status, &response.base, &err);
}
