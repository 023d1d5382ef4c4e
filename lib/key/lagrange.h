/* The Lagrange form of a proving key: two of the six transforms of a proof, done once in the key.

   A proof needs the sum Σ h_k·H_k over the coefficients of h = (A·B - C) / (X^n - 1), where n =
   2^log2_domain and H_k = τ^k·(τ^n - 1)/δ is the key's (docs/spec/groth16.md, parts A.6 and A.9). A
   device has A and B at the powers of w (w of order n), transforms them to the coset 7·w^j, where
   X^n - 1 is the constant d = 7^n - 1, and would have to transform the product A·B back, and C too.
   But sums of points are linear in the scalars, so that both ways back can be taken by the points
   instead (docs/spec/lagrange.md, section 1):

     h'_j = 1/(n·d) · Σ_k 7^-k·w^-jk·H_k       j < n: goes with A·B at 7·w^j
     f_i  = 1/(n·d) · Σ_k w^-ik·H_k            i < n: goes with C at w^i, that is row i of C

   H_(n-1), which the key does not have, counts as infinity: h has no such coefficient, so that the
   two parts of it that are left out are each other's opposite. Row i of C is Σ_v C_iv·z_v, so what
   f_i takes goes to the variables,

     l'_v = L_v - Σ_i C_iv·f_i                  aux v
     x_v  =     - Σ_i C_iv·f_i                  input v, most of them infinity

   and Σ_k h_k·H_k + Σ_v aux_v·L_v = Σ_j (A·B)(7·w^j)·h'_j + Σ_v aux_v·l'_v + Σ_v input_v·x_v.

   Points are as in a parameter file: 96 bytes, uncompressed, big-endian (part A.3). Those of h' and
   l' are finite, as all in a parameter file are: a form where one is not is not made. Infinity
   among the inputs is the byte 0x40 and zeros. */
#ifndef KEY_LAGRANGE_H
#define KEY_LAGRANGE_H

#include <stdint.h>

struct lagrange_points {
    uint8_t *h;      /* 2^log2_domain points h'_j */
    uint8_t *l;      /* l'_v, as many as the key has in l */
    uint8_t *inputs; /* x_v, one for each input, the constant 1 first */
};

#endif
