/* Step 9 of an analysis: what limited a run. Private to lib/waterfall. */
#ifndef WATERFALL_VERDICT_H
#define WATERFALL_VERDICT_H

#include "waterfall/report.h"

/* Fills the verdict of a run from what the other steps found. verdict.text.failed reports that
   memory ran out. */
void verdict_judge(const struct waterfall_report *report, struct waterfall_run *run);

#endif
