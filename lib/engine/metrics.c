/* The engine's state as Prometheus text (exposition format 0.0.4). Units are in the names; counters
   end in _total. The names that the Rust cuzk has are kept. */
#include "engine/public.h"

#include "base/mem.h"
#include "base/text.h"

#include <inttypes.h>

static void add_head(struct text *text, const char *name, const char *type, const char *help)
{
    text_add(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void add_number(struct text *text, const char *name, const char *type, const char *help,
                       uint64_t value)
{
    add_head(text, name, type, help);
    text_add(text, "%s %" PRIu64 "\n", name, value);
}

static void add_seconds(struct text *text, const char *name, const char *type, const char *help,
                        uint64_t ns)
{
    add_head(text, name, type, help);
    text_add(text, "%s %.6f\n", name, (double)ns / 1e9);
}

/* A label's value: backslash, quote and newline are escaped, other control characters dropped. */
static void add_label(struct text *text, const char *key, const char *value)
{
    text_add(text, "%s=\"", key);
    for (; *value; value++) {
        if (*value == '\\' || *value == '"')
            text_add(text, "\\%c", *value);
        else if (*value == '\n')
            text_add(text, "\\n");
        else if ((unsigned char)*value >= 0x20)
            text_add_bytes(text, value, 1);
    }
    text_add(text, "\"");
}

static const char *kind_label(unsigned k)
{
    return request_kind_label((enum cuzk_proof_kind)(k + 1));
}

static void add_proofs(struct text *text, const struct cuzk_snapshot *s, const struct stats *stats)
{
    add_number(text, "cuzk_proofs_completed_total", "counter",
               "Jobs that ended with a verified proof.", s->completed);
    add_number(text, "cuzk_proofs_failed_total", "counter", "Jobs that failed.", s->failed);
    add_number(text, "cuzk_proofs_cancelled_total", "counter", "Jobs that were cancelled.",
               s->cancelled);
    add_head(text, "cuzk_proofs_completed", "counter",
             "Jobs that ended with a verified proof, by kind.");
    for (unsigned k = 0; k < REQUEST_KINDS; k++)
        text_add(text, "cuzk_proofs_completed{proof_kind=\"%s\"} %" PRIu64 "\n", kind_label(k),
                 stats->kind[k].completed);
    add_head(text, "cuzk_proofs_failed", "counter", "Jobs that failed, by kind.");
    for (unsigned k = 0; k < REQUEST_KINDS; k++)
        text_add(text, "cuzk_proofs_failed{proof_kind=\"%s\"} %" PRIu64 "\n", kind_label(k),
                 stats->kind[k].failed);
    add_head(text, "cuzk_proof_duration_seconds", "histogram",
             "Time from acceptance to the verified proof.");
    for (unsigned k = 0; k < REQUEST_KINDS; k++) {
        const struct stats_kind *kind = &stats->kind[k];
        for (unsigned b = 0; b + 1 < STATS_BUCKETS; b++)
            text_add(text,
                     "cuzk_proof_duration_seconds_bucket{proof_kind=\"%s\",le=\"%g\"} %" PRIu64
                     "\n",
                     kind_label(k), stats_bounds[b], kind->bucket[b]);
        text_add(text,
                 "cuzk_proof_duration_seconds_bucket{proof_kind=\"%s\",le=\"+Inf\"} %" PRIu64 "\n",
                 kind_label(k), kind->completed);
        text_add(text, "cuzk_proof_duration_seconds_sum{proof_kind=\"%s\"} %.6f\n", kind_label(k),
                 kind->seconds);
        text_add(text, "cuzk_proof_duration_seconds_count{proof_kind=\"%s\"} %" PRIu64 "\n",
                 kind_label(k), kind->completed);
    }
}

static void add_queue(struct text *text, const struct cuzk_snapshot *s, const struct stats *stats)
{
    add_number(text, "cuzk_uptime_seconds", "gauge", "Seconds since the engine was opened.",
               s->uptime_ms / 1000);
    add_number(text, "cuzk_queue_depth", "gauge", "Jobs that have not begun.", stats->queued);
    add_number(text, "cuzk_running_jobs", "gauge", "Jobs that have begun and not ended.",
               stats->running);
    add_number(text, "cuzk_draining", "gauge", "1 while no new jobs are taken.", s->draining);
    add_number(text, "cuzk_synthesis_active", "gauge", "Partitions being synthesized.",
               s->synthesis_active);
    add_head(text, "cuzk_jobs_refused_total", "counter", "Jobs refused at submission, by reason.");
    text_add(text, "cuzk_jobs_refused_total{reason=\"queue_full\"} %" PRIu64 "\n",
             stats->rejected_full);
    text_add(text, "cuzk_jobs_refused_total{reason=\"memory_budget\"} %" PRIu64 "\n",
             stats->rejected_budget);
    add_number(text, "cuzk_preemptions_total", "counter",
               "Partitions that passed a ready one of an older job of a lower priority.",
               stats->preemptions);
    add_seconds(text, "cuzk_queue_wait_seconds_total", "counter",
                "Time that begun jobs had waited.", stats->queue_wait_ns);
}

static void add_work(struct text *text, const struct stats *stats)
{
    add_number(text, "cuzk_partitions_proved_total", "counter", "Partitions proved and verified.",
               stats->partitions);
    add_number(text, "cuzk_invalid_proofs_total", "counter",
               "Proofs that our own verifier did not accept; none of them left the process.",
               stats->invalid_proofs);
    add_number(text, "cuzk_device_faults_total", "counter", "Failures that a device reported.",
               stats->device_faults);
    add_number(text, "cuzk_partitions_redone_total", "counter",
               "Partitions done again after an invalid proof or a device fault.", stats->redone);
    add_seconds(text, "cuzk_synthesis_seconds_total", "counter", "Time of synthesis workers.",
                stats->synthesis_ns);
    add_seconds(text, "cuzk_verify_seconds_total", "counter", "Time of verification.",
                stats->verify_ns);
    add_seconds(text, "cuzk_srs_load_seconds_total", "counter", "Time of loading parameters.",
                stats->srs_load_ns);
    add_number(text, "cuzk_srs_loads_total", "counter", "Loads of parameters.", stats->srs_loads);
    add_number(text, "cuzk_journal_failures_total", "counter",
               "Results that could not be written to the journal.", stats->journal_failures);
    add_number(text, "cuzk_development_parameters", "gauge",
               "1 if insecure development parameters were loaded.", stats->dev);
    add_number(text, "cuzk_simulated", "gauge", "1 if the backend only simulates.",
               stats->simulated);
}

static void add_device_head(struct text *text, const char *name, const struct cuzk_device_status *d)
{
    text_add(text, "%s{device=\"%u\",", name, d->ordinal);
    add_label(text, "name", d->name);
    text_add(text, "} ");
}

static void add_devices(struct text *text, const struct cuzk_snapshot *s, const struct stats *stats)
{
    add_number(text, "cuzk_gpu_workers", "gauge", "Devices in use.", s->n_devices);
    add_head(text, "cuzk_device_busy_seconds_total", "counter",
             "Time that partitions were on the device.");
    for (size_t i = 0; i < s->n_devices; i++) {
        add_device_head(text, "cuzk_device_busy_seconds_total", &s->devices[i]);
        text_add(text, "%.6f\n", (double)stats->device_busy_ns[i] / 1e9);
    }
    add_head(text, "cuzk_device_failures_total", "counter",
             "Failures that the device is to blame for.");
    for (size_t i = 0; i < s->n_devices; i++) {
        add_device_head(text, "cuzk_device_failures_total", &s->devices[i]);
        text_add(text, "%" PRIu64 "\n", stats->device_failures[i]);
    }
    add_head(text, "cuzk_device_quarantined", "gauge", "1 if the device gets no more work.");
    for (size_t i = 0; i < s->n_devices; i++) {
        add_device_head(text, "cuzk_device_quarantined", &s->devices[i]);
        text_add(text, "%d\n", s->devices[i].quarantined);
    }
    add_head(text, "cuzk_device_memory_free_bytes", "gauge", "Free memory of the device.");
    for (size_t i = 0; i < s->n_devices; i++) {
        add_device_head(text, "cuzk_device_memory_free_bytes", &s->devices[i]);
        text_add(text, "%" PRIu64 "\n", s->devices[i].memory_free_bytes);
    }
}

static void add_memory(struct text *text, const struct cuzk_snapshot *s, const struct stats *stats)
{
    add_number(text, "cuzk_memory_budget_bytes", "gauge", "Memory budget.", s->memory_budget_bytes);
    add_number(text, "cuzk_memory_used_bytes", "gauge", "Taken of the memory budget.",
               s->memory_used_bytes);
    add_number(text, "cuzk_memory_peak_bytes", "gauge", "Most that was ever taken of the budget.",
               stats->budget_peak);
    add_head(text, "cuzk_srs_loaded_bytes", "gauge", "Loaded parameters.");
    for (size_t i = 0; i < s->n_srs; i++) {
        text_add(text, "cuzk_srs_loaded_bytes{");
        add_label(text, "circuit", s->srs[i].circuit_id);
        text_add(text, "} %" PRIu64 "\n", s->srs[i].bytes);
    }
}

char *cuzk_engine_metrics_text(struct cuzk_engine *engine)
{
    struct cuzk_snapshot snapshot;
    struct stats stats;
    if (public_look(engine, &snapshot, &stats, NULL) != CUZK_OK)
        return NULL;
    struct text text = {0};
    add_proofs(&text, &snapshot, &stats);
    add_queue(&text, &snapshot, &stats);
    add_work(&text, &stats);
    add_devices(&text, &snapshot, &stats);
    add_memory(&text, &snapshot, &stats);
    cuzk_snapshot_free(&snapshot);
    if (text.failed)
        text_free(&text);
    return text.data;
}

void cuzk_text_free(char *text)
{
    mem_free(text);
}
