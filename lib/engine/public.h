/* What the files of the public interface share. Private to lib/engine. */
#ifndef ENGINE_PUBLIC_H
#define ENGINE_PUBLIC_H

#include "engine/stats.h"

/* A snapshot with the counters, on the caller's thread. Free *out with cuzk_snapshot_free. */
enum cuzk_status public_look(struct cuzk_engine *engine, struct cuzk_snapshot *out,
                             struct stats *stats, struct cuzk_error *err);

#endif
