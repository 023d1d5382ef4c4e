/* SHA-256 of all values of a partition, as the known answers have them (vectors/README.md): values
   are 32 bytes, canonical, little-endian. For tests and for comparing machines. */
#ifndef R1CS_VALUE_DIGEST_H
#define R1CS_VALUE_DIGEST_H

#include "r1cs/rows.h"

struct value_digests {
    uint8_t inputs[32]; /* from the constant 1 on */
    uint8_t aux[32];    /* in order of allocation */
    /* ⟨A,z⟩, ⟨B,z⟩, ⟨C,z⟩ of the circuit rows and the input rows, without padding */
    uint8_t rows[MATRIX_COUNT][32];
};

/* The digests run beside each other on the pool (NULL: the caller alone). */
enum cuzk_status value_digests_make(const struct row_evaluator *evaluator,
                                    const struct witness *witness, struct pool *pool,
                                    struct value_digests *out, struct cuzk_error *err);

#endif
