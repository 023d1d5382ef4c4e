/* cuzk-bench compare: two results of sweep or batch, run by run. */
#include "bench.h"
#include "exit_codes.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Runs of the same size on both sides. Ratios are B to A. */
struct pair {
    const struct figures *a, *b;
    double throughput, p50, p95, prove;
};

struct comparison {
    struct pair *pairs;
    size_t count;
    double throughput; /* geometric mean */
    double p95;
    char verdict[512];
};

static double ratio(double b, double a)
{
    return a > 0 && b > 0 ? b / a : 1;
}

static const struct figures *find_partner(const struct figures *a, size_t count_a,
                                          const struct figures *b, size_t count_b)
{
    for (size_t i = 0; i < count_b; i++) {
        if (b[i].count == a->count && b[i].concurrency == a->concurrency)
            return &b[i];
    }
    return count_a == 1 && count_b == 1 ? b : NULL;
}

static const struct figures *best_run(const struct figures *runs, size_t count)
{
    const struct figures *best = runs;
    for (size_t i = 1; i < count; i++) {
        if (runs[i].per_minute > best->per_minute)
            best = &runs[i];
    }
    return best;
}

/* A few proofs say little: their time varies by some percent from run to run anyway. */
enum { PROOFS_MIN = 5 };
static const double same = 0.03;

static void write_verdict(struct comparison *c, const struct figures *a, size_t count_a,
                          const struct figures *b, size_t count_b)
{
    unsigned fewest = UINT32_MAX;
    for (size_t i = 0; i < c->count; i++) {
        fewest = c->pairs[i].a->count < fewest ? c->pairs[i].a->count : fewest;
        fewest = c->pairs[i].b->count < fewest ? c->pairs[i].b->count : fewest;
    }
    const struct figures *best_a = best_run(a, count_a), *best_b = best_run(b, count_b);
    char first[96];
    if (fabs(c->throughput - 1) < same)
        snprintf(first, sizeof first, "No difference in throughput beyond %.0f %%", 100 * same);
    else
        snprintf(first, sizeof first, "B has %.2f times the throughput of A: it is %s",
                 c->throughput, c->throughput > 1 ? "faster" : "slower");
    snprintf(
        c->verdict, sizeof c->verdict,
        "%s (mean over %zu run%s; p95 of the wall time %.2fx). Best: A %.3f proofs/min with %u "
        "at once, B %.3f with %u.%s",
        first, c->count, c->count > 1 ? "s" : "", c->p95, best_a->per_minute, best_a->concurrency,
        best_b->per_minute, best_b->concurrency,
        fewest < PROOFS_MIN ? " Uncertain: some runs have fewer than 5 proofs." : "");
}

static bool compare_runs(const struct figures *a, size_t count_a, const struct figures *b,
                         size_t count_b, struct comparison *out)
{
    double throughput = 0, p95 = 0;
    *out = (struct comparison){.pairs = mem_alloc(count_a, sizeof *out->pairs)};
    if (!out->pairs)
        return false;
    for (size_t i = 0; i < count_a; i++) {
        const struct figures *other = find_partner(&a[i], count_a, b, count_b);
        if (!other)
            continue;
        struct pair *pair = &out->pairs[out->count++];
        *pair = (struct pair){.a = &a[i],
                              .b = other,
                              .throughput = ratio(other->per_minute, a[i].per_minute),
                              .p50 = ratio(other->wall_p50, a[i].wall_p50),
                              .p95 = ratio(other->wall_p95, a[i].wall_p95),
                              .prove = ratio(other->prove_avg, a[i].prove_avg)};
        throughput += log(pair->throughput);
        p95 += log(pair->p95);
    }
    if (out->count) {
        out->throughput = exp(throughput / (double)out->count);
        out->p95 = exp(p95 / (double)out->count);
        write_verdict(out, a, count_a, b, count_b);
    }
    return true;
}

static void print_table(const struct comparison *c, bool markdown, struct text *out)
{
    static const char *const heads[] = {"count",   "at once",  "proofs/min A", "B",       "B/A",
                                        "p50 s A", "B",        "B/A",          "p95 s A", "B",
                                        "B/A",     "prove B/A"};
    struct table table = {0};
    table_row(&table);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        table_cell(&table, "%s", heads[i]);
    for (size_t i = 0; i < c->count; i++) {
        const struct pair *p = &c->pairs[i];
        table_row(&table);
        table_cell(&table, "%u", p->a->count);
        table_cell(&table, "%u", p->a->concurrency);
        table_cell(&table, "%.3f", p->a->per_minute);
        table_cell(&table, "%.3f", p->b->per_minute);
        table_cell(&table, "%.2f", p->throughput);
        table_cell(&table, "%.1f", p->a->wall_p50);
        table_cell(&table, "%.1f", p->b->wall_p50);
        table_cell(&table, "%.2f", p->p50);
        table_cell(&table, "%.1f", p->a->wall_p95);
        table_cell(&table, "%.1f", p->b->wall_p95);
        table_cell(&table, "%.2f", p->p95);
        table_cell(&table, "%.2f", p->prove);
    }
    table_render(&table, markdown, out);
    text_add(out, "\n%s\n", c->verdict);
    table_free(&table);
}

static void print_json(const struct comparison *c, struct text *out)
{
    text_add(out, "{\"runs\":[");
    for (size_t i = 0; i < c->count; i++) {
        const struct pair *p = &c->pairs[i];
        text_add(out,
                 "%s{\"count\":%u,\"concurrency\":%u,\"throughput_ratio\":%.4f,"
                 "\"p50_ratio\":%.4f,\"p95_ratio\":%.4f,\"prove_ratio\":%.4f}",
                 i ? "," : "", p->a->count, p->a->concurrency, p->throughput, p->p50, p->p95,
                 p->prove);
    }
    text_add(out, "],\"throughput_ratio\":%.4f,\"p95_ratio\":%.4f,\"verdict\":", c->throughput,
             c->p95);
    text_add_json(out, c->verdict);
    text_add(out, "}\n");
}

static int compare_files(const struct bench_globals *globals, bool markdown, char **paths)
{
    struct figures *runs[2] = {NULL, NULL};
    size_t counts[2] = {0, 0};
    struct comparison comparison = {0};
    struct text out = {0};
    struct cuzk_error err = {0};
    int code = EXIT_CODE_FAILED;
    for (size_t i = 0; i < 2; i++) {
        if (figures_read(paths[i], &runs[i], &counts[i], &err) != CUZK_OK) {
            code = exit_with_error("cuzk-bench", &err);
            goto out;
        }
    }
    bool ok = compare_runs(runs[0], counts[0], runs[1], counts[1], &comparison);
    if (ok && comparison.count == 0) {
        fprintf(stderr, "cuzk-bench: no run of %s has the size of one of %s\n", paths[0], paths[1]);
        goto out;
    }
    if (ok && globals->json)
        print_json(&comparison, &out);
    else if (ok)
        print_table(&comparison, markdown, &out);
    if (ok && !out.failed) {
        printf("%s", out.data);
        code = EXIT_CODE_OK;
    } else {
        fprintf(stderr, "cuzk-bench: no memory to compare\n");
    }
out:
    text_free(&out);
    mem_free(comparison.pairs);
    mem_free(runs[0]);
    mem_free(runs[1]);
    return code;
}

int command_compare(const struct bench_globals *globals, int argc, char **argv)
{
    static const char usage[] =
        "Usage: cuzk-bench [--json] compare [--markdown] A.json B.json\n\n"
        "A and B are outputs of 'cuzk-bench --json sweep' or 'cuzk-bench --json batch'. Runs of\n"
        "the same count and concurrency are set side by side, with ratios B to A, and a last line\n"
        "says which side is faster. Exit codes: 0 compared, 1 nothing to compare, 2 usage.\n";
    bool markdown = argc > 1 && strcmp(argv[1], "--markdown") == 0;
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(usage, stdout);
        return EXIT_CODE_OK;
    }
    if (argc != (markdown ? 4 : 3)) {
        fputs(usage, stderr);
        return EXIT_CODE_USAGE;
    }
    return compare_files(globals, markdown, argv + (markdown ? 2 : 1));
}
