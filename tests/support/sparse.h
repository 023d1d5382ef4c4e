/* Made-up sectors in tests: their texts, and faults in them. */
#ifndef TESTS_SUPPORT_SPARSE_H
#define TESTS_SUPPORT_SPARSE_H

#include "base/text.h"
#include "vanilla/sparse.h"

/* For sparse_write; context: struct text. */
static inline enum cuzk_status add_text(void *context, const void *bytes, size_t len,
                                        struct cuzk_error *err)
{
    (void)err;
    text_add_bytes(context, bytes, len);
    return CUZK_OK;
}

/* Changes the replica node of a challenge without changing its path, so that the check finds it. */
static inline void spoil(struct sparse_sector *sector, unsigned partition, unsigned challenge)
{
    struct sparse_level *leaves = &sector->tree_r.level[0];
    for (size_t i = 0; i < leaves->count; i++)
        if (leaves->index[i] == sector->challenges[partition][challenge])
            fr_add(&leaves->value[i], &leaves->value[i], &fr_one);
}

#endif
