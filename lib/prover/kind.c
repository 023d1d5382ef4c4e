#include "prover/kind.h"

#include "base/error.h"

#include <stdio.h>

/* By number, from 1 on. NULL: requests of this kind are refused. */
static const struct proof_kind *kinds[CUZK_PROOF_KINDS] = {
    [CUZK_POREP - 1] = &kind_porep,
    [CUZK_SNAP - 1] = &kind_update,
    [CUZK_WINDOW_POST - 1] = &kind_post,
    [CUZK_WINNING_POST - 1] = &kind_post,
};

/* "porep_c2 is", "porep_c2, snap_update are": the kinds that are served. */
static void list_served(char *out, size_t out_bytes)
{
    unsigned n = 0;
    size_t len = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < CUZK_PROOF_KINDS && len < out_bytes; i++)
        if (kinds[i])
            len += (size_t)snprintf(out + len, out_bytes - len, "%s%s", n++ ? ", " : "",
                                    cuzk_proof_kind_label((enum cuzk_proof_kind)(i + 1)));
    if (len < out_bytes)
        snprintf(out + len, out_bytes - len, n == 1 ? " is" : " are");
}

const struct proof_kind *kind_find(enum cuzk_proof_kind number, struct cuzk_error *err)
{
    if (number >= 1 && number <= CUZK_PROOF_KINDS && kinds[number - 1])
        return kinds[number - 1];
    char served[128];
    list_served(served, sizeof served);
    error_set(err, CUZK_UNSUPPORTED, "proof_kind: %s is not supported, %s",
              cuzk_proof_kind_label(number), served);
    return NULL;
}

enum cuzk_status kind_parse(const struct request *request, struct pool *pool,
                            struct kind_work **out, struct cuzk_error *err)
{
    const struct proof_kind *kind = kind_find(request->kind, err);
    if (!kind)
        return CUZK_UNSUPPORTED;
    TRY(kind->parse(request, pool, out, err));
    (*out)->kind = kind;
    return CUZK_OK;
}

void kind_free(struct kind_work *work)
{
    if (work)
        work->kind->free(work);
}

void kind_replace(enum cuzk_proof_kind number, const struct proof_kind *kind)
{
    kinds[number - 1] = kind;
}
