/* Number-theoretic transforms over Fr and the quotient polynomial of a proof (docs/spec/groth16.md,
   part A.9, step 2). */
#ifndef MATH_NTT_H
#define MATH_NTT_H

#include "math/fr.h"

struct pool;

/* An implementation of the transforms. All give the same results. */
struct ntt_arith;
extern const struct ntt_arith ntt_arith_portable;
extern const struct ntt_arith ntt_arith_avx2; /* x86-64 with AVX2 and FMA */
extern const struct ntt_arith ntt_arith_ifma; /* x86-64 with AVX-512 IFMA */
/* The implementations that run on this machine, the fastest first; NULL follows the last one. */
const struct ntt_arith *const *ntt_ariths(void);
const char *ntt_arith_name(const struct ntt_arith *arith);

enum { NTT_LOG2_MAX = 30 };

/* values[j] = Σ coefficients[i]·w^(i·j), in place, n = 2^log2_n elements, w = fr_omega(log2_n). The
   inverse undoes it (with the factor 1/n). arith NULL: the best. Work is spread over pool (NULL:
   the caller alone). The only failure is CUZK_NO_MEMORY, with the elements unchanged. */
enum cuzk_status ntt_forward(struct fr *elements, unsigned log2_n, const struct ntt_arith *arith,
                             struct pool *pool, struct cuzk_error *err);
enum cuzk_status ntt_inverse(struct fr *elements, unsigned log2_n, const struct ntt_arith *arith,
                             struct pool *pool, struct cuzk_error *err);

/* From the row values a_j = A(w^j), b_j = B(w^j) to the coefficients h_i of
   (A·B - C) / (X^n - 1), where C(w^j) = a_j·b_j: in a; b's content is lost. h has n - 1
   coefficients, a[n - 1] becomes 0. Takes one more array of that size for the time of the call.
   CUZK_NO_MEMORY leaves a and b unchanged. */
enum cuzk_status ntt_quotient(struct fr *a, struct fr *b, unsigned log2_n,
                              const struct ntt_arith *arith, struct pool *pool,
                              struct cuzk_error *err);

#endif
