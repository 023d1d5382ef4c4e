/* Device memory for tests: every call must succeed. */
#ifndef TESTS_CUDA_DEVICE_H
#define TESTS_CUDA_DEVICE_H

#include "support/support.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static inline void must(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        fail_msg("%s: %s", what, cudaGetErrorString(error));
}

#define MUST(call) must((cudaError_t)(call), #call)

static inline void *device_alloc(size_t bytes)
{
    void *memory;
    MUST(cudaMalloc(&memory, bytes));
    MUST(cudaMemset(memory, 0xa5, bytes)); /* what is not written shows */
    return memory;
}

static inline void *device_copy(const void *from, size_t bytes)
{
    void *memory = device_alloc(bytes);
    MUST(cudaMemcpy(memory, from, bytes, cudaMemcpyHostToDevice));
    return memory;
}

static inline bool no_device(void)
{
    int n = 0;
    return cudaGetDeviceCount(&n) != cudaSuccess || n == 0;
}

static inline void skip_without_device(void)
{
    if (no_device()) {
        print_message("SKIP: no CUDA device on this machine\n");
        skip();
    }
}

/* An environment variable that a test cannot do without. */
static inline const char *variable_or_skip(const char *name)
{
    const char *value = getenv(name);
    if (!value) {
        print_message("SKIP: %s is not set\n", name);
        skip();
    }
    return value;
}

/* Milliseconds between two recorded events. */
static inline double event_ms(cudaEvent_t from, cudaEvent_t to)
{
    float ms;
    MUST(cudaEventSynchronize(to));
    MUST(cudaEventElapsedTime(&ms, from, to));
    return (double)ms;
}

#endif
