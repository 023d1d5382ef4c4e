/* The phases of a job, one file each. A phase has three parts, which follow one another:

   - X_start, on the engine thread: finds what is to be done next and a worker for it;
   - X_run, on the worker: does it, and sees nothing of the engine thread's state;
   - X_done, on the engine thread: what follows from the result.

   The last two are static in the phase's file: they are the functions of its task (workers.h). The
   order of the phases is that of dispatch.c. Private to lib/engine. */
#ifndef ENGINE_PHASE_H
#define ENGINE_PHASE_H

#include "engine/srs.h"

struct core;
struct job;

/* --- load.c: the parameters of circuits ------------------------------------------------------- */

/* Starts all loads and unloads that can start now, and takes budget for what has been loaded. */
void load_start(struct core *core);

/* --- parse.c: a request becomes work with partitions ------------------------------------------ */

/* Starts all parses that may start now. */
void parse_start(struct core *core);

/* --- synthesize.c: a partition's input is checked, and its witness made ----------------------- */

/* Starts all syntheses that may start now. */
void synthesize_start(struct core *core);
/* Lets synthesized partitions into the channel to the devices while there is room. */
void synthesize_unblock(struct core *core);

/* --- prove.c: a witness becomes a proof, on a device ------------------------------------------ */

/* Starts one proof. False: there is no partition for which a device is free. */
bool prove_start(struct core *core);

/* --- verify.c: our own verifier, on each partition and on the whole job ----------------------- */

bool verify_is_due(const struct job *job);
/* Starts one verification that is due. False: no worker is free. */
bool verify_start(struct core *core, struct job *job);
/* A partition's proof is good. */
void verify_accept(struct core *core, struct job *job, unsigned partition);

/* --- record.c: the journal -------------------------------------------------------------------- */

/* A proof is to be journaled before its job is DONE. */
bool record_is_due(const struct job *job);
/* Starts that. False: no worker is free. */
bool record_start(struct core *core, struct job *job);
/* Starts to record the jobs that have failed or were cancelled, and to forget expired ones. */
void record_start_others(struct core *core);

#endif
