/* Parameter files: .params, a proving key with its verifying key at the head
   (docs/spec/groth16.md, part A.6).

   What is trusted when: the verifying key's points are always checked completely. Points of vectors
   are not looked at when a file is opened (there are hundreds of millions of them);
   params_check_points looks at them on demand. A proof made with a bad point does not pass the
   verification that every proof gets. */
#ifndef KEY_PARAMS_H
#define KEY_PARAMS_H

#include "base/file.h"
#include "key/key_vectors.h"
#include "key/paths.h"
#include "key/vk.h"

struct pool;

/* A mapped .params file. Shared, read-only; thread-safe. */
struct params {
    char *path;
    struct file_map map;
    struct vk vk;
    struct key_vectors key; /* points in the map; without a Lagrange form */
    size_t bytes; /* up to the last section's end. A ceremony's file goes on with its transcript;
                     a circuit's file must end there (params_match_shape) */
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

/* Is it this circuit's key? See vk_match_circuit. */
enum cuzk_status params_match_circuit(const struct params *params,
                                      const struct circuit_info *circuit, struct cuzk_error *err);

/* Do the vectors fit the circuit (key_check), and does the file end where they do? */
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
