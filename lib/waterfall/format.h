/* What the renderers share. Private to lib/waterfall. */
#ifndef WATERFALL_FORMAT_H
#define WATERFALL_FORMAT_H

#include "waterfall/steps.h"

enum { JOBS_MAX_DEFAULT = 60, WIDTH_DEFAULT = 80, WIDTH_MIN = 60, WIDTH_MAX = 400 };

bool style_wants_run(const struct waterfall_style *style, const struct waterfall_run *run);
bool style_wants_job(const struct waterfall_style *style, const struct waterfall_job *job);
size_t style_jobs_max(const struct waterfall_style *style);

/* Jobs of a run that the style wants. */
size_t style_count_jobs(const struct waterfall_report *report, const struct waterfall_style *style,
                        const struct waterfall_run *run);

/* Milliseconds as a JSON number with as many decimals as there are; "null" for WATERFALL_NONE. */
void text_add_ms(struct text *out, int64_t time_us);

/* A string for a terminal: bytes outside printable ASCII become '?'; longer than `width` is cut in
   the middle with "~". Not padded. */
void text_add_plain(struct text *out, const char *string, size_t width);

/* A string as HTML text or attribute value. */
void text_add_html(struct text *out, const char *string);

/* The word for a confidence. */
const char *confidence_word(double confidence);

/* Time between two known moments; WATERFALL_NONE if one is not. */
int64_t time_between(int64_t start_us, int64_t end_us);

const char *outcome_word(const struct waterfall_job *job);

#endif
