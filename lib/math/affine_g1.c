#include "math/affine.h"
#include "math/ifma.h"

#define G(name) g1_##name
#define FIELD blst_fp
#define FIELD_OP(name) blst_fp_##name
#define FIELD_ONE (blst_p1_generator()->z)
#define POINT_BYTES G1_BYTES
#include "math/affine_impl.h"

const struct g1_kernel g1_kernel_portable = {
    .name = "portable",
    .decode = decode,
    .add_pairs = add_pairs,
    .to_standard = to_standard,
};

const struct g1_kernel *g1_kernel_best(void)
{
#if defined(__x86_64__)
    if (ifma_runs_here())
        return &g1_kernel_ifma;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &g1_kernel_avx2;
#endif
    return &g1_kernel_portable;
}
