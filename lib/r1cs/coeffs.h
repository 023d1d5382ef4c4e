/* The dictionary of coefficients of a shape while it is recorded, and coefficients as small
   integers. Private to lib/r1cs. */
#ifndef R1CS_COEFFS_H
#define R1CS_COEFFS_H

#include "math/fr.h"

enum { COEFF_ONE = 0, COEFF_MINUS_ONE = 1, COEFFS_MAX = 1 << 16, SMALL_MAX = 127 };
#define SMALL_NONE INT16_MIN

/* Zero-initialise; coeffs_free when done. */
struct coeffs {
    struct fr *values;
    size_t len;
    size_t capacity;
    uint32_t *slots; /* hash table: index + 1, 0 for an empty slot */
    size_t n_slots;  /* a power of two */
};

/* The index of the value, which is added if it is new. CUZK_RESOURCE_EXHAUSTED beyond COEFFS_MAX
   values; CUZK_NO_MEMORY. */
enum cuzk_status coeffs_index(struct coeffs *coeffs, const struct fr *value, uint16_t *index);
void coeffs_free(struct coeffs *coeffs);

/* The value if it is within ±SMALL_MAX, else SMALL_NONE. */
int16_t coeff_small(const struct fr *value);

#endif
