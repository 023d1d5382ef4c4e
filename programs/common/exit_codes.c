#include "exit_codes.h"

#include <stdio.h>

int exit_code_of(enum cuzk_status status)
{
    switch (status) {
    case CUZK_OK:
        return EXIT_CODE_OK;
    case CUZK_INVALID_ARGUMENT:
        return EXIT_CODE_USAGE;
    case CUZK_NO_DEVICE:
        return EXIT_CODE_NO_DEVICE;
    case CUZK_BAD_PARAMS:
        return EXIT_CODE_BAD_PARAMS;
    case CUZK_FAILED_PRECONDITION:
        return EXIT_CODE_RUNNING;
    case CUZK_VERIFY_FAILED:
        return EXIT_CODE_INVALID;
    default:
        return EXIT_CODE_FAILED;
    }
}

int exit_with_error(const char *program, const struct cuzk_error *err)
{
    fprintf(stderr, "%s: %s\n", program, err->text);
    return exit_code_of(err->status);
}
