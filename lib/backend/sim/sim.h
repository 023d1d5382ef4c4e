/* A backend that computes nothing: it only takes time. For tests of the pipeline and for asking
   what another machine would do. Its sums are not sums of anything, makes_proofs is false, and
   nothing uses it unless it is named.

   Timing is text, "key=value,…" in any order; missing keys keep their defaults:
     devices      1    how many devices there are, 1 … 64
     load_ms      0    time to load a circuit
     prove_ms     1000 time a partition occupies its device
     jitter       0    each time varies by up to ± so many percent, 0 … 90, the same way in every
   run fault_every  0    every so many-th partition of a device ends in CUZK_DEVICE_FAULT; 0: none
 */
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
