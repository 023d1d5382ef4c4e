/* Proofs one by one and under load: the commands single and batch. */
#include "bench.h"
#include "exit_codes.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "rpc/message.h"

#include <cuzk/engine.h>
#include <cuzk/verify.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *outcome_text(int outcome)
{
    static const char *const texts[] = {"UNKNOWN", "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT"};
    return outcome >= 0 && outcome <= CUZK_JOB_TIMEOUT ? texts[outcome] : "UNKNOWN";
}

enum verdict { VERDICT_VALID, VERDICT_INVALID, VERDICT_UNKNOWN };

/* Verifies a returned proof with the key in the parameter folder. Only PoRep can be checked from
   what was sent. */
static enum verdict verify_answer(const struct bench_globals *globals,
                                  const struct bench_request *request,
                                  const Cuzk__V1__AwaitProofResponse *answer,
                                  struct cuzk_error *err)
{
    if (!globals->param_cache || request->kind != CUZK_POREP)
        return VERDICT_UNKNOWN;
    const struct cuzk_verify_options options = {
        .param_cache = globals->param_cache,
        .threads = 1,
        .has_sector_number = request->has_sector_number,
        .sector_number = request->sector_number,
        .has_miner_id = request->has_sector_number,
        .miner_id = request->miner_id,
    };
    enum cuzk_status status =
        cuzk_verify_c1(&options, request->payloads[0], request->payload_lens[0], answer->proof.data,
                       answer->proof.len, err);
    if (status == CUZK_OK)
        return VERDICT_VALID;
    bool says_no = status == CUZK_VERIFY_FAILED || status == CUZK_INVALID_ARGUMENT;
    return says_no ? VERDICT_INVALID : VERDICT_UNKNOWN;
}

/* --- The load --------------------------------------------------------------------------------- */

struct load {
    const struct bench_globals *globals;
    const struct load_options *options;
    struct load_result *result;
    bool quiet;
    pthread_mutex_t lock; /* over all below and over printing */
    pthread_cond_t changed;
    unsigned started, finished;
    uint64_t start_ns;
};

/* A daemon on the sim backend makes no proofs, so its jobs fail; but the times of these jobs are
   what a simulation is run for. */
static bool is_simulation(const Cuzk__V1__AwaitProofResponse *proof)
{
    return (int)proof->status == CUZK_JOB_FAILED &&
           strncmp(proof->error_message, CUZK_SIMULATION_TEXT, strlen(CUZK_SIMULATION_TEXT)) == 0;
}

static void add_times(struct load *load, const struct bench_answer *answer)
{
    struct load_result *result = load->result;
    const Cuzk__V1__AwaitProofResponse *proof = answer->message->result;
    double prove_ms = (double)proof->gpu_compute_ms;
    result->wall_s[result->timed++] = answer->wall_s;
    result->prove_ms_sum += prove_ms;
    result->queue_ms_sum += (double)proof->queue_wait_ms;
    result->synth_ms_sum += (double)proof->synthesis_ms;
    if (result->timed == 1 || prove_ms < result->prove_ms_min)
        result->prove_ms_min = prove_ms;
    if (prove_ms > result->prove_ms_max)
        result->prove_ms_max = prove_ms;
}

/* Counts a finished proof and prints its line. The caller holds the lock. */
static void record_answer(struct load *load, const struct bench_answer *answer,
                          enum verdict verdict, const struct cuzk_error *why)
{
    const Cuzk__V1__AwaitProofResponse *proof = answer->message->result;
    bool completed = (int)proof->status == CUZK_JOB_COMPLETED;
    if (completed)
        load->result->completed++;
    else
        load->result->failed++;
    if (is_simulation(proof))
        load->result->simulated++;
    if (completed && verdict == VERDICT_INVALID)
        load->result->invalid++;
    else if (completed && verdict == VERDICT_UNKNOWN)
        load->result->unverified++;
    if (completed || is_simulation(proof))
        add_times(load, answer);
    if (load->quiet)
        return;
    printf("  [%u/%u] %s \xe2\x80\x94 %.1fs (prove=%llu ms, queue=%llu ms)", load->finished,
           load->options->count, outcome_text((int)proof->status), answer->wall_s,
           (unsigned long long)proof->gpu_compute_ms, (unsigned long long)proof->queue_wait_ms);
    if (!completed)
        printf(": %s", proof->error_message);
    else if (verdict == VERDICT_INVALID)
        printf(" INVALID: %s", why->text);
    else if (verdict == VERDICT_VALID)
        printf(" verified");
    printf("\n");
    fflush(stdout);
}

/* Counts a request that the daemon refused and prints its line. The caller holds the lock. */
static void record_refusal(struct load *load, double wall_s, const struct cuzk_error *err)
{
    load->result->failed++;
    if (load->quiet)
        return;
    printf("  [%u/%u] FAILED \xe2\x80\x94 %.1fs: %s\n", load->finished, load->options->count,
           wall_s, err->text);
    fflush(stdout);
}

static void send_one(struct load *load)
{
    struct cuzk_error err = {0};
    struct bench_answer answer = {0};
    enum verdict verdict = VERDICT_UNKNOWN;
    uint8_t *bytes = NULL;
    size_t len = 0;
    uint64_t begin = clock_now_ns();
    enum cuzk_status status = bench_request_encode(&load->options->request, &bytes, &len, &err);
    if (status == CUZK_OK)
        status = bench_prove(load->globals->address, bytes, len, &answer, &err);
    double wall_s = (double)(clock_now_ns() - begin) / 1e9;
    answer.wall_s = wall_s;
    mem_free(bytes);
    if (status == CUZK_OK && (int)answer.message->result->status == CUZK_JOB_COMPLETED)
        verdict =
            verify_answer(load->globals, &load->options->request, answer.message->result, &err);
    pthread_mutex_lock(&load->lock);
    load->finished++;
    if (status == CUZK_OK)
        record_answer(load, &answer, verdict, &err);
    else
        record_refusal(load, wall_s, &err);
    pthread_cond_broadcast(&load->changed);
    pthread_mutex_unlock(&load->lock);
    if (answer.message)
        message_free(&answer.message->base);
}

static void *send_proofs(void *argument)
{
    struct load *load = argument;
    for (;;) {
        pthread_mutex_lock(&load->lock);
        bool more = load->started < load->options->count;
        if (more)
            load->started++;
        pthread_mutex_unlock(&load->lock);
        if (!more)
            return NULL;
        send_one(load);
    }
}

/* Waits for all proofs. On a terminal it prints the progress once a second, on one line that
   overwrites itself. */
static void show_progress(struct load *load)
{
    bool terminal = !load->quiet && isatty(STDERR_FILENO);
    pthread_mutex_lock(&load->lock);
    while (load->finished < load->options->count) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += 1;
        pthread_cond_timedwait(&load->changed, &load->lock, &until);
        if (terminal)
            fprintf(stderr, "\r  %.0f s: %u of %u done, %u under way \r",
                    (double)(clock_now_ns() - load->start_ns) / 1e9, load->finished,
                    load->options->count, load->started - load->finished);
    }
    pthread_mutex_unlock(&load->lock);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static enum cuzk_status send_all(const struct bench_globals *globals,
                                 const struct load_options *options, bool quiet,
                                 struct load_result *result, struct cuzk_error *err)
{
    struct load load = {.globals = globals, .options = options, .result = result, .quiet = quiet};
    unsigned threads =
        options->concurrency < options->count ? options->concurrency : options->count;
    pthread_t *ids = mem_alloc(threads, sizeof *ids);
    result->wall_s = mem_alloc(options->count, sizeof *result->wall_s);
    if (!ids || !result->wall_s) {
        mem_free(ids);
        return error_set(err, CUZK_NO_MEMORY, "no memory for %u proofs", options->count);
    }
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&load.lock, NULL);
    pthread_cond_init(&load.changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    load.start_ns = clock_now_ns();
    unsigned running = 0;
    while (running < threads && pthread_create(&ids[running], NULL, send_proofs, &load) == 0)
        running++;
    if (running > 0)
        show_progress(&load);
    for (unsigned i = 0; i < running; i++)
        pthread_join(ids[i], NULL);
    result->total_s = (double)(clock_now_ns() - load.start_ns) / 1e9;
    pthread_cond_destroy(&load.changed);
    pthread_mutex_destroy(&load.lock);
    mem_free(ids);
    if (running == 0)
        return error_set(err, CUZK_INTERNAL, "cannot start a thread");
    qsort(result->wall_s, result->timed, sizeof *result->wall_s, compare_doubles);
    return CUZK_OK;
}

/* The mark at the end is only a mark: whether it arrives does not change what was measured. */
static void mark_end(const struct bench_globals *globals, const char *label)
{
    struct cuzk_error err = {0};
    Cuzk__V1__MarkRunRequest end = CUZK__V1__MARK_RUN_REQUEST__INIT;
    end.edge = CUZK__V1__MARK_RUN_REQUEST__EDGE__END;
    if (bench_mark_run(globals->address, &end, label, &err) != CUZK_OK)
        fprintf(stderr, "cuzk-bench: the end of the run is not marked: %s\n", err.text);
}

enum cuzk_status load_run(const struct bench_globals *globals, const struct load_options *options,
                          bool quiet, struct load_result *result, struct cuzk_error *err)
{
    *result = (struct load_result){.count = options->count, .concurrency = options->concurrency};
    Cuzk__V1__MarkRunRequest start = CUZK__V1__MARK_RUN_REQUEST__INIT;
    start.edge = CUZK__V1__MARK_RUN_REQUEST__EDGE__START;
    start.count = options->count;
    start.concurrency = options->concurrency;
    start.config = bench_field(cuzk_proof_kind_name(options->request.kind));
    load_label(options, result->label);
    TRY(bench_mark_run(globals->address, &start, result->label, err));
    enum cuzk_status status = send_all(globals, options, quiet, result, err);
    mark_end(globals, result->label);
    return status;
}

/* --- Commands --------------------------------------------------------------------------------- */

static void print_result(const struct bench_answer *answer)
{
    const Cuzk__V1__AwaitProofResponse *proof = answer->message->result;
    printf("\n=== Proof Result ===\nstatus:    %s\njob_id:    %s\n",
           outcome_text((int)proof->status), proof->job_id);
    if ((int)proof->status != CUZK_JOB_COMPLETED) {
        printf("error:     %s\n", proof->error_message);
        return;
    }
    size_t shown = proof->proof.len <= 256 ? proof->proof.len : 128;
    char hex[2 * 256 + 1];
    hex_encode(proof->proof.data, shown, hex);
    printf("timings:   total=%llu ms (queue=%llu ms, srs=%llu ms, synth=%llu ms, gpu=%llu ms)\n"
           "wall time: %.0f ms\n"
           "proof:     %zu bytes (hex: %s%s)\n",
           (unsigned long long)proof->total_ms, (unsigned long long)proof->queue_wait_ms,
           (unsigned long long)proof->srs_load_ms, (unsigned long long)proof->synthesis_ms,
           (unsigned long long)proof->gpu_compute_ms, answer->wall_s * 1000, proof->proof.len, hex,
           shown < proof->proof.len ? "..." : "");
}

int command_single(const struct bench_globals *globals, int argc, char **argv)
{
    struct load_options options;
    int code = load_read_options(&options, LOAD_SINGLE, argc, argv);
    if (code >= 0)
        return code;
    struct cuzk_error err = {0};
    struct bench_answer answer = {0};
    uint8_t *bytes = NULL;
    size_t len;
    uint64_t begin = clock_now_ns();
    enum cuzk_status status = bench_request_encode(&options.request, &bytes, &len, &err);
    if (status == CUZK_OK)
        status = bench_prove(globals->address, bytes, len, &answer, &err);
    answer.wall_s = (double)(clock_now_ns() - begin) / 1e9;
    mem_free(bytes);
    if (status != CUZK_OK) {
        bench_request_free(&options.request);
        exit_with_error("cuzk-bench", &err);
        return EXIT_CODE_FAILED;
    }
    print_result(&answer);
    code = EXIT_CODE_FAILED;
    if ((int)answer.message->result->status == CUZK_JOB_COMPLETED) {
        enum verdict verdict =
            verify_answer(globals, &options.request, answer.message->result, &err);
        code = verdict == VERDICT_INVALID ? EXIT_CODE_INVALID : EXIT_CODE_OK;
        if (verdict == VERDICT_VALID)
            printf("verified:  yes\n");
        else if (verdict == VERDICT_INVALID)
            printf("verified:  NO: %s\n", err.text);
        else
            printf("verified:  not checked%s%s\n", *err.text ? ": " : "", err.text);
    }
    message_free(&answer.message->base);
    bench_request_free(&options.request);
    return code;
}

static void print_json(const struct figures *figures)
{
    struct text out = {0};
    figures_add_json(figures, &out);
    printf("%s\n", out.data ? out.data : "");
    text_free(&out);
}

int command_batch(const struct bench_globals *globals, int argc, char **argv)
{
    struct load_options options;
    int code = load_read_options(&options, LOAD_BATCH, argc, argv);
    if (code >= 0)
        return code;
    if (!globals->json)
        printf("=== Batch Benchmark ===\nproof type:  %s\ncount:       %u\nconcurrency: %u\n\n",
               cuzk_proof_kind_name(options.request.kind), options.count, options.concurrency);
    struct cuzk_error err = {0};
    struct load_result result;
    enum cuzk_status status = load_run(globals, &options, globals->json, &result, &err);
    if (status == CUZK_OK) {
        struct figures figures;
        figures_of_run(cuzk_proof_kind_name(options.request.kind), &result, &figures);
        if (globals->json)
            print_json(&figures);
        else
            figures_print(&figures);
        code = figures_exit_code(&figures);
    } else {
        code = exit_with_error("cuzk-bench", &err);
    }
    mem_free(result.wall_s);
    bench_request_free(&options.request);
    return code;
}
