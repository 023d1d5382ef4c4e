/* Base64 as a stream: standard alphabet with padding (RFC 4648, section 4), nothing else. */
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

/* Decodes len characters; bytes has room for len / 4 * 3 + 3. *out_len bytes are ready, after a
   failure those in front of the fault. The text of a failure says at which character. */
enum cuzk_status base64_decode(struct base64 *state, const char *text, size_t len, uint8_t *bytes,
                               size_t *out_len, struct cuzk_error *err);

/* The text is over: fails if the last group is not whole. */
enum cuzk_status base64_end(const struct base64 *state, struct cuzk_error *err);

#endif
