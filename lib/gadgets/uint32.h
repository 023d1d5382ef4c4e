/* 32-bit words of Booleans and their sums (docs/spec/gadgets.md, part B.2). */
#ifndef GADGETS_UINT32_H
#define GADGETS_UINT32_H

#include "gadgets/boolean.h"

/* Least significant bit first. */
struct uint32 {
    struct boolean bit[32];
};

/* Most operands of one sum. */
enum { UINT32_ADDENDS_MAX = 10 };

/* Collects equations lhs = rhs between integers of known bit lengths, and packs as many as fit
   below 2^254 into one row. One for each SHA-256 block. */
struct multieq {
    struct cs *cs;
    struct lc lhs;
    struct lc rhs;
    unsigned used; /* bits */
};

void multieq_start(struct multieq *equations, struct cs *cs);
/* Emits the remaining equations and frees. */
void multieq_finish(struct multieq *equations);

struct uint32 uint32_constant(uint32_t value);
uint32_t uint32_value(const struct uint32 *a);
bool uint32_is_constant(const struct uint32 *a);

/* From and to bits with the most significant one first. */
struct uint32 uint32_from_be_bits(const struct boolean bits[32]);
void uint32_to_be_bits(const struct uint32 *a, struct boolean bits[32]);

struct uint32 uint32_rotr(const struct uint32 *a, unsigned by);
struct uint32 uint32_shr(const struct uint32 *a, unsigned by);
struct uint32 uint32_xor(struct cs *cs, const struct uint32 *a, const struct uint32 *b);
struct uint32 uint32_ch(struct cs *cs, const struct uint32 *a, const struct uint32 *b,
                        const struct uint32 *c);
struct uint32 uint32_maj(struct cs *cs, const struct uint32 *a, const struct uint32 *b,
                         const struct uint32 *c);

/* Bits of a sum of n words: the length of n · (2^32 − 1). */
static inline unsigned uint32_sum_bits(size_t n)
{
    return 64 - (unsigned)__builtin_clzll(n * (uint64_t)UINT32_MAX);
}

/* The sum modulo 2^32 of 2 ≤ n ≤ UINT32_ADDENDS_MAX words. */
struct uint32 uint32_add(struct multieq *equations, const struct uint32 *const *addends, size_t n);

#endif
