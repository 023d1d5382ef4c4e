/* The budget of memory: everything over 1 MiB is taken from it before it is allocated. Belongs to
   the engine thread and has no lock. Private to lib/engine.

   No user of memory holds one part and waits for another part of the same kind. Requests have a
   share of their own. A circuit only gets memory if a partition would still fit beside a full share
   of requests. So the next partition fits whenever none runs, and every wait ends. A part of the
   budget is reserved for CRITICAL jobs. */
#ifndef ENGINE_BUDGET_H
#define ENGINE_BUDGET_H

#include <cuzk/status.h>
#include <stdbool.h>
#include <stdint.h>

enum budget_use {
    BUDGET_REQUESTS,   /* payloads and what is parsed from them */
    BUDGET_CIRCUITS,   /* shapes, and on the cpu the prover's workspace */
    BUDGET_PARTITIONS, /* witnesses */
    BUDGET_USES,
};

struct budget {
    uint64_t total;
    uint64_t reserve;      /* for CRITICAL jobs: an eighth, at most 512 MiB */
    uint64_t requests_max; /* share of the requests: a quarter */
    uint64_t used[BUDGET_USES];
    uint64_t peak; /* highest sum of used */
};

/* A part of the budget that is in use. Zero-initialised it is empty. */
struct budget_hold {
    enum budget_use use;
    uint64_t bytes;
};

void budget_init(struct budget *budget, uint64_t total);

/* CUZK_RESOURCE_EXHAUSTED, with the numbers, if these bytes would not fit even with nothing else in
   use. For a circuit, floor is the size of its partition. */
enum cuzk_status budget_could_fit(const struct budget *budget, enum budget_use use, uint64_t bytes,
                                  uint64_t floor, struct cuzk_error *err);

/* Takes bytes for *hold, which must be empty. False: they do not fit now. */
bool budget_take(struct budget *budget, enum budget_use use, uint64_t bytes, bool critical,
                 struct budget_hold *hold);
/* The same for a circuit. floor: the largest partition of this circuit and of those that are loaded
   already. */
bool budget_take_circuit(struct budget *budget, uint64_t bytes, uint64_t floor,
                         struct budget_hold *hold);

/* Gives back all but `keep` bytes. Giving back twice changes nothing. */
void budget_release(struct budget *budget, struct budget_hold *hold, uint64_t keep);

uint64_t budget_used(const struct budget *budget);

/* What this process may use: the least of the machine's available memory, the limits of its cgroup
   and of all groups above it (version 2 or 1), RLIMIT_AS and RLIMIT_DATA. The margin is subtracted,
   but at most half. root is put before /proc and /sys; only tests give another one than "". */
uint64_t budget_auto(const char *root, uint64_t margin);

#endif
