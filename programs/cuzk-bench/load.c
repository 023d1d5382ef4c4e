/* Proofs one by one and under load: the commands single and batch. */
#include "bench.h"
#include "exit_codes.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "rpc/message.h"

#include <cuzk/engine.h>
#include <cuzk/prove.h>
#include <getopt.h>
#include <pthread.h>
#include <stdlib.h>
#include <stdio.h>
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
    struct cuzk_prove_options options = {
        .param_cache = globals->param_cache,
        .threads = 1,
        .has_sector_number = request->has_sector_number,
        .sector_number = request->sector_number,
        .has_miner_id = request->has_sector_number,
        .miner_id = request->miner_id,
    };
    enum cuzk_status status =
        cuzk_verify_c1(&options, request->payloads[0], request->payload_lens[0], answer->proof.data,
                       answer->proof.len, NULL, err);
    if (status == CUZK_OK)
        return VERDICT_VALID;
    bool says_no = status == CUZK_VERIFY_FAILED || status == CUZK_INVALID_ARGUMENT;
    return says_no ? VERDICT_INVALID : VERDICT_UNKNOWN;
}

/* ---- the load ---------------------------------------------------------------------------------
 */

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

static void note_completed(struct load *load, const struct bench_answer *answer)
{
    struct load_result *result = load->result;
    const Cuzk__V1__AwaitProofResponse *proof = answer->message->result;
    double prove_ms = (double)proof->gpu_compute_ms;
    result->wall_s[result->completed++] = answer->wall_s;
    result->prove_ms_sum += prove_ms;
    result->queue_ms_sum += (double)proof->queue_wait_ms;
    result->synth_ms_sum += (double)proof->synthesis_ms;
    if (result->completed == 1 || prove_ms < result->prove_ms_min)
        result->prove_ms_min = prove_ms;
    if (prove_ms > result->prove_ms_max)
        result->prove_ms_max = prove_ms;
}

/* One finished proof under the lock: counts it and prints its line. */
static void note_answer(struct load *load, const struct bench_answer *answer, enum verdict verdict,
                        const struct cuzk_error *why)
{
    const Cuzk__V1__AwaitProofResponse *proof = answer->message->result;
    bool completed = (int)proof->status == CUZK_JOB_COMPLETED;
    if (!completed)
        load->result->failed++;
    else if (verdict == VERDICT_INVALID)
        load->result->invalid++;
    else if (verdict == VERDICT_UNKNOWN)
        load->result->unverified++;
    if (completed)
        note_completed(load, answer);
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

static void note_refused(struct load *load, double wall_s, const struct cuzk_error *err)
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
        note_answer(load, &answer, verdict, &err);
    else
        note_refused(load, wall_s, &err);
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

/* On a terminal: says once a second what is under way, on one line that overwrites itself. */
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

enum cuzk_status load_run(const struct bench_globals *globals, const struct load_options *options,
                          bool quiet, struct load_result *result, struct cuzk_error *err)
{
    *result = (struct load_result){.count = options->count};
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
    qsort(result->wall_s, result->completed, sizeof *result->wall_s, compare_doubles);
    return CUZK_OK;
}

/* ---- flags ------------------------------------------------------------------------------------
 */

static enum cuzk_status parse_number(const char *flag, const char *text, uint64_t least,
                                     uint64_t most, uint64_t *out, struct cuzk_error *err)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || value < least || value > most)
        return error_set(err, CUZK_INVALID_ARGUMENT, "--%s %s: expected a number from %llu to %llu",
                         flag, text, (unsigned long long)least, (unsigned long long)most);
    *out = value;
    return CUZK_OK;
}

static enum cuzk_status parse_digest(const char *flag, const char *text, uint8_t out[32],
                                     bool *given, struct cuzk_error *err)
{
    *given = true;
    if (hex_decode(text, out, 32))
        return CUZK_OK;
    return error_set(err, CUZK_INVALID_ARGUMENT, "--%s: expected 64 hexadecimal digits", flag);
}

struct load_flags {
    struct load_options *options;
    const char *c1;
    const char *vanilla;
};

static enum cuzk_status take_flag(struct load_flags *flags, int option, const char *name,
                                  const char *value, struct cuzk_error *err)
{
    struct bench_request *request = &flags->options->request;
    uint64_t number = 0;
    switch (option) {
    case 't':
        request->kind = bench_kind(value);
        if (request->kind)
            return CUZK_OK;
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "--type %s: expected porep, snap, wpost or winning", value);
    case 'C':
        flags->c1 = value;
        return CUZK_OK;
    case 'V':
        flags->vanilla = value;
        return CUZK_OK;
    case 'S':
        request->has_sector_number = true;
        return parse_number(name, value, 0, UINT64_MAX, &request->sector_number, err);
    case 'M':
        return parse_number(name, value, 0, UINT64_MAX, &request->miner_id, err);
    case 'R':
        return parse_number(name, value, 0, UINT64_MAX, &request->registered_proof, err);
    case 'P':
        TRY(parse_number(name, value, 0, UINT32_MAX, &number, err));
        request->partition = (uint32_t)number;
        return CUZK_OK;
    case 'c':
        TRY(parse_number(name, value, 1, 1000000, &number, err));
        flags->options->count = (unsigned)number;
        return CUZK_OK;
    case 'j':
        TRY(parse_number(name, value, 1, 1000, &number, err));
        flags->options->concurrency = (unsigned)number;
        return CUZK_OK;
    case 'r':
        return parse_digest(name, value, request->randomness, &request->has_randomness, err);
    case 'o':
        return parse_digest(name, value, request->comm_r_old, &request->has_comm_r_old, err);
    case 'n':
        return parse_digest(name, value, request->comm_r_new, &request->has_comm_r_new, err);
    default:
        return parse_digest(name, value, request->comm_d_new, &request->has_comm_d_new, err);
    }
}

static void print_load_usage(FILE *out, bool batch)
{
    fprintf(
        out,
        "Usage: cuzk-bench [-a ADDRESS] %s -t TYPE --c1 FILE [options]\n\n"
        "%s\n\n"
        "  -t, --type TYPE            porep, snap, wpost or winning\n"
        "      --c1 FILE              porep: the C1 JSON, or its wrapper with the sector number\n"
        "      --vanilla FILE         others: JSON array of base64 vanilla proofs, or one raw "
        "proof\n"
        "      --sector-num N         sector (default: from the wrapper)\n"
        "      --miner-id N           miner (default: 1000)\n"
        "      --registered-proof N   number of the registered proof (default: 0)\n"
        "      --randomness HEX, --comm-r-old HEX, --comm-r-new HEX, --comm-d-new HEX\n",
        batch ? "batch" : "single",
        batch ? "Sends proofs, some at a time, and prints a line for each and a summary."
              : "Sends one proof and prints its timings and bytes.");
    if (batch)
        fputs("  -c, --count N              proofs to send (default: 3)\n"
              "  -j, --concurrency N        of them at the same time (default: 1)\n",
              out);
    else
        fputs("      --partition N          window post: partition index (default: 0)\n", out);
    fputs(
        "\nEvery proof of a porep is verified here, if the circuit's .vk file is in "
        "--param-cache.\n"
        "Exit codes: 0 all completed, 1 some failed, 2 usage, 6 a returned proof did not verify.\n",
        out);
}

/* Fills options from the flags; returns an exit code, or −1 to go on. */
static int read_load_options(struct load_options *options, bool batch, int argc, char **argv)
{
    static const struct option flags[] = {
        {"type", required_argument, NULL, 't'},
        {"c1", required_argument, NULL, 'C'},
        {"vanilla", required_argument, NULL, 'V'},
        {"registered-proof", required_argument, NULL, 'R'},
        {"sector-num", required_argument, NULL, 'S'},
        {"miner-id", required_argument, NULL, 'M'},
        {"randomness", required_argument, NULL, 'r'},
        {"comm-r-old", required_argument, NULL, 'o'},
        {"comm-r-new", required_argument, NULL, 'n'},
        {"comm-d-new", required_argument, NULL, 'd'},
        {"help", no_argument, NULL, 'h'},
        {"partition", required_argument, NULL, 'P'}, /* single only: the last two are cut off */
        {"count", required_argument, NULL, 'c'},
        {"concurrency", required_argument, NULL, 'j'},
        {NULL, 0, NULL, 0},
    };
    *options = (struct load_options){.count = batch ? 3 : 1, .concurrency = 1};
    options->request.miner_id = 1000;
    struct load_flags state = {.options = options};
    struct cuzk_error err = {0};
    enum cuzk_status status = CUZK_OK;
    int option, index = 0;
    optind = 1;
    while (status == CUZK_OK &&
           (option = getopt_long(argc, argv, batch ? "t:c:j:h" : "t:h", flags, &index)) != -1) {
        if (option == 'h')
            return print_load_usage(stdout, batch), EXIT_CODE_OK;
        if (option == '?')
            return EXIT_CODE_USAGE;
        const char *name = option == 't'   ? "type"
                           : option == 'c' ? "count"
                           : option == 'j' ? "concurrency"
                                           : flags[index].name;
        status = take_flag(&state, option, name, optarg, &err);
    }
    struct bench_request *request = &options->request;
    if (status == CUZK_OK && (optind < argc || !request->kind || (!state.c1 && !state.vanilla)))
        status = error_set(&err, CUZK_INVALID_ARGUMENT,
                           "--type and --c1 (or --vanilla) are needed; see --help");
    if (status == CUZK_OK && state.c1)
        status = bench_read_c1(request, state.c1, &err);
    if (status == CUZK_OK && state.vanilla)
        status = bench_read_vanilla(request, state.vanilla, &err);
    if (status == CUZK_OK)
        return -1;
    bench_request_free(request);
    exit_with_error("cuzk-bench", &err);
    return EXIT_CODE_USAGE;
}

/* ---- commands ---------------------------------------------------------------------------------
 */

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
    int code = read_load_options(&options, false, argc, argv);
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

/* The value below which a share p of the ascending values lies (nearest rank). */
static double percentile(const double *values, unsigned n, double p)
{
    unsigned rank = (unsigned)(p * n + 0.999999);
    return n ? values[rank ? rank - 1 : 0] : 0;
}

static void print_summary(const struct load_result *r)
{
    double wall_sum = 0;
    for (unsigned i = 0; i < r->completed; i++)
        wall_sum += r->wall_s[i];
    printf("\n=== Batch Summary ===\ntotal time:    %.1fs\ncompleted:     %u\nfailed:        %u\n",
           r->total_s, r->completed, r->failed);
    if (r->completed) {
        double n = r->completed;
        printf("wall time:     avg=%.1fs min=%.1fs max=%.1fs p50=%.1fs p95=%.1fs\n", wall_sum / n,
               r->wall_s[0], r->wall_s[r->completed - 1], percentile(r->wall_s, r->completed, 0.5),
               percentile(r->wall_s, r->completed, 0.95));
        printf("prove time:    avg=%.1fs min=%.1fs max=%.1fs\n", r->prove_ms_sum / n / 1000,
               r->prove_ms_min / 1000, r->prove_ms_max / 1000);
        printf("throughput:    %.3f proofs/min (%.1fs/proof)\n", n * 60 / r->total_s,
               r->total_s / n);
    }
    printf("verified:      %u valid, %u invalid, %u not checked\n",
           r->completed - r->invalid - r->unverified, r->invalid, r->unverified);
}

static void print_summary_json(const struct load_options *options, const struct load_result *r)
{
    double wall_sum = 0;
    for (unsigned i = 0; i < r->completed; i++)
        wall_sum += r->wall_s[i];
    double n = r->completed ? r->completed : 1;
    printf(
        "{\"type\":\"%s\",\"count\":%u,\"concurrency\":%u,\"total_seconds\":%.3f,"
        "\"completed\":%u,\"failed\":%u,\"invalid\":%u,\"unverified\":%u,"
        "\"wall_seconds\":{\"avg\":%.3f,\"min\":%.3f,\"max\":%.3f,\"p50\":%.3f,\"p95\":%.3f},"
        "\"prove_seconds\":{\"avg\":%.3f,\"min\":%.3f,\"max\":%.3f},"
        "\"queue_seconds_avg\":%.3f,\"synthesis_seconds_avg\":%.3f,\"proofs_per_minute\":%.4f}\n",
        bench_kind_text(options->request.kind), r->count, options->concurrency, r->total_s,
        r->completed, r->failed, r->invalid, r->unverified, wall_sum / n,
        r->completed ? r->wall_s[0] : 0, r->completed ? r->wall_s[r->completed - 1] : 0,
        percentile(r->wall_s, r->completed, 0.5), percentile(r->wall_s, r->completed, 0.95),
        r->prove_ms_sum / n / 1000, r->prove_ms_min / 1000, r->prove_ms_max / 1000,
        r->queue_ms_sum / n / 1000, r->synth_ms_sum / n / 1000, r->completed * 60 / r->total_s);
}

int command_batch(const struct bench_globals *globals, int argc, char **argv)
{
    struct load_options options;
    int code = read_load_options(&options, true, argc, argv);
    if (code >= 0)
        return code;
    if (!globals->json)
        printf("=== Batch Benchmark ===\nproof type:  %s\ncount:       %u\nconcurrency: %u\n\n",
               bench_kind_text(options.request.kind), options.count, options.concurrency);
    struct cuzk_error err = {0};
    struct load_result result;
    enum cuzk_status status = load_run(globals, &options, globals->json, &result, &err);
    if (status == CUZK_OK) {
        if (globals->json)
            print_summary_json(&options, &result);
        else
            print_summary(&result);
        code = result.invalid ? EXIT_CODE_INVALID : result.failed ? EXIT_CODE_FAILED : EXIT_CODE_OK;
    } else {
        code = exit_with_error("cuzk-bench", &err);
    }
    mem_free(result.wall_s);
    bench_request_free(&options.request);
    return code;
}
