#include "math/affine.h"

#include "base/check.h"
#include "math/cpu.h"

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

const struct g1_kernel *const *g1_kernels(void)
{
    static const struct g1_kernel *const all[] = {
#if defined(__x86_64__)
        &g1_kernel_ifma,
        &g1_kernel_avx2,
#endif
        &g1_kernel_portable,
        NULL
    };
    return cpu_has_ifma() ? &all[0] : cpu_has_avx2() ? &all[1] : &all[ARRAY_LEN(all) - 2];
}
