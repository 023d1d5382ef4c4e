#include "base/hash.h"

#include "base/check.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/sha.h>

/* OpenSSL fails here only for lack of memory or if it was built without the algorithm. Both leave
   no way to go on, hence CHECK. */

void sha256(const void *data, size_t len, uint8_t digest[SHA256_BYTES])
{
    SHA256(data, len, digest);
}

static struct hasher *new_hasher(const EVP_MD *algorithm)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (!context)
        return NULL;
    CHECK(EVP_DigestInit_ex(context, algorithm, NULL) == 1);
    return (struct hasher *)context;
}

struct hasher *sha256_new(void)
{
    return new_hasher(EVP_sha256());
}

struct hasher *blake2b_new(void)
{
    return new_hasher(EVP_blake2b512());
}

void hasher_update(struct hasher *hasher, const void *data, size_t len)
{
    CHECK(EVP_DigestUpdate((EVP_MD_CTX *)hasher, data, len) == 1);
}

void hasher_final(struct hasher *hasher, uint8_t *digest)
{
    if (!hasher)
        return;
    if (digest)
        CHECK(EVP_DigestFinal_ex((EVP_MD_CTX *)hasher, digest, NULL) == 1);
    EVP_MD_CTX_free((EVP_MD_CTX *)hasher);
}

void blake2b_512(const void *data, size_t len, uint8_t digest[BLAKE2B_BYTES])
{
    CHECK(EVP_Digest(data, len, digest, NULL, EVP_blake2b512(), NULL) == 1);
}

void blake2b_keyed(const void *key, size_t key_len, const void *data, size_t len, uint8_t *out,
                   size_t out_len)
{
    EVP_MAC *mac = EVP_MAC_fetch(NULL, OSSL_MAC_NAME_BLAKE2BMAC, NULL);
    CHECK(mac);
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(mac);
    CHECK(context);
    OSSL_PARAM params[] = {OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &out_len),
                           OSSL_PARAM_construct_end()};
    size_t written = 0;
    CHECK(EVP_MAC_init(context, key, key_len, params) == 1);
    CHECK(EVP_MAC_update(context, data, len) == 1);
    CHECK(EVP_MAC_final(context, out, &written, out_len) == 1 && written == out_len);
    EVP_MAC_CTX_free(context);
    EVP_MAC_free(mac);
}
