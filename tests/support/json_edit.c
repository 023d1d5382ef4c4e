#include "support/json_edit.h"

#include "support/support.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static size_t skip_space(const char *text, size_t at)
{
    return at + strspn(text + at, " \t\r\n");
}

/* The place behind the string that begins at `at`. */
static size_t skip_string(const char *text, size_t at)
{
    for (at++; text[at] != '"'; at++) {
        assert_int_not_equal(text[at], '\0');
        if (text[at] == '\\')
            at++;
    }
    return at + 1;
}

/* The place behind the value that begins at `at`. */
static size_t skip_value(const char *text, size_t at)
{
    unsigned depth = 0;
    do {
        if (text[at] == '"') {
            at = skip_string(text, at);
        } else if (text[at] == '{' || text[at] == '[') {
            depth++;
            at++;
        } else if (text[at] == '}' || text[at] == ']') {
            depth--;
            at++;
        } else if (depth > 0) {
            assert_int_not_equal(text[at], '\0');
            at++;
        } else {
            at += strcspn(text + at, ",]} \t\r\n");
        }
    } while (depth > 0);
    return at;
}

/* A member or item: where it begins (at its key, if any) and its value. */
struct entry {
    size_t begin;
    struct span value;
};

/* The entry called `name` of the object or array at `at`. */
static bool find_entry(const char *text, size_t at, const char *name, size_t name_len,
                       struct entry *entry)
{
    bool object = text[at] == '{';
    unsigned long wanted = object ? 0 : strtoul(name, NULL, 10);
    if (!object && text[at] != '[')
        return false;
    at = skip_space(text, at + 1);
    for (unsigned long i = 0; text[at] != '}' && text[at] != ']'; i++) {
        bool found = i == wanted;
        entry->begin = at;
        if (object) {
            size_t end = skip_string(text, at);
            found = end - at - 2 == name_len && memcmp(text + at + 1, name, name_len) == 0;
            at = skip_space(text, end);
            assert_int_equal(text[at], ':');
            at = skip_space(text, at + 1);
        }
        entry->value = (struct span){at, skip_value(text, at)};
        if (found)
            return true;
        at = skip_space(text, entry->value.end);
        if (text[at] == ',')
            at = skip_space(text, at + 1);
    }
    return false;
}

static bool find(const char *text, const char *pointer, struct entry *entry)
{
    size_t begin = skip_space(text, 0);
    *entry = (struct entry){begin, {begin, skip_value(text, begin)}};
    while (*pointer == '/') {
        pointer++;
        size_t len = strcspn(pointer, "/");
        if (!find_entry(text, entry->value.begin, pointer, len, entry))
            return false;
        pointer += len;
    }
    return true;
}

bool json_try_find(const char *text, const char *pointer, struct span *value)
{
    struct entry entry;
    if (!find(text, pointer, &entry))
        return false;
    *value = entry.value;
    return true;
}

static struct entry find_or_fail(const char *text, const char *pointer)
{
    struct entry entry;
    if (!find(text, pointer, &entry))
        fail_msg("nothing at %s", pointer);
    return entry;
}

struct span json_find(const char *text, const char *pointer)
{
    return find_or_fail(text, pointer).value;
}

char *json_copy(const char *text, const char *pointer)
{
    struct span value = json_find(text, pointer);
    char *copy = mem_zalloc(value.end - value.begin + 1, 1);
    assert_non_null(copy);
    memcpy(copy, text + value.begin, value.end - value.begin);
    return copy;
}

char *json_splice(const char *text, struct span part, const char *with)
{
    size_t len = strlen(text);
    size_t with_len = strlen(with);
    char *out = mem_alloc(part.begin + with_len + (len - part.end) + 1, 1);
    assert_non_null(out);
    memcpy(out, text, part.begin);
    memcpy(out + part.begin, with, with_len);
    memcpy(out + part.begin + with_len, text + part.end, len - part.end + 1);
    return out;
}

char *json_replace(const char *text, const char *pointer, const char *value)
{
    return json_splice(text, json_find(text, pointer), value);
}

char *json_remove(const char *text, const char *pointer)
{
    struct entry entry = find_or_fail(text, pointer);
    struct span part = {entry.begin, skip_space(text, entry.value.end)};
    if (text[part.end] == ',') {
        part.end++;
    } else {
        while (part.begin > 0 && strchr(" \t\r\n", text[part.begin - 1]))
            part.begin--;
        part.begin -= text[part.begin - 1] == ',';
    }
    return json_splice(text, part, "");
}

char *json_append(const char *text, const char *pointer, const char *item)
{
    struct span value = json_find(text, pointer);
    bool empty = skip_space(text, value.begin + 1) == value.end - 1;
    char *added = mem_alloc(strlen(item) + 2, 1);
    assert_non_null(added);
    added[0] = ',';
    memcpy(added + 1, item, strlen(item) + 1);
    char *out =
        json_splice(text, (struct span){value.end - 1, value.end - 1}, empty ? item : added);
    mem_free(added);
    return out;
}

char *json_rename(const char *text, const char *pointer, const char *key)
{
    struct entry entry = find_or_fail(text, pointer);
    return json_splice(text, (struct span){entry.begin + 1, skip_string(text, entry.begin) - 1},
                       key);
}

char *json_compact(const char *text)
{
    char *out = mem_alloc(strlen(text) + 1, 1);
    assert_non_null(out);
    size_t len = 0;
    for (size_t at = skip_space(text, 0); text[at]; at = skip_space(text, at)) {
        size_t end = text[at] == '"' ? skip_string(text, at) : at + 1;
        memcpy(out + len, text + at, end - at);
        len += end - at;
        at = end;
    }
    out[len] = '\0';
    return out;
}
