#include "waterfall/analyse.h"

#include "base/error.h"
#include "waterfall/growth.h"
#include "waterfall/order.h"
#include "waterfall/pair.h"
#include "waterfall/path.h"
#include "waterfall/runs.h"
#include "waterfall/split.h"
#include "waterfall/stats.h"
#include "waterfall/sweep.h"
#include "waterfall/verdict.h"

static bool warn_of_log(struct waterfall_report *report)
{
    const struct waterfall_log *log = report->log;
    bool ok = true;
    if (log->lines_skipped)
        ok = waterfall_report_warn(report, "%llu TIMELINE lines could not be used",
                                   (unsigned long long)log->lines_skipped);
    if (ok && log->dropped)
        ok = waterfall_report_warn(report,
                                   "the daemon lost %llu events before they could be written",
                                   (unsigned long long)log->dropped);
    if (ok && !log->ordered)
        ok = waterfall_report_warn(report,
                                   "the lines are out of order: they were sorted by offset, and "
                                   "restarts of the daemon cannot be told");
    return ok;
}

static bool warn_of_pairs(struct waterfall_report *report)
{
    size_t incomplete = 0, repeated = 0;
    for (size_t i = 0; i < report->job_count; i++) {
        incomplete += !report->jobs[i].complete;
        repeated += report->jobs[i].instance > 0;
    }
    bool ok = true;
    if (report->unpaired_count)
        ok = waterfall_report_warn(report, "%zu events have no partner", report->unpaired_count);
    if (ok && incomplete)
        ok = waterfall_report_warn(report, "%zu of %zu jobs are incomplete", incomplete,
                                   report->job_count);
    if (ok && repeated)
        ok =
            waterfall_report_warn(report, "%zu jobs used the id of an earlier job again", repeated);
    if (ok && report->requests_without_job)
        ok = waterfall_report_warn(report, "%zu requests never became jobs",
                                   report->requests_without_job);
    return ok;
}

enum cuzk_status waterfall_analyse(struct waterfall_log *log,
                                   const struct waterfall_options *options,
                                   struct waterfall_report *report, struct cuzk_error *err)
{
    *report = (struct waterfall_report){.log = log};
    TRY(order_events(log, err));
    TRY(pair_events(report, err));
    TRY(runs_separate(report, options ? options->gap_us : 0,
                      options ? options->workers_per_device : 0, err));
    split_jobs(report);
    if (!warn_of_log(report) || !warn_of_pairs(report))
        return error_set(err, CUZK_NO_MEMORY, "no memory for the report's warnings");
    for (size_t i = 0; i < report->run_count; i++) {
        TRY(sweep_run(report, &report->runs[i], err));
        TRY(stats_measure(report, &report->runs[i], err));
        TRY(path_find(report, &report->runs[i], err));
    }
    TRY(growth_find(report, err));
    for (size_t i = 0; i < report->run_count; i++) {
        verdict_judge(report, &report->runs[i]);
        if (report->runs[i].verdict.text.failed)
            return error_set(err, CUZK_NO_MEMORY, "no memory for a verdict");
    }
    return CUZK_OK;
}
