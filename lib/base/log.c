#include "base/log.h"

#include "base/clock.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static atomic_int max_level = LOG_INFO;
static atomic_bool as_json;
static const char *const level_names[] = {"error", "warn", "info", "debug"};

void log_set_level(enum log_level level)
{
    atomic_store(&max_level, (int)level);
}

void log_set_json(bool json)
{
    atomic_store(&as_json, json);
}

bool log_parse_level(const char *text, enum log_level *level)
{
    for (int i = 0; i < 4; i++) {
        if (strcmp(text, level_names[i]) == 0) {
            *level = (enum log_level)i;
            return true;
        }
    }
    return false;
}

void log_write(enum log_level level, const char *component, const char *format, ...)
{
    if ((int)level > atomic_load(&max_level))
        return;
    char message[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);

    struct text line = {0};
    if (atomic_load(&as_json)) {
        text_add(&line, "{\"time\":%llu,\"level\":\"%s\",\"component\":\"%s\",\"message\":",
                 (unsigned long long)clock_unix_s(), level_names[level], component);
        text_add_json(&line, message);
        text_add_bytes(&line, "}\n", 2);
    } else {
        for (char *c = message; *c; c++) {
            if ((unsigned char)*c < 0x20 || *c == 0x7f)
                *c = '?';
        }
        text_add(&line, "%s %s: %s\n", level_names[level], component, message);
    }
    /* One write a line: lines of several threads never mix. A log that cannot be written must not
       stop the daemon, so the result is not looked at. */
    if (!line.failed && write(STDERR_FILENO, line.data, line.len) < 0)
        atomic_load(&max_level);
    text_free(&line);
}
