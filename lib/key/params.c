#include "key/params.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/pool.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* A missing or unreadable parameter file is bad parameters, whatever the system calls it. */
static enum cuzk_status as_bad_params(enum cuzk_status status, struct cuzk_error *err)
{
    if (status != CUZK_IO)
        return status;
    if (err)
        err->status = CUZK_BAD_PARAMS;
    return CUZK_BAD_PARAMS;
}

/* --- Opening ---------------------------------------------------------------------------------- */

/* Reads the count at *offset and moves *offset behind the section's points. */
static enum cuzk_status open_section(struct params *params, enum key_vector which, size_t *offset,
                                     struct cuzk_error *err)
{
    size_t left = params->map.len - *offset;
    if (left < 4)
        return error_set(err, CUZK_BAD_PARAMS,
                         "section %s: its count is at byte %zu, but the file ends at %zu",
                         key_vector_name(which), *offset, params->map.len);
    const uint8_t *at = params->map.data + *offset;
    const uint32_t n = load_u32_be(at);
    const size_t bytes = n * key_point_bytes(which);
    if (bytes > left - 4)
        return error_set(err, CUZK_BAD_PARAMS,
                         "section %s: %u points from byte %zu need a file of %zu bytes, found %zu",
                         key_vector_name(which), n, *offset + 4, *offset + 4 + bytes,
                         params->map.len);
    *offset += 4 + bytes;
    params->key.v[which].at = at + 4;
    params->key.v[which].n = n;
    return CUZK_OK;
}

static enum cuzk_status open_sections(struct params *params, struct cuzk_error *err)
{
    size_t offset = 0;
    TRY(vk_parse(params->map.data, params->map.len, false, &params->vk, &offset, err));
    for (enum key_vector which = KEY_H; which < KEY_VECTORS; which++)
        TRY(open_section(params, which, &offset, err));
    params->key.is_file_map = true;
    params->bytes = offset;
    return CUZK_OK;
}

enum cuzk_status params_open(const char *path, struct params **out, struct cuzk_error *err)
{
    struct params *params = mem_zalloc(1, sizeof *params);
    char *copy = mem_strdup(path);
    if (!params || !copy) {
        mem_free(params);
        mem_free(copy);
        return error_set(err, CUZK_NO_MEMORY, "%s: no memory", path);
    }
    params->path = copy;
    params->map.fd = -1;
    enum cuzk_status status = as_bad_params(file_map_open(path, &params->map, err), err);
    if (status == CUZK_OK) {
        params->is_dev = params_in_dev_folder(path);
        status = open_sections(params, err);
        if (status != CUZK_OK)
            error_prefix(err, "%s", path);
    }
    if (status != CUZK_OK) {
        params_close(params);
        return status;
    }
    *out = params;
    return CUZK_OK;
}

void params_close(struct params *params)
{
    if (!params)
        return;
    vk_free(&params->vk);
    file_map_close(&params->map);
    mem_free(params->path);
    mem_free(params);
}

enum cuzk_status params_open_circuit(const char *folder, const struct circuit_info *circuit,
                                     struct params **out, struct cuzk_error *err)
{
    char path[PATH_MAX];
    TRY(key_path(folder, circuit->params_name, KEY_FILE_PARAMS, path, err));
    struct stat info;
    if (stat(path, &info) != 0)
        return error_errno(err, CUZK_BAD_PARAMS, errno, "parameters of %s: cannot find %s",
                           circuit->id, path);
    if (S_ISREG(info.st_mode) && (uint64_t)info.st_size != circuit->params_bytes)
        return error_set(err, CUZK_BAD_PARAMS, "%s: %llu bytes, expected %llu for %s", path,
                         (unsigned long long)info.st_size,
                         (unsigned long long)circuit->params_bytes, circuit->id);
    struct params *params;
    TRY(params_open(path, &params, err));
    enum cuzk_status status = params_match_circuit(params, circuit, err);
    if (status != CUZK_OK) {
        params_close(params);
        return status;
    }
    *out = params;
    return CUZK_OK;
}

/* --- Does it fit? ----------------------------------------------------------------------------- */

enum cuzk_status params_match_circuit(const struct params *params,
                                      const struct circuit_info *circuit, struct cuzk_error *err)
{
    return vk_match_circuit(&params->vk, params->is_dev, params->path, circuit, err);
}

enum cuzk_status params_match_shape(const struct params *params, const struct shape *shape,
                                    struct cuzk_error *err)
{
    if (params->vk.n_ic != shape->n_inputs)
        return error_set(err, CUZK_BAD_PARAMS, "%s: %u ic points, the circuit has %u inputs",
                         params->path, params->vk.n_ic, shape->n_inputs);
    enum cuzk_status status = key_check(&params->key, shape, err);
    if (status != CUZK_OK) {
        error_prefix(err, "%s", params->path);
        return status;
    }
    if (params->bytes != params->map.len)
        return error_set(err, CUZK_BAD_PARAMS, "%s: %zu bytes, but its sections end at %zu",
                         params->path, params->map.len, params->bytes);
    return CUZK_OK;
}

/* --- Reading it all --------------------------------------------------------------------------- */

/* Reads from the file, not from the map: a file cut meanwhile gives an error, not SIGBUS. */
static enum cuzk_status read_at(const struct params *params, size_t offset, uint8_t *bytes,
                                size_t len, struct cuzk_error *err)
{
    for (size_t done = 0; done < len;) {
        ssize_t got = pread(params->map.fd, bytes + done, len - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_errno(err, CUZK_IO, errno, "%s: cannot read", params->path);
        if (got == 0)
            return error_set(err, CUZK_IO, "%s: got shorter while it was read", params->path);
        done += (size_t)got;
    }
    return CUZK_OK;
}

enum { CHUNK_POINTS = 4096 };

struct points_check {
    const struct params *params;
    enum point_check check;
    size_t first_chunk[KEY_VECTORS + 1]; /* chunks of all vectors are numbered through */
    pthread_mutex_t lock;
    size_t bad_chunk;        /* lowest chunk with a failure so far; SIZE_MAX: none */
    enum cuzk_status status; /* of that chunk, as err */
    struct cuzk_error err;
};

static enum cuzk_status check_chunk(const struct points_check *run, enum key_vector which,
                                    size_t chunk, uint8_t *buffer, struct cuzk_error *err)
{
    const struct key_vectors *key = &run->params->key;
    const size_t size = key_point_bytes(which), first = chunk * CHUNK_POINTS;
    const size_t left = key->v[which].n - first, count = left < CHUNK_POINTS ? left : CHUNK_POINTS;
    const size_t offset = (size_t)(key->v[which].at - run->params->map.data) + first * size;
    TRY(read_at(run->params, offset, buffer, count * size, err));
    for (size_t i = 0; i < count; i++) {
        struct g1_affine g1;
        struct g2_affine g2;
        bool good = size == G1_BYTES ? g1_decode(&g1, buffer + i * size, run->check)
                                     : g2_decode(&g2, buffer + i * size, run->check);
        if (!good)
            return error_set(err, CUZK_BAD_PARAMS, "%s: section %s: point %zu is not a finite %s",
                             run->params->path, key_vector_name(which), first + i,
                             run->check == POINT_CHECK_SUBGROUP ? "point of the subgroup"
                             : run->check == POINT_CHECK_CURVE  ? "point of the curve"
                                                                : "canonical point");
    }
    return CUZK_OK;
}

static void check_task(void *context, size_t i)
{
    struct points_check *run = context;
    pthread_mutex_lock(&run->lock);
    bool needless = run->bad_chunk < i; /* only an earlier failure would still matter */
    pthread_mutex_unlock(&run->lock);
    if (needless)
        return;
    enum key_vector which = KEY_H;
    while (i >= run->first_chunk[which + 1])
        which++;
    struct cuzk_error err = {0};
    uint8_t *buffer = mem_alloc(CHUNK_POINTS, key_point_bytes(which));
    enum cuzk_status status =
        buffer
            ? check_chunk(run, which, i - run->first_chunk[which], buffer, &err)
            : error_set(&err, CUZK_NO_MEMORY, "%s: no memory to check points", run->params->path);
    mem_free(buffer);
    if (status == CUZK_OK)
        return;
    pthread_mutex_lock(&run->lock);
    if (i < run->bad_chunk) {
        run->bad_chunk = i;
        run->status = status;
        run->err = err;
    }
    pthread_mutex_unlock(&run->lock);
}

enum cuzk_status params_check_points(const struct params *params, enum point_check check,
                                     struct pool *pool, struct cuzk_error *err)
{
    struct points_check run = {
        .params = params,
        .check = check,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .bad_chunk = SIZE_MAX,
    };
    for (enum key_vector which = KEY_H; which < KEY_VECTORS; which++) {
        size_t count = params->key.v[which].n;
        run.first_chunk[which + 1] =
            run.first_chunk[which] + (count + CHUNK_POINTS - 1) / CHUNK_POINTS;
    }
    size_t chunks = run.first_chunk[KEY_VECTORS];
    if (pool)
        pool_run(pool, chunks, check_task, &run);
    else
        for (size_t i = 0; i < chunks; i++)
            check_task(&run, i);
    if (run.status != CUZK_OK && err)
        *err = run.err;
    return run.status;
}

enum cuzk_status params_digest(const struct params *params, uint8_t digest[16],
                               struct cuzk_error *err)
{
    enum { PIECE_BYTES = 1 << 20 };
    struct hasher *hasher = blake2b_new();
    uint8_t *buffer = mem_alloc(PIECE_BYTES, 1);
    enum cuzk_status status = CUZK_OK;
    if (!hasher || !buffer)
        status = error_set(err, CUZK_NO_MEMORY, "%s: no memory for a digest", params->path);
    for (size_t done = 0; status == CUZK_OK && done < params->map.len; done += PIECE_BYTES) {
        size_t left = params->map.len - done;
        size_t n = left < PIECE_BYTES ? left : PIECE_BYTES;
        status = read_at(params, done, buffer, n, err);
        if (status == CUZK_OK)
            hasher_update(hasher, buffer, n);
    }
    uint8_t whole[BLAKE2B_BYTES];
    if (hasher)
        hasher_final(hasher, status == CUZK_OK ? whole : NULL);
    if (status == CUZK_OK)
        memcpy(digest, whole, 16);
    mem_free(buffer);
    return status;
}
