#include "vanilla/bincode.h"

#include "base/bytes.h"

#include <inttypes.h>

/* The next `len` bytes; NULL when the text is over. */
static const uint8_t *take(struct bincode *text, const char *what, size_t len,
                           struct cuzk_error *err)
{
    if (text->len - text->at < len) {
        error_set(err, CUZK_INVALID_ARGUMENT, "%s: needs %zu bytes at byte %zu, but there are %zu",
                  what, len, text->at, text->len - text->at);
        return NULL;
    }
    const uint8_t *bytes = text->bytes + text->at;
    text->at += len;
    return bytes;
}

enum cuzk_status bincode_u32(struct bincode *text, const char *what, uint32_t *out,
                             struct cuzk_error *err)
{
    const uint8_t *bytes = take(text, what, 4, err);
    if (!bytes)
        return CUZK_INVALID_ARGUMENT;
    *out = load_u32_le(bytes);
    return CUZK_OK;
}

enum cuzk_status bincode_u64(struct bincode *text, const char *what, uint64_t *out,
                             struct cuzk_error *err)
{
    const uint8_t *bytes = take(text, what, 8, err);
    if (!bytes)
        return CUZK_INVALID_ARGUMENT;
    *out = load_u64_le(bytes);
    return CUZK_OK;
}

enum cuzk_status bincode_fr(struct bincode *text, const char *what, struct fr *out,
                            struct cuzk_error *err)
{
    const uint8_t *bytes = take(text, what, FR_BYTES, err);
    if (!bytes)
        return CUZK_INVALID_ARGUMENT;
    if (!fr_from_bytes(out, bytes))
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "%s: not a canonical field element (at byte %zu)", what, text->at);
    return CUZK_OK;
}

enum cuzk_status bincode_length(struct bincode *text, const char *what, uint64_t wanted,
                                struct cuzk_error *err)
{
    uint64_t length;
    TRY(bincode_u64(text, what, &length, err));
    if (length != wanted)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "%s: %" PRIu64 " of them, expected %" PRIu64 " (at byte %zu)", what,
                         length, wanted, text->at);
    return CUZK_OK;
}

/* --- Merkle proofs ---------------------------------------------------------------------------- */

/* One tree of a compound proof: levels [first, first + n) of the shape. */
static enum cuzk_status read_path(struct bincode *text, const struct tree_shape *shape,
                                  const char *name, unsigned first, unsigned n,
                                  struct tree_path *path, struct cuzk_error *err)
{
    unsigned shift = 0;
    struct fr *sibling = path->siblings;
    for (unsigned level = 0; level < first; level++) {
        shift += tree_level_bits(shape, level);
        sibling += shape->arity[level] - 1;
    }
    TRY(bincode_length(text, name, n, err));
    for (unsigned level = first; level < first + n; level++) {
        uint64_t index;
        unsigned arity = shape->arity[level];
        TRY(bincode_length(text, "hashes", arity - 1, err));
        for (unsigned i = 0; i + 1 < arity; i++)
            TRY(bincode_fr(text, "hash", sibling++, err));
        TRY(bincode_u64(text, "index", &index, err));
        if (index >= arity)
            return error_set(err, CUZK_INVALID_ARGUMENT,
                             "index: %" PRIu64 ", expected below %u (at byte %zu)", index, arity,
                             text->at);
        path->index |= index << shift;
        shift += tree_level_bits(shape, level);
    }
    return CUZK_OK;
}

static enum cuzk_status read_root_and_leaf(struct bincode *text, struct merkle_proof *out,
                                           struct cuzk_error *err)
{
    TRY(bincode_fr(text, "root", &out->root, err));
    return bincode_fr(text, "leaf", &out->leaf, err);
}

/* Trees above the base trees: 0, 1 or 2. */
static unsigned upper_trees(const struct tree_shape *shape)
{
    return (unsigned)(shape->sub != 0) + (shape->top != 0);
}

size_t bincode_merkle_bytes(const struct tree_shape *shape)
{
    size_t trees = 1 + upper_trees(shape);
    return 4 + 2 * FR_BYTES + trees * 8 + shape->levels * (size_t)16 +
           shape->siblings * (size_t)FR_BYTES;
}

enum cuzk_status bincode_merkle_proof(struct bincode *text, const struct tree_shape *shape,
                                      struct merkle_proof *out, struct cuzk_error *err)
{
    static const char *const names[] = {"Single", "Sub", "Top"};
    unsigned upper = upper_trees(shape);
    unsigned base_levels = shape->levels - upper;
    uint32_t tag;
    out->path.index = 0;
    TRY(bincode_u32(text, "proof", &tag, err));
    if (tag != upper)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "proof: of form %" PRIu32 ", expected %u (%s) (at byte %zu)", tag, upper,
                         names[upper], text->at);
    if (upper == 0) {
        TRY(read_root_and_leaf(text, out, err));
        return read_path(text, shape, "path", 0, base_levels, &out->path, err);
    }
    TRY(read_path(text, shape, "base_proof", 0, base_levels, &out->path, err));
    TRY(read_path(text, shape, "sub_proof", base_levels, 1, &out->path, err));
    if (shape->top != 0)
        TRY(read_path(text, shape, "top_proof", base_levels + 1, 1, &out->path, err));
    return read_root_and_leaf(text, out, err);
}
