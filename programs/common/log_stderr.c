#include "log_stderr.h"

#include "base/clock.h"
#include "base/text.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static atomic_int max_level = CUZK_LOG_INFO;
static atomic_bool as_json;
static const char *const level_names[] = {"error", "warn", "info", "debug"};

void log_stderr_set_level(enum cuzk_log_level level)
{
    atomic_store(&max_level, (int)level);
}

void log_stderr_set_json(bool json)
{
    atomic_store(&as_json, json);
}

bool log_level_parse(const char *text, enum cuzk_log_level *level)
{
    for (int i = 0; i < 4; i++) {
        if (strcmp(text, level_names[i]) == 0) {
            *level = (enum cuzk_log_level)i;
            return true;
        }
    }
    return false;
}

static void write_entry(void *context, enum cuzk_log_level level, const char *area,
                        const char *entry)
{
    (void)context;
    if ((int)level > atomic_load(&max_level))
        return;
    struct text line = {0};
    if (atomic_load(&as_json)) {
        text_add(&line, "{\"time\":%llu,\"level\":\"%s\",\"component\":\"%s\",\"message\":",
                 (unsigned long long)clock_unix_s(), level_names[level], area);
        text_add_json(&line, entry);
        text_add_bytes(&line, "}\n", 2);
    } else {
        text_add(&line, "%s %s: %s\n", level_names[level], area, entry);
    }
    /* One write a line: lines of several threads never mix. A log that cannot be written must not
       stop the program, so the result does not matter. */
    if (!line.failed && write(STDERR_FILENO, line.data, line.len) < 0)
        atomic_load(&max_level);
    text_free(&line);
}

void log_stderr_install(void)
{
    cuzk_log_set_sink(write_entry, NULL);
}
