#include "engine/call.h"

#include "base/check.h"

enum cuzk_status call_ask(const struct engine_shared *shared, struct call *call,
                          struct cuzk_error *err)
{
    CHECK(!pthread_equal(pthread_self(), shared->thread)); /* a callback must not call the engine */
    call->message.is_call = true;
    sem_init(&call->done, 0, 0);
    CHECK(chan_send(shared->inbox, &call->message));
    while (sem_wait(&call->done) != 0)
        ; /* interrupted by a signal */
    sem_destroy(&call->done);
    if (call->status != CUZK_OK && err)
        *err = call->err;
    return call->status;
}

void call_answer(struct call *call, enum cuzk_status status)
{
    call->status = status;
    sem_post(&call->done);
}

void call_push(struct call **list, struct call *call)
{
    call->next = *list;
    *list = call;
}

struct call *call_pop(struct call **list)
{
    struct call *call = *list;
    if (call)
        *list = call->next;
    return call;
}
