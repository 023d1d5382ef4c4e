/* Cost of the timeline: nanoseconds an event on the thread that emits it, and CPU seconds and
   memory for explaining a log of many lines. Minimum, median and maximum of several runs. Not a
   test: figures depend on the machine.

   bench_timeline [--json] [--runs N] [--lines N] */
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"
#include "waterfall/analyse.h"
#include "waterfall/render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 32, BATCH = 1024, BATCHES = 200 };

struct options {
    bool json;
    unsigned runs;
    uint64_t lines;
};

struct samples {
    double values[RUNS_MAX];
    unsigned count;
};

static int compare_samples(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void report(const struct options *options, const char *name, const char *unit,
                   struct samples *samples)
{
    qsort(samples->values, samples->count, sizeof samples->values[0], compare_samples);
    printf(options->json
               ? "{\"bench\":\"%s\",\"unit\":\"%s\",\"min\":%.3f,\"median\":%.3f,\"max\":%.3f}\n"
               : "%-24s %8s  min %9.3f  median %9.3f  max %9.3f\n",
           name, unit, samples->values[0], samples->values[samples->count / 2],
           samples->values[samples->count - 1]);
}

/* Batches fit into the ring and are flushed outside the measured time, so nothing is dropped. */
static double emit_ns(bool labelled)
{
    struct trace *trace;
    struct trace_options options = {.fd = -1, .history_events = 1};
    CHECK(trace_create(&options, &trace, NULL) == CUZK_OK);
    struct trace_scope scope = {trace, labelled ? "0b8b6f4e-66a4-4a6c-9d0c-0f3f0ab0c1d2" : NULL, 3,
                                1, 0};
    uint64_t time = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
        uint64_t start = clock_now_ns();
        for (int i = 0; i < BATCH; i++)
            trace_emit(&scope, TRACE_GPU_END, 4262);
        time += clock_now_ns() - start;
        trace_flush(trace);
    }
    CHECK(trace_dropped(trace) == 0);
    trace_destroy(trace);
    return (double)time / (BATCH * BATCHES);
}

static void add_line(struct text *log, const char *event, unsigned long n, unsigned long after,
                     const char *detail)
{
    unsigned long worker = n % 2;
    text_add(log, "TIMELINE,%lu,%s,job-%lu,", 4000 * n + after, event, n / 10);
    if (strncmp(event, "GPU_", 4) == 0 && strcmp(event, "GPU_QUEUE") != 0)
        text_add(log, "worker=%lu,", worker);
    text_add(log, "partition=%lu%s\n", n % 10, detail);
}

/* A log of one card with three synthesis workers, ten partitions a proof, in the order of time:
   partition n begins at 4 n seconds. */
static void make_log(uint64_t lines, struct text *log)
{
    uint64_t partitions = lines / 6 + 1;
    for (unsigned long n = 0; n < partitions + 4; n++) {
        if (n >= 4 && n - 4 < partitions)
            add_line(log, "GPU_END", n - 4, 14950, ",gpu_ms=3900");
        if (n >= 3 && n - 3 < partitions) {
            add_line(log, "SYNTH_END", n - 3, 11000, ",synth_ms=11000");
            add_line(log, "GPU_QUEUE", n - 3, 11000, "");
            add_line(log, "GPU_PICKUP", n - 3, 11001, "");
            add_line(log, "GPU_START", n - 3, 11050, "");
        }
        if (n < partitions)
            add_line(log, "SYNTH_START", n, 0, "");
    }
    CHECK(!log->failed);
}

static double explain_cpu_s(const struct text *text, size_t *peak_bytes)
{
    struct waterfall_log log = {0};
    struct waterfall_report explained = {0};
    struct waterfall_style style = {0};
    struct text out = {0};
    size_t before = mem_used_bytes();
    mem_reset_peak();
    uint64_t start = clock_cpu_ns();
    CHECK(waterfall_log_read_bytes(&log, text->data, text->len, NULL) == CUZK_OK);
    CHECK(waterfall_analyse(&log, NULL, &explained, NULL) == CUZK_OK);
    waterfall_render_text(&explained, &style, &out);
    double time = (double)(clock_cpu_ns() - start) / 1e9;
    *peak_bytes = mem_peak_bytes() - before;
    CHECK(explained.job_count > 0 && explained.unpaired_count == 0);
    text_free(&out);
    waterfall_report_free(&explained);
    waterfall_log_free(&log);
    return time;
}

static bool parse_arguments(int argc, char **argv, struct options *options)
{
    *options = (struct options){.runs = 5, .lines = 1000000};
    uint64_t runs = options->runs;
    bool good = true;
    for (int i = 1; i < argc && good; i++) {
        if (strcmp(argv[i], "--json") == 0)
            options->json = true;
        else if (strcmp(argv[i], "--runs") == 0 && i + 1 < argc)
            good = number_parse(argv[++i], 1, RUNS_MAX, &runs);
        else if (strcmp(argv[i], "--lines") == 0 && i + 1 < argc)
            good = number_parse(argv[++i], 1, UINT32_MAX, &options->lines);
        else
            good = false;
    }
    options->runs = (unsigned)runs;
    return good;
}

int main(int argc, char **argv)
{
    struct options options;
    struct samples bare = {.count = 0}, labelled = {.count = 0}, explained = {.count = 0};
    struct samples memory = {.count = 0};
    struct text log = {0};
    if (!parse_arguments(argc, argv, &options)) {
        fprintf(stderr, "usage: bench_timeline [--json] [--runs N] [--lines N]\n");
        return 2;
    }
    make_log(options.lines, &log);
    for (unsigned i = 0; i < options.runs; i++) {
        size_t peak_bytes;
        bare.values[bare.count++] = emit_ns(false);
        labelled.values[labelled.count++] = emit_ns(true);
        explained.values[explained.count++] = explain_cpu_s(&log, &peak_bytes);
        memory.values[memory.count++] = (double)peak_bytes / (1 << 20);
    }
    report(&options, "emit", "ns", &bare);
    report(&options, "emit with job id", "ns", &labelled);
    report(&options, "explain the log", "CPU s", &explained);
    report(&options, "memory for it", "MiB", &memory);
    text_free(&log);
    return 0;
}
