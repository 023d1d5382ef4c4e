/* The work of a batch of partitions on the device, from uploaded witnesses to five sums each. A
   batch grows while it is at work: partitions of one proof come one after the other, and each that
   joins makes the sums over bits cheaper for all (msm.h). */
#ifndef CUDA_BATCH_H
#define CUDA_BATCH_H

#include "backend/cuda/host/circuit.h"

/* One partition under way; it lives on the stack of the thread that brought it. */
struct job {
    struct backend_circuit *circuit;
    const struct witness *witness;
    const struct trace_scope *scope;
    struct witness_slot *slot; /* the witness's copy on the device */
    uint64_t arrival;          /* how many came to the circuit before it */
    uint64_t since_ns;         /* it waits for the device, is there, or waits for its batch */
    struct job *next;          /* that waits */
    pthread_cond_t wake;       /* it is done, or the first that waits and nobody is at work */
    bool done;                 /* guarded by the circuit's lock, as the next two until then */
    enum cuzk_status status;
    struct cuzk_error err;
    uint8_t *sums; /* its batch's sums, laid out by circuit->sums_map */
    unsigned number, n_batch;
    uint64_t device_ns; /* that the device was occupied by it */
};

/* A batch under way. Jobs before `ended` have their own part done; the one there is what the device
   is at, if it has begun. */
struct batch {
    struct backend_circuit *circuit;
    struct job *jobs[BATCH_MAX];
    unsigned n, ended;
    bool begun;
};

/* Runs the batch and copies the sums to each job; the device is locked. Before, it has its circuit
   and first job; more that wait are taken in while it is at work. The outcome is that of all jobs
   that it has then. Nothing of it is at work any more. */
enum cuzk_status batch_run(struct batch *batch, struct cuzk_error *err);

/* The host's part: the sums of windows, pieces and chunks put together. */
void batch_finish(const struct job *job, struct backend_sums *out);

#endif
