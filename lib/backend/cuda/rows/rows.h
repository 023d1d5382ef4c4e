/* Row values on the device, from the packed witness and the compiled circuit: the twin of
   shape_eval_rows in r1cs/shape.h.

   The host flattens the circuit to an image: plain arrays of integers and field elements that lie
   in device memory as they are. */
#ifndef CUDA_ROWS_H
#define CUDA_ROWS_H

#include <cuzk/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* cudaStream_t */

/* --- The image -------------------------------------------------------------------------------- */

enum {
    ROWS_SMALL_MAX = 127,      /* sums of small coefficients are within ± that */
    ROWS_LOCALS_MAX = 1 << 18, /* local variables of a template: shared memory holds their bits */
    ROWS_TERMS_MAX = 1 << 23,  /* terms of small rows in all templates */
    ROWS_PART_ROWS = 1 << 13,  /* rows that one block evaluates */
};

/* One side of a row of a template, in 32 bits: two bits of kind, then what belongs to it. Wide rows
   are in a list of their own. */
enum rows_kind {
    ROWS_SMALL, /* 7 bits: count; 23 bits: first term */
    ROWS_COPY,  /* 30 bits: slot of a full-size variable */
    ROWS_WIDE,
};

/* A small term: 8 bits of signed coefficient, 24 bits of local variable, which is a bit. */
#define ROWS_TERM(coeff, local) ((uint32_t)(coeff) << 24 | (uint32_t)(local))

/* A row that is a sum of full-size products or of many bits. */
struct rows_wide {
    uint32_t row;
    uint32_t side;         /* 0: a, 1: b */
    uint32_t first, count; /* into wide terms */
};

struct rows_wide_term {
    uint32_t variable; /* local variable, or ROWS_SLOT and a slot */
    uint32_t coeff;    /* into coefficients */
};
#define ROWS_SLOT 0x80000000u

struct rows_template {
    uint32_t n_rows;
    uint32_t n_externals, n_internal;
    uint32_t n_external_slots; /* full-size externals: the first slots */
    uint32_t first_code;       /* into codes: both sides of each row */
    uint32_t first_wide, n_wide;
};

struct rows_placement {
    uint32_t template_index;
    uint32_t first_row, first_aux, first_full;
    uint32_t first_run, n_runs;
    uint32_t first_source;           /* of its external slots */
    uint32_t first_patch, n_patches; /* wide rows that replace the template's */
};

/* A run of aux variables that are externals. */
struct rows_run {
    uint32_t first_aux, count, local;
};

/* Where a full-size external's value is: two bits of kind and an index. */
enum rows_source { ROWS_FROM_INPUT, ROWS_FROM_FULL, ROWS_FROM_BIT };

struct rows_part {
    uint32_t placement, first_row; /* relative to the template */
};

/* Byte offsets into the image. */
struct rows_image {
    uint8_t *bytes; /* host; mem_free'd by rows_image_free */
    size_t n_bytes;
    size_t small, coeffs, templates, codes, terms, wide, wide_terms, placements, runs, sources,
        parts;
    uint32_t n_parts;
    uint32_t most_locals;
    uint32_t n_rows, n_inputs;
};

struct shape;

/* Flattens a circuit. CUZK_RESOURCE_EXHAUSTED if a template is larger than the device code can
 * take. */
enum cuzk_status rows_image_make(const struct shape *shape, struct rows_image *out,
                                 struct cuzk_error *err);
void rows_image_free(struct rows_image *image);

/* --- On the device ---------------------------------------------------------------------------- */

/* A witness in device memory: the blocks of struct witness; bits with 64 more bytes behind them. */
struct rows_witness {
    const void *bits, *full, *inputs;
};

/* All rows, the input rows and zeros up to 2^log2_domain, to a and b: Montgomery form. image_device
   is a copy of image->bytes. 0, or the first CUDA error of the launches. */
int rows_enqueue(const struct rows_image *image, const void *image_device,
                 const struct rows_witness *witness, unsigned log2_domain, void *a, void *b,
                 struct CUstream_st *stream);

/* out[i] = values[indices[i]], i < n: 32-byte elements. */
int rows_gather(const void *values, const uint32_t *indices, uint32_t n, void *out,
                struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
