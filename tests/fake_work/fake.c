#include "fake_work/fake.h"

#include "support/support.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

#include <cuzk/engine.h>
#include <stdio.h>
#include <string.h>

struct fake_work {
    struct work base;
    struct fake *fake;
    char tag;
};

struct fake_loaded {
    struct loaded base;
    struct fake *fake;
};

/* --- Gates ------------------------------------------------------------------------- */

static void pass_gate(struct fake *fake, enum fake_phase phase)
{
    pthread_mutex_lock(&fake->lock);
    fake->entered[phase]++;
    fake->inside[phase]++;
    if (fake->inside[phase] > fake->most_inside[phase])
        fake->most_inside[phase] = fake->inside[phase];
    pthread_cond_broadcast(&fake->changed);
    while (fake->permits[phase] == 0)
        pthread_cond_wait(&fake->changed, &fake->lock);
    if (fake->permits[phase] > 0)
        fake->permits[phase]--;
    fake->inside[phase]--;
    pthread_cond_broadcast(&fake->changed);
    pthread_mutex_unlock(&fake->lock);
}

void fake_hold(struct fake *fake, enum fake_phase phase)
{
    pthread_mutex_lock(&fake->lock);
    fake->permits[phase] = 0;
    pthread_mutex_unlock(&fake->lock);
}

void fake_pass(struct fake *fake, enum fake_phase phase, long n)
{
    pthread_mutex_lock(&fake->lock);
    fake->permits[phase] += n;
    pthread_cond_broadcast(&fake->changed);
    pthread_mutex_unlock(&fake->lock);
}

void fake_open(struct fake *fake, enum fake_phase phase)
{
    pthread_mutex_lock(&fake->lock);
    fake->permits[phase] = -1;
    pthread_cond_broadcast(&fake->changed);
    pthread_mutex_unlock(&fake->lock);
}

void fake_wait_inside(struct fake *fake, enum fake_phase phase, unsigned n)
{
    pthread_mutex_lock(&fake->lock);
    while (fake->inside[phase] < n)
        pthread_cond_wait(&fake->changed, &fake->lock);
    pthread_mutex_unlock(&fake->lock);
}

void fake_wait_entered(struct fake *fake, enum fake_phase phase, unsigned n)
{
    pthread_mutex_lock(&fake->lock);
    while (fake->entered[phase] < n)
        pthread_cond_wait(&fake->changed, &fake->lock);
    pthread_mutex_unlock(&fake->lock);
}

static void count(struct fake *fake, unsigned *counter, int by)
{
    pthread_mutex_lock(&fake->lock);
    *counter = (unsigned)((int)*counter + by);
    pthread_mutex_unlock(&fake->lock);
}

/* --- Work -------------------------------------------------------------------------- */

static enum cuzk_status fake_admit(void *context, const struct request *request,
                                   char circuit_id[WORK_CIRCUIT_ID_BYTES], struct cuzk_error *err)
{
    (void)context;
    if (request->payloads[0].len < 2)
        return error_set(err, CUZK_INVALID_ARGUMENT, "fake: two bytes are needed");
    /* Sector sizes 0, 1, … stand for circuits; 99: only the payload tells. */
    if (request->sector_bytes != 99)
        snprintf(circuit_id, WORK_CIRCUIT_ID_BYTES, "fake-%llu",
                 (unsigned long long)request->sector_bytes);
    return CUZK_OK;
}

static enum cuzk_status fake_parse(void *context, const struct request *request, struct work **out,
                                   struct cuzk_error *err)
{
    struct fake *fake = context;
    pass_gate(fake, FAKE_PARSE);
    if (fake->parse_status != CUZK_OK)
        return error_set(err, fake->parse_status, "fake: bad input");
    struct fake_work *work = mem_zalloc(1, sizeof *work);
    if (!work)
        return error_set(err, CUZK_NO_MEMORY, "fake: no memory");
    work->fake = fake;
    work->tag = (char)request->payloads[0].bytes[0];
    work->base.n_partitions = request->payloads[0].bytes[1];
    snprintf(work->base.circuit_id, sizeof work->base.circuit_id, "fake-%llu",
             (unsigned long long)(request->sector_bytes == 99 ? 0 : request->sector_bytes));
    count(fake, &fake->works, 1);
    *out = &work->base;
    return CUZK_OK;
}

static void fake_work_free(struct work *base)
{
    struct fake_work *work = (struct fake_work *)(void *)base;
    count(work->fake, &work->fake->works, -1);
    mem_free(work);
}

struct fake_witness {
    struct fake *fake;
};

static enum cuzk_status fake_synthesize(struct work *base, struct loaded *loaded,
                                        const struct work_span *span, void **witness,
                                        struct cuzk_error *err)
{
    (void)loaded;
    (void)span;
    struct fake_work *work = (struct fake_work *)(void *)base;
    pass_gate(work->fake, FAKE_SYNTH);
    if (work->fake->synth_status != CUZK_OK)
        return error_set(err, work->fake->synth_status, "fake: cannot synthesize");
    struct fake_witness *made = mem_alloc(1, sizeof *made);
    if (!made)
        return error_set(err, CUZK_NO_MEMORY, "fake: no memory");
    made->fake = work->fake;
    count(work->fake, &work->fake->witnesses, 1);
    *witness = made;
    return CUZK_OK;
}

static void fake_witness_free(void *witness)
{
    struct fake_witness *made = witness;
    count(made->fake, &made->fake->witnesses, -1);
    mem_free(made);
}

static enum cuzk_status fake_prove(struct work *base, struct loaded *loaded, void *witness,
                                   const struct work_span *span, uint8_t proof[CUZK_PROOF_BYTES],
                                   uint64_t *device_ns, struct cuzk_error *err)
{
    (void)loaded;
    (void)witness;
    const uint64_t start = clock_now_ns();
    struct fake_work *work = (struct fake_work *)(void *)base;
    struct fake *fake = work->fake;
    struct fake_taken take = {work->tag, span->partition, span->device};
    pthread_mutex_lock(&fake->lock);
    if (fake->n_taken < FAKE_LOG_MAX)
        fake->taken[fake->n_taken++] = take;
    unsigned attempt = fake->attempts[(unsigned char)work->tag][span->partition % 64]++;
    enum cuzk_status status = fake->prove_status ? fake->prove_status(&take, attempt) : CUZK_OK;
    pthread_mutex_unlock(&fake->lock);
    pass_gate(fake, FAKE_PROVE);
    *device_ns = clock_now_ns() - start;
    memset(proof, 0, CUZK_PROOF_BYTES);
    proof[0] = (uint8_t)work->tag;
    proof[1] = (uint8_t)span->partition;
    proof[2] = status != CUZK_VERIFY_FAILED;
    if (status == CUZK_OK || status == CUZK_VERIFY_FAILED)
        return CUZK_OK;
    return error_set(err, status, "fake: the device says no");
}

static bool is_good(const struct fake_work *work, unsigned partition, const uint8_t *proof)
{
    return proof[0] == (uint8_t)work->tag && proof[1] == (uint8_t)partition && proof[2] == 1;
}

static enum cuzk_status fake_verify(struct work *base, struct loaded *loaded, unsigned partition,
                                    const uint8_t proof[CUZK_PROOF_BYTES], struct cuzk_error *err)
{
    (void)loaded;
    struct fake_work *work = (struct fake_work *)(void *)base;
    pass_gate(work->fake, FAKE_VERIFY);
    return is_good(work, partition, proof) ? CUZK_OK
                                           : error_set(err, CUZK_VERIFY_FAILED, "fake: bad proof");
}

static enum cuzk_status fake_verify_all(struct work *base, struct loaded *loaded,
                                        const uint8_t *proofs, struct cuzk_error *err)
{
    (void)loaded;
    struct fake_work *work = (struct fake_work *)(void *)base;
    for (unsigned p = 0; p < base->n_partitions; p++)
        if (!is_good(work, p, proofs + (size_t)p * CUZK_PROOF_BYTES))
            return error_set(err, CUZK_VERIFY_FAILED, "fake: bad proof");
    if (work->fake->verify_all_status != CUZK_OK)
        return error_set(err, work->fake->verify_all_status, "fake: bad whole");
    return CUZK_OK;
}

static enum cuzk_status fake_load(void *context, const char *circuit_id, struct loaded **out,
                                  struct cuzk_error *err)
{
    struct fake *fake = context;
    pass_gate(fake, FAKE_LOAD);
    if (fake->load_status != CUZK_OK)
        return error_set(err, fake->load_status, "fake: cannot load %s", circuit_id);
    struct fake_loaded *loaded = mem_zalloc(1, sizeof *loaded);
    if (!loaded)
        return error_set(err, CUZK_NO_MEMORY, "fake: no memory");
    loaded->fake = fake;
    snprintf(loaded->base.circuit_id, sizeof loaded->base.circuit_id, "%s", circuit_id);
    loaded->base.mapped_bytes = 1000;
    loaded->base.host_bytes = fake->host_bytes;
    loaded->base.partition_bytes = fake->partition_bytes;
    loaded->base.devices = (UINT64_C(1) << fake->n_devices) - 1;
    count(fake, &fake->loads, 1);
    *out = &loaded->base;
    return CUZK_OK;
}

static enum cuzk_status fake_check(const struct loaded *base, struct cuzk_error *err)
{
    const struct fake_loaded *loaded = (const struct fake_loaded *)(const void *)base;
    pthread_mutex_lock(&loaded->fake->lock);
    enum cuzk_status status = loaded->fake->check_status;
    pthread_mutex_unlock(&loaded->fake->lock);
    return status == CUZK_OK ? CUZK_OK : error_set(err, status, "fake: the file changed");
}

static void fake_unload(struct loaded *base)
{
    struct fake_loaded *loaded = (struct fake_loaded *)(void *)base;
    count(loaded->fake, &loaded->fake->loads, -1);
    mem_free(loaded);
}

static const struct work_ops fake_ops = {
    .admit = fake_admit,
    .parse = fake_parse,
    .synthesize = fake_synthesize,
    .witness_free = fake_witness_free,
    .prove = fake_prove,
    .verify = fake_verify,
    .verify_all = fake_verify_all,
    .work_free = fake_work_free,
    .load = fake_load,
    .check = fake_check,
    .unload = fake_unload,
};

/* --- For tests --------------------------------------------------------------------- */

void fake_init(struct fake *fake, unsigned n_devices)
{
    memset(fake, 0, sizeof *fake);
    pthread_mutex_init(&fake->lock, NULL);
    pthread_cond_init(&fake->changed, NULL);
    for (unsigned i = 0; i < FAKE_PHASES; i++)
        fake->permits[i] = -1;
    fake->n_devices = n_devices;
    fake->partition_bytes = 1 << 20;
    fake->host_bytes = 1 << 20;
}

void fake_destroy(struct fake *fake)
{
    assert_int_equal(fake->witnesses, 0);
    assert_int_equal(fake->works, 0);
    assert_int_equal(fake->loads, 0);
    pthread_cond_destroy(&fake->changed);
    pthread_mutex_destroy(&fake->lock);
}

struct cuzk_engine *fake_engine(struct fake *fake, const struct cuzk_engine_options *options)
{
    struct work_device devices[FAKE_DEVICES_MAX] = {0};
    for (unsigned d = 0; d < fake->n_devices; d++) {
        snprintf(devices[d].name, sizeof devices[d].name, "fake \"%u\"", d);
        snprintf(devices[d].backend, sizeof devices[d].backend, "fake");
    }
    const struct work_setup setup = {
        .ops = &fake_ops,
        .context = fake,
        .devices = devices,
        .n_devices = fake->n_devices,
        .simulated = fake->simulated,
        .results_anyway = fake->results_anyway,
    };
    struct cuzk_engine_options with_memory = *options;
    if (with_memory.memory_budget_bytes == 0)
        with_memory.memory_budget_bytes = UINT64_C(1) << 30;
    struct cuzk_engine *engine;
    struct cuzk_error err;
    assert_ok(engine_open(&with_memory, &setup, &engine, &err), err);
    return engine;
}

enum cuzk_status fake_submit(struct cuzk_engine *engine, const char *request_id, char tag,
                             unsigned n_partitions, enum cuzk_priority priority,
                             char job_id[CUZK_JOB_ID_BYTES], bool *attached, struct cuzk_error *err)
{
    uint8_t payload[2] = {(uint8_t)tag, (uint8_t)n_partitions};
    const uint8_t *payloads[1] = {payload};
    size_t lens[1] = {sizeof payload};
    struct cuzk_request request = {
        .request_id = request_id,
        .kind = priority == CUZK_PRIORITY_CRITICAL ? CUZK_WINNING_POST : CUZK_POREP,
        .priority = priority,
        .payloads = payloads,
        .payload_lens = lens,
        .n_payloads = 1,
    };
    return cuzk_engine_submit(engine, &request, job_id, NULL, attached, err);
}

void fake_result_init(struct fake_result *result)
{
    memset(result, 0, sizeof *result);
    sem_init(&result->arrived, 0, 0);
}

void fake_result_fn(void *context, const struct cuzk_result *result)
{
    struct fake_result *to = context;
    to->calls++;
    to->outcome = result->outcome;
    snprintf(to->job_id, sizeof to->job_id, "%s", result->job_id);
    to->proof_len = result->proof_len < sizeof to->proof ? result->proof_len : 0;
    if (to->proof_len)
        memcpy(to->proof, result->proof, to->proof_len);
    to->error = result->error;
    to->total_ms = result->total_ms;
    to->queue_ms = result->queue_ms;
    to->synthesis_ms = result->synthesis_ms;
    to->device_ms = result->device_ms;
    sem_post(&to->arrived);
}

void fake_await(struct cuzk_engine *engine, const char *job_id, uint64_t timeout_ms,
                struct fake_result *result)
{
    struct cuzk_error err;
    fake_result_init(result);
    assert_ok(cuzk_engine_watch(engine, job_id, timeout_ms, fake_result_fn, result, NULL, &err),
              err);
    sem_wait(&result->arrived);
}

bool fake_proof_is_of(const struct fake_result *result, char tag, unsigned n_partitions)
{
    if (result->proof_len != (size_t)n_partitions * CUZK_PROOF_BYTES)
        return false;
    for (unsigned p = 0; p < n_partitions; p++) {
        const uint8_t *proof = result->proof + (size_t)p * CUZK_PROOF_BYTES;
        if (proof[0] != (uint8_t)tag || proof[1] != p || proof[2] != 1)
            return false;
    }
    return true;
}
