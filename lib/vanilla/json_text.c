#include "vanilla/json_text.h"

#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"

#include <string.h>
#include <yajl/yajl_parse.h>

/* yajl does not check whether its allocations succeed. It gets one block that is large enough for
   all of them: it keeps the beginning of an unfinished token (at most JSON_RUN_MAX + PIECE_BYTES,
   in buffers of doubled size) once as read and once with escapes resolved, and one byte for each
   open bracket. */
enum { PIECE_BYTES = 4 * 1024, ARENA_BYTES = 192 * 1024, ARENA_ALIGNMENT = 16 };

struct json_text {
    json_event_fn *on_event;
    void *context;
    yajl_handle handle;
    uint64_t before;     /* bytes of the text before the piece that yajl has */
    uint64_t last_event; /* offset behind the last event */
    bool too_long;       /* JSON_RUN_MAX was exceeded */
    size_t arena_used;
    _Alignas(ARENA_ALIGNMENT) char arena[ARENA_BYTES];
};

/* Each block has its size in front of it. Nothing is ever given back. */
static void *arena_alloc(void *context, size_t bytes)
{
    struct json_text *text = context;
    size_t total =
        ARENA_ALIGNMENT + (bytes + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
    CHECK(bytes <= ARENA_BYTES && total <= ARENA_BYTES - text->arena_used);
    char *block = text->arena + text->arena_used + ARENA_ALIGNMENT;
    memcpy(block - ARENA_ALIGNMENT, &bytes, sizeof bytes);
    text->arena_used += total;
    return block;
}

static void *arena_realloc(void *context, void *block, size_t bytes)
{
    void *grown = arena_alloc(context, bytes);
    if (block) {
        size_t old;
        memcpy(&old, (char *)block - ARENA_ALIGNMENT, sizeof old);
        memcpy(grown, block, old < bytes ? old : bytes);
    }
    return grown;
}

static void arena_free(void *context, void *block)
{
    (void)context;
    (void)block;
}

static int forward_event(void *context, enum json_event event, const char *bytes, size_t len)
{
    struct json_text *text = context;
    uint64_t offset = json_text_offset(text);
    if (offset - text->last_event > JSON_RUN_MAX) {
        text->too_long = true;
        return false;
    }
    text->last_event = offset;
    return text->on_event(text->context, event, bytes, len);
}

static int on_null(void *context)
{
    return forward_event(context, JSON_NULL, NULL, 0);
}

static int on_boolean(void *context, int value)
{
    (void)value;
    return forward_event(context, JSON_BOOLEAN, NULL, 0);
}

static int on_number(void *context, const char *digits, size_t len)
{
    return forward_event(context, JSON_NUMBER, digits, len);
}

static int on_string(void *context, const unsigned char *bytes, size_t len)
{
    return forward_event(context, JSON_STRING, (const char *)bytes, len);
}

static int on_key(void *context, const unsigned char *bytes, size_t len)
{
    return forward_event(context, JSON_KEY, (const char *)bytes, len);
}

static int on_map(void *context)
{
    return forward_event(context, JSON_MAP, NULL, 0);
}

static int on_map_end(void *context)
{
    return forward_event(context, JSON_MAP_END, NULL, 0);
}

static int on_array(void *context)
{
    return forward_event(context, JSON_ARRAY, NULL, 0);
}

static int on_array_end(void *context)
{
    return forward_event(context, JSON_ARRAY_END, NULL, 0);
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_map_key = on_key,
    .yajl_start_map = on_map,
    .yajl_end_map = on_map_end,
    .yajl_start_array = on_array,
    .yajl_end_array = on_array_end,
};

struct json_text *json_text_new(json_event_fn *on_event, void *context)
{
    struct json_text *text = mem_alloc(1, sizeof *text);
    if (!text)
        return NULL;
    text->on_event = on_event;
    text->context = context;
    text->before = 0;
    text->last_event = 0;
    text->too_long = false;
    text->arena_used = 0;
    yajl_alloc_funcs functions = {arena_alloc, arena_realloc, arena_free, text};
    text->handle = yajl_alloc(&callbacks, &functions, text);
    return text;
}

void json_text_free(struct json_text *text)
{
    mem_free(text); /* all of yajl's memory is inside */
}

uint64_t json_text_offset(const struct json_text *text)
{
    return text->before + yajl_get_bytes_consumed(text->handle);
}

bool json_text_at_event(const struct json_text *text)
{
    return text->last_event == text->before;
}

void json_text_skip(struct json_text *text, uint64_t bytes)
{
    text->before += bytes;
    text->last_event += bytes;
}

/* The status of yajl's answer. Where yajl is when it finds a wrong token depends on how the text
   was cut into pieces; so the place of the last event is reported for wrong tokens. */
static enum cuzk_status status_of_yajl(struct json_text *text, yajl_status status, bool at_end,
                                       struct cuzk_error *err)
{
    if (status == yajl_status_ok)
        return CUZK_OK;
    if (status == yajl_status_client_canceled)
        return CUZK_CANCELLED;
    char reason[128];
    unsigned char *message = yajl_get_error(text->handle, 0, NULL, 0);
    size_t len = strcspn((const char *)message, ".\n");
    if (len >= sizeof reason)
        len = sizeof reason - 1;
    memcpy(reason, message, len);
    reason[len] = '\0';
    if (at_end)
        return error_set(err, CUZK_INVALID_ARGUMENT, "not JSON: %s, at byte %llu", reason,
                         (unsigned long long)text->before);
    bool wrong_token = strncmp(reason, "parse error", strlen("parse error")) == 0;
    return error_set(err, CUZK_INVALID_ARGUMENT, "not JSON: %s, %s byte %llu", reason,
                     wrong_token ? "after" : "at",
                     (unsigned long long)(wrong_token ? text->last_event : json_text_offset(text)));
}

enum cuzk_status json_text_feed(struct json_text *text, const char *bytes, size_t len,
                                struct cuzk_error *err)
{
    while (len > 0) {
        size_t piece = len < PIECE_BYTES ? len : PIECE_BYTES;
        yajl_status status = yajl_parse(text->handle, (const unsigned char *)bytes, piece);
        if (!text->too_long)
            TRY(status_of_yajl(text, status, false, err));
        text->before += piece;
        bytes += piece;
        len -= piece;
        if (text->too_long || text->before - text->last_event > JSON_RUN_MAX)
            return error_set(
                err, CUZK_INVALID_ARGUMENT,
                "a string, number or white space of more than %d bytes, after byte %llu",
                JSON_RUN_MAX, (unsigned long long)text->last_event);
    }
    return CUZK_OK;
}

enum cuzk_status json_text_end(struct json_text *text, struct cuzk_error *err)
{
    return status_of_yajl(text, yajl_complete_parse(text->handle), true, err);
}
