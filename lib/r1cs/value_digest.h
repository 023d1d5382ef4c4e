/* SHA-256 of all values of a partition, as in the known answers (vectors/README.md): each value is
   32 bytes, canonical, little-endian. Used by tests and by `cuzk-bench synth`, whose digests let
   two machines compare their results. */
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

/* Digests of chunks of each sequence, which locate a difference. Chunk i holds values i · size … (i
   + 1) · size − 1; the last one may be shorter. fn gets the chunks of one sequence in order;
   several threads may call it for different sequences. */
struct value_chunks {
    uint32_t size;
    void (*fn)(void *context, enum value_sequence sequence, uint32_t chunk,
               const uint8_t sha256[32]);
    void *context;
};

/* Computes the digests in parallel on the pool (NULL: the caller alone). chunks may be NULL.
   CUZK_NO_MEMORY. */
enum cuzk_status value_digests_make(const struct row_evaluator *evaluator,
                                    const struct witness *witness, struct pool *pool,
                                    const struct value_chunks *chunks, struct value_digests *out,
                                    struct cuzk_error *err);

#endif
