/* Jobs in the order in which they are served: strictly by priority, and of one priority the oldest
   first. Belongs to one thread. Private to lib/engine. */
#ifndef ENGINE_QUEUE_H
#define ENGINE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue_entry {
    int priority; /* larger is served first */
    uint64_t age; /* smaller is older; unique */
    void *owner;
};

/* Zero-initialise, free with queue_free. The entries belong to the caller. */
struct queue {
    struct queue_entry **entries;
    size_t len;
    size_t capacity;
};

/* False without memory. */
bool queue_insert(struct queue *queue, struct queue_entry *entry);
void queue_remove(struct queue *queue, const struct queue_entry *entry);
/* The number of entries that are served before this one, which need not be in the queue. */
size_t queue_rank(const struct queue *queue, const struct queue_entry *entry);
void queue_free(struct queue *queue);

#endif
