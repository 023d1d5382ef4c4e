#include "circuits/tree.h"

#include "base/check.h"

static void append_level(struct tree_shape *shape, unsigned arity)
{
    CHECK(shape->levels < TREE_LEVELS_MAX);
    shape->arity[shape->levels++] = (uint8_t)arity;
    shape->siblings += arity - 1;
}

void tree_shape_poseidon(struct tree_shape *out, uint64_t leaves, unsigned base, unsigned sub,
                         unsigned top)
{
    *out = (struct tree_shape){.base = base, .sub = sub, .top = top};
    uint64_t base_leaves = leaves / (sub ? sub : 1) / (top ? top : 1);
    uint64_t reached = 1;
    for (; reached < base_leaves; reached *= base)
        append_level(out, base);
    CHECK(reached == base_leaves);
    if (sub)
        append_level(out, sub);
    if (top)
        append_level(out, top);
}

void tree_shape_binary(struct tree_shape *out, uint64_t leaves)
{
    tree_shape_poseidon(out, leaves, 2, 0, 0);
}

unsigned tree_level_bits(const struct tree_shape *shape, unsigned level)
{
    unsigned bits = 0;
    while (1u << bits < shape->arity[level])
        bits++;
    return bits;
}
