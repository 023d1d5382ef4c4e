/* What all test programs share: cmocka with its includes, and the places of known answers. */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cuzk/status.h>

/* Path of a known-answer file: in "vectors/…" of the project, else in the shared collection
   ($CUZK_SHARED_VECTORS, else ../shared/vectors). NULL if it is in neither. The result is valid
   until the next call from the same thread. */
const char *vector_path(const char *name);

/* Does what vector_path does, but where the file is absent skips the running cmocka test, with one
   line that names the file. */
const char *vector_path_or_skip(const char *name);

/* Whole content of a known-answer file, decompressed by its ending (.xz, .gz); the running test is
   skipped if the file is absent. Free with mem_free. */
uint8_t *vector_read_or_skip(const char *name, size_t *len);

/* The folder where tools/dev-params puts the development parameters of the 2 KiB PoRep; the running
   test is skipped if they are not there. */
const char *dev_params_or_skip(void);

/* Fails the running test with the error's text unless status is CUZK_OK. */
#define assert_ok(status, err)                                                                     \
    do {                                                                                           \
        if ((status) != CUZK_OK)                                                                   \
            fail_msg("unexpected failure: %s", (err).text);                                        \
    } while (0)

/* Compares bytes with hexadecimal text. */
void assert_hex_equal(const uint8_t *bytes, size_t len, const char *hex);

#endif
