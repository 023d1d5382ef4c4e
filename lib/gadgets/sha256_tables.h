/* The constants of SHA-256 (FIPS 180-4). */
#ifndef GADGETS_SHA256_TABLES_H
#define GADGETS_SHA256_TABLES_H

#include <stdint.h>

extern const uint32_t sha256_round_constants[64];
extern const uint32_t sha256_iv[8];

#endif
