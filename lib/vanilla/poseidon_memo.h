/* Remembers Poseidon hashes that were computed. The Merkle paths of a sector's challenges share
   more and more nodes on their way up: of the 28,800 node hashes of a 32 GiB C1, 17,300 are
   different. */
#ifndef VANILLA_POSEIDON_MEMO_H
#define VANILLA_POSEIDON_MEMO_H

#include "math/fr.h"

#include <stddef.h>

struct poseidon_memo;

/* Room for about `hashes` hashes, 64 bytes each; those without room are computed again. Returns
   NULL without memory. */
struct poseidon_memo *poseidon_memo_new(size_t hashes);
void poseidon_memo_free(struct poseidon_memo *memo);

enum { POSEIDON_MEMO_TOGETHER = 16 };

/* Computes what poseidon_hashes does, for arity ≤ 8 and n ≤ POSEIDON_MEMO_TOGETHER. May be called
   from any thread. memo NULL: nothing is remembered. */
void poseidon_memo_hashes(struct poseidon_memo *memo, unsigned arity, size_t n,
                          const struct fr *const inputs[], struct fr *const out[]);

#endif
