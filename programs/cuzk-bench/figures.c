/* The figures of a run: from what was measured, as text, as JSON, and back from JSON. */
#include "bench.h"
#include "exit_codes.h"

#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <yajl/yajl_tree.h>

/* The value below which a share p of the ascending values lies (nearest rank). */
static double percentile(const double *values, unsigned n, double p)
{
    unsigned rank = (unsigned)(p * n + 0.999999);
    return n ? values[rank ? rank - 1 : 0] : 0;
}

void figures_of_run(const char *type, const struct load_result *r, struct figures *out)
{
    double wall_sum = 0;
    for (unsigned i = 0; i < r->timed; i++)
        wall_sum += r->wall_s[i];
    double n = r->timed ? r->timed : 1;
    *out = (struct figures){
        .count = r->count,
        .concurrency = r->concurrency,
        .completed = r->completed,
        .failed = r->failed,
        .invalid = r->invalid,
        .unverified = r->unverified,
        .simulated = r->simulated,
        .total = r->total_s,
        .wall_avg = wall_sum / n,
        .wall_min = r->timed ? r->wall_s[0] : 0,
        .wall_max = r->timed ? r->wall_s[r->timed - 1] : 0,
        .wall_p50 = percentile(r->wall_s, r->timed, 0.5),
        .wall_p95 = percentile(r->wall_s, r->timed, 0.95),
        .prove_avg = r->prove_ms_sum / n / 1000,
        .prove_min = r->prove_ms_min / 1000,
        .prove_max = r->prove_ms_max / 1000,
        .queue_avg = r->queue_ms_sum / n / 1000,
        .synth_avg = r->synth_ms_sum / n / 1000,
        .per_minute = r->timed * 60 / r->total_s,
    };
    snprintf(out->type, sizeof out->type, "%s", type);
    snprintf(out->label, sizeof out->label, "%s", r->label);
}

int figures_exit_code(const struct figures *figures)
{
    return figures->invalid ? EXIT_CODE_INVALID : figures->failed ? EXIT_CODE_FAILED : EXIT_CODE_OK;
}

void figures_print(const struct figures *f)
{
    printf("\n=== Batch Summary ===\ntotal time:    %.1fs\ncompleted:     %u\nfailed:        %u\n",
           f->total, f->completed, f->failed);
    if (f->completed + f->simulated) {
        printf("wall time:     avg=%.1fs min=%.1fs max=%.1fs p50=%.1fs p95=%.1fs\n", f->wall_avg,
               f->wall_min, f->wall_max, f->wall_p50, f->wall_p95);
        printf("prove time:    avg=%.1fs min=%.1fs max=%.1fs\n", f->prove_avg, f->prove_min,
               f->prove_max);
        printf("throughput:    %.3f proofs/min (%.1fs/proof)\n", f->per_minute, 60 / f->per_minute);
    }
    if (f->simulated)
        printf("simulated:     %u of the failed; the times are those of the simulation\n",
               f->simulated);
    printf("verified:      %u valid, %u invalid, %u not checked\n",
           f->completed - f->invalid - f->unverified, f->invalid, f->unverified);
}

void figures_add_json(const struct figures *f, struct text *out)
{
    text_add(out, "{\"type\":");
    text_add_json(out, f->type);
    text_add(out, ",\"label\":");
    text_add_json(out, f->label);
    text_add(out,
             ",\"count\":%u,\"concurrency\":%u,\"total_seconds\":%.3f,"
             "\"completed\":%u,\"failed\":%u,\"invalid\":%u,\"unverified\":%u,\"simulated\":%u,"
             "\"wall_seconds\":{\"avg\":%.3f,\"min\":%.3f,\"max\":%.3f,\"p50\":%.3f,\"p95\":%.3f},"
             "\"prove_seconds\":{\"avg\":%.3f,\"min\":%.3f,\"max\":%.3f},"
             "\"queue_seconds_avg\":%.3f,\"synthesis_seconds_avg\":%.3f,\"proofs_per_minute\":%.4f",
             f->count, f->concurrency, f->total, f->completed, f->failed, f->invalid, f->unverified,
             f->simulated, f->wall_avg, f->wall_min, f->wall_max, f->wall_p50, f->wall_p95,
             f->prove_avg, f->prove_min, f->prove_max, f->queue_avg, f->synth_avg, f->per_minute);
    if (f->explained) {
        text_add(out, ",\"utilisation\":%.4f,\"bottleneck\":", f->utilisation);
        text_add_json(out, f->bottleneck);
        text_add(out, ",\"confidence\":%.2f", f->confidence);
    }
    text_add(out, "}");
}

/* --- Back from JSON --------------------------------------------------------------------------- */

/* NaN where there is no number. */
static double number_at(yajl_val tree, const char *key, const char *inner)
{
    const char *path[] = {key, inner, NULL};
    yajl_val value = yajl_tree_get(tree, path, yajl_t_number);
    return YAJL_IS_NUMBER(value) && YAJL_IS_DOUBLE(value) ? YAJL_GET_DOUBLE(value) : (double)NAN;
}

static unsigned count_at(yajl_val tree, const char *key)
{
    double number = number_at(tree, key, NULL);
    return number >= 0 && number < 1e9 ? (unsigned)number : 0;
}

static void text_at(yajl_val tree, const char *key, char *out, size_t bytes)
{
    const char *path[] = {key, NULL};
    const char *text = YAJL_GET_STRING(yajl_tree_get(tree, path, yajl_t_string));
    snprintf(out, bytes, "%s", text ? text : "");
}

static bool read_run(yajl_val tree, struct figures *out)
{
    *out = (struct figures){
        .count = count_at(tree, "count"),
        .concurrency = count_at(tree, "concurrency"),
        .completed = count_at(tree, "completed"),
        .failed = count_at(tree, "failed"),
        .invalid = count_at(tree, "invalid"),
        .unverified = count_at(tree, "unverified"),
        .simulated = count_at(tree, "simulated"),
        .total = number_at(tree, "total_seconds", NULL),
        .wall_avg = number_at(tree, "wall_seconds", "avg"),
        .wall_p50 = number_at(tree, "wall_seconds", "p50"),
        .wall_p95 = number_at(tree, "wall_seconds", "p95"),
        .prove_avg = number_at(tree, "prove_seconds", "avg"),
        .queue_avg = number_at(tree, "queue_seconds_avg", NULL),
        .per_minute = number_at(tree, "proofs_per_minute", NULL),
    };
    text_at(tree, "type", out->type, sizeof out->type);
    text_at(tree, "label", out->label, sizeof out->label);
    return out->count && out->concurrency && out->total >= 0 && out->wall_p50 >= 0 &&
           out->wall_p95 >= 0 && out->prove_avg >= 0 && out->per_minute >= 0;
}

static enum cuzk_status read_runs(const char *path, yajl_val tree, struct figures **out,
                                  size_t *count, struct cuzk_error *err)
{
    const char *runs_path[] = {"runs", NULL};
    yajl_val runs = yajl_tree_get(tree, runs_path, yajl_t_array);
    size_t n = runs ? runs->u.array.len : 1;
    struct figures *figures = mem_alloc(n, sizeof *figures);
    if (!figures)
        return error_set(err, CUZK_NO_MEMORY, "no memory for %zu runs", n);
    for (size_t i = 0; i < n; i++) {
        if (read_run(runs ? runs->u.array.values[i] : tree, &figures[i]))
            continue;
        mem_free(figures);
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "%s: run %zu: expected the output of 'cuzk-bench --json batch' or 'sweep'",
                         path, i + 1);
    }
    *out = figures;
    *count = n;
    return CUZK_OK;
}

enum cuzk_status figures_read(const char *path, struct figures **out, size_t *count,
                              struct cuzk_error *err)
{
    const size_t bytes_max = (size_t)16 << 20;
    uint8_t *data;
    size_t len;
    char reason[128];
    TRY(file_read(path, bytes_max, &data, &len, err));
    yajl_val tree = yajl_tree_parse((const char *)data, reason, sizeof reason);
    mem_free(data);
    if (!tree)
        return error_set(err, CUZK_INVALID_ARGUMENT, "%s: not JSON", path);
    enum cuzk_status status = read_runs(path, tree, out, count, err);
    yajl_tree_free(tree);
    return status;
}
