/* Step 2 of an analysis: events to jobs, partitions and intervals. Private to lib/waterfall. */
#ifndef WATERFALL_PAIR_H
#define WATERFALL_PAIR_H

#include "waterfall/report.h"

/* Fills the report's jobs, partitions, intervals and unpaired events from its ordered log. Jobs are
   in order of epoch and start; partitions and intervals are not in order yet. */
enum cuzk_status pair_events(struct waterfall_report *report, struct cuzk_error *err);

#endif
