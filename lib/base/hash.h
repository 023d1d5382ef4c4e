/* Hash functions, over OpenSSL. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, BLAKE2B_BYTES = 64 };

/* SHA-256 of one buffer. */
void sha256(const void *data, size_t len, uint8_t digest[SHA256_BYTES]);

/* A hash computed piece by piece. NULL without memory; hasher_final frees it. */
struct hasher;
struct hasher *sha256_new(void);
struct hasher *blake2b_new(void); /* BLAKE2b-512 */
void hasher_update(struct hasher *hasher, const void *data, size_t len);
/* Writes SHA256_BYTES or BLAKE2B_BYTES bytes and frees the hasher. With digest NULL it only
   frees. */
void hasher_final(struct hasher *hasher, uint8_t *digest);

/* BLAKE2b-512 of one buffer. */
void blake2b_512(const void *data, size_t len, uint8_t digest[BLAKE2B_BYTES]);

/* BLAKE2b with a key (1…64 bytes) and an output of out_len (1…64) bytes. */
void blake2b_keyed(const void *key, size_t key_len, const void *data, size_t len, uint8_t *out,
                   size_t out_len);

#endif
