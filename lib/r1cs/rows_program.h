/* The compiled rows of a circuit: for each template and each side (A, B, C) a program with one
   operation a row. row_evaluator_run (r1cs/rows.h) interprets it; backends flatten it into a format
   of their own for a device (backend/cuda/rows/rows_image.c).

   A program reads the values of a placement's local variables: local 0 is the constant 1, then the
   template's externals, then its internal variables. A local that is a bit in all placements has
   no slot. Every other local has a slot, numbered from 0: the externals first, then the internals
   in order. The value of a row is

     ROW_ZERO      0
     ROW_SMALL1…3  Σ coeff·bit over that many terms from small[first] on
     ROW_SMALL     Σ coeff·bit over `count` terms from small[first] on
     ROW_COPY      the value in slot `first`
     ROW_WORDS     sums[first]: constant + Σ 2^shift·(word of bits)
     ROW_TERMS     Σ coefficient·value over the terms of the template's matrix

   The coefficients of a small row add up to at most SMALL_MAX in absolute value; a sum of words is
   an integer below 2^256. A placement's patches (struct shape_patch) replace the coefficient of the
   constant 1 in a row of A; such a row is computed like ROW_TERMS. */
#ifndef R1CS_ROWS_PROGRAM_H
#define R1CS_ROWS_PROGRAM_H

#include "r1cs/coeffs.h"
#include "r1cs/rows.h"

enum { WORD_BITS_MAX = 32 };

/* In place of a slot: the local variable is a bit. */
#define SLOT_BIT UINT32_MAX

enum row_kind {
    ROW_ZERO,
    ROW_SMALL1,
    ROW_SMALL2,
    ROW_SMALL3,
    ROW_SMALL,
    ROW_COPY,
    ROW_WORDS,
    ROW_TERMS,
};

struct row_op {
    uint32_t first; /* ROW_SMALL…: into small; ROW_COPY: a slot; ROW_WORDS: into sums */
    uint16_t count; /* ROW_SMALL: terms. ROW_ZERO, ROW_SMALL1 … 3: rows of this kind from here on,
                       whose terms follow each other */
    uint8_t kind;
};

struct small_term {
    uint32_t local;
    int32_t coeff;
};

/* Consecutive bit variables with consecutive powers of two. */
struct word_term {
    uint32_t local;
    uint16_t bits;  /* ≤ WORD_BITS_MAX */
    uint16_t shift; /* shift + bits ≤ 256 */
};

struct word_sum {
    uint64_t constant[4]; /* canonical coefficient of the constant 1 */
    uint32_t first;       /* into words */
    uint32_t count;
};

/* The operations of one side of a template, and the arrays that they point into. */
struct row_program {
    struct row_op *ops; /* one for each row */
    struct small_term *small;
    size_t n_small;
    size_t small_capacity;
    struct word_term *words;
    size_t n_words;
    size_t words_capacity;
    struct word_sum *sums;
    size_t n_sums;
    size_t sums_capacity;
};

struct template_rows {
    uint32_t *slot;            /* for each local: SLOT_BIT or its slot */
    uint32_t n_external_slots; /* slots of externals; those of internals follow */
    uint32_t *full_rank;       /* full-size internals before each word of is_full */
    struct row_program program[MATRIX_COUNT];
};

/* The properties of a coefficient that decide how a row is evaluated. */
struct coeff_class {
    int16_t small; /* its value, or SMALL_NONE */
    int16_t log2;  /* if it is a power of two, else -1 */
};

/* Defined here for what flattens the programs; everyone else takes it as opaque (r1cs/rows.h). */
struct row_evaluator {
    /* -SMALL_MAX … SMALL_MAX in Montgomery form; none of them spans two cache lines. */
    _Alignas(64) struct fr small[2 * SMALL_MAX + 1];
    const struct shape *shape;
    struct template_rows *templates;
    struct coeff_class *classes;
    uint64_t spread[256]; /* eight bits to eight bytes */
    size_t most_locals;   /* of a template */
    size_t most_slots;
};

/* Index of the placement that the aux variable belongs to. */
uint32_t placement_of_aux(const struct shape *shape, uint32_t aux);

/* Number of full-size internals before internal variable i. */
uint32_t full_rank(const struct shape_template *template, const struct template_rows *rows,
                   uint32_t i);

#endif
