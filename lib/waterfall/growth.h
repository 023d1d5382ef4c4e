/* Step 8 of an analysis: syntheses that slow each other. Private to lib/waterfall. */
#ifndef WATERFALL_GROWTH_H
#define WATERFALL_GROWTH_H

#include "waterfall/report.h"

/* Finds for all runs how synthesis times grow with the number of syntheses at once. */
enum cuzk_status growth_find(struct waterfall_report *report, struct cuzk_error *err);

#endif
