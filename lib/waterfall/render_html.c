/* The report as one HTML page that needs nothing else: verdict, figures, an SVG waterfall per run,
   and the same data as tables for those who do not see the picture. Every rectangle of the picture
   is in milliseconds since the run's start, so zooming only changes the viewBox. */
#include "waterfall/format.h"
#include "waterfall/style.h"

#include "base/check.h"
#include "waterfall/html_assets.h"

#include <string.h>

enum { LANE_HEIGHT = 14, DEVICE_HEIGHT = 24, LANES_MAX = 6000 };

struct page {
    struct text *out;
    const struct waterfall_report *report;
    const struct waterfall_style *style;
};

static double in_ms(int64_t time_us)
{
    return (double)time_us / 1000;
}

static void add_lines(struct text *out, const char *const *lines)
{
    for (; *lines; lines++)
        text_add(out, "%s\n", *lines);
}

static void add_head(const struct page *page)
{
    const struct waterfall_log *log = page->report->log;
    text_add(page->out,
             "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
             "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
             "<link rel=\"icon\" href=\"data:,\">\n<title>cuzk waterfall</title>\n<style>\n");
    add_lines(page->out, html_style);
    text_add(page->out, "</style>\n</head>\n<body>\n<header><h1>cuzk waterfall</h1>\n<p>");
    if (log->from_log)
        text_add(page->out, "%llu lines, %llu of them TIMELINE, %llu skipped",
                 (unsigned long long)log->lines_total, (unsigned long long)log->lines_timeline,
                 (unsigned long long)log->lines_skipped);
    else
        text_add(page->out, "the latest %llu events", (unsigned long long)log->lines_timeline);
    text_add(page->out,
             "</p>\n<button type=\"button\" id=\"theme\">Light or dark</button>\n%s"
             "</header>\n",
             page->style->live ? "<button type=\"button\" id=\"reload\" aria-pressed=\"false\">"
                                 "Reload every 5 s</button>\n"
                               : "");
}

static void add_legend_item(struct text *out, const char *class, const char *words)
{
    text_add(out,
             "<li><svg aria-hidden=\"true\"><rect class=\"%s\" width=\"14\" height=\"14\"/>"
             "</svg>%s</li>\n",
             class, words);
}

static void add_legend(struct text *out, const struct waterfall_run *run)
{
    text_add(out, "<ul class=\"legend\" aria-label=\"Colours of the work\">\n");
    add_legend_item(out, "c-before", "there, before or between");
    add_legend_item(out, "c-synth", "synthesis");
    add_legend_item(out, "c-wait", "waiting for the device");
    add_legend_item(out, "c-device", "device");
    add_legend_item(out, "c-after", "finish, verification, reply");
    add_legend_item(out, "c-open", "open-ended: an event is missing");
    text_add(out,
             "</ul>\n<ul class=\"legend\" aria-label=\"Colours of the devices' idle time\">\n");
    for (unsigned c = 0; c < WATERFALL_CAUSE_COUNT; c++) {
        int64_t time = 0;
        for (size_t d = 0; d < run->device_count; d++)
            time += run->devices[d].idle_by_cause_us[c];
        if (time == 0)
            continue;
        text_add(out,
                 "<li><svg aria-hidden=\"true\"><rect class=\"i-%s\" width=\"14\" "
                 "height=\"14\"/></svg>idle: %s</li>\n",
                 waterfall_cause_name((enum waterfall_cause)c),
                 waterfall_cause_words((enum waterfall_cause)c));
    }
    text_add(out, "</ul>\n");
}

/* --- The picture ------------------------------------------------------------------------------ */

/* A rectangle from start to end in the lane at y; `words` replaces the class's name in its text. */
static void add_rect(struct text *out, const struct waterfall_run *run, const char *class,
                     int64_t start_us, int64_t end_us, unsigned y, unsigned height,
                     const char *words)
{
    if (start_us < 0 || end_us < start_us)
        return;
    text_add(out, "<rect class=\"%s\" x=\"%.3f\" y=\"%u\" width=\"%.3f\" height=\"%u\"", class,
             in_ms(start_us - run->start_us), y, in_ms(end_us - start_us), height);
    if (words)
        text_add(out, " data-w=\"%s\"", words);
    text_add(out, "/>");
}

static void open_lane(struct text *out, const char *name, int32_t partition)
{
    text_add(out, "<g data-n=\"");
    format_html(out, name);
    if (partition != WATERFALL_NONE)
        text_add(out, " p%d", partition);
    text_add(out, "\">");
}

static void add_device_lane(struct text *out, const struct waterfall_run *run,
                            const struct waterfall_device *device, unsigned y)
{
    text_add(out, "<g data-n=\"device %d\">", device->id);
    for (size_t i = 0; i < device->stretch_count; i++) {
        const struct waterfall_stretch *stretch = &device->stretches[i];
        if (stretch->cause == WATERFALL_CAUSE_COUNT) {
            add_rect(out, run, "c-device", stretch->start_us, stretch->end_us, y + 2,
                     DEVICE_HEIGHT - 4, "busy");
            continue;
        }
        char class[48] = "i-";
        strncat(class, waterfall_cause_name(stretch->cause), sizeof class - 3);
        add_rect(out, run, class, stretch->start_us, stretch->end_us, y + 7, DEVICE_HEIGHT - 14,
                 waterfall_cause_words(stretch->cause));
    }
    text_add(out, "</g>\n");
}

static void add_partition_lane(struct text *out, const struct waterfall_run *run,
                               const struct waterfall_job *job, const struct waterfall_partition *p,
                               unsigned y)
{
    static const struct {
        const char *class, *words;
    } looks[WATERFALL_STAGE_COUNT - 1] = {{"c-synth", "synthesis"},
                                          {"c-wait", "waiting for room in the channel"},
                                          {"c-wait", "waiting for a device worker"},
                                          {"c-wait", "waiting for the device"},
                                          {"c-device", "device"}};
    open_lane(out, job->label, p->index);
    for (unsigned s = 0; s < WATERFALL_STAGE_COUNT - 1; s++) {
        int64_t start = p->stage_us[s], end = WATERFALL_NONE;
        unsigned next = s + 1;
        while (next < WATERFALL_STAGE_COUNT && (end = p->stage_us[next]) < 0)
            next++;
        if (start < 0 || end == start)
            continue;
        bool open = next != s + 1;
        add_rect(out, run, open ? "c-open" : looks[s].class, start, end < 0 ? job->end_us : end,
                 y + 1, LANE_HEIGHT - 2, open ? "open-ended: an event is missing" : looks[s].words);
    }
    text_add(out, "</g>\n");
}

static void add_job_lane(const struct page *page, const struct waterfall_run *run, size_t index,
                         unsigned y)
{
    const struct waterfall_report *report = page->report;
    const struct waterfall_job *job = &report->jobs[index];
    open_lane(page->out, job->label, WATERFALL_NONE);
    add_rect(page->out, run, "c-before", job->start_us, job->end_us, y + 4, LANE_HEIGHT - 8,
             format_outcome(job));
    for (size_t i = report->job_intervals[index]; i < report->job_intervals[index + 1]; i++) {
        const struct waterfall_interval *interval = &report->intervals[i];
        const char *words = NULL;
        switch (interval->span) {
        case TRACE_SPAN_FINISH:
            words = "finishing";
            break;
        case TRACE_SPAN_VERIFY:
            words = "verification";
            break;
        case TRACE_SPAN_REPLY:
            words = "reply";
            break;
        default:
            continue;
        }
        add_rect(page->out, run, "c-after", interval->start_us, interval->end_us, y + 4,
                 LANE_HEIGHT - 8, words);
    }
    text_add(page->out, "</g>\n");
}

/* Which jobs are drawn, so that names and lanes agree. */
static bool is_drawn(const struct page *page, size_t job, size_t *drawn, size_t *lanes)
{
    const struct waterfall_job *of = &page->report->jobs[job];
    if (!style_wants_job(page->style, of) || *drawn >= style_jobs_max(page->style) ||
        *lanes + of->partition_count + 1 > LANES_MAX)
        return false;
    (*drawn)++;
    *lanes += of->partition_count + 1;
    return true;
}

static void add_names(const struct page *page, const struct waterfall_run *run)
{
    struct text *out = page->out;
    size_t drawn = 0, lanes = 0;
    text_add(out, "<div class=\"names\" aria-hidden=\"true\">\n");
    for (size_t d = 0; d < run->device_count; d++)
        text_add(out, "<div class=\"dev\">device %d</div>\n", run->devices[d].id);
    for (size_t j = run->jobs; j < run->jobs + run->job_count; j++) {
        const struct waterfall_job *job = &page->report->jobs[j];
        if (!is_drawn(page, j, &drawn, &lanes))
            continue;
        text_add(out, "<div class=\"job\" title=\"");
        format_html(out, job->label);
        text_add(out, "\">%s", job->complete ? "" : "! ");
        format_html(out, job->label);
        text_add(out, "</div>\n");
        for (size_t i = 0; i < job->partition_count; i++) {
            const struct waterfall_partition *p = &page->report->partitions[job->partitions + i];
            if (p->index == WATERFALL_NONE)
                text_add(out, "<div>whole</div>\n");
            else
                text_add(out, "<div>p%d%s</div>\n", p->index, p->attempt ? ", again" : "");
        }
    }
    text_add(out, "</div>\n");
}

static void add_lanes(const struct page *page, const struct waterfall_run *run)
{
    size_t drawn = 0, lanes = 0;
    unsigned y = 0;
    for (size_t d = 0; d < run->device_count; d++, y += DEVICE_HEIGHT)
        add_device_lane(page->out, run, &run->devices[d], y);
    for (size_t j = run->jobs; j < run->jobs + run->job_count; j++) {
        const struct waterfall_job *job = &page->report->jobs[j];
        if (!is_drawn(page, j, &drawn, &lanes))
            continue;
        add_job_lane(page, run, j, y);
        y += LANE_HEIGHT;
        for (size_t i = 0; i < job->partition_count; i++, y += LANE_HEIGHT)
            add_partition_lane(page->out, run, job, &page->report->partitions[job->partitions + i],
                               y);
    }
}

static void add_chart(const struct page *page, const struct waterfall_run *run, size_t index)
{
    struct text *out = page->out;
    size_t drawn = 0, lanes = 0;
    for (size_t j = run->jobs; j < run->jobs + run->job_count; j++)
        is_drawn(page, j, &drawn, &lanes);
    size_t height = run->device_count * DEVICE_HEIGHT + lanes * LANE_HEIGHT;
    double total = in_ms(run->end_us - run->start_us);
    add_legend(out, run);
    text_add(
        out,
        "<div class=\"tools\"><button type=\"button\" data-do=\"in\">Zoom in</button>"
        "<button type=\"button\" data-do=\"out\">Zoom out</button>"
        "<button type=\"button\" data-do=\"left\">Earlier</button>"
        "<button type=\"button\" data-do=\"right\">Later</button>"
        "<button type=\"button\" data-do=\"all\">Whole run</button>"
        "<span id=\"keys-%zu\">In the picture: + and - zoom, arrows move, n and p step through "
        "the spans and read them out, 0 shows all; drag moves, Ctrl and wheel zoom.</span>"
        "</div>\n<div class=\"chart\">\n",
        index);
    add_names(page, run);
    text_add(out,
             "<svg class=\"plot\" role=\"application\" tabindex=\"0\" aria-label=\"Waterfall of "
             "this run: devices, then jobs with their partitions; the tables below say the same\" "
             "aria-describedby=\"keys-%zu\" height=\"%zu\" viewBox=\"0 0 %.3f %zu\" "
             "preserveAspectRatio=\"none\" data-start=\"%.3f\" data-total=\"%.3f\">\n",
             index, height, total, height, in_ms(run->start_us), total);
    add_lanes(page, run);
    text_add(out,
             "</svg>\n<div class=\"axis\" aria-hidden=\"true\"><span>%.3f s</span>"
             "<span>%.3f s</span></div>\n</div>\n",
             format_seconds(run->start_us), format_seconds(run->end_us));
    size_t wanted = style_count_jobs(page->report, page->style, run);
    if (drawn < wanted)
        text_add(out, "<p>The picture shows %zu of %zu jobs (--jobs N for more).</p>\n", drawn,
                 wanted);
}

/* --- How many at once ------------------------------------------------------------------------- */

enum { BINS = 240 };

struct levels {
    int32_t jobs[BINS + 1], synth[BINS + 1], ready[BINS + 1], device[BINS + 1];
};

/* The first bin whose middle is not before a moment. */
static size_t bin_of(const struct waterfall_run *run, int64_t time_us)
{
    double at = (double)(time_us - run->start_us) / (double)(run->end_us - run->start_us);
    double bin = at * BINS + 0.5;
    return bin <= 0 ? 0 : bin >= BINS ? BINS : (size_t)bin;
}

static void add_level(int32_t *levels, const struct waterfall_run *run, int64_t start_us,
                      int64_t end_us)
{
    if (start_us < 0 || end_us < start_us)
        return;
    levels[bin_of(run, start_us)]++;
    levels[bin_of(run, end_us)]--;
}

static void add_level_line(struct text *out, const char *class, const int32_t *levels, int32_t top)
{
    int32_t now = 0;
    text_add(out, "<polyline class=\"%s\" points=\"", class);
    for (size_t i = 0; i < BINS; i++) {
        now += levels[i];
        text_add(out, "%zu,%.1f ", i, 98 - 96 * (double)now / (double)top);
    }
    text_add(out, "\"/>\n");
}

static void add_levels(const struct page *page, const struct waterfall_run *run)
{
    struct levels levels = {{0}, {0}, {0}, {0}};
    for (size_t j = run->jobs; j < run->jobs + run->job_count; j++) {
        const struct waterfall_job *job = &page->report->jobs[j];
        add_level(levels.jobs, run, job->start_us, job->end_us);
        for (size_t i = 0; i < job->partition_count; i++) {
            const struct waterfall_partition *p = &page->report->partitions[job->partitions + i];
            add_level(levels.synth, run, p->synth_start_us, p->synth_end_us);
            add_level(levels.ready, run, p->sent_us, p->picked_us);
            add_level(levels.device, run, p->gpu_start_us, p->gpu_end_us);
        }
    }
    uint32_t top = run->jobs_level.max;
    top = run->synth_level.max > top ? run->synth_level.max : top;
    top = run->ready_level.max > top ? run->ready_level.max : top;
    top = run->device_level.max > top ? run->device_level.max : top;
    text_add(
        page->out,
        "<h3>How many at once</h3>\n<p>On average %.2f jobs (black, dashed; at most %u), %.2f "
        "syntheses (orange; at most %u), %.2f partitions ready for the device (grey, dotted; "
        "at most %u), %.2f on devices (blue). The picture reaches from 0 to %u.</p>\n"
        "<svg class=\"levels\" role=\"img\" aria-label=\"Jobs, syntheses, ready partitions and "
        "device use over time\" viewBox=\"0 0 %d 100\" preserveAspectRatio=\"none\">\n",
        run->jobs_level.mean, run->jobs_level.max, run->synth_level.mean, run->synth_level.max,
        run->ready_level.mean, run->ready_level.max, run->device_level.mean, top, BINS - 1);
    if (top > 0) {
        add_level_line(page->out, "l-jobs", levels.jobs, (int32_t)top);
        add_level_line(page->out, "l-synth", levels.synth, (int32_t)top);
        add_level_line(page->out, "l-ready", levels.ready, (int32_t)top);
        add_level_line(page->out, "l-device", levels.device, (int32_t)top);
    }
    text_add(page->out, "</svg>\n");
}

/* --- Tables ----------------------------------------------------------------------------------- */

static void add_device_table(struct text *out, const struct waterfall_run *run)
{
    int64_t time = run->end_us - run->start_us;
    text_add(out, "<h3>Devices</h3>\n<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">"
                  "device</th><th scope=\"col\">busy</th><th scope=\"col\">in its phases</th>"
                  "<th scope=\"col\">idle</th><th scope=\"col\" class=\"words\">idle "
                  "because</th></tr></thead>\n"
                  "<tbody>\n");
    for (size_t d = 0; d < run->device_count; d++) {
        const struct waterfall_device *device = &run->devices[d];
        text_add(out, "<tr><th scope=\"row\">%d</th><td>%.1f %%</td><td>", device->id,
                 format_share(device->busy_us, time));
        if (device->phases_us >= 0)
            text_add(out, "%.1f %%", format_share(device->phases_us, time));
        else
            text_add(out, "not in the log");
        text_add(out, "</td><td>%.1f %%</td><td class=\"words\">",
                 format_share(device->idle_us, time));
        for (unsigned c = 0; c < WATERFALL_CAUSE_COUNT; c++)
            if (device->idle_by_cause_us[c])
                text_add(out, "%s: %.2f %% (%.3f s)<br>",
                         waterfall_cause_words((enum waterfall_cause)c),
                         format_share(device->idle_by_cause_us[c], time),
                         format_seconds(device->idle_by_cause_us[c]));
        text_add(out, "</td></tr>\n");
    }
    text_add(out, "</tbody></table></div>\n");
}

static void add_duration_row(struct text *out, const char *name,
                             const struct waterfall_distribution *d)
{
    if (d->count)
        text_add(out,
                 "<tr><th scope=\"row\">%s</th><td>%zu</td><td>%.3f</td><td>%.3f</td>"
                 "<td>%.3f</td><td>%.3f</td><td>%.3f</td><td>%.3f</td></tr>\n",
                 name, d->count, format_seconds(d->min), format_seconds(d->mean),
                 format_seconds(d->p50), format_seconds(d->p90), format_seconds(d->p95),
                 format_seconds(d->max));
}

static void add_duration_table(struct text *out, const struct waterfall_run *run)
{
    double time = format_seconds(run->end_us - run->start_us);
    text_add(out, "<h3>Durations in seconds</h3>\n<div class=\"scroll\"><table>\n<thead><tr>"
                  "<th scope=\"col\">of</th><th scope=\"col\">count</th><th scope=\"col\">min</th>"
                  "<th scope=\"col\">mean</th><th scope=\"col\">p50</th><th scope=\"col\">p90</th>"
                  "<th scope=\"col\">p95</th><th scope=\"col\">max</th></tr></thead>\n<tbody>\n");
    add_duration_row(out, "job, wall", &run->wall);
    add_duration_row(out, "partition, synthesis", &run->synth);
    add_duration_row(out, "partition, waiting for a device worker", &run->channel);
    add_duration_row(out, "partition, device", &run->device);
    text_add(out,
             "</tbody></table></div>\n<p>Throughput %.3f proofs a minute. Little's law: %.2f "
             "jobs there on average, rate times wall time %.2f.</p>\n",
             time > 0 ? 60 * (double)run->complete / time : 0, run->little_l, run->little_lambda_w);
}

static void add_path(struct text *out, const struct waterfall_run *run)
{
    int64_t time = run->end_us - run->start_us;
    text_add(out, "<h3>Critical path</h3>\n<p>What the run's end waited for, step by step:");
    for (unsigned p = 0; p < WATERFALL_PART_COUNT; p++)
        if (run->path_us[p])
            text_add(out, " %s %.1f %%;", waterfall_part_words((enum waterfall_part)p),
                     format_share(run->path_us[p], time));
    text_add(out, " nothing submitted %.1f %%.</p>\n", format_share(run->path_nothing_us, time));
}

static void add_partition_cells(struct text *out, const struct waterfall_partition *p)
{
    const int64_t times[] = {waterfall_time_between(p->synth_start_us, p->synth_end_us),
                             waterfall_time_between(p->synth_end_us, p->gpu_start_us),
                             waterfall_time_between(p->gpu_start_us, p->gpu_end_us)};
    for (size_t i = 0; i < ARRAY_LEN(times); i++)
        if (times[i] >= 0)
            text_add(out, "<td>%.3f</td>", format_seconds(times[i]));
        else
            text_add(out, "<td>missing</td>");
}

static void add_job_table(const struct page *page, const struct waterfall_run *run)
{
    struct text *out = page->out;
    size_t drawn = 0, lanes = 0;
    text_add(out,
             "<details><summary>Jobs and partitions as a table (seconds)</summary>\n"
             "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">job</th>"
             "<th scope=\"col\">partition</th><th scope=\"col\">outcome</th>"
             "<th scope=\"col\">wall</th><th scope=\"col\">synthesis</th>"
             "<th scope=\"col\">wait</th><th scope=\"col\">device</th></tr></thead>\n<tbody>\n");
    for (size_t j = run->jobs; j < run->jobs + run->job_count; j++) {
        const struct waterfall_job *job = &page->report->jobs[j];
        if (!is_drawn(page, j, &drawn, &lanes))
            continue;
        text_add(out, "<tr><th scope=\"row\">");
        format_html(out, job->label);
        text_add(out, "</th><td>all</td><td>%s</td><td>%.3f</td><td></td><td></td><td></td></tr>\n",
                 format_outcome(job), format_seconds(job->end_us - job->start_us));
        for (size_t i = 0; i < job->partition_count; i++) {
            const struct waterfall_partition *p = &page->report->partitions[job->partitions + i];
            text_add(out, "<tr><td></td><td>%d</td><td>%s</td><td></td>", p->index,
                     p->complete ? "complete" : "incomplete");
            add_partition_cells(out, p);
            text_add(out, "</tr>\n");
        }
    }
    text_add(out, "</tbody></table></div></details>\n");
}

static void add_run(const struct page *page, size_t index)
{
    struct text *out = page->out;
    const struct waterfall_run *run = &page->report->runs[index];
    text_add(out, "<section aria-labelledby=\"run-%zu\">\n<h2 id=\"run-%zu\">Run ", index, index);
    format_html(out, run->label.data);
    text_add(out, "</h2>\n<p>%.3f s, %zu jobs, %zu complete, %zu incomplete%s",
             format_seconds(run->end_us - run->start_us), run->job_count, run->complete,
             run->incomplete, run->open ? ", not ended" : "");
    if (run->config.len) {
        text_add(out, "; ");
        format_html(out, run->config.data);
    }
    text_add(out, "</p>\n<p class=\"verdict%s\">",
             run->verdict.confidence < WATERFALL_CONFIDENT ? " warn" : "");
    format_html(out, run->verdict.text.data);
    text_add(out, " Confidence: %s (%.0f %%).</p>\n", format_confidence(run->verdict.confidence),
             100 * run->verdict.confidence);
    if (run->end_us > run->start_us) {
        add_chart(page, run, index);
        add_levels(page, run);
        add_device_table(out, run);
        add_duration_table(out, run);
        add_path(out, run);
    }
    add_job_table(page, run);
    text_add(out, "</section>\n");
}

static void add_missing(const struct page *page)
{
    const struct waterfall_report *report = page->report;
    struct text *out = page->out;
    enum { SHOWN = 200 };
    if (report->warning_count == 0)
        return;
    text_add(out, "<section aria-labelledby=\"missing\">\n<h2 id=\"missing\">What is missing</h2>\n"
                  "<ul>\n");
    for (size_t i = 0; i < report->warning_count; i++) {
        text_add(out, "<li>");
        format_html(out, report->warnings[i].data);
        text_add(out, "</li>\n");
    }
    for (size_t i = 0; i < report->unpaired_count && i < SHOWN; i++) {
        const struct waterfall_unpaired *u = &report->unpaired[i];
        text_add(out,
                 "<li>%s at %.3f s without partner: ", trace_kind_name((enum trace_kind)u->kind),
                 format_seconds(u->time_us));
        format_html(out, u->job == WATERFALL_NO_JOB ? "no job" : report->jobs[u->job].label);
        text_add(out, u->partition >= 0 ? " p%d</li>\n" : "</li>\n", u->partition);
    }
    for (size_t i = 0; i < report->log->lines_skipped && i < WATERFALL_SKIPPED_MAX; i++) {
        text_add(out, "<li>line %llu: ", (unsigned long long)report->log->skipped[i].line);
        format_html(out, report->log->skipped[i].why);
        text_add(out, ": <code>");
        format_html(out, report->log->skipped[i].start);
        text_add(out, "</code></li>\n");
    }
    text_add(out, "</ul>\n</section>\n");
}

void waterfall_render_html(const struct waterfall_report *report,
                           const struct waterfall_style *style, struct text *out)
{
    struct page page = {out, report, style};
    add_head(&page);
    text_add(out, "<main>\n");
    size_t shown = 0;
    for (size_t i = 0; i < report->run_count; i++)
        if (style_wants_run(style, &report->runs[i])) {
            add_run(&page, i);
            shown++;
        }
    if (shown == 0)
        text_add(out, "<p>There is no run to show yet.</p>\n");
    add_missing(&page);
    text_add(out, "</main>\n<div id=\"tip\" hidden></div>\n<div id=\"live\" class=\"quiet\" "
                  "role=\"status\" aria-live=\"polite\"></div>\n<script>\n");
    add_lines(out, html_script);
    text_add(out, "</script>\n</body>\n</html>\n");
}
