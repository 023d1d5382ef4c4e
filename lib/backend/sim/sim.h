/* A backend that computes nothing: it only takes time. It serves tests of the pipeline and
   questions about other machines. Its sums are all infinity, makes_proofs is false, and nothing
   uses it unless it is named.

   The timing is text, "key=value,…" in any order; a missing key keeps its default:

     key          default  meaning
     devices      1        number of devices, 1 to 64
     load_ms      0        time that loading a circuit takes
     prove_ms     1000     time that a partition occupies its device
     jitter       0        percentage, 0 to 90, by which each time varies up and down; the
                           variations are the same in every run
     fault_every  0        n: each n-th partition of a device ends in CUZK_DEVICE_FAULT; 0: none */
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
