/* Calls: what a caller asks the engine thread for, one type a question. A call lives on the
   caller's stack; the caller waits until the engine thread has answered. Private to lib/engine. */
#ifndef ENGINE_CALL_H
#define ENGINE_CALL_H

#include "engine/shared.h"

#include <semaphore.h>

struct job;
struct stats;

/* The head of each call. */
struct call {
    struct message message;
    /* On the engine thread. Answers the call, now or later. */
    void (*serve)(struct core *core, struct call *call);
    sem_t done;
    struct call *next; /* while it waits for its answer, with others */
    enum cuzk_status status;
    struct cuzk_error err;
};

/* Below: what the caller sets, then what the answer sets. */

/* First half of a submission: admission. */
struct call_reserve {
    struct call call;
    struct request *request; /* the job's, if there is a new one */
    const char *circuit_id;  /* "": only known when parsed */
    bool attached;           /* the job was there already */
    uint32_t position;
    char *job_id;    /* CUZK_JOB_ID_BYTES of the caller's */
    uint64_t number; /* of the new job */
    struct job *job; /* the new one, pinned if there is a journal */
};

/* Second half, with a journal: the job is durable, or could not be made so. */
struct call_activate {
    struct call call;
    struct job *job;
    enum cuzk_status durable;
    struct cuzk_error why_not;
};

struct call_watch {
    struct call call;
    const char *job_id;
    uint64_t timeout_ms; /* 0: no limit */
    cuzk_result_fn *fn;
    void *context;
    uint64_t watch;
};

struct call_unwatch {
    struct call call;
    uint64_t watch;
    bool was_there;
};

struct call_cancel {
    struct call call;
    const char *job_id;
    bool was_running;
};

struct call_preload {
    struct call call;
    const char *circuit_id;
    bool already_loaded;
    uint64_t load_ms;
};

struct call_evict {
    struct call call;
    const char *circuit_id;
    bool was_loaded;
    uint64_t freed_bytes;
};

struct call_drain {
    struct call call;
    bool finish_queued;
};

struct call_wait_idle {
    struct call call;
    uint64_t until_ms; /* less than UINT64_MAX */
    bool idle;
};

struct call_snapshot {
    struct call call;
    struct cuzk_snapshot *snapshot;
    struct stats *stats;
};

struct call_busy {
    struct call call;
    unsigned busy; /* workers with a task */
};

/* The caller's side: sends the call, whose serve is set, and waits for the answer. Never from a
   callback on the engine thread. Returns the call's status; err is set unless that is CUZK_OK. */
enum cuzk_status call_ask(const struct engine_shared *shared, struct call *call,
                          struct cuzk_error *err);

/* The engine thread's side. With a status other than CUZK_OK, call->err has been set. The call is
   the caller's again, and may be gone. */
void call_answer(struct call *call, enum cuzk_status status);

/* Puts a call into a list of calls that wait; takes the first one out, NULL: there is none. */
void call_push(struct call **list, struct call *call);
struct call *call_pop(struct call **list);

#endif
