/* Who is in a batch with whom: the host's side of turns and batches on a device that is played
   here, so that it needs none. Partitions get on when the test lets them.

   The two files are part of this one; what they call is below. */
#include "backend/cuda/host/batch.c"
#include "backend/cuda/cuda.c"

#include "support/support.h"

#include <sched.h>
#include <stdio.h>

enum { PARTITIONS_MAX = 32, LOG_BYTES = 512 };

/* --- The device that is played ---------------------------------------------------------------- */

/* What partitions wait for. */
enum gate { BEFORE_H, BEFORE_TAILS, OPEN };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum gate gate;
    const char *slow;    /* this witness's upload waits, if not NULL */
    unsigned enqueued;   /* partitions */
    unsigned fails_at;   /* that many are enqueued, the next one is not; 0: none fails */
    char log[LOG_BYTES]; /* batches: "A0 A1 | B0 | " */
} played = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static struct backend_device device;

static cudaEvent_t numbered_event(size_t number)
{
    return (cudaEvent_t)(number + 1);
}

static bool has_come_to(cudaEvent_t event)
{
    if (played.gate == OPEN || event == numbered_event(EVENTS_MAX - 1))
        return true;
    return played.gate == BEFORE_TAILS && ((size_t)event - 1) % PARTITION_EVENTS == H_TO;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    pthread_mutex_lock(&played.lock);
    while (!has_come_to(event))
        pthread_cond_wait(&played.changed, &played.lock);
    pthread_mutex_unlock(&played.lock);
    return cudaSuccess;
}

enum cuzk_status partition_enqueue(struct backend_circuit *circuit, const struct witness_slot *slot,
                                   void *sums, const cudaEvent_t events[PARTITION_EVENTS],
                                   struct cuzk_error *err)
{
    (void)circuit, (void)slot, (void)sums, (void)events;
    pthread_mutex_lock(&played.lock);
    const bool fails = played.fails_at > 0 && played.enqueued == played.fails_at;
    played.enqueued++;
    pthread_cond_broadcast(&played.changed);
    pthread_mutex_unlock(&played.lock);
    return fails ? error_set(err, CUZK_DEVICE_FAULT, "it failed") : CUZK_OK;
}

/* A slot's bits point to the name of who has it. */
enum cuzk_status section_sum(struct backend_circuit *circuit, enum key_vector section,
                             const uint64_t *const selected[], unsigned n_witnesses,
                             cudaStream_t stream, struct cuzk_error *err)
{
    (void)circuit, (void)section, (void)stream, (void)err;
    pthread_mutex_lock(&played.lock);
    size_t used = strlen(played.log);
    for (unsigned i = 0; i < n_witnesses; i++)
        used +=
            (size_t)snprintf(played.log + used, LOG_BYTES - used, "%s ", (const char *)selected[i]);
    snprintf(played.log + used, LOG_BYTES - used, "| ");
    pthread_mutex_unlock(&played.lock);
    return CUZK_OK;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    (void)stream;
    if (kind != cudaMemcpyHostToDevice)
        return cudaSuccess;
    memcpy(to, from, bytes);
    pthread_mutex_lock(&played.lock);
    while (played.slow && strncmp(from, played.slow, bytes) == 0)
        pthread_cond_wait(&played.changed, &played.lock);
    pthread_mutex_unlock(&played.lock);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    (void)to, (void)value, (void)bytes, (void)stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    (void)stream;
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    (void)from, (void)to;
    *ms = 0;
    return cudaSuccess;
}

enum cuzk_status device_check(int code, const char *what, struct cuzk_error *err)
{
    return code ? error_set(err, CUZK_DEVICE_FAULT, "%s", what) : CUZK_OK;
}

enum cuzk_status device_record(cudaEvent_t event, cudaStream_t stream, struct cuzk_error *err)
{
    (void)event, (void)stream, (void)err;
    return CUZK_OK;
}

enum cuzk_status device_use(const struct backend_device *of, struct cuzk_error *err)
{
    (void)of, (void)err;
    return CUZK_OK;
}

void device_settle(void) {}

bool device_is_lost(const struct backend_device *of)
{
    (void)of;
    return false;
}

enum cuzk_status device_download(void *to, const void *from, size_t n_bytes, cudaStream_t stream,
                                 const char *what, struct cuzk_error *err)
{
    (void)to, (void)from, (void)n_bytes, (void)stream, (void)what, (void)err;
    return CUZK_OK;
}

int msm_prepare(void)
{
    return 0;
}

int bits_select(const uint64_t *bits, const uint64_t *density, const uint32_t *ranks,
                uint32_t n_vars, uint32_t first_point, uint32_t n_points, uint64_t *selected,
                struct CUstream_st *stream)
{
    (void)bits, (void)density, (void)ranks, (void)n_vars, (void)first_point, (void)n_points;
    (void)selected, (void)stream;
    return 0;
}

/* --- What does not matter here ---------------------------------------------------------------- */

enum cuzk_status section_check_faults(const struct points_faults *faults, const char *section,
                                      uint32_t n, struct cuzk_error *err)
{
    (void)faults, (void)section, (void)n, (void)err;
    return CUZK_OK;
}

void section_finish_g1(const struct backend_circuit *circuit, const uint8_t *sums,
                       enum key_vector section, unsigned witness, unsigned n_witnesses,
                       struct g1 *out)
{
    (void)circuit, (void)sums, (void)section, (void)witness, (void)n_witnesses;
    g1_set_infinity(out);
}

void section_finish_g2(const struct backend_circuit *circuit, const uint8_t *sums,
                       enum key_vector section, unsigned witness, unsigned n_witnesses,
                       struct g2 *out)
{
    (void)circuit, (void)sums, (void)section, (void)witness, (void)n_witnesses;
    g2_set_infinity(out);
}

size_t partition_h_offset(const struct backend_circuit *circuit, uint32_t piece)
{
    (void)circuit, (void)piece;
    return 0;
}

uint32_t plan_h_pieces(const struct circuit_counts *counts, const struct memory_plan *plan)
{
    (void)counts, (void)plan;
    return 0;
}

struct msm_size plan_h_size(const struct circuit_counts *counts, const struct memory_plan *plan,
                            uint32_t piece)
{
    (void)counts, (void)plan, (void)piece;
    return (struct msm_size){0};
}

void msm_finish_g1(struct g1 *out, const struct msm_size *size, const struct g1_affine *sums)
{
    (void)size, (void)sums;
    g1_set_infinity(out);
}

void msm_finish_g2(struct g2 *out, const struct msm_size *size, const struct g2_affine *sums)
{
    (void)size, (void)sums;
    g2_set_infinity(out);
}

enum cuzk_status device_count(const struct backend_options *options, unsigned *n,
                              struct cuzk_error *err)
{
    (void)options, (void)n;
    return error_set(err, CUZK_NO_DEVICE, "played");
}

enum cuzk_status device_open(const struct backend_options *options, unsigned index,
                             struct backend_device **out, struct cuzk_error *err)
{
    (void)options, (void)index, (void)out;
    return error_set(err, CUZK_NO_DEVICE, "played");
}

void device_close(struct backend_device *of)
{
    (void)of;
}

const char *device_describe(const struct backend_device *of)
{
    return of->description;
}

enum cuzk_status device_memory(const struct backend_device *of, struct backend_memory *out,
                               struct cuzk_error *err)
{
    (void)of, (void)out;
    return error_set(err, CUZK_NO_DEVICE, "played");
}

enum cuzk_status circuit_load(struct backend_device *of, const struct shape *shape,
                              const struct key_vectors *key, struct backend_circuit **out,
                              struct cuzk_error *err)
{
    (void)of, (void)shape, (void)key, (void)out;
    return error_set(err, CUZK_NO_DEVICE, "played");
}

void circuit_unload(struct backend_circuit *circuit)
{
    (void)circuit;
}

uint64_t circuit_bytes(const struct backend_circuit *circuit)
{
    (void)circuit;
    return 0;
}

enum cuzk_status derive_lagrange(struct backend_device *of, const struct shape *shape,
                                 const struct key_vectors *key, const struct lagrange_points *out,
                                 backend_progress_fn *progress, void *context,
                                 struct cuzk_error *err)
{
    (void)of, (void)shape, (void)key, (void)out, (void)progress, (void)context;
    return error_set(err, CUZK_NO_DEVICE, "played");
}

enum cuzk_status sum_points(struct backend_device *of, const uint8_t *points, uint32_t n,
                            const struct fr *scalars, struct g1 *out, struct cuzk_error *err)
{
    (void)of, (void)points, (void)n, (void)scalars, (void)out;
    return error_set(err, CUZK_NO_DEVICE, "played");
}

/* --- Partitions ------------------------------------------------------------------------------- */

enum { NAME_WORDS = 16, SUMS_BYTES = 1024 };

/* What partitions carry as the label of their scope. */
enum labels { LABEL_OF_JOB, LABEL_OF_PARTITION, ONE_LABEL, NO_LABEL, LABELS };

struct partition {
    struct backend_circuit *circuit;
    uint64_t job; /* the letter of the name */
    char label[8];
    enum labels labels;
    uint64_t bits[NAME_WORDS]; /* of the witness: the name */
    pthread_t thread;
    enum cuzk_status status;
    struct cuzk_error err;
};

static const struct shape shape = {.n_aux = 64};

static void *prove_partition_of(void *context)
{
    struct partition *partition = context;
    const struct witness witness = {.bits = partition->bits, .n_aux = 64};
    const char *label = partition->labels == NO_LABEL ? NULL : partition->label;
    const struct backend_partition given = {&witness, partition->job, TRACE_SCOPE(NULL, label)};
    struct backend_sums sums;
    partition->status = backend_cuda.prove(partition->circuit, &given, &sums, &partition->err);
    return NULL;
}

static void set_up(struct backend_circuit *circuit)
{
    memset(circuit, 0, sizeof *circuit);
    for (unsigned i = 0; i < SLOTS_MAX; i++) {
        circuit->block.slots[i].bits = mem_zalloc(NAME_WORDS, sizeof(uint64_t));
        assert_non_null(circuit->block.slots[i].bits);
    }
    circuit->plan.n_slots = SLOTS_MAX;
    circuit->device = &device;
    circuit->shape = &shape;
    circuit->plan.n_batch = BATCH_MAX;
    circuit->counts.n_points[KEY_L] = 1;
    circuit->sums_map.bytes = SUMS_BYTES;
    circuit->sums = mem_zalloc(SUMS_BYTES, 1);
    pthread_mutex_init(&circuit->lock, NULL);
    pthread_cond_init(&circuit->changed, NULL);
    for (size_t i = 0; i < EVENTS_MAX; i++)
        circuit->events[i] = numbered_event(i);
    played.gate = BEFORE_H;
    played.slow = NULL;
    played.enqueued = played.fails_at = 0;
    played.log[0] = '\0';
}

static void tear_down(struct backend_circuit *circuit)
{
    assert_null(circuit->waiting);
    assert_false(circuit->at_work);
    pthread_mutex_destroy(&circuit->lock);
    pthread_cond_destroy(&circuit->changed);
    for (unsigned i = 0; i < SLOTS_MAX; i++) {
        assert_false(circuit->block.slots[i].taken);
        mem_free(circuit->block.slots[i].bits);
    }
    mem_free(circuit->sums);
}

static void open_gate(enum gate gate)
{
    pthread_mutex_lock(&played.lock);
    played.gate = gate;
    played.slow = NULL;
    pthread_cond_broadcast(&played.changed);
    pthread_mutex_unlock(&played.lock);
}

static void let_run(void)
{
    open_gate(OPEN);
}

/* Leads, or waits in line. */
static bool has_arrived(struct backend_circuit *circuit, unsigned waiting)
{
    unsigned n = 0;
    pthread_mutex_lock(&circuit->lock);
    const bool at_work = circuit->at_work;
    for (const struct turn *turn = circuit->waiting; turn; turn = turn->next)
        n++;
    pthread_mutex_unlock(&circuit->lock);
    return at_work && n == waiting;
}

/* Until there are n; how many there are. */
static unsigned await_enqueued(unsigned n)
{
    pthread_mutex_lock(&played.lock);
    while (played.enqueued < n)
        pthread_cond_wait(&played.changed, &played.lock);
    const unsigned enqueued = played.enqueued;
    pthread_mutex_unlock(&played.lock);
    return enqueued;
}

/* How many have asked for a slot. */
static bool have_come(struct backend_circuit *circuit, uint64_t n)
{
    pthread_mutex_lock(&circuit->lock);
    const bool have = circuit->arrivals == n;
    pthread_mutex_unlock(&circuit->lock);
    return have;
}

/* Starts the partitions named in the list, "A0 A1 B0", one after the other: the first leads, one
   whose upload is slow waits for that. */
static unsigned start_labelled(struct backend_circuit *circuit, const char *names,
                               enum labels labels, struct partition *out)
{
    unsigned n = 0, n_slow = 0;
    for (const char *at = names; *at; at += strspn(at, " ")) {
        struct partition *partition = &out[n];
        const size_t len = strcspn(at, " ");
        assert_true(len < sizeof partition->label && n < PARTITIONS_MAX);
        *partition = (struct partition){.circuit = circuit, .job = (uint64_t)*at, .labels = labels};
        memcpy(partition->bits, at, len);
        memcpy(partition->label, labels == ONE_LABEL ? "same" : at,
               labels == ONE_LABEL            ? strlen("same")
               : labels == LABEL_OF_PARTITION ? len
                                              : 1);
        at += len;
        assert_int_equal(pthread_create(&partition->thread, NULL, prove_partition_of, partition),
                         0);
        n_slow += played.slow && strcmp((const char *)partition->bits, played.slow) == 0;
        while (!have_come(circuit, n + 1) || !has_arrived(circuit, n - n_slow))
            sched_yield();
        n++;
    }
    return n;
}

static unsigned start(struct backend_circuit *circuit, const char *names, struct partition *out)
{
    return start_labelled(circuit, names, LABEL_OF_JOB, out);
}

static void join(struct partition *partitions, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        pthread_join(partitions[i].thread, NULL);
}

static void check_labelled(const char *names, enum labels labels, const char *batches)
{
    struct backend_circuit circuit;
    struct partition partitions[PARTITIONS_MAX];
    set_up(&circuit);
    const unsigned n = start_labelled(&circuit, names, labels, partitions);
    let_run();
    join(partitions, n);
    for (unsigned i = 0; i < n; i++)
        assert_ok(partitions[i].status, partitions[i].err);
    assert_string_equal(played.log, batches);
    tear_down(&circuit);
}

static void check_batches(const char *names, const char *batches)
{
    check_labelled(names, LABEL_OF_JOB, batches);
}

/* --- Tests ------------------------------------------------------------------------------------ */

/* Partitions that come while the first one is at work share its batch. */
static void test_one_job_is_one_batch(void **state)
{
    (void)state;
    check_batches("A0", "A0 | ");
    check_batches("A0 A1 A2", "A0 A1 A2 | ");
    check_batches("A0 A1 A2 A3 A4 A5 A6 A7 A8 A9", "A0 A1 A2 A3 A4 A5 A6 A7 A8 A9 | ");
}

/* A batch that has enough takes in no further job, … */
static void test_jobs_have_batches_of_their_own(void **state)
{
    (void)state;
    check_batches("A0 A1 A2 A3 A4 A5 A6 A7 A8 A9 B0 B1 B2 B3",
                  "A0 A1 A2 A3 A4 A5 A6 A7 A8 A9 | B0 B1 B2 B3 | ");
    check_batches("A0 B0 C0 D0 E0 F0 G0 H0 I0 J0", "A0 B0 C0 D0 E0 F0 G0 H0 | I0 J0 | ");
}

/* … but the rest of those that it has, past others that wait, until it is full. */
static void test_a_job_stays_together(void **state)
{
    (void)state;
    check_batches("B0 A0 A1 A2 A3 A4 A5 A6 A7 A8 A9 C0",
                  "B0 A0 A1 A2 A3 A4 A5 A6 A7 A8 A9 | C0 | ");
    check_batches("A0 A1 A2 A3 A4 A5 A6 A7 C0 A8 A9", "A0 A1 A2 A3 A4 A5 A6 A7 A8 A9 | C0 | ");
    check_batches("A0 A1 A2 A3 A4 A5 A6 A7 A8 A9 Aa Ab Ac Ad",
                  "A0 A1 A2 A3 A4 A5 A6 A7 A8 A9 Aa Ab | Ac Ad | ");
}

/* Numbers tell jobs apart. Labels are for the timeline: two jobs with one label stay two jobs, and
   partitions of one job stay together whatever their labels, or without any. */
static void test_labels_decide_nothing(void **state)
{
    (void)state;
    for (enum labels labels = LABEL_OF_JOB; labels < LABELS; labels++) {
        check_labelled("A0 A1 A2 A3 A4 A5 A6 A7 A8 A9 B0 B1 B2 B3", labels,
                       "A0 A1 A2 A3 A4 A5 A6 A7 A8 A9 | B0 B1 B2 B3 | ");
        check_labelled("A0 B0 C0 D0 E0 F0 G0 H0 I0 J0", labels,
                       "A0 B0 C0 D0 E0 F0 G0 H0 | I0 J0 | ");
        check_labelled("A0 A1 A2 A3 A4 A5 A6 A7 C0 A8 A9", labels,
                       "A0 A1 A2 A3 A4 A5 A6 A7 A8 A9 | C0 | ");
    }
}

/* The order is that in which they came, whatever their uploads take. */
static void test_slow_upload(void **state)
{
    (void)state;
    struct backend_circuit circuit;
    struct partition partitions[PARTITIONS_MAX];
    set_up(&circuit);
    played.slow = "A1";
    const unsigned n = start(&circuit, "A0 A1 A2 A3 B0", partitions);
    open_gate(BEFORE_H);
    while (!has_arrived(&circuit, n - 1))
        sched_yield();
    let_run();
    join(partitions, n);
    assert_string_equal(played.log, "A0 A1 A2 A3 B0 | ");
    tear_down(&circuit);
}

/* The next partition is enqueued when the one at work has only its tails left, … */
static void test_one_ahead(void **state)
{
    (void)state;
    struct backend_circuit circuit;
    struct partition partitions[PARTITIONS_MAX];
    set_up(&circuit);
    const unsigned n = start(&circuit, "A0 A1 A2", partitions);
    assert_int_equal(await_enqueued(1), 1);
    open_gate(BEFORE_TAILS);
    assert_int_equal(await_enqueued(2), 2);
    assert_true(has_arrived(&circuit, 1)); /* … and no other one before that has ended. */
    let_run();
    join(partitions, n);
    assert_string_equal(played.log, "A0 A1 A2 | ");
    tear_down(&circuit);
}

/* A failure is that of all that are in the batch by then, and of nobody else. */
static void test_failure(void **state)
{
    (void)state;
    struct backend_circuit circuit;
    struct partition partitions[PARTITIONS_MAX];
    for (unsigned fails_at = 1; fails_at < 6; fails_at++) {
        set_up(&circuit);
        played.fails_at = fails_at;
        const unsigned n = start(&circuit, "A0 A1 A2 A3 A4 A5 A6", partitions);
        let_run();
        join(partitions, n);
        for (unsigned i = 0; i < n; i++)
            assert_int_equal(partitions[i].status, i <= fails_at ? CUZK_DEVICE_FAULT : CUZK_OK);
        tear_down(&circuit);
    }
}

/* Another circuit that waits for the device gets it after the partition that is at work. */
static void test_circuits_take_turns(void **state)
{
    (void)state;
    struct backend_circuit circuit, other;
    struct partition partitions[PARTITIONS_MAX], others[PARTITIONS_MAX];
    set_up(&circuit);
    set_up(&other);
    unsigned n = start(&circuit, "A0 A1 A2", partitions);
    unsigned n_others = start(&other, "X0 X1", others);
    while (atomic_load(&device.leaders_waiting) == 0)
        sched_yield();
    let_run();
    join(partitions, n);
    join(others, n_others);
    assert_memory_equal(played.log, "A0 | ", strlen("A0 | "));
    assert_non_null(strstr(played.log, "X0"));
    assert_non_null(strstr(played.log, "X1"));
    assert_non_null(strstr(played.log, "A2"));
    tear_down(&circuit);
    tear_down(&other);
}

int main(void)
{
    pthread_mutex_init(&device.busy, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_job_is_one_batch),
        cmocka_unit_test(test_jobs_have_batches_of_their_own),
        cmocka_unit_test(test_a_job_stays_together),
        cmocka_unit_test(test_labels_decide_nothing),
        cmocka_unit_test(test_slow_upload),
        cmocka_unit_test(test_one_ahead),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_circuits_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
