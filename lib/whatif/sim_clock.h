/* Simulated time, for asking what another machine would do without waiting for it. Threads that
   work for some time, or wait for a simulated device, do it inside this clock; whoever drives the
   clock moves it on once all of them are there. So an hour passes in seconds, in the same order on
   an idle machine and on a busy one. */
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
/* Nobody may be inside. NULL is allowed. */
void sim_clock_free(struct sim_clock *clock);

/* For those who work. `order` decides who comes first of several at the same time. */
void sim_clock_pass(struct sim_clock *clock, uint64_t us, uint64_t order);
void sim_clock_lock(struct sim_clock *clock, struct sim_lock *lock, uint64_t order);
void sim_clock_unlock(struct sim_clock *clock, struct sim_lock *lock);

/* For whoever drives. Microseconds since the beginning. */
uint64_t sim_clock_now(struct sim_clock *clock);
/* When the next one is through; UINT64_MAX: nobody is working. */
uint64_t sim_clock_next(struct sim_clock *clock);
/* Grows whenever somebody comes in or is let go. */
uint64_t sim_clock_changes(struct sim_clock *clock);
/* Are exactly n threads inside, and nothing has changed since `changes` was asked? If not, waits a
   moment for a change. */
bool sim_clock_is_calm(struct sim_clock *clock, unsigned n, uint64_t changes);
/* Moves on to a moment and lets go the first one who is through by then, if there is one. */
void sim_clock_advance(struct sim_clock *clock, uint64_t to_us);
/* Lets everybody go; from now on nothing takes time. */
void sim_clock_end(struct sim_clock *clock);

#endif
