/* Changing one place of a JSON text, for tests of readers. Everything else stays byte for byte. The
   text must be JSON and the place must exist; otherwise the running test fails. */
#ifndef TESTS_JSON_EDIT_H
#define TESTS_JSON_EDIT_H

#include <stdbool.h>
#include <stddef.h>

/* A part of a text. */
struct span {
    size_t begin;
    size_t end;
};

/* The value at a JSON pointer ("/comm_r/0"; no escapes), or the whole value for "". */
struct span json_find(const char *text, const char *pointer);

/* False if there is nothing at the pointer. */
bool json_try_find(const char *text, const char *pointer, struct span *value);

/* A copy of the value as text; free with mem_free. */
char *json_copy(const char *text, const char *pointer);

/* Each returns the changed text; free with mem_free. */
char *json_replace(const char *text, const char *pointer, const char *value);
/* Removes the item, or the member with its key. */
char *json_remove(const char *text, const char *pointer);
/* Adds an item to an array, or a member `"key":value` to an object, at the end. */
char *json_append(const char *text, const char *pointer, const char *item);
/* Gives a member another key. */
char *json_rename(const char *text, const char *pointer, const char *key);
/* Replaces any part of the text. */
char *json_splice(const char *text, struct span part, const char *with);

/* The text without white space between tokens. */
char *json_compact(const char *text);

#endif
