/* Does a proving key fit a circuit? For backends. */
#ifndef BACKEND_KEY_H
#define BACKEND_KEY_H

#include "backend/backend.h"
#include "base/error.h"
#include "r1cs/query.h"

static inline enum cuzk_status key_check_count(const char *section, uint32_t found, uint64_t wanted,
                                               struct cuzk_error *err)
{
    if (found == wanted)
        return CUZK_OK;
    return error_set(err, CUZK_BAD_PARAMS, "section %s has %u points, the circuit needs %llu",
                     section, found, (unsigned long long)wanted);
}

/* Of what a Lagrange form is made of. CUZK_BAD_PARAMS names the section, so below. */
static inline enum cuzk_status key_check_h_and_l(const struct backend_key *key,
                                                 const struct shape *shape, struct cuzk_error *err)
{
    TRY(key_check_count("h", key->n_h, (UINT64_C(1) << shape->log2_domain) - 1, err));
    return key_check_count("l", key->n_l, shape->n_aux, err);
}

static inline enum cuzk_status key_check(const struct backend_key *key, const struct shape *shape,
                                         const struct queries *queries, struct cuzk_error *err)
{
    TRY(key_check_h_and_l(key, shape, err));
    TRY(key_check_count("a", key->n_a, queries->a.n_points, err));
    TRY(key_check_count("b_g1", key->n_b_g1, queries->b.n_points, err));
    return key_check_count("b_g2", key->n_b_g2, queries->b.n_points, err);
}

#endif
