/* Proves one PoRep partition from a C1 file and says where time and memory went: each step's wall
   and CPU time of all threads, and the peak of resident memory.

   bench_prove C1.json FILE.params [--threads N] [--runs N] [--json] */
#include "backend/backend.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/number.h"
#include "groth16/prove.h"
#include "groth16/verify.h"
#include "vanilla/c1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define C1_BYTES_MAX ((size_t)256 << 20)

static bool json;

/* Ends the program if a step failed. */
static void need(enum cuzk_status status, const struct cuzk_error *err)
{
    if (status == CUZK_OK)
        return;
    fprintf(stderr, "bench_prove: %s\n", err->text);
    exit(1);
}

struct step {
    const char *name;
    uint64_t wall_ns, cpu_ns;
};

static struct step step_start(const char *name)
{
    return (struct step){name, clock_now_ns(), clock_cpu_ns()};
}

static void step_end(const struct step *step)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const char *format = json ? "{\"step\":\"%s\",\"wall_ms\":%.1f,\"cpu_ms\":%.1f,"
                                "\"peak_rss_mib\":%ld}\n"
                              : "%-10s wall %9.1f ms  cpu %9.1f ms  peak RSS %5ld MiB\n";
    printf(format, step->name, (double)(clock_now_ns() - step->wall_ns) / 1e6,
           (double)(clock_cpu_ns() - step->cpu_ns) / 1e6, usage.ru_maxrss / 1024);
    fflush(stdout);
}

/* What is proved and with what. */
struct work {
    struct c1 *c1;
    struct params *params;
    struct shape *shape;
    const struct backend *backend;
    struct backend_device *device;
    struct backend_circuit *circuit;
};

static void prepare(struct work *work, const char *c1_path, const char *params_path,
                    unsigned threads)
{
    struct cuzk_error err;
    uint8_t *text;
    size_t len;
    need(file_read(c1_path, C1_BYTES_MAX, &text, &len, &err), &err);
    need(c1_parse(text, len, &work->c1, &err), &err);
    need(c1_check(work->c1, NULL, NULL, &err), &err);
    mem_free(text);
    struct circuit_program program = {porep_synthesize, c1_partition(work->c1, 0)};
    need(shape_record(&program, &work->shape, &err), &err);
    need(params_open(params_path, &work->params, &err), &err);
    need(params_match_shape(work->params, work->shape, &err), &err);
    const struct backend_options options = {.threads = threads};
    struct key_vectors key = work->params->key;
    work->backend = backend_find("cpu");
    need(work->backend->open(&options, 0, &work->device, &err), &err);
    need(work->backend->load(work->device, work->shape, &key, &work->circuit, &err), &err);
}

static void prove(const struct work *work)
{
    struct circuit_program program = {porep_synthesize, c1_partition(work->c1, 0)};
    struct witness witness;
    const struct backend_partition partition = {.witness = &witness};
    struct blinding blinding;
    struct proof proof;
    struct cuzk_error err;
    struct step step = step_start("synthesis");
    need(witness_synthesize(&program, work->shape, &witness, &err), &err);
    step_end(&step);
    step = step_start("prove");
    need(blinding_random(&blinding, &err), &err);
    need(prove_partition(work->backend, work->circuit, &work->params->vk, &partition, &blinding,
                         &proof, NULL, &err),
         &err);
    step_end(&step);
    step = step_start("verify");
    need(verify_single(&work->params->vk, &proof, witness.inputs + 1, witness.n_inputs - 1, &err),
         &err);
    step_end(&step);
    witness_free(&witness);
}

int main(int argc, char **argv)
{
    uint64_t threads = 0, runs = 1;
    bool good = true;
    const char *paths[2] = {NULL, NULL};
    int n_paths = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            json = true;
        else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
            good = good && number_parse(argv[++i], 0, 1024, &threads);
        else if (strcmp(argv[i], "--runs") == 0 && i + 1 < argc)
            good = good && number_parse(argv[++i], 1, 1000, &runs);
        else if (n_paths < 2)
            paths[n_paths++] = argv[i];
    }
    if (n_paths < 2 || !good) {
        fprintf(stderr,
                "usage: bench_prove C1.json FILE.params [--threads N] [--runs N] [--json]\n");
        return 2;
    }
    struct work work = {0};
    struct step step = step_start("prepare");
    prepare(&work, paths[0], paths[1], (unsigned)threads);
    step_end(&step);
    for (uint64_t i = 0; i < runs; i++)
        prove(&work);
    work.backend->unload(work.circuit);
    work.backend->close(work.device);
    params_close(work.params);
    shape_free(work.shape);
    c1_free(work.c1);
    return 0;
}
