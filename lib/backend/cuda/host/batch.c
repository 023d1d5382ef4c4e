#include "backend/cuda/host/batch.h"

#include "backend/cuda/msm/msm_finish.h"
#include "backend/cuda/host/partition.h"
#include "backend/cuda/host/section.h"
#include "backend/cuda/msm/select.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

#include <string.h>

/* Events that a batch shares, behind those of its partitions. They bracket the timeline's spans. */
enum shared_event { BITS_FROM, L_TO, A_TO, B_G1_TO, B_G2_TO, DOWNLOAD_FROM, BATCH_TO };
_Static_assert(BATCH_TO + 1 == SHARED_EVENTS, "events of a batch");

static const cudaEvent_t *events_of(const struct batch *batch, unsigned i)
{
    return &batch->circuit->events[i * PARTITION_EVENTS];
}

static cudaEvent_t shared_event(const struct batch *batch, enum shared_event event)
{
    return batch->circuit->events[BATCH_MAX * PARTITION_EVENTS + event];
}

static void *sums_at(const struct backend_circuit *circuit, size_t offset)
{
    return (char *)circuit->block.sums + offset;
}

static enum cuzk_status select_bits(const struct batch *batch, cudaStream_t stream,
                                    struct cuzk_error *err)
{
    const struct backend_circuit *circuit = batch->circuit;
    const struct circuit_counts *counts = &circuit->counts;
    const struct circuit_block *block = &circuit->block;
    const struct queries *queries = &circuit->queries;
    for (unsigned i = 0; i < batch->n; i++) {
        const struct witness_slot *slot = batch->jobs[i]->slot;
        TRY(device_check(bits_select(slot->bits, block->a_dense.bits, block->a_dense.ranks,
                                     counts->n_aux, queries->a.n_inputs, counts->n_points[KEY_A],
                                     slot->selected_a, stream),
                         "selecting bits", err));
        TRY(device_check(bits_select(slot->bits, block->b_dense.bits, block->b_dense.ranks,
                                     counts->n_aux, queries->b.n_inputs, counts->n_points[KEY_B_G1],
                                     slot->selected_b, stream),
                         "selecting bits", err));
    }
    return CUZK_OK;
}

static const uint64_t *selected_bits(const struct witness_slot *slot, enum key_vector section)
{
    if (section == KEY_L)
        return slot->bits;
    return section == KEY_A ? slot->selected_a : slot->selected_b;
}

/* The sums over the bits of all partitions, and all sums down to the host. */
static enum cuzk_status enqueue_shared(const struct batch *batch, struct cuzk_error *err)
{
    struct backend_circuit *circuit = batch->circuit;
    const cudaStream_t stream = circuit->device->stream;
    TRY(device_record(shared_event(batch, BITS_FROM), stream, err));
    TRY(select_bits(batch, stream, err));
    for (enum key_vector section = KEY_L; section < KEY_VECTORS; section++) {
        const uint64_t *selected[BATCH_MAX];
        for (unsigned i = 0; i < batch->n; i++)
            selected[i] = selected_bits(batch->jobs[i]->slot, section);
        if (circuit->counts.n_points[section] > 0)
            TRY(section_sum(circuit, section, selected, batch->n, stream, err));
        TRY(device_record(shared_event(batch, L_TO + (section - KEY_L)), stream, err));
    }
    TRY(device_record(shared_event(batch, DOWNLOAD_FROM), stream, err));
    TRY(device_check(cudaMemcpyAsync(circuit->sums, circuit->block.sums, circuit->sums_map.bytes,
                                     cudaMemcpyDeviceToHost, stream),
                     "downloading sums", err));
    return device_record(shared_event(batch, BATCH_TO), stream, err);
}

/* --- Partitions come and go --------------------------------------------------------------------
 */

/* No more partitions join: the batch is full, or another circuit waits for the device. */
static bool is_closed(const struct batch *batch)
{
    return batch->n == batch->circuit->plan.n_batch ||
           atomic_load(&batch->circuit->device->leaders_waiting) > 0;
}

static bool is_of_same_job(const struct trace_scope *a, const struct trace_scope *b)
{
    return a->label && b->label ? strcmp(a->label, b->label) == 0 : a->label == b->label;
}

static bool joins(const struct batch *batch, const struct job *job)
{
    if (batch->n < BATCH_ENOUGH)
        return true;
    for (unsigned i = 0; i < batch->n; i++) {
        if (is_of_same_job(batch->jobs[i]->scope, job->scope))
            return true;
    }
    return false;
}

/* The first that waits and joins, in the order in which they came. */
static struct job *take_waiting(const struct batch *batch)
{
    struct backend_circuit *circuit = batch->circuit;
    if (is_closed(batch))
        return NULL;
    pthread_mutex_lock(&circuit->lock);
    struct job **at = &circuit->waiting;
    while (*at && !joins(batch, *at))
        at = &(*at)->next;
    struct job *job = *at;
    if (job)
        *at = job->next;
    pthread_mutex_unlock(&circuit->lock);
    return job;
}

static void emit_lock_wait_end(const struct job *job, uint64_t now_ns)
{
    trace_emit(job->scope, TRACE_LOCK_WAIT_END, (int64_t)((now_ns - job->since_ns) / 1000000));
}

/* The device has come to the first partition that has not begun. */
static void begin_partition(struct batch *batch)
{
    struct job *job = batch->jobs[batch->ended];
    const uint64_t now_ns = clock_now_ns();
    emit_lock_wait_end(job, now_ns);
    job->since_ns = now_ns;
    batch->begun = true;
    trace_emit(job->scope, TRACE_GPU_START, -1);
}

static void emit_gpu_end(struct job *job, uint64_t now_ns)
{
    job->device_ns = now_ns - job->since_ns;
    trace_emit(job->scope, TRACE_GPU_END, (int64_t)(job->device_ns / 1000000));
}

/* The device has done the partition's own part. */
static void end_partition(struct batch *batch)
{
    struct job *job = batch->jobs[batch->ended++];
    const uint64_t now_ns = clock_now_ns();
    emit_gpu_end(job, now_ns);
    job->since_ns = now_ns;
    batch->begun = false;
    trace_emit(job->scope, TRACE_BATCH_WAIT_START, -1);
}

/* The device has done everything, or something has failed. */
static void end_batch(const struct batch *batch, uint64_t now_ns)
{
    for (unsigned i = 0; i < batch->n; i++) {
        struct job *job = batch->jobs[i];
        if (i < batch->ended)
            trace_emit(job->scope, TRACE_BATCH_WAIT_END,
                       (int64_t)((now_ns - job->since_ns) / 1000000));
        else if (i == batch->ended && batch->begun)
            emit_gpu_end(job, now_ns);
        else
            emit_lock_wait_end(job, now_ns);
    }
}

/* Until the partition that the device is at has come so far. */
static enum cuzk_status await(const struct batch *batch, enum partition_event event,
                              struct cuzk_error *err)
{
    return device_check(cudaEventSynchronize(events_of(batch, batch->ended)[event]), "proving",
                        err);
}

/* The last job that was taken in. A device that has nothing to do begins with the first launch,
   long before all are enqueued if graphs are recorded or h is streamed. */
static enum cuzk_status enqueue_last(struct batch *batch, struct cuzk_error *err)
{
    struct backend_circuit *circuit = batch->circuit;
    const unsigned number = batch->n - 1;
    if (!batch->begun)
        begin_partition(batch);
    return partition_enqueue(circuit, batch->jobs[number]->slot,
                             sums_at(circuit, number * circuit->sums_map.own_bytes),
                             events_of(batch, number), err);
}

/* Takes partitions in while they come. The next one is enqueued when the one that the device is at
   has only its tails left: early enough for the device to go from one to the next by itself. Any
   earlier it would not fit into the driver's queue, and a thread that waits for room there keeps
   all others out of the driver, those that upload witnesses too. When the batch is closed the last
   partition is still under way. */
static enum cuzk_status enqueue_partitions(struct batch *batch, struct cuzk_error *err)
{
    bool idle = false; /* the device has done the last one, which has not been told yet */
    TRY(enqueue_last(batch, err));
    for (;;) {
        if (batch->n - batch->ended == 2) {
            TRY(await(batch, TAILS_TO, err));
            end_partition(batch);
            begin_partition(batch);
        }
        TRY(await(batch, idle ? TAILS_TO : H_TO, err));
        struct job *job = take_waiting(batch);
        if (job) {
            if (idle)
                end_partition(batch);
            idle = false;
            batch->jobs[batch->n++] = job;
            TRY(enqueue_last(batch, err));
        } else if (idle || is_closed(batch)) {
            return CUZK_OK;
        } else {
            idle = true;
        }
    }
}

/* --- Afterwards --------------------------------------------------------------------------------
 */

/* The host's time of an event, given that of the batch's end. */
static enum cuzk_status time_of(const struct batch *batch, cudaEvent_t event, uint64_t end_ns,
                                uint64_t *out, struct cuzk_error *err)
{
    float ms;
    TRY(device_check(cudaEventElapsedTime(&ms, event, shared_event(batch, BATCH_TO)),
                     "reading times", err));
    *out = end_ns - (uint64_t)((double)ms * 1e6);
    return CUZK_OK;
}

static enum cuzk_status emit_span(const struct batch *batch, const struct trace_scope *scope,
                                  enum trace_span span, cudaEvent_t from, cudaEvent_t to,
                                  uint64_t end_ns, struct cuzk_error *err)
{
    uint64_t from_ns, to_ns;
    TRY(time_of(batch, from, end_ns, &from_ns, err));
    TRY(time_of(batch, to, end_ns, &to_ns, err));
    trace_emit_at(scope, (enum trace_kind)(2 * span), -1, from_ns);
    trace_emit_at(scope, (enum trace_kind)(2 * span + 1), (int64_t)((to_ns - from_ns) / 1000),
                  to_ns);
    return CUZK_OK;
}

static enum cuzk_status emit_phases(const struct batch *batch, uint64_t end_ns,
                                    struct cuzk_error *err)
{
    static const enum trace_span own[] = {TRACE_SPAN_EVAL, TRACE_SPAN_NTT, TRACE_SPAN_MSM_H,
                                          TRACE_SPAN_MSM_TAILS};
    static const enum trace_span shared[] = {TRACE_SPAN_MSM_L, TRACE_SPAN_MSM_A,
                                             TRACE_SPAN_MSM_B_G1, TRACE_SPAN_MSM_B_G2};
    for (unsigned i = 0; i < batch->n; i++) {
        const struct trace_scope *scope = batch->jobs[i]->scope;
        for (unsigned k = 0; k < ARRAY_LEN(own); k++)
            TRY(emit_span(batch, scope, own[k], events_of(batch, i)[ROWS_FROM + k],
                          events_of(batch, i)[ROWS_TO + k], end_ns, err));
        for (unsigned k = 0; k < ARRAY_LEN(shared); k++)
            TRY(emit_span(batch, scope, shared[k], shared_event(batch, BITS_FROM + k),
                          shared_event(batch, L_TO + k), end_ns, err));
        TRY(emit_span(batch, scope, TRACE_SPAN_DOWNLOAD, shared_event(batch, DOWNLOAD_FROM),
                      shared_event(batch, BATCH_TO), end_ns, err));
    }
    return CUZK_OK;
}

/* Points that were streamed are checked every time: the file may have changed. */
static enum cuzk_status hand_out(const struct batch *batch, struct cuzk_error *err)
{
    const struct backend_circuit *circuit = batch->circuit;
    struct points_faults faults;
    memcpy(&faults, circuit->sums + circuit->sums_map.faults, sizeof faults);
    TRY(section_check_faults(&faults, "that is streamed", circuit->counts.n_points[KEY_H], err));
#ifdef CUZK_CUDA_FAULTS
    if (device_flip_is_due())
        circuit->sums[partition_h_offset(circuit, 0)] ^= 1;
#endif
    for (unsigned i = 0; i < batch->n; i++) {
        struct job *job = batch->jobs[i];
        memcpy(job->sums, circuit->sums, circuit->sums_map.bytes);
        job->number = i;
        job->n_batch = batch->n;
    }
    mem_wipe(circuit->sums, circuit->sums_map.bytes);
    return CUZK_OK;
}

static enum cuzk_status run(struct batch *batch, struct cuzk_error *err)
{
    const struct backend_circuit *circuit = batch->circuit;
    TRY(device_check(cudaMemsetAsync(sums_at(circuit, circuit->sums_map.faults), 0,
                                     sizeof(struct points_faults), circuit->device->stream),
                     "clearing faults", err));
    TRY(enqueue_partitions(batch, err));
    TRY(enqueue_shared(batch, err));
    return device_check(cudaEventSynchronize(shared_event(batch, BATCH_TO)), "proving", err);
}

enum cuzk_status batch_run(struct batch *batch, struct cuzk_error *err)
{
    enum cuzk_status status = run(batch, err);
    const uint64_t end_ns = clock_now_ns();
    end_batch(batch, end_ns);
    if (status == CUZK_OK)
        status = emit_phases(batch, end_ns, err);
    if (status == CUZK_OK)
        return hand_out(batch, err);
    /* Whoever comes next finds nothing at work on the circuit's memory. */
    device_settle();
    return status;
}

static const void *own_sums(const struct job *job, size_t offset)
{
    return job->sums + job->number * job->circuit->sums_map.own_bytes + offset;
}

static void finish_h(const struct job *job, struct g1 *out)
{
    const struct backend_circuit *circuit = job->circuit;
    g1_set_infinity(out);
    for (uint32_t i = 0; i < plan_h_pieces(&circuit->counts, &circuit->plan); i++) {
        const struct msm_size size = plan_h_size(&circuit->counts, &circuit->plan, i);
        struct g1 piece;
        msm_finish_g1(&piece, &size, own_sums(job, partition_h_offset(circuit, i)));
        g1_add(out, out, &piece);
    }
}

static const void *tail_sums(const struct job *job, enum cuda_tail tail, unsigned set)
{
    return own_sums(job, job->circuit->sums_map.tails[tail][set]);
}

static void finish_g1(const struct job *job, enum cuda_tail tail, unsigned set, struct g1 *out)
{
    const struct backend_circuit *circuit = job->circuit;
    const enum key_vector section = tail_section(tail, set);
    const struct msm_size *size = &circuit->plan.tail_size[tail];
    struct g1 sum;
    section_finish_g1(circuit, job->sums, section, job->number, job->n_batch, out);
    if (size->n == 0)
        return;
    msm_finish_g1(&sum, size, tail_sums(job, tail, set));
    g1_add(out, out, &sum);
}

static void finish_b_g2(const struct job *job, struct g2 *out)
{
    const struct backend_circuit *circuit = job->circuit;
    const struct msm_size *size = &circuit->plan.tail_size[TAIL_B];
    struct g2 sum;
    section_finish_g2(circuit, job->sums, KEY_B_G2, job->number, job->n_batch, out);
    if (size->n == 0)
        return;
    msm_finish_g2(&sum, size, tail_sums(job, TAIL_B, 1));
    g2_add(out, out, &sum);
}

void batch_finish(const struct job *job, struct backend_sums *out)
{
    out->device_ns = job->device_ns;
    finish_h(job, &out->h);
    finish_g1(job, TAIL_LA, 0, &out->l);
    finish_g1(job, TAIL_LA, 1, &out->a);
    finish_g1(job, TAIL_B, 0, &out->b_g1);
    finish_b_g2(job, &out->b_g2);
}
