/* Vectors of multiples of the generators, written into a file: what parameters with known trapdoors
   consist of (setup.h). */
#ifndef GROTH16_MULTIPLES_H
#define GROTH16_MULTIPLES_H

#include "base/file_part.h"
#include "math/fixed_base.h"

struct pool;

/* Stores the scalars first ≤ i < first + n; from several threads. */
typedef enum cuzk_status multiples_scalars_fn(const void *context, size_t first, struct fr *scalars,
                                              size_t n, struct cuzk_error *err);

/* A vector to be: count points of G1 (96 bytes) or G2 (192), uncompressed, from an offset on. */
struct multiples {
    const char *name; /* for progress */
    bool in_g2;
    const struct fr *scalars;   /* NULL: they are made on the way */
    multiples_scalars_fn *make; /* by this, at most MULTIPLES_AT_ONCE at a time */
    const void *context;        /* make's */
    size_t count;
    size_t offset; /* of the first point in the file */
};

/* A whole block of fixed_base.c. */
enum { MULTIPLES_AT_ONCE = 16384 };

/* Where vectors are written, by whom. */
struct multiples_writer {
    const struct file_part *file;
    const struct fixed_base_g1 *g1;
    const struct fixed_base_g2 *g2; /* may be NULL if no vector is in G2 */
    struct pool *pool;              /* NULL: the caller alone */
    /* May be NULL. Called with a number that goes from progress_from to 1, and a vector's name;
       from any of the pool's threads, one call at a time. */
    void (*progress)(void *context, double done, const char *what);
    void *progress_context;
    double progress_from;
};

/* Writes all vectors. Memory: 8 MiB a thread. CUZK_NO_MEMORY, CUZK_IO, or what make says. */
enum cuzk_status multiples_write(const struct multiples_writer *writer,
                                 const struct multiples *vectors, size_t n_vectors,
                                 struct cuzk_error *err);

#endif
