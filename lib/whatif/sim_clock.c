#include "whatif/sim_clock.h"

#include "base/check.h"
#include "base/mem.h"

#include <pthread.h>
#include <stddef.h>
#include <time.h>

/* A thread inside, on its own stack. */
struct waiter {
    struct waiter *next;
    uint64_t until_us; /* with a lock: when it came */
    uint64_t order;
    struct sim_lock *lock; /* what it waits for; NULL: only for time */
    bool released;
    pthread_cond_t turn;
};

struct sim_clock {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    uint64_t now_us, changes;
    struct waiter *waiters;
    unsigned n_waiters;
    bool ended;
};

struct sim_clock *sim_clock_new(void)
{
    struct sim_clock *clock = mem_zalloc(1, sizeof *clock);
    if (!clock)
        return NULL;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&clock->mutex, NULL);
    pthread_cond_init(&clock->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return clock;
}

void sim_clock_free(struct sim_clock *clock)
{
    if (!clock)
        return;
    CHECK(clock->n_waiters == 0);
    pthread_cond_destroy(&clock->changed);
    pthread_mutex_destroy(&clock->mutex);
    mem_free(clock);
}

static void note_change(struct sim_clock *clock)
{
    clock->changes++;
    pthread_cond_broadcast(&clock->changed);
}

/* Waits until it is released. Called and left with the mutex held. */
static void wait_inside(struct sim_clock *clock, struct waiter *waiter)
{
    pthread_cond_init(&waiter->turn, NULL);
    waiter->next = clock->waiters;
    clock->waiters = waiter;
    clock->n_waiters++;
    note_change(clock);
    while (!waiter->released)
        pthread_cond_wait(&waiter->turn, &clock->mutex);
    pthread_cond_destroy(&waiter->turn);
}

static void release_waiter(struct sim_clock *clock, struct waiter *waiter)
{
    struct waiter **link = &clock->waiters;
    while (*link != waiter)
        link = &(*link)->next;
    *link = waiter->next;
    clock->n_waiters--;
    waiter->released = true;
    pthread_cond_signal(&waiter->turn);
    note_change(clock);
}

/* The first thread that waits for a lock, or (NULL) for time; NULL: none. */
static struct waiter *first_waiter(const struct sim_clock *clock, const struct sim_lock *lock)
{
    struct waiter *first = NULL;
    for (struct waiter *w = clock->waiters; w; w = w->next) {
        if (w->lock == lock && (!first || w->until_us < first->until_us ||
                                (w->until_us == first->until_us && w->order < first->order)))
            first = w;
    }
    return first;
}

static void wait_for_time(struct sim_clock *clock, uint64_t us, uint64_t order)
{
    pthread_mutex_lock(&clock->mutex);
    struct waiter waiter = {.until_us = clock->now_us + us, .order = order};
    if (!clock->ended)
        wait_inside(clock, &waiter);
    pthread_mutex_unlock(&clock->mutex);
}

void sim_clock_pass(struct sim_clock *clock, uint64_t us, uint64_t order)
{
    if (us > 0)
        wait_for_time(clock, us, order);
}

void sim_clock_take_turn(struct sim_clock *clock, uint64_t order)
{
    wait_for_time(clock, 0, order);
}

void sim_clock_lock(struct sim_clock *clock, struct sim_lock *lock, uint64_t order)
{
    pthread_mutex_lock(&clock->mutex);
    struct waiter waiter = {.until_us = clock->now_us, .order = order, .lock = lock};
    if (lock->held && !clock->ended)
        wait_inside(clock, &waiter); /* unlocking hands it over */
    lock->held = true;
    pthread_mutex_unlock(&clock->mutex);
}

void sim_clock_unlock(struct sim_clock *clock, struct sim_lock *lock)
{
    pthread_mutex_lock(&clock->mutex);
    struct waiter *next = first_waiter(clock, lock);
    lock->held = next != NULL;
    if (next)
        release_waiter(clock, next);
    pthread_mutex_unlock(&clock->mutex);
}

uint64_t sim_clock_now(struct sim_clock *clock)
{
    pthread_mutex_lock(&clock->mutex);
    uint64_t now_us = clock->now_us;
    pthread_mutex_unlock(&clock->mutex);
    return now_us;
}

uint64_t sim_clock_next(struct sim_clock *clock)
{
    pthread_mutex_lock(&clock->mutex);
    const struct waiter *first = first_waiter(clock, NULL);
    uint64_t until_us = first ? first->until_us : UINT64_MAX;
    pthread_mutex_unlock(&clock->mutex);
    return until_us;
}

uint64_t sim_clock_changes(struct sim_clock *clock)
{
    pthread_mutex_lock(&clock->mutex);
    uint64_t changes = clock->changes;
    pthread_mutex_unlock(&clock->mutex);
    return changes;
}

bool sim_clock_is_calm(struct sim_clock *clock, unsigned n, uint64_t changes)
{
    enum { MOMENT_NS = 200000 };
    pthread_mutex_lock(&clock->mutex);
    bool calm = clock->n_waiters == n && clock->changes == changes;
    if (!calm && clock->changes == changes) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += MOMENT_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&clock->changed, &clock->mutex, &until);
    }
    pthread_mutex_unlock(&clock->mutex);
    return calm;
}

void sim_clock_advance(struct sim_clock *clock, uint64_t to_us)
{
    pthread_mutex_lock(&clock->mutex);
    CHECK(to_us >= clock->now_us);
    clock->now_us = to_us;
    struct waiter *first = first_waiter(clock, NULL);
    if (first && first->until_us <= to_us)
        release_waiter(clock, first);
    pthread_mutex_unlock(&clock->mutex);
}

void sim_clock_end(struct sim_clock *clock)
{
    pthread_mutex_lock(&clock->mutex);
    clock->ended = true;
    while (clock->waiters)
        release_waiter(clock, clock->waiters);
    pthread_mutex_unlock(&clock->mutex);
}
