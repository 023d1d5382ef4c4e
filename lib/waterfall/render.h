/* Pictures and tables of a report, for people and for programs. */
#ifndef WATERFALL_RENDER_H
#define WATERFALL_RENDER_H

#include "waterfall/report.h"

struct waterfall_style {
    unsigned width;  /* columns of text; 0: 80 */
    bool colour;     /* ANSI colours */
    const char *run; /* only runs of this label; NULL: all */
    const char *job; /* only jobs whose id contains this; NULL: all */
    size_t jobs_max; /* jobs drawn in a run by text and HTML, the rest is counted; 0: 60 */
    bool live;       /* HTML: offer to reload */
};

/* Each appends to out. out->failed reports that memory ran out. */
void waterfall_render_text(const struct waterfall_report *report,
                           const struct waterfall_style *style, struct text *out);
void waterfall_render_json(const struct waterfall_report *report,
                           const struct waterfall_style *style, struct text *out);
void waterfall_render_csv(const struct waterfall_report *report,
                          const struct waterfall_style *style, struct text *out);
void waterfall_render_perfetto(const struct waterfall_report *report,
                               const struct waterfall_style *style, struct text *out);
void waterfall_render_html(const struct waterfall_report *report,
                           const struct waterfall_style *style, struct text *out);

/* Runs of two reports (or of one, given twice) side by side: run_a with run_b when both are named,
   else those with the same label, else the first of each. Returns how many pairs there were. */
size_t waterfall_render_compare(const struct waterfall_report *a, const char *run_a,
                                const struct waterfall_report *b, const char *run_b,
                                struct text *out);

#endif
