/* Checks the calls of a progress function. */
#ifndef TESTS_SUPPORT_PROGRESS_H
#define TESTS_SUPPORT_PROGRESS_H

#include "support/support.h"

/* The calls so far; log_progress fails the running test if progress goes back. */
struct progress_log {
    double last;
    unsigned calls;
};

static inline void log_progress(void *context, double done, const char *what)
{
    struct progress_log *log = context;
    assert_true(done >= log->last);
    assert_non_null(what);
    log->last = done;
    log->calls++;
}

#endif
