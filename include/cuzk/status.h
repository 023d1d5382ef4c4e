/* The status that functions return, and the line of text that goes with a failure. */
#ifndef CUZK_STATUS_H
#define CUZK_STATUS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* X(NAME, text). A function that can fail returns one of these; CUZK_OK is 0. */
#define CUZK_STATUS_MAP(X)                                                                         \
    X(OK, "ok")                                                                                    \
    X(INVALID_ARGUMENT, "invalid argument") /* the caller's data are wrong */                      \
    X(NOT_FOUND, "not found")                                                                      \
    X(RESOURCE_EXHAUSTED, "resource exhausted")   /* a limit of ours, named in the text */         \
    X(FAILED_PRECONDITION, "failed precondition") /* not now: state or configuration forbids it */ \
    X(UNAVAILABLE, "unavailable")                 /* draining or not reachable; try again */       \
    X(CANCELLED, "cancelled")                                                                      \
    X(DEADLINE_EXCEEDED, "deadline exceeded")                                                      \
    X(UNSUPPORTED, "unsupported")                                                                  \
    X(NO_MEMORY, "out of memory")                                                                  \
    X(IO, "input/output error")                                                                    \
    X(BAD_PARAMS, "bad parameters") /* a .params/.vk file is wrong or missing */                   \
    X(NO_DEVICE, "no usable device")                                                               \
    X(DEVICE_FAULT, "device fault") /* a device failed; another may do */                          \
    X(DEVICE_LOST, "device lost")   /* and this process cannot use it any more */                  \
    X(VERIFY_FAILED, "verification failed")                                                        \
    X(INTERNAL, "internal error")

enum cuzk_status {
#define X(name, text) CUZK_##name,
    CUZK_STATUS_MAP(X)
#undef X
        CUZK_STATUS_COUNT
};

/* Longest error text with its terminator. Texts are one line: what, where, what was expected. */
#define CUZK_ERROR_TEXT_BYTES 512

/* Why something failed. Owned by the caller; text is empty while status is CUZK_OK. */
struct cuzk_error {
    enum cuzk_status status;
    char text[CUZK_ERROR_TEXT_BYTES];
};

/* The fixed text of a status ("not found"); never NULL. */
const char *cuzk_status_text(enum cuzk_status status);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
