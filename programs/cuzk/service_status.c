/* What the engine is doing: status and metrics. */
#include "service_call.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/pointer.h"

#include <cuzk/v1/proving.pb-c.h>

/* protobuf-c wants arrays of pointers: each list is an array of messages and one of pointers. */
struct status_lists {
    Cuzk__V1__GPUStatus *gpus;
    Cuzk__V1__SRSStatus *srs;
    Cuzk__V1__QueueStatus queues[CUZK_PROOF_KINDS];
    Cuzk__V1__GPUStatus **gpu_pointers;
    Cuzk__V1__SRSStatus **srs_pointers;
    Cuzk__V1__QueueStatus *queue_pointers[CUZK_PROOF_KINDS];
};

/* The name of a kind; "" for the kind 0 of an idle device. */
static char *kind_name(enum cuzk_proof_kind kind)
{
    return unconst(kind ? cuzk_proof_kind_label(kind) : "");
}

/* The messages point into the snapshot. */
static void fill_lists(struct status_lists *lists, struct cuzk_snapshot *from)
{
    for (size_t i = 0; i < from->n_devices; i++) {
        struct cuzk_device_status *device = &from->devices[i];
        cuzk__v1__gpustatus__init(&lists->gpus[i]);
        lists->gpus[i].ordinal = device->ordinal;
        lists->gpus[i].name = device->name;
        lists->gpus[i].vram_total_bytes = device->memory_total_bytes;
        lists->gpus[i].vram_free_bytes = device->memory_free_bytes;
        lists->gpus[i].current_job_id = device->job_id;
        lists->gpus[i].current_proof_kind = kind_name(device->kind);
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
    for (unsigned i = 0; i < CUZK_PROOF_KINDS; i++) {
        cuzk__v1__queue_status__init(&lists->queues[i]);
        lists->queues[i].proof_kind = kind_name(from->queues[i].kind);
        lists->queues[i].pending = from->queues[i].pending;
        lists->queues[i].in_progress = from->queues[i].in_progress;
        lists->queue_pointers[i] = &lists->queues[i];
    }
}

static void reply_status(struct service_call *call, const struct cuzk_snapshot *snapshot,
                         struct status_lists *lists)
{
    Cuzk__V1__GetStatusResponse response = CUZK__V1__GET_STATUS_RESPONSE__INIT;
    response.n_gpus = snapshot->n_devices;
    response.gpus = lists->gpu_pointers;
    response.n_loaded_srs = snapshot->n_srs;
    response.loaded_srs = lists->srs_pointers;
    response.n_queues = CUZK_PROOF_KINDS;
    response.queues = lists->queue_pointers;
    response.total_proofs_completed = snapshot->completed;
    response.total_proofs_failed = snapshot->failed;
    response.uptime_seconds = snapshot->uptime_ms / 1000;
    response.pinned_memory_bytes = snapshot->memory_used_bytes;
    response.pinned_memory_limit_bytes = snapshot->memory_budget_bytes;
    service_answer(call, CUZK_OK, &response.base, NULL);
}

void serve_status(struct service_call *call)
{
    struct cuzk_snapshot snapshot;
    struct cuzk_error err = {0};
    if (cuzk_engine_snapshot(call->context->engine, &snapshot, &err) != CUZK_OK) {
        service_fail(call, &err);
        return;
    }
    struct status_lists lists = {
        .gpus = mem_alloc(snapshot.n_devices, sizeof *lists.gpus),
        .srs = mem_alloc(snapshot.n_srs, sizeof *lists.srs),
        .gpu_pointers = mem_alloc(snapshot.n_devices, sizeof *lists.gpu_pointers),
        .srs_pointers = mem_alloc(snapshot.n_srs, sizeof *lists.srs_pointers),
    };
    if (lists.gpus && lists.srs && lists.gpu_pointers && lists.srs_pointers) {
        fill_lists(&lists, &snapshot);
        reply_status(call, &snapshot, &lists);
    } else {
        error_set(&err, CUZK_NO_MEMORY, "no memory for the status");
        service_fail(call, &err);
    }
    mem_free(lists.srs_pointers);
    mem_free(lists.gpu_pointers);
    mem_free(lists.srs);
    mem_free(lists.gpus);
    cuzk_snapshot_free(&snapshot);
}

void serve_metrics(struct service_call *call)
{
    Cuzk__V1__GetMetricsResponse response = CUZK__V1__GET_METRICS_RESPONSE__INIT;
    struct cuzk_error err = {0};
    enum cuzk_status status = CUZK_OK;
    response.prometheus_text = cuzk_engine_metrics_text(call->context->engine);
    if (!response.prometheus_text)
        status = error_set(&err, CUZK_NO_MEMORY, "no memory for the metrics");
    service_answer(call, status, &response.base, &err);
    cuzk_text_free(response.prometheus_text);
}
