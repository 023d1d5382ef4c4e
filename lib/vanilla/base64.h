/* Base64 as a stream: the standard alphabet with padding (RFC 4648, section 4) only.
   Private to lib/vanilla. */
#ifndef VANILLA_BASE64_H
#define VANILLA_BASE64_H

#include <cuzk/status.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise. */
struct base64 {
    uint64_t read;    /* characters so far */
    uint32_t pending; /* bits of the unfinished group */
    unsigned padding; /* '=' so far */
};

/* Decodes len characters into `bytes`, which has room for len / 4 * 3 + 3. *out_len becomes the
   number of decoded bytes; after a failure, of those in front of the fault. Error:
   INVALID_ARGUMENT, with the number of the character. */
enum cuzk_status base64_decode(struct base64 *state, const char *text, size_t len, uint8_t *bytes,
                               size_t *out_len, struct cuzk_error *err);

/* To be called at the end of the text. Fails if the last group is not whole. */
enum cuzk_status base64_end(const struct base64 *state, struct cuzk_error *err);

#endif
