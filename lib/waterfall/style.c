#include "waterfall/style.h"

#include <string.h>

enum { JOBS_MAX_DEFAULT = 60 };

bool style_wants_run(const struct waterfall_style *style, const struct waterfall_run *run)
{
    return !style->run || strcmp(style->run, run->label.data) == 0;
}

bool style_wants_job(const struct waterfall_style *style, const struct waterfall_job *job)
{
    return !style->job || strstr(job->label, style->job);
}

size_t style_jobs_max(const struct waterfall_style *style)
{
    return style->jobs_max ? style->jobs_max : JOBS_MAX_DEFAULT;
}

size_t style_count_jobs(const struct waterfall_report *report, const struct waterfall_style *style,
                        const struct waterfall_run *run)
{
    size_t count = 0;
    for (size_t j = run->jobs; j < run->jobs + run->job_count; j++)
        count += style_wants_job(style, &report->jobs[j]);
    return count;
}
