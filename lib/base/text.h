/* A growing text buffer, with escaping for JSON. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Zero-initialise; free with text_free. `data` is NULL before the first addition and terminated by
   a zero byte after it. After a failed allocation `failed` is set and further additions are
   ignored. */
struct text {
    char *data;
    size_t len;
    size_t capacity;
    bool failed;
};

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_bytes(struct text *text, const char *bytes, size_t len);

/* A JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void text_add_json(struct text *text, const char *string);

void text_free(struct text *text);

#endif
