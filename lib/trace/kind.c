/* Names of events and the line format. */
#include "trace/event.h"

#include "base/check.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    const char *value_key;
} kinds[TRACE_KIND_COUNT] = {
#define X(name, key) {#name "_START", key}, {#name "_END", key},
    TRACE_SPAN_MAP(X)
#undef X
#define X(name, key) {#name, key},
        TRACE_INSTANT_MAP(X)
#undef X
};

const char *trace_kind_name(enum trace_kind kind)
{
    CHECK((unsigned)kind < TRACE_KIND_COUNT);
    return kinds[kind].name;
}

const char *trace_kind_value_key(enum trace_kind kind)
{
    CHECK((unsigned)kind < TRACE_KIND_COUNT);
    return kinds[kind].value_key;
}

bool trace_kind_parse(const char *name, size_t len, enum trace_kind *kind)
{
    if (len == strlen("GPU_QUEUE") && memcmp(name, "GPU_QUEUE", len) == 0) {
        *kind = TRACE_CHAN_SEND;
        return true;
    }
    for (unsigned k = 0; k < TRACE_KIND_COUNT; k++)
        if (len && kinds[k].name[0] == name[0] && strnlen(kinds[k].name, len + 1) == len &&
            memcmp(kinds[k].name, name, len) == 0) {
            *kind = (enum trace_kind)k;
            return true;
        }
    return false;
}

bool trace_kind_is_classic(enum trace_kind kind)
{
    return kind == TRACE_SYNTH_START || kind == TRACE_SYNTH_END || kind == TRACE_CHAN_SEND ||
           kind == TRACE_GPU_PICKUP || kind == TRACE_GPU_START || kind == TRACE_GPU_END;
}

/* A line under construction. Its parts are bounded (see TRACE_LINE_BYTES), so it always fits. */
struct line {
    char *data;
    size_t len;
};

static void add_bytes(struct line *line, const char *bytes, size_t len)
{
    CHECK(line->len + len < TRACE_LINE_BYTES);
    memcpy(line->data + line->len, bytes, len);
    line->len += len;
}

static void add_string(struct line *line, const char *string)
{
    add_bytes(line, string, strlen(string));
}

static void add_escaped(struct line *line, const char *string, const char *special)
{
    for (const char *s = string; *s; s++) {
        unsigned char byte = (unsigned char)*s;
        if (byte >= 0x20 && byte < 0x7f && !strchr(special, byte)) {
            add_bytes(line, s, 1);
            continue;
        }
        char code[4];
        snprintf(code, sizeof code, "%%%02X", byte);
        add_bytes(line, code, 3);
    }
}

/* Adds "key=number" unless the number is negative, with a comma between details. */
static void add_detail(struct line *line, bool *first, const char *key, int64_t number)
{
    if (number < 0)
        return;
    char detail[64];
    int len =
        snprintf(detail, sizeof detail, "%s%s=%lld", *first ? "" : ",", key, (long long)number);
    add_bytes(line, detail, (size_t)len);
    *first = false;
}

/* The classic events carry exactly the details that their readers expect, in their order. */
static void add_details(struct line *line, const struct trace_record *record)
{
    enum trace_kind kind = (enum trace_kind)record->kind;
    bool first = true;
    bool synthesis = kind == TRACE_SYNTH_START || kind == TRACE_SYNTH_END;
    if (kind == TRACE_CHAN_SEND && record->partition < 0) {
        add_string(line, "monolithic");
        first = false;
    }
    if (!synthesis && kind != TRACE_CHAN_SEND)
        add_detail(line, &first, "worker", record->worker);
    add_detail(line, &first, "partition", record->partition);
    if (!trace_kind_is_classic(kind))
        add_detail(line, &first, "device", record->device);
    bool has_end_value = kind == TRACE_SYNTH_END || kind == TRACE_GPU_END;
    if (!trace_kind_is_classic(kind) || has_end_value)
        add_detail(line, &first, trace_kind_value_key(kind), record->value);
    if (record->text[0] && (!trace_kind_is_classic(kind) || synthesis)) {
        add_string(line, first ? "" : ",");
        add_escaped(line, record->text, "%");
    }
}

size_t trace_format_line(const struct trace_record *record, bool say_gpu_queue,
                         char line_out[TRACE_LINE_BYTES])
{
    struct line line = {line_out, 0};
    enum trace_kind kind = (enum trace_kind)record->kind;
    bool renamed = say_gpu_queue && kind == TRACE_CHAN_SEND;
    char offset[32];
    snprintf(offset, sizeof offset, "TIMELINE,%lld,", (long long)(record->time_ns / 1000000));
    add_string(&line, offset);
    add_string(&line, renamed ? "GPU_QUEUE" : trace_kind_name(kind));
    add_bytes(&line, ",", 1);
    if (record->label[0] == '\0')
        add_string(&line, "-");
    else if (strcmp(record->label, "-") == 0)
        add_string(&line, "%2D");
    else
        add_escaped(&line, record->label, ",%");
    add_bytes(&line, ",", 1);
    add_details(&line, record);
    add_bytes(&line, "\n", 1);
    line.data[line.len] = '\0';
    return line.len;
}
