/* The groups: encodings, complete additions, batched additions. */
#include "support/support.h"

#include "base/check.h"
#include "math/affine.h"

#include "pseudo_random.h"

#include <stdlib.h>

#define G(name) g1_##name
#define JACOBIAN g1
#define GROUP_BYTES G1_BYTES
#define COMPRESSED_BYTES G1_COMPRESSED_BYTES
#define POINT_OP(name) blst_p1_##name
#define FIELD_NEGATE blst_fp_cneg
#include "group_test_impl.h"
#undef G
#undef JACOBIAN
#undef GROUP_BYTES
#undef COMPRESSED_BYTES
#undef POINT_OP
#undef FIELD_NEGATE

#define G(name) g2_##name
#define JACOBIAN g2
#define GROUP_BYTES G2_BYTES
#define COMPRESSED_BYTES G2_COMPRESSED_BYTES
#define POINT_OP(name) blst_p2_##name
#define FIELD_NEGATE blst_fp2_cneg
#include "group_test_impl.h"

#define BOTH(name) cmocka_unit_test(g1_##name), cmocka_unit_test(g2_##name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(encodings),
        BOTH(malformed_points),
        BOTH(points_outside_the_subgroup),
        BOTH(additions_are_complete),
        BOTH(pairs_of_every_kind),
        BOTH(pairs_of_edge_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
