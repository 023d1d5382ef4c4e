/* Jobs of earlier processes. Private to lib/engine. */
#ifndef ENGINE_RESTORE_H
#define ENGINE_RESTORE_H

#include <cuzk/status.h>

struct core;

/* Takes over what the journal holds: pending jobs are queued again, finished ones are served until
   they expire. Before the threads run. CUZK_IO, CUZK_NO_MEMORY. */
enum cuzk_status restore_jobs(struct core *core, struct cuzk_error *err);

#endif
