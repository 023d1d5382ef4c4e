/* What the engine's core schedules, without knowing what it is: the seam between the pipeline and
   circuits, proofs and parameter files. Filled for real in real.c and porep.c, by fakes in
   tests. */
#ifndef ENGINE_WORK_H
#define ENGINE_WORK_H

#include "base/pool.h"
#include "engine/request.h"
#include "trace/event.h"

#include <cuzk/verify.h>

enum { WORK_CIRCUIT_ID_BYTES = 32 };

/* A circuit whose parameters are loaded. Real ones have more behind this. */
struct loaded {
    char circuit_id[WORK_CIRCUIT_ID_BYTES];
    uint64_t mapped_bytes;    /* of the parameter files; page cache, not in the budget */
    uint64_t host_bytes;      /* of our memory, while loaded */
    uint64_t partition_bytes; /* of our memory, while a partition is in the pipeline */
    uint64_t devices;         /* bit d: ready on device d */
    bool dev;                 /* development parameters */
    bool lagrange;            /* devices have the Lagrange form of the parameters */
};

/* A parsed request. Real ones have more behind this. */
struct work {
    char circuit_id[WORK_CIRCUIT_ID_BYTES];
    unsigned n_partitions;
};

/* One partition on its way. */
struct work_span {
    struct trace_scope scope; /* label, partition; worker and device while it is proved */
    uint64_t job;             /* number of the job: no other job of this process has it */
    unsigned partition;
    unsigned device; /* where it is proved */
};

/* Each function is called on one thread for one job and partition at a time, but from several
   threads for different ones. `context` is that of the setup. */
struct work_ops {
    /* On the submitting thread: is this a request that can be served at all? Cheap. *circuit_id is
       the circuit, or "" if only the payload tells. CUZK_INVALID_ARGUMENT, CUZK_UNSUPPORTED,
       CUZK_BAD_PARAMS. */
    enum cuzk_status (*admit)(void *context, const struct request *request,
                              char circuit_id[WORK_CIRCUIT_ID_BYTES], struct cuzk_error *err);
    /* Reads everything, checks what concerns the whole request, and computes the public inputs; the
       request may be freed afterwards. */
    enum cuzk_status (*parse)(void *context, const struct request *request, struct work **out,
                              struct cuzk_error *err);
    /* Checks the partition's part of the input, between CHECK_START and CHECK_END, and makes its
       witness. CUZK_INVALID_ARGUMENT: the input's fault, and the text says where it is. */
    enum cuzk_status (*synthesize)(struct work *work, struct loaded *loaded,
                                   const struct work_span *span, void **witness,
                                   struct cuzk_error *err);
    void (*witness_free)(void *witness);
    /* Occupies the device, for *device_ns in all; emits GPU_START, GPU_END and the device's phases.
       CUZK_DEVICE_FAULT, CUZK_DEVICE_LOST: the device's failure, not the input's. */
    enum cuzk_status (*prove)(struct work *work, struct loaded *loaded, void *witness,
                              const struct work_span *span, uint8_t proof[CUZK_PROOF_BYTES],
                              uint64_t *device_ns, struct cuzk_error *err);
    /* CUZK_VERIFY_FAILED: not a valid proof of that partition. */
    enum cuzk_status (*verify)(struct work *work, struct loaded *loaded, unsigned partition,
                               const uint8_t proof[CUZK_PROOF_BYTES], struct cuzk_error *err);
    /* All partitions, as a client will verify them. */
    enum cuzk_status (*verify_all)(struct work *work, struct loaded *loaded, const uint8_t *proofs,
                                   struct cuzk_error *err);
    void (*work_free)(struct work *work);

    /* Loads a circuit's parameters on all devices that can hold them (at least one). Slow.
       CUZK_NOT_FOUND: no such circuit; CUZK_BAD_PARAMS; CUZK_RESOURCE_EXHAUSTED: the devices are
       full, and may not be once something is unloaded. */
    enum cuzk_status (*load)(void *context, const char *circuit_id, struct loaded **out,
                             struct cuzk_error *err);
    /* Are the files still what they were? CUZK_BAD_PARAMS if not. Cheap. */
    enum cuzk_status (*check)(const struct loaded *loaded, struct cuzk_error *err);
    void (*unload)(struct loaded *loaded);

    /* For the status; may be NULL. */
    void (*device_memory)(void *context, unsigned device, uint64_t *total, uint64_t *free);
    /* After the threads have ended; may be NULL. */
    void (*context_free)(void *context);
};

struct work_device {
    char name[128];
    char backend[16];
};

/* What an engine is opened with. The engine owns context, once opened. */
struct work_setup {
    const struct work_ops *ops;
    void *context;
    const struct work_device *devices; /* copied */
    unsigned n_devices;
    unsigned workers_per_device; /* unless the options say; 0: 1 */
    /* Proofs are made up. They are not verified, and their jobs end as failed, with a text that
       says so; unless results_anyway, for a replay inside this process. */
    bool simulated;
    bool results_anyway;
};

struct cuzk_engine_options;

/* Opens an engine on a setup. In failure the context stays the caller's. */
enum cuzk_status engine_open(const struct cuzk_engine_options *options,
                             const struct work_setup *setup, struct cuzk_engine **out,
                             struct cuzk_error *err);

/* How many workers have a task, when everything that was sent to the engine before is dealt with.
   For a replay, which moves time on when all of them wait for it. */
unsigned engine_busy(struct cuzk_engine *engine);

#endif
