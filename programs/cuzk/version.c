/* cuzk version: what this build is and what it can use here. */
#include "commands.h"
#include "exit_codes.h"

#include <cuzk/prove.h>
#include <nghttp2/nghttp2.h>
#include <openssl/crypto.h>
#include <stdio.h>

int command_version(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    printf("cuzk %s (%s build)\n", CUZK_VERSION, CUZK_BUILD);
    printf("libraries: blst %s, nghttp2 %s, %s\n", CUZK_BLST, nghttp2_version(0)->version_str,
           OpenSSL_version(OPENSSL_VERSION));
    static const char *const backends[] = {"cuda", "cpu", "sim"};
    for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++) {
        char line[256];
        cuzk_backend_describe(backends[i], line, sizeof line);
        printf("backend %s: %s\n", backends[i], line);
    }
    return EXIT_CODE_OK;
}
