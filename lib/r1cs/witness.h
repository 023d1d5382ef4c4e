/* The packed witness of one partition.

   Layout (stable: it is uploaded to devices as it is):
   - `bits`: one bit for each aux variable in variable order, bit i at bits[i / 64] >> (i % 64) & 1,
     little-endian words, padded with zero to a multiple of 64 bytes; 0 for full-size variables.
   - `full`: the values of the full-size (VAR_KIND_NUM) aux variables in variable order, Montgomery
     form. Which variables these are is a property of the shape (shape_full_index).
   - `inputs`: all inputs, inputs[0] = 1, Montgomery form. */
#ifndef R1CS_WITNESS_H
#define R1CS_WITNESS_H

#include "r1cs/cs.h"

struct witness {
    uint64_t *bits;
    struct fr *full;
    struct fr *inputs;
    uint32_t n_aux;    /* allocated so far */
    uint32_t n_full;
    uint32_t n_inputs;
    uint32_t aux_capacity; /* from the shape: exact, so that nothing grows during synthesis */
    uint32_t full_capacity;
    uint32_t inputs_capacity;
};

struct shape;

/* Runs the program with the witness driver and checks the counts against the shape
   (CUZK_INTERNAL if they differ). Memory: about shape->n_aux / 8 + 32 · shape->n_full bytes. */
enum cuzk_status witness_synthesize(const struct circuit_program *program,
                                    const struct shape *shape, struct witness *out,
                                    struct cuzk_error *err);

/* Wipes and frees. */
void witness_free(struct witness *witness);

size_t witness_bytes(const struct witness *witness);

/* --- For the fast paths of templates ------------------------------------------------------------ */

/* Appends `count` ≤ 64 bit variables, least significant bit of `word` first. The caller allocates no
   other way while it uses these; ids follow from n_aux. */
void witness_append_bits(struct witness *witness, uint64_t word, unsigned count);

/* Appends one full-size variable. */
void witness_append_full(struct witness *witness, const struct fr *value);

#endif
