/* The packed witness of one partition.

   Layout (stable: it is uploaded to devices as it is):

   - `bits`: one bit for each aux variable in variable order, bit i at bits[i / 64] >> (i % 64) & 1,
     little-endian words, padded with zeros to a multiple of 64 bytes (witness_plane_words). The bit
     of a full-size variable is 0.
   - `full`: the values of the full-size (VAR_KIND_NUM) aux variables in variable order, Montgomery
     form. The shape determines which variables these are (shape_full_bitmap). When the shape was
     recorded, all others were proven to be 0 or 1 wherever the rows hold.
   - `inputs`: all inputs, inputs[0] = 1, Montgomery form.

   All three blocks are 64-byte aligned. r1cs/query.h describes what each sum of a proof takes from
   them. */
#ifndef R1CS_WITNESS_H
#define R1CS_WITNESS_H

#include "r1cs/cs.h"

struct witness {
    uint64_t *bits;
    struct fr *full;
    struct fr *inputs;
    uint32_t n_aux; /* allocated so far */
    uint32_t n_full;
    uint32_t n_inputs;
    uint32_t aux_capacity; /* from the shape: exact, so that nothing grows during synthesis */
    uint32_t full_capacity;
    uint32_t inputs_capacity;
    bool overflow;     /* the program allocated more than the shape has */
    struct pool *pool; /* for parts that may run at the same time; NULL: one after the other */
};

struct shape;

/* Runs the program with the witness driver and checks the counts against the shape
   (CUZK_INTERNAL if they differ). Memory: about shape->n_aux / 8 + 32 · shape->n_full bytes. */
enum cuzk_status witness_synthesize(const struct circuit_program *program,
                                    const struct shape *shape, struct witness *out,
                                    struct cuzk_error *err);

/* The same on a pool of threads (NULL: the caller alone): parts of the circuit that do not depend
   on each other run at the same time. The result does not depend on the number of threads. */
enum cuzk_status witness_synthesize_parallel(const struct circuit_program *program,
                                             const struct shape *shape, struct pool *pool,
                                             struct witness *out, struct cuzk_error *err);

/* CUZK_INVALID_ARGUMENT unless the witness has the circuit's counts. */
enum cuzk_status witness_check(const struct witness *witness, const struct shape *shape,
                               struct cuzk_error *err);

/* Wipes and frees. */
void witness_free(struct witness *witness);

size_t witness_bytes(const struct witness *witness);

/* 64-bit words of the bit plane of n_aux variables with its padding. */
static inline size_t witness_plane_words(uint32_t n_aux)
{
    return ((size_t)n_aux + 511) / 512 * 8;
}

/* --- For the fast paths of gadgets ----------------------------------------------------------- */

/* A gadget that finds cs->witness non-NULL may append the values of its variables here, in the
   order in which its generic code allocates them, instead of running that code. witness->n_aux is
   the index of the next variable. A value that does not fit is dropped, and `overflow` is set. */

/* Appends `count` (1 … 64) bit variables, the least significant bit of `word` first. */
static inline void witness_append_bits(struct witness *witness, uint64_t word, unsigned count)
{
    uint32_t at = witness->n_aux;
    if (witness->aux_capacity - at < count) {
        witness->overflow = true;
        return;
    }
    unsigned shift = at % 64;
    uint64_t *place = &witness->bits[at / 64];
    word &= ~(uint64_t)0 >> (64 - count);
    place[0] |= word << shift;
    place[1] |= word >> 1 >> (63 - shift); /* the plane has a spare word at its end */
    witness->n_aux = at + count;
}

/* A run of bits of known length. It is faster than appending bit after bit, because an incomplete
   word stays in a register. */
struct witness_run {
    uint64_t *place;
    uint64_t word;   /* the word at *place, its lowest `used` bits so far */
    unsigned used;   /* < 64 */
    uint64_t behind; /* the bits of the last word after the run */
};

/* Makes room for `count` bits, all of which must then be put. False if they do not fit. */
static inline bool witness_run_start(struct witness_run *run, struct witness *witness,
                                     uint32_t count)
{
    uint32_t at = witness->n_aux;
    if (witness->aux_capacity - at < count) {
        witness->overflow = true;
        return false;
    }
    uint32_t end = witness->n_aux = at + count;
    run->place = &witness->bits[at / 64];
    run->used = at % 64;
    run->word = *run->place;
    run->behind = witness->bits[end / 64] & ~(uint64_t)0 << end % 64;
    return true;
}

/* Puts the next `count` (1 … 64, a constant at each call) bits; the other bits of `bits` are zero.
   There are no branches, because runs start anywhere in a word. */
static inline void witness_run_put(struct witness_run *run, uint64_t bits, unsigned count)
{
    uint64_t word = run->word | bits << run->used;
    uint64_t rest = bits >> 1 >> (63 - run->used);
    unsigned used = run->used + count;
    *run->place = word;
    run->place += used / 64;
    run->word = used >= 64 ? rest : word;
    run->used = used % 64;
}

/* After the last bit. */
static inline void witness_run_finish(const struct witness_run *run)
{
    if (run->used > 0)
        *run->place = run->word | run->behind;
}

/* Appends one full-size variable. */
static inline void witness_append_full(struct witness *witness, const struct fr *value)
{
    if (witness->n_aux == witness->aux_capacity || witness->n_full == witness->full_capacity) {
        witness->overflow = true;
        return;
    }
    witness->full[witness->n_full++] = *value;
    witness->n_aux++;
}

/* Appends `count` full-size variables. The caller writes their values to the returned place. NULL
   if they do not fit. */
static inline struct fr *witness_extend_full(struct witness *witness, uint32_t count)
{
    if (witness->aux_capacity - witness->n_aux < count ||
        witness->full_capacity - witness->n_full < count) {
        witness->overflow = true;
        return NULL;
    }
    struct fr *place = &witness->full[witness->n_full];
    witness->n_full += count;
    witness->n_aux += count;
    return place;
}

/* Numbers of variables. */
struct witness_size {
    uint32_t n_aux; /* n_full among them */
    uint32_t n_full;
    uint32_t n_inputs;
};

/* Leaves room for variables that are appended later. `part` becomes a witness that consists of
   these variables, on the same memory. False if they do not fit. */
bool witness_skip(struct witness *witness, const struct witness_size *size, struct witness *part);

/* Whether exactly the variables of the part have been appended. */
bool witness_part_complete(const struct witness *part);

#endif
