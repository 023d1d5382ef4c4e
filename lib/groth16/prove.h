/* The proving recipe (docs/spec/groth16.md, part A.9), for all backends. */
#ifndef GROTH16_PROVE_H
#define GROTH16_PROVE_H

#include "backend/backend.h"
#include "key/params.h"
#include "groth16/verify.h"

/* Blinding scalars. Random for real proofs; fixed only in tests. */
struct blinding {
    struct fr r, s;
};

/* From getrandom(2). The caller wipes it (mem_wipe). */
enum cuzk_status blinding_random(struct blinding *out, struct cuzk_error *err);

/* Proves one partition. The proof depends on key, witness and blinding only, not on the backend or
   the number of threads. With a backend that makes no proofs *out is zero, which no verifier
   accepts. *device_ns receives the time for which the device was occupied (NULL: not wanted). */
enum cuzk_status prove_partition(const struct backend *backend, struct backend_circuit *circuit,
                                 const struct vk *vk, const struct backend_partition *partition,
                                 const struct blinding *blinding, struct proof *out,
                                 uint64_t *device_ns, struct cuzk_error *err);

#endif
