/* Filling a struct cuzk_error. Every function that can fail takes one as its last argument (NULL is
   allowed: the text is dropped) and returns the status. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <cuzk/status.h>

/* Sets err to status and the formatted text (cut to one line of CUZK_ERROR_TEXT_BYTES, control
   characters replaced by '?') and returns status, so that it can be returned in one statement. */
enum cuzk_status error_set(struct cuzk_error *err, enum cuzk_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "<formatted prefix>: " before the text of err and returns the status of err. The caller adds
   where the failure happened (file, partition) to what the callee reported. */
enum cuzk_status error_prefix(struct cuzk_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends ": <strerror(saved_errno)>" to a CUZK_IO (or other) error text. */
enum cuzk_status error_errno(struct cuzk_error *err, enum cuzk_status status, int saved_errno,
                             const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Leaves the function with the status of a call that failed. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        enum cuzk_status try_status_ = (call);                                                     \
        if (try_status_ != CUZK_OK)                                                                \
            return try_status_;                                                                    \
    } while (0)

#endif
