/* cuzk config: show the effective settings, check a file, print the reference. */
#include "commands.h"
#include "config.h"
#include "exit_codes.h"

#include <stdio.h>
#include <string.h>

static void print_usage(FILE *out)
{
    fputs("Usage: cuzk config show [FILE]    effective value of every key and where it is from\n"
          "       cuzk config check FILE     is the file all right?\n"
          "       cuzk config reference      every key with its default, as a configuration file\n",
          out);
}

int command_config(int argc, char **argv)
{
    const char *action = argc > 1 ? argv[1] : "";
    const char *path = argc > 2 ? argv[2] : NULL;
    if (strcmp(action, "--help") == 0 || strcmp(action, "-h") == 0) {
        print_usage(stdout);
        return EXIT_CODE_OK;
    }
    if (strcmp(action, "reference") == 0 && argc == 2) {
        config_print_reference(stdout);
        return EXIT_CODE_OK;
    }
    bool check = strcmp(action, "check") == 0;
    if (argc > 3 || (check ? argc != 3 : strcmp(action, "show") != 0)) {
        print_usage(stderr);
        return EXIT_CODE_USAGE;
    }
    struct config config;
    struct cuzk_error err = {0};
    if (config_load(path, &config, &err) != CUZK_OK) {
        exit_with_error("cuzk config", &err);
        return EXIT_CODE_USAGE;
    }
    if (check)
        printf("%s: ok\n", path);
    else
        config_print(&config, stdout);
    config_free(&config);
    return EXIT_CODE_OK;
}
