#include "backend/cuda/host/tail_list.h"

#include "base/error.h"
#include "base/mem.h"

void tail_list_free(struct tail_list *list)
{
    mem_free(list->source);
    mem_free(list->point[0]);
    mem_free(list->point[1]);
}

/* Merges two sections' tails; both ascend by source. */
static enum cuzk_status tail_list_make(const struct query *first, const struct query *second,
                                       struct tail_list *out, struct cuzk_error *err)
{
    const size_t most = (size_t)first->n_scalars + second->n_scalars + 1;
    *out = (struct tail_list){
        .source = mem_alloc(most, sizeof *out->source),
        .point = {mem_alloc(most, sizeof *out->source), mem_alloc(most, sizeof *out->source)},
    };
    if (!out->source || !out->point[0] || !out->point[1]) {
        tail_list_free(out);
        return error_set(err, CUZK_NO_MEMORY, "tails of %zu points: out of memory", most);
    }
    for (uint32_t i = 0, j = 0; i < first->n_scalars || j < second->n_scalars;) {
        const uint32_t a = i < first->n_scalars ? first->source[i] : UINT32_MAX;
        const uint32_t b = j < second->n_scalars ? second->source[j] : UINT32_MAX;
        out->source[out->n] = a < b ? a : b;
        out->point[0][out->n] = a <= b ? first->point[i++] : UINT32_MAX;
        out->point[1][out->n] = b <= a ? second->point[j++] : UINT32_MAX;
        out->n++;
    }
    return CUZK_OK;
}

enum cuzk_status tail_lists_make(const struct queries *queries, struct tail_list lists[TAIL_COUNT],
                                 struct cuzk_error *err)
{
    TRY(tail_list_make(&queries->l, &queries->a, &lists[TAIL_LA], err));
    return tail_list_make(&queries->b, &queries->b, &lists[TAIL_B], err);
}
