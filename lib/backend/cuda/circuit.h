/* A circuit in device memory: its rows, the key's points, tables, and the room for one partition's
   work. All of it is one block, planned before and taken when the circuit is loaded. */
#ifndef CUDA_CIRCUIT_H
#define CUDA_CIRCUIT_H

#include "backend/cuda/device.h"
#include "backend/cuda/msm.h"
#include "backend/cuda/rows.h"
#include "r1cs/query.h"

enum cuda_section { SECTION_H, SECTION_L, SECTION_A, SECTION_B_G1, SECTION_B_G2, SECTION_COUNT };

/* Device memory of a query: how its sum follows from a witness. */
struct cuda_map {
    uint64_t *density; /* NULL: all variables have a point */
    uint32_t *ranks;
    uint32_t *point, *source; /* of its full-size variables; see struct query */
};

/* Room for the witnesses of two partitions: one is uploaded while another is worked on. */
enum { WITNESS_SLOTS = 2 };

struct witness_slot {
    uint64_t *bits; /* with 64 more bytes */
    void *values;   /* inputs, then full-size variables */
    bool taken;
};

/* What the block holds; the order of the fields is the order of its parts. */
struct cuda_block {
    void *image;                 /* rows */
    void *tables;                /* transforms */
    void *points[SECTION_COUNT]; /* slots */
    void *tails[SECTION_COUNT];  /* slots of the full-size variables' points; none for h */
    struct cuda_map l, a, b;
    struct witness_slot slots[WITNESS_SLOTS];
    void *a_rows, *b_rows, *c_rows;
    void *scalars;      /* of one section's full-size variables */
    void *h_scratch;    /* of the sum h */
    void *side_scratch; /* of one other sum at a time */
    void *sums;         /* results of all sums: see cuda.c */
    void *faults;       /* of the points, while loading */
};

struct backend_circuit {
    struct backend_device *device;
    const struct shape *shape;
    struct queries queries;
    uint32_t n_points[SECTION_COUNT];
    struct rows_image rows; /* its bytes are freed once they are on the device */
    struct cuda_block block;
    void *memory;
    size_t memory_bytes;
    size_t h_scratch_bytes, side_scratch_bytes;
    pthread_mutex_t slots_lock;
    pthread_cond_t slot_given_back;
};

/* Bytes for the sums of one section: a subset sum and the sums of a multiplication. */
size_t circuit_sums_bytes(enum cuda_section section);

enum cuzk_status circuit_load(struct backend_device *device, const struct shape *shape,
                              const struct backend_key *key, struct backend_circuit **out,
                              struct cuzk_error *err);
void circuit_unload(struct backend_circuit *circuit);
uint64_t circuit_bytes(const struct backend_circuit *circuit);

/* A slot for one witness; waits until there is one. */
struct witness_slot *circuit_take_slot(struct backend_circuit *circuit);
void circuit_give_back_slot(struct backend_circuit *circuit, struct witness_slot *slot);

/* Bytes of the two parts of a slot. */
size_t circuit_bits_bytes(const struct shape *shape);
size_t circuit_values_bytes(const struct shape *shape);

static inline enum msm_group section_group(enum cuda_section section)
{
    return section == SECTION_B_G2 ? MSM_G2 : MSM_G1;
}

/* NULL for h. */
static inline const struct query *query_of(const struct backend_circuit *circuit,
                                           enum cuda_section section)
{
    switch (section) {
    case SECTION_L:
        return &circuit->queries.l;
    case SECTION_A:
        return &circuit->queries.a;
    case SECTION_B_G1:
    case SECTION_B_G2:
        return &circuit->queries.b;
    default:
        return NULL;
    }
}

/* The multiplication of a section: h, or its full-size variables. */
static inline struct msm_size section_msm(const struct backend_circuit *circuit,
                                          enum cuda_section section)
{
    const struct query *query = query_of(circuit, section);
    const enum msm_group group = section_group(section);
    return (struct msm_size){
        .n = query ? query->n_scalars : circuit->n_points[section],
        .g1_sets = group == MSM_G1,
        .g2_sets = group == MSM_G2,
    };
}

#endif
