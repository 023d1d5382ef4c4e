/* cuzk/dev.h: made-up data. */
#include <cuzk/dev.h>

#include "vanilla/sparse.h"

enum cuzk_status cuzk_gen_c1(uint64_t sector_bytes, const uint8_t *seed, cuzk_write_fn *write,
                             void *context, struct cuzk_error *err)
{
    return sparse_gen_c1(sector_bytes, seed, write, context, err);
}
