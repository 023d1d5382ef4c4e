/* JSON as a stream of events, over yajl. Memory is taken once and does not grow with the text.
   Private to lib/vanilla. */
#ifndef VANILLA_JSON_TEXT_H
#define VANILLA_JSON_TEXT_H

#include <cuzk/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most bytes without an event: the longest string, number or white space. */
enum { JSON_RUN_MAX = 8 * 1024 };

enum json_event {
    JSON_NULL,
    JSON_BOOLEAN,
    JSON_NUMBER, /* text: its digits as written */
    JSON_STRING, /* text: without quotes and escapes, not terminated */
    JSON_KEY,    /* text: as of a string */
    JSON_MAP,
    JSON_MAP_END,
    JSON_ARRAY,
    JSON_ARRAY_END,
};

/* Receives every event; returns false to stop the reading. */
typedef bool json_event_fn(void *context, enum json_event event, const char *text, size_t len);

struct json_text;

/* NULL without memory. */
struct json_text *json_text_new(json_event_fn *on_event, void *context);
void json_text_free(struct json_text *text);

/* Reads the next bytes of the text. Errors: CANCELLED if on_event stopped the reading (err is left
   as it is), INVALID_ARGUMENT if the text is not JSON or JSON_RUN_MAX is exceeded. Not to be called
   again after a failure. */
enum cuzk_status json_text_feed(struct json_text *text, const char *bytes, size_t len,
                                struct cuzk_error *err);

/* To be called at the end of the text. Fails if the JSON value is not complete. */
enum cuzk_status json_text_end(struct json_text *text, struct cuzk_error *err);

/* Inside on_event: the offset right behind the event's last byte, counted from the beginning of
   the text. */
uint64_t json_text_offset(const struct json_text *text);

/* Between two calls of json_text_feed: true if an event ended with the last byte that was fed. */
bool json_text_at_event(const struct json_text *text);

/* Counts bytes that belong to the text but were not fed. */
void json_text_skip(struct json_text *text, uint64_t bytes);

#endif
