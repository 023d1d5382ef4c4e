/* Writing vanilla proofs as bincode (part F.4), for made-up sectors. Private to lib/vanilla. */
#ifndef VANILLA_BINCODE_WRITE_H
#define VANILLA_BINCODE_WRITE_H

#include "circuits/tree.h"

#include <stddef.h>

/* The next byte to write. The caller provides the room; the writers below say how much they
   take. */
struct bincode_writer {
    uint8_t *at;
};

void bincode_write_u32(struct bincode_writer *writer, uint32_t value);        /* 4 bytes */
void bincode_write_u64(struct bincode_writer *writer, uint64_t value);        /* 8 */
void bincode_write_fr(struct bincode_writer *writer, const struct fr *value); /* 32 */

/* A proof of a tree of this shape: bincode_merkle_bytes(shape). */
void bincode_write_merkle_proof(struct bincode_writer *writer, const struct tree_shape *shape,
                                const struct fr *root, const struct fr *leaf,
                                const struct tree_path *path);

#endif
