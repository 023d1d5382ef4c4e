#include "backend/backend.h"

#include "backend/cpu/cpu.h"
#include "backend/sim/sim.h"
#include "base/check.h"

#include <string.h>

#ifdef CUZK_HAVE_CUDA
#include "backend/cuda/cuda.h"
#endif

static const struct backend *const backends[] = {
    &backend_cpu,
#ifdef CUZK_HAVE_CUDA
    &backend_cuda,
#endif
    &backend_sim,
};

const struct backend *backend_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(backends); i++) {
        if (strcmp(backends[i]->name, name) == 0)
            return backends[i];
    }
    return NULL;
}
