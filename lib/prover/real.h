/* The engine's work for real: parameters, devices and circuits (real.c), PoRep (porep.c). */
#ifndef PROVER_REAL_H
#define PROVER_REAL_H

#include "circuits/registry.h"
#include "engine/work.h"
#include "key/lagrange_file.h"
#include "groth16/prove.h"

#include <pthread.h>

/* Shared by all workers; fixed once opened, except what the mutex guards. */
struct real {
    const struct backend *backend;
    struct backend_device **devices;
    struct work_device *names;
    unsigned n_devices;
    char *param_cache;
    /* For checking inputs and for synthesis: a partition's challenges are shared out over it, so
       that the device's next partition does not wait for one core while others idle. The CPU time
       is that of one thread, and partitions made at once share the workers. */
    struct pool *pool;
    pthread_mutex_t mutex;
    struct shape **shapes; /* by number of the circuit; compiled once, kept to the end */
    int sort; /* of parameters, fixed by the first load: 0 none yet, 1 published, 2 dev */
};

struct real_loaded {
    struct loaded base;
    struct real *real;
    const struct circuit_info *circuit;
    struct params *params;
    struct lagrange_file *lagrange; /* NULL: none that is good, or the backend uses none */
    const struct shape *shape;
    struct backend_circuit *on[]; /* by device; NULL: not there */
};

/* Opens a backend's devices. backend NULL: cuda if there is a device, else cpu. CUZK_NO_DEVICE,
   CUZK_INVALID_ARGUMENT. Free with real_close. */
enum cuzk_status real_open(const char *backend, const char *param_cache,
                           const struct backend_options *options, struct real **out,
                           struct cuzk_error *err);
void real_close(struct real *real);

/* CUZK_BAD_PARAMS if the circuit's parameter file cannot be read. Cheap. */
enum cuzk_status real_params_present(const char *param_cache, const struct circuit_info *circuit,
                                     struct cuzk_error *err);
/* The circuit's compiled shape; belongs to real. */
enum cuzk_status real_shape(struct real *real, const struct circuit_info *circuit,
                            const struct shape **out, struct cuzk_error *err);

/* Parts of struct work_ops. */
enum cuzk_status real_load(void *context, const char *circuit_id, struct loaded **out,
                           struct cuzk_error *err);
enum cuzk_status real_check(const struct loaded *loaded, struct cuzk_error *err);
void real_unload(struct loaded *loaded);

/* porep.c. A C1's partitions are checked when they are synthesized, or all before. */
enum cuzk_status porep_admit(void *context, const struct request *request,
                             char circuit_id[WORK_CIRCUIT_ID_BYTES], struct cuzk_error *err);
enum cuzk_status porep_parse(void *context, const struct request *request, struct work **out,
                             struct cuzk_error *err);
/* The same without a request, for the one-shot calls. */
struct c1_expect;
enum cuzk_status porep_read(const uint8_t *c1, size_t len, const struct c1_expect *expect,
                            struct pool *pool, struct work **out, struct cuzk_error *err);
enum cuzk_status porep_check_all(struct work *work, struct pool *pool, struct cuzk_error *err);
/* Checks the partition if that was not done yet, then makes its witness. */
enum cuzk_status porep_synthesize_part(struct work *work, const struct shape *shape,
                                       const struct work_span *span, struct pool *pool,
                                       struct witness *out, struct cuzk_error *err);
enum cuzk_status porep_prove(struct work *work, struct loaded *loaded, void *witness,
                             const struct work_span *span, uint8_t proof[CUZK_PROOF_BYTES],
                             uint64_t *device_ns, struct cuzk_error *err);
enum cuzk_status porep_verify(const struct work *work, const struct vk *vk, unsigned partition,
                              const uint8_t proof[CUZK_PROOF_BYTES], struct cuzk_error *err);
enum cuzk_status porep_verify_all(const struct work *work, const struct vk *vk,
                                  const uint8_t *proofs, struct cuzk_error *err);
void porep_free(struct work *work);

#endif
