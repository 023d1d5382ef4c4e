/* The work of a batch of partitions on the device, from uploaded witnesses to five sums each. */
#ifndef CUDA_BATCH_H
#define CUDA_BATCH_H

#include "backend/cuda/circuit.h"

/* One partition under way; it lives on the stack of the thread that brought it. */
struct job {
    struct backend_circuit *circuit;
    const struct witness *witness;
    const struct timeline_scope *scope;
    struct witness_slot *slot; /* the witness's copy on the device */
    uint64_t waiting_since_ns;
    struct job *next; /* that waits */
    bool done;        /* guarded by the circuit's lock, as the next two until then */
    enum cuzk_status status;
    struct cuzk_error err;
    uint8_t *sums; /* its batch's sums, laid out by circuit->sums_map */
    unsigned number, n_batch;
    uint64_t device_ns; /* its share of the batch's time */
};

/* Runs the jobs and copies the batch's sums to each; the device is locked. Returns when nothing of
   it is at work any more. */
enum cuzk_status batch_run(struct backend_circuit *circuit, struct job *const jobs[], unsigned n,
                           struct cuzk_error *err);

/* The host's part: the sums of windows, pieces and chunks put together. */
void batch_finish(const struct job *job, struct backend_sums *out);

#endif
