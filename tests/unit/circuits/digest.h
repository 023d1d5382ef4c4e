/* The R1CS digest and the counts of a circuit: of small ones row by row from the gadgets, of large
   ones from the compiled shape, which is faster and has to give the same. */
#ifndef TESTS_CIRCUITS_DIGEST_H
#define TESTS_CIRCUITS_DIGEST_H

#include "support/support.h"

#include "r1cs/shape.h"

static inline struct cs_digest circuit_digest(const struct circuit_program *program, bool compiled)
{
    struct cs_digest digest;
    struct shape *shape;
    struct cuzk_error err = { 0 };
    if (!compiled) {
        assert_ok(cs_digest(program, &digest, NULL, NULL, &err), err);
        return digest;
    }
    assert_ok(shape_record(program, &shape, &err), err);
    assert_ok(shape_digest(shape, &err), err);
    digest = (struct cs_digest){
        .n_inputs = shape->n_inputs,
        .n_aux = shape->n_aux,
        .n_rows = shape->n_rows,
        .a_dense_aux = shape->a_dense_aux,
        .b_dense_aux = shape->b_dense_aux,
        .b_dense_inputs = shape->b_dense_inputs,
    };
    memcpy(digest.sha256, shape->digest, sizeof digest.sha256);
    shape_free(shape);
    return digest;
}

#endif
