/* The seam between the proving recipe and what computes it.

   A backend proves one partition from its witness: it returns the five group sums that depend on
   the proving key and the witness (docs/spec/groth16.md, part A.9, steps 1 to 3):

     h     Σ h_i·H_i over the coefficients h_i of the quotient
     l     Σ aux_i·L_i over all auxiliary variables
     a     Σ input_i·A_i + Σ aux_i·A_i over the inputs and the variables that occur in A
     b_g1  Σ input_i·B_i + Σ aux_i·B_i over the inputs and variables that occur in B, in G1
     b_g2  the same in G2

   Blinding, assembly and verification are host code in groth16/ and the same for all backends;
   groth16/prove.c makes proofs of the sums. Given the same key and witness all backends return the
   same sums; with a Lagrange form (key/lagrange.h) only h + l is the same. */
#ifndef BACKEND_BACKEND_H
#define BACKEND_BACKEND_H

#include "key/key_vectors.h"
#include "math/group.h"
#include "r1cs/shape.h"
#include "trace/event.h"

struct witness;

/* A partition to be proven. All memory stays the caller's, until `prove` returns. */
struct backend_partition {
    const struct witness *witness;
    /* The job that the partition belongs to: the same number for all partitions of a job, another
       one for every other job in flight. A backend may prove partitions of one job together. */
    uint64_t job;
    struct trace_scope scope; /* what the backend's events carry; decides nothing */
};

struct backend_sums {
    struct g1 h, l, a, b_g1;
    struct g2 b_g2;
    uint64_t device_ns; /* how long the device was occupied by it; in a batch, its share */
};

/* What a device can hold. */
struct backend_memory {
    uint64_t total_bytes;
    uint64_t free_bytes;
};

struct backend_options {
    unsigned threads;           /* cpu: 0 = all of this process */
    const char *devices;        /* cuda: comma-separated indices or UUIDs, NULL = all */
    uint64_t vram_budget_bytes; /* cuda: of one device, for all circuits; 0 = what is free */
    const char *sim_timing;     /* sim: durations, see sim.h */
};

/* Called now and then with the share done (0 … 1) and what is being made. */
typedef void backend_progress_fn(void *context, double done, const char *what);

/* An opened device, a circuit ready on it (shape and key), a partition under way. */
struct backend_device;
struct backend_circuit;

struct backend {
    const char *name;      /* "cpu", "cuda", "sim" */
    bool makes_proofs;     /* false for sim: its sums are not a proof and never leave as one */
    unsigned workers;      /* partitions in flight that a device works best with */
    bool uses_lagrange;    /* it looks at a key's Lagrange form */
    bool uses_host_memory; /* what `bytes` counts is memory of the host */

    /* Devices that this backend finds; CUZK_NO_DEVICE if it cannot run here. */
    enum cuzk_status (*count)(const struct backend_options *options, unsigned *n,
                              struct cuzk_error *err);
    enum cuzk_status (*open)(const struct backend_options *options, unsigned index,
                             struct backend_device **out, struct cuzk_error *err);
    void (*close)(struct backend_device *device);
    /* One line for people ("cpu, 2 threads", "NVIDIA H200, UUID"); valid while open. */
    const char *(*describe)(const struct backend_device *device);
    enum cuzk_status (*memory)(const struct backend_device *device, struct backend_memory *out,
                               struct cuzk_error *err);

    /* Makes shape and key ready (both outlive the result). Slow the first time. */
    enum cuzk_status (*load)(struct backend_device *device, const struct shape *shape,
                             const struct key_vectors *key, struct backend_circuit **out,
                             struct cuzk_error *err);
    void (*unload)(struct backend_circuit *circuit);
    /* Bytes of memory that a loaded circuit and the partitions at work take on the device. */
    uint64_t (*bytes)(const struct backend_circuit *circuit);

    /* Proves a partition and returns when its sums are there. Several threads may be inside at
       once, each with a partition of its own. Emits the device's phases to the partition's scope.
       CUZK_DEVICE_FAULT: the device failed, and a try on another one may succeed.
       CUZK_DEVICE_LOST: it failed, and only another process can use it. */
    enum cuzk_status (*prove)(struct backend_circuit *circuit,
                              const struct backend_partition *partition, struct backend_sums *out,
                              struct cuzk_error *err);

    /* Makes the key's Lagrange form, which takes minutes, and writes its points to the memory that
       `out` points to. The points are not checked here: lagrange_check does that. CUZK_BAD_PARAMS:
       the key does not fit the circuit, or has a malformed point. progress may be NULL. The member
       is NULL if the backend cannot derive. */
    enum cuzk_status (*derive)(struct backend_device *device, const struct shape *shape,
                               const struct key_vectors *key, const struct lagrange_points *out,
                               backend_progress_fn *progress, void *context,
                               struct cuzk_error *err);
    /* Σ scalars[i]·points[i] over n points in G1 as they lie in a file, infinity (the byte 0x40 and
       zeros) among them. CUZK_BAD_PARAMS names a malformed one. The member is NULL if the backend
       cannot sum. */
    enum cuzk_status (*sum)(struct backend_device *device, const uint8_t *points, uint32_t n,
                            const struct fr *scalars, struct g1 *out, struct cuzk_error *err);
};

/* By name; NULL if this build has none of that name. */
const struct backend *backend_find(const char *name);

#endif
