/* The serve functions of the calls of call.h. Each runs on the engine thread and answers its call,
   at once or later. Private to lib/engine. */
#ifndef ENGINE_CALLS_H
#define ENGINE_CALLS_H

struct call;
struct core;

void calls_reserve(struct core *core, struct call *call);
void calls_activate(struct core *core, struct call *call);
void calls_watch(struct core *core, struct call *call);
void calls_unwatch(struct core *core, struct call *call);
void calls_cancel(struct core *core, struct call *call);
void calls_preload(struct core *core, struct call *call);
void calls_evict(struct core *core, struct call *call);
void calls_drain(struct core *core, struct call *call);
void calls_wait_idle(struct core *core, struct call *call);
void calls_snapshot(struct core *core, struct call *call);
void calls_busy(struct core *core, struct call *call);
/* Of a bare struct call. Answered when the engine thread ends. */
void calls_close(struct core *core, struct call *call);

#endif
