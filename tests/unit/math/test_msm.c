/* Sums of points against multiples of the generator with known logarithms. */
#include "support/support.h"

#include "base/check.h"
#include "base/mem.h"
#include "base/pool.h"
#include "math/msm.h"

#include "pseudo_random.h"

#define G(name) g1_##name
#define JACOBIAN g1
#define GROUP_BYTES G1_BYTES
#include "msm_test_impl.h"
#undef G
#undef JACOBIAN
#undef GROUP_BYTES

#define G(name) g2_##name
#define JACOBIAN g2
#define GROUP_BYTES G2_BYTES
#include "msm_test_impl.h"

#define BOTH(name) cmocka_unit_test(g1_##name), cmocka_unit_test(g2_##name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(test_small_sizes),     BOTH(test_single_scalars), BOTH(test_random),
        BOTH(test_repeated_points), BOTH(test_skewed_scalars), BOTH(test_selected),
        BOTH(test_malformed_point), BOTH(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
