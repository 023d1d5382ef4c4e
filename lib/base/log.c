#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

/* Held for reading while the sink runs, so that changing the sink waits for its calls to end. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static cuzk_log_fn *sink;
static void *sink_context;

void cuzk_log_set_sink(cuzk_log_fn *fn, void *context)
{
    pthread_rwlock_wrlock(&lock);
    sink = fn;
    sink_context = context;
    pthread_rwlock_unlock(&lock);
}

void log_write(enum cuzk_log_level level, const char *area, const char *format, ...)
{
    pthread_rwlock_rdlock(&lock);
    if (sink) {
        char text[2048];
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        for (char *c = text; *c; c++) {
            if ((unsigned char)*c < 0x20 || *c == 0x7f)
                *c = '?';
        }
        sink(sink_context, level, area, text);
    }
    pthread_rwlock_unlock(&lock);
}
