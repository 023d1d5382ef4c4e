/* Two runs side by side. */
#include "waterfall/format.h"
#include "waterfall/render.h"

#include <string.h>

static const struct waterfall_run *find_run(const struct waterfall_report *report,
                                            const char *label)
{
    for (size_t i = 0; i < report->run_count; i++)
        if (strcmp(report->runs[i].label.data, label) == 0)
            return &report->runs[i];
    return NULL;
}

static void add_row(struct text *out, const char *name, double a, double b, const char *unit)
{
    text_add(out, "  %-28s %12.3f %12.3f %-4s", name, a, b, unit);
    if (a > 0)
        text_add(out, " %+9.1f %%", 100 * (b - a) / a);
    text_add(out, "\n");
}

static double time_of(const struct waterfall_run *run)
{
    return format_seconds(run->end_us - run->start_us);
}

static double per_minute(const struct waterfall_run *run)
{
    return time_of(run) > 0 ? 60 * (double)run->complete / time_of(run) : 0;
}

/* Percent of the devices' time: of a cause, or with WATERFALL_CAUSE_COUNT of being busy. */
static double device_share(const struct waterfall_run *run, enum waterfall_cause cause)
{
    double part = 0, whole = time_of(run) * (double)run->device_count;
    for (size_t d = 0; d < run->device_count; d++)
        part += format_seconds(cause == WATERFALL_CAUSE_COUNT
                                   ? run->devices[d].busy_us
                                   : run->devices[d].idle_by_cause_us[cause]);
    return whole > 0 ? 100 * part / whole : 0;
}

/* Mean time of a part over the run's jobs, in seconds. */
static double part_of(const struct waterfall_run *run, enum waterfall_part part)
{
    return run->job_count ? format_seconds(run->split_us[part]) / (double)run->job_count : 0;
}

static void add_pair(struct text *out, const struct waterfall_run *a, const struct waterfall_run *b)
{
    struct text name = {0};
    text_add(out, "A: ");
    format_plain(out, a->label.data, 60);
    text_add(out, "\nB: ");
    format_plain(out, b->label.data, 60);
    text_add(out, "\n  %-28s %12s %12s %-4s %11s\n", "", "A", "B", "", "B to A");
    add_row(out, "jobs complete", (double)a->complete, (double)b->complete, "");
    add_row(out, "jobs incomplete", (double)a->incomplete, (double)b->incomplete, "");
    add_row(out, "time", time_of(a), time_of(b), "s");
    add_row(out, "throughput", per_minute(a), per_minute(b), "/min");
    add_row(out, "job wall, p50", format_seconds(a->wall.p50), format_seconds(b->wall.p50), "s");
    add_row(out, "job wall, p95", format_seconds(a->wall.p95), format_seconds(b->wall.p95), "s");
    add_row(out, "synthesis, mean", format_seconds(a->synth.mean), format_seconds(b->synth.mean),
            "s");
    add_row(out, "channel, mean", format_seconds(a->channel.mean), format_seconds(b->channel.mean),
            "s");
    add_row(out, "device, mean", format_seconds(a->device.mean), format_seconds(b->device.mean),
            "s");
    add_row(out, "syntheses at once", a->synth_level.mean, b->synth_level.mean, "");
    add_row(out, "device busy", device_share(a, WATERFALL_CAUSE_COUNT),
            device_share(b, WATERFALL_CAUSE_COUNT), "%");
    for (unsigned c = 0; c < WATERFALL_CAUSE_COUNT; c++) {
        double of_a = device_share(a, (enum waterfall_cause)c);
        double of_b = device_share(b, (enum waterfall_cause)c);
        if (of_a <= 0 && of_b <= 0)
            continue;
        name.len = 0;
        text_add(&name, "idle, %s", waterfall_cause_name((enum waterfall_cause)c));
        add_row(out, name.failed ? "" : name.data, of_a, of_b, "%");
    }
    for (unsigned p = 0; p < WATERFALL_PART_COUNT; p++) {
        double of_a = part_of(a, (enum waterfall_part)p), of_b = part_of(b, (enum waterfall_part)p);
        if (of_a <= 0 && of_b <= 0)
            continue;
        name.len = 0;
        text_add(&name, "of a job, %s", waterfall_part_name((enum waterfall_part)p));
        add_row(out, name.failed ? "" : name.data, of_a, of_b, "s");
    }
    text_add(out, "  bottleneck: %s (%.0f %%) -> %s (%.0f %%)\n\n",
             waterfall_bottleneck_name(a->verdict.bottleneck), 100 * a->verdict.confidence,
             waterfall_bottleneck_name(b->verdict.bottleneck), 100 * b->verdict.confidence);
    out->failed |= name.failed;
    text_free(&name);
}

size_t waterfall_render_compare(const struct waterfall_report *a, const char *run_a,
                                const struct waterfall_report *b, const char *run_b,
                                struct text *out)
{
    size_t pairs = 0;
    if (run_a && run_b) {
        const struct waterfall_run *x = find_run(a, run_a), *y = find_run(b, run_b);
        if (!x || !y)
            return 0;
        add_pair(out, x, y);
        return 1;
    }
    for (size_t i = 0; i < a->run_count; i++) {
        const struct waterfall_run *y = find_run(b, a->runs[i].label.data);
        if (!y)
            continue;
        add_pair(out, &a->runs[i], y);
        pairs++;
    }
    if (pairs == 0 && a->run_count && b->run_count) {
        add_pair(out, &a->runs[0], &b->runs[0]);
        pairs = 1;
    }
    return pairs;
}
