/* The reader: lines of any origin become events. */
#include "waterfall/log.h"

#include "base/error.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* A longer line cannot be one of ours, nor of the Rust cuzk with a sensible job id. */
enum { LINE_MAX_BYTES = 16384, CHUNK_BYTES = 1 << 18 };

#define MARK "TIMELINE,"
#define MARK_LEN (sizeof MARK - 1)

/* A part of a line. */
struct slice {
    const char *at;
    size_t len;
};

static bool slice_is(struct slice slice, const char *string)
{
    return slice.len == strlen(string) && memcmp(slice.at, string, slice.len) == 0;
}

/* Cuts off everything before the first comma; false if there is none. */
static bool take_field(struct slice *rest, struct slice *field)
{
    const char *comma = memchr(rest->at, ',', rest->len);
    if (!comma)
        return false;
    *field = (struct slice){rest->at, (size_t)(comma - rest->at)};
    rest->at = comma + 1;
    rest->len -= field->len + 1;
    return true;
}

/* A decimal number of at most 15 digits, so that sums and microseconds cannot overflow. */
static bool parse_number(struct slice slice, int64_t *number)
{
    if (slice.len == 0 || slice.len > 15)
        return false;
    int64_t n = 0;
    for (size_t i = 0; i < slice.len; i++) {
        if (slice.at[i] < '0' || slice.at[i] > '9')
            return false;
        n = n * 10 + (slice.at[i] - '0');
    }
    *number = n;
    return true;
}

static bool parse_small(struct slice slice, int32_t *number)
{
    int64_t n;
    if (!parse_number(slice, &n) || n > 1000000)
        return false;
    *number = (int32_t)n;
    return true;
}

static bool split_detail(struct slice piece, struct slice *key, struct slice *value)
{
    const char *equals = memchr(piece.at, '=', piece.len);
    if (!equals || equals == piece.at)
        return false;
    *key = (struct slice){piece.at, (size_t)(equals - piece.at)};
    *value = (struct slice){equals + 1, piece.len - key->len - 1};
    return true;
}

static bool is_classic_detail(struct slice piece)
{
    static const char *const keys[] = {"partition", "worker", "synth_ms",
                                       "gpu_ms",    "kind",   "device"};
    struct slice key, value;
    if (slice_is(piece, "monolithic"))
        return true;
    if (!split_detail(piece, &key, &value))
        return false;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (slice_is(key, keys[i]))
            return true;
    return false;
}

/* Splits "<job id>,<detail>". Our ids have no comma. The Rust cuzk prints the client's id as
   it is, so for classic events the details are the longest tail of pieces that look like theirs. */
static bool split_job(struct slice rest, enum trace_kind kind, struct slice *job,
                      struct slice *details)
{
    if (!trace_kind_is_classic(kind)) {
        *details = rest;
        return take_field(details, job);
    }
    size_t cut = rest.len + 1; /* where the details begin */
    for (size_t end = rest.len;;) {
        const char *comma = memrchr(rest.at, ',', end);
        if (!comma)
            break;
        size_t at = (size_t)(comma - rest.at);
        if (!is_classic_detail((struct slice){comma + 1, end - at - 1}))
            break;
        cut = at + 1;
        end = at;
    }
    if (cut > rest.len)
        return false;
    *job = (struct slice){rest.at, cut - 1};
    *details = (struct slice){rest.at + cut, rest.len - cut};
    return true;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Undoes the escaping of trace_format_line. Only codes that it writes are decoded: ids of the Rust
   cuzk may contain a percent sign of their own. Zero bytes stay escaped. */
static size_t unescape(struct slice in, char *out)
{
    size_t len = 0;
    for (size_t i = 0; i < in.len; i++) {
        int high = in.at[i] == '%' && i + 2 < in.len ? hex_value(in.at[i + 1]) : -1;
        int low = high >= 0 ? hex_value(in.at[i + 2]) : -1;
        int byte = low >= 0 ? high * 16 + low : 0;
        bool ours = byte == ',' || byte == '%' || byte >= 0x7f || (byte > 0 && byte < 0x20) ||
                    (byte == '-' && in.len == 3);
        if (ours) {
            out[len++] = (char)byte;
            i += 2;
        } else {
            out[len++] = in.at[i] ? in.at[i] : '?';
        }
    }
    return len;
}

static bool intern_string(struct waterfall_log *log, struct slice slice, uint32_t *index)
{
    char buffer[LINE_MAX_BYTES];
    *index = 0;
    if (slice.len == 0 || slice_is(slice, "-"))
        return true;
    if (!memchr(slice.at, '%', slice.len) && !memchr(slice.at, '\0', slice.len))
        return strings_add(&log->strings, slice.at, slice.len, index);
    return strings_add(&log->strings, buffer, unescape(slice, buffer), index);
}

/* The parsers return the fault of a line; NULL: none. out_of_memory is not the line's fault. */
static const char out_of_memory[] = "out of memory";

static const char *parse_details(struct waterfall_log *log, struct slice details,
                                 struct waterfall_event *event)
{
    const char *value_key = trace_kind_value_key((enum trace_kind)event->kind);
    char other[LINE_MAX_BYTES];
    size_t other_len = 0;
    for (bool more = details.len > 0; more;) {
        struct slice piece, key = {"", 0}, value = {"", 0};
        more = take_field(&details, &piece);
        if (!more)
            piece = details;
        bool pair = split_detail(piece, &key, &value);
        int32_t *field = NULL;
        if (pair && slice_is(key, "partition"))
            field = &event->partition;
        else if (pair && slice_is(key, "worker"))
            field = &event->worker;
        else if (pair && slice_is(key, "device"))
            field = &event->device;
        if (field) {
            if (!parse_small(value, field))
                return "a partition, worker or device is no number";
        } else if (pair && slice_is(key, value_key)) {
            if (!parse_number(value, &event->value))
                return "a value is no number";
        } else if (!slice_is(piece, "monolithic")) {
            if (other_len)
                other[other_len++] = ',';
            memcpy(other + other_len, piece.at, piece.len);
            other_len += piece.len;
        }
    }
    return intern_string(log, (struct slice){other, other_len}, &event->text) ? NULL
                                                                              : out_of_memory;
}

/* Whether a classic event has the details that place it. They are last on their line, so a line
   that was cut lacks them. */
static bool is_whole(const struct waterfall_event *event)
{
    switch (event->kind) {
    case TRACE_SYNTH_END:
        return event->value >= 0;
    case TRACE_GPU_PICKUP:
    case TRACE_GPU_START:
        return event->worker >= 0;
    case TRACE_GPU_END:
        return event->worker >= 0 && event->value >= 0;
    default:
        return true;
    }
}

static const char *parse_event(struct waterfall_log *log, struct slice rest,
                               struct waterfall_event *event)
{
    struct slice offset, name, job, details;
    enum trace_kind kind;
    int64_t offset_ms;
    if (!take_field(&rest, &offset) || !take_field(&rest, &name))
        return "fields are missing";
    if (!parse_number(offset, &offset_ms) || offset_ms > INT64_C(1000000000000))
        return "the offset is no number";
    if (!trace_kind_parse(name.at, name.len, &kind))
        return "unknown event";
    if (!split_job(rest, kind, &job, &details))
        return "details are missing";
    *event = (struct waterfall_event){
        .time_us = offset_ms * 1000,
        .value = WATERFALL_NONE,
        .partition = WATERFALL_NONE,
        .worker = WATERFALL_NONE,
        .device = WATERFALL_NONE,
        .kind = (uint16_t)kind,
    };
    if (!intern_string(log, job, &event->label))
        return out_of_memory;
    if (trace_kind_is_classic(kind) && event->label == 0)
        return "no job id";
    const char *why = parse_details(log, details, event);
    if (!why && trace_kind_is_classic(kind) && !is_whole(event))
        return "details are missing";
    return why;
}

static void skip_line(struct waterfall_log *log, struct slice line, const char *why)
{
    if (log->lines_skipped++ >= WATERFALL_SKIPPED_MAX)
        return;
    struct waterfall_skipped *skipped = &log->skipped[log->lines_skipped - 1];
    skipped->line = log->lines_total;
    snprintf(skipped->why, sizeof skipped->why, "%s", why);
    size_t len = line.len < sizeof skipped->start - 1 ? line.len : sizeof skipped->start - 1;
    for (size_t i = 0; i < len; i++)
        skipped->start[i] = line.at[i] >= 0x20 && line.at[i] < 0x7f ? line.at[i] : '?';
    skipped->start[len] = '\0';
}

/* The text after the mark, which may follow a prefix but must not be the tail of a longer word. */
static bool find_mark(struct slice line, struct slice *rest)
{
    const char *end = line.at + line.len;
    for (const char *at = line.at;; at++) {
        at = memmem(at, (size_t)(end - at), MARK, MARK_LEN);
        if (!at)
            return false;
        char before = at > line.at ? at[-1] : ' ';
        bool word = (before >= '0' && before <= '9') || (before >= 'A' && before <= 'Z') ||
                    (before >= 'a' && before <= 'z') || before == '_';
        if (!word) {
            *rest = (struct slice){at + MARK_LEN, (size_t)(end - at) - MARK_LEN};
            return true;
        }
    }
}

static bool add_event(struct waterfall_log *log, struct waterfall_event event)
{
    if (!MEM_GROW(log->events, log->capacity, log->count + 1))
        return false;
    log->events[log->count++] = event;
    return true;
}

static bool add_line(struct waterfall_log *log, struct slice line, bool terminated)
{
    struct slice rest;
    log->lines_total++;
    if (line.len && line.at[line.len - 1] == '\r')
        line.len--;
    if (!find_mark(line, &rest))
        return true;
    log->lines_timeline++;
    size_t max = log->events_max ? log->events_max : WATERFALL_EVENTS_MAX;
    struct waterfall_event event;
    const char *why = NULL;
    if (!terminated)
        why = "the line does not end: it may be cut";
    else if (line.len > LINE_MAX_BYTES)
        why = "the line is too long";
    else if (log->count >= max)
        why = "the log has too many events";
    else
        why = parse_event(log, rest, &event);
    if (why == out_of_memory)
        return false;
    if (why) {
        skip_line(log, line, why);
        return true;
    }
    event.line = (uint32_t)(log->lines_total < UINT32_MAX ? log->lines_total : UINT32_MAX);
    if (event.kind == TRACE_DROPPED && event.value > 0)
        log->dropped += (uint64_t)event.value;
    return add_event(log, event);
}

/* Adds the whole lines of the bytes and returns how many bytes they took; SIZE_MAX: no memory. */
static size_t add_lines(struct waterfall_log *log, const char *bytes, size_t len)
{
    size_t done = 0;
    while (done < len) {
        const char *newline = memchr(bytes + done, '\n', len - done);
        if (!newline)
            break;
        size_t line_len = (size_t)(newline - bytes) - done;
        if (!add_line(log, (struct slice){bytes + done, line_len}, true))
            return SIZE_MAX;
        done += line_len + 1;
    }
    return done;
}

/* Makes room for the events of `len` bytes, so that growing copies nothing. The number is a guess;
   pages that are never used cost nothing. */
static void expect_bytes(struct waterfall_log *log, size_t len)
{
    enum { LINE_BYTES = 56 };
    size_t max = log->events_max ? log->events_max : WATERFALL_EVENTS_MAX;
    size_t expected = log->count + len / LINE_BYTES;
    (void)MEM_GROW(log->events, log->capacity, expected < max ? expected : max);
}

enum cuzk_status waterfall_log_read_bytes(struct waterfall_log *log, const char *bytes, size_t len,
                                          struct cuzk_error *err)
{
    log->from_log = true;
    expect_bytes(log, len);
    size_t done = add_lines(log, bytes, len);
    if (done != SIZE_MAX && done < len &&
        !add_line(log, (struct slice){bytes + done, len - done}, false))
        done = SIZE_MAX;
    return done == SIZE_MAX ? error_set(err, CUZK_NO_MEMORY, "no memory for the log's events")
                            : CUZK_OK;
}

/* Reads piece by piece. The rest of a piece after its last newline moves to the front. A rest that
   fills the buffer belongs to a line longer than any of ours, and only its beginning is kept. */
enum cuzk_status waterfall_log_read(struct waterfall_log *log, FILE *stream, struct cuzk_error *err)
{
    char *buffer = mem_alloc(CHUNK_BYTES, 1);
    if (!buffer)
        return error_set(err, CUZK_NO_MEMORY, "no memory to read a log");
    log->from_log = true;
    struct stat file;
    if (fstat(fileno(stream), &file) == 0 && S_ISREG(file.st_mode) && file.st_size > 0)
        expect_bytes(log, (size_t)file.st_size);
    enum cuzk_status status = CUZK_OK;
    size_t kept = 0;
    for (;;) {
        size_t got = fread(buffer + kept, 1, CHUNK_BYTES - kept, stream);
        if (got == 0)
            break;
        size_t len = kept + got;
        size_t done = add_lines(log, buffer, len);
        if (done == SIZE_MAX) {
            status = error_set(err, CUZK_NO_MEMORY, "no memory for the log's events");
            goto out;
        }
        kept = len - done;
        memmove(buffer, buffer + done, kept);
        if (kept == CHUNK_BYTES)
            kept = LINE_MAX_BYTES + 1; /* still too long to be taken for a line of ours */
    }
    if (ferror(stream))
        status = error_set(err, CUZK_IO, "the log cannot be read to its end");
    else if (kept && !add_line(log, (struct slice){buffer, kept}, false))
        status = error_set(err, CUZK_NO_MEMORY, "no memory for the log's events");
out:
    mem_free(buffer);
    return status;
}

enum cuzk_status waterfall_log_add_records(struct waterfall_log *log,
                                           const struct trace_record *records, size_t count,
                                           struct cuzk_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct trace_record *record = &records[i];
        struct waterfall_event event = {
            .time_us = record->time_ns / 1000,
            .value = record->value,
            .partition = record->partition,
            .worker = record->worker,
            .device = record->device,
            .kind = record->kind,
        };
        log->lines_total++;
        log->lines_timeline++;
        event.line = (uint32_t)(log->lines_total < UINT32_MAX ? log->lines_total : UINT32_MAX);
        if (record->kind == TRACE_DROPPED && record->value > 0)
            log->dropped += (uint64_t)record->value;
        if (!strings_add(&log->strings, record->label, strlen(record->label), &event.label) ||
            !strings_add(&log->strings, record->text, strlen(record->text), &event.text) ||
            !add_event(log, event))
            return error_set(err, CUZK_NO_MEMORY, "no memory for the timeline's events");
    }
    return CUZK_OK;
}

int64_t waterfall_log_detail(const char *details, const char *key)
{
    size_t len = strlen(key);
    for (const char *at = details; (at = strstr(at, key)); at += len) {
        bool begins = at == details || at[-1] == ',';
        if (!begins || at[len] != '=')
            continue;
        int64_t number = 0;
        const char *digit = at + len + 1;
        if (*digit < '0' || *digit > '9')
            return WATERFALL_NONE;
        for (; *digit >= '0' && *digit <= '9' && number < INT64_C(1000000000000); digit++)
            number = number * 10 + (*digit - '0');
        return number;
    }
    return WATERFALL_NONE;
}

void waterfall_log_free(struct waterfall_log *log)
{
    mem_free(log->events);
    strings_free(&log->strings);
    *log = (struct waterfall_log){0};
}
