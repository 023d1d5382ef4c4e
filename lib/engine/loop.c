/* The engine thread. */
#include "engine/core.h"

#include "base/clock.h"

/* In closing: all workers are back and have nothing more to write down. */
static bool may_stop(const struct cuzk_engine *engine)
{
    return engine->closing && engine->busy == 0 && engine->n_records == 0 &&
           engine->n_forgotten == 0;
}

void *core_thread(void *context)
{
    struct cuzk_engine *engine = context;
    core_dispatch(engine); /* what the journal brought */
    for (;;) {
        uint64_t wait_ms = core_next_expiry(engine, clock_now_ms());
        bool timed_out = false;
        struct message *message = wait_ms == UINT64_MAX
                                      ? chan_receive(engine->inbox)
                                      : chan_receive_for(engine->inbox, wait_ms, &timed_out);
        if (message && message->is_call)
            core_call(engine, (struct call *)(void *)message);
        else if (message)
            core_task_done(engine, (struct worker *)(void *)message);
        core_dispatch(engine);
        core_expire(engine, clock_now_ms());
        core_dispatch(engine);
        if (may_stop(engine))
            break;
    }
    core_answer(engine->closer, CUZK_OK);
    return NULL;
}
