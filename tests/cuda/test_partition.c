/* A whole partition of a PoRep on the device with a key of known points, without and with a
   Lagrange form (of points as good as any): every sum is checked, and the phases are timed.

   CUZK_CUDA_C1 names the C1 file; without it there is nothing to do. CUZK_CUDA_BUDGET_MIB (0: all
   that is free) lists amounts of device memory, separated by spaces, each of which is tried;
   CUZK_CUDA_WORKERS partitions are brought at once (2), as an engine's device workers do, each
   CUZK_CUDA_RUNS times (3). */
#include "cuda/coset.h"
#include "cuda/device.h"
#include "cuda/repeated.h"

#include "backend/backend.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/pool.h"
#include "math/ntt.h"
#include "vanilla/c1.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define C1_BYTES_MAX ((size_t)256 << 20)

enum { RUNS_MAX = 16, WORKERS_MAX = 16 };

/* Σ values · logarithms of their points, values coming one by one. */
struct sum {
    struct fr *by_residue;
    uint32_t next;
};

static void sum_add(struct sum *sum, const struct fr *value)
{
    struct fr *at = &sum->by_residue[sum->next++ % PERIOD];
    fr_add(at, at, value);
}

static struct fr sum_total(struct sum *sum)
{
    struct fr total = fr_zero;
    for (uint32_t i = 0; i < PERIOD; i++) {
        struct fr log;
        fr_from_u64(&log, i + 1);
        fr_mul(&log, &log, &sum->by_residue[i]);
        fr_add(&total, &total, &log);
    }
    mem_free(sum->by_residue);
    return total;
}

static struct sum sum_new(void)
{
    return (struct sum){mem_zalloc(PERIOD, sizeof(struct fr)), 0};
}

struct logs {
    struct fr h, l, a, b;
    uint32_t n_l, n_a, n_b;
};

static bool bit_at(const uint64_t *bitmap, uint32_t i)
{
    return bitmap[i / 64] >> (i % 64) & 1;
}

static void expect_witness_sums(struct logs *logs, const struct shape *shape,
                                const struct witness *witness)
{
    struct cuzk_error err;
    struct density density;
    uint64_t *full;
    assert_ok(shape_density(shape, &density, &err), err);
    assert_ok(shape_full_bitmap(shape, &full, &err), err);
    struct sum l = sum_new(), a = sum_new(), b = sum_new();
    for (uint32_t i = 0; i < shape->n_inputs; i++) {
        sum_add(&a, &witness->inputs[i]);
        if (bit_at(density.b_input, i))
            sum_add(&b, &witness->inputs[i]);
    }
    uint32_t n_full = 0;
    for (uint32_t i = 0; i < shape->n_aux; i++) {
        const struct fr *value = bit_at(witness->bits, i) ? &fr_one : &fr_zero;
        if (bit_at(full, i))
            value = &witness->full[n_full++];
        sum_add(&l, value);
        if (bit_at(density.a_aux, i))
            sum_add(&a, value);
        if (bit_at(density.b_aux, i))
            sum_add(&b, value);
    }
    logs->n_l = l.next;
    logs->n_a = a.next;
    logs->n_b = b.next;
    logs->l = sum_total(&l);
    logs->a = sum_total(&a);
    logs->b = sum_total(&b);
    density_free(&density);
    mem_free(full);
}

/* The sum h of the key, or of the Lagrange form. */
static struct fr expect_h(const struct shape *shape, const struct witness *witness, bool lagrange)
{
    const size_t domain = (size_t)1 << shape->log2_domain;
    struct cuzk_error err;
    struct pool *pool = pool_new(0);
    struct fr *a = mem_alloc(domain, sizeof *a), *b = mem_alloc(domain, sizeof *b);
    assert_ok(shape_eval_rows(shape, witness, pool, a, b, domain, &err), err);
    if (lagrange)
        products_on_coset(a, b, shape->log2_domain, pool);
    else /* its last coefficient is 0 */
        assert_ok(ntt_quotient(a, b, shape->log2_domain, NULL, pool, &err), err);
    struct sum h = sum_new();
    for (size_t i = 0; i < domain; i++)
        sum_add(&h, &a[i]);
    mem_free(a);
    mem_free(b);
    pool_free(pool);
    return sum_total(&h);
}

/* What the inputs' points add to l in the Lagrange form. */
static struct fr expect_inputs(const struct witness *witness)
{
    struct sum inputs = sum_new();
    for (size_t i = 0; i < witness->n_inputs; i++)
        sum_add(&inputs, &witness->inputs[i]);
    return sum_total(&inputs);
}

static void assert_g1(const char *name, const struct g1 *found, const struct fr *log)
{
    struct g1 expected;
    g1_from_affine(&expected, g1_generator());
    g1_mul(&expected, &expected, log);
    if (!g1_equal(found, &expected))
        fail_msg("sum %s is wrong", name);
}

static void assert_sums(const struct backend_sums *sums, const struct logs *logs)
{
    assert_g1("l", &sums->l, &logs->l);
    assert_g1("a", &sums->a, &logs->a);
    assert_g1("b_g1", &sums->b_g1, &logs->b);
    struct g2 expected;
    g2_from_affine(&expected, g2_generator());
    g2_mul(&expected, &expected, &logs->b);
    if (!g2_equal(&sums->b_g2, &expected))
        fail_msg("sum b_g2 is wrong");
    assert_g1("h", &sums->h, &logs->h);
}

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double seconds_since(uint64_t start_ns)
{
    return (double)(clock_now_ns() - start_ns) / 1e9;
}

struct worker {
    struct backend_circuit *circuit;
    struct backend_partition partition;
    struct backend_sums sums[RUNS_MAX];
    unsigned runs;
    enum cuzk_status status;
    struct cuzk_error err;
};

static void *work(void *context)
{
    struct worker *worker = context;
    for (unsigned i = 0; i < worker->runs && worker->status == CUZK_OK; i++)
        worker->status = backend_find("cuda")->prove(worker->circuit, &worker->partition,
                                                     &worker->sums[i], &worker->err);
    return NULL;
}

static unsigned number_from(const char *variable, unsigned otherwise)
{
    const char *text = getenv(variable);
    return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

static void prove_together(struct backend_circuit *circuit, const struct witness *witness,
                           struct trace *trace, unsigned n_workers, const struct logs *logs)
{
    const unsigned runs = number_from("CUZK_CUDA_RUNS", 3), n = n_workers * runs;
    static struct worker workers[WORKERS_MAX];
    pthread_t threads[WORKERS_MAX];
    const uint64_t start = clock_now_ns();
    const double processor_start = processor_seconds();
    uint64_t device_ns = 0, least_ns = UINT64_MAX;
    for (unsigned i = 0; i < n_workers; i++) {
        workers[i] = (struct worker){
            .circuit = circuit,
            .partition = {.witness = witness, .scope = TRACE_SCOPE(trace, "partition")},
            .runs = runs,
        };
        workers[i].partition.scope.worker = (int32_t)i;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < n_workers; i++)
        pthread_join(threads[i], NULL);
    const double seconds = seconds_since(start);
    const double processor = processor_seconds() - processor_start;
    for (unsigned i = 0; i < n_workers; i++) {
        assert_ok(workers[i].status, workers[i].err);
        for (unsigned k = 0; k < runs; k++) {
            assert_sums(&workers[i].sums[k], logs);
            device_ns += workers[i].sums[k].device_ns;
            if (workers[i].sums[k].device_ns < least_ns)
                least_ns = workers[i].sums[k].device_ns;
        }
    }
    printf("%u workers: %.3f s a partition, device %.3f s on average, %.3f s at least, processor "
           "%.3f s\n",
           n_workers, seconds / n, (double)device_ns / 1e9 / n, (double)least_ns / 1e9,
           processor / n);
    fflush(stdout);
}

static void prove_and_check(const struct shape *shape, const struct key_vectors *key,
                            const struct witness *witness, const struct logs *logs,
                            uint64_t budget_mib)
{
    const struct backend *cuda = backend_find("cuda");
    const struct backend_options options = {.vram_budget_bytes = budget_mib << 20};
    struct trace *trace;
    struct backend_device *device;
    struct backend_circuit *circuit;
    struct cuzk_error err;
    assert_ok(trace_create(&(struct trace_options){.fd = 1}, &trace, &err), err);
    assert_ok(cuda->open(&options, 0, &device, &err), err);
    const uint64_t start = clock_now_ns();
    assert_ok(cuda->load(device, shape, key, &circuit, &err), err);
    printf("%s, budget %llu MiB%s: partition of 2^%u rows loaded in %.2f s, %.1f GB\n",
           cuda->describe(device), (unsigned long long)budget_mib,
           key->lagrange.h ? ", Lagrange form" : "", shape->log2_domain, seconds_since(start),
           (double)cuda->bytes(circuit) / 1e9);
    prove_together(circuit, witness, trace, 1, logs);
    prove_together(circuit, witness, trace, number_from("CUZK_CUDA_WORKERS", 2), logs);
    trace_destroy(trace);
    cuda->unload(circuit);
    cuda->close(device);
}

static void prove_within_budgets(const struct shape *shape, const struct key_vectors *key,
                                 const struct witness *witness, const struct logs *logs)
{
    const char *budgets = getenv("CUZK_CUDA_BUDGET_MIB");
    const char *at = budgets ? budgets : "0";
    for (;;) {
        char *end;
        const uint64_t budget_mib = strtoull(at, &end, 10);
        if (end == at)
            break;
        prove_and_check(shape, key, witness, logs, budget_mib);
        at = end;
    }
}

static void test_partition(void **state)
{
    (void)state;
    skip_without_device();
    const char *path = variable_or_skip("CUZK_CUDA_C1");
    struct cuzk_error err;
    struct c1 *c1;
    struct shape *shape;
    struct witness witness;
    struct logs logs;
    uint8_t *text;
    size_t len;
    assert_ok(file_read(path, C1_BYTES_MAX, &text, &len, &err), err);
    assert_ok(c1_parse(text, len, &c1, &err), err);
    assert_ok(c1_check(c1, NULL, NULL, &err), err);
    struct circuit_program program = {porep_synthesize, c1_partition(c1, 0)};
    assert_ok(shape_record(&program, &shape, &err), err);
    assert_ok(witness_synthesize(&program, shape, &witness, &err), err);
    expect_witness_sums(&logs, shape, &witness);
    logs.h = expect_h(shape, &witness, false);
    const struct pattern g1 = g1_pattern(), g2 = g2_pattern();
    const uint32_t n_h = (uint32_t)(((uint64_t)1 << shape->log2_domain) - 1);
    struct key_vectors key = {
        .v = {[KEY_H] = {repeat(&g1, n_h), n_h},
              [KEY_L] = {repeat(&g1, logs.n_l), logs.n_l},
              [KEY_A] = {repeat(&g1, logs.n_a), logs.n_a},
              [KEY_B_G1] = {repeat(&g1, logs.n_b), logs.n_b},
              [KEY_B_G2] = {repeat(&g2, logs.n_b), logs.n_b}},
    };
    prove_within_budgets(shape, &key, &witness, &logs);
    const struct fr inputs = expect_inputs(&witness);
    logs.h = expect_h(shape, &witness, true);
    fr_add(&logs.l, &logs.l, &inputs);
    key.lagrange = (struct lagrange_points){repeat(&g1, n_h + 1), repeat(&g1, logs.n_l),
                                            repeat(&g1, shape->n_inputs)};
    prove_within_budgets(shape, &key, &witness, &logs);
    witness_free(&witness);
    shape_free(shape);
    c1_free(c1);
    mem_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_partition)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
