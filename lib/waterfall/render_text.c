/* The report for a terminal: verdict, devices, jobs, and a waterfall of letters. */
#include "waterfall/format.h"
#include "waterfall/style.h"

#include <string.h>

/* What a letter of the waterfall stands for, with its colour on a terminal. */
enum paint {
    PAINT_NONE,
    PAINT_BEFORE,
    PAINT_SYNTH,
    PAINT_WAIT,
    PAINT_DEVICE,
    PAINT_AFTER,
    PAINT_OPEN,
    PAINT_COUNT
};

static const char letters[PAINT_COUNT] = {' ', '.', 's', '-', '#', 'v', '?'};
static const char *const colours[PAINT_COUNT] = {"",         "\x1b[2m",  "\x1b[33m", "\x1b[35m",
                                                 "\x1b[36m", "\x1b[32m", "\x1b[31m"};

struct page {
    struct text *out;
    const struct waterfall_report *report;
    const struct waterfall_style *style;
    size_t width;
};

enum { WIDTH_DEFAULT = 80, WIDTH_MIN = 60, WIDTH_MAX = 400 };

static size_t page_width(const struct waterfall_style *style)
{
    size_t width = style->width ? style->width : WIDTH_DEFAULT;
    return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
}

/* Prints words, breaking lines at the page's width; continuation lines are indented. */
static void add_wrapped(const struct page *page, const char *words, size_t indent)
{
    size_t column = 0;
    for (const char *word = words; *word;) {
        size_t len = strcspn(word, " ");
        if (column && column + 1 + len > page->width) {
            text_add(page->out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column) {
            text_add(page->out, " ");
            column++;
        }
        for (size_t i = 0; i < len; i++)
            text_add_bytes(page->out, word[i] >= 0x20 && word[i] < 0x7f ? &word[i] : "?", 1);
        column += len;
        word += len;
        word += strspn(word, " ");
    }
    text_add(page->out, "\n");
}

/* A list of shares of a whole. Those below the least are given together, at the end. */
struct shares {
    struct text *line;
    int64_t whole, least, rest;
    const char *separator;
};

static void add_share(struct shares *shares, const char *name, int64_t part)
{
    if (part == 0 || part < shares->least) {
        shares->rest += part;
        return;
    }
    text_add(shares->line, "%s %s %.2f %%", shares->separator, name,
             format_share(part, shares->whole));
    shares->separator = ",";
}

static void add_share_of_rest(struct shares *shares)
{
    if (shares->rest)
        text_add(shares->line, "%s others %.2f %%", shares->separator,
                 format_share(shares->rest, shares->whole));
}

static void add_device(const struct page *page, const struct waterfall_run *run,
                       const struct waterfall_device *device)
{
    struct text line = {0};
    int64_t time = run->end_us - run->start_us;
    text_add(&line, "device %d  busy %.1f %% (%.2f s)", device->id,
             format_share(device->busy_us, time), format_seconds(device->busy_us));
    if (device->phases_us >= 0)
        text_add(&line, ", in its phases %.1f %%", format_share(device->phases_us, time));
    if (device->spans_us > device->busy_us)
        text_add(&line, ", spans overlap %.2f-fold",
                 (double)device->spans_us / (double)device->busy_us);
    text_add(&line, ", idle %.2f %%", format_share(device->idle_us, time));
    struct shares shares = {
        .line = &line, .whole = time, .least = device->idle_us / 50, .separator = ":"};
    for (unsigned c = 0; c < WATERFALL_CAUSE_COUNT; c++)
        add_share(&shares, waterfall_cause_name((enum waterfall_cause)c),
                  device->idle_by_cause_us[c]);
    add_share_of_rest(&shares);
    if (!line.failed)
        add_wrapped(page, line.data, 10);
    page->out->failed |= line.failed;
    text_free(&line);
}

/* The longest idle stretches of all devices, which are what a reader looks for in the log. */
static void add_longest_idle(const struct page *page, const struct waterfall_run *run)
{
    enum { SHOWN = 5 };
    struct {
        const struct waterfall_stretch *stretch;
        int32_t device;
    } longest[SHOWN] = {{NULL, 0}};
    size_t count = 0;
    for (size_t d = 0; d < run->device_count; d++)
        for (size_t i = 0; i < run->devices[d].stretch_count; i++) {
            const struct waterfall_stretch *s = &run->devices[d].stretches[i];
            if (s->cause == WATERFALL_CAUSE_COUNT)
                continue;
            count++;
            size_t at = SHOWN;
            while (at > 0 && (!longest[at - 1].stretch ||
                              longest[at - 1].stretch->end_us - longest[at - 1].stretch->start_us <
                                  s->end_us - s->start_us))
                at--;
            if (at == SHOWN)
                continue;
            for (size_t k = SHOWN - 1; k > at; k--)
                longest[k] = longest[k - 1];
            longest[at].stretch = s;
            longest[at].device = run->devices[d].id;
        }
    if (count == 0)
        return;
    text_add(page->out, "\nLongest of %zu idle stretches\n", count);
    for (size_t i = 0; i < SHOWN && longest[i].stretch; i++) {
        const struct waterfall_stretch *s = longest[i].stretch;
        text_add(page->out, "  device %d  %10.3f - %10.3f s  %8.3f s  %s\n", longest[i].device,
                 format_seconds(s->start_us), format_seconds(s->end_us),
                 format_seconds(s->end_us - s->start_us), waterfall_cause_name(s->cause));
    }
}

static void add_distribution(const struct page *page, const char *name,
                             const struct waterfall_distribution *d)
{
    if (d->count)
        text_add(page->out, "%-10s %6zu %9.3f %9.3f %9.3f %9.3f %9.3f %9.3f\n", name, d->count,
                 format_seconds(d->min), format_seconds(d->mean), format_seconds(d->p50),
                 format_seconds(d->p90), format_seconds(d->p95), format_seconds(d->max));
}

static void add_parts(const struct page *page, const char *name, const int64_t *parts,
                      int64_t nothing_us)
{
    struct text line = {0};
    int64_t whole = nothing_us;
    for (unsigned p = 0; p < WATERFALL_PART_COUNT; p++)
        whole += parts[p];
    if (whole == 0)
        return;
    text_add(&line, "%s", name);
    struct shares shares = {.line = &line, .whole = whole, .least = whole / 1000, .separator = ":"};
    for (unsigned p = 0; p < WATERFALL_PART_COUNT; p++)
        add_share(&shares, waterfall_part_name((enum waterfall_part)p), parts[p]);
    add_share(&shares, "nothing submitted", nothing_us);
    add_share_of_rest(&shares);
    if (!line.failed)
        add_wrapped(page, line.data, 10);
    page->out->failed |= line.failed;
    text_free(&line);
}

static void add_summary(const struct page *page, const struct waterfall_run *run)
{
    double time = format_seconds(run->end_us - run->start_us);
    text_add(page->out, "\n");
    for (size_t d = 0; d < run->device_count; d++)
        add_device(page, run, &run->devices[d]);
    add_parts(page, "job time", run->split_us, 0);
    add_parts(page, "critical path", run->path_us, run->path_nothing_us);
    text_add(page->out, "\nseconds     count       min      mean       p50       p90       p95"
                        "       max\n");
    add_distribution(page, "job wall", &run->wall);
    add_distribution(page, "synthesis", &run->synth);
    add_distribution(page, "channel", &run->channel);
    add_distribution(page, "device", &run->device);
    text_add(page->out,
             "at once     jobs %.2f (max %u), synthesis %.2f (max %u), ready %.2f "
             "(max %u)\n",
             run->jobs_level.mean, run->jobs_level.max, run->synth_level.mean, run->synth_level.max,
             run->ready_level.mean, run->ready_level.max);
    text_add(page->out, "throughput  %.3f proofs/min; Little's law: L %.2f, rate x wall %.2f\n",
             time > 0 ? 60 * (double)run->complete / time : 0, run->little_l, run->little_lambda_w);
    add_longest_idle(page, run);
}

/* --- The waterfall ---------------------------------------------------------------------------- */

enum { LABEL_COLUMNS = 15 };

struct lane {
    char paints[WIDTH_MAX];
    size_t columns;
    int64_t start_us, end_us;
};

static size_t column_of(const struct lane *lane, int64_t time_us)
{
    if (time_us <= lane->start_us)
        return 0;
    double at = (double)(time_us - lane->start_us) / (double)(lane->end_us - lane->start_us);
    size_t column = (size_t)(at * (double)lane->columns);
    return column < lane->columns ? column : lane->columns - 1;
}

/* Later paint covers earlier paint; a span shows in at least one column. */
static void paint_span(struct lane *lane, int64_t start_us, int64_t end_us, enum paint with)
{
    if (start_us < 0 || end_us < start_us)
        return;
    size_t to = column_of(lane, end_us);
    for (size_t i = column_of(lane, start_us); i <= to; i++)
        lane->paints[i] = (char)with;
}

static void add_lane(const struct page *page, const struct lane *lane)
{
    enum paint last = PAINT_NONE;
    for (size_t i = 0; i < lane->columns; i++) {
        enum paint now = (enum paint)lane->paints[i];
        if (page->style->colour && now != last)
            text_add(page->out, "\x1b[0m%s", colours[now]);
        text_add_bytes(page->out, &letters[now], 1);
        last = now;
    }
    text_add(page->out, page->style->colour ? "\x1b[0m|\n" : "|\n");
}

/* Open-ended spans run to the job's last moment as '?'. */
static void paint_partition(struct lane *lane, const struct waterfall_partition *p,
                            const struct waterfall_job *job)
{
    static const enum paint with[WATERFALL_STAGE_COUNT - 1] = {PAINT_SYNTH, PAINT_WAIT, PAINT_WAIT,
                                                               PAINT_WAIT, PAINT_DEVICE};
    const int64_t *stages = p->stage_us;
    for (size_t s = 0; s < WATERFALL_STAGE_COUNT - 1; s++) {
        size_t next = s + 1;
        while (next < WATERFALL_STAGE_COUNT && stages[next] < 0)
            next++;
        if (stages[s] < 0)
            continue;
        if (next == WATERFALL_STAGE_COUNT)
            paint_span(lane, stages[s], job->end_us, PAINT_OPEN);
        else
            paint_span(lane, stages[s], stages[next], next == s + 1 ? with[s] : PAINT_OPEN);
    }
    if (p->synth_start_us < 0)
        paint_span(lane, job->start_us, job->start_us, PAINT_OPEN);
}

static void add_job_lanes(const struct page *page, const struct waterfall_run *run,
                          const struct waterfall_job *job, size_t index)
{
    const struct waterfall_report *report = page->report;
    struct lane lane = {.columns = page->width - LABEL_COLUMNS - 2,
                        .start_us = run->start_us,
                        .end_us = run->end_us};
    bool alone = job->partition_count <= 1;
    struct text label = {0};
    format_plain(&label, job->label, LABEL_COLUMNS);
    text_add(page->out, "%-*s|", LABEL_COLUMNS, label.data ? label.data : "");
    page->out->failed |= label.failed;
    text_free(&label);
    paint_span(&lane, job->start_us, job->end_us, PAINT_BEFORE);
    for (size_t i = report->job_intervals[index]; i < report->job_intervals[index + 1]; i++) {
        const struct waterfall_interval *interval = &report->intervals[i];
        if (interval->span == TRACE_SPAN_VERIFY || interval->span == TRACE_SPAN_FINISH)
            paint_span(&lane, interval->start_us, interval->end_us, PAINT_AFTER);
    }
    if (alone && job->partition_count)
        paint_partition(&lane, &report->partitions[job->partitions], job);
    add_lane(page, &lane);
    for (size_t i = 0; i < job->partition_count && !alone; i++) {
        const struct waterfall_partition *p = &report->partitions[job->partitions + i];
        memset(lane.paints, PAINT_NONE, sizeof lane.paints);
        paint_partition(&lane, p, job);
        text_add(page->out, "  p%-5d %5.5s |", p->index,
                 !p->complete ? "open"
                 : p->attempt ? "again"
                              : "");
        add_lane(page, &lane);
    }
}

static void add_job_row(const struct page *page, const struct waterfall_job *job)
{
    const int64_t *split = job->split_us;
    int64_t synth = split[WATERFALL_PART_SYNTH] + split[WATERFALL_PART_CHECK];
    int64_t device = split[WATERFALL_PART_DEVICE];
    int64_t before = split[WATERFALL_PART_RECEIVE] + split[WATERFALL_PART_JOURNAL] +
                     split[WATERFALL_PART_QUEUE] + split[WATERFALL_PART_PARSE];
    int64_t waits = split[WATERFALL_PART_WORKER] + split[WATERFALL_PART_BUDGET] +
                    split[WATERFALL_PART_LOOKAHEAD] + split[WATERFALL_PART_CHANNEL] +
                    split[WATERFALL_PART_SRS] + split[WATERFALL_PART_LOCK];
    int64_t after =
        split[WATERFALL_PART_FINISH] + split[WATERFALL_PART_VERIFY] + split[WATERFALL_PART_REPLY];
    struct text label = {0};
    format_plain(&label, job->label, 20);
    text_add(page->out, "%-20s %8.3f %8.3f %8.3f %8.3f %8.3f %6.3f %4zu%s\n",
             label.data ? label.data : "", format_seconds(job->end_us - job->start_us),
             format_seconds(before), format_seconds(waits), format_seconds(synth),
             format_seconds(device), format_seconds(after), job->partition_count,
             job->complete ? "" : " !");
    page->out->failed |= label.failed;
    text_free(&label);
}

static void add_partition_rows(const struct page *page, const struct waterfall_job *job)
{
    for (size_t i = 0; i < job->partition_count; i++) {
        const struct waterfall_partition *p = &page->report->partitions[job->partitions + i];
        const int64_t times[] = {waterfall_time_between(p->synth_start_us, p->synth_end_us),
                                 waterfall_time_between(p->synth_end_us, p->gpu_start_us),
                                 waterfall_time_between(p->gpu_start_us, p->gpu_end_us)};
        text_add(page->out, "  p%-5d", p->index);
        for (size_t t = 0; t < 3; t++) {
            static const char *const names[] = {"synthesis", "wait", "device"};
            if (times[t] >= 0)
                text_add(page->out, "  %s %8.3f", names[t], format_seconds(times[t]));
            else
                text_add(page->out, "  %s        ?", names[t]);
        }
        text_add(page->out, "%s%s\n", p->attempt ? "  again" : "",
                 p->complete ? "" : "  incomplete");
    }
}

/* For a job that was asked for: its own time, and what its waits were waits for. */
static void add_job_paths(const struct page *page, const struct waterfall_job *job)
{
    add_parts(page, "  its time", job->split_us, 0);
    add_parts(page, "  its critical path", job->path_us, 0);
    text_add(page->out, "  of the path, other jobs' work: %.3f s\n",
             format_seconds(job->path_others_us));
}

static void add_jobs(const struct page *page, const struct waterfall_run *run)
{
    size_t wanted = style_count_jobs(page->report, page->style, run);
    size_t most = style_jobs_max(page->style), shown = 0;
    if (wanted == 0)
        return;
    text_add(page->out, "\n%-20s %8s %8s %8s %8s %8s %6s %4s\n", "job (seconds)", "wall", "before",
             "waiting", "synth", "device", "after", "part");
    for (size_t j = run->jobs; j < run->jobs + run->job_count && shown < most; j++) {
        if (!style_wants_job(page->style, &page->report->jobs[j]))
            continue;
        add_job_row(page, &page->report->jobs[j]);
        add_partition_rows(page, &page->report->jobs[j]);
        if (page->style->job)
            add_job_paths(page, &page->report->jobs[j]);
        shown++;
    }
    text_add(page->out, "\n%-*s|%-12.3f%*.3f|\n", LABEL_COLUMNS, "waterfall (s)",
             format_seconds(run->start_us), (int)page->width - LABEL_COLUMNS - 14,
             format_seconds(run->end_us));
    shown = 0;
    for (size_t j = run->jobs; j < run->jobs + run->job_count && shown < most; j++) {
        if (!style_wants_job(page->style, &page->report->jobs[j]))
            continue;
        add_job_lanes(page, run, &page->report->jobs[j], j);
        shown++;
    }
    text_add(page->out, "s synthesis  - waiting  # device  v verify  . job there  ? open-ended\n");
    if (shown < wanted)
        text_add(page->out, "%zu of %zu jobs are shown; --jobs N shows more, --job ID one\n", shown,
                 wanted);
}

static void add_run(const struct page *page, const struct waterfall_run *run)
{
    struct text line = {0};
    text_add(page->out, "Run ");
    format_plain(page->out, run->label.data, 40);
    text_add(page->out, ": %.3f s, %zu job%s, %zu complete, %zu incomplete%s\n",
             format_seconds(run->end_us - run->start_us), run->job_count,
             run->job_count == 1 ? "" : "s", run->complete, run->incomplete,
             run->open ? ", not ended" : "");
    text_add(&line, "%s Confidence: %s (%.0f %%).", run->verdict.text.data,
             format_confidence(run->verdict.confidence), 100 * run->verdict.confidence);
    if (!line.failed)
        add_wrapped(page, line.data, 0);
    page->out->failed |= line.failed;
    text_free(&line);
    add_summary(page, run);
    add_jobs(page, run);
    text_add(page->out, "\n");
}

static void add_incomplete(const struct page *page)
{
    const struct waterfall_report *report = page->report;
    enum { SHOWN = 20 };
    size_t shown = 0, count = 0;
    for (size_t i = 0; i < report->job_count; i++) {
        const struct waterfall_job *job = &report->jobs[i];
        if (job->complete || count++ >= SHOWN)
            continue;
        text_add(page->out, shown++ ? "  " : "Incomplete jobs\n  ");
        format_plain(page->out, job->label, 36);
        text_add(page->out, " (%s, %zu partition%s)\n", format_outcome(job), job->partition_count,
                 job->partition_count == 1 ? "" : "s");
    }
    if (count > shown)
        text_add(page->out, "  and %zu more\n", count - shown);
    for (size_t i = 0; i < report->unpaired_count && i < SHOWN; i++) {
        const struct waterfall_unpaired *u = &report->unpaired[i];
        text_add(page->out, "%s  %-20s %12.3f s  ", i ? "" : "Events without partner\n",
                 trace_kind_name((enum trace_kind)u->kind), format_seconds(u->time_us));
        format_plain(page->out, u->job == WATERFALL_NO_JOB ? "-" : report->jobs[u->job].label, 24);
        text_add(page->out, u->partition >= 0 ? " p%d\n" : "\n", u->partition);
    }
    if (report->unpaired_count > SHOWN)
        text_add(page->out, "  and %zu more\n", report->unpaired_count - SHOWN);
}

static void add_skipped(const struct page *page)
{
    const struct waterfall_log *log = page->report->log;
    enum { SHOWN = 10 };
    for (size_t i = 0; i < log->lines_skipped && i < SHOWN; i++) {
        text_add(page->out, "%s  line %llu: %s: ", i ? "" : "Skipped lines\n",
                 (unsigned long long)log->skipped[i].line, log->skipped[i].why);
        format_plain(page->out, log->skipped[i].start, 28);
        text_add(page->out, "\n");
    }
    if (log->lines_skipped > SHOWN)
        text_add(page->out, "  and %llu more\n", (unsigned long long)(log->lines_skipped - SHOWN));
}

void waterfall_render_text(const struct waterfall_report *report,
                           const struct waterfall_style *style, struct text *out)
{
    struct page page = {out, report, style, page_width(style)};
    for (size_t i = 0; i < report->run_count; i++)
        if (style_wants_run(style, &report->runs[i]))
            add_run(&page, &report->runs[i]);
    add_incomplete(&page);
    add_skipped(&page);
    for (size_t i = 0; i < report->warning_count; i++)
        text_add(out, "warning: %s\n", report->warnings[i].data);
    text_add(out, "%llu lines, %llu of them TIMELINE, %llu skipped\n",
             (unsigned long long)report->log->lines_total,
             (unsigned long long)report->log->lines_timeline,
             (unsigned long long)report->log->lines_skipped);
}
