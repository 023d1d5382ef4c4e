/* The sums over full-size variables (tails) in pairs that share their scalars: which values, and
   where each section of a pair has their points. */
#ifndef CUDA_TAIL_LIST_H
#define CUDA_TAIL_LIST_H

#include "backend/cuda/host/memory_plan.h"
#include "r1cs/query.h"

struct tail_list {
    uint32_t n;
    uint32_t *source;   /* among inputs and full-size variables, as in struct query; ascending */
    uint32_t *point[2]; /* of both sections (tail_section); UINT32_MAX: it has none there */
};

/* Free each with tail_list_free, also after a failure. Errors: CUZK_NO_MEMORY. */
enum cuzk_status tail_lists_make(const struct queries *queries, struct tail_list lists[TAIL_COUNT],
                                 struct cuzk_error *err);
void tail_list_free(struct tail_list *list);

#endif
