/* The report for programs. */
#include "base/check.h"
#include "waterfall/format.h"
#include "waterfall/style.h"

static void add_parts(struct text *out, const int64_t parts[WATERFALL_PART_COUNT])
{
    text_add(out, "{");
    for (unsigned p = 0; p < WATERFALL_PART_COUNT; p++) {
        text_add(out, "%s\"%s\":", p ? "," : "", waterfall_part_name((enum waterfall_part)p));
        format_ms(out, parts[p]);
    }
    text_add(out, "}");
}

static void add_distribution(struct text *out, const char *name,
                             const struct waterfall_distribution *d)
{
    const struct {
        const char *name;
        int64_t value;
    } fields[] = {{"min", d->min}, {"mean", d->mean}, {"p50", d->p50}, {"p90", d->p90},
                  {"p95", d->p95}, {"p99", d->p99},   {"max", d->max}};
    text_add(out, "\"%s\":{\"count\":%zu", name, d->count);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        text_add(out, ",\"%s\":", fields[i].name);
        format_ms(out, d->count ? fields[i].value : WATERFALL_NONE);
    }
    text_add(out, "}");
}

static void add_device(struct text *out, const struct waterfall_device *device)
{
    text_add(out, "{\"id\":%d,\"busy_ms\":", device->id);
    format_ms(out, device->busy_us);
    text_add(out, ",\"idle_ms\":");
    format_ms(out, device->idle_us);
    text_add(out, ",\"spans_ms\":");
    format_ms(out, device->spans_us);
    text_add(out, ",\"phases_ms\":");
    format_ms(out, device->phases_us);
    for (unsigned p = 0; p < WATERFALL_PHASE_COUNT; p++) {
        text_add(out, ",\"%s_ms\":", waterfall_phase_name((enum waterfall_phase)p));
        format_ms(out, device->phase_us[p]);
    }
    text_add(out, ",\"idle_by_cause\":{");
    for (unsigned c = 0; c < WATERFALL_CAUSE_COUNT; c++) {
        text_add(out, "%s\"%s\":", c ? "," : "", waterfall_cause_name((enum waterfall_cause)c));
        format_ms(out, device->idle_by_cause_us[c]);
    }
    text_add(out, "},\"idle\":[");
    bool first = true;
    for (size_t i = 0; i < device->stretch_count; i++) {
        const struct waterfall_stretch *stretch = &device->stretches[i];
        if (stretch->cause == WATERFALL_CAUSE_COUNT)
            continue;
        text_add(out, "%s{\"start_ms\":", first ? "" : ",");
        format_ms(out, stretch->start_us);
        text_add(out, ",\"end_ms\":");
        format_ms(out, stretch->end_us);
        text_add(out, ",\"cause\":\"%s\"}", waterfall_cause_name(stretch->cause));
        first = false;
    }
    text_add(out, "]}");
}

static void add_level(struct text *out, const char *name, const struct waterfall_level *level,
                      const char *end)
{
    text_add(out, "\"%s\":{\"mean\":%.3f,\"max\":%u}%s", name, level->mean, level->max, end);
}

static void add_run(struct text *out, const struct waterfall_run *run)
{
    text_add(out, "{\"label\":");
    text_add_json(out, run->label.data);
    text_add(out, ",\"config\":");
    text_add_json(out, run->config.data ? run->config.data : "");
    text_add(out, ",\"start_ms\":");
    format_ms(out, run->start_us);
    text_add(out, ",\"end_ms\":");
    format_ms(out, run->end_us);
    text_add(out,
             ",\"jobs\":%zu,\"complete\":%zu,\"incomplete\":%zu,\"unpaired\":%zu,\"whole\":%s,"
             "\"devices\":[",
             run->job_count, run->complete, run->incomplete, run->unpaired,
             run->whole ? "true" : "false");
    for (size_t d = 0; d < run->device_count; d++) {
        text_add(out, "%s", d ? "," : "");
        add_device(out, &run->devices[d]);
    }
    text_add(out, "],\"wall_split_ms\":");
    add_parts(out, run->split_us);
    text_add(out, ",\"critical_path_ms\":");
    add_parts(out, run->path_us);
    text_add(out, ",\"critical_path_nothing_submitted_ms\":");
    format_ms(out, run->path_nothing_us);
    text_add(out, ",\"durations_ms\":{");
    add_distribution(out, "wall", &run->wall);
    text_add(out, ",");
    add_distribution(out, "synth", &run->synth);
    text_add(out, ",");
    add_distribution(out, "wait", &run->channel);
    text_add(out, ",");
    add_distribution(out, "device", &run->device);
    text_add(out, "},\"at_once\":{");
    add_level(out, "jobs", &run->jobs_level, ",");
    add_level(out, "synth", &run->synth_level, ",");
    add_level(out, "ready", &run->ready_level, ",");
    add_level(out, "device", &run->device_level, "}");
    text_add(out, ",\"little\":{\"l\":%.4f,\"lambda_w\":%.4f},\"synth_growth\":", run->little_l,
             run->little_lambda_w);
    if (run->synth_growth_known)
        text_add(out, "%.3f", run->synth_growth);
    else
        text_add(out, "null");
    text_add(out, ",\"verdict\":{\"bottleneck\":\"%s\",\"confidence\":%.2f,\"gain\":%.3f,\"text\":",
             waterfall_bottleneck_name(run->verdict.bottleneck), run->verdict.confidence,
             run->verdict.gain);
    text_add_json(out, run->verdict.text.data);
    text_add(out, "}}");
}

static void add_partition(struct text *out, const struct waterfall_partition *p)
{
    text_add(out, "{\"index\":");
    if (p->index == WATERFALL_NONE)
        text_add(out, "null");
    else
        text_add(out, "%d", p->index);
    text_add(out, ",\"attempt\":%u,\"complete\":%s,\"synth_ms\":", p->attempt,
             p->complete ? "true" : "false");
    format_ms(out, waterfall_time_between(p->synth_start_us, p->synth_end_us));
    text_add(out, ",\"wait_ms\":");
    format_ms(out, waterfall_time_between(p->synth_end_us, p->gpu_start_us));
    text_add(out, ",\"device_ms\":");
    format_ms(out, waterfall_time_between(p->gpu_start_us, p->gpu_end_us));
    text_add(out, "}");
}

static void add_job(struct text *out, const struct waterfall_report *report,
                    const struct waterfall_job *job)
{
    text_add(out, "{\"id\":");
    text_add_json(out, job->label);
    text_add(out, ",\"run\":");
    text_add_json(out, report->runs[job->run].label.data);
    text_add(out, ",\"run_index\":%u,\"outcome\":\"%s\",\"complete\":%s,\"start_ms\":", job->run,
             format_outcome(job), job->complete ? "true" : "false");
    format_ms(out, job->start_us);
    text_add(out, ",\"wall_ms\":");
    format_ms(out, job->end_us - job->start_us);
    text_add(out, ",\"split_ms\":");
    add_parts(out, job->split_us);
    text_add(out, ",\"critical_path_ms\":");
    add_parts(out, job->path_us);
    text_add(out, ",\"critical_path_other_jobs_ms\":");
    format_ms(out, job->path_others_us);
    text_add(out, ",\"partitions\":[");
    for (size_t i = 0; i < job->partition_count; i++) {
        text_add(out, "%s", i ? "," : "");
        add_partition(out, &report->partitions[job->partitions + i]);
    }
    text_add(out, "]}");
}

static void add_unpaired(struct text *out, const struct waterfall_report *report,
                         const struct waterfall_unpaired *unpaired)
{
    text_add(out,
             "{\"event\":\"%s\",\"time_ms\":", trace_kind_name((enum trace_kind)unpaired->kind));
    format_ms(out, unpaired->time_us);
    text_add(out, ",\"job\":");
    if (unpaired->job == WATERFALL_NO_JOB)
        text_add(out, "null");
    else
        text_add_json(out, report->jobs[unpaired->job].label);
    if (unpaired->partition >= 0)
        text_add(out, ",\"partition\":%d", unpaired->partition);
    if (unpaired->worker >= 0)
        text_add(out, ",\"worker\":%d", unpaired->worker);
    text_add(out, "}");
}

static void add_skipped(struct text *out, const struct waterfall_log *log)
{
    for (size_t i = 0; i < log->lines_skipped && i < WATERFALL_SKIPPED_MAX; i++) {
        const struct waterfall_skipped *skipped = &log->skipped[i];
        text_add(out, "%s{\"line\":%llu,\"why\":", i ? "," : "", (unsigned long long)skipped->line);
        text_add_json(out, skipped->why);
        text_add(out, ",\"start\":");
        text_add_json(out, skipped->start);
        text_add(out, "}");
    }
}

void waterfall_render_json(const struct waterfall_report *report,
                           const struct waterfall_style *style, struct text *out)
{
    const struct waterfall_log *log = report->log;
    const char *separator = "\n";
    text_add(out,
             "{\"lines\":{\"total\":%llu,\"timeline\":%llu,\"skipped\":%llu},\"lost\":%llu,"
             "\"runs\":[",
             (unsigned long long)log->lines_total, (unsigned long long)log->lines_timeline,
             (unsigned long long)log->lines_skipped, (unsigned long long)log->dropped);
    for (size_t i = 0; i < report->run_count; i++) {
        if (!style_wants_run(style, &report->runs[i]))
            continue;
        text_add(out, "%s", separator);
        add_run(out, &report->runs[i]);
        separator = ",\n";
    }
    text_add(out, "],\n\"jobs\":[");
    separator = "\n";
    for (size_t i = 0; i < report->job_count; i++) {
        const struct waterfall_job *job = &report->jobs[i];
        if (!style_wants_run(style, &report->runs[job->run]) || !style_wants_job(style, job))
            continue;
        text_add(out, "%s", separator);
        add_job(out, report, job);
        separator = ",\n";
    }
    text_add(out, "],\n\"unpaired\":[");
    for (size_t i = 0; i < report->unpaired_count; i++) {
        text_add(out, "%s\n", i ? "," : "");
        add_unpaired(out, report, &report->unpaired[i]);
    }
    text_add(out, "],\n\"skipped\":[");
    add_skipped(out, log);
    text_add(out, "],\n\"warnings\":[");
    for (size_t i = 0; i < report->warning_count; i++) {
        text_add(out, "%s", i ? "," : "");
        text_add_json(out, report->warnings[i].data);
    }
    text_add(out, "]}\n");
}
