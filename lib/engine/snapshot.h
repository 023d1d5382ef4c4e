/* Copies of an engine's state for those who look at it. Private to lib/engine. */
#ifndef ENGINE_SNAPSHOT_H
#define ENGINE_SNAPSHOT_H

#include "engine/stats.h"

struct core;

/* On the engine thread. Free *out with cuzk_snapshot_free. CUZK_NO_MEMORY. */
enum cuzk_status snapshot_take(const struct core *core, struct cuzk_snapshot *out,
                               struct stats *stats, struct cuzk_error *err);

#endif
