/* Synthesis alone, measured. */
#include <cuzk/prove.h>

#include "prover/real.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/pool.h"
#include "r1cs/value_digest.h"

#include <string.h>
#include <sys/resource.h>

static enum cuzk_status check_partition(const struct work *work, unsigned partition,
                                        struct cuzk_error *err)
{
    if (partition < work->n_partitions)
        return CUZK_OK;
    return error_set(err, CUZK_INVALID_ARGUMENT, "partition: %u, this C1 has %u", partition,
                     work->n_partitions);
}

/* The fastest of some runs; the last run's witness stays. */
static enum cuzk_status synthesize(const struct cuzk_synth_options *options, struct work *work,
                                   const struct shape *shape, struct pool *pool,
                                   struct witness *witness, struct cuzk_synth_report *out,
                                   struct cuzk_error *err)
{
    unsigned iterations = options->iterations ? options->iterations : 1;
    const struct work_span span = {.scope = TRACE_SCOPE(NULL, NULL),
                                   .partition = options->partition};
    for (unsigned i = 0; i < iterations; i++) {
        if (i > 0)
            witness_free(witness);
        uint64_t start = clock_now_ns();
        uint64_t start_cpu = clock_cpu_ns();
        TRY(porep_synthesize_part(work, shape, &span, pool, witness, err));
        uint64_t wall = clock_now_ns() - start;
        uint64_t cpu = clock_cpu_ns() - start_cpu;
        if (i > 0 && wall >= out->synthesis_ns)
            continue;
        out->synthesis_ns = wall;
        out->synthesis_cpu_ns = cpu;
    }
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0) /* before the digests, which are not part of it */
        out->peak_rss_bytes = (uint64_t)usage.ru_maxrss << 10;
    return CUZK_OK;
}

static enum cuzk_status add_digests(const struct shape *shape, const struct witness *witness,
                                    struct pool *pool, struct cuzk_synth_report *out,
                                    struct cuzk_error *err)
{
    struct row_evaluator *evaluator;
    struct value_digests digests;
    uint64_t start = clock_now_ns();
    TRY(row_evaluator_new(shape, &evaluator, err));
    enum cuzk_status status = value_digests_make(evaluator, witness, pool, NULL, &digests, err);
    row_evaluator_free(evaluator);
    TRY(status);
    out->rows_ns = clock_now_ns() - start;
    memcpy(out->inputs_sha256, digests.inputs, 32);
    memcpy(out->aux_sha256, digests.aux, 32);
    memcpy(out->a_sha256, digests.rows[MATRIX_A], 32);
    memcpy(out->b_sha256, digests.rows[MATRIX_B], 32);
    memcpy(out->c_sha256, digests.rows[MATRIX_C], 32);
    return CUZK_OK;
}

static enum cuzk_status measure(const struct cuzk_synth_options *options, struct work *work,
                                const struct shape *shape, struct pool *pool,
                                struct cuzk_synth_report *out, struct cuzk_error *err)
{
    struct witness witness;
    TRY(synthesize(options, work, shape, pool, &witness, out, err));
    out->witness_bytes = witness_bytes(&witness);
    out->shape_bytes = shape_bytes(shape);
    out->n_rows = shape->n_rows;
    out->n_aux = shape->n_aux;
    out->n_inputs = shape->n_inputs;
    enum cuzk_status status =
        options->digests ? add_digests(shape, &witness, pool, out, err) : CUZK_OK;
    witness_free(&witness);
    return status;
}

enum cuzk_status cuzk_synth_c1(const struct cuzk_synth_options *options, const uint8_t *c1,
                               size_t c1_len, struct cuzk_synth_report *out, struct cuzk_error *err)
{
    *out = (struct cuzk_synth_report){0};
    struct work *work = NULL;
    struct shape *shape = NULL;
    uint64_t start = clock_now_ns();
    struct pool *pool = pool_new(options->threads);
    if (!pool)
        return error_set(err, CUZK_NO_MEMORY, "no memory for threads");
    enum cuzk_status status = porep_read(c1, c1_len, NULL, pool, &work, err);
    if (status == CUZK_OK)
        status = porep_check_all(work, pool, err); /* not a part of synthesis */
    uint64_t parsed = clock_now_ns();
    out->parse_ns = parsed - start;
    if (status == CUZK_OK)
        status = check_partition(work, options->partition, err);
    if (status == CUZK_OK)
        status = circuit_shape(circuit_by_id(work->circuit_id), &shape, err);
    out->shape_ns = clock_now_ns() - parsed;
    if (status == CUZK_OK)
        status = measure(options, work, shape, pool, out, err);
    out->total_ns = clock_now_ns() - start;
    shape_free(shape);
    porep_free(work);
    pool_free(pool);
    return status;
}
