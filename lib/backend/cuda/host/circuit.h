/* A circuit on a device: its rows, the key's points, tables, and room for the work of partitions.
   All of this is one block of device memory, planned and taken when the circuit is loaded. */
#ifndef CUDA_CIRCUIT_H
#define CUDA_CIRCUIT_H

#include "backend/cuda/host/memory_plan.h"
#include "backend/cuda/device/device.h"
#include "backend/cuda/points/points_load.h"
#include "backend/cuda/rows/rows.h"
#include "math/group.h"
#include "r1cs/query.h"

struct turn;

/* Of each partition of a batch (partition.h), then of what it shares (batch.c). */
enum {
    PARTITION_EVENTS = 5,
    SHARED_EVENTS = 7,
    EVENTS_MAX = PARTITION_EVENTS * BATCH_MAX + SHARED_EVENTS
};

struct backend_circuit {
    struct backend_device *device;
    const struct shape *shape;
    struct key_vectors key; /* h and l as the sums use them: of the Lagrange form, if it has one */
    struct queries queries;
    struct rows_image rows; /* its bytes are freed once they are on the device */
    struct circuit_counts counts;
    struct memory_plan plan;
    struct circuit_block block;
    struct sums_map sums_map;
    void *memory;                   /* the block */
    cudaEvent_t events[EVENTS_MAX]; /* of the batch at work */
    /* Recorded by the first partition (partition.c). */
    cudaGraphExec_t h_graphs[H_PIECES_MAX], tails_graph;
    uint8_t *sums;                /* pinned host copy of block.sums, of the batch at work */
    struct points_loader *loader; /* of what is streamed; NULL: nothing is */

    /* Turns wait here for the device, in the order in which they came to the circuit, however long
       their uploads took. The lock guards all below, and the slots' `taken`. */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a slot was given back */
    struct turn *waiting;
    uint64_t arrivals; /* turns that came so far */
    bool at_work;      /* a batch runs */
};

/* Whether h and l are used in the form that spares transforms (key/lagrange.h). */
static inline bool has_lagrange_form(const struct backend_circuit *circuit)
{
    return circuit->key.lagrange.h != NULL;
}

#endif
