#include "vanilla/merkle_roots.h"

#include "base/check.h"
#include "base/hash.h"

/* A path on its way from a leaf to the root. */
struct climb {
    struct fr node;
    const struct fr *siblings;
    uint64_t index;
    struct fr children[8];
};

/* Sets the children whose hash is the next node. */
static void gather_children(struct climb *climb, unsigned arity)
{
    unsigned own = (unsigned)(climb->index % arity);
    for (unsigned i = 0; i < arity; i++)
        climb->children[i] = i == own ? climb->node : *climb->siblings++;
    climb->index /= arity;
}

void merkle_roots_poseidon(struct poseidon_memo *memo, const struct tree_shape *shape, size_t n,
                           const struct fr *const leaves[], const struct tree_path *const paths[],
                           struct fr *const roots[])
{
    struct climb climbs[POSEIDON_MEMO_TOGETHER];
    const struct fr *inputs[POSEIDON_MEMO_TOGETHER];
    struct fr *out[POSEIDON_MEMO_TOGETHER];
    CHECK(n <= POSEIDON_MEMO_TOGETHER);
    for (size_t i = 0; i < n; i++) {
        climbs[i].node = *leaves[i];
        climbs[i].siblings = paths[i]->siblings;
        climbs[i].index = paths[i]->index;
        inputs[i] = climbs[i].children;
        out[i] = &climbs[i].node;
    }
    for (unsigned level = 0; level < shape->levels; level++) {
        unsigned arity = shape->arity[level];
        for (size_t i = 0; i < n; i++)
            gather_children(&climbs[i], arity);
        poseidon_memo_hashes(memo, arity, n, inputs, out);
    }
    for (size_t i = 0; i < n; i++)
        *roots[i] = climbs[i].node;
}

void merkle_hash_sha256(struct fr *out, const struct fr *left, const struct fr *right)
{
    uint8_t message[2 * FR_BYTES];
    uint8_t digest[SHA256_BYTES];
    fr_to_bytes(message, left);
    fr_to_bytes(message + FR_BYTES, right);
    sha256(message, sizeof message, digest);
    fr_make_safe(digest);
    CHECK(fr_from_bytes(out, digest));
}

struct fr merkle_root_sha256(unsigned first, unsigned levels, const struct fr *node,
                             const struct tree_path *path)
{
    struct fr out = *node;
    for (unsigned level = first; level < first + levels; level++) {
        const struct fr *sibling = &path->siblings[level];
        if (path->index >> level & 1)
            merkle_hash_sha256(&out, sibling, &out);
        else
            merkle_hash_sha256(&out, &out, sibling);
    }
    return out;
}
