#include "engine/srs.h"

#include "base/check.h"

#include <stdio.h>
#include <string.h>

static bool is_free(const struct srs_entry *entry)
{
    return entry->state == SRS_ABSENT && entry->references == 0 && !entry->preloads &&
           !entry->evictions;
}

static bool is_wanted(const struct srs_entry *entry)
{
    return entry->references > 0 || entry->preloads;
}

static bool is_loaded(const struct srs_entry *entry)
{
    return entry->state == SRS_LOADED || entry->state == SRS_READY;
}

/* --- Entries ---------------------------------------------------------------------------------- */

struct srs_entry *srs_find(struct srs *srs, const char *circuit_id)
{
    for (size_t i = 0; i < SRS_CIRCUITS_MAX; i++)
        if (strcmp(srs->entries[i].circuit_id, circuit_id) == 0)
            return &srs->entries[i];
    return NULL;
}

struct srs_entry *srs_find_or_add(struct srs *srs, const char *circuit_id)
{
    struct srs_entry *entry = srs_find(srs, circuit_id);
    for (size_t i = 0; !entry && i < SRS_CIRCUITS_MAX; i++)
        if (is_free(&srs->entries[i])) {
            entry = &srs->entries[i];
            *entry = (struct srs_entry){.state = SRS_ABSENT};
            snprintf(entry->circuit_id, sizeof entry->circuit_id, "%s", circuit_id);
        }
    return entry;
}

void srs_reference(struct srs_entry *entry, bool critical, uint64_t now_ns)
{
    entry->references++;
    entry->failed = false;
    entry->critical |= critical;
    entry->last_used_ns = now_ns;
}

void srs_release(struct srs_entry *entry, uint64_t now_ns)
{
    CHECK(entry->references > 0);
    entry->references--;
    entry->last_used_ns = now_ns;
    if (entry->references == 0)
        entry->critical = false;
}

/* --- Decisions -------------------------------------------------------------------------------- */

bool srs_is_leaving(const struct srs_entry *entry)
{
    return entry->stale || entry->state == SRS_UNLOADING;
}

enum srs_step srs_next_step(const struct srs_entry *entry)
{
    if (entry->state == SRS_ABSENT && is_wanted(entry) && !entry->crowded && !entry->failed)
        return SRS_LOAD;
    if (is_loaded(entry) && entry->references == 0 && (entry->stale || entry->evict))
        return SRS_UNLOAD;
    return entry->state == SRS_LOADED ? SRS_TAKE_BUDGET : SRS_NOTHING;
}

struct srs_entry *srs_pick_eviction(struct srs *srs, const struct srs_entry *wanted)
{
    struct srs_entry *found = NULL;
    for (size_t i = 0; i < SRS_CIRCUITS_MAX; i++) {
        struct srs_entry *entry = &srs->entries[i];
        bool spared = strncmp(entry->circuit_id, "winning-", 8) == 0 && !wanted->critical;
        if (entry != wanted && is_loaded(entry) && !is_wanted(entry) && !spared &&
            (!found || entry->last_used_ns < found->last_used_ns))
            found = entry;
    }
    return found;
}

uint64_t srs_partition_floor(const struct srs *srs, const struct srs_entry *entry)
{
    uint64_t floor = entry->loaded->partition_bytes;
    for (size_t i = 0; i < SRS_CIRCUITS_MAX; i++) {
        const struct srs_entry *other = &srs->entries[i];
        if (other->state == SRS_READY && other->loaded->partition_bytes > floor)
            floor = other->loaded->partition_bytes;
    }
    return floor;
}

/* --- Steps ------------------------------------------------------------------------------------ */

void srs_load_started(struct srs_entry *entry, uint64_t now_ns)
{
    CHECK(entry->state == SRS_ABSENT);
    entry->state = SRS_LOADING;
    entry->load_started_ns = now_ns;
}

void srs_load_ended(struct srs_entry *entry, struct loaded *loaded, uint64_t now_ns)
{
    CHECK(entry->state == SRS_LOADING);
    entry->load_ns = now_ns - entry->load_started_ns;
    entry->loaded = loaded;
    entry->state = SRS_LOADED;
}

void srs_budget_taken(struct srs_entry *entry)
{
    CHECK(entry->state == SRS_LOADED);
    entry->state = SRS_READY;
}

static bool others_are_loaded(const struct srs *srs, const struct srs_entry *entry)
{
    for (size_t i = 0; i < SRS_CIRCUITS_MAX; i++) {
        const struct srs_entry *other = &srs->entries[i];
        if (other != entry && (is_loaded(other) || other->state == SRS_UNLOADING))
            return true;
    }
    return false;
}

bool srs_load_failed(struct srs *srs, struct srs_entry *entry, enum cuzk_status status,
                     uint64_t now_ns)
{
    CHECK(entry->state == SRS_LOADING);
    entry->load_ns = now_ns - entry->load_started_ns;
    entry->state = SRS_ABSENT;
    if (status == CUZK_RESOURCE_EXHAUSTED && others_are_loaded(srs, entry))
        return entry->crowded = true;
    /* A job that is over may still be parsed, and refers to the entry until then. */
    entry->failed = true;
    return false;
}

struct loaded *srs_unload_started(struct srs_entry *entry)
{
    CHECK(is_loaded(entry));
    struct loaded *loaded = entry->loaded;
    entry->state = SRS_UNLOADING;
    entry->freed_bytes = loaded->mapped_bytes + loaded->host_bytes;
    entry->loaded = NULL;
    return loaded;
}

void srs_unload_ended(struct srs *srs, struct srs_entry *entry)
{
    CHECK(entry->state == SRS_UNLOADING);
    entry->state = SRS_ABSENT;
    entry->stale = entry->evict = false;
    for (size_t i = 0; i < SRS_CIRCUITS_MAX; i++)
        srs->entries[i].crowded = false;
}
