/* A key's Lagrange form (key/lagrange.h) in a file beside the .params file: the same name with the
   ending .lagrange. It is made once, on a device (groth16/lagrange_make.h) or from known trapdoors
   (groth16/setup_lagrange.h). Devices use it when it is there.

   The file is a header of 4096 bytes, then the points of h', l' and the inputs, 96 bytes each as in
   the .params file. The header, numbers of 32 bits and little-endian:

     0   "CUZKLAGR"
     8   version, 1
     12  log2_domain
     16  number of points of l'
     20  number of points of the inputs
     24  16 bytes: the digest of the verifying key at the head of the .params file
     40  zeros */
#ifndef KEY_LAGRANGE_FILE_H
#define KEY_LAGRANGE_FILE_H

#include "base/file.h"
#include "base/file_part.h"
#include "key/params.h"

/* A mapped file. Shared, read-only; thread-safe. */
struct lagrange_file {
    char *path;
    struct file_map map;
    struct lagrange_points points; /* in the map: only to be read */
};

/* Opens the file beside params->path: CUZK_OK with *out NULL if there is none. The parameters are
   the shape's (params_match_shape). CUZK_BAD_PARAMS says which file, what was found and what was
   expected: the file is of another kind, version, key or circuit, is cut, or cannot be read. Points
   are not looked at: a proof made with a bad one does not pass the verification that every proof
   gets. Free with lagrange_close. */
enum cuzk_status lagrange_open(const struct params *params, const struct shape *shape,
                               struct lagrange_file **out, struct cuzk_error *err);
void lagrange_close(struct lagrange_file *file); /* NULL is allowed */

/* Byte offsets of the first point of each part, and the size of the file. */
struct lagrange_layout {
    size_t h, l, inputs;
    size_t bytes;
};
void lagrange_lay_out(const struct shape *shape, struct lagrange_layout *out);

/* Writes all points into a file of the layout's size. */
typedef enum cuzk_status lagrange_fill_fn(void *context, const struct file_part *file,
                                          struct cuzk_error *err);

/* Makes the file anew: takes space for all of it, has `fill` fill it, writes the header, and gives
   the file its name last (base/file_part.h). The parameters are the shape's. CUZK_IO names the
   file; CUZK_FAILED_PRECONDITION: another process makes it now; errors of `fill` come after the
   file's name. Nothing is left of a file that was not made. */
enum cuzk_status lagrange_write(const struct params *params, const struct shape *shape,
                                lagrange_fill_fn *fill, void *context, struct cuzk_error *err);

/* Writes all points to their places in the mapped file. */
typedef enum cuzk_status lagrange_fill_map_fn(void *context, const struct lagrange_points *points,
                                              struct cuzk_error *err);

/* lagrange_write, with the points written through a map of the file. */
enum cuzk_status lagrange_write_mapped(const struct params *params, const struct shape *shape,
                                       lagrange_fill_map_fn *fill, void *context,
                                       struct cuzk_error *err);

#endif
