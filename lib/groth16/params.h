/* Parameter files: .params (proving key) and .vk (verifying key); the specification, parts A.5, A.6. */
#ifndef GROTH16_PARAMS_H
#define GROTH16_PARAMS_H

#include "base/file.h"
#include "math/group.h"
#include "r1cs/shape.h"

/* A verifying key, all points fully checked. */
struct vk {
    struct g1_affine alpha_g1, beta_g1, delta_g1;
    struct g2_affine beta_g2, gamma_g2, delta_g2;
    uint32_t n_ic; /* number of inputs, with the constant 1 */
    struct g1_affine *ic;
    uint8_t digest[16]; /* first half of BLAKE2b-512 of the key's bytes */
};

/* Reads a key from bytes: every point on the curve, in the subgroup and finite. Trailing bytes are an error when
   `exact`. *used receives the key's length. */
enum cuzk_status vk_parse(const uint8_t *bytes, size_t len, bool exact, struct vk *out,
                          size_t *used, struct cuzk_error *err);
enum cuzk_status vk_read(const char *path, struct vk *out, struct cuzk_error *err);
void vk_free(struct vk *vk);

/* One of the five vectors: uncompressed points in the mapped file. */
struct params_section {
    const uint8_t *points;
    uint32_t count;
};

/* A mapped .params file. Shared, read-only; thread-safe. */
struct params {
    char *path;
    struct file_map map;
    struct vk vk;
    struct params_section h, l, a, b_g1, b_g2;
    size_t bytes; /* up to the last section's end; the file may hold more only if digest-checked */
    bool is_dev;  /* lies in a folder marked as development parameters */
};

/* Maps a file and checks that its sections fit its size. CUZK_BAD_PARAMS names file, section, found
   and wanted sizes. */
enum cuzk_status params_open(const char *path, struct params **out, struct cuzk_error *err);
void params_close(struct params *params);

/* Do the section counts fit the circuit? */
enum cuzk_status params_match_shape(const struct params *params, const struct shape *shape,
                                    struct cuzk_error *err);

/* Decodes every point with the given check, spread over the pool; names the first bad point (section,
   index). */
enum cuzk_status params_check_points(const struct params *params, enum point_check check,
                                     struct pool *pool, struct cuzk_error *err);

/* BLAKE2b-512 of the whole file, first 16 bytes (the digest of parameters.json). */
enum cuzk_status params_digest(const struct params *params, uint8_t digest[16],
                               struct cuzk_error *err);

#endif
