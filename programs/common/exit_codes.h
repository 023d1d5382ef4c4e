/* Exit codes of all cuzk programs (README, "Exit codes"). */
#ifndef CUZK_EXIT_CODES_H
#define CUZK_EXIT_CODES_H

#include <cuzk/status.h>

enum exit_code {
    EXIT_CODE_OK = 0,
    EXIT_CODE_FAILED = 1,
    EXIT_CODE_USAGE = 2, /* usage or configuration */
    EXIT_CODE_NO_DEVICE = 3,
    EXIT_CODE_BAD_PARAMS = 4, /* parameters bad or missing */
    EXIT_CODE_RUNNING = 5,    /* another daemon serves that address */
    EXIT_CODE_INVALID = 6,    /* verification said no */
};

/* The exit code for a status. */
int exit_code_of(enum cuzk_status status);

/* Prints "program: text" to stderr and returns exit_code_of. */
int exit_with_error(const char *program, const struct cuzk_error *err);

#endif
