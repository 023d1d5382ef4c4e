#include "vanilla/bincode_write.h"

#include "base/bytes.h"

void bincode_write_u32(struct bincode_writer *writer, uint32_t value)
{
    store_u32_le(writer->at, value);
    writer->at += 4;
}

void bincode_write_u64(struct bincode_writer *writer, uint64_t value)
{
    store_u64_le(writer->at, value);
    writer->at += 8;
}

void bincode_write_fr(struct bincode_writer *writer, const struct fr *value)
{
    fr_to_bytes(writer->at, value);
    writer->at += FR_BYTES;
}

/* One tree of a compound proof: levels [first, first + n) of the shape. */
static void write_path(struct bincode_writer *writer, const struct tree_shape *shape,
                       unsigned first, unsigned n, const struct tree_path *path)
{
    const struct fr *sibling = path->siblings;
    uint64_t index = path->index;
    for (unsigned level = 0; level < first; level++) {
        sibling += shape->arity[level] - 1;
        index /= shape->arity[level];
    }
    bincode_write_u64(writer, n);
    for (unsigned level = first; level < first + n; level++) {
        unsigned arity = shape->arity[level];
        bincode_write_u64(writer, arity - 1);
        for (unsigned i = 0; i + 1 < arity; i++)
            bincode_write_fr(writer, sibling++);
        bincode_write_u64(writer, index % arity);
        index /= arity;
    }
}

void bincode_write_merkle_proof(struct bincode_writer *writer, const struct tree_shape *shape,
                                const struct fr *root, const struct fr *leaf,
                                const struct tree_path *path)
{
    unsigned upper = (unsigned)(shape->sub != 0) + (shape->top != 0); /* above the base trees */
    unsigned base_levels = shape->levels - upper;
    bincode_write_u32(writer, upper);
    if (upper == 0) {
        bincode_write_fr(writer, root);
        bincode_write_fr(writer, leaf);
    }
    write_path(writer, shape, 0, base_levels, path);
    for (unsigned i = 0; i < upper; i++)
        write_path(writer, shape, base_levels + i, 1, path);
    if (upper > 0) {
        bincode_write_fr(writer, root);
        bincode_write_fr(writer, leaf);
    }
}
