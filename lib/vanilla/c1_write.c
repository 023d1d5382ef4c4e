#include "vanilla/c1_write.h"

#include "base/check.h"

#include <string.h>

void c1_writer_init(struct c1_writer *writer, cuzk_write_fn *write, void *context,
                    struct cuzk_error *err)
{
    writer->write = write;
    writer->context = context;
    writer->err = err;
    writer->status = CUZK_OK;
    writer->len = 0;
}

enum cuzk_status c1_writer_end(struct c1_writer *writer)
{
    if (writer->status == CUZK_OK && writer->len > 0)
        writer->status = writer->write(writer->context, writer->buffer, writer->len, writer->err);
    writer->len = 0;
    return writer->status;
}

/* Makes room for len more characters. */
static char *reserve_text(struct c1_writer *writer, size_t len)
{
    CHECK(len <= sizeof writer->buffer);
    if (len > sizeof writer->buffer - writer->len)
        c1_writer_end(writer);
    return writer->buffer + writer->len;
}

void c1_write_text(struct c1_writer *writer, const char *text)
{
    size_t len = strlen(text);
    memcpy(reserve_text(writer, len), text, len);
    writer->len += len;
}

/* Writes the digits and returns the place behind them. */
static char *put_number(char *out, uint64_t value)
{
    char digits[20];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    while (n > 0)
        *out++ = digits[--n];
    return out;
}

void c1_write_number(struct c1_writer *writer, uint64_t value)
{
    char *out = reserve_text(writer, 20);
    writer->len += (size_t)(put_number(out, value) - out);
}

void c1_write_bytes(struct c1_writer *writer, const uint8_t bytes[32])
{
    char *begin = reserve_text(writer, 2 + 32 * 4);
    char *out = begin;
    *out++ = '[';
    for (unsigned i = 0; i < 32; i++) {
        if (i > 0)
            *out++ = ',';
        out = put_number(out, bytes[i]);
    }
    *out++ = ']';
    writer->len += (size_t)(out - begin);
}

void c1_write_fr(struct c1_writer *writer, const struct fr *value)
{
    uint8_t bytes[FR_BYTES];
    fr_to_bytes(bytes, value);
    c1_write_bytes(writer, bytes);
}
