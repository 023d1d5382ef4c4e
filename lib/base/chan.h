/* A bounded first-in-first-out channel of pointers between threads. */
#ifndef BASE_CHAN_H
#define BASE_CHAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chan;

/* capacity ≥ 1 items. NULL without memory. */
struct chan *chan_new(size_t capacity);
void chan_free(struct chan *chan);

/* Waits while the channel is full; false once it is closed (the item stays the caller's). */
bool chan_send(struct chan *chan, void *item);

/* As chan_send, but never waits: false also while the channel is full. */
bool chan_try_send(struct chan *chan, void *item);

/* Waits while the channel is empty; NULL once it is closed and drained. */
void *chan_receive(struct chan *chan);

/* As chan_receive, but gives up after timeout_ms with *timed_out = true and NULL. */
void *chan_receive_for(struct chan *chan, uint64_t timeout_ms, bool *timed_out);

/* After this sends fail and receivers get what is left, then NULL. */
void chan_close(struct chan *chan);

#endif
