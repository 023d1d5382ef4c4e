/* Finding and opening CUDA devices. */
#ifndef CUDA_DEVICE_H
#define CUDA_DEVICE_H

#include "backend/backend.h"

#include <cuda_runtime_api.h>
#include <pthread.h>

struct backend_device {
    int ordinal;                /* of the CUDA runtime, after CUDA_VISIBLE_DEVICES */
    uint64_t budget_bytes;      /* 0: what is free */
    cudaStream_t stream;        /* rows, quotient, h */
    cudaStream_t side_stream;   /* the sums of the witness, beside them */
    cudaStream_t upload_stream; /* the next witness */
    /* One partition at a time: it fills the device, and the memory for its work is there once. */
    pthread_mutex_t busy;
    char description[160];
};

/* CUZK_OK, or CUZK_DEVICE_FAULT that says what failed and how. `code`: a cudaError_t, or what our
   own launching functions return. The runtime's last error is cleared. */
enum cuzk_status device_check(int code, const char *what, struct cuzk_error *err);

#ifdef CUZK_CUDA_FAULTS
/* For tests: lets `after` checks pass and fails the next one, once. */
void device_fail_after(long after);
#endif

/* Makes the device the calling thread's current one. Every call from outside begins with it. */
enum cuzk_status device_use(const struct backend_device *device, struct cuzk_error *err);

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
