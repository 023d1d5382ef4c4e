#include "param_cache.h"

#include <stdlib.h>

const char *param_cache_or(const char *fallback)
{
    const char *folder = getenv("FIL_PROOFS_PARAMETER_CACHE");
    return folder && *folder ? folder : fallback;
}
