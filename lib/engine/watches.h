/* Watches of jobs, and calls that wait until nothing runs. Engine thread only. Private to
   lib/engine. */
#ifndef ENGINE_WATCHES_H
#define ENGINE_WATCHES_H

#include "engine/call.h"
#include "engine/job.h"

/* A function that is to be called when a job has ended. */
struct watch {
    uint64_t id;
    const struct job *job;
    uint64_t until_ms; /* 0: no limit */
    cuzk_result_fn *fn;
    void *context;
};

/* Zero-initialise; free with watches_free. */
struct watches {
    struct watch *all;
    size_t n, capacity;
    uint64_t next_id;
    struct call *idle_waiters; /* struct call_wait_idle */
};

void watches_free(struct watches *watches);

/* Adds a watch with the id, function and limit of the call, whose `watch` is set; of a job that is
   over the function is called at once. CUZK_NO_MEMORY. */
enum cuzk_status watches_add(struct watches *watches, const struct job *job,
                             struct call_watch *call);
/* False: there is no such watch. */
bool watches_remove(struct watches *watches, uint64_t id);
/* Calls the functions of all watches of the job, and removes them. */
void watches_notify(struct watches *watches, const struct job *job,
                    const struct cuzk_result *result);

/* Leaves a call unanswered until nothing runs or its time is over. */
void watches_wait_idle(struct watches *watches, struct call_wait_idle *call);

/* Removes watches whose time is over, with CUZK_JOB_TIMEOUT. */
void watches_expire(struct watches *watches, uint64_t now_ms);
/* Answers the waiting calls whose time is over, and all of them if nothing runs. */
void watches_answer_idle(struct watches *watches, bool idle, uint64_t now_ms);
/* When the next time of a watch or a waiting call is over; UINT64_MAX: never. */
uint64_t watches_next_ms(const struct watches *watches);

#endif
