#include "math/affine.h"

#include "base/check.h"
#include "math/cpu.h"

#define G(name) g2_##name
#define FIELD blst_fp2
#define FIELD_OP(name) blst_fp2_##name
#define FIELD_ONE (blst_p2_generator()->z)
#define POINT_BYTES G2_BYTES
#include "math/affine_impl.h"

const struct g2_kernel g2_kernel_portable = {
    .name = "portable",
    .decode = decode,
    .add_pairs = add_pairs,
    .to_standard = to_standard,
};

const struct g2_kernel *const *g2_kernels(void)
{
    static const struct g2_kernel *const all[] = {
#if defined(__x86_64__)
        &g2_kernel_ifma,
#endif
        &g2_kernel_portable,
        NULL
    };
    return cpu_has_ifma() ? &all[0] : &all[ARRAY_LEN(all) - 2];
}
