/* Flags of the commands that send proofs. */
#include "bench.h"
#include "exit_codes.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/error.h"
#include "base/number.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Letters without a short form are only names for the long one. */
static const struct option long_flags[] = {
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
    {"partition", required_argument, NULL, 'P'},
    {"count", required_argument, NULL, 'c'},
    {"concurrency", required_argument, NULL, 'j'},
    {"label", required_argument, NULL, 'L'},
    {"log", required_argument, NULL, 'l'},
    {"plot", required_argument, NULL, 'p'},
    {"markdown", no_argument, NULL, 'm'},
    {NULL, 0, NULL, 0},
};

/* What the commands differ in. */
static const struct {
    const char *name, *does;
    const char *short_flags;
    const char *own; /* flags that not every command has */
} commands[] = {
    [LOAD_SINGLE] = {"single", "Sends one proof and prints its timings and bytes.", "t:h", "P"},
    [LOAD_BATCH] = {"batch",
                    "Sends proofs, some at a time, and prints a line for each and a summary.",
                    "t:c:j:h", "cjL"},
    [LOAD_SWEEP] = {"sweep",
                    "Sends several batches, one after the other, and compares them in one table.",
                    "t:c:j:h", "cjLlpm"},
};

static void print_usage(FILE *out, enum load_command command)
{
    fprintf(out,
            "Usage: cuzk-bench [-a ADDRESS] [--json] %s -t TYPE --c1 FILE [options]\n\n%s\n\n"
            "  -t, --type TYPE            porep, snap, wpost or winning\n"
            "      --c1 FILE              porep: the C1 JSON, or its wrapper with the sector "
            "number\n"
            "      --vanilla FILE         others: JSON array of base64 vanilla proofs, or one raw "
            "proof\n"
            "      --sector-num N         sector (default: from the wrapper)\n"
            "      --miner-id N           miner (default: 1000)\n"
            "      --registered-proof N   number of the registered proof (default: 0)\n"
            "      --randomness HEX, --comm-r-old HEX, --comm-r-new HEX, --comm-d-new HEX\n",
            commands[command].name, commands[command].does);
    if (command == LOAD_SINGLE)
        fputs("      --partition N          window post: partition index (default: 0)\n", out);
    if (command == LOAD_BATCH)
        fputs("  -c, --count N              proofs to send (default: 3)\n"
              "  -j, --concurrency N        of them at the same time (default: 1)\n"
              "      --label TEXT           name of the run in the daemon's timeline (default: "
              "cN-jN)\n",
              out);
    if (command == LOAD_SWEEP)
        fputs("  -c, --count N              proofs of the runs that follow (default: 3)\n"
              "  -j, --concurrency N        a run: so many at the same time. Any number of runs:\n"
              "                             -c 5 -j 1 -j 5 -c 20 -j 15 are three\n"
              "      --label PREFIX         runs are called PREFIX-cN-jN in the daemon's timeline\n"
              "                             (default: cN-jN)\n"
              "      --log FILE             the daemon's log: adds use of the devices and "
              "bottleneck\n"
              "      --plot FILE            draws throughput and times into an SVG file\n"
              "      --markdown             the table as Markdown, and nothing else\n",
              out);
    fputs("\nEvery proof of a porep is verified here, if the circuit's .vk file is in "
          "--param-cache.\n"
          "Exit codes: 0 all completed, 1 some failed, 2 usage, 6 a returned proof did not "
          "verify.\n",
          out);
}

static enum cuzk_status parse_number(const char *flag, const char *text, uint64_t least,
                                     uint64_t most, uint64_t *out, struct cuzk_error *err)
{
    if (number_parse(text, least, most, out))
        return CUZK_OK;
    return error_set(err, CUZK_INVALID_ARGUMENT, "--%s %s: expected a number from %llu to %llu",
                     flag, text, (unsigned long long)least, (unsigned long long)most);
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
    enum load_command command;
    const char *c1;
    const char *vanilla;
    bool count_unused; /* a -c that no -j has followed yet */
};

/* Each -j of a sweep is a run. */
static enum cuzk_status add_run(struct load_flags *flags, unsigned concurrency,
                                struct cuzk_error *err)
{
    struct load_options *options = flags->options;
    flags->count_unused = false;
    options->concurrency = concurrency;
    if (options->n_runs == LOAD_RUNS_MAX)
        return error_set(err, CUZK_INVALID_ARGUMENT, "more than %d runs", LOAD_RUNS_MAX);
    options->runs[options->n_runs].count = options->count;
    options->runs[options->n_runs++].concurrency = concurrency;
    return CUZK_OK;
}

static enum cuzk_status take_label(struct load_options *options, const char *value,
                                   struct cuzk_error *err)
{
    size_t len = strlen(value);
    bool good = len >= 1 && len <= LOAD_LABEL_MAX;
    for (size_t i = 0; i < len; i++)
        good = good && value[i] >= ' ' && value[i] <= '~';
    options->label = value;
    return good ? CUZK_OK
                : error_set(err, CUZK_INVALID_ARGUMENT,
                            "--label: expected 1 to %d printable ASCII characters", LOAD_LABEL_MAX);
}

/* Flags about the load as a whole. */
static enum cuzk_status take_load_flag(struct load_flags *flags, int option, const char *value,
                                       struct cuzk_error *err)
{
    struct load_options *options = flags->options;
    uint64_t number = 0;
    switch (option) {
    case 'C':
        flags->c1 = value;
        return CUZK_OK;
    case 'V':
        flags->vanilla = value;
        return CUZK_OK;
    case 'c':
        TRY(parse_number("count", value, 1, 1000000, &number, err));
        options->count = (unsigned)number;
        flags->count_unused = true;
        return CUZK_OK;
    case 'j':
        TRY(parse_number("concurrency", value, 1, 1000, &number, err));
        return add_run(flags, (unsigned)number, err);
    case 'L':
        return take_label(options, value, err);
    case 'l':
        options->log_path = value;
        return CUZK_OK;
    case 'p':
        options->plot_path = value;
        return CUZK_OK;
    default:
        CHECK(option == 'm');
        options->markdown = true;
        return CUZK_OK;
    }
}

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
    case 'r':
        return parse_digest(name, value, request->randomness, &request->has_randomness, err);
    case 'o':
        return parse_digest(name, value, request->comm_r_old, &request->has_comm_r_old, err);
    case 'n':
        return parse_digest(name, value, request->comm_r_new, &request->has_comm_r_new, err);
    case 'd':
        return parse_digest(name, value, request->comm_d_new, &request->has_comm_d_new, err);
    default:
        return take_load_flag(flags, option, value, err);
    }
}

static const char *flag_name(int letter)
{
    size_t i = 0;
    while (long_flags[i].val != letter)
        i++;
    return long_flags[i].name;
}

static bool has_flag(enum load_command command, int letter)
{
    static const char every[] = "tCVRSMrond";
    return strchr(every, letter) || strchr(commands[command].own, letter);
}

static enum cuzk_status check_whole(const struct load_flags *flags, bool words_left,
                                    struct cuzk_error *err)
{
    const struct load_options *options = flags->options;
    if (words_left || !options->request.kind || (!flags->c1 && !flags->vanilla))
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "--type and --c1 (or --vanilla) are needed; see --help");
    if (flags->command == LOAD_SWEEP && (options->n_runs == 0 || flags->count_unused))
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "sweep: each -j is a run with the -c before it; expected at least one -j, "
                         "and one after the last -c");
    return CUZK_OK;
}

int load_read_options(struct load_options *options, enum load_command command, int argc,
                      char **argv)
{
    *options = (struct load_options){
        .command = command, .count = command == LOAD_SINGLE ? 1 : 3, .concurrency = 1};
    options->request.miner_id = 1000;
    struct load_flags flags = {.options = options, .command = command};
    struct cuzk_error err = {0};
    enum cuzk_status status = CUZK_OK;
    int option;
    optind = 1;
    while (status == CUZK_OK && (option = getopt_long(argc, argv, commands[command].short_flags,
                                                      long_flags, NULL)) != -1) {
        if (option == 'h')
            return print_usage(stdout, command), EXIT_CODE_OK;
        if (option == '?')
            return EXIT_CODE_USAGE;
        if (has_flag(command, option))
            status = take_flag(&flags, option, flag_name(option), optarg, &err);
        else
            status = error_set(&err, CUZK_INVALID_ARGUMENT, "%s has no --%s",
                               commands[command].name, flag_name(option));
    }
    if (status == CUZK_OK)
        status = check_whole(&flags, optind < argc, &err);
    if (status == CUZK_OK && flags.c1)
        status = bench_read_c1(&options->request, flags.c1, &err);
    if (status == CUZK_OK && flags.vanilla)
        status = bench_read_vanilla(&options->request, flags.vanilla, &err);
    if (status == CUZK_OK)
        return -1;
    bench_request_free(&options->request);
    exit_with_error("cuzk-bench", &err);
    return EXIT_CODE_USAGE;
}

void load_label(const struct load_options *options, char label[LOAD_LABEL_BYTES])
{
    if (options->label && options->command == LOAD_BATCH)
        snprintf(label, LOAD_LABEL_BYTES, "%s", options->label);
    else
        snprintf(label, LOAD_LABEL_BYTES, "%s%sc%u-j%u", options->label ? options->label : "",
                 options->label ? "-" : "", options->count, options->concurrency);
}
