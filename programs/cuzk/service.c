#include "service.h"

#include "base/chan.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "rpc/message.h"

#include <cuzk/v1/proving.pb-c.h>
#include <cuzk/v1/timeline.pb-c.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Handlers run on the server's only thread, so they just queue the call. `threads` take calls that
   the engine answers soon; loading and evicting parameters may take minutes and has a thread of its
   own, so that it delays nobody. Waiting for a proof takes no thread: the engine calls back. */
enum { SERVICE_THREADS = 2, BACKLOG = 4096 };

struct service;

struct call_work {
    struct service *service;
    struct rpc_call *call;
    void (*serve)(struct call_work *work);
    uint64_t received_ns; /* when the whole message was there */
    /* Prove only: whether the client is gone, and the job to cancel then. */
    _Atomic bool abandoned;
    char job_id[CUZK_JOB_ID_BYTES];
    atomic_uint references;
};

struct service {
    struct cuzk_engine *engine;
    struct trace *trace;
    bool cancel_on_disconnect;
    struct rpc_method methods[SERVICE_METHOD_COUNT];
    struct chan *calls;
    struct chan *slow_calls;
    pthread_t threads[SERVICE_THREADS + 1];
    unsigned n_threads;
};

static const char *const kind_names[] = {"unspecified", "porep_c2", "snap_update", "window_post",
                                         "winning_post"};

static void release_work(void *user)
{
    struct call_work *work = user;
    if (atomic_fetch_sub(&work->references, 1) == 1)
        mem_free(work);
}

/* A kind or feature that we do not prove is the request's fault for a client: UNIMPLEMENTED would
   say that the method is missing. */
static void fail_call(struct rpc_call *call, const struct cuzk_error *err)
{
    enum rpc_code code =
        err->status == CUZK_UNSUPPORTED ? RPC_INVALID_ARGUMENT : rpc_code_of_status(err->status);
    rpc_fail(call, code, "%s", err->text);
}

static void reply_message(struct rpc_call *call, const ProtobufCMessage *message)
{
    uint8_t *bytes;
    size_t len;
    struct cuzk_error err = {0};
    if (message_encode(message, &bytes, &len, &err) == CUZK_OK)
        rpc_reply(call, bytes, len);
    else
        fail_call(call, &err);
}

/* Decodes the request message of a call; answers the call and returns NULL if it is malformed. */
static void *decode_request(struct rpc_call *call, const ProtobufCMessageDescriptor *descriptor)
{
    size_t len;
    const uint8_t *bytes = rpc_call_message(call, &len);
    ProtobufCMessage *message;
    struct cuzk_error err = {0};
    enum cuzk_status status = message_decode(descriptor, bytes, len, &message, &err);
    rpc_call_drop_message(call);
    if (status == CUZK_OK)
        return message;
    fail_call(call, &err);
    return NULL;
}

/* ---- submitting ----------------------------------------------------------------------------- */

static enum cuzk_status check_digest_field(const ProtobufCBinaryData *field, const char *name,
                                           const uint8_t **out, struct cuzk_error *err)
{
    *out = field->len ? field->data : NULL;
    if (field->len == 0 || field->len == 32)
        return CUZK_OK;
    err->status = CUZK_INVALID_ARGUMENT;
    snprintf(err->text, sizeof err->text, "%s: %zu bytes, expected 32", name, field->len);
    return err->status;
}

static enum cuzk_status submit(struct service *service, const Cuzk__V1__SubmitProofRequest *from,
                               char job_id[CUZK_JOB_ID_BYTES], uint32_t *position,
                               struct cuzk_error *err)
{
    int kind = (int)from->proof_kind;
    if (kind < CUZK_POREP || kind > CUZK_WINNING_POST) {
        err->status = CUZK_INVALID_ARGUMENT;
        snprintf(err->text, sizeof err->text,
                 "invalid proof_kind: %d, expected 1 (porep) to 4 (winning post)", kind);
        return err->status;
    }
    /* proto3 cannot tell an absent number from 0. Curio always sends both or neither. */
    bool has_owner = from->miner_id != 0 || from->sector_number != 0;
    struct cuzk_request request = {
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
    enum cuzk_status status =
        check_digest_field(&from->randomness, "randomness", &request.randomness, err);
    if (status == CUZK_OK)
        status = check_digest_field(&from->comm_r_old, "comm_r_old", &request.comm_r_old, err);
    if (status == CUZK_OK)
        status = check_digest_field(&from->comm_r_new, "comm_r_new", &request.comm_r_new, err);
    if (status == CUZK_OK)
        status = check_digest_field(&from->comm_d_new, "comm_d_new", &request.comm_d_new, err);
    if (status != CUZK_OK)
        return status;

    bool single = kind == CUZK_POREP && from->vanilla_proof.len > 0;
    size_t count = single ? 1 : from->n_vanilla_proofs;
    const uint8_t **payloads = mem_alloc(count + 1, sizeof *payloads);
    size_t *lens = mem_alloc(count + 1, sizeof *lens);
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
        status = cuzk_engine_submit(service->engine, &request, job_id, position, &attached, err);
    } else {
        status = err->status = CUZK_NO_MEMORY;
        snprintf(err->text, sizeof err->text, "no memory for the request");
    }
    mem_free(lens);
    mem_free(payloads);
    return status;
}

/* Logs who submitted the job, and records the time from the last received byte to the accepted
   job. */
static void note_request(const struct call_work *work, const char *job_id)
{
    log_info("service", "job %s submitted from %s", job_id, rpc_call_peer(work->call));
    struct trace_scope scope = TRACE_SCOPE(work->service->trace, job_id);
    trace_emit_at(&scope, TRACE_RPC_START, -1, work->received_ns);
    trace_emit(&scope, TRACE_RPC_END, -1);
}

static void serve_submit(struct call_work *work)
{
    Cuzk__V1__SubmitProofRequest *request =
        decode_request(work->call, &cuzk__v1__submit_proof_request__descriptor);
    if (!request)
        return;
    struct cuzk_error err = {0};
    Cuzk__V1__SubmitProofResponse response = CUZK__V1__SUBMIT_PROOF_RESPONSE__INIT;
    enum cuzk_status status =
        submit(work->service, request, work->job_id, &response.queue_position, &err);
    message_free(&request->base);
    response.job_id = work->job_id;
    if (status != CUZK_OK) {
        fail_call(work->call, &err);
        return;
    }
    note_request(work, work->job_id);
    reply_message(work->call, &response.base);
}

/* ---- waiting -------------------------------------------------------------------------------- */

static void fill_result(Cuzk__V1__AwaitProofResponse *to, const struct cuzk_result *from)
{
    union {
        const void *in;
        void *out;
    } proof = {from->proof}, id = {from->job_id}, text = {from->error.text};
    to->job_id = id.out;
    to->status = (Cuzk__V1__AwaitProofResponse__Status)from->outcome;
    if (from->outcome == CUZK_JOB_COMPLETED) {
        CHECK(from->proof_len > 0);
        to->proof = (ProtobufCBinaryData){from->proof_len, proof.out};
    } else if (from->outcome == CUZK_JOB_FAILED) {
        to->error_message = text.out;
    }
    to->queue_wait_ms = from->queue_ms;
    to->srs_load_ms = from->srs_load_ms;
    to->synthesis_ms = from->synthesis_ms;
    to->gpu_compute_ms = from->device_ms;
    to->total_ms = from->total_ms;
}

static void note_reply(struct call_work *work, const struct cuzk_result *result,
                       enum trace_kind kind)
{
    struct trace_scope scope = TRACE_SCOPE(work->service->trace, result->job_id);
    trace_emit(&scope, kind, (int64_t)result->proof_len);
}

static void reply_awaited(void *context, const struct cuzk_result *result)
{
    struct call_work *work = context;
    Cuzk__V1__AwaitProofResponse response = CUZK__V1__AWAIT_PROOF_RESPONSE__INIT;
    fill_result(&response, result);
    note_reply(work, result, TRACE_REPLY_START);
    reply_message(work->call, &response.base);
    note_reply(work, result, TRACE_REPLY_END);
    release_work(work);
}

static void reply_proved(void *context, const struct cuzk_result *result)
{
    struct call_work *work = context;
    Cuzk__V1__AwaitProofResponse inner = CUZK__V1__AWAIT_PROOF_RESPONSE__INIT;
    Cuzk__V1__ProveResponse response = CUZK__V1__PROVE_RESPONSE__INIT;
    fill_result(&inner, result);
    response.result = &inner;
    note_reply(work, result, TRACE_REPLY_START);
    reply_message(work->call, &response.base);
    note_reply(work, result, TRACE_REPLY_END);
    release_work(work);
}

/* Registers the call with the engine, which answers it. A wait never outlives the client's
 * deadline. */
static void watch(struct call_work *work, const char *job_id, uint64_t timeout_ms,
                  cuzk_result_fn *fn)
{
    uint64_t deadline = rpc_call_deadline_ms(work->call);
    if (deadline != UINT64_MAX) {
        uint64_t now = clock_now_ms();
        /* A little longer, so that the client hears of its deadline and not of a time-out. */
        uint64_t left = (deadline > now ? deadline - now : 0) + 1000;
        if (timeout_ms == 0 || left < timeout_ms)
            timeout_ms = left;
    }
    struct cuzk_error err = {0};
    atomic_fetch_add(&work->references, 1);
    if (cuzk_engine_watch(work->service->engine, job_id, timeout_ms, fn, work, NULL, &err) !=
        CUZK_OK) {
        fail_call(work->call, &err);
        release_work(work);
    }
}

static void serve_await(struct call_work *work)
{
    Cuzk__V1__AwaitProofRequest *request =
        decode_request(work->call, &cuzk__v1__await_proof_request__descriptor);
    if (!request)
        return;
    watch(work, request->job_id, request->timeout_ms, reply_awaited);
    message_free(&request->base);
}

static void cancel_abandoned(struct call_work *work)
{
    struct cuzk_error err = {0};
    bool was_running;
    if (work->service->cancel_on_disconnect)
        cuzk_engine_cancel(work->service->engine, work->job_id, &was_running, &err);
}

static void serve_prove(struct call_work *work)
{
    Cuzk__V1__ProveRequest *request =
        decode_request(work->call, &cuzk__v1__prove_request__descriptor);
    if (!request)
        return;
    if (!request->submit) {
        rpc_fail(work->call, RPC_INVALID_ARGUMENT, "submit: missing");
        message_free(&request->base);
        return;
    }
    struct cuzk_error err = {0};
    uint32_t position;
    char job_id[CUZK_JOB_ID_BYTES];
    enum cuzk_status status = submit(work->service, request->submit, job_id, &position, &err);
    message_free(&request->base);
    if (status != CUZK_OK) {
        fail_call(work->call, &err);
        return;
    }
    note_request(work, job_id);
    memcpy(work->job_id, job_id, sizeof job_id);
    /* Whoever comes second, this or abandon_prove, sees what the first one left. */
    if (atomic_exchange(&work->abandoned, true))
        cancel_abandoned(work);
    watch(work, job_id, 0, reply_proved);
}

/* The client of a Prove no longer waits. */
static void abandon_prove(void *user, enum rpc_code reason)
{
    struct call_work *work = user;
    bool submitted = atomic_exchange(&work->abandoned, true);
    if (reason != RPC_UNAVAILABLE && submitted)
        cancel_abandoned(work);
}

static void serve_cancel(struct call_work *work)
{
    Cuzk__V1__CancelProofRequest *request =
        decode_request(work->call, &cuzk__v1__cancel_proof_request__descriptor);
    if (!request)
        return;
    Cuzk__V1__CancelProofResponse response = CUZK__V1__CANCEL_PROOF_RESPONSE__INIT;
    struct cuzk_error err = {0};
    bool was_running = false;
    enum cuzk_status status =
        cuzk_engine_cancel(work->service->engine, request->job_id, &was_running, &err);
    message_free(&request->base);
    response.was_running = was_running;
    if (status == CUZK_OK)
        reply_message(work->call, &response.base);
    else
        fail_call(work->call, &err);
}

/* ---- status --------------------------------------------------------------------------------- */

/* protobuf-c wants arrays of pointers; one block holds pointers and messages of all three lists. */
struct status_lists {
    Cuzk__V1__GPUStatus *gpus;
    Cuzk__V1__SRSStatus *srs;
    Cuzk__V1__QueueStatus queues[ARRAY_LEN(kind_names) - 1];
    Cuzk__V1__GPUStatus **gpu_pointers;
    Cuzk__V1__SRSStatus **srs_pointers;
    Cuzk__V1__QueueStatus *queue_pointers[ARRAY_LEN(kind_names) - 1];
};

static char *kind_name(unsigned kind)
{
    union {
        const char *in;
        char *out;
    } name = {kind < ARRAY_LEN(kind_names) ? kind_names[kind] : ""};
    return name.out;
}

static void fill_status(struct status_lists *lists, struct cuzk_snapshot *from)
{
    for (size_t i = 0; i < from->n_devices; i++) {
        struct cuzk_device_status *device = &from->devices[i];
        cuzk__v1__gpustatus__init(&lists->gpus[i]);
        lists->gpus[i].ordinal = device->ordinal;
        lists->gpus[i].name = device->name;
        lists->gpus[i].vram_total_bytes = device->memory_total_bytes;
        lists->gpus[i].vram_free_bytes = device->memory_free_bytes;
        lists->gpus[i].current_job_id = device->job_id;
        lists->gpus[i].current_proof_kind = device->kind ? kind_name(device->kind) : kind_name(99);
        lists->gpu_pointers[i] = &lists->gpus[i];
    }
    for (size_t i = 0; i < from->n_srs; i++) {
        cuzk__v1__srsstatus__init(&lists->srs[i]);
        lists->srs[i].circuit_id = from->srs[i].circuit_id;
        lists->srs[i].tier = CUZK__V1__SRSSTATUS__TIER__HOT;
        lists->srs[i].size_bytes = from->srs[i].bytes;
        lists->srs[i].ref_count = from->srs[i].references;
        lists->srs_pointers[i] = &lists->srs[i];
    }
    for (unsigned i = 0; i < ARRAY_LEN(lists->queues); i++) {
        cuzk__v1__queue_status__init(&lists->queues[i]);
        lists->queues[i].proof_kind = kind_name(i + 1);
        lists->queues[i].pending = from->queues[i].pending;
        lists->queues[i].in_progress = from->queues[i].in_progress;
        lists->queue_pointers[i] = &lists->queues[i];
    }
}

static void serve_status(struct call_work *work)
{
    struct cuzk_snapshot snapshot;
    struct cuzk_error err = {0};
    if (cuzk_engine_snapshot(work->service->engine, &snapshot, &err) != CUZK_OK) {
        fail_call(work->call, &err);
        return;
    }
    struct status_lists lists = {
        .gpus = mem_alloc(snapshot.n_devices, sizeof *lists.gpus),
        .srs = mem_alloc(snapshot.n_srs, sizeof *lists.srs),
        .gpu_pointers = mem_alloc(snapshot.n_devices, sizeof *lists.gpu_pointers),
        .srs_pointers = mem_alloc(snapshot.n_srs, sizeof *lists.srs_pointers),
    };
    if (lists.gpus && lists.srs && lists.gpu_pointers && lists.srs_pointers) {
        fill_status(&lists, &snapshot);
        Cuzk__V1__GetStatusResponse response = CUZK__V1__GET_STATUS_RESPONSE__INIT;
        response.n_gpus = snapshot.n_devices;
        response.gpus = lists.gpu_pointers;
        response.n_loaded_srs = snapshot.n_srs;
        response.loaded_srs = lists.srs_pointers;
        response.n_queues = ARRAY_LEN(lists.queues);
        response.queues = lists.queue_pointers;
        response.total_proofs_completed = snapshot.completed;
        response.total_proofs_failed = snapshot.failed;
        response.uptime_seconds = snapshot.uptime_ms / 1000;
        response.pinned_memory_bytes = snapshot.memory_used_bytes;
        response.pinned_memory_limit_bytes = snapshot.memory_budget_bytes;
        reply_message(work->call, &response.base);
    } else {
        rpc_fail(work->call, RPC_RESOURCE_EXHAUSTED, "no memory for the status");
    }
    mem_free(lists.srs_pointers);
    mem_free(lists.gpu_pointers);
    mem_free(lists.srs);
    mem_free(lists.gpus);
    cuzk_snapshot_free(&snapshot);
}

static void serve_metrics(struct call_work *work)
{
    Cuzk__V1__GetMetricsResponse response = CUZK__V1__GET_METRICS_RESPONSE__INIT;
    response.prometheus_text = cuzk_engine_metrics_text(work->service->engine);
    if (response.prometheus_text)
        reply_message(work->call, &response.base);
    else
        rpc_fail(work->call, RPC_RESOURCE_EXHAUSTED, "no memory for the metrics");
    cuzk_text_free(response.prometheus_text);
}

/* ---- parameters ------------------------------------------------------------------------------ */

static void serve_preload(struct call_work *work)
{
    Cuzk__V1__PreloadSrsRequest *request =
        decode_request(work->call, &cuzk__v1__preload_srs_request__descriptor);
    if (!request)
        return;
    Cuzk__V1__PreloadSrsResponse response = CUZK__V1__PRELOAD_SRS_RESPONSE__INIT;
    struct cuzk_error err = {0};
    bool already_loaded = false;
    enum cuzk_status status = cuzk_engine_preload(work->service->engine, request->circuit_id,
                                                  &already_loaded, &response.load_time_ms, &err);
    message_free(&request->base);
    response.already_loaded = already_loaded;
    if (status == CUZK_OK)
        reply_message(work->call, &response.base);
    else
        fail_call(work->call, &err);
}

static void serve_evict(struct call_work *work)
{
    Cuzk__V1__EvictSrsRequest *request =
        decode_request(work->call, &cuzk__v1__evict_srs_request__descriptor);
    if (!request)
        return;
    Cuzk__V1__EvictSrsResponse response = CUZK__V1__EVICT_SRS_RESPONSE__INIT;
    struct cuzk_error err = {0};
    bool was_loaded = false;
    enum cuzk_status status = cuzk_engine_evict(work->service->engine, request->circuit_id,
                                                &was_loaded, &response.freed_bytes, &err);
    message_free(&request->base);
    response.was_loaded = was_loaded;
    if (status == CUZK_OK)
        reply_message(work->call, &response.base);
    else
        fail_call(work->call, &err);
}

/* ---- marks in the timeline --------------------------------------------------------------------
 */

enum { LABEL_MAX = 64 };

static bool is_label(const char *text)
{
    size_t len = strnlen(text, LABEL_MAX + 1);
    for (size_t i = 0; i < len; i++) {
        if (text[i] < ' ' || text[i] > '~')
            return false;
    }
    return len >= 1 && len <= LABEL_MAX;
}

/* The client's words become one detail of the event: nothing in them may look like another one. */
static void format_run(const Cuzk__V1__MarkRunRequest *run, char text[TRACE_TEXT_BYTES])
{
    int at =
        snprintf(text, TRACE_TEXT_BYTES, "count=%u,concurrency=%u", run->count, run->concurrency);
    if (!*run->config)
        return;
    at += snprintf(text + at, TRACE_TEXT_BYTES - (size_t)at, ",config=");
    snprintf(text + at, TRACE_TEXT_BYTES - (size_t)at, "%s", run->config);
    for (char *c = text + at; *c; c++) {
        if (*c <= ' ' || *c > '~' || strchr(",=%", *c))
            *c = '_';
    }
}

static void mark(struct service *service, const Cuzk__V1__MarkRunRequest *run)
{
    struct trace_scope scope = TRACE_SCOPE(service->trace, run->label);
    if (run->edge == CUZK__V1__MARK_RUN_REQUEST__EDGE__START) {
        char text[TRACE_TEXT_BYTES];
        format_run(run, text);
        trace_emit_text(&scope, TRACE_RUN_START, -1, text);
        return;
    }
    /* The engine's thread, which records the last reply, is through with it when it answers. */
    cuzk_engine_wait_idle(service->engine, 0);
    trace_emit(&scope, TRACE_RUN_END, -1);
    trace_flush(service->trace);
}

static void serve_mark(struct call_work *work)
{
    Cuzk__V1__MarkRunRequest *request =
        decode_request(work->call, &cuzk__v1__mark_run_request__descriptor);
    if (!request)
        return;
    if (!is_label(request->label)) {
        rpc_fail(work->call, RPC_INVALID_ARGUMENT,
                 "label: expected 1 to %d printable ASCII characters", LABEL_MAX);
    } else if (request->edge != CUZK__V1__MARK_RUN_REQUEST__EDGE__START &&
               request->edge != CUZK__V1__MARK_RUN_REQUEST__EDGE__END) {
        rpc_fail(work->call, RPC_INVALID_ARGUMENT, "edge: expected 1 (start) or 2 (end)");
    } else {
        Cuzk__V1__MarkRunResponse response = CUZK__V1__MARK_RUN_RESPONSE__INIT;
        mark(work->service, request);
        reply_message(work->call, &response.base);
    }
    message_free(&request->base);
}

/* ---- threads and table ----------------------------------------------------------------------- */

static void queue_call(struct rpc_call *call, struct service *service,
                       void (*serve)(struct call_work *), struct chan *chan, bool abandonable)
{
    struct call_work *work = mem_zalloc(1, sizeof *work);
    if (!work) {
        rpc_fail(call, RPC_RESOURCE_EXHAUSTED, "no memory for the call");
        return;
    }
    work->service = service;
    work->call = call;
    work->received_ns = clock_now_ns();
    work->serve = serve;
    /* One reference for the queue, one for the server's hooks. */
    atomic_init(&work->references, 2);
    rpc_call_attach(call, work, abandonable ? abandon_prove : NULL, release_work);
    if (!chan_try_send(chan, work)) {
        rpc_fail(call, RPC_RESOURCE_EXHAUSTED, "%d calls are waiting already", BACKLOG);
        release_work(work);
    }
}

static void *serve_calls(void *argument)
{
    struct chan *chan = argument;
    struct call_work *work;
    while ((work = chan_receive(chan)) != NULL) {
        work->serve(work);
        release_work(work);
    }
    return NULL;
}

#define HANDLER(name, chan, abandonable)                                                           \
    static void handle_##name(struct rpc_call *call, void *user)                                   \
    {                                                                                              \
        struct service *service = user;                                                            \
        queue_call(call, service, serve_##name, service->chan, abandonable);                       \
    }
HANDLER(submit, calls, false)
HANDLER(await, calls, false)
HANDLER(prove, calls, true)
HANDLER(cancel, calls, false)
HANDLER(status, calls, false)
HANDLER(metrics, calls, false)
HANDLER(preload, slow_calls, false)
HANDLER(evict, slow_calls, false)
HANDLER(mark, calls, false)
#undef HANDLER

static bool start_threads(struct service *service)
{
    for (unsigned i = 0; i <= SERVICE_THREADS; i++) {
        struct chan *chan = i < SERVICE_THREADS ? service->calls : service->slow_calls;
        if (pthread_create(&service->threads[i], NULL, serve_calls, chan) != 0)
            return false;
        service->n_threads++;
    }
    return true;
}

enum cuzk_status service_create(struct cuzk_engine *engine, struct trace *trace,
                                bool cancel_on_disconnect, struct service **out,
                                struct cuzk_error *err)
{
    struct service *service = mem_zalloc(1, sizeof *service);
    if (service) {
        service->engine = engine;
        service->trace = trace;
        service->cancel_on_disconnect = cancel_on_disconnect;
        service->calls = chan_new(BACKLOG);
        service->slow_calls = chan_new(BACKLOG);
    }
    if (!service || !service->calls || !service->slow_calls || !start_threads(service)) {
        service_free(service);
        err->status = CUZK_NO_MEMORY;
        snprintf(err->text, sizeof err->text, "cannot start the service's threads");
        return err->status;
    }
    const struct rpc_method methods[SERVICE_METHOD_COUNT] = {
        {"/cuzk.v1.ProvingEngine/SubmitProof", handle_submit, service},
        {"/cuzk.v1.ProvingEngine/AwaitProof", handle_await, service},
        {"/cuzk.v1.ProvingEngine/Prove", handle_prove, service},
        {"/cuzk.v1.ProvingEngine/CancelProof", handle_cancel, service},
        {"/cuzk.v1.ProvingEngine/GetStatus", handle_status, service},
        {"/cuzk.v1.ProvingEngine/GetMetrics", handle_metrics, service},
        {"/cuzk.v1.ProvingEngine/PreloadSRS", handle_preload, service},
        {"/cuzk.v1.ProvingEngine/EvictSRS", handle_evict, service},
        {"/cuzk.v1.Timeline/MarkRun", handle_mark, service},
    };
    memcpy(service->methods, methods, sizeof methods);
    *out = service;
    return CUZK_OK;
}

const struct rpc_method *service_methods(const struct service *service)
{
    return service->methods;
}

void service_free(struct service *service)
{
    if (!service)
        return;
    if (service->calls)
        chan_close(service->calls);
    if (service->slow_calls)
        chan_close(service->slow_calls);
    for (unsigned i = 0; i < service->n_threads; i++)
        pthread_join(service->threads[i], NULL);
    chan_free(service->calls);
    chan_free(service->slow_calls);
    mem_free(service);
}
