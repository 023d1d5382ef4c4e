/* Reading bincode 1.x, the binary form of vanilla proofs of PoSt and of sector updates:
   little-endian, lengths of 64 bits, enum tags of 32 bits, arrays of bytes without a length (part
   F.4). Private to lib/vanilla.

   Every length has one value that the circuit allows, so no memory is taken for what the text
   claims. `what` names the value in messages; "at byte N" is the offset behind it. */
#ifndef VANILLA_BINCODE_H
#define VANILLA_BINCODE_H

#include "base/error.h"
#include "circuits/tree.h"

struct bincode {
    const uint8_t *bytes;
    size_t len;
    size_t at; /* the next byte */
};

/* CUZK_INVALID_ARGUMENT when the text is over, so below. */
enum cuzk_status bincode_u32(struct bincode *text, const char *what, uint32_t *out,
                             struct cuzk_error *err);
enum cuzk_status bincode_u64(struct bincode *text, const char *what, uint64_t *out,
                             struct cuzk_error *err);

/* A field element. Also CUZK_INVALID_ARGUMENT when the 32 bytes are not its canonical form. */
enum cuzk_status bincode_fr(struct bincode *text, const char *what, struct fr *out,
                            struct cuzk_error *err);

/* A length that is right in one case only. */
enum cuzk_status bincode_length(struct bincode *text, const char *what, uint64_t wanted,
                                struct cuzk_error *err);

/* An inclusion proof as it stands in the text. `path.siblings` is the caller's memory, for as many
   elements as the tree's shape says. */
struct merkle_proof {
    struct fr root;
    struct fr leaf;
    struct tree_path path;
};

/* Length of a proof of a tree of this shape. */
size_t bincode_merkle_bytes(const struct tree_shape *shape);

/* Reads a proof of a tree of this shape: "Single", "Sub" or "Top", by the shape's arities. */
enum cuzk_status bincode_merkle_proof(struct bincode *text, const struct tree_shape *shape,
                                      struct merkle_proof *out, struct cuzk_error *err);

#endif
