/* Times, strings and words as the renderers print them. Private to lib/waterfall. */
#ifndef WATERFALL_FORMAT_H
#define WATERFALL_FORMAT_H

#include "waterfall/report.h"

/* Appends milliseconds as a JSON number with as many decimals as there are; "null" for
   WATERFALL_NONE. */
void format_ms(struct text *out, int64_t time_us);

/* Appends a string for a terminal: bytes outside printable ASCII become '?'; a string longer than
   `width` is cut in the middle with "~". Not padded. */
void format_plain(struct text *out, const char *string, size_t width);

/* Appends a string as HTML text or attribute value. */
void format_html(struct text *out, const char *string);

/* The word for a confidence; a constant. */
const char *format_confidence(double confidence);

/* The words for what became of a job; a constant. */
const char *format_outcome(const struct waterfall_job *job);

static inline double format_seconds(int64_t time_us)
{
    return (double)time_us / 1e6;
}

/* In percent; 0 of nothing. */
static inline double format_share(int64_t part, int64_t whole)
{
    return whole > 0 ? 100 * (double)part / (double)whole : 0;
}

#endif
