/* cuzk-bench: loads a daemon with proofs, asks it for its state, and measures parts in this
   process. */
#include "bench.h"
#include "exit_codes.h"
#include "log_stderr.h"
#include "param_cache.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct command {
    const char *name;
    int (*run)(const struct bench_globals *globals, int argc, char **argv);
    const char *help;
};

static const struct command commands[] = {
    {"single", command_single, "send one proof, print its timings and bytes"},
    {"batch", command_batch, "send many proofs, some at a time, and summarise"},
    {"sweep", command_sweep, "several batches with other counts and concurrency, one table"},
    {"compare", command_compare, "two results of sweep or batch, side by side"},
    {"status", command_status, "devices, loaded parameters and queues of the daemon"},
    {"metrics", command_metrics, "the daemon's Prometheus metrics"},
    {"preload", command_preload, "load a circuit's parameters"},
    {"evict", command_evict, "drop a circuit's parameters"},
    {"cancel", command_cancel, "cancel a job"},
    {"synth", command_synth, "measure synthesis in this process, without a daemon"},
    {"gen-c1", command_gen_c1, "make a valid C1 of any sector size, without a sector"},
    {"gen-vanilla", command_gen_vanilla, "the same for winning, wpost and snap"},
};

static void print_usage(FILE *out)
{
    fputs("Usage: cuzk-bench [-a ADDRESS] [--param-cache DIR] [--json] COMMAND [options]\n\n", out);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
    fputs("\n  -a, --addr ADDRESS    the daemon: http://host:port or unix:///path\n"
          "                        (default: " BENCH_DEFAULT_ADDRESS ")\n"
          "      --param-cache DIR where the .vk files are, to verify returned proofs\n"
          "                        (default: $FIL_PROOFS_PARAMETER_CACHE, else /data/zk/params)\n"
          "      --json            results as JSON\n"
          "\n'cuzk-bench COMMAND --help' tells more.\n",
          out);
}

int main(int argc, char **argv)
{
    static const struct option flags[] = {{"addr", required_argument, NULL, 'a'},
                                          {"param-cache", required_argument, NULL, 'p'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    struct bench_globals globals = {.address = BENCH_DEFAULT_ADDRESS,
                                    .param_cache = param_cache_or("/data/zk/params")};
    int option;
    log_stderr_install();
    /* The plus sign ends the global flags at the command's name. */
    while ((option = getopt_long(argc, argv, "+a:h", flags, NULL)) != -1) {
        switch (option) {
        case 'a':
            globals.address = optarg;
            break;
        case 'p':
            globals.param_cache = optarg;
            break;
        case 'j':
            globals.json = true;
            break;
        case 'h':
            print_usage(stdout);
            return EXIT_CODE_OK;
        default:
            return EXIT_CODE_USAGE;
        }
    }
    if (optind == argc) {
        print_usage(stderr);
        return EXIT_CODE_USAGE;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].name, argv[optind]) == 0)
            return commands[i].run(&globals, argc - optind, argv + optind);
    }
    fprintf(stderr, "cuzk-bench: no command '%s'; see cuzk-bench --help\n", argv[optind]);
    return EXIT_CODE_USAGE;
}
