/* The programs' log: each entry of <cuzk/log.h> as one line on stderr, "LEVEL area: text", or as
   one line of JSON. */
#ifndef CUZK_LOG_STDERR_H
#define CUZK_LOG_STDERR_H

#include <cuzk/log.h>
#include <stdbool.h>

/* Sets stderr as the sink of this process: levels up to CUZK_LOG_INFO, as text. */
void log_stderr_install(void);

/* Entries of a lesser importance than level are left out. May be called at any time from any
   thread. */
void log_stderr_set_level(enum cuzk_log_level level);
void log_stderr_set_json(bool json);

/* "error" "warn" "info" "debug"; false for anything else. */
bool log_level_parse(const char *text, enum cuzk_log_level *level);

#endif
