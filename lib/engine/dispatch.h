/* The order in which the phases of all jobs get their workers. Engine thread only. Private to
   lib/engine. */
#ifndef ENGINE_DISPATCH_H
#define ENGINE_DISPATCH_H

struct core;
struct worker;

/* Gives work to idle workers until nothing more can be given. */
void dispatch_run(struct core *core);
/* A worker is back: does what follows from its task's result. */
void dispatch_take_back(struct core *core, struct worker *worker);

#endif
