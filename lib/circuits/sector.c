#include "circuits/sector.h"

const struct sector_size sector_sizes[SECTOR_SIZES] = {
    {1 * KIB, 8, 4, 0},   {2 * KIB, 8, 0, 0},  {4 * KIB, 8, 2, 0},  {8 * KIB, 8, 4, 0},
    {16 * KIB, 8, 8, 0},  {32 * KIB, 8, 8, 2}, {8 * MIB, 8, 0, 0},  {16 * MIB, 8, 2, 0},
    {512 * MIB, 8, 0, 0}, {1 * GIB, 8, 2, 0},  {32 * GIB, 8, 8, 0}, {64 * GIB, 8, 8, 2},
};

const struct sector_size *sector_size(uint64_t bytes)
{
    for (size_t i = 0; i < SECTOR_SIZES; i++) {
        if (sector_sizes[i].bytes == bytes)
            return &sector_sizes[i];
    }
    return NULL;
}

bool sector_is_sealed(uint64_t bytes)
{
    return sector_size(bytes) && bytes != 1 * KIB && bytes != 8 * KIB;
}

void sector_tree_d(struct tree_shape *out, const struct sector_size *size)
{
    tree_shape_binary(out, size->bytes / SECTOR_NODE_BYTES);
}

void sector_tree_r(struct tree_shape *out, const struct sector_size *size)
{
    tree_shape_poseidon(out, size->bytes / SECTOR_NODE_BYTES, size->base, size->sub, size->top);
}

struct merkle_path sector_path(enum merkle_hash hash, const struct tree_shape *shape,
                               const struct tree_path *path)
{
    return (struct merkle_path){
        .hash = hash,
        .levels = shape->levels,
        .arity = shape->arity,
        .index = path->index,
        .siblings = path->siblings,
    };
}
