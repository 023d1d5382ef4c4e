/* Spans: their two events, and the time between them. */
#include "trace/event.h"

#include "base/check.h"
#include "base/clock.h"

#include <string.h>

/* Nanoseconds of the unit in which a span's end carries its length. */
static uint64_t unit_ns(enum trace_span span)
{
    const char *key = trace_kind_value_key(trace_end_kind(span));
    const size_t len = strlen(key);
    CHECK(len >= 2 && key[len - 1] == 's');
    switch (key[len - 2]) {
    case 'm':
        return 1000000;
    case 'u':
        return 1000;
    default:
        CHECK(!"the value of this span is no time");
        return 1;
    }
}

uint64_t trace_begin(const struct trace_scope *scope, enum trace_span span)
{
    const uint64_t now_ns = clock_now_ns();
    trace_emit_at(scope, trace_start_kind(span), -1, now_ns);
    return now_ns;
}

void trace_end(const struct trace_scope *scope, enum trace_span span, int64_t value)
{
    trace_emit(scope, trace_end_kind(span), value);
}

uint64_t trace_end_timed(const struct trace_scope *scope, enum trace_span span, uint64_t begun_ns)
{
    const uint64_t now_ns = clock_now_ns();
    trace_emit_at(scope, trace_end_kind(span), (int64_t)((now_ns - begun_ns) / unit_ns(span)),
                  now_ns);
    return now_ns - begun_ns;
}

void trace_span_at(const struct trace_scope *scope, enum trace_span span, uint64_t from_ns,
                   uint64_t to_ns)
{
    trace_emit_at(scope, trace_start_kind(span), -1, from_ns);
    trace_emit_at(scope, trace_end_kind(span), (int64_t)((to_ns - from_ns) / unit_ns(span)), to_ns);
}
