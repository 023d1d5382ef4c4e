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

/* Events that a batch shares, behind those of its partitions. */
enum shared_event { BITS_FROM, L_TO, A_TO, B_G1_TO, B_G2_TO, DOWNLOAD_FROM, BATCH_TO };
_Static_assert(BATCH_TO + 1 == SHARED_EVENTS, "events of a batch");

static const cudaEvent_t *events_of(const struct batch *batch, unsigned i)
{
    return &batch->circuit->events[i * PARTITION_EVENTS];
}

static cudaEvent_t shared_event(const struct batch *batch, unsigned event)
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
        const struct witness_slot *slot = batch->turns[i]->slot;
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
    static const enum shared_event ends[KEY_VECTORS] = {
        [KEY_L] = L_TO, [KEY_A] = A_TO, [KEY_B_G1] = B_G1_TO, [KEY_B_G2] = B_G2_TO};
    for (enum key_vector section = KEY_L; section < KEY_VECTORS; section++) {
        const uint64_t *selected[BATCH_MAX];
        for (unsigned i = 0; i < batch->n; i++)
            selected[i] = selected_bits(batch->turns[i]->slot, section);
        if (circuit->counts.n_points[section] > 0)
            TRY(section_sum(circuit, section, selected, batch->n, stream, err));
        TRY(device_record(shared_event(batch, ends[section]), stream, err));
    }
    TRY(device_record(shared_event(batch, DOWNLOAD_FROM), stream, err));
    TRY(device_download(circuit->sums, circuit->block.sums, circuit->sums_map.bytes, stream,
                        "downloading sums", err));
    return device_record(shared_event(batch, BATCH_TO), stream, err);
}

/* --- Turns join and end ------------------------------------------------------------------- */

/* Is the batch full, or does another circuit wait for the device? Then no more turns join. */
static bool is_closed(const struct batch *batch)
{
    return batch->n == batch->circuit->plan.n_batch ||
           atomic_load(&batch->circuit->device->leaders_waiting) > 0;
}

/* A batch that has enough takes in only turns of jobs that it has already. */
static bool may_join(const struct batch *batch, const struct turn *turn)
{
    if (batch->n < BATCH_ENOUGH)
        return true;
    for (unsigned i = 0; i < batch->n; i++) {
        if (batch->turns[i]->partition->job == turn->partition->job)
            return true;
    }
    return false;
}

/* Takes the first turn that may join from those that wait, in the order of arrival; NULL: none. */
static struct turn *take_waiting(const struct batch *batch)
{
    struct backend_circuit *circuit = batch->circuit;
    if (is_closed(batch))
        return NULL;
    pthread_mutex_lock(&circuit->lock);
    struct turn **at = &circuit->waiting;
    while (*at && !may_join(batch, *at))
        at = &(*at)->next;
    struct turn *turn = *at;
    if (turn)
        *at = turn->next;
    pthread_mutex_unlock(&circuit->lock);
    return turn;
}

static const struct trace_scope *scope_of(const struct turn *turn)
{
    return &turn->partition->scope;
}

/* The device has come to the first turn that has not begun. */
static void begin_turn(struct batch *batch)
{
    struct turn *turn = batch->turns[batch->ended];
    trace_end_timed(scope_of(turn), TRACE_SPAN_LOCK_WAIT, turn->since_ns);
    batch->begun = true;
    turn->since_ns = trace_begin(scope_of(turn), TRACE_SPAN_GPU);
}

/* The device has done the turn's own part. */
static void end_turn(struct batch *batch)
{
    struct turn *turn = batch->turns[batch->ended++];
    turn->device_ns = trace_end_timed(scope_of(turn), TRACE_SPAN_GPU, turn->since_ns);
    batch->begun = false;
    turn->since_ns = trace_begin(scope_of(turn), TRACE_SPAN_BATCH_WAIT);
}

/* The device has done everything, or something has failed. */
static void end_batch(const struct batch *batch)
{
    for (unsigned i = 0; i < batch->n; i++) {
        struct turn *turn = batch->turns[i];
        if (i < batch->ended)
            trace_end_timed(scope_of(turn), TRACE_SPAN_BATCH_WAIT, turn->since_ns);
        else if (i == batch->ended && batch->begun)
            turn->device_ns = trace_end_timed(scope_of(turn), TRACE_SPAN_GPU, turn->since_ns);
        else
            trace_end_timed(scope_of(turn), TRACE_SPAN_LOCK_WAIT, turn->since_ns);
    }
}

/* Waits until the turn that the device works on has come to the event. */
static enum cuzk_status await_event(const struct batch *batch, enum partition_event event,
                                    struct cuzk_error *err)
{
    return device_check(cudaEventSynchronize(events_of(batch, batch->ended)[event]), "proving",
                        err);
}

/* Enqueues the turn that joined last. An idle device begins with the first launch, long before all
   launches are enqueued when graphs are recorded or h is streamed. */
static enum cuzk_status enqueue_last(struct batch *batch, struct cuzk_error *err)
{
    struct backend_circuit *circuit = batch->circuit;
    const unsigned number = batch->n - 1;
    if (!batch->begun)
        begin_turn(batch);
    return partition_enqueue(circuit, batch->turns[number]->slot,
                             sums_at(circuit, number * circuit->sums_map.own_bytes),
                             events_of(batch, number), err);
}

/* Takes in turns while they come. The next turn is enqueued when the one on the device has only its
   tails left: early enough for the device to go from one to the next without a pause. If a turn
   were enqueued earlier, it would not fit into the driver's queue, and a thread that waits for room
   in the queue keeps all other threads out of the driver, also those that upload witnesses. When
   the function returns, the last turn is still on the device. */
static enum cuzk_status enqueue_partitions(struct batch *batch, struct cuzk_error *err)
{
    bool idle = false; /* the device has done the last turn, whose end is not recorded yet */
    TRY(enqueue_last(batch, err));
    for (;;) {
        if (batch->n - batch->ended == 2) {
            TRY(await_event(batch, TAILS_TO, err));
            end_turn(batch);
            begin_turn(batch);
        }
        TRY(await_event(batch, idle ? TAILS_TO : H_TO, err));
        struct turn *turn = take_waiting(batch);
        if (turn) {
            if (idle)
                end_turn(batch);
            idle = false;
            batch->turns[batch->n++] = turn;
            TRY(enqueue_last(batch, err));
        } else if (idle || is_closed(batch)) {
            return CUZK_OK;
        } else {
            idle = true;
        }
    }
}

/* --- Afterwards ------------------------------------------------------------------------------- */

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
    trace_span_at(scope, span, from_ns, to_ns);
    return CUZK_OK;
}

/* A span of the timeline between two events. */
struct phase {
    enum trace_span span;
    unsigned from, to; /* events of the partition, or of the batch */
};

static const struct phase own_phases[] = {
    {TRACE_SPAN_EVAL, ROWS_FROM, ROWS_TO},
    {TRACE_SPAN_NTT, ROWS_TO, QUOTIENT_TO},
    {TRACE_SPAN_MSM_H, QUOTIENT_TO, H_TO},
    {TRACE_SPAN_MSM_TAILS, H_TO, TAILS_TO},
};

static const struct phase shared_phases[] = {
    {TRACE_SPAN_MSM_L, BITS_FROM, L_TO},
    {TRACE_SPAN_MSM_A, L_TO, A_TO},
    {TRACE_SPAN_MSM_B_G1, A_TO, B_G1_TO},
    {TRACE_SPAN_MSM_B_G2, B_G1_TO, B_G2_TO},
    {TRACE_SPAN_DOWNLOAD, DOWNLOAD_FROM, BATCH_TO},
};

static enum cuzk_status emit_phases(const struct batch *batch, uint64_t end_ns,
                                    struct cuzk_error *err)
{
    for (unsigned i = 0; i < batch->n; i++) {
        const struct trace_scope *scope = scope_of(batch->turns[i]);
        const cudaEvent_t *events = events_of(batch, i);
        for (const struct phase *p = own_phases; p < own_phases + ARRAY_LEN(own_phases); p++)
            TRY(emit_span(batch, scope, p->span, events[p->from], events[p->to], end_ns, err));
        for (const struct phase *p = shared_phases; p < shared_phases + ARRAY_LEN(shared_phases);
             p++)
            TRY(emit_span(batch, scope, p->span, shared_event(batch, p->from),
                          shared_event(batch, p->to), end_ns, err));
    }
    return CUZK_OK;
}

/* Copies the sums to the turns. Streamed points are checked every time: the file may have
   changed. */
static enum cuzk_status hand_out_sums(const struct batch *batch, struct cuzk_error *err)
{
    const struct backend_circuit *circuit = batch->circuit;
    struct points_faults faults;
    memcpy(&faults, circuit->sums + circuit->sums_map.faults, sizeof faults);
    TRY(section_check_faults(&faults, "that is streamed", circuit->counts.n_points[KEY_H], err));
    for (unsigned i = 0; i < batch->n; i++) {
        struct turn *turn = batch->turns[i];
        memcpy(turn->sums, circuit->sums, circuit->sums_map.bytes);
        turn->number = i;
        turn->n_batch = batch->n;
    }
    mem_wipe(circuit->sums, circuit->sums_map.bytes);
    return CUZK_OK;
}

static enum cuzk_status run_on_device(struct batch *batch, struct cuzk_error *err)
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
    enum cuzk_status status = run_on_device(batch, err);
    const uint64_t end_ns = clock_now_ns();
    end_batch(batch);
    if (status == CUZK_OK)
        status = emit_phases(batch, end_ns, err);
    if (status == CUZK_OK)
        return hand_out_sums(batch, err);
    /* The next batch must find no work left on the circuit's memory. */
    device_settle();
    return status;
}

static const void *own_sums(const struct turn *turn, size_t offset)
{
    return turn->sums + turn->number * turn->circuit->sums_map.own_bytes + offset;
}

static void finish_h(const struct turn *turn, struct g1 *out)
{
    const struct backend_circuit *circuit = turn->circuit;
    g1_set_infinity(out);
    for (uint32_t i = 0; i < plan_h_pieces(&circuit->counts, &circuit->plan); i++) {
        const struct msm_size size = plan_h_size(&circuit->counts, &circuit->plan, i);
        struct g1 piece;
        msm_finish_g1(&piece, &size, own_sums(turn, partition_h_offset(circuit, i)));
        g1_add(out, out, &piece);
    }
}

static const void *tail_sums(const struct turn *turn, enum cuda_tail tail, unsigned set)
{
    return own_sums(turn, turn->circuit->sums_map.tails[tail][set]);
}

static void finish_g1(const struct turn *turn, enum cuda_tail tail, unsigned set, struct g1 *out)
{
    const struct backend_circuit *circuit = turn->circuit;
    const enum key_vector section = tail_section(tail, set);
    const struct msm_size *size = &circuit->plan.tail_size[tail];
    struct g1 sum;
    section_finish_g1(circuit, turn->sums, section, turn->number, turn->n_batch, out);
    if (size->n == 0)
        return;
    msm_finish_g1(&sum, size, tail_sums(turn, tail, set));
    g1_add(out, out, &sum);
}

static void finish_b_g2(const struct turn *turn, struct g2 *out)
{
    const struct backend_circuit *circuit = turn->circuit;
    const struct msm_size *size = &circuit->plan.tail_size[TAIL_B];
    struct g2 sum;
    section_finish_g2(circuit, turn->sums, KEY_B_G2, turn->number, turn->n_batch, out);
    if (size->n == 0)
        return;
    msm_finish_g2(&sum, size, tail_sums(turn, TAIL_B, 1));
    g2_add(out, out, &sum);
}

void batch_finish(const struct turn *turn, struct backend_sums *out)
{
    out->device_ns = turn->device_ns;
    finish_h(turn, &out->h);
    finish_g1(turn, TAIL_LA, 0, &out->l);
    finish_g1(turn, TAIL_LA, 1, &out->a);
    finish_g1(turn, TAIL_B, 0, &out->b_g1);
    finish_b_g2(turn, &out->b_g2);
}
