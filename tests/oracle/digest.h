/* The R1CS digest (docs/spec/parameters.md, part I.1), straight from the gadgets without templates,
   and from the compiled circuit. Both have to agree with each other and with the known answers. */
#ifndef ORACLE_DIGEST_H
#define ORACLE_DIGEST_H

#include "r1cs/shape.h"

struct cs_digest {
    uint8_t sha256[32];
    uint32_t n_inputs;
    uint32_t n_aux;
    uint64_t n_rows;
    uint32_t a_dense_aux; /* aux with a nonzero A coefficient in some row */
    uint32_t b_dense_aux;
    uint32_t b_dense_inputs;
};

/* Receives each row with its combinations normalised. */
typedef void row_fn(void *context, uint64_t row, const struct lc *a, const struct lc *b,
                    const struct lc *c);

/* Runs the program and hashes all rows. on_row may be NULL. */
enum cuzk_status cs_digest(const struct circuit_program *program, struct cs_digest *digest,
                           row_fn *on_row, void *row_context, struct cuzk_error *err);

/* The digest of the compiled circuit. CUZK_NO_MEMORY. */
enum cuzk_status shape_digest(const struct shape *shape, uint8_t digest[32],
                              struct cuzk_error *err);

#endif
