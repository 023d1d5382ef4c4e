/* The emitting side of <cuzk/log.h>: entries for the sink that the program has set. Never used by
   library code to report a failure: that is what struct cuzk_error is for. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <cuzk/log.h>

/* Hands one entry to the sink. area: the part that speaks ("engine"). Does nothing without a sink.
   May be called from any thread, but not by the sink itself. */
void log_write(enum cuzk_log_level level, const char *area, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define log_error(area, ...) log_write(CUZK_LOG_ERROR, area, __VA_ARGS__)
#define log_warn(area, ...) log_write(CUZK_LOG_WARN, area, __VA_ARGS__)
#define log_info(area, ...) log_write(CUZK_LOG_INFO, area, __VA_ARGS__)
#define log_debug(area, ...) log_write(CUZK_LOG_DEBUG, area, __VA_ARGS__)

#endif
