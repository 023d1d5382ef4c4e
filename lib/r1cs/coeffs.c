#include "r1cs/coeffs.h"

#include "base/mem.h"

static size_t hash_value(const struct fr *value)
{
    uint64_t limbs[4];
    memcpy(limbs, value, sizeof limbs);
    uint64_t hash = limbs[0];
    for (int i = 1; i < 4; i++)
        hash = (hash ^ hash >> 29) * 0x9e3779b97f4a7c15u + limbs[i];
    hash *= 0xbf58476d1ce4e5b9u;
    return (size_t)(hash ^ hash >> 32);
}

/* The slot of the value, or the empty one where it belongs. */
static uint32_t *find_slot(const struct coeffs *coeffs, const struct fr *value)
{
    size_t mask = coeffs->n_slots - 1;
    size_t at = hash_value(value) & mask;
    while (coeffs->slots[at] != 0 && !fr_equal(&coeffs->values[coeffs->slots[at] - 1], value))
        at = (at + 1) & mask;
    return &coeffs->slots[at];
}

/* Keeps at least half of the slots empty. */
static bool grow_slots(struct coeffs *coeffs)
{
    if (2 * (coeffs->len + 1) <= coeffs->n_slots)
        return true;
    size_t n_slots = coeffs->n_slots ? 2 * coeffs->n_slots : 256;
    uint32_t *slots = mem_zalloc(n_slots, sizeof *slots);
    if (!slots)
        return false;
    mem_free(coeffs->slots);
    coeffs->slots = slots;
    coeffs->n_slots = n_slots;
    for (size_t i = 0; i < coeffs->len; i++)
        *find_slot(coeffs, &coeffs->values[i]) = (uint32_t)i + 1;
    return true;
}

static enum cuzk_status add_value(struct coeffs *coeffs, const struct fr *value, uint16_t *index)
{
    if (!grow_slots(coeffs))
        return CUZK_NO_MEMORY;
    uint32_t *slot = find_slot(coeffs, value);
    if (*slot == 0) {
        if (coeffs->len == COEFFS_MAX)
            return CUZK_RESOURCE_EXHAUSTED;
        if (!MEM_GROW(coeffs->values, coeffs->capacity, coeffs->len + 1))
            return CUZK_NO_MEMORY;
        coeffs->values[coeffs->len] = *value;
        *slot = (uint32_t)++coeffs->len;
    }
    *index = (uint16_t)(*slot - 1);
    return CUZK_OK;
}

enum cuzk_status coeffs_index(struct coeffs *coeffs, const struct fr *value, uint16_t *index)
{
    if (coeffs->len == 0) { /* the two common ones have fixed places */
        enum cuzk_status status = add_value(coeffs, &fr_one, index);
        if (status == CUZK_OK)
            status = add_value(coeffs, &fr_minus_one, index);
        if (status != CUZK_OK) {
            coeffs_free(coeffs);
            return status;
        }
    }
    if (fr_is_one(value)) {
        *index = COEFF_ONE;
        return CUZK_OK;
    }
    return add_value(coeffs, value, index);
}

void coeffs_free(struct coeffs *coeffs)
{
    mem_free(coeffs->values);
    mem_free(coeffs->slots);
    *coeffs = (struct coeffs){0};
}

static bool is_small(const uint64_t limbs[4])
{
    return limbs[0] <= SMALL_MAX && (limbs[1] | limbs[2] | limbs[3]) == 0;
}

int16_t coeff_small(const struct fr *value)
{
    uint64_t limbs[4], negative[4];
    struct fr minus;
    fr_to_limbs(limbs, value);
    if (is_small(limbs))
        return (int16_t)limbs[0];
    fr_neg(&minus, value);
    fr_to_limbs(negative, &minus);
    return is_small(negative) ? (int16_t) - (int16_t)negative[0] : SMALL_NONE;
}
