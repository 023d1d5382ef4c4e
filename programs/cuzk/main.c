/* cuzk: the daemon and its subcommands. */
#include "commands.h"
#include "exit_codes.h"
#include "log_stderr.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
};

static const struct command commands[] = {
    {"serve", command_serve, "run the proving daemon (also without a command)"},
    {"prove", command_prove, "prove one C1 file in this process, without a daemon"},
    {"verify", command_verify, "verify proof bytes"},
    {"params", command_params, "list, check, generate or derive parameter files"},
    {"waterfall", command_waterfall, "explain where the time went, from a daemon's log"},
    {"config", command_config, "show, check or document the configuration"},
    {"version", command_version, "versions, backends and what this machine offers"},
};

static void print_usage(FILE *out)
{
    fputs("cuzk proves Filecoin sectors: a Groth16 proving daemon.\n\n"
          "Usage: cuzk [COMMAND] [options]\n\n",
          out);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
    fputs(
        "\nFirst steps, with development parameters (insecure, for tests only):\n\n"
        "  cuzk params gen --circuit porep-2k --out params\n"
        "  cuzk prove --c1 c1.json --param-cache params --out proof.bin\n"
        "  cuzk serve --listen unix:///tmp/cuzk.sock --set srs.param_cache=params\n\n"
        "'cuzk COMMAND --help' tells more. Exit codes: 0 ok, 1 failed, 2 usage or configuration,\n"
        "3 no usable device, 4 parameters bad or missing, 5 already running, 6 not valid.\n",
        out);
}

int main(int argc, char **argv)
{
    log_stderr_install();
    if (argc < 2 || argv[1][0] == '-') {
        bool help = argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
        if (help) {
            print_usage(stdout);
            return EXIT_CODE_OK;
        }
        if (argc >= 2 && strcmp(argv[1], "--version") == 0)
            return command_version(1, argv);
        return command_serve(argc, argv);
    }
    if (strcmp(argv[1], "help") == 0) {
        print_usage(stdout);
        return EXIT_CODE_OK;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].name, argv[1]) == 0)
            return commands[i].run(argc - 1, argv + 1);
    }
    fprintf(stderr, "cuzk: no command '%s'; see cuzk --help\n", argv[1]);
    return EXIT_CODE_USAGE;
}
