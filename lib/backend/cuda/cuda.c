/* Partitions on a device: witness up, work, sums down.

   Threads bring one partition each. A partition's witness is uploaded to a slot while others are
   worked on; then it waits for its turn. Whoever finds nobody at work leads the next batch, which
   takes in those that wait and those that come while it is at work. */
#include "backend/cuda/cuda.h"

#include "backend/cuda/host/batch.h"
#include "backend/cuda/host/derive.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

/* --- Slots ------------------------------------------------------------------------------------ */

/* The job has arrived, and gets a slot for its witness; waits until there is one. */
static void take_slot(struct job *job)
{
    struct backend_circuit *circuit = job->circuit;
    struct witness_slot *taken = NULL;
    pthread_mutex_lock(&circuit->lock);
    job->arrival = circuit->arrivals++;
    for (;;) {
        for (unsigned i = 0; i < circuit->plan.n_slots && !taken; i++) {
            if (!circuit->block.slots[i].taken)
                taken = &circuit->block.slots[i];
        }
        if (taken)
            break;
        pthread_cond_wait(&circuit->changed, &circuit->lock);
    }
    taken->taken = true;
    pthread_mutex_unlock(&circuit->lock);
    job->slot = taken;
}

static void give_back_slot(struct backend_circuit *circuit, struct witness_slot *slot)
{
    pthread_mutex_lock(&circuit->lock);
    slot->taken = false;
    pthread_cond_broadcast(&circuit->changed);
    pthread_mutex_unlock(&circuit->lock);
}

static enum cuzk_status copy_witness(const struct job *job, void *to, const void *from,
                                     size_t bytes, struct cuzk_error *err)
{
    if (bytes == 0)
        return CUZK_OK;
    return device_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice,
                                        job->circuit->device->upload_stream),
                        "uploading a witness", err);
}

/* Copies the witness to the job's slot. Other partitions may be at work meanwhile. */
static enum cuzk_status upload(const struct job *job, struct cuzk_error *err)
{
    const struct witness *witness = job->witness;
    const size_t input_bytes = witness->n_inputs * sizeof(struct fr);
    const size_t plane_bytes = witness_plane_words(witness->n_aux) * sizeof(uint64_t);
    TRY(copy_witness(job, job->slot->bits, witness->bits, plane_bytes, err));
    TRY(copy_witness(job, job->slot->values, witness->inputs, input_bytes, err));
    TRY(copy_witness(job, (char *)job->slot->values + input_bytes, witness->full,
                     witness->n_full * sizeof(struct fr), err));
    return device_check(cudaStreamSynchronize(job->circuit->device->upload_stream),
                        "uploading a witness", err);
}

/* The next upload to the slot comes after this, on the same stream. */
static enum cuzk_status wipe(const struct job *job, struct cuzk_error *err)
{
    return device_check(cudaMemsetAsync(job->slot->memory, 0, job->slot->bytes,
                                        job->circuit->device->upload_stream),
                        "wiping a witness", err);
}

/* --- Turns ------------------------------------------------------------------------------------ */

/* Runs a batch of those that wait on the device, which other circuits may be using until then. */
static void lead(struct batch *batch)
{
    struct backend_device *device = batch->circuit->device;
    struct cuzk_error err = {0};
    atomic_fetch_add(&device->leaders_waiting, 1);
    pthread_mutex_lock(&device->busy);
    atomic_fetch_sub(&device->leaders_waiting, 1);
    const enum cuzk_status status = batch_run(batch, &err);
    pthread_mutex_unlock(&device->busy);
    for (unsigned i = 0; i < batch->n; i++) {
        batch->jobs[i]->status = status;
        batch->jobs[i]->err = err;
    }
}

/* Leads batches until the job is done. The circuit's lock is held. */
static void lead_until_done(struct job *job)
{
    struct backend_circuit *circuit = job->circuit;
    while (!job->done) {
        if (circuit->at_work) {
            pthread_cond_wait(&job->wake, &circuit->lock);
            continue;
        }
        struct batch batch = {.circuit = circuit, .jobs = {circuit->waiting}, .n = 1};
        circuit->waiting = circuit->waiting->next;
        circuit->at_work = true;
        pthread_mutex_unlock(&circuit->lock);
        lead(&batch);
        pthread_mutex_lock(&circuit->lock);
        circuit->at_work = false;
        /* The next leader first: the others have work for the processor now, the device has none.
         */
        if (circuit->waiting)
            pthread_cond_signal(&circuit->waiting->wake);
        for (unsigned i = 0; i < batch.n; i++) {
            batch.jobs[i]->done = true;
            pthread_cond_signal(&batch.jobs[i]->wake);
        }
    }
}

/* Waits for the job's turn, or leads. Returns when the job's sums are there, or it has failed. */
static enum cuzk_status take_turn(struct job *job, struct cuzk_error *err)
{
    struct backend_circuit *circuit = job->circuit;
    job->since_ns = clock_now_ns();
    trace_emit(job->scope, TRACE_LOCK_WAIT_START, -1);
    pthread_cond_init(&job->wake, NULL);
    pthread_mutex_lock(&circuit->lock);
    struct job **at = &circuit->waiting;
    while (*at && (*at)->arrival < job->arrival)
        at = &(*at)->next;
    job->next = *at;
    *at = job;
    lead_until_done(job);
    pthread_mutex_unlock(&circuit->lock);
    pthread_cond_destroy(&job->wake);
    if (job->status != CUZK_OK && err)
        *err = job->err;
    return job->status;
}

/* --- The call --------------------------------------------------------------------------------- */

/* Upload, work, wipe; the job has a slot. */
static enum cuzk_status run_with_slot(struct job *job, struct cuzk_error *err)
{
    trace_emit(job->scope, TRACE_UPLOAD_START, -1);
    enum cuzk_status status = upload(job, err);
    trace_emit(job->scope, TRACE_UPLOAD_END, (int64_t)witness_bytes(job->witness));
    if (status == CUZK_OK)
        status = take_turn(job, err);
    struct cuzk_error second;
    const enum cuzk_status wiped = wipe(job, status == CUZK_OK ? err : &second);
    return status == CUZK_OK ? wiped : status;
}

static enum cuzk_status prove_on_device(struct job *job, struct backend_sums *out,
                                        struct cuzk_error *err)
{
    struct backend_circuit *circuit = job->circuit;
    TRY(device_use(circuit->device, err));
    job->sums = mem_alloc(circuit->sums_map.bytes, 1);
    if (!job->sums)
        return error_set(err, CUZK_NO_MEMORY, "cuda: out of memory");
    take_slot(job);
    enum cuzk_status status = run_with_slot(job, err);
    give_back_slot(circuit, job->slot);
    if (status == CUZK_OK)
        batch_finish(job, out);
    /* Sums without blinding would tell about the witness. */
    mem_wipe(job->sums, circuit->sums_map.bytes);
    mem_free(job->sums);
    return status;
}

static enum cuzk_status cuda_prove(struct backend_circuit *circuit, const struct witness *witness,
                                   const struct trace_scope *scope, struct backend_sums *out,
                                   struct cuzk_error *err)
{
    struct job job = {.circuit = circuit, .witness = witness, .scope = scope};
    TRY(witness_check(witness, circuit->shape, err));
    const enum cuzk_status status = prove_on_device(&job, out, err);
    if (status != CUZK_DEVICE_FAULT || !device_is_lost(circuit->device))
        return status;
    if (err)
        err->status = CUZK_DEVICE_LOST;
    return CUZK_DEVICE_LOST;
}

const struct backend backend_cuda = {
    .name = "cuda",
    .makes_proofs = true,
    .workers = SLOTS_MAX,
    .uses_lagrange = true,
    .count = device_count,
    .open = device_open,
    .close = device_close,
    .describe = device_describe,
    .memory = device_memory,
    .load = circuit_load,
    .unload = circuit_unload,
    .bytes = circuit_bytes,
    .prove = cuda_prove,
    .derive = derive_lagrange,
    .sum = sum_points,
};
