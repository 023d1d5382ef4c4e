/* The public interface of parameter files. */
#include <cuzk/params.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"
#include "groth16/lagrange_check.h"
#include "groth16/lagrange_make.h"
#include "key/lagrange_file.h"
#include "key/params.h"
#include "groth16/prove.h"
#include "groth16/setup.h"
#include "groth16/setup_lagrange.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

static enum cuzk_status find_circuit(const char *id, const struct circuit_info **out,
                                     struct cuzk_error *err)
{
    *out = circuit_by_id(id);
    return *out ? CUZK_OK : error_set(err, CUZK_INVALID_ARGUMENT, "no circuit '%s'", id);
}

static enum cuzk_status make_path(char path[PATH_MAX], const char *folder, const char *name,
                                  const char *ending, struct cuzk_error *err)
{
    if (snprintf(path, PATH_MAX, "%s/%s%s", folder, name, ending) < PATH_MAX)
        return CUZK_OK;
    return error_set(err, CUZK_INVALID_ARGUMENT, "folder name too long: %.100s…", folder);
}

/* Opens the first device of a backend. */
static enum cuzk_status open_device(const struct backend *backend,
                                    const struct backend_options *options,
                                    struct backend_device **out, struct cuzk_error *err)
{
    unsigned n = 0;
    enum cuzk_status status = backend->count(options, &n, err);
    if (status == CUZK_OK && n == 0)
        status = error_set(err, CUZK_NO_DEVICE, "no device");
    if (status == CUZK_OK)
        status = backend->open(options, 0, out, err);
    if (status != CUZK_OK)
        error_prefix(err, "backend %s", backend->name);
    return status;
}

/* --- Listing --------------------------------------------------------------------------------- */

void cuzk_params_list(const char *folder, cuzk_params_entry_fn *fn, void *context)
{
    for (size_t i = 0; i < circuit_count(); i++) {
        const struct circuit_info *circuit = circuit_at(i);
        char path[PATH_MAX], name[256];
        struct stat info;
        struct cuzk_params_entry entry = {
            .circuit = circuit->id,
            .file_name = name,
            .expected_bytes = circuit->params_bytes,
            .published_digest = circuit->params_digest,
        };
        snprintf(name, sizeof name, "%s.params", circuit->params_name);
        if (make_path(path, folder, name, "", NULL) == CUZK_OK && stat(path, &info) == 0 &&
            S_ISREG(info.st_mode)) {
            entry.present = true;
            entry.found_bytes = (uint64_t)info.st_size;
        }
        if (make_path(path, folder, circuit->params_name, ".lagrange", NULL) == CUZK_OK &&
            stat(path, &info) == 0 && S_ISREG(info.st_mode))
            entry.lagrange_bytes = (uint64_t)info.st_size;
        fn(context, &entry);
    }
}

bool cuzk_params_folder_is_dev(const char *folder)
{
    char path[PATH_MAX];
    return make_path(path, folder, "", "", NULL) == CUZK_OK && params_in_dev_folder(path);
}

/* --- Checking -------------------------------------------------------------------------------- */

static void fill_report(struct cuzk_params_report *report, const struct params *params)
{
    *report = (struct cuzk_params_report){
        .dev = params->is_dev,
        .bytes = params->map.len,
        .trailing_bytes = params->map.len - params->bytes,
        .n_inputs = params->vk.n_ic,
        .n_h = params->key.v[KEY_H].n,
        .n_l = params->key.v[KEY_L].n,
        .n_a = params->key.v[KEY_A].n,
        .n_b_g1 = params->key.v[KEY_B_G1].n,
        .n_b_g2 = params->key.v[KEY_B_G2].n,
    };
    snprintf(report->path, sizeof report->path, "%s", params->path);
    hex_encode(params->vk.digest, sizeof params->vk.digest, report->vk_digest);
}

static enum cuzk_status check_digest(const struct params *params, const char *published,
                                     struct cuzk_params_report *report, struct cuzk_error *err)
{
    uint8_t digest[16];
    TRY(params_digest(params, digest, err));
    hex_encode(digest, sizeof digest, report->file_digest);
    if (published[0] == '\0' || params->is_dev || strcmp(published, report->file_digest) == 0)
        return CUZK_OK;
    return error_set(err, CUZK_BAD_PARAMS, "%s: digest %s, expected %s (parameters.json, v28)",
                     params->path, report->file_digest, published);
}

/* The parts of a check that read the whole file. published is "" if there is nothing to compare
   with. */
static enum cuzk_status check_content(const struct params *params, const char *published,
                                      enum cuzk_params_depth depth, unsigned threads,
                                      struct cuzk_params_report *report, struct cuzk_error *err)
{
    if (depth >= CUZK_PARAMS_DIGEST)
        TRY(check_digest(params, published, report, err));
    if (depth < CUZK_PARAMS_POINTS)
        return CUZK_OK;
    struct pool *pool = pool_new(threads);
    if (!pool)
        return error_set(err, CUZK_NO_MEMORY, "no memory for threads");
    enum cuzk_status status = params_check_points(params, POINT_CHECK_SUBGROUP, pool, err);
    pool_free(pool);
    return status;
}

/* Compares a form with the key's h and l, on a GPU if there is one. */
static enum cuzk_status check_form_points(const struct params *params, const struct shape *shape,
                                          const struct lagrange_file *file, unsigned threads,
                                          struct cuzk_error *err)
{
    const struct backend_options options = {.threads = threads};
    const struct backend *backend = backend_find("cuda");
    struct backend_device *device;
    if (!backend || !backend->sum || open_device(backend, &options, &device, NULL) != CUZK_OK) {
        backend = backend_find("cpu");
        TRY(open_device(backend, &options, &device, err));
    }
    struct key_vectors key = params->key;
    key.lagrange = file->points;
    struct pool *pool = pool_new(threads);
    enum cuzk_status status = pool ? lagrange_check(backend, device, shape, &key, pool, err)
                                   : error_set(err, CUZK_NO_MEMORY, "no memory for threads");
    if (status != CUZK_OK)
        error_prefix(err, "%s", file->path);
    pool_free(pool);
    backend->close(device);
    return status;
}

static enum cuzk_status check_form(const struct params *params, const struct shape *shape,
                                   enum cuzk_params_depth depth, unsigned threads,
                                   struct cuzk_params_report *report, struct cuzk_error *err)
{
    struct lagrange_file *file;
    enum cuzk_status status = CUZK_OK;
    TRY(lagrange_open(params, shape, &file, err));
    if (!file)
        return CUZK_OK;
    report->lagrange_bytes = file->map.len;
    if (depth >= CUZK_PARAMS_POINTS)
        status = check_form_points(params, shape, file, threads, err);
    lagrange_close(file);
    return status;
}

enum cuzk_status cuzk_params_check(const char *folder, const char *id, enum cuzk_params_depth depth,
                                   unsigned threads, struct cuzk_params_report *report,
                                   struct cuzk_error *err)
{
    const struct circuit_info *circuit;
    struct params *params;
    struct shape *shape = NULL;
    TRY(find_circuit(id, &circuit, err));
    TRY(params_open_circuit(folder, circuit, &params, err));
    fill_report(report, params);
    enum cuzk_status status = circuit_shape(circuit, &shape, err);
    if (status == CUZK_OK)
        status = params_match_shape(params, shape, err);
    if (status == CUZK_OK)
        status = check_content(params, circuit->params_digest, depth, threads, report, err);
    if (status == CUZK_OK)
        status = check_form(params, shape, depth, threads, report, err);
    shape_free(shape);
    params_close(params);
    return status;
}

enum cuzk_status cuzk_params_check_file(const char *path, enum cuzk_params_depth depth,
                                        unsigned threads, struct cuzk_params_report *report,
                                        struct cuzk_error *err)
{
    struct params *params;
    TRY(params_open(path, &params, err));
    fill_report(report, params);
    enum cuzk_status status = check_content(params, "", depth, threads, report, err);
    params_close(params);
    return status;
}

/* --- Generating ------------------------------------------------------------------------------ */

/* Is there a file named as the network names parameters? */
static bool holds_parameters(const char *folder)
{
    bool found = false;
    DIR *entries = opendir(folder);
    if (!entries)
        return false;
    for (struct dirent *entry; !found && (entry = readdir(entries));)
        found = strncmp(entry->d_name, "v28-", 4) == 0;
    closedir(entries);
    return found;
}

static enum cuzk_status mark_folder(const char *folder, struct cuzk_error *err)
{
    static const char text[] = "The parameters in this folder were made from trapdoors that "
                               "everyone knows: with them anything can\n"
                               "be proved. For tests and development networks only. cuzk uses them "
                               "because this file is here.\n";
    char marker[PATH_MAX];
    if (cuzk_params_folder_is_dev(folder))
        return CUZK_OK;
    if (holds_parameters(folder))
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "%s holds parameters but no %s: development parameters need a folder of "
                         "their own",
                         folder, PARAMS_DEV_MARKER);
    TRY(file_make_dirs(folder, err));
    TRY(make_path(marker, folder, PARAMS_DEV_MARKER, "", err));
    return file_write(marker, text, sizeof text - 1, err);
}

/* A file that opens and has the right key and size was written whole (setup_write renames last). */
static bool is_there(const char *folder, const struct circuit_info *circuit,
                     const struct shape *shape)
{
    struct params *params;
    if (params_open_circuit(folder, circuit, &params, NULL) != CUZK_OK)
        return false;
    bool good = params_match_shape(params, shape, NULL) == CUZK_OK;
    params_close(params);
    return good;
}

enum cuzk_status cuzk_params_generate(const char *folder, const char *id, unsigned threads,
                                      cuzk_params_progress_fn *progress, void *context, bool *made,
                                      struct cuzk_error *err)
{
    const struct circuit_info *circuit;
    struct shape *shape;
    char path[PATH_MAX];
    TRY(find_circuit(id, &circuit, err));
    TRY(make_path(path, folder, circuit->params_name, ".params", err));
    TRY(mark_folder(folder, err));
    TRY(circuit_shape(circuit, &shape, err));
    enum cuzk_status status = CUZK_OK;
    *made = !is_there(folder, circuit, shape);
    struct pool *pool = *made ? pool_new(threads) : NULL;
    if (*made && !pool)
        status = error_set(err, CUZK_NO_MEMORY, "no memory for threads");
    if (*made && pool) {
        struct setup_trapdoor trapdoor;
        setup_dev_trapdoor(&trapdoor);
        status = setup_write(shape, &trapdoor, path, pool, progress, context, err);
    }
    pool_free(pool);
    shape_free(shape);
    return status;
}

/* --- The Lagrange form ----------------------------------------------------------------------- */

/* Makes the file of a key's form. */
typedef enum cuzk_status make_form_fn(const struct params *params, const struct shape *shape,
                                      const struct cuzk_derive_options *options, struct pool *pool,
                                      struct cuzk_error *err);

static enum cuzk_status make_on_backend(const struct params *params, const struct shape *shape,
                                        const struct cuzk_derive_options *options,
                                        struct pool *pool, struct cuzk_error *err)
{
    const struct backend_options opening = {.threads = options->threads,
                                            .devices = options->device};
    const char *name = options->backend ? options->backend : "cuda";
    const struct backend *backend = backend_find(name);
    struct backend_device *device;
    if (!backend)
        return error_set(err, CUZK_NO_DEVICE, "backend '%s': this build has none of that name",
                         name);
    TRY(open_device(backend, &opening, &device, err));
    enum cuzk_status status = lagrange_make(params, shape, backend, device, pool, options->progress,
                                            options->progress_context, err);
    backend->close(device);
    return status;
}

static enum cuzk_status make_from_trapdoors(const struct params *params, const struct shape *shape,
                                            const struct cuzk_derive_options *options,
                                            struct pool *pool, struct cuzk_error *err)
{
    struct setup_trapdoor trapdoor;
    setup_dev_trapdoor(&trapdoor);
    return setup_write_lagrange(params, shape, &trapdoor, pool, options->progress,
                                options->progress_context, err);
}

/* Makes the file unless it is there, and says what is there then. */
static enum cuzk_status make_missing(const struct params *params, const struct shape *shape,
                                     make_form_fn *make, const struct cuzk_derive_options *options,
                                     struct cuzk_derive_report *report, struct cuzk_error *err)
{
    struct lagrange_file *file = NULL;
    TRY(params_match_shape(params, shape, err));
    *report = (struct cuzk_derive_report){.made = false};
    lagrange_open(params, shape, &file, NULL);
    if (!file) { /* or it is a bad one, to be replaced */
        struct pool *pool = pool_new(options->threads);
        if (!pool)
            return error_set(err, CUZK_NO_MEMORY, "no memory for threads");
        enum cuzk_status status = make(params, shape, options, pool, err);
        pool_free(pool);
        if (status != CUZK_OK)
            return status;
        report->made = true;
        TRY(lagrange_open(params, shape, &file, err));
    }
    if (!file)
        return error_set(err, CUZK_IO, "%s: its Lagrange form was removed at once", params->path);
    snprintf(report->path, sizeof report->path, "%s", file->path);
    report->bytes = file->map.len;
    lagrange_close(file);
    return CUZK_OK;
}

static enum cuzk_status make_form(const char *folder, const char *id, make_form_fn *make,
                                  const struct cuzk_derive_options *options,
                                  struct cuzk_derive_report *report, struct cuzk_error *err)
{
    const struct circuit_info *circuit;
    struct params *params;
    struct shape *shape = NULL;
    TRY(find_circuit(id, &circuit, err));
    TRY(params_open_circuit(folder, circuit, &params, err));
    enum cuzk_status status = circuit_shape(circuit, &shape, err);
    if (status == CUZK_OK)
        status = make_missing(params, shape, make, options, report, err);
    shape_free(shape);
    params_close(params);
    return status;
}

enum cuzk_status cuzk_params_derive(const char *folder, const char *id,
                                    const struct cuzk_derive_options *options,
                                    struct cuzk_derive_report *report, struct cuzk_error *err)
{
    return make_form(folder, id, make_on_backend, options, report, err);
}

enum cuzk_status cuzk_params_generate_lagrange(const char *folder, const char *id,
                                               const struct cuzk_derive_options *options,
                                               struct cuzk_derive_report *report,
                                               struct cuzk_error *err)
{
    return make_form(folder, id, make_from_trapdoors, options, report, err);
}
