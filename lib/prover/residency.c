#include "prover/residency.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/pointer.h"
#include "base/pool.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- Opening ---------------------------------------------------------------------------------- */

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

static enum cuzk_status open_devices(struct residency *residency,
                                     const struct backend_options *options, struct cuzk_error *err)
{
    unsigned n;
    TRY(residency->backend->count(options, &n, err));
    if (n == 0)
        return error_set(err, CUZK_NO_DEVICE, "backend %s: no device", residency->backend->name);
    residency->devices = mem_zalloc(n, sizeof *residency->devices);
    residency->device_names = mem_zalloc(n, sizeof *residency->device_names);
    if (!residency->devices || !residency->device_names)
        return error_set(err, CUZK_NO_MEMORY, "no memory for %u devices", n);
    for (unsigned d = 0; d < n; d++) {
        if (residency->backend->open(options, d, &residency->devices[d], err) != CUZK_OK)
            return error_prefix(err, "backend %s, device %u", residency->backend->name, d);
        residency->n_devices = d + 1;
        snprintf(residency->device_names[d].name, sizeof residency->device_names[d].name, "%s",
                 residency->backend->describe(residency->devices[d]));
        snprintf(residency->device_names[d].backend, sizeof residency->device_names[d].backend,
                 "%s", residency->backend->name);
    }
    return CUZK_OK;
}

enum cuzk_status residency_open(const char *backend, const char *param_cache,
                                const struct backend_options *options, struct residency **out,
                                struct cuzk_error *err)
{
    if (!param_cache || !param_cache[0])
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "param_cache: the folder of parameters is missing");
    struct residency *residency = mem_zalloc(1, sizeof *residency);
    if (!residency)
        return error_set(err, CUZK_NO_MEMORY, "no memory for an engine");
    pthread_mutex_init(&residency->mutex, NULL);
    enum cuzk_status status = CUZK_OK;
    residency->backend = backend ? backend_find(backend) : best_backend(options);
    residency->param_cache = mem_strdup(param_cache);
    residency->pool = pool_new(options->threads);
    residency->shapes = mem_zalloc(circuit_count(), sizeof *residency->shapes);
    if (!residency->backend)
        status = error_set(err, CUZK_NO_DEVICE, "backend '%s': this build has none of that name",
                           backend ? backend : "cpu");
    else if (!residency->param_cache || !residency->pool || !residency->shapes)
        status = error_set(err, CUZK_NO_MEMORY, "no memory for an engine");
    else
        status = open_devices(residency, options, err);
    if (status != CUZK_OK) {
        residency_close(residency);
        return status;
    }
    *out = residency;
    return CUZK_OK;
}

void residency_close(struct residency *residency)
{
    if (!residency)
        return;
    for (unsigned d = 0; d < residency->n_devices; d++)
        residency->backend->close(residency->devices[d]);
    for (size_t i = 0; residency->shapes && i < circuit_count(); i++)
        shape_free(residency->shapes[i]);
    pool_free(residency->pool);
    pthread_mutex_destroy(&residency->mutex);
    mem_free(residency->devices);
    mem_free(residency->device_names);
    mem_free(residency->shapes);
    mem_free(residency->param_cache);
    mem_free(residency);
}

/* --- Parameters ------------------------------------------------------------------------------- */

enum cuzk_status residency_params_present(const struct residency *residency,
                                          const struct circuit_info *circuit,
                                          struct cuzk_error *err)
{
    char path[PATH_MAX];
    TRY(key_path(residency->param_cache, circuit->params_name, KEY_FILE_PARAMS, path, err));
    if (access(path, R_OK) == 0)
        return CUZK_OK;
    return error_errno(err, CUZK_BAD_PARAMS, errno, "no parameters for %s: %s", circuit->id, path);
}

/* The circuit's compiled shape; belongs to the residency. */
static enum cuzk_status find_shape(struct residency *residency, const struct circuit_info *circuit,
                                   const struct shape **out, struct cuzk_error *err)
{
    enum cuzk_status status = CUZK_OK;
    size_t index = 0;
    while (circuit_at(index) != circuit)
        index++;
    pthread_mutex_lock(&residency->mutex);
    if (!residency->shapes[index]) {
        uint64_t start = clock_now_ns();
        status = circuit_shape(circuit, &residency->shapes[index], err);
        residency->shapes_ns += clock_now_ns() - start;
    }
    *out = residency->shapes[index];
    pthread_mutex_unlock(&residency->mutex);
    return status;
}

uint64_t residency_shapes_ns(struct residency *residency)
{
    pthread_mutex_lock(&residency->mutex);
    uint64_t ns = residency->shapes_ns;
    pthread_mutex_unlock(&residency->mutex);
    return ns;
}

static const char *origin_text(enum params_origin origin)
{
    return origin == PARAMS_ORIGIN_DEVELOPMENT ? "development" : "published";
}

static enum cuzk_status check_origin(struct residency *residency, const struct params *params,
                                     struct cuzk_error *err)
{
    enum params_origin origin =
        params->is_dev ? PARAMS_ORIGIN_DEVELOPMENT : PARAMS_ORIGIN_PUBLISHED;
    pthread_mutex_lock(&residency->mutex);
    if (residency->origin == PARAMS_ORIGIN_UNDECIDED)
        residency->origin = origin;
    enum params_origin decided = residency->origin;
    pthread_mutex_unlock(&residency->mutex);
    if (origin == decided)
        return CUZK_OK;
    return error_set(err, CUZK_BAD_PARAMS, "%s: %s parameters, but %s ones are in use: never mixed",
                     params->path, origin_text(origin), origin_text(decided));
}

/* The key beside the parameters, if there is one, is what others verify with. */
static enum cuzk_status check_vk_file(const struct residency *residency,
                                      const struct circuit_info *circuit,
                                      const struct params *params, struct cuzk_error *err)
{
    char path[PATH_MAX];
    struct vk vk;
    TRY(key_path(residency->param_cache, circuit->params_name, KEY_FILE_VK, path, err));
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
static void open_lagrange(struct resident_circuit *resident)
{
    struct cuzk_error why;
    if (lagrange_open(resident->params, resident->shape, &resident->lagrange, &why) != CUZK_OK)
        log_warn("engine", "%s: proving goes on without the Lagrange form: %s",
                 resident->circuit->id, why.text);
}

/* Devices look at the points, and a bad one may be the form's: then it is left out of the key. */
static enum cuzk_status load_on_device(struct resident_circuit *resident, unsigned d,
                                       struct key_vectors *key, struct cuzk_error *err)
{
    const struct backend *backend = resident->residency->backend;
    struct backend_device *device = resident->residency->devices[d];
    enum cuzk_status status = backend->load(device, resident->shape, key, &resident->on[d], err);
    if (status != CUZK_BAD_PARAMS || !key->lagrange.h)
        return status;
    log_warn("engine", "%s: tried again without the Lagrange form, %s: %s", resident->circuit->id,
             resident->lagrange->path, err->text);
    key->lagrange = (struct lagrange_points){0};
    return backend->load(device, resident->shape, key, &resident->on[d], err);
}

static enum cuzk_status load_on_devices(struct resident_circuit *resident, struct cuzk_error *err)
{
    struct residency *residency = resident->residency;
    enum cuzk_status status = CUZK_OK;
    struct key_vectors key = resident->params->key;
    if (resident->lagrange)
        key.lagrange = resident->lagrange->points;
    for (unsigned d = 0; d < residency->n_devices; d++) {
        struct cuzk_error why;
        status = load_on_device(resident, d, &key, &why);
        if (status == CUZK_OK) {
            resident->base.devices |= UINT64_C(1) << d;
            continue;
        }
        resident->on[d] = NULL;
        log_error("engine", "%s on %s: %s", resident->circuit->id, residency->device_names[d].name,
                  why.text);
        if (err)
            *err = why;
    }
    resident->base.lagrange = key.lagrange.h != NULL;
    return resident->base.devices ? CUZK_OK : status;
}

static enum cuzk_status fill_resident(struct resident_circuit *resident, struct cuzk_error *err)
{
    struct residency *residency = resident->residency;
    const struct circuit_info *circuit = resident->circuit;
    TRY(params_open_circuit(residency->param_cache, circuit, &resident->params, err));
    TRY(check_origin(residency, resident->params, err));
    TRY(check_vk_file(residency, circuit, resident->params, err));
    TRY(find_shape(residency, circuit, &resident->shape, err));
    TRY(params_match_shape(resident->params, resident->shape, err));
    if (residency->backend->uses_lagrange)
        open_lagrange(resident);
    TRY(load_on_devices(resident, err));
    resident->base.mapped_bytes =
        resident->params->bytes + (resident->lagrange ? resident->lagrange->map.len : 0);
    resident->base.host_bytes = shape_bytes(resident->shape);
    resident->base.partition_bytes = witness_bytes_of(resident->shape);
    resident->base.dev = resident->params->is_dev;
    for (unsigned d = 0; d < residency->n_devices; d++)
        if (resident->on[d] && residency->backend->uses_host_memory)
            resident->base.host_bytes += residency->backend->bytes(resident->on[d]);
    return CUZK_OK;
}

enum cuzk_status residency_load(struct residency *residency, const char *circuit_id,
                                struct loaded **out, struct cuzk_error *err)
{
    const struct circuit_info *circuit = circuit_by_id(circuit_id);
    if (!circuit)
        return error_set(err, CUZK_NOT_FOUND, "no such circuit: %s", circuit_id);
    struct resident_circuit *resident =
        mem_zalloc(1, sizeof *resident + residency->n_devices * sizeof resident->on[0]);
    if (!resident)
        return error_set(err, CUZK_NO_MEMORY, "no memory to load %s", circuit_id);
    resident->residency = residency;
    resident->circuit = circuit;
    snprintf(resident->base.circuit_id, sizeof resident->base.circuit_id, "%s", circuit_id);
    enum cuzk_status status = fill_resident(resident, err);
    if (status != CUZK_OK) {
        residency_unload(&resident->base);
        return status;
    }
    *out = &resident->base;
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

const struct resident_circuit *residency_circuit(const struct loaded *loaded)
{
    return CONTAINER_OF(unconst(loaded), struct resident_circuit, base);
}

enum cuzk_status residency_check(const struct loaded *loaded, struct cuzk_error *err)
{
    const struct resident_circuit *resident = residency_circuit(loaded);
    TRY(check_map(&resident->params->map, resident->params->path, err));
    return resident->lagrange ? check_map(&resident->lagrange->map, resident->lagrange->path, err)
                              : CUZK_OK;
}

void residency_unload(struct loaded *loaded)
{
    struct resident_circuit *resident = CONTAINER_OF(loaded, struct resident_circuit, base);
    for (unsigned d = 0; d < resident->residency->n_devices; d++)
        if (resident->on[d])
            resident->residency->backend->unload(resident->on[d]);
    lagrange_close(resident->lagrange);
    if (resident->params)
        params_close(resident->params);
    mem_free(resident);
}

void residency_device_memory(const struct residency *residency, unsigned device, uint64_t *total,
                             uint64_t *free)
{
    struct backend_memory memory = {0};
    if (residency->backend->memory(residency->devices[device], &memory, NULL) != CUZK_OK)
        return;
    *total = memory.total_bytes;
    *free = memory.free_bytes;
}
