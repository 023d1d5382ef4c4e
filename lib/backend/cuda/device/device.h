/* Finding and opening CUDA devices. */
#ifndef CUDA_DEVICE_H
#define CUDA_DEVICE_H

#include "backend/backend.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>

struct backend_device {
    int ordinal;                      /* of the CUDA runtime, after CUDA_VISIBLE_DEVICES */
    uint64_t budget_bytes;            /* for all circuits; 0: what is free */
    cudaStream_t stream;              /* of a batch: one thing after another */
    cudaStream_t planning;            /* what a multiplication plans ahead beside it (msm.h), … */
    cudaEvent_t planned[2], added[2]; /* … and what orders the two */
    cudaStream_t upload_stream;       /* the next witness */
    /* One batch of partitions at a time: it fills the device. */
    pthread_mutex_t busy;
    atomic_uint leaders_waiting; /* for it: of other circuits' batches */
    pthread_mutex_t budget_lock; /* guards the next */
    uint64_t taken_bytes;        /* of the budget */
    char description[160];
};

/* CUZK_OK, or CUZK_DEVICE_FAULT that says what failed and how. `code`: a cudaError_t, or what our
   own launching functions return. The runtime's last error is cleared. */
enum cuzk_status device_check(int code, const char *what, struct cuzk_error *err);

enum cuzk_status device_record(cudaEvent_t event, cudaStream_t stream, struct cuzk_error *err);

/* Enqueues the way of a result back to the host. `to` is best pinned. */
enum cuzk_status device_download(void *to, const void *from, size_t n_bytes, cudaStream_t stream,
                                 const char *what, struct cuzk_error *err);

#ifdef CUZK_CUDA_FAULTS
/* For tests: lets `after` checks pass and fails the next one, once. */
void device_fail_after(long after);
/* For tests: what device_download brings next has one bit turned over. */
void device_flip_next(void);
/* For tests: enqueues a kernel that fails, which leaves the context lost. */
int device_fail_kernel(struct CUstream_st *stream);
#endif

/* Makes the device the calling thread's current one. Every call from outside begins with it. */
enum cuzk_status device_use(const struct backend_device *device, struct cuzk_error *err);

/* Device memory; free with cudaFree. CUZK_RESOURCE_EXHAUSTED says for what ("circuit of 2^27 rows")
 * and how much. */
enum cuzk_status device_take(const struct backend_device *device, size_t bytes, const char *what,
                             void **out, struct cuzk_error *err);

/* Waits until nothing is at work on the current device, whatever happened to it. */
void device_settle(void);

/* Some faults (an illegal address, a failed kernel) leave a context in which every later call
   fails, and the driver gives this process no other one ("the process must be terminated and
   relaunched", CUDA Runtime API, cudaErrorLaunchFailure). */
bool device_is_lost(const struct backend_device *device);

/* The functions of struct backend. */
enum cuzk_status device_count(const struct backend_options *options, unsigned *n,
                              struct cuzk_error *err);
enum cuzk_status device_open(const struct backend_options *options, unsigned index,
                             struct backend_device **out, struct cuzk_error *err);
void device_close(struct backend_device *device);
const char *device_describe(const struct backend_device *device);
enum cuzk_status device_memory(const struct backend_device *device, struct backend_memory *out,
                               struct cuzk_error *err);

#endif
