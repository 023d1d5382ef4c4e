/* Jobs in the order in which they are served: strictly by priority class, inside a class the oldest
   first. Belongs to one thread. */
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

/* Zero-initialise; free with queue_free. Entries belong to the caller. */
struct queue {
    struct queue_entry **entries;
    size_t len;
    size_t capacity;
};

/* false without memory. */
bool queue_insert(struct queue *queue, struct queue_entry *entry);
void queue_remove(struct queue *queue, const struct queue_entry *entry);
/* Number of entries that are served before this one, which may not be in the queue yet. */
size_t queue_rank(const struct queue *queue, const struct queue_entry *entry);
void queue_free(struct queue *queue);

#endif
