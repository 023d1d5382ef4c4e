/* The work of a batch of partitions on the device, from uploaded witnesses to five sums each. A
   batch grows while it runs: the partitions of a job come one after the other, and each that joins
   makes the sums over bits cheaper for all (msm.h). */
#ifndef CUDA_BATCH_H
#define CUDA_BATCH_H

#include "backend/cuda/host/circuit.h"

/* The turn of one partition on the device: it arrives, waits, is in a batch, and has its sums. A
   turn lives on the stack of the thread that brought the partition. */
struct turn {
    struct backend_circuit *circuit;
    const struct backend_partition *partition;
    struct witness_slot *slot; /* the witness's copy on the device */
    uint64_t arrival;          /* turns that came to the circuit before this one */
    uint64_t since_ns;   /* since when it waits for the device, is there, or waits for its batch */
    struct turn *next;   /* among those that wait */
    pthread_cond_t wake; /* it is done; or it is the first that waits, and no batch runs */
    bool done;           /* guarded by the circuit's lock, as the next two until then */
    enum cuzk_status status;
    struct cuzk_error err;
    uint8_t *sums;            /* of its batch, laid out by circuit->sums_map */
    unsigned number, n_batch; /* its place in the batch; turns of the batch */
    uint64_t device_ns;       /* for how long the device was occupied by it */
};

/* A batch that runs. The own parts of the turns before `ended` are done; the turn at `ended` is the
   one that the device works on, if `begun`. */
struct batch {
    struct backend_circuit *circuit;
    struct turn *turns[BATCH_MAX];
    unsigned n, ended;
    bool begun;
};

/* Runs the batch and copies the sums to each turn. The caller has locked the device and set the
   circuit and the first turn; other turns that wait join while the batch runs. The status is that
   of all turns of the batch. When the function returns, no work of the batch is left on the
   device. */
enum cuzk_status batch_run(struct batch *batch, struct cuzk_error *err);

/* The host's part: puts the sums of windows, pieces and chunks together. */
void batch_finish(const struct turn *turn, struct backend_sums *out);

#endif
