/* Step 6 of an analysis: distributions of a run's durations. Private to lib/waterfall. */
#ifndef WATERFALL_STATS_H
#define WATERFALL_STATS_H

#include "waterfall/report.h"

/* Fills the distributions and the two sides of Little's law; needs the levels of sweep_run. */
enum cuzk_status stats_measure(const struct waterfall_report *report, struct waterfall_run *run,
                               struct cuzk_error *err);

#endif
