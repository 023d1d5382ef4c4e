/* What of a report the renderers show. Private to lib/waterfall. */
#ifndef WATERFALL_STYLE_H
#define WATERFALL_STYLE_H

#include "waterfall/render.h"

bool style_wants_run(const struct waterfall_style *style, const struct waterfall_run *run);
bool style_wants_job(const struct waterfall_style *style, const struct waterfall_job *job);

/* The most jobs that are drawn in a run. */
size_t style_jobs_max(const struct waterfall_style *style);

/* Jobs of a run that the style wants. */
size_t style_count_jobs(const struct waterfall_report *report, const struct waterfall_style *style,
                        const struct waterfall_run *run);

#endif
