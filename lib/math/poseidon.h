/* The Poseidon hash over Fr (docs/spec/gadgets.md, part C): constants, and the permutation outside
   of circuits. Width arity + 1, S-box x^5, eight full rounds; arities 2, 4, 8 and 11. */
#ifndef MATH_POSEIDON_H
#define MATH_POSEIDON_H

#include "math/fr.h"

enum {
    POSEIDON_ARITY_MAX = 11,
    POSEIDON_WIDTH_MAX = POSEIDON_ARITY_MAX + 1,
    POSEIDON_FULL_ROUNDS = 8, /* half of them before the partial rounds, half after */
    POSEIDON_PARTIAL_ROUNDS_MAX = 57,
    POSEIDON_COMPRESSED_MAX =
        POSEIDON_FULL_ROUNDS * POSEIDON_WIDTH_MAX + POSEIDON_PARTIAL_ROUNDS_MAX,
    /* Longest trace, see poseidon_trace. */
    POSEIDON_TRACE_MAX = 31 * POSEIDON_WIDTH_MAX + 4 * POSEIDON_PARTIAL_ROUNDS_MAX - 2,
};

/* What a hash is used for; it decides the domain tag, element 0 of the initial state. */
enum poseidon_domain {
    POSEIDON_TREE,       /* tree nodes and columns: tag 2^arity − 1 */
    POSEIDON_RANDOMNESS, /* sector update's phi, rho and challenge digests: tag 2^40, arity 2 */
};

/* Constants of one arity. Vectors are rows: (v·M)_j = Σ_i v_i M[i][j]. */
struct poseidon_constants {
    unsigned arity;
    unsigned width;
    unsigned partial_rounds;
    unsigned n_compressed;                                 /* 8·width + partial_rounds */
    struct fr compressed[POSEIDON_COMPRESSED_MAX];         /* in order of use (part C.3) */
    struct fr mds[POSEIDON_WIDTH_MAX][POSEIDON_WIDTH_MAX]; /* symmetric */
    struct fr pre_sparse[POSEIDON_WIDTH_MAX][POSEIDON_WIDTH_MAX];
    /* One sparse matrix for each partial round, in order of use: new_0 = Σ_i w_i s_i and
       new_j = s_j + v_{j−1} s_0. */
    struct fr sparse_w[POSEIDON_PARTIAL_ROUNDS_MAX][POSEIDON_WIDTH_MAX];
    struct fr sparse_v[POSEIDON_PARTIAL_ROUNDS_MAX][POSEIDON_ARITY_MAX];
};

/* The constants of an arity (2, 4, 8 or 11). The first call computes all of them, in some
   milliseconds. They are never freed. Any thread may call it. */
const struct poseidon_constants *poseidon_constants(unsigned arity);

/* Element 0 of the initial state. */
void poseidon_tag(struct fr *tag, unsigned arity, enum poseidon_domain domain);

/* out = hash of `arity` inputs in the tree domain. out may be one of the inputs. */
void poseidon_hash(struct fr *out, unsigned arity, const struct fr *inputs);

/* out = hash of two inputs in the randomness domain. */
void poseidon_hash_randomness(struct fr *out, const struct fr inputs[2]);

/* The values of all variables that the Poseidon circuit (part C.5) allocates, in order; the digest
   is the last. trace has room for poseidon_trace_len(arity) = 31·width + 4·partial_rounds − 2
   elements. */
size_t poseidon_trace_len(unsigned arity);
void poseidon_trace(struct fr *trace, unsigned arity, enum poseidon_domain domain,
                    const struct fr *inputs);

/* An implementation of several permutations side by side. All give the same results. */
struct poseidon_arith;
extern const struct poseidon_arith poseidon_arith_portable;
extern const struct poseidon_arith poseidon_arith_avx2; /* x86-64 with AVX2 and FMA */
extern const struct poseidon_arith poseidon_arith_ifma; /* x86-64 with AVX-512 IFMA */
/* The implementations that run on this machine, the fastest first; NULL follows the last one. */
const struct poseidon_arith *const *poseidon_ariths(void);
const char *poseidon_arith_name(const struct poseidon_arith *arith);

/* n times poseidon_trace: instance k reads inputs[k] and writes traces[k], and traces do not
   overlap inputs. arith NULL: the fastest, whose vectors are full if n is a multiple of
   POSEIDON_LANES. */
enum { POSEIDON_LANES = 16 };
void poseidon_traces(const struct poseidon_arith *arith, unsigned arity,
                     enum poseidon_domain domain, size_t n, const struct fr *const inputs[],
                     struct fr *const traces[]);

/* n times poseidon_hash, in the same way. */
void poseidon_hashes(const struct poseidon_arith *arith, unsigned arity, size_t n,
                     const struct fr *const inputs[], struct fr *const out[]);

#endif
