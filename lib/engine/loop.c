#include "engine/loop.h"

#include "engine/core.h"
#include "engine/dispatch.h"

#include "base/clock.h"

/* In closing: all workers are back and have nothing more to write down. */
static bool may_stop(const struct core *core)
{
    return core->closing && core->workers.busy == 0 && core->jobs.n_records == 0 &&
           core->jobs.n_forgotten == 0;
}

/* Until a message comes, or until something expires: then NULL. */
static struct message *next_message(struct core *core)
{
    uint64_t next_ms = jobs_next_ms(core);
    if (watches_next_ms(&core->watches) < next_ms)
        next_ms = watches_next_ms(&core->watches);
    if (next_ms == UINT64_MAX)
        return chan_receive(core->shared->inbox);
    uint64_t now_ms = clock_now_ms();
    bool timed_out = false;
    return chan_receive_for(core->shared->inbox, next_ms > now_ms ? next_ms - now_ms : 0,
                            &timed_out);
}

static void serve_message(struct core *core, struct message *message)
{
    if (message->is_call) {
        struct call *call = CONTAINER_OF(message, struct call, message);
        call->serve(core, call);
    } else {
        dispatch_take_back(core, CONTAINER_OF(message, struct worker, message));
    }
}

static void expire_all(struct core *core)
{
    uint64_t now_ms = clock_now_ms();
    watches_expire(&core->watches, now_ms);
    jobs_expire(core, now_ms);
    if (core->watches.idle_waiters)
        watches_answer_idle(&core->watches, jobs_are_idle(core), now_ms);
}

void *loop_run(void *context)
{
    struct core *core = context;
    dispatch_run(core); /* what the journal brought */
    do {
        struct message *message = next_message(core);
        if (message)
            serve_message(core, message);
        dispatch_run(core);
        expire_all(core);
        dispatch_run(core);
    } while (!may_stop(core));
    call_answer(core->closer, CUZK_OK);
    return NULL;
}
