/* CSV: one row per attempt at a partition. */
#include "waterfall/format.h"
#include "waterfall/style.h"

static void add_quoted(struct text *out, const char *string)
{
    text_add(out, "\"");
    for (const char *s = string; *s; s++) {
        if (*s == '"')
            text_add(out, "\"\"");
        else
            text_add_bytes(out, (unsigned char)*s >= 0x20 ? s : "?", 1);
    }
    text_add(out, "\"");
}

static void add_cell(struct text *out, int64_t time_us)
{
    text_add(out, ",");
    if (time_us != WATERFALL_NONE)
        format_ms(out, time_us);
}

static void add_number(struct text *out, int32_t number)
{
    text_add(out, ",");
    if (number != WATERFALL_NONE)
        text_add(out, "%d", number);
}

void waterfall_render_csv(const struct waterfall_report *report,
                          const struct waterfall_style *style, struct text *out)
{
    text_add(out, "run,job,partition,attempt,complete,worker,device,synth_start_ms,synth_end_ms,"
                  "sent_ms,picked_ms,device_start_ms,device_end_ms,synth_ms,wait_ms,device_ms\n");
    for (size_t i = 0; i < report->partition_count; i++) {
        const struct waterfall_partition *p = &report->partitions[i];
        const struct waterfall_job *job = &report->jobs[p->job];
        if (!style_wants_run(style, &report->runs[job->run]) || !style_wants_job(style, job))
            continue;
        add_quoted(out, report->runs[job->run].label.data);
        text_add(out, ",");
        add_quoted(out, job->label);
        add_number(out, p->index);
        text_add(out, ",%u,%d", p->attempt, p->complete);
        add_number(out, p->worker);
        add_number(out, p->device);
        for (unsigned s = 0; s < WATERFALL_STAGE_COUNT; s++)
            add_cell(out, p->stage_us[s]);
        add_cell(out, waterfall_time_between(p->synth_start_us, p->synth_end_us));
        add_cell(out, waterfall_time_between(p->synth_end_us, p->gpu_start_us));
        add_cell(out, waterfall_time_between(p->gpu_start_us, p->gpu_end_us));
        text_add(out, "\n");
    }
}
