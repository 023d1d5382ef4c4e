/* Compares the witness driver, with its fast paths, with the values that the rows are checked
   with. */
#ifndef TESTS_GADGETS_COMPARE_H
#define TESTS_GADGETS_COMPARE_H

#include "support/support.h"

#include "base/mem.h"
#include "base/pool.h"
#include "oracle/check.h"
#include "r1cs/shape.h"

/* A small generator, so that failures repeat. */
static inline uint64_t test_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline struct fr test_random_fr(uint64_t *state)
{
    uint64_t limbs[4];
    struct fr out;
    for (size_t i = 0; i < 4; i++)
        limbs[i] = test_random(state);
    fr_from_limbs(&out, limbs);
    return out;
}

static inline void compare_values(const struct shape *shape, const struct witness *witness,
                                  const struct fr *inputs, const struct fr *aux)
{
    uint64_t *is_full;
    struct cuzk_error err = {0};
    assert_ok(shape_full_bitmap(shape, &is_full, &err), err);
    for (uint32_t i = 0; i < shape->n_inputs; i++)
        assert_true(fr_equal(&inputs[i], &witness->inputs[i]));
    uint32_t full = 0;
    for (uint32_t i = 0; i < shape->n_aux; i++) {
        bool bit = witness->bits[i / 64] >> i % 64 & 1;
        const struct fr *value = bit ? &fr_one : &fr_zero;
        if (is_full[i / 64] >> i % 64 & 1) {
            assert_false(bit);
            value = &witness->full[full++];
        }
        if (!fr_equal(value, &aux[i]))
            fail_msg("variable %u of %u differs", i, shape->n_aux);
    }
    assert_int_equal(full, shape->n_full);
    mem_free(is_full);
}

/* Runs the program with the recorder, the witness driver, alone and on threads, and the check
   driver; all values have to agree. Returns the number of unsatisfied rows. */
static inline uint64_t compare_drivers(const struct circuit_program *program)
{
    struct shape *shape;
    struct witness witness, parallel;
    struct check_result result;
    struct fr *inputs, *aux;
    struct cuzk_error err = {0};
    assert_ok(shape_record(program, &shape, &err), err);
    assert_ok(witness_synthesize(program, shape, &witness, &err), err);
    struct pool *pool = pool_new(3);
    assert_non_null(pool);
    assert_ok(witness_synthesize_parallel(program, shape, pool, &parallel, &err), err);
    assert_memory_equal(witness.bits, parallel.bits,
                        witness_plane_words(shape->n_aux) * sizeof *witness.bits);
    assert_memory_equal(witness.full, parallel.full, shape->n_full * sizeof *witness.full);
    assert_memory_equal(witness.inputs, parallel.inputs, shape->n_inputs * sizeof *witness.inputs);
    pool_free(pool);
    assert_ok(cs_check(program, &result, NULL, NULL, &inputs, &aux, &err), err);
    assert_int_equal(result.n_aux, shape->n_aux);
    assert_int_equal(result.n_inputs, shape->n_inputs);
    assert_int_equal(result.n_rows, shape->n_rows);
    compare_values(shape, &witness, inputs, aux);
    mem_free(inputs);
    mem_free(aux);
    witness_free(&witness);
    witness_free(&parallel);
    shape_free(shape);
    return result.unsatisfied;
}

#endif
