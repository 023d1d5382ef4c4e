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

enum value_sequence { VALUES_A, VALUES_B, VALUES_C, VALUES_AUX, VALUES_INPUTS, VALUES_COUNT };

/* Digests of stretches of each sequence, to find where two of them differ: chunk i is values
   i · size … (i + 1) · size − 1, the last one may be shorter. fn gets the chunks of a sequence in
   order; different sequences at the same time. */
struct value_chunks {
    uint32_t size;
    void (*fn)(void *context, enum value_sequence sequence, uint32_t chunk,
               const uint8_t sha256[32]);
    void *context;
};

/* The digests run beside each other on the pool (NULL: the caller alone). chunks may be NULL. */
enum cuzk_status value_digests_make(const struct row_evaluator *evaluator,
                                    const struct witness *witness, struct pool *pool,
                                    const struct value_chunks *chunks, struct value_digests *out,
                                    struct cuzk_error *err);

#endif
