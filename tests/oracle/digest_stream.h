/* The R1CS digest (docs/spec/parameters.md, part I.1) row by row. */
#ifndef ORACLE_DIGEST_STREAM_H
#define ORACLE_DIGEST_STREAM_H

#include "math/fr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DIGEST_TERM_BYTES = 4 + FR_BYTES };

/* Gathers bytes, so that the hash function gets large pieces. */
struct digest_stream {
    struct hasher *hasher;
    uint8_t *buffer;
    size_t len;
};

bool digest_start(struct digest_stream *stream);
/* Room for `bytes` more bytes, a few dozen at most. The caller adds what it wrote to len. */
uint8_t *digest_room(struct digest_stream *stream, size_t bytes);
void digest_add_u32(struct digest_stream *stream, uint32_t value);
/* One term: variable id and canonical coefficient. */
void digest_add_term(struct digest_stream *stream, uint32_t id, const uint8_t coeff[FR_BYTES]);
/* Adds the three counts, writes the digest and frees. */
void digest_finish(struct digest_stream *stream, uint32_t n_inputs, uint32_t n_aux, uint64_t n_rows,
                   uint8_t digest[32]);
/* Frees without a digest. */
void digest_drop(struct digest_stream *stream);

#endif
