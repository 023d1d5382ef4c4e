#include "prover/real.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/pool.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- Opening ----------------------------------------------------------------------- */

/* Never the simulation, and the processor only where there is no card: a fallback that nobody asked
   for is said aloud. */
static const struct backend *best_backend(const struct backend_options *options)
{
    unsigned n;
    struct cuzk_error why = {CUZK_NO_DEVICE, "not in this build"};
    const struct backend *cuda = backend_find("cuda");
    if (cuda && cuda->count(options, &n, &why) == CUZK_OK && n > 0)
        return cuda;
    log_warn("engine", "no CUDA device (%s): proving on the CPU", why.text);
    return backend_find("cpu");
}

static enum cuzk_status open_devices(struct real *real, const struct backend_options *options,
                                     struct cuzk_error *err)
{
    unsigned n;
    TRY(real->backend->count(options, &n, err));
    if (n == 0)
        return error_set(err, CUZK_NO_DEVICE, "backend %s: no device", real->backend->name);
    real->devices = mem_zalloc(n, sizeof *real->devices);
    real->names = mem_zalloc(n, sizeof *real->names);
    if (!real->devices || !real->names)
        return error_set(err, CUZK_NO_MEMORY, "no memory for %u devices", n);
    for (unsigned d = 0; d < n; d++) {
        if (real->backend->open(options, d, &real->devices[d], err) != CUZK_OK)
            return error_prefix(err, "backend %s, device %u", real->backend->name, d);
        real->n_devices = d + 1;
        snprintf(real->names[d].name, sizeof real->names[d].name, "%s",
                 real->backend->describe(real->devices[d]));
        snprintf(real->names[d].backend, sizeof real->names[d].backend, "%s", real->backend->name);
    }
    return CUZK_OK;
}

enum cuzk_status real_open(const char *backend, const char *param_cache,
                           const struct backend_options *options, struct real **out,
                           struct cuzk_error *err)
{
    if (!param_cache || !param_cache[0])
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "param_cache: the folder of parameters is missing");
    struct real *real = mem_zalloc(1, sizeof *real);
    if (!real)
        return error_set(err, CUZK_NO_MEMORY, "no memory for an engine");
    pthread_mutex_init(&real->mutex, NULL);
    enum cuzk_status status = CUZK_OK;
    real->backend = backend ? backend_find(backend) : best_backend(options);
    real->param_cache = mem_strdup(param_cache);
    real->pool = pool_new(options->threads);
    real->shapes = mem_zalloc(circuit_count(), sizeof *real->shapes);
    if (!real->backend)
        status = error_set(err, CUZK_NO_DEVICE, "backend '%s': this build has none of that name",
                           backend ? backend : "cpu");
    else if (!real->param_cache || !real->pool || !real->shapes)
        status = error_set(err, CUZK_NO_MEMORY, "no memory for an engine");
    else
        status = open_devices(real, options, err);
    if (status != CUZK_OK) {
        real_close(real);
        return status;
    }
    *out = real;
    return CUZK_OK;
}

void real_close(struct real *real)
{
    if (!real)
        return;
    for (unsigned d = 0; d < real->n_devices; d++)
        real->backend->close(real->devices[d]);
    for (size_t i = 0; real->shapes && i < circuit_count(); i++)
        shape_free(real->shapes[i]);
    pool_free(real->pool);
    pthread_mutex_destroy(&real->mutex);
    mem_free(real->devices);
    mem_free(real->names);
    mem_free(real->shapes);
    mem_free(real->param_cache);
    mem_free(real);
}

/* --- Parameters -------------------------------------------------------------------- */

static enum cuzk_status params_path(const char *param_cache, const struct circuit_info *circuit,
                                    const char *ending, char path[PATH_MAX], struct cuzk_error *err)
{
    int len = snprintf(path, PATH_MAX, "%s/%s%s", param_cache, circuit->params_name, ending);
    return len < PATH_MAX
               ? CUZK_OK
               : error_set(err, CUZK_BAD_PARAMS, "%s: folder name too long", circuit->id);
}

enum cuzk_status real_params_present(const char *param_cache, const struct circuit_info *circuit,
                                     struct cuzk_error *err)
{
    char path[PATH_MAX];
    TRY(params_path(param_cache, circuit, ".params", path, err));
    if (access(path, R_OK) == 0)
        return CUZK_OK;
    return error_errno(err, CUZK_BAD_PARAMS, errno, "no parameters for %s: %s", circuit->id, path);
}

enum cuzk_status real_shape(struct real *real, const struct circuit_info *circuit,
                            const struct shape **out, struct cuzk_error *err)
{
    enum cuzk_status status = CUZK_OK;
    size_t index = 0;
    while (circuit_at(index) != circuit)
        index++;
    pthread_mutex_lock(&real->mutex);
    if (!real->shapes[index])
        status = circuit_shape(circuit, &real->shapes[index], err);
    *out = real->shapes[index];
    pthread_mutex_unlock(&real->mutex);
    return status;
}

/* Proofs under development keys are worthless; a process that makes both sorts could hand one out
   for the other. So the first parameters that are loaded decide, and the other sort is refused. */
static enum cuzk_status check_sort(struct real *real, const struct params *params,
                                   struct cuzk_error *err)
{
    int sort = params->is_dev ? 2 : 1;
    pthread_mutex_lock(&real->mutex);
    if (real->sort == 0)
        real->sort = sort;
    bool same = real->sort == sort;
    pthread_mutex_unlock(&real->mutex);
    if (same)
        return CUZK_OK;
    return error_set(err, CUZK_BAD_PARAMS, "%s: %s parameters, but %s ones are in use: never mixed",
                     params->path, sort == 2 ? "development" : "published",
                     sort == 2 ? "published" : "development");
}

/* The key beside the parameters, if there is one, is what others verify with. */
static enum cuzk_status check_vk_file(const struct real *real, const struct circuit_info *circuit,
                                      const struct params *params, struct cuzk_error *err)
{
    char path[PATH_MAX];
    struct vk vk;
    TRY(params_path(real->param_cache, circuit, ".vk", path, err));
    if (access(path, F_OK) != 0) {
        log_warn("engine", "%s: missing; the key in the parameters is used", path);
        return CUZK_OK;
    }
    TRY(vk_read(path, &vk, err));
    bool same = memcmp(vk.digest, params->vk.digest, sizeof vk.digest) == 0;
    vk_free(&vk);
    return same ? CUZK_OK
                : error_set(err, CUZK_BAD_PARAMS, "%s: not the key of %s", path, params->path);
}

/* Proofs are the same without the Lagrange form, so no fault of it stops the work. */
static void open_lagrange(struct real_loaded *loaded)
{
    struct cuzk_error why;
    if (lagrange_open(loaded->params, loaded->shape, &loaded->lagrange, &why) != CUZK_OK)
        log_warn("engine", "%s: proving goes on without the Lagrange form: %s", loaded->circuit->id,
                 why.text);
}

/* Devices look at the points, and a bad one may be the form's: then it is left out of the key. */
static enum cuzk_status load_on_device(struct real_loaded *loaded, unsigned d,
                                       struct key_vectors *key, struct cuzk_error *err)
{
    const struct backend *backend = loaded->real->backend;
    struct backend_device *device = loaded->real->devices[d];
    enum cuzk_status status = backend->load(device, loaded->shape, key, &loaded->on[d], err);
    if (status != CUZK_BAD_PARAMS || !key->lagrange.h)
        return status;
    log_warn("engine", "%s: tried again without the Lagrange form, %s: %s", loaded->circuit->id,
             loaded->lagrange->path, err->text);
    key->lagrange = (struct lagrange_points){0};
    return backend->load(device, loaded->shape, key, &loaded->on[d], err);
}

static enum cuzk_status load_on_devices(struct real_loaded *loaded, struct cuzk_error *err)
{
    struct real *real = loaded->real;
    enum cuzk_status status = CUZK_OK;
    struct key_vectors key = loaded->params->key;
    if (loaded->lagrange)
        key.lagrange = loaded->lagrange->points;
    for (unsigned d = 0; d < real->n_devices; d++) {
        struct cuzk_error why;
        status = load_on_device(loaded, d, &key, &why);
        if (status == CUZK_OK) {
            loaded->base.devices |= UINT64_C(1) << d;
            continue;
        }
        loaded->on[d] = NULL;
        log_error("engine", "%s on %s: %s", loaded->circuit->id, real->names[d].name, why.text);
        if (err)
            *err = why;
    }
    loaded->base.lagrange = key.lagrange.h != NULL;
    return loaded->base.devices ? CUZK_OK : status;
}

static uint64_t witness_bytes_of(const struct shape *shape)
{
    return (uint64_t)shape->n_aux / 8 + 128 +
           ((uint64_t)shape->n_full + shape->n_inputs) * sizeof(struct fr);
}

static enum cuzk_status fill_loaded(struct real_loaded *loaded, struct cuzk_error *err)
{
    struct real *real = loaded->real;
    const struct circuit_info *circuit = loaded->circuit;
    TRY(params_open_circuit(real->param_cache, circuit, &loaded->params, err));
    TRY(check_sort(real, loaded->params, err));
    TRY(check_vk_file(real, circuit, loaded->params, err));
    TRY(real_shape(real, circuit, &loaded->shape, err));
    TRY(params_match_shape(loaded->params, loaded->shape, err));
    if (real->backend->uses_lagrange)
        open_lagrange(loaded);
    TRY(load_on_devices(loaded, err));
    loaded->base.mapped_bytes =
        loaded->params->bytes + (loaded->lagrange ? loaded->lagrange->map.len : 0);
    loaded->base.host_bytes = shape_bytes(loaded->shape);
    loaded->base.partition_bytes = witness_bytes_of(loaded->shape);
    loaded->base.dev = loaded->params->is_dev;
    for (unsigned d = 0; d < real->n_devices; d++)
        if (loaded->on[d] && real->backend->uses_host_memory)
            loaded->base.host_bytes += real->backend->bytes(loaded->on[d]);
    return CUZK_OK;
}

enum cuzk_status real_load(void *context, const char *circuit_id, struct loaded **out,
                           struct cuzk_error *err)
{
    struct real *real = context;
    const struct circuit_info *circuit = circuit_by_id(circuit_id);
    if (!circuit)
        return error_set(err, CUZK_NOT_FOUND, "no such circuit: %s", circuit_id);
    struct real_loaded *loaded =
        mem_zalloc(1, sizeof *loaded + real->n_devices * sizeof loaded->on[0]);
    if (!loaded)
        return error_set(err, CUZK_NO_MEMORY, "no memory to load %s", circuit_id);
    loaded->real = real;
    loaded->circuit = circuit;
    snprintf(loaded->base.circuit_id, sizeof loaded->base.circuit_id, "%s", circuit_id);
    enum cuzk_status status = fill_loaded(loaded, err);
    if (status != CUZK_OK) {
        real_unload(&loaded->base);
        return status;
    }
    *out = &loaded->base;
    return CUZK_OK;
}

static enum cuzk_status check_map(const struct file_map *map, const char *path,
                                  struct cuzk_error *err)
{
    if (file_map_check(map, err) == CUZK_OK)
        return CUZK_OK;
    if (err)
        err->status = CUZK_BAD_PARAMS;
    error_prefix(err, "%s", path);
    return CUZK_BAD_PARAMS;
}

enum cuzk_status real_check(const struct loaded *base, struct cuzk_error *err)
{
    const struct real_loaded *loaded = (const struct real_loaded *)(const void *)base;
    TRY(check_map(&loaded->params->map, loaded->params->path, err));
    return loaded->lagrange ? check_map(&loaded->lagrange->map, loaded->lagrange->path, err)
                            : CUZK_OK;
}

void real_unload(struct loaded *base)
{
    struct real_loaded *loaded = (struct real_loaded *)(void *)base;
    for (unsigned d = 0; d < loaded->real->n_devices; d++)
        if (loaded->on[d])
            loaded->real->backend->unload(loaded->on[d]);
    lagrange_close(loaded->lagrange);
    if (loaded->params)
        params_close(loaded->params);
    mem_free(loaded);
}

/* --- The engine -------------------------------------------------------------------- */

static enum cuzk_status synthesize(struct work *work, struct loaded *base,
                                   const struct work_span *span, void **witness,
                                   struct cuzk_error *err)
{
    const struct real_loaded *loaded = (const struct real_loaded *)(const void *)base;
    struct witness *made = mem_zalloc(1, sizeof *made);
    if (!made)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a witness");
    enum cuzk_status status =
        porep_synthesize_part(work, loaded->shape, span, loaded->real->pool, made, err);
    if (status != CUZK_OK) {
        mem_free(made);
        return status;
    }
    *witness = made;
    return CUZK_OK;
}

static void free_witness(void *witness)
{
    witness_free(witness);
    mem_free(witness);
}

static enum cuzk_status verify(struct work *work, struct loaded *loaded, unsigned partition,
                               const uint8_t proof[CUZK_PROOF_BYTES], struct cuzk_error *err)
{
    return porep_verify(work, &((struct real_loaded *)(void *)loaded)->params->vk, partition, proof,
                        err);
}

static enum cuzk_status verify_all(struct work *work, struct loaded *loaded, const uint8_t *proofs,
                                   struct cuzk_error *err)
{
    return porep_verify_all(work, &((struct real_loaded *)(void *)loaded)->params->vk, proofs, err);
}

static void device_memory(void *context, unsigned device, uint64_t *total, uint64_t *free)
{
    struct real *real = context;
    struct backend_memory memory = {0};
    if (real->backend->memory(real->devices[device], &memory, NULL) != CUZK_OK)
        return;
    *total = memory.total_bytes;
    *free = memory.free_bytes;
}

static void context_free(void *context)
{
    real_close(context);
}

static const struct work_ops ops = {
    .admit = porep_admit,
    .parse = porep_parse,
    .synthesize = synthesize,
    .witness_free = free_witness,
    .prove = porep_prove,
    .verify = verify,
    .verify_all = verify_all,
    .work_free = porep_free,
    .load = real_load,
    .check = real_check,
    .unload = real_unload,
    .device_memory = device_memory,
    .context_free = context_free,
};

enum cuzk_status cuzk_engine_open(const struct cuzk_engine_options *options,
                                  struct cuzk_engine **out, struct cuzk_error *err)
{
    *out = NULL;
    struct backend_options backend = {
        .threads = options->threads,
        .devices = options->devices,
        .vram_budget_bytes = options->vram_budget_bytes,
        .sim_timing = options->sim_timing,
    };
    struct real *real;
    TRY(real_open(options->backend, options->param_cache, &backend, &real, err));
    const struct work_setup setup = {
        .ops = &ops,
        .context = real,
        .devices = real->names,
        .n_devices = real->n_devices,
        .workers_per_device = real->backend->workers,
        .simulated = !real->backend->makes_proofs,
    };
    enum cuzk_status status = engine_open(options, &setup, out, err);
    if (status != CUZK_OK)
        real_close(real);
    return status;
}
