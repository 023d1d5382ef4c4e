#include "backend/cuda/host/derive.h"

#include "backend/cuda/device/layout.h"
#include "backend/cuda/ntt/point_ntt.h"
#include "backend/cuda/points/points_load.h"
#include "backend/cuda/host/circuit_load.h"
#include "backend/cuda/host/section.h"
#include "base/error.h"
#include "base/mem.h"
#include "r1cs/transpose.h"

#include <string.h>

/* Columns, and points on their way in and out, at a time. */
enum { CHUNK = 1 << 20, POINT_BYTES = G1_BYTES, INFINITY_FLAG = 0x40 /* part A.3 */ };
_Static_assert((int)CHUNK <= (int)POINT_NTT_SLICE, "columns of a chunk in one launch");

struct deriver {
    const struct shape *shape;
    const struct key_vectors *key;
    const struct lagrange_points *out;
    backend_progress_fn *progress;
    void *context;
    unsigned steps_done;
    struct shape_columns columns;
    uint32_t most_entries; /* of a chunk of columns */
    cudaStream_t stream;
    struct points_loader *loader;
    uint8_t *bytes; /* pinned: points of a chunk that come back */
    /* Device memory, all of it one block: */
    void *memory;
    char *slots; /* of the transform */
    void *scratch;
    void *staging;     /* of the loader */
    char *chunk_slots; /* sums of a chunk of columns */
    void *chunk_bytes;
    struct points_faults *faults;
    struct point_factor *factors;
    uint32_t *start, *row;
    uint16_t *coeff;
};

/* --- Memory ----------------------------------------------------------------------------------- */

static uint32_t domain_size(const struct deriver *deriver)
{
    return UINT32_C(1) << deriver->shape->log2_domain;
}

/* Divides the block; base NULL: only its size. */
static size_t lay_out(struct deriver *deriver, char *base)
{
    struct layout layout = {base, 0};
    deriver->slots = take(&layout, domain_size(deriver) * msm_slot_bytes(MSM_G1));
    deriver->scratch = take(&layout, point_ntt_scratch_bytes());
    deriver->staging = take(&layout, points_staging_bytes(MSM_G1, CHUNK));
    deriver->chunk_slots = take(&layout, CHUNK * msm_slot_bytes(MSM_G1));
    deriver->chunk_bytes = take(&layout, (size_t)CHUNK * POINT_BYTES);
    deriver->faults = take(&layout, sizeof *deriver->faults);
    deriver->factors = take(&layout, deriver->shape->n_coeffs * sizeof *deriver->factors);
    deriver->start = take(&layout, (CHUNK + 1) * sizeof *deriver->start);
    deriver->row = take(&layout, deriver->most_entries * sizeof *deriver->row);
    deriver->coeff = take(&layout, deriver->most_entries * sizeof *deriver->coeff);
    return layout.used;
}

static uint32_t at_most(uint32_t n, uint32_t most)
{
    return n < most ? n : most;
}

/* The inputs are one chunk, then the aux variables in chunks. */
static void count_entries(struct deriver *deriver)
{
    const struct shape_columns *columns = &deriver->columns;
    const size_t n_inputs = deriver->shape->n_inputs;
    deriver->most_entries = columns->start[n_inputs];
    for (size_t v = n_inputs; v < columns->n; v += CHUNK) {
        const size_t end = columns->n - v < CHUNK ? columns->n : v + CHUNK;
        const uint32_t entries = columns->start[end] - columns->start[v];
        if (entries > deriver->most_entries)
            deriver->most_entries = entries;
    }
}

static enum cuzk_status open_deriver(struct deriver *deriver, const struct backend_device *device,
                                     struct cuzk_error *err)
{
    TRY(shape_columns_make(deriver->shape, MATRIX_C, &deriver->columns, err));
    count_entries(deriver);
    TRY(device_take(device, lay_out(deriver, NULL), "deriving a Lagrange form", &deriver->memory,
                    err));
    lay_out(deriver, deriver->memory);
    TRY(device_check(cudaMallocHost((void **)&deriver->bytes, (size_t)CHUNK * POINT_BYTES),
                     "pinned memory", err));
    TRY(device_check(cudaStreamCreateWithFlags(&deriver->stream, cudaStreamNonBlocking),
                     "making a stream", err));
    return points_loader_open(0, &deriver->loader, err);
}

static void close_deriver(struct deriver *deriver)
{
    device_settle();
    points_loader_close(deriver->loader);
    if (deriver->stream)
        cudaStreamDestroy(deriver->stream);
    cudaFreeHost(deriver->bytes);
    cudaFree(deriver->memory);
    shape_columns_free(&deriver->columns);
    cudaGetLastError();
}

static enum cuzk_status copy_in(const struct deriver *deriver, void *to, const void *from,
                                size_t bytes, struct cuzk_error *err)
{
    return device_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, deriver->stream),
                        "deriving a Lagrange form", err);
}

static enum cuzk_status await_stream(const struct deriver *deriver, struct cuzk_error *err)
{
    return device_check(cudaStreamSynchronize(deriver->stream), "deriving a Lagrange form", err);
}

/* --- The key's points ------------------------------------------------------------------------- */

static enum cuzk_status clear_faults(const struct deriver *deriver, struct cuzk_error *err)
{
    return device_check(
        cudaMemsetAsync(deriver->faults, 0, sizeof *deriver->faults, deriver->stream),
        "deriving a Lagrange form", err);
}

static enum cuzk_status check_faults(const struct deriver *deriver, const char *section, uint32_t n,
                                     struct cuzk_error *err)
{
    struct points_faults faults;
    TRY(await_stream(deriver, err));
    TRY(device_check(cudaMemcpy(&faults, deriver->faults, sizeof faults, cudaMemcpyDeviceToHost),
                     "deriving a Lagrange form", err));
    return section_check_faults(&faults, section, n, err);
}

static enum cuzk_status keep_chunk(void *context, const struct points_chunk *chunk,
                                   cudaStream_t stream, struct cuzk_error *err)
{
    const struct deriver *deriver = context;
    const size_t slot = msm_slot_bytes(MSM_G1);
    return device_check(cudaMemcpyAsync(deriver->slots + chunk->first * slot, chunk->slots,
                                        chunk->n * slot, cudaMemcpyDeviceToDevice, stream),
                        "deriving a Lagrange form", err);
}

/* h's points in the slots of the transform, and infinity in the last one. */
static enum cuzk_status load_h(struct deriver *deriver, struct cuzk_error *err)
{
    const size_t slot = msm_slot_bytes(MSM_G1);
    const struct points_source source = {
        .group = MSM_G1,
        .bytes = deriver->key->v[KEY_H].at,
        .n = deriver->key->v[KEY_H].n,
        .chunk_points = CHUNK,
        .staging = deriver->staging,
        .faults = deriver->faults,
    };
    TRY(clear_faults(deriver, err));
    TRY(device_check(cudaMemsetAsync(deriver->slots + source.n * slot, 0, slot, deriver->stream),
                     "deriving a Lagrange form", err));
    TRY(points_load(deriver->loader, &source, keep_chunk, deriver, deriver->stream, err));
    return check_faults(deriver, "h", source.n, err);
}

/* --- Transforms ------------------------------------------------------------------------------- */

static void report_step(struct deriver *deriver, const char *what)
{
    const unsigned steps = 2 * (deriver->shape->log2_domain + 1);
    deriver->steps_done++;
    if (deriver->progress)
        deriver->progress(deriver->context, (double)deriver->steps_done / steps, what);
}

static enum cuzk_status transform(struct deriver *deriver, bool coset, const char *what,
                                  struct cuzk_error *err)
{
    const unsigned log2_n = deriver->shape->log2_domain;
    TRY(load_h(deriver, err));
    for (unsigned step = 0; step <= log2_n; step++) {
        TRY(device_check(
            point_ntt_step(log2_n, coset, step, deriver->slots, deriver->scratch, deriver->stream),
            "transform of points", err));
        TRY(await_stream(deriver, err));
        report_step(deriver, what);
    }
    return CUZK_OK;
}

/* Points first … that came back go to their place. what NULL: infinity may be among them. */
static enum cuzk_status download_points(const struct deriver *deriver, const char *what,
                                        uint32_t first, uint32_t n, uint8_t *to,
                                        struct cuzk_error *err)
{
    TRY(device_download(deriver->bytes, deriver->chunk_bytes, (size_t)n * POINT_BYTES,
                        deriver->stream, "deriving a Lagrange form", err));
    TRY(await_stream(deriver, err));
    for (uint32_t i = 0; what && i < n; i++) {
        if (deriver->bytes[(size_t)i * POINT_BYTES] & INFINITY_FLAG)
            return error_set(err, CUZK_INVALID_ARGUMENT,
                             "%s of the Lagrange form, point %u: infinity, not finite", what,
                             first + i);
    }
    memcpy(to + (size_t)first * POINT_BYTES, deriver->bytes, (size_t)n * POINT_BYTES);
    return CUZK_OK;
}

static enum cuzk_status write_h(const struct deriver *deriver, struct cuzk_error *err)
{
    const uint32_t n = domain_size(deriver);
    for (uint32_t first = 0; first < n; first += CHUNK) {
        const uint32_t count = at_most(n - first, CHUNK);
        TRY(device_check(point_encode(deriver->slots, first, count, deriver->shape->log2_domain,
                                      deriver->chunk_bytes, deriver->stream),
                         "deriving a Lagrange form", err));
        TRY(download_points(deriver, "h", first, count, deriver->out->h, err));
    }
    return CUZK_OK;
}

/* --- Columns ---------------------------------------------------------------------------------- */

/* The smaller one of a factor and its negative. */
static void make_factor(struct point_factor *out, const struct fr *value)
{
    struct fr opposite;
    uint8_t bytes[2][FR_BYTES];
    fr_neg(&opposite, value);
    fr_to_bytes(bytes[0], value);
    fr_to_bytes(bytes[1], &opposite);
    *out = (struct point_factor){.negative = 0};
    for (int i = FR_BYTES - 1; i >= 0 && bytes[0][i] >= bytes[1][i]; i--) {
        if (bytes[0][i] > bytes[1][i]) {
            out->negative = 1;
            break;
        }
    }
    for (int i = 0; i < FR_BYTES; i++) {
        const uint8_t byte = bytes[out->negative][i];
        out->size[i / 4] |= (uint32_t)byte << (8 * (i % 4));
        if (byte != 0)
            out->n_bits = 8 * (uint32_t)i + 32 - (uint32_t)__builtin_clz(byte);
    }
}

static enum cuzk_status load_factors(const struct deriver *deriver, struct cuzk_error *err)
{
    const uint32_t n = deriver->shape->n_coeffs;
    struct point_factor *factors = mem_alloc(n, sizeof *factors);
    if (!factors)
        return error_set(err, CUZK_NO_MEMORY, "deriving a Lagrange form: out of memory");
    for (uint32_t i = 0; i < n; i++)
        make_factor(&factors[i], &deriver->shape->coeffs[i]);
    enum cuzk_status status = copy_in(deriver, deriver->factors, factors, n * sizeof *factors, err);
    if (status == CUZK_OK)
        status = await_stream(deriver, err);
    mem_free(factors);
    return status;
}

/* What columns first … first + n - 1 take is taken from the points in chunk_slots, which become
   bytes. */
static enum cuzk_status subtract_columns(const struct deriver *deriver, size_t first, uint32_t n,
                                         bool are_dense, struct cuzk_error *err)
{
    const uint32_t *start = deriver->columns.start + first;
    const size_t n_entries = start[n] - start[0];
    const struct point_columns columns = {
        .log2_n = deriver->shape->log2_domain,
        .points = deriver->slots,
        .factors = deriver->factors,
        .start = deriver->start,
        .row = deriver->row,
        .coeff = deriver->coeff,
        .n = n,
        .are_dense = are_dense,
    };
    TRY(copy_in(deriver, deriver->start, start, (n + 1) * sizeof *start, err));
    TRY(copy_in(deriver, deriver->row, deriver->columns.row + start[0],
                n_entries * sizeof *deriver->row, err));
    TRY(copy_in(deriver, deriver->coeff, deriver->columns.coeff + start[0],
                n_entries * sizeof *deriver->coeff, err));
    TRY(device_check(
        point_columns_subtract(&columns, deriver->chunk_slots, deriver->scratch, deriver->stream),
        "sums of columns", err));
    return device_check(
        point_encode(deriver->chunk_slots, 0, n, 0, deriver->chunk_bytes, deriver->stream),
        "sums of columns", err);
}

static enum cuzk_status write_inputs(const struct deriver *deriver, struct cuzk_error *err)
{
    const uint32_t n = deriver->shape->n_inputs;
    TRY(device_check(
        cudaMemsetAsync(deriver->chunk_slots, 0, n * msm_slot_bytes(MSM_G1), deriver->stream),
        "deriving a Lagrange form", err));
    TRY(subtract_columns(deriver, 0, n, true, err));
    return download_points(deriver, NULL, 0, n, deriver->out->inputs, err);
}

static enum cuzk_status write_l(const struct deriver *deriver, struct cuzk_error *err)
{
    const uint32_t n_aux = deriver->shape->n_aux;
    TRY(clear_faults(deriver, err));
    for (uint32_t first = 0; first < n_aux; first += CHUNK) {
        const uint32_t n = at_most(n_aux - first, CHUNK);
        TRY(copy_in(deriver, deriver->chunk_bytes,
                    deriver->key->v[KEY_L].at + (size_t)first * POINT_BYTES,
                    (size_t)n * POINT_BYTES, err));
        TRY(device_check(points_convert(MSM_G1, deriver->chunk_bytes, n, deriver->chunk_slots,
                                        deriver->faults, deriver->stream),
                         "converting points", err));
        TRY(subtract_columns(deriver, deriver->shape->n_inputs + first, n, false, err));
        TRY(download_points(deriver, "l", first, n, deriver->out->l, err));
    }
    return check_faults(deriver, "l", n_aux, err);
}

/* --- The call --------------------------------------------------------------------------------- */

static enum cuzk_status derive(struct deriver *deriver, const struct backend_device *device,
                               struct cuzk_error *err)
{
    TRY(open_deriver(deriver, device, err));
    TRY(load_factors(deriver, err));
    TRY(transform(deriver, false, "l", err));
    TRY(write_inputs(deriver, err));
    TRY(write_l(deriver, err));
    TRY(transform(deriver, true, "h", err));
    return write_h(deriver, err);
}

enum cuzk_status derive_lagrange(struct backend_device *device, const struct shape *shape,
                                 const struct key_vectors *key, const struct lagrange_points *out,
                                 backend_progress_fn *progress, void *context,
                                 struct cuzk_error *err)
{
    struct deriver deriver = {
        .shape = shape, .key = key, .out = out, .progress = progress, .context = context};
    TRY(circuit_check_size(shape->log2_domain, err));
    TRY(key_check_h_and_l(key, shape, err));
    TRY(device_use(device, err));
    const enum cuzk_status status = derive(&deriver, device, err);
    close_deriver(&deriver);
    return status;
}
