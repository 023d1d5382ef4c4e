/* The analysis as a whole: a log becomes a report. Each step has a file of its own (README.md). */
#ifndef WATERFALL_ANALYSE_H
#define WATERFALL_ANALYSE_H

#include "waterfall/report.h"

struct waterfall_options {
    int64_t gap_us;             /* quiet time that separates runs without labels; 0: 10 s */
    int32_t workers_per_device; /* for logs that do not say; 0: 2 */
};

/* Analyses a log, which must outlive the report. A log without one usable event gives a report
   without runs, not an error. The report is zero-initialised by the call; free it in any case. */
enum cuzk_status waterfall_analyse(struct waterfall_log *log,
                                   const struct waterfall_options *options,
                                   struct waterfall_report *report, struct cuzk_error *err);

#endif
