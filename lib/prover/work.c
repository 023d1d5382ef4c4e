#include "prover/work.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/pointer.h"
#include "prover/prove.h"

#include <stdio.h>

static struct kind_work *kind_work_of(struct work *work)
{
    return CONTAINER_OF(work, struct kind_work, base);
}

static const struct vk *vk_of(const struct loaded *loaded)
{
    return &residency_circuit(loaded)->params->vk;
}

static enum cuzk_status admit(void *context, const struct request *request,
                              char circuit_id[WORK_CIRCUIT_ID_BYTES], struct cuzk_error *err)
{
    const struct circuit_info *circuit;
    const struct proof_kind *kind = kind_find(request->kind, err);
    if (!kind)
        return CUZK_UNSUPPORTED;
    TRY(kind->admit(request, &circuit, err));
    if (!circuit)
        return CUZK_OK;
    snprintf(circuit_id, WORK_CIRCUIT_ID_BYTES, "%s", circuit->id);
    return residency_params_present(context, circuit, err);
}

static enum cuzk_status parse(void *context, const struct request *request, struct work **out,
                              struct cuzk_error *err)
{
    const struct residency *residency = context;
    struct kind_work *work;
    TRY(kind_parse(request, residency->pool, &work, err));
    *out = &work->base;
    return CUZK_OK;
}

static enum cuzk_status synthesize(struct work *work, struct loaded *loaded,
                                   const struct work_span *span, struct witness **witness,
                                   struct cuzk_error *err)
{
    const struct resident_circuit *circuit = residency_circuit(loaded);
    struct witness *made = mem_zalloc(1, sizeof *made);
    if (!made)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a witness");
    enum cuzk_status status = prover_synthesize(kind_work_of(work), circuit->shape, span,
                                                circuit->residency->pool, made, err);
    if (status != CUZK_OK) {
        mem_free(made);
        return status;
    }
    *witness = made;
    return CUZK_OK;
}

static void free_witness(struct witness *witness)
{
    witness_free(witness);
    mem_free(witness);
}

static enum cuzk_status prove(struct work *work, struct loaded *loaded, struct witness *witness,
                              const struct work_span *span, uint8_t proof[CUZK_PROOF_BYTES],
                              uint64_t *device_ns, struct cuzk_error *err)
{
    (void)work;
    return prover_prove(residency_circuit(loaded), witness, span, proof, device_ns, err);
}

static enum cuzk_status verify(struct work *work, struct loaded *loaded, unsigned partition,
                               const uint8_t proof[CUZK_PROOF_BYTES], struct cuzk_error *err)
{
    return prover_verify(kind_work_of(work), vk_of(loaded), partition, proof, err);
}

static enum cuzk_status verify_all(struct work *work, struct loaded *loaded, const uint8_t *proofs,
                                   struct cuzk_error *err)
{
    return prover_verify_all(kind_work_of(work), vk_of(loaded), proofs, err);
}

static void work_free(struct work *work)
{
    if (work)
        kind_free(kind_work_of(work));
}

static enum cuzk_status load(void *context, const char *circuit_id, struct loaded **out,
                             struct cuzk_error *err)
{
    return residency_load(context, circuit_id, out, err);
}

static void device_memory(void *context, unsigned device, uint64_t *total, uint64_t *free)
{
    residency_device_memory(context, device, total, free);
}

static void context_free(void *context)
{
    residency_close(context);
}

static const struct work_ops ops = {
    .admit = admit,
    .parse = parse,
    .synthesize = synthesize,
    .witness_free = free_witness,
    .prove = prove,
    .verify = verify,
    .verify_all = verify_all,
    .work_free = work_free,
    .load = load,
    .check = residency_check,
    .unload = residency_unload,
    .device_memory = device_memory,
    .context_free = context_free,
};

void prover_setup(struct residency *residency, struct work_setup *out)
{
    const struct backend *backend = residency->backend;
    *out = (struct work_setup){
        .ops = &ops,
        .context = residency,
        .devices = residency->device_names,
        .n_devices = residency->n_devices,
        .workers_per_device = backend->workers,
        .verification = backend->makes_proofs ? WORK_VERIFIED : WORK_SIMULATED,
    };
}

enum cuzk_status cuzk_engine_open(const struct cuzk_engine_options *options,
                                  struct cuzk_engine **out, struct cuzk_error *err)
{
    *out = NULL;
    const struct backend_options backend = {
        .threads = options->threads,
        .devices = options->devices,
        .vram_budget_bytes = options->vram_budget_bytes,
        .sim_timing = options->sim_timing,
    };
    struct residency *residency;
    struct work_setup setup;
    TRY(residency_open(options->backend, options->param_cache, &backend, &residency, err));
    prover_setup(residency, &setup);
    enum cuzk_status status = engine_open(options, &setup, out, err);
    if (status != CUZK_OK)
        residency_close(residency);
    return status;
}
