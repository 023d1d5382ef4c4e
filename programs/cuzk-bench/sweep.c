/* cuzk-bench sweep: labelled runs one after the other, and what came out in one table. */
#include "bench.h"
#include "exit_codes.h"

#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "waterfall/analyse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- what the daemon's log says ------------------------------------------------------- */

static void explain_run(const struct waterfall_run *run, struct figures *figures)
{
    double busy = 0, time = (double)(run->end_us - run->start_us) * (double)run->device_count;
    for (size_t d = 0; d < run->device_count; d++)
        busy += (double)run->devices[d].busy_us;
    figures->explained = true;
    figures->utilisation = time > 0 ? busy / time : 0;
    figures->confidence = run->verdict.confidence;
    snprintf(figures->bottleneck, sizeof figures->bottleneck, "%s",
             waterfall_bottleneck_name(run->verdict.bottleneck));
}

/* Of several runs with one label the last ones are ours: the k-th of ours from the end. */
static const struct waterfall_run *find_run(const struct waterfall_report *report,
                                            const struct figures *runs, size_t count, size_t mine)
{
    size_t later = 0;
    for (size_t i = mine + 1; i < count; i++)
        later += strcmp(runs[i].label, runs[mine].label) == 0;
    for (size_t r = report->run_count; r > 0; r--) {
        const struct waterfall_run *run = &report->runs[r - 1];
        if (run->labelled && strcmp(run->label.data, runs[mine].label) == 0 && later-- == 0)
            return run;
    }
    return NULL;
}

static enum cuzk_status explain(const char *path, struct figures *runs, size_t count,
                                struct cuzk_error *err)
{
    struct waterfall_log log = {0};
    struct waterfall_report report = {0};
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return error_errno(err, CUZK_NOT_FOUND, errno, "--log %s", path);
    enum cuzk_status status = waterfall_log_read(&log, stream, err);
    fclose(stream);
    if (status == CUZK_OK)
        status = waterfall_analyse(&log, NULL, &report, err);
    for (size_t i = 0; status == CUZK_OK && i < count; i++) {
        const struct waterfall_run *run = find_run(&report, runs, count, i);
        if (run)
            explain_run(run, &runs[i]);
        else
            fprintf(stderr, "cuzk-bench: %s has no run '%s'\n", path, runs[i].label);
    }
    waterfall_report_free(&report);
    waterfall_log_free(&log);
    return status;
}

/* ---- output --------------------------------------------------------------------------- */

static void add_head(struct table *table, bool explained, bool troubled)
{
    static const char *const heads[] = {"count", "at once", "total s", "wall s",    "p50 s",
                                        "p95 s", "prove s", "queue s", "proofs/min"};
    table_row(table);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        table_cell(table, "%s", heads[i]);
    if (explained) {
        table_cell(table, "device busy");
        table_cell(table, "bottleneck");
    }
    if (troubled)
        table_cell(table, "failed");
}

static void render_runs(const struct figures *runs, size_t count, bool markdown, struct text *out)
{
    bool explained = false, troubled = false;
    struct table table = {0};
    for (size_t i = 0; i < count; i++) {
        explained |= runs[i].explained;
        troubled |= runs[i].failed + runs[i].invalid > 0;
    }
    add_head(&table, explained, troubled);
    for (size_t i = 0; i < count; i++) {
        const struct figures *f = &runs[i];
        table_row(&table);
        table_cell(&table, "%u", f->count);
        table_cell(&table, "%u", f->concurrency);
        const double seconds[] = {f->total,    f->wall_avg,  f->wall_p50,
                                  f->wall_p95, f->prove_avg, f->queue_avg};
        for (size_t s = 0; s < sizeof seconds / sizeof seconds[0]; s++)
            table_cell(&table, "%.1f", seconds[s]);
        table_cell(&table, "%.3f", f->per_minute);
        if (explained && f->explained) {
            table_cell(&table, "%.0f %%", 100 * f->utilisation);
            table_cell(&table, "%s%s", f->bottleneck,
                       f->confidence < WATERFALL_CONFIDENT ? "?" : "");
        } else if (explained) {
            table_cell(&table, "-");
            table_cell(&table, "-");
        }
        if (troubled && f->simulated == f->failed + f->invalid)
            table_cell(&table, f->simulated ? "%u simulated" : "%u", f->simulated);
        else if (troubled)
            table_cell(&table, "%u", f->failed + f->invalid);
    }
    table_render(&table, markdown, out);
    table_free(&table);
}

static void add_json(const struct figures *runs, size_t count, struct text *out)
{
    text_add(out, "{\"runs\":[");
    for (size_t i = 0; i < count; i++) {
        text_add(out, "%s", i ? "," : "");
        figures_add_json(&runs[i], out);
    }
    text_add(out, "]}\n");
}

static enum cuzk_status write_plot(const char *path, const struct figures *runs, size_t count,
                                   struct cuzk_error *err)
{
    struct text svg = {0};
    plot_runs(runs, count, &svg);
    enum cuzk_status status = svg.failed ? error_set(err, CUZK_NO_MEMORY, "no memory for the plot")
                                         : file_write(path, svg.data, svg.len, err);
    text_free(&svg);
    return status;
}

static enum cuzk_status tell(const struct bench_globals *globals,
                             const struct load_options *options, struct figures *runs, size_t count,
                             struct cuzk_error *err)
{
    struct text out = {0};
    if (options->log_path)
        TRY(explain(options->log_path, runs, count, err));
    if (globals->json)
        add_json(runs, count, &out);
    else
        render_runs(runs, count, options->markdown, &out);
    enum cuzk_status status =
        out.failed ? error_set(err, CUZK_NO_MEMORY, "no memory for the table") : CUZK_OK;
    if (status == CUZK_OK)
        printf("%s%s", globals->json || options->markdown ? "" : "\n=== Sweep ===\n", out.data);
    text_free(&out);
    if (status == CUZK_OK && options->plot_path)
        status = write_plot(options->plot_path, runs, count, err);
    return status;
}

/* ---- running -------------------------------------------------------------------------- */

static enum cuzk_status run_all(const struct bench_globals *globals, struct load_options *options,
                                struct figures *runs, struct cuzk_error *err)
{
    bool quiet = globals->json || options->markdown;
    for (size_t i = 0; i < options->n_runs; i++) {
        struct load_result result = {0};
        options->count = options->runs[i].count;
        options->concurrency = options->runs[i].concurrency;
        if (!quiet)
            printf("%srun %zu of %zu: %u proofs, %u at once\n", i ? "\n" : "", i + 1,
                   options->n_runs, options->count, options->concurrency);
        enum cuzk_status status = load_run(globals, options, quiet, &result, err);
        if (status == CUZK_OK)
            figures_of_run(bench_kind_text(options->request.kind), &result, &runs[i]);
        mem_free(result.wall_s);
        TRY(status);
    }
    return CUZK_OK;
}

int command_sweep(const struct bench_globals *globals, int argc, char **argv)
{
    struct load_options options;
    struct figures runs[LOAD_RUNS_MAX];
    int code = load_read_options(&options, LOAD_SWEEP, argc, argv);
    if (code >= 0)
        return code;
    struct cuzk_error err = {0};
    code = EXIT_CODE_OK;
    enum cuzk_status status = run_all(globals, &options, runs, &err);
    if (status == CUZK_OK)
        status = tell(globals, &options, runs, options.n_runs, &err);
    for (size_t i = 0; status == CUZK_OK && i < options.n_runs; i++) {
        int one = figures_exit_code(&runs[i]);
        code = one > code ? one : code;
    }
    if (status != CUZK_OK)
        code = exit_with_error("cuzk-bench", &err);
    bench_request_free(&options.request);
    return code;
}
