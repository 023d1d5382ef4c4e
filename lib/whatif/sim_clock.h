/* Simulated time, which passes without waiting. Threads that work for some time, or wait for a
   simulated device, wait inside this clock. One further thread, the driver, moves the clock on once
   all of them are inside. An hour passes in seconds, in the same order on an idle machine and on a
   busy one. Private to lib/whatif. */
#ifndef WHATIF_SIM_CLOCK_H
#define WHATIF_SIM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct sim_clock;

/* What one thread at a time may hold, as a device; zero-initialise. */
struct sim_lock {
    bool held;
};

/* At time 0; NULL without memory. */
struct sim_clock *sim_clock_new(void);
/* No thread may be inside. NULL is allowed. */
void sim_clock_free(struct sim_clock *clock);

/* For threads that work. `order` decides which of several comes first at the same time. */
void sim_clock_pass(struct sim_clock *clock, uint64_t us, uint64_t order);
/* Takes no time, but waits for its turn among the threads that are due now: threads that come in at
   the same moment go on in the order of `order`, one at a time. */
void sim_clock_take_turn(struct sim_clock *clock, uint64_t order);
void sim_clock_lock(struct sim_clock *clock, struct sim_lock *lock, uint64_t order);
void sim_clock_unlock(struct sim_clock *clock, struct sim_lock *lock);

/* For the driver. Microseconds since the beginning. */
uint64_t sim_clock_now(struct sim_clock *clock);
/* When the next thread has spent its time; UINT64_MAX: no thread waits for time. */
uint64_t sim_clock_next(struct sim_clock *clock);
/* Grows whenever a thread comes in or is released. */
uint64_t sim_clock_changes(struct sim_clock *clock);
/* Whether exactly n threads are inside and nothing has changed since sim_clock_changes gave
   `changes`. If not, waits a moment for a change. */
bool sim_clock_is_calm(struct sim_clock *clock, unsigned n, uint64_t changes);
/* Moves on to a moment and releases the first thread that has spent its time by then, if any. */
void sim_clock_advance(struct sim_clock *clock, uint64_t to_us);
/* Releases all threads. From now on nothing takes time. */
void sim_clock_end(struct sim_clock *clock);

#endif
