#include "backend/cuda/device/device.h"

#include "base/error.h"
#include "base/mem.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 64, UUID_TEXT_BYTES = 41 };

#ifdef CUZK_CUDA_FAULTS
static atomic_long checks_left = -1;
static atomic_bool flip_next;

void device_flip_next(void)
{
    atomic_store(&flip_next, true);
}

void device_fail_after(long after)
{
    atomic_store(&checks_left, after);
}

static bool fault_is_due(void)
{
    return atomic_load(&checks_left) >= 0 && atomic_fetch_sub(&checks_left, 1) == 0;
}

static void CUDART_CB flip_bit(void *bytes)
{
    *(uint8_t *)bytes ^= 1;
}

/* Turns a bit over once the download before it on the stream is done, if that was asked for. */
static enum cuzk_status flip_if_due(void *bytes, cudaStream_t stream, struct cuzk_error *err)
{
    if (!atomic_exchange(&flip_next, false))
        return CUZK_OK;
    return device_check(cudaLaunchHostFunc(stream, flip_bit, bytes), "turning a bit over", err);
}
#else
static bool fault_is_due(void)
{
    return false;
}

static enum cuzk_status flip_if_due(void *bytes, cudaStream_t stream, struct cuzk_error *err)
{
    (void)bytes, (void)stream, (void)err;
    return CUZK_OK;
}
#endif

enum cuzk_status device_check(int code, const char *what, struct cuzk_error *err)
{
    if (fault_is_due())
        return error_set(err, CUZK_DEVICE_FAULT, "cuda: %s: a fault was asked for", what);
    if (code == cudaSuccess)
        return CUZK_OK;
    cudaGetLastError();
    return error_set(err, CUZK_DEVICE_FAULT, "cuda: %s: %s", what,
                     cudaGetErrorString((cudaError_t)code));
}

enum cuzk_status device_record(cudaEvent_t event, cudaStream_t stream, struct cuzk_error *err)
{
    return device_check(cudaEventRecord(event, stream), "recording an event", err);
}

enum cuzk_status device_download(void *to, const void *from, size_t n_bytes, cudaStream_t stream,
                                 const char *what, struct cuzk_error *err)
{
    TRY(device_check(cudaMemcpyAsync(to, from, n_bytes, cudaMemcpyDeviceToHost, stream), what,
                     err));
    return flip_if_due(to, stream, err);
}

enum cuzk_status device_use(const struct backend_device *device, struct cuzk_error *err)
{
    return device_check(cudaSetDevice(device->ordinal), "selecting the device", err);
}

/* "GPU-5bcb1cf5-…", as the driver's tools print it. */
static void uuid_text(const cudaUUID_t *uuid, char text[UUID_TEXT_BYTES])
{
    size_t at = (size_t)snprintf(text, UUID_TEXT_BYTES, "GPU");
    for (size_t i = 0; i < sizeof uuid->bytes; i++) {
        const bool dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
        at += (size_t)snprintf(text + at, UUID_TEXT_BYTES - at, "%s%02x", dash ? "-" : "",
                               (unsigned)(unsigned char)uuid->bytes[i]);
    }
}

/* Whether an entry of the list (an index, or a UUID or its beginning) names the device. */
static bool entry_names(const char *entry, size_t len, int ordinal, const char *uuid)
{
    char text[UUID_TEXT_BYTES];
    if (len == 0 || len >= sizeof text)
        return false;
    memcpy(text, entry, len);
    text[len] = '\0';
    char *end;
    const long index = strtol(text, &end, 10);
    if (*end == '\0')
        return index == ordinal;
    return len >= strlen("GPU-0") && strncmp(uuid, text, len) == 0;
}

static enum cuzk_status find_entry(const char *entry, size_t len, int n_devices, int *ordinal,
                                   struct cuzk_error *err)
{
    for (int i = 0; i < n_devices; i++) {
        struct cudaDeviceProp properties;
        char uuid[UUID_TEXT_BYTES];
        TRY(device_check(cudaGetDeviceProperties(&properties, i), "reading properties", err));
        uuid_text(&properties.uuid, uuid);
        if (entry_names(entry, len, i, uuid)) {
            *ordinal = i;
            return CUZK_OK;
        }
    }
    return error_set(
        err, CUZK_NO_DEVICE,
        "cuda: device '%.*s' is not there; expected an index below %d or a UUID (GPU-…)", (int)len,
        entry, n_devices);
}

/* The devices asked for, in the order of the list. */
static enum cuzk_status select_devices(const struct backend_options *options,
                                       int ordinals[DEVICES_MAX], unsigned *n,
                                       struct cuzk_error *err)
{
    int n_devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&n_devices);
    if (error != cudaSuccess) {
        int driver = 0;
        cudaGetLastError();
        cudaDriverGetVersion(&driver); /* 0: there is none */
        return error_set(err, CUZK_NO_DEVICE, "cuda: %s",
                         driver ? cudaGetErrorString(error) : "no driver on this machine");
    }
    if (n_devices == 0)
        return error_set(err, CUZK_NO_DEVICE, "cuda: no device is visible");
    *n = 0;
    if (!options->devices || options->devices[0] == '\0') {
        while (*n < (unsigned)n_devices && *n < DEVICES_MAX) {
            ordinals[*n] = (int)*n;
            ++*n;
        }
        return CUZK_OK;
    }
    for (const char *entry = options->devices;; entry++) {
        const size_t len = strcspn(entry, ",");
        if (*n == DEVICES_MAX)
            return error_set(err, CUZK_INVALID_ARGUMENT, "cuda: more than %d devices", DEVICES_MAX);
        TRY(find_entry(entry, len, n_devices, &ordinals[*n], err));
        ++*n;
        entry += len;
        if (*entry == '\0')
            return CUZK_OK;
    }
}

enum cuzk_status device_count(const struct backend_options *options, unsigned *n,
                              struct cuzk_error *err)
{
    int ordinals[DEVICES_MAX];
    return select_devices(options, ordinals, n, err);
}

static enum cuzk_status fill_description(struct backend_device *device, struct cuzk_error *err)
{
    struct cudaDeviceProp properties;
    char uuid[UUID_TEXT_BYTES];
    TRY(device_check(cudaGetDeviceProperties(&properties, device->ordinal), "reading properties",
                     err));
    uuid_text(&properties.uuid, uuid);
    snprintf(device->description, sizeof device->description, "%.80s, %s, %zu MiB", properties.name,
             uuid, properties.totalGlobalMem >> 20);
    return CUZK_OK;
}

static enum cuzk_status make_streams(struct backend_device *device, struct cuzk_error *err)
{
    cudaStream_t *const streams[] = {&device->stream, &device->planning, &device->upload_stream};
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
        TRY(device_check(cudaStreamCreateWithFlags(streams[i], cudaStreamNonBlocking),
                         "making a stream", err));
    for (int i = 0; i < 2; i++) {
        TRY(device_check(cudaEventCreateWithFlags(&device->planned[i], cudaEventDisableTiming),
                         "making an event", err));
        TRY(device_check(cudaEventCreateWithFlags(&device->added[i], cudaEventDisableTiming),
                         "making an event", err));
    }
    return CUZK_OK;
}

static enum cuzk_status start_device(struct backend_device *device, struct cuzk_error *err)
{
    TRY(fill_description(device, err));
    TRY(device_use(device, err));
    /* Waiting threads sleep: a proof takes long and the processor has other work. */
    TRY(device_check(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync), "setting flags", err));
    return make_streams(device, err);
}

static void stop_device(struct backend_device *device)
{
    cudaStream_t *const streams[] = {&device->stream, &device->planning, &device->upload_stream};
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        if (*streams[i])
            cudaStreamDestroy(*streams[i]);
        *streams[i] = NULL;
    }
    for (int i = 0; i < 2; i++) {
        if (device->planned[i])
            cudaEventDestroy(device->planned[i]);
        if (device->added[i])
            cudaEventDestroy(device->added[i]);
        device->planned[i] = device->added[i] = NULL;
    }
}

enum cuzk_status device_take(const struct backend_device *device, size_t bytes, const char *what,
                             void **out, struct cuzk_error *err)
{
    const cudaError_t error = cudaMalloc(out, bytes);
    if (error != cudaErrorMemoryAllocation)
        return device_check(error, "taking memory", err);
    cudaGetLastError();
    return error_set(err, CUZK_RESOURCE_EXHAUSTED, "%s: %s: the driver has no %zu MiB in one piece",
                     device->description, what, (bytes >> 20) + 1);
}

void device_settle(void)
{
    cudaDeviceSynchronize();
    cudaGetLastError();
}

bool device_is_lost(const struct backend_device *device)
{
    const bool lost = cudaSetDevice(device->ordinal) != cudaSuccess ||
                      cudaStreamSynchronize(device->upload_stream) != cudaSuccess;
    cudaGetLastError();
    return lost;
}

enum cuzk_status device_open(const struct backend_options *options, unsigned index,
                             struct backend_device **out, struct cuzk_error *err)
{
    int ordinals[DEVICES_MAX];
    unsigned n;
    TRY(select_devices(options, ordinals, &n, err));
    if (index >= n)
        return error_set(err, CUZK_NO_DEVICE, "cuda: device %u, there are only %u", index, n);
    struct backend_device *device = mem_zalloc(1, sizeof *device);
    if (!device)
        return error_set(err, CUZK_NO_MEMORY, "cuda: out of memory");
    device->ordinal = ordinals[index];
    device->budget_bytes = options->vram_budget_bytes;
    pthread_mutex_init(&device->busy, NULL);
    pthread_mutex_init(&device->budget_lock, NULL);
    enum cuzk_status status = start_device(device, err);
    if (status != CUZK_OK) {
        device_close(device);
        return status;
    }
    *out = device;
    return CUZK_OK;
}

void device_close(struct backend_device *device)
{
    if (!device)
        return;
    if (cudaSetDevice(device->ordinal) == cudaSuccess)
        stop_device(device);
    pthread_mutex_destroy(&device->busy);
    pthread_mutex_destroy(&device->budget_lock);
    mem_free(device);
}

const char *device_describe(const struct backend_device *device)
{
    return device->description;
}

enum cuzk_status device_memory(const struct backend_device *device, struct backend_memory *out,
                               struct cuzk_error *err)
{
    size_t free_bytes, total_bytes;
    TRY(device_use(device, err));
    TRY(device_check(cudaMemGetInfo(&free_bytes, &total_bytes), "reading the memory's size", err));
    out->free_bytes = free_bytes;
    out->total_bytes = total_bytes;
    return CUZK_OK;
}
