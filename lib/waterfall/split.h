/* Step 4 of an analysis: the wall time of each job by part. Private to lib/waterfall. */
#ifndef WATERFALL_SPLIT_H
#define WATERFALL_SPLIT_H

#include "waterfall/report.h"

/* Fills split_us of all jobs and runs. */
void split_jobs(struct waterfall_report *report);

/* The attempt of a job that reached its last moment last; NULL: the job has no partition. */
const struct waterfall_partition *split_last_partition(const struct waterfall_report *report,
                                                       const struct waterfall_job *job);

/* Visits the moments from start to end as they look to one partition of a job (NULL: to the job as
   a whole): neighbouring stretches in order of time, each with its part. */
typedef void split_visitor(void *context, int64_t start_us, int64_t end_us,
                           enum waterfall_part part);
void split_window(const struct waterfall_report *report, uint32_t job,
                  const struct waterfall_partition *partition, int64_t start_us, int64_t end_us,
                  split_visitor *visit, void *context);

#endif
