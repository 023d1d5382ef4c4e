/* The compiled rows of templates. Private to lib/r1cs and to backend/cuda, whose program for the
   device is made from them. */
#ifndef R1CS_ROWS_COMPILE_H
#define R1CS_ROWS_COMPILE_H

#include "r1cs/coeffs.h"
#include "r1cs/rows.h"

/* Values of local variables during evaluation: bits as one byte and as one bit each, the others as
   field elements in slots. */
enum { WORD_BITS_MAX = 32 };
#define SLOT_BIT UINT32_MAX

enum row_kind {
    ROW_ZERO,   /* no terms */
    ROW_SMALL1, /* that many bits with small coefficients: at most ±SMALL_MAX in all */
    ROW_SMALL2,
    ROW_SMALL3,
    ROW_SMALL, /* `count` of them */
    ROW_COPY,  /* one full-size variable with coefficient 1: `first` is its slot */
    ROW_WORDS, /* bits with powers of two: a sum of words and a constant, below 2^256 */
    ROW_TERMS, /* anything else, term by term from the template */
};

struct row_op {
    uint32_t first; /* into small or sums */
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

/* A growing array for each kind of detail. */
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
    uint32_t *slot; /* for each local: SLOT_BIT or its slot */
    uint32_t n_external_slots;
    uint32_t *full_rank; /* full-size internals before each word of is_full */
    struct row_program program[MATRIX_COUNT];
};

/* What evaluation wants to know about a coefficient. */
struct coeff_class {
    int16_t small; /* its value, or SMALL_NONE */
    int16_t log2;  /* if it is a power of two, else -1 */
};

struct row_evaluator {
    /* -SMALL_MAX … SMALL_MAX in Montgomery form; none of them spans two cache lines. */
    _Alignas(64) struct fr small[2 * SMALL_MAX + 1];
    const struct shape *shape;
    struct template_rows *templates;
    struct coeff_class *classes;
    uint64_t spread[256]; /* eight bits to eight bytes */
    size_t most_locals;
    size_t most_slots;
};

/* Index of the placement that the aux variable belongs to. */
uint32_t placement_of_aux(const struct shape *shape, uint32_t aux);

/* Number of full-size internals before internal variable i. */
uint32_t full_rank(const struct shape_template *template, const struct template_rows *rows,
                   uint32_t i);

#endif
