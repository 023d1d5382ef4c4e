/* A section of a parameter file on its way to the device, chunk after chunk: several threads copy
   it to pinned memory, it is uploaded, converted and checked, and a function uses its points. All
   of this overlaps. Loading what stays on the device and streaming a section for every batch are
   the same. */
#ifndef CUDA_POINTS_LOAD_H
#define CUDA_POINTS_LOAD_H

#include "backend/cuda/points/points.h"

#include <cuda_runtime_api.h>
#include <cuzk/status.h>

/* Chunks begin where words of bits do. */
enum { POINTS_ALIGNMENT = 64 };

/* Owns threads, 48 MiB of pinned memory, a stream and events; no device memory. Belongs to the
   device that was current when it was opened, which must be current in every call. */
struct points_loader;

/* threads: that copy, the caller among them; 0: eight, or as many as there are processors. */
enum cuzk_status points_loader_open(unsigned threads, struct points_loader **out,
                                    struct cuzk_error *err);
/* Waits for what is still being uploaded. NULL is allowed. */
void points_loader_close(struct points_loader *loader);

/* Some points of a section as slots, in device memory that the next chunk overwrites. */
struct points_chunk {
    uint32_t first; /* number of the first point: a multiple of the chunks' size */
    uint32_t n;
    const void *slots;
};

/* Enqueues on `stream` what is to be done with a chunk, and does not wait. */
typedef enum cuzk_status points_use(void *context, const struct points_chunk *chunk,
                                    cudaStream_t stream, struct cuzk_error *err);

struct points_source {
    enum msm_group group;
    const uint8_t *bytes; /* the section as it lies in the file */
    uint32_t n;
    uint32_t chunk_points; /* a multiple of POINTS_ALIGNMENT */
    /* Device memory of points_staging_bytes; what the stream did with it before is waited for. */
    void *staging;
    struct points_faults *faults; /* device; added to */
};

size_t points_staging_bytes(enum msm_group group, uint32_t chunk_points);

/* Calls `use` for all chunks in order. Returns when everything is enqueued; source->bytes are not
   needed any more then. After a failure nothing is enqueued any more, what was enqueued runs on. */
enum cuzk_status points_load(struct points_loader *loader, const struct points_source *source,
                             points_use *use, void *context, cudaStream_t stream,
                             struct cuzk_error *err);

#endif
