#include "backend/cuda/points/points_load.h"

#include "backend/cuda/device/device.h"
#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"

#include <string.h>

/* Sizes and number of threads: where a mapped file went fastest (docs/internals/gpu-log.md). */
enum { THREADS_DEFAULT = 8, PIECES = 3, PIECE_BYTES = 16 << 20, SLICE_BYTES = 1 << 20 };

/* The bytes of a chunk go through pinned memory in pieces, which several threads copy in slices:
   one thread's copies are far slower than the bus. */
struct points_loader {
    struct pool *pool;
    cudaStream_t stream; /* of the uploads */
    void *pinned[PIECES];
    cudaEvent_t sent[PIECES];              /* the piece is on the device */
    cudaEvent_t uploaded[2], converted[2]; /* a chunk in one half of the raw staging */
    unsigned next_piece, next_half;
};

/* --- Copying ---------------------------------------------------------------------------------- */

struct copy {
    char *to;
    const uint8_t *from;
    size_t n_bytes;
};

static void copy_slice(void *context, size_t i)
{
    const struct copy *copy = context;
    const size_t begin = i * SLICE_BYTES, left = copy->n_bytes - begin;
    memcpy(copy->to + begin, copy->from + begin, left < SLICE_BYTES ? left : SLICE_BYTES);
}

/* Returns when the bytes are in pinned memory and their upload is enqueued. */
static enum cuzk_status upload_piece(struct points_loader *loader, const uint8_t *from,
                                     size_t n_bytes, char *to, struct cuzk_error *err)
{
    const unsigned i = loader->next_piece++ % PIECES;
    TRY(device_check(cudaEventSynchronize(loader->sent[i]), "uploading points", err));
    struct copy copy = {loader->pinned[i], from, n_bytes};
    pool_run(loader->pool, (n_bytes + SLICE_BYTES - 1) / SLICE_BYTES, copy_slice, &copy);
    TRY(device_check(
        cudaMemcpyAsync(to, loader->pinned[i], n_bytes, cudaMemcpyHostToDevice, loader->stream),
        "uploading points", err));
    return device_check(cudaEventRecord(loader->sent[i], loader->stream), "uploading points", err);
}

static enum cuzk_status upload_chunk(struct points_loader *loader, const uint8_t *from,
                                     size_t n_bytes, char *to, struct cuzk_error *err)
{
    for (size_t done = 0; done < n_bytes; done += PIECE_BYTES) {
        const size_t left = n_bytes - done;
        TRY(upload_piece(loader, from + done, left < PIECE_BYTES ? left : PIECE_BYTES, to + done,
                         err));
    }
    return CUZK_OK;
}

/* --- Chunks ----------------------------------------------------------------------------------- */

static size_t raw_bytes(enum msm_group group, uint32_t chunk_points)
{
    return chunk_points * points_file_bytes(group);
}

size_t points_staging_bytes(enum msm_group group, uint32_t chunk_points)
{
    return 2 * raw_bytes(group, chunk_points) + chunk_points * msm_slot_bytes(group);
}

/* Brings a chunk to the slots of the staging area. The stream's order keeps the conversion behind
   the use of the chunk before. */
static enum cuzk_status bring_chunk(struct points_loader *loader,
                                    const struct points_source *source,
                                    const struct points_chunk *chunk, void *slots,
                                    cudaStream_t stream, struct cuzk_error *err)
{
    const unsigned half = loader->next_half++ % 2;
    const size_t point_bytes = points_file_bytes(source->group);
    char *raw = (char *)source->staging + half * raw_bytes(source->group, source->chunk_points);
    TRY(device_check(cudaStreamWaitEvent(loader->stream, loader->converted[half], 0),
                     "uploading points", err));
    TRY(upload_chunk(loader, source->bytes + chunk->first * point_bytes, chunk->n * point_bytes,
                     raw, err));
    TRY(device_check(cudaEventRecord(loader->uploaded[half], loader->stream), "uploading points",
                     err));
    TRY(device_check(cudaStreamWaitEvent(stream, loader->uploaded[half], 0), "converting points",
                     err));
    TRY(device_check(points_convert(source->group, raw, chunk->n, slots, source->faults, stream),
                     "converting points", err));
    return device_check(cudaEventRecord(loader->converted[half], stream), "converting points", err);
}

enum cuzk_status points_load(struct points_loader *loader, const struct points_source *source,
                             points_use *use, void *context, cudaStream_t stream,
                             struct cuzk_error *err)
{
    CHECK(source->chunk_points > 0 && source->chunk_points % POINTS_ALIGNMENT == 0);
    void *slots = (char *)source->staging + 2 * raw_bytes(source->group, source->chunk_points);
    /* What the stream did before may have had the staging's memory for something else. */
    for (unsigned i = 0; i < 2; i++)
        TRY(device_check(cudaEventRecord(loader->converted[i], stream), "uploading points", err));
    for (uint32_t first = 0; first < source->n;) {
        const uint32_t left = source->n - first;
        const struct points_chunk chunk = {
            .first = first,
            .n = left < source->chunk_points ? left : source->chunk_points,
            .slots = slots,
        };
        TRY(bring_chunk(loader, source, &chunk, slots, stream, err));
        TRY(use(context, &chunk, stream, err));
        first += chunk.n;
    }
    return CUZK_OK;
}

/* --- Opening and closing ---------------------------------------------------------------------- */

static enum cuzk_status make_event(cudaEvent_t *event, struct cuzk_error *err)
{
    return device_check(
        cudaEventCreateWithFlags(event, cudaEventDisableTiming | cudaEventBlockingSync),
        "making an event", err);
}

static enum cuzk_status start_loader(struct points_loader *loader, unsigned threads,
                                     struct cuzk_error *err)
{
    if (threads == 0)
        threads = pool_cpus() < THREADS_DEFAULT ? pool_cpus() : THREADS_DEFAULT;
    loader->pool = pool_new(threads);
    if (!loader->pool)
        return error_set(err, CUZK_NO_MEMORY, "cuda: no %u threads to load points", threads);
    TRY(device_check(cudaStreamCreateWithFlags(&loader->stream, cudaStreamNonBlocking),
                     "making a stream", err));
    for (unsigned i = 0; i < PIECES; i++) {
        TRY(device_check(cudaHostAlloc(&loader->pinned[i], PIECE_BYTES, cudaHostAllocDefault),
                         "pinned memory", err));
        TRY(make_event(&loader->sent[i], err));
    }
    for (unsigned i = 0; i < 2; i++) {
        TRY(make_event(&loader->uploaded[i], err));
        TRY(make_event(&loader->converted[i], err));
    }
    return CUZK_OK;
}

enum cuzk_status points_loader_open(unsigned threads, struct points_loader **out,
                                    struct cuzk_error *err)
{
    struct points_loader *loader = mem_zalloc(1, sizeof *loader);
    if (!loader)
        return error_set(err, CUZK_NO_MEMORY, "cuda: out of memory");
    const enum cuzk_status status = start_loader(loader, threads, err);
    if (status != CUZK_OK) {
        points_loader_close(loader);
        return status;
    }
    *out = loader;
    return CUZK_OK;
}

static void destroy_event(cudaEvent_t event)
{
    if (event)
        cudaEventDestroy(event);
}

void points_loader_close(struct points_loader *loader)
{
    if (!loader)
        return;
    if (loader->stream) {
        cudaStreamSynchronize(loader->stream);
        cudaStreamDestroy(loader->stream);
    }
    for (unsigned i = 0; i < PIECES; i++) {
        destroy_event(loader->sent[i]);
        cudaFreeHost(loader->pinned[i]);
    }
    for (unsigned i = 0; i < 2; i++) {
        destroy_event(loader->uploaded[i]);
        destroy_event(loader->converted[i]);
    }
    pool_free(loader->pool);
    mem_free(loader);
}
