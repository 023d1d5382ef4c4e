/* Parameter files: .params (proving key) and .vk (verifying key); docs/spec/groth16.md, parts A.5,
   A.6.

   What is trusted when: vk points are always checked completely. Vector points are not looked at
   when a file is opened (there are hundreds of millions); params_check_points does that on demand,
   and a proof made with a bad point does not pass the verification that every proof gets. */
#ifndef KEY_PARAMS_H
#define KEY_PARAMS_H

#include "base/file.h"
#include "circuits/registry.h"
#include "math/group.h"
#include "r1cs/shape.h"

/* An empty or not file of this name marks a folder as one of development parameters: insecure, made
   from known trapdoors (setup.h). Such files are used only from marked folders, real ones only from
   others. */
#define PARAMS_DEV_MARKER "CUZK-DEV-PARAMETERS-INSECURE"

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
/* Reads a .vk file, or the key at the head of a .params file (by its ending). */
enum cuzk_status vk_read(const char *path, struct vk *out, struct cuzk_error *err);
void vk_free(struct vk *vk);

/* One of the five vectors: uncompressed points in the mapped file. */
struct params_section {
    const uint8_t *points;
    uint32_t count;
};

/* In the order of the file. */
enum params_vector { PARAMS_H, PARAMS_L, PARAMS_A, PARAMS_B_G1, PARAMS_B_G2, PARAMS_VECTORS };

/* A mapped .params file. Shared, read-only; thread-safe. */
struct params {
    char *path;
    struct file_map map;
    struct vk vk;
    struct params_section h, l, a, b_g1, b_g2;
    size_t bytes; /* up to the last section's end. A file may go on behind that (ceremony files
                     carry their transcript there), but not one of a circuit: params_match_shape */
    bool is_dev;  /* lies in a folder marked as development parameters */
};

/* Maps a file and checks that its sections fit its size. CUZK_BAD_PARAMS names file, section, found
   and wanted sizes; also when there is no such file. No memory is taken for a count that the file
   does not hold. */
enum cuzk_status params_open(const char *path, struct params **out, struct cuzk_error *err);
void params_close(struct params *params);

/* Opens a circuit's file in a folder, after its size was compared with that of part I.2, and checks
   that it is the circuit's (params_match_circuit). The usual way to open parameters. */
enum cuzk_status params_open_circuit(const char *folder, const struct circuit_info *circuit,
                                     struct params **out, struct cuzk_error *err);

/* Name ("l") and content of a vector; bytes of one of its points. */
const char *params_vector_name(enum params_vector which);
const struct params_section *params_vector(const struct params *params, enum params_vector which);
size_t params_point_bytes(enum params_vector which);

/* Is it this circuit's key? Number of inputs, and the digest of the verifying key: in an unmarked
   folder that of the published file, in a marked one any other. CUZK_BAD_PARAMS says what
   differs. */
enum cuzk_status params_match_circuit(const struct params *params,
                                      const struct circuit_info *circuit, struct cuzk_error *err);
/* The same for a verifying key from a folder that is marked or not. name is for messages. */
enum cuzk_status vk_match_circuit(const struct vk *vk, bool is_dev, const char *name,
                                  const struct circuit_info *circuit, struct cuzk_error *err);

/* Is the file in a folder marked as development parameters? */
bool params_in_dev_folder(const char *path);

/* Do the section counts fit the circuit, and does the file end where they do? */
enum cuzk_status params_match_shape(const struct params *params, const struct shape *shape,
                                    struct cuzk_error *err);

/* Decodes every point with the given check, spread over the pool (NULL: the caller alone); names
   the first bad point (section, index). */
enum cuzk_status params_check_points(const struct params *params, enum point_check check,
                                     struct pool *pool, struct cuzk_error *err);

/* BLAKE2b-512 of the whole file, first 16 bytes (the digest of parameters.json). Takes about a
   second a gigabyte. */
enum cuzk_status params_digest(const struct params *params, uint8_t digest[16],
                               struct cuzk_error *err);

#endif
