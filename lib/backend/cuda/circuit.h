/* A circuit on a device: its rows, the key's points, tables, and the room for partitions' work. All
   of it is one block, planned before and taken when the circuit is loaded. */
#ifndef CUDA_CIRCUIT_H
#define CUDA_CIRCUIT_H

#include "backend/cuda/circuit_plan.h"
#include "backend/cuda/device.h"
#include "backend/cuda/points_load.h"
#include "backend/cuda/rows.h"
#include "math/group.h"
#include "r1cs/query.h"

struct job;

/* Four for each partition of a batch, then the ends of the witness's sums and of all. */
enum { EVENTS_EACH = 4, EVENTS_SHARED = 8, EVENTS_MAX = EVENTS_EACH * BATCH_MAX + EVENTS_SHARED };

struct backend_circuit {
    struct backend_device *device;
    const struct shape *shape;
    struct backend_key key;
    struct queries queries;
    struct rows_image rows; /* its bytes are freed once they are on the device */
    struct circuit_counts counts;
    struct circuit_plan plan;
    struct circuit_block block;
    struct sums_map sums_map;
    void *memory;                   /* the block */
    cudaEvent_t events[EVENTS_MAX]; /* of the batch at work: see cuda.c */
    uint8_t *sums;                  /* pinned host copy of block.sums, of the batch at work */
    struct points_loader *loader;   /* of what is streamed; NULL: nothing is */
    /* Each section's sum over all its points, which its signed sums are halved with (subset.h). */
    struct g1 all_g1[SECTION_COUNT];
    struct g2 all_b_g2;

    /* Partitions wait here for the device; whoever finds nobody at work leads the next batch. */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a slot was given back, or a batch has ended */
    struct job *waiting;
    bool at_work;
};

enum cuzk_status circuit_load(struct backend_device *device, const struct shape *shape,
                              const struct backend_key *key, struct backend_circuit **out,
                              struct cuzk_error *err);
void circuit_unload(struct backend_circuit *circuit);
uint64_t circuit_bytes(const struct backend_circuit *circuit);

/* A slot for one witness; waits until there is one. */
struct witness_slot *circuit_take_slot(struct backend_circuit *circuit);
void circuit_give_back_slot(struct backend_circuit *circuit, struct witness_slot *slot);

/* Enqueues a section's signed sums (subset.h) for n witnesses, bitmaps in the order of its points
   (NULL: all ones): from its table, or streaming it. In the latter case it returns when the last
   chunk is on its way. Results: block.sums at sums_map.subset[section]. */
enum cuzk_status circuit_sum_section(struct backend_circuit *circuit, enum cuda_section section,
                                     const uint64_t *const selected[], unsigned n_witnesses,
                                     cudaStream_t stream, struct cuzk_error *err);

/* What was wrong with points of a section, if anything. */
enum cuzk_status circuit_check_faults(const struct points_faults *faults, const char *section,
                                      uint32_t n, struct cuzk_error *err);

/* The section's bytes in the parameter file. */
const uint8_t *circuit_section_bytes(const struct backend_circuit *circuit,
                                     enum cuda_section section);

/* The sum of a section's chunks for one witness, from the host copy of the sums. */
void circuit_add_chunks_g1(const struct backend_circuit *circuit, const uint8_t *sums,
                           enum cuda_section section, unsigned witness, unsigned n_witnesses,
                           struct g1 *out);
void circuit_add_chunks_g2(const struct backend_circuit *circuit, const uint8_t *sums,
                           enum cuda_section section, unsigned witness, unsigned n_witnesses,
                           struct g2 *out);

#endif
