#include "vanilla/c1_internal.h"

#include "base/check.h"
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- Messages --------------------------------------------------------------------------------- */

/* Text from outside for a message: cut, and with '?' for everything but printable ASCII. */
static const char *printable(char out[40], const char *text, size_t len)
{
    size_t n = len < 36 ? len : 36;
    for (size_t i = 0; i < n; i++)
        out[i] = text[i] >= 0x20 && text[i] < 0x7f ? text[i] : '?';
    memcpy(out + n, len > n ? "..." : "", len > n ? 4 : 1);
    return out;
}

__attribute__((format(printf, 3, 4))) static void append_text(char *out, size_t size,
                                                              const char *format, ...)
{
    size_t len = strlen(out);
    va_list args;
    va_start(args, format);
    vsnprintf(out + len, size - len, format, args);
    va_end(args);
}

/* "partition 0, challenge 1: comm_d_proofs.data.Single.path.path[3].hashes[0]" */
static void describe_place(const struct c1_parser *parser, char *out, size_t size)
{
    const struct c1_frame *frames = parser->frames;
    unsigned i = 0;
    out[0] = '\0';
    if (parser->n_frames > 2 && frames[2].type == C1_PARTITIONS && frames[2].field) {
        append_text(out, size, "partition %u", frames[2].count - 1);
        i = 3;
        if (parser->n_frames > 3 && frames[3].field) {
            append_text(out, size, ", challenge %u", frames[3].count - 1);
            i = 4;
        }
    }
    const char *separator = i > 0 ? ": " : "";
    for (; i < parser->n_frames; i++) {
        if (!frames[i].field)
            continue;
        if (c1_rules[frames[i].type].kind == C1_KIND_ARRAY) {
            append_text(out, size, "[%u]", frames[i].count - 1);
        } else if (frames[i].field->name[0]) {
            append_text(out, size, "%s%s", separator, frames[i].field->name);
            separator = ".";
        }
    }
}

bool c1_parser_fail(struct c1_parser *parser, enum cuzk_status status, const char *format, ...)
{
    char place[256];
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    describe_place(parser, place, sizeof place);
    error_set(&parser->error, status, "%s: %s%s%s, at byte %llu", parser->name, place,
              place[0] ? ": " : "", what, (unsigned long long)json_text_offset(parser->text));
    return false;
}

static bool fail_unexpected(struct c1_parser *parser, const char *expected, enum json_event event,
                            const char *text, size_t len)
{
    static const char *const names[] = {
        [JSON_NULL] = "null",     [JSON_BOOLEAN] = "true or false", [JSON_STRING] = "a string",
        [JSON_MAP] = "an object", [JSON_ARRAY] = "an array",
    };
    char number[40];
    const char *got = event == JSON_NUMBER ? printable(number, text, len) : names[event];
    return c1_parser_fail(parser, CUZK_INVALID_ARGUMENT, "expected %s, got %s", expected, got);
}

/* --- Scalars ---------------------------------------------------------------------------------- */

/* Reads plain decimal digits; signs, points and exponents are refused. */
static bool parse_uint(const char *text, size_t len, uint64_t max, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (*value > (max - digit) / 10)
            return false;
        *value = *value * 10 + digit;
    }
    return len > 0;
}

static bool read_scalar(struct c1_parser *parser, const struct c1_field *field,
                        enum json_event event, const char *text, size_t len)
{
    uint64_t value;
    uint64_t max = field->type == C1_UINT32 ? UINT32_MAX : UINT64_MAX;
    switch (field->type) {
    case C1_NULL:
        if (event == JSON_NULL)
            return true;
        break;
    case C1_NAME:
        if (event == JSON_STRING)
            return c1_store_name(parser, text, len);
        break;
    case C1_BASE64: /* c1_reader.c has taken its content */
        if (event == JSON_STRING)
            return true;
        break;
    default:
        if (event == JSON_NUMBER && parse_uint(text, len, max, &value))
            return c1_store_number(parser, field->role, value);
    }
    return fail_unexpected(parser, c1_rules[field->type].what, event, text, len);
}

/* --- Objects and arrays ----------------------------------------------------------------------- */

static struct c1_frame *top_frame(struct c1_parser *parser)
{
    return parser->n_frames > 0 ? &parser->frames[parser->n_frames - 1] : NULL;
}

static bool push_frame(struct c1_parser *parser, const struct c1_field *field, unsigned index)
{
    CHECK(parser->n_frames < C1_FRAMES_MAX); /* the grammar is not recursive */
    parser->frames[parser->n_frames++] =
        (struct c1_frame){.type = field->type, .role = field->role};
    return c1_store_enter(parser, field->type, field->role, index);
}

static const struct c1_field *find_field(enum c1_type type, const char *key, size_t len)
{
    const struct c1_rule *rule = &c1_rules[type];
    for (unsigned i = 0; i < rule->n_fields; i++) {
        const char *name = rule->fields[i].name;
        if (strlen(name) == len && memcmp(name, key, len) == 0)
            return &rule->fields[i];
    }
    return NULL;
}

static bool read_choice(struct c1_parser *parser, struct c1_frame *frame, const char *key,
                        size_t len)
{
    char text[40];
    if (frame->count++ > 0)
        return c1_parser_fail(parser, CUZK_INVALID_ARGUMENT, "expected one key, got a second: %s",
                              printable(text, key, len));
    if (!c1_store_choice(parser, frame->type, key, len))
        return false;
    frame->field = frame->type == C1_VANILLA ? &c1_rules[C1_VANILLA].fields[0]
                                             : find_field(frame->type, key, len);
    return true;
}

/* The first known key of the outermost object decides whether this is a C1 or its wrapper. */
static void decide_wrapper(struct c1_parser *parser, const char *key, size_t len)
{
    if (parser->n_frames != 1 || parser->decided)
        return;
    if (find_field(C1_ROOT, key, len)) {
        parser->decided = true;
    } else if (parser->may_be_wrapper && find_field(C1_WRAPPER, key, len)) {
        parser->decided = true;
        parser->name = "wrapper";
        parser->frames[0].type = C1_WRAPPER;
        parser->c1->wrapped = true;
    }
}

static bool read_key(struct c1_parser *parser, const char *key, size_t len)
{
    decide_wrapper(parser, key, len);
    struct c1_frame *frame = top_frame(parser);
    if (c1_rules[frame->type].kind == C1_KIND_CHOICE)
        return read_choice(parser, frame, key, len);
    frame->field = find_field(frame->type, key, len);
    if (!frame->field) {
        parser->ignore_next = true;
        return true;
    }
    uint32_t bit = (uint32_t)1 << (frame->field - c1_rules[frame->type].fields);
    if (frame->seen & bit)
        return c1_parser_fail(parser, CUZK_INVALID_ARGUMENT, "the key is there twice");
    frame->seen |= bit;
    return true;
}

static bool leave_object(struct c1_parser *parser, struct c1_frame *frame)
{
    const struct c1_rule *rule = &c1_rules[frame->type];
    if (rule->kind == C1_KIND_CHOICE)
        return frame->count == 1 ||
               c1_parser_fail(parser, CUZK_INVALID_ARGUMENT, "expected one key, got none");
    for (unsigned i = 0; i < rule->n_fields; i++) {
        if ((frame->seen & (uint32_t)1 << i) == 0)
            return c1_parser_fail(parser, CUZK_INVALID_ARGUMENT, "the key %s is missing",
                                  rule->fields[i].name);
    }
    return true;
}

static bool leave_array(struct c1_parser *parser, struct c1_frame *frame)
{
    if (frame->type == C1_BYTES) {
        if (frame->count != 32)
            return c1_parser_fail(parser, CUZK_INVALID_ARGUMENT, "expected 32 bytes, got %u",
                                  frame->count);
        const struct c1_frame *around = frame - 1;
        return c1_store_bytes(parser, frame->role, around->count - 1);
    }
    unsigned wanted = c1_store_count(parser, frame->type);
    if (frame->count < wanted)
        return c1_parser_fail(parser, CUZK_INVALID_ARGUMENT, "expected %u %s, got %u", wanted,
                              c1_rules[frame->type].fields[0].name, frame->count);
    return c1_store_leave(parser, frame->type);
}

static bool leave_frame(struct c1_parser *parser)
{
    struct c1_frame *frame = top_frame(parser);
    bool is_array = c1_rules[frame->type].kind == C1_KIND_ARRAY;
    if (!(is_array ? leave_array(parser, frame) : leave_object(parser, frame)))
        return false;
    parser->n_frames--;
    if (parser->n_frames > 0)
        top_frame(parser)->field = NULL;
    return true;
}

/* --- Values ----------------------------------------------------------------------------------- */

static bool read_byte(struct c1_parser *parser, struct c1_frame *frame, enum json_event event,
                      const char *text, size_t len)
{
    static const struct c1_field byte = {"bytes", C1_BYTES, ROLE_NONE};
    uint64_t value;
    if (frame->count == 32)
        return c1_parser_fail(parser, CUZK_INVALID_ARGUMENT, "expected 32 bytes, got more");
    if (event == JSON_NUMBER && parse_uint(text, len, UINT8_MAX, &value)) {
        parser->bytes[frame->count++] = (uint8_t)value;
        return true;
    }
    frame->field = &byte; /* so that the message names the place */
    frame->count++;
    return fail_unexpected(parser, "a byte (0 to 255)", event, text, len);
}

/* The field that the next value belongs to; NULL after a failure. */
static const struct c1_field *next_field(struct c1_parser *parser, struct c1_frame *frame)
{
    static const struct c1_field document = {"", C1_ROOT, ROLE_NONE};
    if (!frame)
        return &document;
    if (c1_rules[frame->type].kind != C1_KIND_ARRAY)
        return frame->field;
    const struct c1_field *item = c1_rules[frame->type].fields;
    unsigned wanted = c1_store_count(parser, frame->type);
    if (frame->count == wanted) {
        c1_parser_fail(parser, CUZK_INVALID_ARGUMENT, "expected %u %s, got more", wanted,
                       item->name);
        return NULL;
    }
    frame->count++;
    frame->field = item;
    return item;
}

static bool read_value(struct c1_parser *parser, enum json_event event, const char *text,
                       size_t len)
{
    struct c1_frame *frame = top_frame(parser);
    if (frame && frame->type == C1_BYTES)
        return read_byte(parser, frame, event, text, len);
    const struct c1_field *field = next_field(parser, frame);
    if (!field)
        return false;
    const struct c1_rule *rule = &c1_rules[field->type];
    if (rule->kind == C1_KIND_SCALAR) {
        if (!read_scalar(parser, field, event, text, len))
            return false;
        frame->field = NULL;
        return true;
    }
    if (event != (rule->kind == C1_KIND_ARRAY ? JSON_ARRAY : JSON_MAP))
        return fail_unexpected(parser, rule->what, event, text, len);
    return push_frame(parser, field, frame ? frame->count - 1 : 0);
}

/* A value of an unknown key, or a part of one. */
static bool ignore_value(struct c1_parser *parser, enum json_event event)
{
    parser->ignore_next = false;
    if (event == JSON_MAP || event == JSON_ARRAY)
        parser->ignored_depth++;
    else if (event == JSON_MAP_END || event == JSON_ARRAY_END)
        parser->ignored_depth--;
    if (parser->n_frames + parser->ignored_depth > C1_DEPTH_MAX)
        return c1_parser_fail(parser, CUZK_INVALID_ARGUMENT,
                              "more than %d objects and arrays inside one another", C1_DEPTH_MAX);
    return true;
}

bool c1_parser_event(void *context, enum json_event event, const char *text, size_t len)
{
    struct c1_parser *parser = context;
    if (parser->ignored_depth > 0 || parser->ignore_next)
        return ignore_value(parser, event);
    switch (event) {
    case JSON_KEY:
        return read_key(parser, text, len);
    case JSON_MAP_END:
    case JSON_ARRAY_END:
        return leave_frame(parser);
    default:
        return read_value(parser, event, text, len);
    }
}

bool c1_parser_at_base64(const struct c1_parser *parser)
{
    return parser->n_frames == 1 && !parser->ignore_next && parser->frames[0].field &&
           parser->frames[0].field->type == C1_BASE64;
}

/* --- The text --------------------------------------------------------------------------------- */

/* After a '[' that was fed: takes the numbers of an array of bytes without the JSON parser, if they
   are written as usual. Returns the length of their text. */
static size_t take_bytes(struct c1_parser *parser, const char *text, size_t len)
{
    struct c1_frame *frame = top_frame(parser);
    if (!frame || frame->type != C1_BYTES || frame->count > 0 || !json_text_at_event(parser->text))
        return 0;
    size_t taken = c1_bytes_read(parser->bytes, text, len);
    if (taken > 0) {
        frame->count = 32;
        json_text_skip(parser->text, taken);
    }
    return taken;
}

enum cuzk_status c1_parser_feed(struct c1_parser *parser, const char *text, size_t len,
                                struct cuzk_error *err)
{
    while (len > 0) {
        const char *bracket = memchr(text, '[', len);
        size_t taken = bracket ? (size_t)(bracket - text) + 1 : len;
        TRY(json_text_feed(parser->text, text, taken, err));
        if (bracket)
            taken += take_bytes(parser, text + taken, len - taken);
        text += taken;
        len -= taken;
    }
    return CUZK_OK;
}
