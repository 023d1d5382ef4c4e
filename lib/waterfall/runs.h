/* Step 3 of an analysis: jobs to runs. Private to lib/waterfall. */
#ifndef WATERFALL_RUNS_H
#define WATERFALL_RUNS_H

#include "waterfall/report.h"

/* Separates the runs, orders everything by run and job, and finds each run's devices. gap_us is the
   quiet time that separates runs without labels, 0: 10 s; workers_per_device is for logs that do
   not say, 0: 2. */
enum cuzk_status runs_separate(struct waterfall_report *report, int64_t gap_us,
                               int32_t workers_per_device, struct cuzk_error *err);

#endif
