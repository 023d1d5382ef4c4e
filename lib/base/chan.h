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

/* Waits while the channel is full. False once the channel is closed; the item then remains the
   caller's. */
bool chan_send(struct chan *chan, void *item);

/* As chan_send without waiting: false also while the channel is full. */
bool chan_try_send(struct chan *chan, void *item);

/* Waits while the channel is empty. NULL once it is closed and drained. */
void *chan_receive(struct chan *chan);

/* As chan_receive, but returns NULL with *timed_out = true after timeout_ms. */
void *chan_receive_for(struct chan *chan, uint64_t timeout_ms, bool *timed_out);

/* From now on sends fail. Receivers get the items that are left, then NULL. */
void chan_close(struct chan *chan);

#endif
