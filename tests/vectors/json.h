/* Reading JSON known answers as a tree; for tests only. Every accessor fails the test where the
   text has another form than asked for. */
#ifndef TESTS_VECTORS_JSON_H
#define TESTS_VECTORS_JSON_H

#include "support/support.h"

#include "base/mem.h"

#include <string.h>
#include <yajl/yajl_tree.h>

/* Free with yajl_tree_free. */
static inline yajl_val json_read_or_skip(const char *name)
{
    size_t len;
    char why[256];
    char *text = (char *)vector_read_or_skip(name, &len);
    yajl_val root = yajl_tree_parse(text, why, sizeof why);
    mem_free(text);
    if (!root)
        fail_msg("%s: %s", name, why);
    return root;
}

/* NULL if there is no such member. */
static inline yajl_val json_member(yajl_val object, const char *key)
{
    const char *path[] = {key, NULL};
    return yajl_tree_get(object, path, yajl_t_any);
}

static inline const char *json_string(yajl_val object, const char *key)
{
    const char *text = YAJL_GET_STRING(json_member(object, key));
    if (!text)
        fail_msg("no text '%s'", key);
    return text;
}

static inline bool json_bool(yajl_val object, const char *key)
{
    yajl_val value = json_member(object, key);
    if (!YAJL_IS_TRUE(value) && !YAJL_IS_FALSE(value))
        fail_msg("no true or false '%s'", key);
    return YAJL_IS_TRUE(value);
}

static inline size_t json_len(yajl_val array)
{
    assert_true(YAJL_IS_ARRAY(array));
    return YAJL_GET_ARRAY(array)->len;
}

static inline yajl_val json_at(yajl_val array, size_t i)
{
    assert_true(i < json_len(array));
    return YAJL_GET_ARRAY(array)->values[i];
}

#endif
