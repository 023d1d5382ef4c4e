/* Writing the JSON text of a C1 through a buffer: compact, as the reference writes it
   (docs/spec/circuits.md, part E.6). Private to lib/vanilla. */
#ifndef VANILLA_C1_WRITE_H
#define VANILLA_C1_WRITE_H

#include <cuzk/dev.h>

#include "math/fr.h"

enum { C1_WRITER_BYTES = 32 * 1024 };

struct c1_writer {
    cuzk_write_fn *write;
    void *context;
    struct cuzk_error *err;
    enum cuzk_status status; /* of the first failed write; nothing is written after it */
    size_t len;
    char buffer[C1_WRITER_BYTES];
};

void c1_writer_init(struct c1_writer *writer, cuzk_write_fn *write, void *context,
                    struct cuzk_error *err);

/* Writes out what is in the buffer; returns the status of the whole text. */
enum cuzk_status c1_writer_end(struct c1_writer *writer);

void c1_write_text(struct c1_writer *writer, const char *text);
void c1_write_number(struct c1_writer *writer, uint64_t value);

/* Writes an array of 32 numbers. */
void c1_write_bytes(struct c1_writer *writer, const uint8_t bytes[32]);
void c1_write_fr(struct c1_writer *writer, const struct fr *value);

#endif
