/* The sector sizes that have circuits, and their trees (docs/spec/gadgets.md, part D.1). */
#ifndef CIRCUITS_SECTOR_H
#define CIRCUITS_SECTOR_H

#include "circuits/tree.h"
#include "gadgets/merkle.h"

enum { SECTOR_NODE_BYTES = 32 };

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

/* Arities of tree_r and tree_c. */
struct sector_size {
    uint64_t bytes;
    unsigned base, sub, top;
};

enum { SECTOR_SIZES = 12 };
extern const struct sector_size sector_sizes[SECTOR_SIZES];

/* NULL for any other size. */
const struct sector_size *sector_size(uint64_t bytes);

/* Whether PoRep and PoSt have the size: 1 KiB and 8 KiB exist for sector updates only. */
bool sector_is_sealed(uint64_t bytes);

/* The shapes of tree_d, and of tree_r and tree_c, of a sector. */
void sector_tree_d(struct tree_shape *out, const struct sector_size *size);
void sector_tree_r(struct tree_shape *out, const struct sector_size *size);

/* An inclusion path in the form that the gadget takes. */
struct merkle_path sector_path(enum merkle_hash hash, const struct tree_shape *shape,
                               const struct tree_path *path);

#endif
