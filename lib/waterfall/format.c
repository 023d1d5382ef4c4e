#include "waterfall/format.h"

#include <string.h>

void format_ms(struct text *out, int64_t time_us)
{
    if (time_us == WATERFALL_NONE)
        text_add(out, "null");
    else if (time_us % 1000 == 0)
        text_add(out, "%lld", (long long)(time_us / 1000));
    else
        text_add(out, "%.3f", (double)time_us / 1000);
}

static void add_printable(struct text *out, const char *string, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char c = string[i] >= 0x20 && string[i] < 0x7f ? string[i] : '?';
        text_add_bytes(out, &c, 1);
    }
}

void format_plain(struct text *out, const char *string, size_t width)
{
    size_t len = strlen(string);
    if (len <= width) {
        add_printable(out, string, len);
        return;
    }
    size_t head = (width - 1) / 2, tail = width - 1 - head;
    add_printable(out, string, head);
    text_add_bytes(out, "~", 1);
    add_printable(out, string + len - tail, tail);
}

void format_html(struct text *out, const char *string)
{
    for (const char *s = string; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '&')
            text_add(out, "&amp;");
        else if (c == '<')
            text_add(out, "&lt;");
        else if (c == '>')
            text_add(out, "&gt;");
        else if (c == '"')
            text_add(out, "&quot;");
        else if (c == '\'')
            text_add(out, "&#39;");
        else if (c < 0x20 || c >= 0x7f)
            text_add(out, "\\x%02x", c);
        else
            text_add_bytes(out, s, 1);
    }
}

const char *format_confidence(double confidence)
{
    const double high = 0.8;
    return confidence >= high ? "high" : confidence >= WATERFALL_CONFIDENT ? "medium" : "low";
}

const char *format_outcome(const struct waterfall_job *job)
{
    switch (job->outcome) {
    case WATERFALL_OUTCOME_DONE:
        return job->complete ? "done" : "done, events missing";
    case WATERFALL_OUTCOME_FAILED:
        return "failed";
    case WATERFALL_OUTCOME_CANCELLED:
        return "cancelled";
    default:
        return job->complete ? "complete" : "incomplete";
    }
}
