/* Commands for a running daemon: status, metrics, preload, evict, cancel. */
#include "bench.h"
#include "exit_codes.h"

#include "rpc/message.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define MIB(bytes) ((unsigned long long)((bytes) >> 20))

/* Finds the value of the one flag that a command has, or its only positional argument. Returns an
   exit code, or −1 to go on. */
static int read_one_argument(int argc, char **argv, const char *flag, char letter,
                             const char *usage, const char **value)
{
    const struct option flags[] = {{flag, required_argument, NULL, letter},
                                   {"help", no_argument, NULL, 'h'},
                                   {NULL, 0, NULL, 0}};
    const char letters[] = {letter, ':', 'h', '\0'};
    int option;
    *value = NULL;
    optind = 1;
    while ((option = getopt_long(argc, argv, letters, flags, NULL)) != -1) {
        if (option == 'h') {
            printf("Usage: cuzk-bench [-a ADDRESS] %s\n", usage);
            return EXIT_CODE_OK;
        }
        if (option == '?')
            return EXIT_CODE_USAGE;
        *value = optarg;
    }
    if (!*value && optind + 1 == argc)
        *value = argv[optind];
    if (*value)
        return -1;
    fprintf(stderr, "cuzk-bench: usage: cuzk-bench [-a ADDRESS] %s\n", usage);
    return EXIT_CODE_USAGE;
}

static int read_no_arguments(int argc, char **argv, const char *usage)
{
    if (argc <= 1)
        return -1;
    bool help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;
    fprintf(help ? stdout : stderr, "Usage: cuzk-bench [-a ADDRESS] %s\n", usage);
    return help ? EXIT_CODE_OK : EXIT_CODE_USAGE;
}

static int print_failure(const struct cuzk_error *err)
{
    exit_with_error("cuzk-bench", err);
    return EXIT_CODE_FAILED;
}

static void print_status(const Cuzk__V1__GetStatusResponse *status)
{
    printf("uptime:     %llu s\ncompleted:  %llu\nfailed:     %llu\nmemory:     %llu MiB of %llu "
           "MiB\n",
           (unsigned long long)status->uptime_seconds,
           (unsigned long long)status->total_proofs_completed,
           (unsigned long long)status->total_proofs_failed, MIB(status->pinned_memory_bytes),
           MIB(status->pinned_memory_limit_bytes));
    if (status->n_gpus)
        printf("Devices:\n");
    for (size_t i = 0; i < status->n_gpus; i++) {
        const Cuzk__V1__GPUStatus *gpu = status->gpus[i];
        printf("  [%u] %s \xe2\x80\x94 %llu MiB / %llu MiB \xe2\x80\x94 ", gpu->ordinal, gpu->name,
               MIB(gpu->vram_free_bytes), MIB(gpu->vram_total_bytes));
        if (*gpu->current_job_id)
            printf("proving %s (%s)\n", gpu->current_proof_kind, gpu->current_job_id);
        else
            printf("idle\n");
    }
    if (status->n_loaded_srs)
        printf("Loaded SRS:\n");
    for (size_t i = 0; i < status->n_loaded_srs; i++)
        printf("  %s \xe2\x80\x94 %llu MiB, %u users\n", status->loaded_srs[i]->circuit_id,
               MIB(status->loaded_srs[i]->size_bytes), status->loaded_srs[i]->ref_count);
    printf("Queues:\n");
    for (size_t i = 0; i < status->n_queues; i++)
        printf("  %s: %u pending, %u in progress\n", status->queues[i]->proof_kind,
               status->queues[i]->pending, status->queues[i]->in_progress);
}

int command_status(const struct bench_globals *globals, int argc, char **argv)
{
    int code = read_no_arguments(argc, argv, "status");
    if (code >= 0)
        return code;
    Cuzk__V1__GetStatusRequest request = CUZK__V1__GET_STATUS_REQUEST__INIT;
    ProtobufCMessage *response;
    struct cuzk_error err = {0};
    if (bench_call(globals->address, "GetStatus", &request.base,
                   &cuzk__v1__get_status_response__descriptor, &response, &err) != CUZK_OK)
        return print_failure(&err);
    print_status((Cuzk__V1__GetStatusResponse *)(void *)response);
    message_free(response);
    return EXIT_CODE_OK;
}

int command_metrics(const struct bench_globals *globals, int argc, char **argv)
{
    int code = read_no_arguments(argc, argv, "metrics");
    if (code >= 0)
        return code;
    Cuzk__V1__GetMetricsRequest request = CUZK__V1__GET_METRICS_REQUEST__INIT;
    ProtobufCMessage *response;
    struct cuzk_error err = {0};
    if (bench_call(globals->address, "GetMetrics", &request.base,
                   &cuzk__v1__get_metrics_response__descriptor, &response, &err) != CUZK_OK)
        return print_failure(&err);
    fputs(((Cuzk__V1__GetMetricsResponse *)(void *)response)->prometheus_text, stdout);
    message_free(response);
    return EXIT_CODE_OK;
}

int command_preload(const struct bench_globals *globals, int argc, char **argv)
{
    const char *id;
    int code = read_one_argument(argc, argv, "circuit-id", 'c',
                                 "preload -c CIRCUIT (like porep-32g)", &id);
    if (code >= 0)
        return code;
    Cuzk__V1__PreloadSrsRequest request = CUZK__V1__PRELOAD_SRS_REQUEST__INIT;
    request.circuit_id = bench_field(id);
    ProtobufCMessage *response;
    struct cuzk_error err = {0};
    if (bench_call(globals->address, "PreloadSRS", &request.base,
                   &cuzk__v1__preload_srs_response__descriptor, &response, &err) != CUZK_OK)
        return print_failure(&err);
    const Cuzk__V1__PreloadSrsResponse *loaded = (Cuzk__V1__PreloadSrsResponse *)(void *)response;
    if (loaded->already_loaded)
        printf("%s already loaded\n", id);
    else
        printf("%s loaded in %llu ms\n", id, (unsigned long long)loaded->load_time_ms);
    message_free(response);
    return EXIT_CODE_OK;
}

int command_evict(const struct bench_globals *globals, int argc, char **argv)
{
    const char *id;
    int code =
        read_one_argument(argc, argv, "circuit-id", 'c', "evict -c CIRCUIT (like porep-32g)", &id);
    if (code >= 0)
        return code;
    Cuzk__V1__EvictSrsRequest request = CUZK__V1__EVICT_SRS_REQUEST__INIT;
    request.circuit_id = bench_field(id);
    ProtobufCMessage *response;
    struct cuzk_error err = {0};
    if (bench_call(globals->address, "EvictSRS", &request.base,
                   &cuzk__v1__evict_srs_response__descriptor, &response, &err) != CUZK_OK)
        return print_failure(&err);
    const Cuzk__V1__EvictSrsResponse *evicted = (Cuzk__V1__EvictSrsResponse *)(void *)response;
    if (evicted->was_loaded)
        printf("%s evicted, %llu MiB freed\n", id, MIB(evicted->freed_bytes));
    else
        printf("%s was not loaded\n", id);
    message_free(response);
    return EXIT_CODE_OK;
}

int command_cancel(const struct bench_globals *globals, int argc, char **argv)
{
    const char *id;
    int code = read_one_argument(argc, argv, "job-id", 'i', "cancel JOB", &id);
    if (code >= 0)
        return code;
    Cuzk__V1__CancelProofRequest request = CUZK__V1__CANCEL_PROOF_REQUEST__INIT;
    request.job_id = bench_field(id);
    ProtobufCMessage *response;
    struct cuzk_error err = {0};
    if (bench_call(globals->address, "CancelProof", &request.base,
                   &cuzk__v1__cancel_proof_response__descriptor, &response, &err) != CUZK_OK)
        return print_failure(&err);
    bool was_running = ((Cuzk__V1__CancelProofResponse *)(void *)response)->was_running;
    printf("%s %s\n", id, was_running ? "cancelled" : "was not running");
    message_free(response);
    return EXIT_CODE_OK;
}
