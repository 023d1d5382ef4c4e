/* Reading a log: TIMELINE lines, or recorded events, become a list of events. Reading neither pairs
   nor explains them (waterfall/analyse.h).

   Times are microseconds since the start of the daemon that wrote the event; a log may hold several
   starts. -1 stands for "not in the log". */
#ifndef WATERFALL_LOG_H
#define WATERFALL_LOG_H

#include "trace/event.h"
#include "waterfall/strings.h"

#include <cuzk/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define WATERFALL_NONE (-1)

/* One event of a log. */
struct waterfall_event {
    int64_t time_us;
    int64_t value;     /* the number under the kind's key, or WATERFALL_NONE */
    uint32_t label;    /* index into the log's strings; 0 is the empty string: no job */
    uint32_t text;     /* index into the log's strings: details that are not one of the fields */
    uint32_t line;     /* position in the input, from 1 */
    uint32_t epoch;    /* which start of the daemon, from 0 */
    int32_t partition; /* WATERFALL_NONE: none; so with the next two */
    int32_t worker;
    int32_t device;
    uint16_t kind; /* enum trace_kind */
};

/* An input line that could not be used, with its cause. */
struct waterfall_skipped {
    uint64_t line;
    char why[48];
    char start[80]; /* the line's first characters, printable */
};

enum { WATERFALL_SKIPPED_MAX = 100 }; /* lines that are listed; all are counted */

struct waterfall_log {
    struct waterfall_event *events;
    size_t count, capacity;
    struct waterfall_strings strings;
    uint64_t lines_total;    /* of any kind */
    uint64_t lines_timeline; /* that have the TIMELINE mark */
    uint64_t lines_skipped;  /* of those, could not be used */
    uint64_t dropped;        /* events that the daemon says it lost (DROPPED) */
    struct waterfall_skipped skipped[WATERFALL_SKIPPED_MAX];
    size_t events_max; /* 0: WATERFALL_EVENTS_MAX; later events are skipped and counted */
    bool ordered;      /* false: offsets jump about, and a restart looks like disorder */
    bool from_log;     /* whole milliseconds; false: from a live timeline */
};

#define WATERFALL_EVENTS_MAX ((size_t)8 << 20)

/* Adds all lines of a stream to a zero-initialised (or earlier filled) log. Lines of any length and
   content are allowed; lines without the TIMELINE mark are counted and passed over. The reader
   understands our own lines and those of the Rust cuzk: CHAN_SEND or GPU_QUEUE, unescaped job
   ids with blanks, brackets and commas, prefixes of journald or containers before the mark. */
enum cuzk_status waterfall_log_read(struct waterfall_log *log, FILE *stream,
                                    struct cuzk_error *err);

/* As waterfall_log_read for bytes in memory. Both skip an unterminated last line, which may be cut
   in the middle of a number. */
enum cuzk_status waterfall_log_read_bytes(struct waterfall_log *log, const char *bytes, size_t len,
                                          struct cuzk_error *err);

/* Adds recorded events (trace_history). The log keeps copies. */
enum cuzk_status waterfall_log_add_records(struct waterfall_log *log,
                                           const struct trace_record *records, size_t count,
                                           struct cuzk_error *err);

/* The number after "key=" in an event's details ("key=value,key=value"); WATERFALL_NONE if there is
   none. */
int64_t waterfall_log_detail(const char *details, const char *key);

void waterfall_log_free(struct waterfall_log *log);

#endif
