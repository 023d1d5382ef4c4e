/* Step 5 of an analysis: a run's devices over its time. Private to lib/waterfall. */
#ifndef WATERFALL_SWEEP_H
#define WATERFALL_SWEEP_H

#include "waterfall/report.h"

/* Finds how busy a run's devices were, why they were idle, and how much of everything was there at
   once. */
enum cuzk_status sweep_run(struct waterfall_report *report, struct waterfall_run *run,
                           struct cuzk_error *err);

#endif
