/* What needs no daemon: made-up C1 files, and synthesis measured in this process. */
#include "bench.h"
#include "exit_codes.h"
#include "flag_number.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"

#include <cuzk/dev.h>
#include <cuzk/prove.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define C1_BYTES_MAX ((size_t)256 << 20)

/* --- Gen-c1 ----------------------------------------------------------------------------------- */

uint64_t bench_sector_size(const char *text)
{
    static const struct {
        const char *name;
        uint64_t bytes;
    } sizes[] = {{"2KiB", 1ull << 11},
                 {"8MiB", 1ull << 23},
                 {"512MiB", 1ull << 29},
                 {"32GiB", 1ull << 35},
                 {"64GiB", 1ull << 36}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (strcasecmp(text, sizes[i].name) == 0)
            return sizes[i].bytes;
    }
    return 0;
}

static enum cuzk_status write_to_file(void *context, const void *bytes, size_t len,
                                      struct cuzk_error *err)
{
    if (fwrite(bytes, 1, len, context) == len)
        return CUZK_OK;
    return error_errno(err, CUZK_IO, errno, "cannot write the C1");
}

/* Writes under a temporary name, so that an interrupted run leaves no half file behind. */
static enum cuzk_status generate_file(uint64_t sector_bytes, const uint8_t *seed, const char *path,
                                      struct cuzk_error *err)
{
    char part[4096];
    if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part)
        return error_set(err, CUZK_INVALID_ARGUMENT, "file name too long: %s", path);
    FILE *file = fopen(part, "wb");
    if (!file)
        return error_errno(err, CUZK_IO, errno, "cannot create %s", part);
    enum cuzk_status status = cuzk_gen_c1(sector_bytes, seed, write_to_file, file, err);
    if (fclose(file) != 0 && status == CUZK_OK)
        status = error_errno(err, CUZK_IO, errno, "cannot write %s", part);
    if (status == CUZK_OK && rename(part, path) != 0)
        status = error_errno(err, CUZK_IO, errno, "cannot rename %s", part);
    if (status != CUZK_OK)
        unlink(part);
    return status;
}

static void print_gen_usage(FILE *out)
{
    fputs("Usage: cuzk-bench gen-c1 --size SIZE [--seed HEX] [-o FILE]\n\n"
          "Makes a valid C1 of a sector that was never sealed, for benchmarks at full scale.\n\n"
          "      --size SIZE   2KiB, 8MiB, 512MiB, 32GiB or 64GiB\n"
          "      --seed HEX    32 bytes that choose the challenges (default: the usual ones)\n"
          "  -o, --out FILE    where it goes (default: standard output)\n",
          out);
}

int command_gen_c1(const struct bench_globals *globals, int argc, char **argv)
{
    (void)globals;
    static const struct option flags[] = {{"size", required_argument, NULL, 's'},
                                          {"seed", required_argument, NULL, 'S'},
                                          {"out", required_argument, NULL, 'o'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    uint64_t bytes = 0;
    uint8_t seed[32];
    bool has_seed = false, good = true;
    const char *out = NULL;
    int option;
    optind = 1;
    while ((option = getopt_long(argc, argv, "o:h", flags, NULL)) != -1) {
        if (option == 'h')
            return print_gen_usage(stdout), EXIT_CODE_OK;
        if (option == 's')
            good = good && (bytes = bench_sector_size(optarg)) != 0;
        else if (option == 'S')
            good = good && (has_seed = hex_decode(optarg, seed, sizeof seed));
        else if (option == 'o')
            out = optarg;
        else
            return EXIT_CODE_USAGE;
    }
    if (!good || !bytes || optind < argc)
        return print_gen_usage(stderr), EXIT_CODE_USAGE;
    struct cuzk_error err = {0};
    enum cuzk_status status =
        out ? generate_file(bytes, has_seed ? seed : NULL, out, &err)
            : cuzk_gen_c1(bytes, has_seed ? seed : NULL, write_to_file, stdout, &err);
    return status == CUZK_OK ? EXIT_CODE_OK : exit_with_error("cuzk-bench", &err);
}

/* --- Synth ------------------------------------------------------------------------------------ */

static void print_synth_usage(FILE *out)
{
    fputs("Usage: cuzk-bench [--json] synth --c1 FILE [options]\n\n"
          "Synthesizes one partition of a PoRep C1 in this process and says what it costs.\n\n"
          "      --c1 FILE         the C1 or its wrapper\n"
          "      --partition N     which partition (default: 0)\n"
          "  -i, --iterations N    repeat, report the fastest (default: 1)\n"
          "      --threads N       (default: 1)\n"
          "      --digests         SHA-256 of all inputs, private variables and row values\n",
          out);
}

static bool take_number(const char *flag, const char *text, unsigned most, unsigned *out)
{
    uint64_t number;
    if (!flag_number("cuzk-bench synth", flag, text, 0, most, &number))
        return false;
    *out = (unsigned)number;
    return true;
}

static int read_synth_flags(int argc, char **argv, struct cuzk_synth_options *options,
                            const char **c1)
{
    static const struct option flags[] = {{"c1", required_argument, NULL, 'C'},
                                          {"partition", required_argument, NULL, 'p'},
                                          {"iterations", required_argument, NULL, 'i'},
                                          {"threads", required_argument, NULL, 't'},
                                          {"digests", no_argument, NULL, 'd'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    *options = (struct cuzk_synth_options){.iterations = 1, .threads = 1};
    *c1 = NULL;
    bool good = true;
    int option;
    optind = 1;
    while (good && (option = getopt_long(argc, argv, "i:h", flags, NULL)) != -1) {
        if (option == 'h')
            return print_synth_usage(stdout), EXIT_CODE_OK;
        if (option == 'C')
            *c1 = optarg;
        else if (option == 'p')
            good = take_number("partition", optarg, 1000000, &options->partition);
        else if (option == 'i')
            good = take_number("iterations", optarg, 1000000, &options->iterations);
        else if (option == 't')
            good = take_number("threads", optarg, 1024, &options->threads);
        else if (option == 'd')
            options->digests = true;
        else
            return EXIT_CODE_USAGE;
    }
    if (good && *c1 && optind == argc)
        return -1;
    if (good)
        print_synth_usage(stderr);
    return EXIT_CODE_USAGE;
}

static void print_digest(const char *name, const uint8_t digest[32], bool json)
{
    char hex[65];
    hex_encode(digest, 32, hex);
    printf(json ? ",\"%s\":\"%s\"" : "%-14s %s\n", name, hex);
}

static void print_digests(const struct cuzk_synth_report *r, bool json)
{
    print_digest("inputs_sha256", r->inputs_sha256, json);
    print_digest("aux_sha256", r->aux_sha256, json);
    print_digest("a_sha256", r->a_sha256, json);
    print_digest("b_sha256", r->b_sha256, json);
    print_digest("c_sha256", r->c_sha256, json);
}

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static void print_report_json(const struct cuzk_synth_report *r, bool digests)
{
    printf("{\"core_seconds\":%.4f,\"wall_seconds\":%.4f,\"peak_rss_bytes\":%llu,"
           "\"witness_bytes\":%llu,\"shape_bytes\":%llu,\"rows\":%llu,\"aux\":%llu,\"inputs\":%llu,"
           "\"phases\":{\"parse\":%.4f,\"shape\":%.4f,\"synthesis\":%.4f,\"rows\":%.4f}",
           seconds(r->synthesis_cpu_ns), seconds(r->synthesis_ns),
           (unsigned long long)r->peak_rss_bytes, (unsigned long long)r->witness_bytes,
           (unsigned long long)r->shape_bytes, (unsigned long long)r->n_rows,
           (unsigned long long)r->n_aux, (unsigned long long)r->n_inputs, seconds(r->parse_ns),
           seconds(r->shape_ns), seconds(r->synthesis_ns), seconds(r->rows_ns));
    if (digests)
        print_digests(r, true);
    printf("}\n");
}

static void print_report(const struct cuzk_synth_report *r, bool digests)
{
    printf("rows %llu, private variables %llu, inputs %llu\n"
           "parse and check  %8.3f s\n"
           "compile shape    %8.3f s   %.1f MiB\n"
           "synthesis        %8.3f s   %.3f core-seconds, witness %.1f MiB\n",
           (unsigned long long)r->n_rows, (unsigned long long)r->n_aux,
           (unsigned long long)r->n_inputs, seconds(r->parse_ns), seconds(r->shape_ns),
           (double)r->shape_bytes / 1048576, seconds(r->synthesis_ns), seconds(r->synthesis_cpu_ns),
           (double)r->witness_bytes / 1048576);
    if (r->rows_ns)
        printf("row values       %8.3f s\n", seconds(r->rows_ns));
    printf("peak memory      %8.1f MiB\n", (double)r->peak_rss_bytes / 1048576);
    if (digests)
        print_digests(r, false);
}

int command_synth(const struct bench_globals *globals, int argc, char **argv)
{
    struct cuzk_synth_options options;
    const char *path;
    int code = read_synth_flags(argc, argv, &options, &path);
    if (code >= 0)
        return code;
    struct cuzk_error err = {0};
    struct cuzk_synth_report report;
    uint8_t *c1;
    size_t len;
    if (file_read(path, C1_BYTES_MAX, &c1, &len, &err) != CUZK_OK)
        return exit_with_error("cuzk-bench", &err);
    enum cuzk_status status = cuzk_synth_c1(&options, c1, len, &report, &err);
    mem_free(c1);
    if (status != CUZK_OK) {
        exit_with_error("cuzk-bench", &err);
        return EXIT_CODE_FAILED;
    }
    if (globals->json)
        print_report_json(&report, options.digests);
    else
        print_report(&report, options.digests);
    return EXIT_CODE_OK;
}
