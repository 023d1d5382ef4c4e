/* The backend, and the turns of partitions on a device: witness up, work, sums down.

   Each thread brings one partition. The partition's witness is uploaded to a slot while the device
   works on others; then the partition waits. A thread that waits while no batch runs leads the next
   batch: it takes in the turns that wait, and those that come while the batch runs. */
#include "backend/cuda/cuda.h"

#include "backend/cuda/host/batch.h"
#include "backend/cuda/host/circuit_load.h"
#include "backend/cuda/host/derive.h"
#include "base/error.h"
#include "base/mem.h"

/* --- Slots ------------------------------------------------------------------------------------ */

/* Counts the arrival and takes a slot for the witness; waits until one is free. */
static void take_slot(struct turn *turn)
{
    struct backend_circuit *circuit = turn->circuit;
    struct witness_slot *taken = NULL;
    pthread_mutex_lock(&circuit->lock);
    turn->arrival = circuit->arrivals++;
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
    turn->slot = taken;
}

static void give_back_slot(struct backend_circuit *circuit, struct witness_slot *slot)
{
    pthread_mutex_lock(&circuit->lock);
    slot->taken = false;
    pthread_cond_broadcast(&circuit->changed);
    pthread_mutex_unlock(&circuit->lock);
}

static enum cuzk_status copy_witness(const struct turn *turn, void *to, const void *from,
                                     size_t bytes, struct cuzk_error *err)
{
    if (bytes == 0)
        return CUZK_OK;
    return device_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice,
                                        turn->circuit->device->upload_stream),
                        "uploading a witness", err);
}

/* Copies the witness to the turn's slot. The device may work on other partitions meanwhile. */
static enum cuzk_status upload_witness(const struct turn *turn, struct cuzk_error *err)
{
    const struct witness *witness = turn->partition->witness;
    const size_t input_bytes = witness->n_inputs * sizeof(struct fr);
    const size_t plane_bytes = witness_plane_words(witness->n_aux) * sizeof(uint64_t);
    TRY(copy_witness(turn, turn->slot->bits, witness->bits, plane_bytes, err));
    TRY(copy_witness(turn, turn->slot->values, witness->inputs, input_bytes, err));
    TRY(copy_witness(turn, (char *)turn->slot->values + input_bytes, witness->full,
                     witness->n_full * sizeof(struct fr), err));
    return device_check(cudaStreamSynchronize(turn->circuit->device->upload_stream),
                        "uploading a witness", err);
}

/* Overwrites the witness. The next upload to the slot follows on the same stream. */
static enum cuzk_status wipe_slot(const struct turn *turn, struct cuzk_error *err)
{
    return device_check(cudaMemsetAsync(turn->slot->memory, 0, turn->slot->bytes,
                                        turn->circuit->device->upload_stream),
                        "wiping a witness", err);
}

/* --- Turns ------------------------------------------------------------------------------------ */

/* Runs the batch once no other circuit's batch runs on the device. */
static void lead_batch(struct batch *batch)
{
    struct backend_device *device = batch->circuit->device;
    struct cuzk_error err = {0};
    atomic_fetch_add(&device->leaders_waiting, 1);
    pthread_mutex_lock(&device->busy);
    atomic_fetch_sub(&device->leaders_waiting, 1);
    const enum cuzk_status status = batch_run(batch, &err);
    pthread_mutex_unlock(&device->busy);
    for (unsigned i = 0; i < batch->n; i++) {
        batch->turns[i]->status = status;
        batch->turns[i]->err = err;
    }
}

/* Waits until the turn is done, and leads batches while no other thread does. The circuit's lock is
   held. */
static void lead_until_done(struct turn *turn)
{
    struct backend_circuit *circuit = turn->circuit;
    while (!turn->done) {
        if (circuit->at_work) {
            pthread_cond_wait(&turn->wake, &circuit->lock);
            continue;
        }
        struct batch batch = {.circuit = circuit, .turns = {circuit->waiting}, .n = 1};
        circuit->waiting = circuit->waiting->next;
        circuit->at_work = true;
        pthread_mutex_unlock(&circuit->lock);
        lead_batch(&batch);
        pthread_mutex_lock(&circuit->lock);
        circuit->at_work = false;
        /* The next leader first: the device is idle, and the other threads have work for the
           processor. */
        if (circuit->waiting)
            pthread_cond_signal(&circuit->waiting->wake);
        for (unsigned i = 0; i < batch.n; i++) {
            batch.turns[i]->done = true;
            pthread_cond_signal(&batch.turns[i]->wake);
        }
    }
}

/* Puts the turn among those that wait, in the order of arrival, and returns when its sums are there
   or it has failed. */
static enum cuzk_status take_turn(struct turn *turn, struct cuzk_error *err)
{
    struct backend_circuit *circuit = turn->circuit;
    turn->since_ns = trace_begin(&turn->partition->scope, TRACE_SPAN_LOCK_WAIT);
    pthread_cond_init(&turn->wake, NULL);
    pthread_mutex_lock(&circuit->lock);
    struct turn **at = &circuit->waiting;
    while (*at && (*at)->arrival < turn->arrival)
        at = &(*at)->next;
    turn->next = *at;
    *at = turn;
    lead_until_done(turn);
    pthread_mutex_unlock(&circuit->lock);
    pthread_cond_destroy(&turn->wake);
    if (turn->status != CUZK_OK && err)
        *err = turn->err;
    return turn->status;
}

/* --- The call --------------------------------------------------------------------------------- */

/* Upload, work, wipe; the turn has a slot. */
static enum cuzk_status run_with_slot(struct turn *turn, struct cuzk_error *err)
{
    const struct trace_scope *scope = &turn->partition->scope;
    trace_begin(scope, TRACE_SPAN_UPLOAD);
    enum cuzk_status status = upload_witness(turn, err);
    trace_end(scope, TRACE_SPAN_UPLOAD, (int64_t)witness_bytes(turn->partition->witness));
    if (status == CUZK_OK)
        status = take_turn(turn, err);
    struct cuzk_error second;
    const enum cuzk_status wiped = wipe_slot(turn, status == CUZK_OK ? err : &second);
    return status == CUZK_OK ? wiped : status;
}

static enum cuzk_status prove_on_device(struct turn *turn, struct backend_sums *out,
                                        struct cuzk_error *err)
{
    struct backend_circuit *circuit = turn->circuit;
    TRY(device_use(circuit->device, err));
    turn->sums = mem_alloc(circuit->sums_map.bytes, 1);
    if (!turn->sums)
        return error_set(err, CUZK_NO_MEMORY, "cuda: out of memory");
    take_slot(turn);
    enum cuzk_status status = run_with_slot(turn, err);
    give_back_slot(circuit, turn->slot);
    if (status == CUZK_OK)
        batch_finish(turn, out);
    /* Sums without blinding would tell about the witness. */
    mem_wipe(turn->sums, circuit->sums_map.bytes);
    mem_free(turn->sums);
    return status;
}

static enum cuzk_status cuda_prove(struct backend_circuit *circuit,
                                   const struct backend_partition *partition,
                                   struct backend_sums *out, struct cuzk_error *err)
{
    struct turn turn = {.circuit = circuit, .partition = partition};
    TRY(witness_check(partition->witness, circuit->shape, err));
    const enum cuzk_status status = prove_on_device(&turn, out, err);
    if (status != CUZK_DEVICE_FAULT || !device_is_lost(circuit->device))
        return status;
    if (err)
        err->status = CUZK_DEVICE_LOST;
    return CUZK_DEVICE_LOST;
}

/* --- The backend ------------------------------------------------------------------------------ */

static enum cuzk_status cuda_open(const struct backend_options *options, unsigned index,
                                  struct backend_device **out, struct cuzk_error *err)
{
    struct backend_device *device = NULL;
    TRY(device_open(options, index, &device, err));
    enum cuzk_status status = device_check(msm_prepare(), "preparing kernels", err);
    if (status != CUZK_OK) {
        device_close(device);
        return status;
    }
    *out = device;
    return CUZK_OK;
}

const struct backend backend_cuda = {
    .name = "cuda",
    .makes_proofs = true,
    .workers = SLOTS_MAX,
    .uses_lagrange = true,
    .count = device_count,
    .open = cuda_open,
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
