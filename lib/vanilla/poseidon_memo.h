/* Poseidon hashes that were computed already. The paths of a sector's challenges meet more and more
   on their way up; of the 28,800 node hashes of a 32 GiB C1 17,300 are different. */
#ifndef VANILLA_POSEIDON_MEMO_H
#define VANILLA_POSEIDON_MEMO_H

#include "math/fr.h"

#include <stddef.h>

struct poseidon_memo;

/* Room for about `hashes` of them, 64 bytes each; what has no room is computed again. NULL without
   memory. */
struct poseidon_memo *poseidon_memo_new(size_t hashes);
void poseidon_memo_free(struct poseidon_memo *memo);

/* As poseidon_hash, arity ≤ 8. From any thread. memo may be NULL: then nothing is remembered. */
void poseidon_memo_hash(struct poseidon_memo *memo, struct fr *out, unsigned arity,
                        const struct fr *inputs);

#endif
