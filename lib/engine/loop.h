/* The engine thread. Private to lib/engine. */
#ifndef ENGINE_LOOP_H
#define ENGINE_LOOP_H

/* The thread's function: serves the inbox until a call of calls_close is there and all workers are
   back. context: struct core. */
void *loop_run(void *context);

#endif
