#include "oracle/digest_stream.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"

enum { BUFFER_BYTES = 1 << 16 };

bool digest_start(struct digest_stream *stream)
{
    *stream = (struct digest_stream){.hasher = sha256_new()};
    stream->buffer = mem_alloc(BUFFER_BYTES, 1);
    if (stream->hasher && stream->buffer)
        return true;
    digest_drop(stream);
    return false;
}

uint8_t *digest_room(struct digest_stream *stream, size_t bytes)
{
    if (stream->len + bytes > BUFFER_BYTES) {
        hasher_update(stream->hasher, stream->buffer, stream->len);
        stream->len = 0;
    }
    return stream->buffer + stream->len;
}

void digest_add_u32(struct digest_stream *stream, uint32_t value)
{
    store_u32_le(digest_room(stream, 4), value);
    stream->len += 4;
}

void digest_add_term(struct digest_stream *stream, uint32_t id, const uint8_t coeff[FR_BYTES])
{
    uint8_t *out = digest_room(stream, DIGEST_TERM_BYTES);
    store_u32_le(out, id);
    memcpy(out + 4, coeff, FR_BYTES);
    stream->len += DIGEST_TERM_BYTES;
}

void digest_finish(struct digest_stream *stream, uint32_t n_inputs, uint32_t n_aux, uint64_t n_rows,
                   uint8_t digest[32])
{
    uint8_t *out = digest_room(stream, 24);
    store_u64_le(out, n_inputs);
    store_u64_le(out + 8, n_aux);
    store_u64_le(out + 16, n_rows);
    stream->len += 24;
    hasher_update(stream->hasher, stream->buffer, stream->len);
    hasher_final(stream->hasher, digest);
    stream->hasher = NULL;
    digest_drop(stream);
}

void digest_drop(struct digest_stream *stream)
{
    if (stream->hasher)
        hasher_final(stream->hasher, NULL);
    mem_free(stream->buffer);
    *stream = (struct digest_stream){0};
}
