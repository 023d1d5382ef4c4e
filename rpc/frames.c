#include "rpc/frames.h"

#include "base/bytes.h"

#include <string.h>

struct frame frame_of(const uint8_t *message, size_t len)
{
    struct frame frame = {.message = message, .len = len};
    store_u32_be(frame.prefix + 1, (uint32_t)len);
    return frame;
}

size_t frame_copy(struct frame *frame, uint8_t *buffer, size_t room)
{
    size_t used = 0;
    while (used < room && frame->sent < GRPC_PREFIX_BYTES)
        buffer[used++] = frame->prefix[frame->sent++];
    size_t left = frame->len + GRPC_PREFIX_BYTES - frame->sent;
    size_t body = left < room - used ? left : room - used;
    if (body > 0)
        memcpy(buffer + used, frame->message + (frame->sent - GRPC_PREFIX_BYTES), body);
    frame->sent += body;
    return used + body;
}

bool frame_is_sent(const struct frame *frame)
{
    return frame->sent == frame->len + GRPC_PREFIX_BYTES;
}

size_t send_buffer_fill(struct send_buffer *buffer,
                        size_t (*pull)(void *source, const uint8_t **data), void *source)
{
    if (buffer->start == buffer->len)
        buffer->start = buffer->len = 0;
    while (buffer->len < sizeof buffer->bytes) {
        if (buffer->pending_len == 0)
            buffer->pending_len = pull(source, &buffer->pending);
        if (buffer->pending_len == 0)
            break;
        size_t room = sizeof buffer->bytes - buffer->len;
        size_t len = buffer->pending_len < room ? buffer->pending_len : room;
        memcpy(buffer->bytes + buffer->len, buffer->pending, len);
        buffer->len += len;
        buffer->pending += len;
        buffer->pending_len -= len;
    }
    return buffer->len - buffer->start;
}
