/* A trace for Perfetto and Chrome: one process per run for the jobs and one for the devices. */
#include "waterfall/style.h"

/* In the trace a run has two processes, and a track (thread) per device and per partition. */
static size_t jobs_pid(size_t run)
{
    return 2 * run + 1;
}

static size_t devices_pid(size_t run)
{
    return 2 * run + 2;
}

static void add_name(struct text *out, const char *what, size_t pid, size_t tid, const char *name,
                     const char *detail)
{
    struct text full = {0};
    text_add(&full, "%s%s", name, detail);
    text_add(out,
             ",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%zu,\"tid\":%zu,\"args\":{\"name\":", what,
             pid, tid);
    text_add_json(out, full.failed ? "" : full.data);
    text_add(out, "}}");
    text_free(&full);
}

/* A complete event, or with no end an event that only begins: open-ended. */
static void add_slice(struct text *out, size_t pid, size_t tid, const char *name, int64_t start_us,
                      int64_t end_us, const char *job, int32_t partition)
{
    if (start_us < 0 && end_us < 0)
        return;
    if (start_us >= 0 && end_us >= 0)
        text_add(out, ",\n{\"ph\":\"X\",\"ts\":%lld,\"dur\":%lld", (long long)start_us,
                 (long long)(end_us - start_us));
    else
        text_add(out, ",\n{\"ph\":\"%s\",\"ts\":%lld", start_us >= 0 ? "B" : "E",
                 (long long)(start_us >= 0 ? start_us : end_us));
    text_add(out, ",\"name\":\"%s\",\"pid\":%zu,\"tid\":%zu,\"args\":{\"job\":", name, pid, tid);
    text_add_json(out, job);
    if (partition != WATERFALL_NONE)
        text_add(out, ",\"partition\":%d", partition);
    text_add(out, "}}");
}

static const char *const span_names[TRACE_SPAN_COUNT] = {
#define X(name, key) #name,
    TRACE_SPAN_MAP(X)
#undef X
};

/* The track of a partition among the run's: the place of its attempt; tid 0 is for whole jobs. */
static void add_partition(struct text *out, const struct waterfall_report *report, size_t run,
                          size_t index, size_t first)
{
    const struct waterfall_partition *p = &report->partitions[index];
    const char *job = report->jobs[p->job].label;
    size_t pid = jobs_pid(run), tid = 2 * (index - first) + 2;
    char detail[48] = "";
    struct text number = {0};
    if (p->index != WATERFALL_NONE)
        text_add(&number, " p%d", p->index);
    for (size_t i = 0; i < number.len && i < sizeof detail - 1; i++)
        detail[i] = number.data[i];
    text_free(&number);
    add_name(out, "thread_name", pid, tid, job, detail);
    add_slice(out, pid, tid, "synth", p->synth_start_us, p->synth_end_us, job, p->index);
    add_slice(out, pid, tid, "wait", p->sent_us, p->picked_us, job, p->index);
    add_slice(out, pid, tid, "device", p->gpu_start_us, p->gpu_end_us, job, p->index);
    if (p->worker != WATERFALL_NONE)
        add_slice(out, devices_pid(run), (size_t)p->worker + 1, "proving", p->gpu_start_us,
                  p->gpu_end_us, job, p->index);
}

static void add_run(struct text *out, const struct waterfall_report *report,
                    const struct waterfall_style *style, size_t index)
{
    const struct waterfall_run *run = &report->runs[index];
    if (!style_wants_run(style, run))
        return;
    add_name(out, "process_name", jobs_pid(index), 0, run->label.data, ": jobs");
    add_name(out, "process_name", devices_pid(index), 0, run->label.data, ": device workers");
    for (size_t d = 0; d < run->device_count; d++)
        for (size_t i = 0; i < run->devices[d].stretch_count; i++) {
            const struct waterfall_stretch *stretch = &run->devices[d].stretches[i];
            if (stretch->cause != WATERFALL_CAUSE_COUNT)
                add_slice(out, devices_pid(index), 100000 + d, waterfall_cause_name(stretch->cause),
                          stretch->start_us, stretch->end_us, "idle", WATERFALL_NONE);
        }
    for (size_t j = run->jobs; j < run->jobs + run->job_count; j++) {
        const struct waterfall_job *job = &report->jobs[j];
        if (!style_wants_job(style, job))
            continue;
        size_t first = report->jobs[run->jobs].partitions;
        for (size_t i = 0; i < job->partition_count; i++)
            add_partition(out, report, index, job->partitions + i, first);
        /* A job's other spans share one track, the odd number beside its first partition. */
        size_t track = 2 * (job->partitions - first) + 1;
        for (size_t i = report->job_intervals[j]; i < report->job_intervals[j + 1]; i++)
            add_slice(out, jobs_pid(index), track, span_names[report->intervals[i].span],
                      report->intervals[i].start_us, report->intervals[i].end_us, job->label,
                      report->intervals[i].partition);
    }
}

void waterfall_render_perfetto(const struct waterfall_report *report,
                               const struct waterfall_style *style, struct text *out)
{
    text_add(out, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
                  "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"tid\":0,\"args\":"
                  "{\"name\":\"cuzk\"}}");
    for (size_t i = 0; i < report->run_count; i++)
        add_run(out, report, style, i);
    text_add(out, "\n]}\n");
}
