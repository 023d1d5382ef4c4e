#include "backend/cpu/cpu.h"

#include "backend/cpu/derive.h"
#include "backend/cpu/query_values.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"
#include "math/msm.h"
#include "math/ntt.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

struct backend_device {
    struct pool *pool;
    /* One partition at a time: two would only share the threads and need twice the memory. */
    pthread_mutex_t busy;
    char description[160];
};

struct backend_circuit {
    struct backend_device *device;
    const struct shape *shape;
    struct key_vectors key;
    struct queries queries;
};

static enum cuzk_status cpu_count(const struct backend_options *options, unsigned *n,
                                  struct cuzk_error *err)
{
    (void)options;
    (void)err;
    *n = 1;
    return CUZK_OK;
}

static void cpu_close(struct backend_device *device)
{
    if (!device)
        return;
    pool_free(device->pool);
    pthread_mutex_destroy(&device->busy);
    mem_free(device);
}

static enum cuzk_status cpu_open(const struct backend_options *options, unsigned index,
                                 struct backend_device **out, struct cuzk_error *err)
{
    if (index != 0)
        return error_set(err, CUZK_NO_DEVICE, "cpu backend: device %u, there is only device 0",
                         index);
    struct backend_device *device = mem_zalloc(1, sizeof *device);
    if (!device)
        return error_set(err, CUZK_NO_MEMORY, "cpu backend: out of memory");
    pthread_mutex_init(&device->busy, NULL);
    device->pool = pool_new(options->threads);
    if (!device->pool) {
        cpu_close(device);
        return error_set(err, CUZK_NO_MEMORY, "cpu backend: cannot start %u threads",
                         options->threads);
    }
    snprintf(device->description, sizeof device->description,
             "cpu, %u threads, %s points, %s "
             "transforms",
             pool_threads(device->pool), g1_kernels()[0]->name, ntt_arith_name(ntt_ariths()[0]));
    *out = device;
    return CUZK_OK;
}

static const char *cpu_describe(const struct backend_device *device)
{
    return device->description;
}

static enum cuzk_status cpu_memory(const struct backend_device *device, struct backend_memory *out,
                                   struct cuzk_error *err)
{
    (void)device;
    (void)err;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    out->total_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * page;
    out->free_bytes = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * page;
    return CUZK_OK;
}

static void cpu_unload(struct backend_circuit *circuit)
{
    if (!circuit)
        return;
    queries_free(&circuit->queries);
    mem_free(circuit);
}

static enum cuzk_status cpu_load(struct backend_device *device, const struct shape *shape,
                                 const struct key_vectors *key, struct backend_circuit **out,
                                 struct cuzk_error *err)
{
    struct backend_circuit *circuit = mem_zalloc(1, sizeof *circuit);
    if (!circuit)
        return error_set(err, CUZK_NO_MEMORY, "cpu backend: out of memory");
    circuit->device = device;
    circuit->shape = shape;
    circuit->key = *key;
    enum cuzk_status status = queries_init(&circuit->queries, shape, err);
    if (status == CUZK_OK)
        status = key_check(&circuit->key, shape, err);
    if (status != CUZK_OK) {
        cpu_unload(circuit);
        return status;
    }
    *out = circuit;
    return CUZK_OK;
}

static uint64_t cpu_bytes(const struct backend_circuit *circuit)
{
    /* The peak is in the quotient: three arrays of the domain's size. Sums take less, but for small
       circuits their fixed room is more. */
    const uint64_t domain = UINT64_C(1) << circuit->shape->log2_domain;
    const uint64_t quotient = 3 * domain * sizeof(struct fr);
    const uint64_t sums = domain * sizeof(struct fr) + MSM_ROOM_BYTES;
    return queries_bytes(&circuit->queries) + (quotient > sums ? quotient : sums);
}

/* --- Proving ---------------------------------------------------------------------------------- */

static struct msm_terms vector_terms(const struct backend_circuit *circuit, enum key_vector which)
{
    return (struct msm_terms){
        .name = key_vector_name(which),
        .points = circuit->key.v[which].at,
        .n_points = circuit->key.v[which].n,
        .release_pages = circuit->key.is_file_map,
    };
}

/* The quotient's coefficients, in an array of the domain's size that the caller frees. */
static enum cuzk_status compute_h(const struct backend_circuit *circuit,
                                  const struct witness *witness, const struct trace_scope *scope,
                                  struct fr **out, struct cuzk_error *err)
{
    const struct shape *shape = circuit->shape;
    struct pool *pool = circuit->device->pool;
    const size_t domain = (size_t)1 << shape->log2_domain;
    struct fr *a = mem_alloc(domain, sizeof *a);
    struct fr *b = mem_alloc(domain, sizeof *b);
    enum cuzk_status status = CUZK_OK;
    if (!a || !b) {
        status = error_set(err, CUZK_NO_MEMORY, "row values of 2^%u rows: out of memory",
                           shape->log2_domain);
        goto out;
    }
    uint64_t start = trace_begin(scope, TRACE_SPAN_EVAL);
    status = shape_eval_rows(shape, witness, pool, a, b, domain, err);
    trace_end_timed(scope, TRACE_SPAN_EVAL, start);
    if (status != CUZK_OK)
        goto out;
    start = trace_begin(scope, TRACE_SPAN_NTT);
    status = ntt_quotient(a, b, shape->log2_domain, NULL, pool, err);
    trace_end_timed(scope, TRACE_SPAN_NTT, start);
out:
    mem_free(b);
    if (status != CUZK_OK) {
        mem_free(a);
        a = NULL;
    }
    *out = a;
    return status;
}

/* One sum: its terms, where the result goes, and the span that it is recorded as. */
struct g1_sum {
    struct msm_terms terms;
    struct g1 *out;
    enum trace_span span;
};

struct g2_sum {
    struct msm_terms terms;
    struct g2 *out;
    enum trace_span span;
};

static enum cuzk_status sum_g1(const struct backend_circuit *circuit,
                               const struct trace_scope *scope, const struct g1_sum *sum,
                               struct cuzk_error *err)
{
    const uint64_t start = trace_begin(scope, sum->span);
    TRY(g1_msm(sum->out, &sum->terms, NULL, circuit->device->pool, err));
    trace_end_timed(scope, sum->span, start);
    return CUZK_OK;
}

static enum cuzk_status sum_g2(const struct backend_circuit *circuit,
                               const struct trace_scope *scope, const struct g2_sum *sum,
                               struct cuzk_error *err)
{
    const uint64_t start = trace_begin(scope, sum->span);
    TRY(g2_msm(sum->out, &sum->terms, NULL, circuit->device->pool, err));
    trace_end_timed(scope, sum->span, start);
    return CUZK_OK;
}

static enum cuzk_status sum_h(const struct backend_circuit *circuit, const struct fr *h,
                              const struct trace_scope *scope, struct g1 *out,
                              struct cuzk_error *err)
{
    struct g1_sum sum = {vector_terms(circuit, KEY_H), out, TRACE_SPAN_MSM_H};
    sum.terms.scalars = h;
    sum.terms.n_scalars = circuit->key.v[KEY_H].n;
    return sum_g1(circuit, scope, &sum, err);
}

static void set_values(struct msm_terms *terms, const struct query *query,
                       const struct query_values *values)
{
    terms->selected = values->selected;
    terms->index = query->point;
    terms->scalars = values->scalars;
    terms->n_scalars = query->n_scalars;
}

/* The sums of one query, in both groups unless g2 is NULL. */
static enum cuzk_status sum_query(const struct backend_circuit *circuit, const struct query *query,
                                  const struct witness *witness, const struct trace_scope *scope,
                                  struct g1_sum *g1, struct g2_sum *g2, struct cuzk_error *err)
{
    struct query_values values;
    TRY(query_values_init(&values, query, witness, err));
    set_values(&g1->terms, query, &values);
    enum cuzk_status status = sum_g1(circuit, scope, g1, err);
    if (status == CUZK_OK && g2) {
        set_values(&g2->terms, query, &values);
        status = sum_g2(circuit, scope, g2, err);
    }
    query_values_free(&values, query);
    return status;
}

static enum cuzk_status sum_witness(const struct backend_circuit *circuit,
                                    const struct witness *witness, const struct trace_scope *scope,
                                    struct backend_sums *out, struct cuzk_error *err)
{
    const struct queries *queries = &circuit->queries;
    struct g1_sum l = {vector_terms(circuit, KEY_L), &out->l, TRACE_SPAN_MSM_L};
    struct g1_sum a = {vector_terms(circuit, KEY_A), &out->a, TRACE_SPAN_MSM_A};
    struct g1_sum b_g1 = {vector_terms(circuit, KEY_B_G1), &out->b_g1, TRACE_SPAN_MSM_B_G1};
    struct g2_sum b_g2 = {vector_terms(circuit, KEY_B_G2), &out->b_g2, TRACE_SPAN_MSM_B_G2};
    TRY(sum_query(circuit, &queries->l, witness, scope, &l, NULL, err));
    TRY(sum_query(circuit, &queries->a, witness, scope, &a, NULL, err));
    return sum_query(circuit, &queries->b, witness, scope, &b_g1, &b_g2, err);
}

static enum cuzk_status cpu_prove(struct backend_circuit *circuit,
                                  const struct backend_partition *partition,
                                  struct backend_sums *out, struct cuzk_error *err)
{
    const struct witness *witness = partition->witness;
    const struct trace_scope *scope = &partition->scope;
    TRY(witness_check(witness, circuit->shape, err));
    const uint64_t arrived = trace_begin(scope, TRACE_SPAN_LOCK_WAIT);
    pthread_mutex_lock(&circuit->device->busy);
    trace_end_timed(scope, TRACE_SPAN_LOCK_WAIT, arrived);
    const uint64_t start = trace_begin(scope, TRACE_SPAN_GPU);
    struct fr *h = NULL;
    enum cuzk_status status = compute_h(circuit, witness, scope, &h, err);
    if (status == CUZK_OK) {
        status = sum_h(circuit, h, scope, &out->h, err);
        mem_free(h);
        if (status == CUZK_OK)
            status = sum_witness(circuit, witness, scope, out, err);
    }
    out->device_ns = trace_end_timed(scope, TRACE_SPAN_GPU, start);
    pthread_mutex_unlock(&circuit->device->busy);
    return status;
}

/* --- The Lagrange form ------------------------------------------------------------------------ */

static enum cuzk_status cpu_derive(struct backend_device *device, const struct shape *shape,
                                   const struct key_vectors *key, const struct lagrange_points *out,
                                   backend_progress_fn *progress, void *context,
                                   struct cuzk_error *err)
{
    TRY(key_check_h_and_l(key, shape, err));
    pthread_mutex_lock(&device->busy);
    enum cuzk_status status = derive_points(shape, key, out, device->pool, progress, context, err);
    pthread_mutex_unlock(&device->busy);
    return status;
}

/* Copies the scalars of the finite points, and the points' numbers; returns how many. */
static uint32_t skip_infinity(const uint8_t *points, uint32_t n, const struct fr *scalars,
                              uint32_t *index, struct fr *kept)
{
    static const uint8_t infinity[G1_BYTES] = {0x40};
    uint32_t n_kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (memcmp(points + (size_t)i * G1_BYTES, infinity, sizeof infinity) == 0)
            continue;
        index[n_kept] = i;
        kept[n_kept++] = scalars[i];
    }
    return n_kept;
}

static enum cuzk_status cpu_sum(struct backend_device *device, const uint8_t *points, uint32_t n,
                                const struct fr *scalars, struct g1 *out, struct cuzk_error *err)
{
    uint32_t *index = mem_alloc(n, sizeof *index);
    struct fr *kept = mem_alloc(n, sizeof *kept);
    enum cuzk_status status = CUZK_OK;
    if (index && kept) {
        const struct msm_terms terms = {
            .name = "of the sum",
            .points = points,
            .n_points = n,
            .index = index,
            .scalars = kept,
            .n_scalars = skip_infinity(points, n, scalars, index, kept),
        };
        pthread_mutex_lock(&device->busy);
        status = g1_msm(out, &terms, NULL, device->pool, err);
        pthread_mutex_unlock(&device->busy);
    } else {
        status = error_set(err, CUZK_NO_MEMORY, "sum of %u points: out of memory", n);
    }
    mem_free(index);
    mem_free(kept);
    return status;
}

const struct backend backend_cpu = {
    .name = "cpu",
    .makes_proofs = true,
    .workers = 1,
    .uses_host_memory = true,
    .count = cpu_count,
    .open = cpu_open,
    .close = cpu_close,
    .describe = cpu_describe,
    .memory = cpu_memory,
    .load = cpu_load,
    .unload = cpu_unload,
    .bytes = cpu_bytes,
    .prove = cpu_prove,
    .derive = cpu_derive,
    .sum = cpu_sum,
};
