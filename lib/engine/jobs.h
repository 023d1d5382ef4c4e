/* The jobs of an engine: how they come, how they end, and who hears of it. Engine thread only.
   Private to lib/engine. */
#ifndef ENGINE_JOBS_H
#define ENGINE_JOBS_H

#include "engine/job.h"

enum { JOBS_RESULTS_MAX = 20000 /* finished jobs kept; more push out the oldest */ };

/* Zero-initialise, then set next_number. */
struct jobs {
    struct job **all; /* by number; finished ones until they expire */
    size_t n, capacity;
    uint64_t next_number;
    uint64_t next_sweep_ms; /* when results are looked through for expired ones */
    size_t n_records;       /* jobs with record_wanted */
    uint64_t *forgotten;    /* numbers that the journal is to forget */
    size_t n_forgotten, forgotten_capacity;
};

struct core;

void jobs_free(struct core *core);

/* Adds a job in state ACCEPTED, and puts it in line. NULL without memory. */
struct job *jobs_add(struct core *core, const char *request_id, enum cuzk_priority priority,
                     uint64_t number);
/* By job id, or by a request id that only one job has. NULL: err says why not. */
struct job *jobs_find(const struct core *core, const char *text, struct cuzk_error *err);
/* A job with this request's id and content that is alive, or whose proof is kept. NULL: none. */
struct job *jobs_find_same(const struct core *core, const struct request *request);
/* The job at place i of the line, 0 first. */
struct job *jobs_in_line(const struct core *core, size_t i);

/* Takes memory for a job from the budget. False: not now; the job's BUDGET_WAIT span is then open,
   until the memory is there. */
bool jobs_take_memory(struct core *core, struct job *job, enum budget_use use, uint64_t bytes,
                      struct budget_hold *hold);
/* Frees a partition's witness and its part of the budget. */
void jobs_drop_witness(struct core *core, struct job *job, unsigned partition);
/* Does a partition again from its synthesis on, after a failure that is not the input's. reason:
   "reason=…", for the trace. False, and nothing happens, if that was tried before. */
bool jobs_redo_partition(struct core *core, struct job *job, unsigned partition, const char *reason,
                         const struct cuzk_error *why);

/* Ends a job that is not over: notifies its watchers, and frees all but the result as soon as no
   worker looks at the job. err: why it ended; NULL with DONE. */
void jobs_end(struct core *core, struct job *job, enum job_state state,
              const struct cuzk_error *err);
/* Ends a job as FAILED in a phase of one partition; err gets both as a prefix. */
void jobs_fail_partition(struct core *core, struct job *job, unsigned partition, const char *phase,
                         struct cuzk_error *err);
/* How the job ended is to be recorded in the journal; for jobs that are FAILED or CANCELLED. */
void jobs_want_record(struct core *core, struct job *job);
/* A task or a call no longer looks at the job. */
void jobs_unpin(struct core *core, struct job *job);

/* Frees finished jobs that have been kept long enough. */
void jobs_expire(struct core *core, uint64_t now_ms);
/* When jobs_expire has something to do; UINT64_MAX: never. */
uint64_t jobs_next_ms(const struct core *core);
/* Nothing runs, and nothing would begin without a call. */
bool jobs_are_idle(const struct core *core);

#endif
