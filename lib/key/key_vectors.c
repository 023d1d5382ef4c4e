#include "key/key_vectors.h"

#include "base/error.h"
#include "math/group.h"

static const struct {
    const char *name;
    size_t point_bytes;
} vectors[KEY_VECTORS] = {
    [KEY_H] = {"h", G1_BYTES},       [KEY_L] = {"l", G1_BYTES},       [KEY_A] = {"a", G1_BYTES},
    [KEY_B_G1] = {"b_g1", G1_BYTES}, [KEY_B_G2] = {"b_g2", G2_BYTES},
};

const char *key_vector_name(enum key_vector which)
{
    return vectors[which].name;
}

size_t key_point_bytes(enum key_vector which)
{
    return vectors[which].point_bytes;
}

/* The vectors from h to `last`. */
static enum cuzk_status check_counts(const struct key_vectors *key, const struct shape *shape,
                                     enum key_vector last, struct cuzk_error *err)
{
    const uint64_t wanted[KEY_VECTORS] = {
        [KEY_H] = (UINT64_C(1) << shape->log2_domain) - 1,
        [KEY_L] = shape->n_aux,
        [KEY_A] = (uint64_t)shape->n_inputs + shape->a_dense_aux,
        [KEY_B_G1] = (uint64_t)shape->b_dense_inputs + shape->b_dense_aux,
        [KEY_B_G2] = (uint64_t)shape->b_dense_inputs + shape->b_dense_aux,
    };
    for (enum key_vector which = KEY_H; which <= last; which++) {
        if (key->v[which].n != wanted[which])
            return error_set(
                err, CUZK_BAD_PARAMS, "section %s has %u points, the circuit needs %llu",
                vectors[which].name, key->v[which].n, (unsigned long long)wanted[which]);
    }
    return CUZK_OK;
}

enum cuzk_status key_check(const struct key_vectors *key, const struct shape *shape,
                           struct cuzk_error *err)
{
    return check_counts(key, shape, KEY_B_G2, err);
}

enum cuzk_status key_check_h_and_l(const struct key_vectors *key, const struct shape *shape,
                                   struct cuzk_error *err)
{
    return check_counts(key, shape, KEY_L, err);
}
