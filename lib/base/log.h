/* The daemon's log: one line an entry on stderr, "LEVEL component: text", or JSON lines. Never used
   by library code to report a failure: that is what struct cuzk_error is for. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* May be called at any time from any thread; the default is LOG_INFO, text. */
void log_set_level(enum log_level level);
void log_set_json(bool json);

/* "error" "warn" "info" "debug"; false for anything else. */
bool log_parse_level(const char *text, enum log_level *level);

/* Control characters in the text are escaped, so that an entry is always one line. */
void log_write(enum log_level level, const char *component, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define log_error(component, ...) log_write(LOG_ERROR, component, __VA_ARGS__)
#define log_warn(component, ...) log_write(LOG_WARN, component, __VA_ARGS__)
#define log_info(component, ...) log_write(LOG_INFO, component, __VA_ARGS__)
#define log_debug(component, ...) log_write(LOG_DEBUG, component, __VA_ARGS__)

#endif
