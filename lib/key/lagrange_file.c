#include "key/lagrange_file.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/error.h"
#include "base/file_part.h"
#include "base/mem.h"
#include "base/pointer.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEADER_BYTES = 4096, VERSION = 1, DIGEST_AT = 24, DIGEST_BYTES = 16 };

static const uint8_t magic[] = {'C', 'U', 'Z', 'K', 'L', 'A', 'G', 'R'};

/* --- Layout ----------------------------------------------------------------------------------- */

struct header_number {
    const char *name;
    size_t at;
    uint32_t value;
};

enum { HEADER_NUMBERS = 4 };

static void header_numbers(const struct shape *shape, struct header_number out[HEADER_NUMBERS])
{
    out[0] = (struct header_number){"version", 8, VERSION};
    out[1] = (struct header_number){"log2_domain", 12, shape->log2_domain};
    out[2] = (struct header_number){"points of l", 16, shape->n_aux};
    out[3] = (struct header_number){"points of inputs", 20, shape->n_inputs};
}

static void write_header(uint8_t *bytes, const struct params *params, const struct shape *shape)
{
    struct header_number numbers[HEADER_NUMBERS];
    header_numbers(shape, numbers);
    memset(bytes, 0, HEADER_BYTES);
    memcpy(bytes, magic, sizeof magic);
    for (size_t i = 0; i < HEADER_NUMBERS; i++)
        store_u32_le(bytes + numbers[i].at, numbers[i].value);
    memcpy(bytes + DIGEST_AT, params->vk.digest, DIGEST_BYTES);
}

void lagrange_lay_out(const struct shape *shape, struct lagrange_layout *out)
{
    out->h = HEADER_BYTES;
    out->l = out->h + ((size_t)G1_BYTES << shape->log2_domain);
    out->inputs = out->l + (size_t)G1_BYTES * shape->n_aux;
    out->bytes = out->inputs + (size_t)G1_BYTES * shape->n_inputs;
}

static void find_points(uint8_t *bytes, const struct shape *shape, struct lagrange_points *out)
{
    struct lagrange_layout layout;
    lagrange_lay_out(shape, &layout);
    *out = (struct lagrange_points){
        .h = bytes + layout.h,
        .l = bytes + layout.l,
        .inputs = bytes + layout.inputs,
    };
}

/* --- Opening ---------------------------------------------------------------------------------- */

static enum cuzk_status check_header(const uint8_t *bytes, const struct params *params,
                                     const struct shape *shape, struct cuzk_error *err)
{
    if (memcmp(bytes, magic, sizeof magic) != 0)
        return error_set(err, CUZK_BAD_PARAMS, "expected CUZKLAGR at its beginning");
    struct header_number numbers[HEADER_NUMBERS];
    header_numbers(shape, numbers);
    for (size_t i = 0; i < HEADER_NUMBERS; i++) {
        uint32_t found = load_u32_le(bytes + numbers[i].at);
        if (found != numbers[i].value)
            return error_set(err, CUZK_BAD_PARAMS, "%s: %u, expected %u", numbers[i].name, found,
                             numbers[i].value);
    }
    if (memcmp(bytes + DIGEST_AT, params->vk.digest, DIGEST_BYTES) != 0) {
        char found[2 * DIGEST_BYTES + 1], wanted[2 * DIGEST_BYTES + 1];
        hex_encode(bytes + DIGEST_AT, DIGEST_BYTES, found);
        hex_encode(params->vk.digest, DIGEST_BYTES, wanted);
        return error_set(err, CUZK_BAD_PARAMS, "of the verifying key %s, expected %s", found,
                         wanted);
    }
    for (size_t i = DIGEST_AT + DIGEST_BYTES; i < HEADER_BYTES; i++) {
        if (bytes[i] != 0)
            return error_set(err, CUZK_BAD_PARAMS, "byte %zu: %u, expected 0", i, bytes[i]);
    }
    return CUZK_OK;
}

/* The header first: it says more than a wrong size does. */
static enum cuzk_status check_file(const struct file_map *map, const struct params *params,
                                   const struct shape *shape, struct cuzk_error *err)
{
    struct lagrange_layout layout;
    lagrange_lay_out(shape, &layout);
    if (map->len >= HEADER_BYTES)
        TRY(check_header(map->data, params, shape, err));
    if (map->len != layout.bytes)
        return error_set(err, CUZK_BAD_PARAMS, "%zu bytes, expected %zu", map->len, layout.bytes);
    return CUZK_OK;
}

static enum cuzk_status open_file(struct lagrange_file *file, const char *path,
                                  const struct params *params, const struct shape *shape,
                                  struct cuzk_error *err)
{
    enum cuzk_status status = file_map_open(path, &file->map, err);
    if (status != CUZK_OK) { /* names the file already */
        if (err && status == CUZK_IO)
            err->status = CUZK_BAD_PARAMS;
        return status == CUZK_IO ? CUZK_BAD_PARAMS : status;
    }
    if (check_file(&file->map, params, shape, err) != CUZK_OK) {
        error_prefix(err, "%s", path);
        return CUZK_BAD_PARAMS;
    }
    find_points(unconst(file->map.data), shape, &file->points);
    return CUZK_OK;
}

enum cuzk_status lagrange_open(const struct params *params, const struct shape *shape,
                               struct lagrange_file **out, struct cuzk_error *err)
{
    char path[PATH_MAX];
    *out = NULL;
    TRY(key_path_beside(params->path, KEY_FILE_LAGRANGE, path, err));
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return CUZK_OK;
    struct lagrange_file *file = mem_zalloc(1, sizeof *file);
    if (!file || !(file->path = mem_strdup(path))) {
        mem_free(file);
        return error_set(err, CUZK_NO_MEMORY, "%s: no memory", path);
    }
    enum cuzk_status status = open_file(file, path, params, shape, err);
    if (status != CUZK_OK) {
        lagrange_close(file);
        return status;
    }
    *out = file;
    return CUZK_OK;
}

void lagrange_close(struct lagrange_file *file)
{
    if (!file)
        return;
    file_map_close(&file->map);
    mem_free(file->path);
    mem_free(file);
}

/* --- Making ----------------------------------------------------------------------------------- */

static enum cuzk_status fill_and_finish(const struct params *params, const struct shape *shape,
                                        struct file_part *file, lagrange_fill_fn *fill,
                                        void *context, struct cuzk_error *err)
{
    uint8_t header[HEADER_BYTES];
    TRY(fill(context, file, err));
    write_header(header, params, shape);
    return file_part_write(file, 0, header, sizeof header, err);
}

enum cuzk_status lagrange_write(const struct params *params, const struct shape *shape,
                                lagrange_fill_fn *fill, void *context, struct cuzk_error *err)
{
    char path[PATH_MAX];
    struct file_part file;
    struct lagrange_layout layout;
    lagrange_lay_out(shape, &layout);
    TRY(key_path_beside(params->path, KEY_FILE_LAGRANGE, path, err));
    TRY(file_part_begin(&file, path, layout.bytes, err));
    enum cuzk_status status = fill_and_finish(params, shape, &file, fill, context, err);
    if (status != CUZK_OK) {
        file_part_drop(&file);
        error_prefix(err, "%s", path);
        return status;
    }
    return file_part_finish(&file, err);
}

struct mapping {
    const struct shape *shape;
    lagrange_fill_map_fn *fill;
    void *context;
};

/* lagrange_fill_fn */
static enum cuzk_status fill_through_map(void *context, const struct file_part *file,
                                         struct cuzk_error *err)
{
    const struct mapping *mapping = context;
    struct lagrange_layout layout;
    struct lagrange_points points;
    lagrange_lay_out(mapping->shape, &layout);
    void *map = mmap(NULL, layout.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
    if (map == MAP_FAILED)
        return error_errno(err, CUZK_IO, errno, "cannot map %s", file->part);
    find_points(map, mapping->shape, &points);
    enum cuzk_status status = mapping->fill(mapping->context, &points, err);
    munmap(map, layout.bytes); /* fsync writes the content to the disk */
    return status;
}

enum cuzk_status lagrange_write_mapped(const struct params *params, const struct shape *shape,
                                       lagrange_fill_map_fn *fill, void *context,
                                       struct cuzk_error *err)
{
    struct mapping mapping = {shape, fill, context};
    return lagrange_write(params, shape, fill_through_map, &mapping, err);
}
