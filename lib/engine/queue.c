#include "engine/queue.h"

#include "base/check.h"
#include "base/mem.h"

#include <string.h>

static bool is_before(const struct queue_entry *a, const struct queue_entry *b)
{
    return a->priority != b->priority ? a->priority > b->priority : a->age < b->age;
}

size_t queue_rank(const struct queue *queue, const struct queue_entry *entry)
{
    size_t low = 0;
    size_t high = queue->len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_before(queue->entries[middle], entry))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool queue_insert(struct queue *queue, struct queue_entry *entry)
{
    if (!MEM_GROW(queue->entries, queue->capacity, queue->len + 1))
        return false;
    size_t at = queue_rank(queue, entry);
    memmove(queue->entries + at + 1, queue->entries + at,
            (queue->len - at) * sizeof *queue->entries);
    queue->entries[at] = entry;
    queue->len++;
    return true;
}

void queue_remove(struct queue *queue, const struct queue_entry *entry)
{
    size_t at = queue_rank(queue, entry);
    CHECK(at < queue->len && queue->entries[at] == entry);
    queue->len--;
    memmove(queue->entries + at, queue->entries + at + 1,
            (queue->len - at) * sizeof *queue->entries);
}

void queue_free(struct queue *queue)
{
    mem_free(queue->entries);
    *queue = (struct queue){0};
}
