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
/* Memory that it holds. */
size_t poseidon_memo_bytes(const struct poseidon_memo *memo);

enum { POSEIDON_MEMO_TOGETHER = 16 };

/* As poseidon_hashes, arity ≤ 8 and n ≤ POSEIDON_MEMO_TOGETHER. From any thread. memo may be NULL:
   then nothing is remembered. */
void poseidon_memo_hashes(struct poseidon_memo *memo, unsigned arity, size_t n,
                          const struct fr *const inputs[], struct fr *const out[]);

#endif
