/* Step 7 of an analysis: critical paths. Private to lib/waterfall. */
#ifndef WATERFALL_PATH_H
#define WATERFALL_PATH_H

#include "waterfall/report.h"

/* Finds the critical paths of a run and of its jobs. */
enum cuzk_status path_find(struct waterfall_report *report, struct waterfall_run *run,
                           struct cuzk_error *err);

#endif
