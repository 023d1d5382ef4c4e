/* The engine's state as the JSON of GET /status. Field names are those that the Rust cuzk's
   clients read; further ones are ours. */
#include "engine/public.h"

#include "base/text.h"

#include <inttypes.h>
#include <string.h>

static void add_string(struct text *text, const char *key, const char *value)
{
    text_add(text, "\"%s\":", key);
    text_add_json(text, value);
}

static void add_job(struct text *text, const struct cuzk_job_status *job)
{
    unsigned done = 0;
    for (unsigned p = 0; p < job->n_partitions; p++)
        done += strcmp(job->partitions[p].state, "done") == 0;
    text_add(text, "{");
    add_string(text, "job_id", job->job_id);
    text_add(text, ",");
    add_string(text, "proof_kind", request_kind_label(job->kind));
    text_add(text,
             ",\"state\":\"%s\",\"started_secs_ago\":%.3f,\"total_partitions\":%u,"
             "\"partitions_done\":%u,\"partitions\":[",
             job->state, (double)job->started_ms_ago / 1000, job->n_partitions, done);
    for (unsigned p = 0; p < job->n_partitions; p++)
        text_add(text,
                 "%s{\"index\":%u,\"state\":\"%s\",\"synth_ms\":%" PRIu64 ",\"gpu_ms\":%" PRIu64
                 "}",
                 p ? "," : "", p, job->partitions[p].state, job->partitions[p].synth_ms,
                 job->partitions[p].device_ms);
    text_add(text, "]}");
}

static void add_device(struct text *text, const struct cuzk_device_status *device)
{
    bool busy = device->partition >= 0;
    text_add(text, "{\"worker_id\":%u,\"gpu_ordinal\":%u,", device->ordinal, device->ordinal);
    add_string(text, "name", device->name);
    text_add(text, ",");
    add_string(text, "backend", device->backend);
    text_add(text, ",\"state\":\"%s\",\"current_job\":",
             device->quarantined ? "quarantined"
             : busy              ? "proving"
                                 : "idle");
    if (busy)
        text_add_json(text, device->job_id);
    else
        text_add(text, "null");
    text_add(text, ",\"current_partition\":");
    if (busy)
        text_add(text, "%d", device->partition);
    else
        text_add(text, "null");
    text_add(text,
             ",\"busy_secs\":%.3f,\"memory_total_bytes\":%" PRIu64 ",\"memory_free_bytes\":%" PRIu64
             "}",
             (double)device->busy_ms / 1000, device->memory_total_bytes, device->memory_free_bytes);
}

static void add_srs(struct text *text, const struct cuzk_srs_status *srs)
{
    text_add(text, "{");
    add_string(text, "circuit_id", srs->circuit_id);
    text_add(text, ",\"bytes\":%" PRIu64 ",\"references\":%u,\"evictable\":%s,\"development\":%s}",
             srs->bytes, srs->references, srs->references ? "false" : "true",
             srs->dev ? "true" : "false");
}

static void add_counters(struct text *text, const struct cuzk_snapshot *s,
                         const struct stats *stats)
{
    text_add(text,
             "\"counters\":{\"total_completed\":%" PRIu64 ",\"total_failed\":%" PRIu64
             ",\"total_cancelled\":%" PRIu64 ",\"queue_depth\":%u,\"running\":%u,"
             "\"invalid_proofs\":%" PRIu64 ",\"preemptions\":%" PRIu64,
             s->completed, s->failed, s->cancelled, stats->queued, stats->running,
             s->invalid_proofs, stats->preemptions);
    text_add(text, ",\"completed_by_kind\":{");
    for (unsigned k = 0; k < REQUEST_KINDS; k++)
        text_add(text, "%s\"%s\":%" PRIu64, k ? "," : "",
                 request_kind_label((enum cuzk_proof_kind)(k + 1)), stats->kind[k].completed);
    text_add(text, "},\"failed_by_kind\":{");
    for (unsigned k = 0; k < REQUEST_KINDS; k++)
        text_add(text, "%s\"%s\":%" PRIu64, k ? "," : "",
                 request_kind_label((enum cuzk_proof_kind)(k + 1)), stats->kind[k].failed);
    text_add(text, "}}");
}

static void add_status(struct text *text, const struct cuzk_snapshot *s, const struct stats *stats)
{
    uint64_t available = s->memory_budget_bytes - s->memory_used_bytes;
    text_add(text,
             "{\"uptime_secs\":%.3f,\"draining\":%s,\"simulated\":%s,\"development\":%s,"
             "\"memory\":{\"total_bytes\":%" PRIu64 ",\"used_bytes\":%" PRIu64
             ",\"available_bytes\":%" PRIu64 ",\"peak_bytes\":%" PRIu64 "},"
             "\"synthesis\":{\"max_concurrent\":%u,\"active\":%u},\"pipelines\":[",
             (double)s->uptime_ms / 1000, s->draining ? "true" : "false",
             stats->simulated ? "true" : "false", stats->dev ? "true" : "false",
             s->memory_budget_bytes, s->memory_used_bytes, available, stats->budget_peak,
             s->synthesis_max, s->synthesis_active);
    for (size_t i = 0; i < s->n_jobs; i++) {
        text_add(text, i ? "," : "");
        add_job(text, &s->jobs[i]);
    }
    text_add(text, "],\"gpu_workers\":[");
    for (size_t i = 0; i < s->n_devices; i++) {
        text_add(text, i ? "," : "");
        add_device(text, &s->devices[i]);
    }
    text_add(text, "],\"allocations\":{\"srs\":[");
    for (size_t i = 0; i < s->n_srs; i++) {
        text_add(text, i ? "," : "");
        add_srs(text, &s->srs[i]);
    }
    text_add(text, "],\"pce\":[]},");
    add_counters(text, s, stats);
    text_add(text, "}\n");
}

char *cuzk_engine_status_json(struct cuzk_engine *engine)
{
    struct cuzk_snapshot snapshot;
    struct stats stats;
    if (public_look(engine, &snapshot, &stats, NULL) != CUZK_OK)
        return NULL;
    struct text text = {0};
    add_status(&text, &snapshot, &stats);
    cuzk_snapshot_free(&snapshot);
    if (text.failed)
        text_free(&text);
    return text.data;
}
