/* Step 1 of an analysis: a log's events in order. Private to lib/waterfall. */
#ifndef WATERFALL_ORDER_H
#define WATERFALL_ORDER_H

#include "waterfall/log.h"

/* Finds the daemon's restarts, orders the events and removes doubled lines, which count as skipped.
   CUZK_RESOURCE_EXHAUSTED: more events than the analysis can number. */
enum cuzk_status order_events(struct waterfall_log *log, struct cuzk_error *err);

#endif
