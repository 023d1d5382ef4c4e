/* A recorder of what ran when. An engine that is opened with one writes a TIMELINE line for each
   phase of each job; `cuzk waterfall` reads these lines and explains where the time went. Recording
   costs tens of nanoseconds an event. */
#ifndef CUZK_TRACE_H
#define CUZK_TRACE_H

#include <cuzk/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct cuzk_trace;

/* Starts a recorder. fd: an open file, pipe or socket that receives the lines; it stays the
   caller's and must stay open until cuzk_trace_destroy returns. CUZK_NO_MEMORY;
   CUZK_RESOURCE_EXHAUSTED: no thread. */
enum cuzk_status cuzk_trace_create(int fd, struct cuzk_trace **out, struct cuzk_error *err);

/* Writes what is left and frees the recorder. All engines that use it must be closed. NULL is
   allowed. */
void cuzk_trace_destroy(struct cuzk_trace *trace);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
