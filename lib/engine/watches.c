#include "engine/watches.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

void watches_free(struct watches *watches)
{
    mem_free(watches->all);
    *watches = (struct watches){0};
}

enum cuzk_status watches_add(struct watches *watches, const struct job *job,
                             struct call_watch *call)
{
    uint64_t id = ++watches->next_id;
    if (job_is_over(job)) {
        struct cuzk_result result;
        call->watch = id;
        job_result(job, job_outcome(job), &result);
        call->fn(call->context, &result);
        return CUZK_OK;
    }
    if (!MEM_GROW(watches->all, watches->capacity, watches->n + 1))
        return error_set(&call->call.err, CUZK_NO_MEMORY, "no memory for another watch");
    uint64_t now_ms = clock_now_ms();
    bool is_limited = call->timeout_ms > 0 && call->timeout_ms <= UINT64_MAX - now_ms;
    watches->all[watches->n++] =
        (struct watch){.id = id,
                       .job = job,
                       .until_ms = is_limited ? now_ms + call->timeout_ms : 0,
                       .fn = call->fn,
                       .context = call->context};
    call->watch = id;
    return CUZK_OK;
}

bool watches_remove(struct watches *watches, uint64_t id)
{
    for (size_t i = 0; i < watches->n; i++)
        if (watches->all[i].id == id) {
            watches->all[i] = watches->all[--watches->n];
            return true;
        }
    return false;
}

void watches_notify(struct watches *watches, const struct job *job,
                    const struct cuzk_result *result)
{
    size_t kept = 0;
    for (size_t i = 0; i < watches->n; i++) {
        struct watch *watch = &watches->all[i];
        if (watch->job == job)
            watch->fn(watch->context, result);
        else
            watches->all[kept++] = *watch;
    }
    watches->n = kept;
}

void watches_wait_idle(struct watches *watches, struct call_wait_idle *call)
{
    call_push(&watches->idle_waiters, &call->call);
}

/* --- Time ------------------------------------------------------------------------------------- */

void watches_expire(struct watches *watches, uint64_t now_ms)
{
    for (size_t i = 0; i < watches->n;) {
        struct watch watch = watches->all[i];
        if (watch.until_ms == 0 || watch.until_ms > now_ms) {
            i++;
            continue;
        }
        watches->all[i] = watches->all[--watches->n];
        struct cuzk_result result;
        job_result(watch.job, CUZK_JOB_TIMEOUT, &result);
        watch.fn(watch.context, &result);
    }
}

static struct call_wait_idle *wait_idle_of(struct call *call)
{
    return CONTAINER_OF(call, struct call_wait_idle, call);
}

void watches_answer_idle(struct watches *watches, bool idle, uint64_t now_ms)
{
    struct call **link = &watches->idle_waiters;
    while (*link) {
        struct call_wait_idle *wait = wait_idle_of(*link);
        if (!idle && wait->until_ms > now_ms) {
            link = &wait->call.next;
            continue;
        }
        *link = wait->call.next;
        wait->idle = idle;
        call_answer(&wait->call, CUZK_OK);
    }
}

uint64_t watches_next_ms(const struct watches *watches)
{
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i < watches->n; i++)
        if (watches->all[i].until_ms && watches->all[i].until_ms < next)
            next = watches->all[i].until_ms;
    for (struct call *call = watches->idle_waiters; call; call = call->next)
        if (wait_idle_of(call)->until_ms < next)
            next = wait_idle_of(call)->until_ms;
    return next;
}
