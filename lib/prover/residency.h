/* What stays loaded while an engine is open: the devices of a backend, and on them the circuits
   with their parameters. Private to lib/prover. */
#ifndef PROVER_RESIDENCY_H
#define PROVER_RESIDENCY_H

#include "backend/backend.h"
#include "circuits/registry.h"
#include "engine/work.h"
#include "key/lagrange_file.h"
#include "key/params.h"

#include <pthread.h>

/* Where parameters come from. Proofs under development parameters are worthless, and a process that
   uses both could take one for the other. So the first ones that are loaded decide, and the others
   are refused. */
enum params_origin {
    PARAMS_ORIGIN_UNDECIDED, /* nothing was loaded yet */
    PARAMS_ORIGIN_PUBLISHED, /* the ceremony of the network */
    PARAMS_ORIGIN_DEVELOPMENT,
};

/* Shared by all workers; fixed once opened, except what the mutex guards. */
struct residency {
    const struct backend *backend;
    struct backend_device **devices;
    struct work_device *device_names;
    unsigned n_devices;
    char *param_cache;
    /* For checking inputs and for synthesis: a partition's challenges are shared out over it, so
       that the device's next partition does not wait for one core while others idle. The CPU time
       is that of one thread, and partitions made at once share the workers. */
    struct pool *pool;
    pthread_mutex_t mutex; /* guards what follows */
    struct shape **shapes; /* by number of the circuit; compiled once, kept to the end */
    uint64_t shapes_ns;    /* spent compiling them */
    enum params_origin origin;
};

/* A circuit with its parameters on the devices. */
struct resident_circuit {
    struct loaded base;
    struct residency *residency;
    const struct circuit_info *circuit;
    struct params *params;
    struct lagrange_file *lagrange; /* NULL: none that is good, or the backend uses none */
    const struct shape *shape;      /* belongs to the residency */
    struct backend_circuit *on[];   /* by device; NULL: not there */
};

/* Opens a backend's devices. backend NULL: cuda if there is a device, else cpu. CUZK_NO_DEVICE,
   CUZK_INVALID_ARGUMENT. Free with residency_close, which accepts NULL. */
enum cuzk_status residency_open(const char *backend, const char *param_cache,
                                const struct backend_options *options, struct residency **out,
                                struct cuzk_error *err);
void residency_close(struct residency *residency);

/* CUZK_BAD_PARAMS if the circuit's parameter file cannot be read. Cheap. */
enum cuzk_status residency_params_present(const struct residency *residency,
                                          const struct circuit_info *circuit,
                                          struct cuzk_error *err);

/* Nanoseconds spent compiling circuits so far, which is a part of loading them. */
uint64_t residency_shapes_ns(struct residency *residency);

/* Loading, checking and unloading, as struct work_ops has them. Every struct loaded here is the
   head of a struct resident_circuit. */
enum cuzk_status residency_load(struct residency *residency, const char *circuit_id,
                                struct loaded **out, struct cuzk_error *err);
enum cuzk_status residency_check(const struct loaded *loaded, struct cuzk_error *err);
void residency_unload(struct loaded *loaded);
const struct resident_circuit *residency_circuit(const struct loaded *loaded);

/* Memory of a device, for the status. Leaves both numbers as they are if it cannot be read. */
void residency_device_memory(const struct residency *residency, unsigned device, uint64_t *total,
                             uint64_t *free);

#endif
