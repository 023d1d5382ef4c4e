/* The only door to the TOML library, which is C++: reads a file and passes on its leaves. */
#ifndef CUZK_PROGRAM_TOML_H
#define CUZK_PROGRAM_TOML_H

#include <cuzk/status.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One leaf: dotted key, value as text (array elements comma-separated), line number; is_text for
   strings, as opposed to numbers and booleans. False stops the reading. */
typedef bool toml_leaf_fn(void *context, const char *key, const char *value, bool is_text,
                          int line);

/* CUZK_IO: no such file; CUZK_INVALID_ARGUMENT: syntax, with line and column, or a value that is no
   text, whole number, boolean or array of these. */
enum cuzk_status toml_read(const char *path, toml_leaf_fn *fn, void *context,
                           struct cuzk_error *err);

#ifdef __cplusplus
}
#endif

#endif
