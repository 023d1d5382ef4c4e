#include "vanilla/poseidon_memo.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"
#include "math/poseidon.h"

#include <pthread.h>
#include <stdbool.h>

enum { BUCKET_ENTRIES = 8, LOCKS = 64 };

/* Inputs are looked up by their SHA-256, which takes a hundredth of a Poseidon hash's time. */
struct entry {
    uint8_t inputs_sha256[SHA256_BYTES];
    struct fr hash;
};

struct bucket {
    struct entry entries[BUCKET_ENTRIES];
};

struct poseidon_memo {
    pthread_mutex_t locks[LOCKS]; /* of the buckets with that number, modulo LOCKS */
    struct bucket *buckets;
    uint8_t *used;    /* entries of each bucket */
    size_t n_buckets; /* a power of two */
};

struct poseidon_memo *poseidon_memo_new(size_t hashes)
{
    struct poseidon_memo *memo = mem_zalloc(1, sizeof *memo);
    if (!memo)
        return NULL;
    for (unsigned i = 0; i < LOCKS; i++)
        pthread_mutex_init(&memo->locks[i], NULL);
    memo->n_buckets = 1;
    while (memo->n_buckets * BUCKET_ENTRIES < hashes)
        memo->n_buckets *= 2;
    memo->buckets = mem_alloc(memo->n_buckets, sizeof *memo->buckets);
    memo->used = mem_zalloc(memo->n_buckets, sizeof *memo->used);
    if (memo->buckets && memo->used)
        return memo;
    poseidon_memo_free(memo);
    return NULL;
}

void poseidon_memo_free(struct poseidon_memo *memo)
{
    if (!memo)
        return;
    for (unsigned i = 0; i < LOCKS; i++)
        pthread_mutex_destroy(&memo->locks[i]);
    mem_free(memo->buckets);
    mem_free(memo->used);
    mem_free(memo);
}

/* The bucket's entry for these inputs; NULL if there is none. Under the bucket's lock. */
static const struct entry *find_entry(const struct poseidon_memo *memo, size_t bucket,
                                      const uint8_t digest[SHA256_BYTES])
{
    for (unsigned i = 0; i < memo->used[bucket]; i++) {
        const struct entry *entry = &memo->buckets[bucket].entries[i];
        if (memcmp(entry->inputs_sha256, digest, SHA256_BYTES) == 0)
            return entry;
    }
    return NULL;
}

static bool recall_hash(struct poseidon_memo *memo, size_t bucket,
                        const uint8_t digest[SHA256_BYTES], struct fr *out)
{
    pthread_mutex_t *lock = &memo->locks[bucket % LOCKS];
    pthread_mutex_lock(lock);
    const struct entry *entry = find_entry(memo, bucket, digest);
    if (entry)
        *out = entry->hash;
    pthread_mutex_unlock(lock);
    return entry != NULL;
}

static void remember_hash(struct poseidon_memo *memo, size_t bucket,
                          const uint8_t digest[SHA256_BYTES], const struct fr *hash)
{
    pthread_mutex_t *lock = &memo->locks[bucket % LOCKS];
    pthread_mutex_lock(lock);
    if (memo->used[bucket] < BUCKET_ENTRIES && !find_entry(memo, bucket, digest)) {
        struct entry *entry = &memo->buckets[bucket].entries[memo->used[bucket]++];
        memcpy(entry->inputs_sha256, digest, SHA256_BYTES);
        entry->hash = *hash;
    }
    pthread_mutex_unlock(lock);
}

void poseidon_memo_hashes(struct poseidon_memo *memo, unsigned arity, size_t n,
                          const struct fr *const inputs[], struct fr *const out[])
{
    uint8_t digests[POSEIDON_MEMO_TOGETHER][SHA256_BYTES];
    size_t buckets[POSEIDON_MEMO_TOGETHER], missing = 0;
    const struct fr *new_inputs[POSEIDON_MEMO_TOGETHER] = {NULL};
    struct fr *new_out[POSEIDON_MEMO_TOGETHER] = {NULL};
    CHECK(n <= POSEIDON_MEMO_TOGETHER);
    if (!memo) {
        poseidon_hashes(NULL, arity, n, inputs, out);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        /* different arities have different lengths, so they do not collide */
        sha256(inputs[i], arity * sizeof *inputs[i], digests[missing]);
        buckets[missing] = (size_t)load_u64_le(digests[missing]) & (memo->n_buckets - 1);
        if (recall_hash(memo, buckets[missing], digests[missing], out[i]))
            continue;
        new_inputs[missing] = inputs[i];
        new_out[missing++] = out[i];
    }
    poseidon_hashes(NULL, arity, missing, new_inputs, new_out);
    for (size_t i = 0; i < missing; i++)
        remember_hash(memo, buckets[i], digests[i], new_out[i]);
}
