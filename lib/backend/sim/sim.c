#include "backend/sim/sim.h"

#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { MS_MAX = 24 * 3600 * 1000, DEVICES_MAX = 64, JITTER_MAX = 90 };

struct backend_device {
    struct sim_timing timing;
    pthread_mutex_t busy;
    unsigned n_proved; /* under busy */
    char description[64];
};

struct backend_circuit {
    struct backend_device *device;
};

/* One "key=value" of len characters. */
static enum cuzk_status parse_pair(const char *text, size_t len, struct sim_timing *out,
                                   struct cuzk_error *err)
{
    const struct {
        const char *key;
        unsigned *value;
        unsigned min, max;
    } keys[] = {
        {"devices", &out->devices, 1, DEVICES_MAX},    {"load_ms", &out->load_ms, 0, MS_MAX},
        {"prove_ms", &out->prove_ms, 0, MS_MAX},       {"jitter", &out->jitter, 0, JITTER_MAX},
        {"fault_every", &out->fault_every, 0, MS_MAX},
    };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const size_t key_len = strlen(keys[i].key);
        if (len <= key_len || memcmp(text, keys[i].key, key_len) != 0 || text[key_len] != '=')
            continue;
        uint64_t value = 0;
        bool good = len > key_len + 1 && len <= key_len + 10;
        for (size_t j = key_len + 1; good && j < len; j++) {
            good = text[j] >= '0' && text[j] <= '9';
            value = value * 10 + (uint64_t)(text[j] - '0');
        }
        if (!good || value < keys[i].min || value > keys[i].max)
            return error_set(err, CUZK_INVALID_ARGUMENT,
                             "simulation timing: %s: expected a whole number from %u to %u",
                             keys[i].key, keys[i].min, keys[i].max);
        *keys[i].value = (unsigned)value;
        return CUZK_OK;
    }
    return error_set(err, CUZK_INVALID_ARGUMENT,
                     "simulation timing: '%.*s': expected devices=, load_ms=, prove_ms=, jitter= "
                     "or fault_every=",
                     (int)(len < 64 ? len : 64), text);
}

enum cuzk_status sim_timing_parse(const char *text, struct sim_timing *out, struct cuzk_error *err)
{
    *out = (struct sim_timing){.devices = 1, .prove_ms = 1000};
    while (text && *text != '\0') {
        const size_t len = strcspn(text, ",");
        TRY(parse_pair(text, len, out, err));
        text += len + (text[len] == ',');
    }
    return CUZK_OK;
}

static enum cuzk_status sim_count(const struct backend_options *options, unsigned *n,
                                  struct cuzk_error *err)
{
    struct sim_timing timing;
    TRY(sim_timing_parse(options->sim_timing, &timing, err));
    *n = timing.devices;
    return CUZK_OK;
}

static enum cuzk_status sim_open(const struct backend_options *options, unsigned index,
                                 struct backend_device **out, struct cuzk_error *err)
{
    struct sim_timing timing;
    TRY(sim_timing_parse(options->sim_timing, &timing, err));
    if (index >= timing.devices)
        return error_set(err, CUZK_NO_DEVICE, "sim backend: device %u, there are %u", index,
                         timing.devices);
    struct backend_device *device = mem_zalloc(1, sizeof *device);
    if (!device)
        return error_set(err, CUZK_NO_MEMORY, "sim backend: out of memory");
    device->timing = timing;
    pthread_mutex_init(&device->busy, NULL);
    snprintf(device->description, sizeof device->description,
             "simulated device %u, makes no proofs", index);
    *out = device;
    return CUZK_OK;
}

static void sim_close(struct backend_device *device)
{
    if (!device)
        return;
    pthread_mutex_destroy(&device->busy);
    mem_free(device);
}

static const char *sim_describe(const struct backend_device *device)
{
    return device->description;
}

static enum cuzk_status sim_memory(const struct backend_device *device, struct backend_memory *out,
                                   struct cuzk_error *err)
{
    (void)device;
    (void)err;
    *out =
        (struct backend_memory){.total_bytes = UINT64_C(1) << 40, .free_bytes = UINT64_C(1) << 40};
    return CUZK_OK;
}

/* Lets `ms` pass, varied by the jitter: number decides which way. */
static void pass_time(const struct sim_timing *timing, unsigned ms, unsigned number)
{
    uint64_t ns = (uint64_t)ms * 1000000;
    /* Knuth's multiplicative hash spreads 0, 1, 2, … over ±jitter percent. */
    const uint64_t spread = (uint64_t)(number * 2654435761u) * (2 * timing->jitter + 1) >> 32;
    ns = ns * (100 - timing->jitter + spread) / 100;
    struct timespec left = {.tv_sec = (time_t)(ns / 1000000000),
                            .tv_nsec = (long)(ns % 1000000000)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

static enum cuzk_status sim_load(struct backend_device *device, const struct shape *shape,
                                 const struct key_vectors *key, struct backend_circuit **out,
                                 struct cuzk_error *err)
{
    (void)shape;
    (void)key;
    struct backend_circuit *circuit = mem_zalloc(1, sizeof *circuit);
    if (!circuit)
        return error_set(err, CUZK_NO_MEMORY, "sim backend: out of memory");
    circuit->device = device;
    pass_time(&device->timing, device->timing.load_ms, 0);
    *out = circuit;
    return CUZK_OK;
}

static void sim_unload(struct backend_circuit *circuit)
{
    mem_free(circuit);
}

static uint64_t sim_bytes(const struct backend_circuit *circuit)
{
    (void)circuit;
    return 0;
}

static enum cuzk_status sim_prove(struct backend_circuit *circuit,
                                  const struct backend_partition *partition,
                                  struct backend_sums *out, struct cuzk_error *err)
{
    const struct trace_scope *scope = &partition->scope;
    struct backend_device *device = circuit->device;
    const uint64_t arrived = trace_begin(scope, TRACE_SPAN_LOCK_WAIT);
    pthread_mutex_lock(&device->busy);
    trace_end_timed(scope, TRACE_SPAN_LOCK_WAIT, arrived);
    const uint64_t start = trace_begin(scope, TRACE_SPAN_GPU);
    const unsigned number = ++device->n_proved;
    pass_time(&device->timing, device->timing.prove_ms, number);
    out->device_ns = trace_end_timed(scope, TRACE_SPAN_GPU, start);
    pthread_mutex_unlock(&device->busy);
    g1_set_infinity(&out->h);
    g1_set_infinity(&out->l);
    g1_set_infinity(&out->a);
    g1_set_infinity(&out->b_g1);
    g2_set_infinity(&out->b_g2);
    if (device->timing.fault_every != 0 && number % device->timing.fault_every == 0)
        return error_set(err, CUZK_DEVICE_FAULT, "%s: a fault was asked for", device->description);
    return CUZK_OK;
}

const struct backend backend_sim = {
    .name = "sim",
    .makes_proofs = false,
    .workers = 1,
    .count = sim_count,
    .open = sim_open,
    .close = sim_close,
    .describe = sim_describe,
    .memory = sim_memory,
    .load = sim_load,
    .unload = sim_unload,
    .bytes = sim_bytes,
    .prove = sim_prove,
};
