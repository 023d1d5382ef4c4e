/* Verifying keys (docs/spec/groth16.md, part A.5): a .vk file, or the head of a .params file. */
#ifndef KEY_VK_H
#define KEY_VK_H

#include "circuits/registry.h"
#include "math/group.h"

/* A verifying key, all points fully checked. */
struct vk {
    struct g1_affine alpha_g1, beta_g1, delta_g1;
    struct g2_affine beta_g2, gamma_g2, delta_g2;
    uint32_t n_ic; /* number of inputs, with the constant 1; at least 1 */
    struct g1_affine *ic;
    uint8_t digest[16]; /* first half of BLAKE2b-512 of the key's bytes */
};

/* Length of a key with n_ic inputs. */
#define VK_BYTES(n_ic) (868 + (size_t)G1_BYTES * (n_ic))

/* Reads a key from bytes: every point on the curve, in the subgroup and finite. Trailing bytes are
   an error when `exact`. *used receives the key's length. CUZK_BAD_PARAMS names the part that is
   wrong. Free with vk_free. */
enum cuzk_status vk_parse(const uint8_t *bytes, size_t len, bool exact, struct vk *out,
                          size_t *used, struct cuzk_error *err);

/* Reads a .vk file, or the key at the head of a .params file (by its ending). Errors as above, and
   CUZK_BAD_PARAMS if the file cannot be read. */
enum cuzk_status vk_read(const char *path, struct vk *out, struct cuzk_error *err);
void vk_free(struct vk *vk);

/* Is it this circuit's key? Number of inputs, and the digest: in a folder that is not marked as one
   of development parameters that of the published key, in a marked one (is_dev) any other.
   CUZK_BAD_PARAMS says what differs, after the name. */
enum cuzk_status vk_match_circuit(const struct vk *vk, bool is_dev, const char *name,
                                  const struct circuit_info *circuit, struct cuzk_error *err);

#endif
