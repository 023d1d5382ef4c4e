/* A key's Lagrange form (key/lagrange.h) in a file beside the .params file: its name with the
   ending .lagrange instead. Made once, by whoever has a device, or by whoever knows the trapdoors
   (groth16/setup_lagrange.h); used by devices when it is there.

   4096 bytes of header, then the points of h', l' and the inputs, 96 bytes each as in the .params
   file. The header: "CUZKLAGR", version (1), log2_domain, numbers of points of l' and of inputs,
   all 32 bits little-endian; then 16 bytes of the digest of the verifying key that the .params file
   begins with, and zeros. */
#ifndef GROTH16_LAGRANGE_FILE_H
#define GROTH16_LAGRANGE_FILE_H

#include "backend/backend.h"
#include "base/file.h"
#include "base/file_part.h"
#include "key/params.h"

#include <limits.h>

struct pool;

/* A mapped file. Shared, read-only; thread-safe. */
struct lagrange_file {
    char *path;
    struct file_map map;
    struct lagrange_points points; /* in the map: only to be read */
};

/* The file beside params->path, if there is one: CUZK_OK with *out NULL if not. The parameters are
   the shape's (params_match_shape). CUZK_BAD_PARAMS, with the file's name, what was found and what
   was expected, if it is none, of another version, of another key or circuit, cut, or cannot be
   read. Points are not looked at: a proof made with a bad one does not pass the verification that
   every proof gets. Free with lagrange_close. */
enum cuzk_status lagrange_open(const struct params *params, const struct shape *shape,
                               struct lagrange_file **out, struct cuzk_error *err);
void lagrange_close(struct lagrange_file *file); /* NULL is allowed */

/* Where in the file the first point of each part is, and the file's size. */
struct lagrange_layout {
    size_t h, l, inputs;
    size_t bytes;
};
void lagrange_lay_out(const struct shape *shape, struct lagrange_layout *out);

/* Writes all points into a file of the layout's size. */
typedef enum cuzk_status lagrange_fill_fn(void *context, const struct file_part *file,
                                          struct cuzk_error *err);

/* Makes the file anew: space for all of it is taken first, fill fills it, the header is written,
   and only then has it its name (base/file_part.h). The parameters are the shape's. CUZK_IO names
   the file; CUZK_FAILED_PRECONDITION: another process makes it now; what fill says, after the
   file's name. Nothing is left of a file that was not made. */
enum cuzk_status lagrange_write(const struct params *params, const struct shape *shape,
                                lagrange_fill_fn *fill, void *context, struct cuzk_error *err);

/* lagrange_write of what the backend's derive makes and lagrange_check finds good. CUZK_NO_DEVICE:
   the backend cannot; CUZK_BAD_PARAMS: what derive made is not the key's form. progress may be
   NULL. */
enum cuzk_status lagrange_make(const struct params *params, const struct shape *shape,
                               const struct backend *backend, struct backend_device *device,
                               struct pool *pool, backend_progress_fn *progress, void *context,
                               struct cuzk_error *err);

#endif
