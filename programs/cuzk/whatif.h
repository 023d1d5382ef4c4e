/* cuzk waterfall --what-if: runs of a log with other settings, as text or JSON. */
#ifndef CUZK_PROGRAM_WHATIF_H
#define CUZK_PROGRAM_WHATIF_H

#include "waterfall/render.h"

/* Appends the answer for each run of the report (or for those of style->run) and counts them. Runs
   without a job to replay are passed over with a line on stderr. */
enum cuzk_status whatif_render(const struct waterfall_report *report,
                               const struct waterfall_style *style, const char *knobs, bool json,
                               struct text *out, size_t *n_runs, struct cuzk_error *err);

#endif
