#include "math/affine.h"

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
    static const struct g2_kernel *const all[] = {&g2_kernel_portable, NULL};
    return all;
}
