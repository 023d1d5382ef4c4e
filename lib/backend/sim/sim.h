/* A backend that computes nothing: it only takes real time. It serves tests of the pipeline and of
   whole daemons. Its sums are not sums of anything, makes_proofs is false, and it is used only
   where a configuration names it.

   A replay of a log (lib/whatif) has a clock of its own and does not use this backend: its
   durations differ from partition to partition, and its time does not pass.

   Timing is text, "key=value,…" in any order; missing keys keep their defaults:
     devices      1     number of devices, 1 … 64
     load_ms      0     time to load a circuit
     prove_ms     1000  time that a partition occupies its device
     jitter       0     each time varies by up to ± this percentage, 0 … 90, the same way in every
                        run
     fault_every  0     each n-th partition of a device ends in CUZK_DEVICE_FAULT; 0: none */
#ifndef BACKEND_SIM_SIM_H
#define BACKEND_SIM_SIM_H

#include "backend/backend.h"

struct sim_timing {
    unsigned devices;
    unsigned load_ms;
    unsigned prove_ms;
    unsigned jitter;
    unsigned fault_every;
};

/* text may be NULL. CUZK_INVALID_ARGUMENT names the key. */
enum cuzk_status sim_timing_parse(const char *text, struct sim_timing *out, struct cuzk_error *err);

extern const struct backend backend_sim;

#endif
