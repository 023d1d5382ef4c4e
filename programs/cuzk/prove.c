/* cuzk prove: one C1 file → verified proofs, in this process. */
#include "commands.h"
#include "exit_codes.h"
#include "flag_number.h"
#include "param_cache.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/mem.h"

#include <cuzk/prove.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A 64 GiB C1 is 52 MB, its wrapper a third more. */
#define C1_BYTES_MAX ((size_t)256 << 20)

struct prove_flags {
    const char *c1;
    const char *out;
    bool hex;
    bool json;
    bool quiet;
    struct cuzk_prove_options options;
};

static void print_usage(FILE *out)
{
    fputs(
        "Usage: cuzk prove --c1 FILE [options]\n\n"
        "Proves all partitions of a PoRep C1 (the JSON of seal_commit_phase1, or its wrapper) and\n"
        "verifies them before anything is written.\n\n"
        "      --c1 FILE          the C1\n"
        "  -o, --out FILE         where the proof goes, 192 bytes a partition (default: none)\n"
        "      --hex              write hexadecimal text; without --out, to standard output\n"
        "      --param-cache DIR  folder of v28-*.params (default: $FIL_PROOFS_PARAMETER_CACHE, "
        "else\n"
        "                         /var/tmp/filecoin-proof-parameters)\n"
        "      --backend NAME     cuda or cpu (default: the best there is)\n"
        "      --threads N        threads of the cpu backend (default: all processors)\n"
        "      --sector-num N, --miner-id N\n"
        "                         check that the C1 is of this sector and miner\n"
        "      --json             times as one JSON object\n"
        "  -q, --quiet            no progress\n",
        out);
}

static bool take_number(const char *flag, const char *text, uint64_t most, uint64_t *out)
{
    return flag_number("cuzk prove", flag, text, 0, most, out);
}

/* Returns an exit code, or −1 to go on. */
static int read_flags(int argc, char **argv, struct prove_flags *flags)
{
    static const struct option known[] = {
        {"c1", required_argument, NULL, 'C'},
        {"out", required_argument, NULL, 'o'},
        {"hex", no_argument, NULL, 'x'},
        {"param-cache", required_argument, NULL, 'p'},
        {"backend", required_argument, NULL, 'b'},
        {"threads", required_argument, NULL, 't'},
        {"sector-num", required_argument, NULL, 'S'},
        {"miner-id", required_argument, NULL, 'M'},
        {"json", no_argument, NULL, 'j'},
        {"quiet", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct cuzk_prove_options *options = &flags->options;
    options->param_cache = param_cache_or(PARAM_CACHE_DEFAULT);
    int option;
    uint64_t number = 0;
    bool good = true;
    while (good && (option = getopt_long(argc, argv, "o:qh", known, NULL)) != -1) {
        switch (option) {
        case 'C':
            flags->c1 = optarg;
            break;
        case 'o':
            flags->out = optarg;
            break;
        case 'x':
            flags->hex = true;
            break;
        case 'p':
            options->param_cache = optarg;
            break;
        case 'b':
            options->backend = optarg;
            break;
        case 't':
            good = take_number("threads", optarg, 1024, &number);
            options->threads = (unsigned)number;
            break;
        case 'S':
            options->has_sector_number = true;
            good = take_number("sector-num", optarg, UINT64_MAX, &options->sector_number);
            break;
        case 'M':
            options->has_miner_id = true;
            good = take_number("miner-id", optarg, UINT64_MAX, &options->miner_id);
            break;
        case 'j':
            flags->json = true;
            break;
        case 'q':
            flags->quiet = true;
            break;
        case 'h':
            print_usage(stdout);
            return EXIT_CODE_OK;
        default:
            return EXIT_CODE_USAGE;
        }
    }
    if (good && flags->c1 && optind == argc)
        return -1;
    if (good)
        fprintf(stderr, "cuzk prove: --c1 FILE is needed, and nothing beside the options\n");
    return EXIT_CODE_USAGE;
}

static void show_progress(void *context, const char *phase, int partition, unsigned n_partitions,
                          uint64_t phase_ns)
{
    (void)context;
    if (partition >= 0)
        fprintf(stderr, "partition %d of %u: ", partition + 1, n_partitions);
    fprintf(stderr, "%s %.2f s\n", phase, (double)phase_ns / 1e9);
}

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static void print_times(const struct prove_flags *flags, const struct cuzk_phase_times *t,
                        size_t proof_len)
{
    const struct {
        const char *name;
        uint64_t ns;
    } phases[] = {
        {"parse", t->parse_ns},   {"shape", t->shape_ns},
        {"params", t->params_ns}, {"synthesis", t->synthesis_ns},
        {"device", t->device_ns}, {"eval", t->eval_ns},
        {"ntt", t->ntt_ns},       {"msm", t->msm_ns},
        {"finish", t->finish_ns}, {"verify", t->verify_ns},
        {"total", t->total_ns},   {"core", t->cpu_ns},
    };
    FILE *out = flags->json ? stdout : stderr;
    fprintf(out, flags->json ? "{\"proof_bytes\":%zu" : "proof: %zu bytes, verified\n", proof_len);
    for (size_t i = 0; i < sizeof phases / sizeof phases[0]; i++)
        fprintf(out, flags->json ? ",\"%s_seconds\":%.4f" : "  %-10s %8.3f s\n", phases[i].name,
                seconds(phases[i].ns));
    if (flags->json)
        fprintf(out, ",\"peak_rss_bytes\":%llu}\n", (unsigned long long)t->peak_rss_bytes);
    else
        fprintf(out, "  %-10s %8.0f MiB\n", "memory", (double)t->peak_rss_bytes / 1048576);
}

static enum cuzk_status write_proof(const struct prove_flags *flags, const uint8_t *proof,
                                    size_t len, struct cuzk_error *err)
{
    if (!flags->hex)
        return flags->out ? file_write(flags->out, proof, len, err) : CUZK_OK;
    char *text = mem_alloc(2 * len + 2, 1);
    if (!text) {
        err->status = CUZK_NO_MEMORY;
        return CUZK_NO_MEMORY;
    }
    hex_encode(proof, len, text);
    text[2 * len] = '\n';
    enum cuzk_status status = CUZK_OK;
    if (flags->out)
        status = file_write(flags->out, text, 2 * len + 1, err);
    else
        fwrite(text, 1, 2 * len + 1, stdout);
    mem_free(text);
    return status;
}

int command_prove(int argc, char **argv)
{
    struct prove_flags flags = {0};
    int code = read_flags(argc, argv, &flags);
    if (code >= 0)
        return code;
    if (!flags.quiet)
        flags.options.progress = show_progress;
    struct cuzk_error err = {0};
    struct cuzk_phase_times times = {0};
    uint8_t *c1, *proof = NULL;
    size_t c1_len, proof_len;
    if (file_read(flags.c1, C1_BYTES_MAX, &c1, &c1_len, &err) != CUZK_OK)
        return exit_with_error("cuzk prove", &err);
    enum cuzk_status status =
        cuzk_prove_c1(&flags.options, c1, c1_len, &proof, &proof_len, &times, &err);
    mem_free(c1);
    if (status == CUZK_OK)
        status = write_proof(&flags, proof, proof_len, &err);
    if (status == CUZK_OK)
        print_times(&flags, &times, proof_len);
    cuzk_proof_free(proof);
    /* A C1 that is wrong is not a wrong use of the program. */
    if (status == CUZK_INVALID_ARGUMENT || status == CUZK_FAILED_PRECONDITION) {
        exit_with_error("cuzk prove", &err);
        return EXIT_CODE_FAILED;
    }
    return status == CUZK_OK ? EXIT_CODE_OK : exit_with_error("cuzk prove", &err);
}
