/* The table of circuits whose parameters (SRS) are loaded, or are to be: bookkeeping and decisions,
   without threads, clocks or memory of its own. What is decided here is done in phase/load.c.
   Private to lib/engine.

       ABSENT → LOADING → LOADED → READY
         ↑         │         │       │
         ├─────────┘         ↓       ↓
         └──────────────── UNLOADING ┘

   Parameters are loaded when first wanted, shared by jobs, and given up least recently used first
   when the budget or a device needs the room. */
#ifndef ENGINE_SRS_H
#define ENGINE_SRS_H

#include "engine/budget.h"
#include "engine/work.h"

enum { SRS_CIRCUITS_MAX = 64 };

struct call;

enum srs_state {
    SRS_ABSENT,
    SRS_LOADING,
    SRS_LOADED, /* loaded, waiting for its part of the budget */
    SRS_READY,
    SRS_UNLOADING,
};

struct srs_entry {
    char circuit_id[WORK_CIRCUIT_ID_BYTES];
    enum srs_state state;
    struct loaded *loaded;
    struct budget_hold hold;
    unsigned references; /* jobs between the start of parsing and their end */
    bool critical;       /* one of them is */
    bool stale;          /* its file changed: goes as soon as nobody needs it */
    bool evict;          /* wanted away */
    bool crowded;        /* did not fit; tried again when something was unloaded */
    bool failed;         /* those who wanted it have failed; tried again for the next one */
    struct call *preloads, *evictions; /* struct call_preload, struct call_evict: they wait */
    uint64_t load_started_ns, load_ns;
    uint64_t last_used_ns;
    uint64_t freed_bytes;
};

/* Zero-initialise. */
struct srs {
    struct srs_entry entries[SRS_CIRCUITS_MAX];
};

/* NULL: not in the table. */
struct srs_entry *srs_find(struct srs *srs, const char *circuit_id);
/* The entry, a new one if need be. NULL: the table is full. */
struct srs_entry *srs_find_or_add(struct srs *srs, const char *circuit_id);

/* A job wants the circuit, or no longer does. */
void srs_reference(struct srs_entry *entry, bool critical, uint64_t now_ns);
void srs_release(struct srs_entry *entry, uint64_t now_ns);

/* Its parameters are on their way out: a job waits until they are gone before it begins. */
bool srs_is_leaving(const struct srs_entry *entry);

enum srs_step { SRS_NOTHING, SRS_LOAD, SRS_UNLOAD, SRS_TAKE_BUDGET };

/* What is to be done for this entry now. */
enum srs_step srs_next_step(const struct srs_entry *entry);

/* The loaded circuit to unload so that there is room for `wanted`: the one that nobody has used for
   longest. WinningPoSt's is only given up for CRITICAL work, so that no block is missed for a load.
   NULL: there is none. */
struct srs_entry *srs_pick_eviction(struct srs *srs, const struct srs_entry *wanted);
/* Bytes of the largest partition of this circuit and of those that are READY. */
uint64_t srs_partition_floor(const struct srs *srs, const struct srs_entry *entry);

/* The steps of an entry's life. */
void srs_load_started(struct srs_entry *entry, uint64_t now_ns);
void srs_load_ended(struct srs_entry *entry, struct loaded *loaded, uint64_t now_ns);
/* Loading has failed with this status. True: other circuits are in the way, and the entry is loaded
   again when one of them has gone. False: it has failed for all who want it now. */
bool srs_load_failed(struct srs *srs, struct srs_entry *entry, enum cuzk_status status,
                     uint64_t now_ns);
void srs_budget_taken(struct srs_entry *entry);
/* Returns what is to be unloaded. */
struct loaded *srs_unload_started(struct srs_entry *entry);
void srs_unload_ended(struct srs *srs, struct srs_entry *entry);

#endif
