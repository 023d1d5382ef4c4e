#include "base/chan.h"

#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

struct chan {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t capacity;
    size_t first;
    size_t len;
    bool closed;
    void *items[];
};

struct chan *chan_new(size_t capacity)
{
    struct chan *chan = mem_zalloc(1, sizeof *chan + capacity * sizeof(void *));
    if (!chan)
        return NULL;
    chan->capacity = capacity;
    pthread_mutex_init(&chan->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&chan->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return chan;
}

void chan_free(struct chan *chan)
{
    if (!chan)
        return;
    pthread_cond_destroy(&chan->changed);
    pthread_mutex_destroy(&chan->lock);
    mem_free(chan);
}

static bool put_last(struct chan *chan, void *item)
{
    if (chan->closed || chan->len == chan->capacity)
        return false;
    chan->items[(chan->first + chan->len) % chan->capacity] = item;
    chan->len++;
    pthread_cond_broadcast(&chan->changed);
    return true;
}

bool chan_send(struct chan *chan, void *item)
{
    pthread_mutex_lock(&chan->lock);
    while (chan->len == chan->capacity && !chan->closed)
        pthread_cond_wait(&chan->changed, &chan->lock);
    bool sent = put_last(chan, item);
    pthread_mutex_unlock(&chan->lock);
    return sent;
}

bool chan_try_send(struct chan *chan, void *item)
{
    pthread_mutex_lock(&chan->lock);
    bool sent = put_last(chan, item);
    pthread_mutex_unlock(&chan->lock);
    return sent;
}

static void *take_first(struct chan *chan)
{
    void *item = chan->items[chan->first];
    chan->first = (chan->first + 1) % chan->capacity;
    chan->len--;
    pthread_cond_broadcast(&chan->changed);
    return item;
}

void *chan_receive(struct chan *chan)
{
    pthread_mutex_lock(&chan->lock);
    while (chan->len == 0 && !chan->closed)
        pthread_cond_wait(&chan->changed, &chan->lock);
    void *item = chan->len ? take_first(chan) : NULL;
    pthread_mutex_unlock(&chan->lock);
    return item;
}

void *chan_receive_for(struct chan *chan, uint64_t timeout_ms, bool *timed_out)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(timeout_ms / 1000);
    until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    *timed_out = false;
    pthread_mutex_lock(&chan->lock);
    while (chan->len == 0 && !chan->closed && !*timed_out)
        *timed_out = pthread_cond_timedwait(&chan->changed, &chan->lock, &until) == ETIMEDOUT;
    void *item = NULL;
    if (chan->len) {
        item = take_first(chan);
        *timed_out = false;
    }
    pthread_mutex_unlock(&chan->lock);
    return item;
}

void chan_close(struct chan *chan)
{
    pthread_mutex_lock(&chan->lock);
    chan->closed = true;
    pthread_cond_broadcast(&chan->changed);
    pthread_mutex_unlock(&chan->lock);
}
