/* The PoRep circuits against the reference (the specification, part I.2). */
#include "support/support.h"

#include "base/mem.h"
#include "circuits/label.h"
#include "circuits/porep.h"
#include "r1cs/shape.h"

#include <stdio.h>
#include <stdlib.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

struct known {
    uint64_t sector_bytes;
    unsigned challenges; /* 0: as the size has */
    uint32_t n_rows, n_inputs, n_aux;
    uint32_t a_points, b_points; /* of the parameter file */
    bool slow;
    const char *digest;
};

static const struct known known[] = {
    { 2 * KIB, 0, 2687921, 40, 2685673, 2674948, 685522, false,
      "dc15b615135b87fca8169bb29ec71946ee7d5652ac57adfe0ffb789af6d81000" },
    { 4 * KIB, 0, 2788733, 40, 2786423, 2773198, 716040, true,
      "ac582070844434c66b146669b377daec8ffb10211a2b489ab47481e4db885a5a" },
    { 16 * KIB, 0, 2977173, 40, 2974867, 2959970, 766964, true,
      "aefe88588dd428d674464bb475623ca2807cb1359ee458a1990c8271dc060454" },
    { 32 * KIB, 0, 3077985, 40, 3075617, 3058220, 797482, true,
      "c6d6b7ffdd842cf3ef9466a280b77c7d90d7faead2a4827f6eb2076a879ccdfd" },
    { 8 * MIB, 0, 3844929, 40, 3842449, 3815036, 1011290, true,
      "c81064f99ce13c72ce24cde7bcdb792f10fae18587a68d8937615c7b5937bb43" },
    { 16 * MIB, 0, 3945741, 40, 3943199, 3913286, 1041808, true,
      "1164b030fa9d43f527c39f42c9d49d35c00637c72985fd55c60a62e19f889074" },
    { 512 * MIB, 0, 4423433, 40, 4420837, 4385080, 1174174, true,
      "b4e1a81021ecec4a659994eeb1086236522aa58217a16577c4056e0b2e20dc17" },
    { 1 * GIB, 0, 4524245, 40, 4521587, 4483330, 1204692, true,
      "76c36f2514caf23e0a529a5b346111ebdda9da15ef7b631da30b94dfa4387def" },
    { 32 * GIB, 1, 7238236, 22, 7232200, 7209001, 1840034, false,
      "c778141740d7705bd5c5e9c437232a77e7b9480e54bc5ed2bc44cbb9d18d45a5" },
    { 64 * GIB, 1, 7288642, 22, 7282575, 7258126, 1855293, true,
      "aabb4f1a7451a6f1d28743fa37d5cb4b283a5ac004f845f24acd3259e7c0b4bb" },
    { 32 * GIB, 0, 130278541, 328, 130169893, 129753620, 33112282, true,
      "493ffe1d83b3a099bc84562dab19263b2c673be9d44c3205eb77bd1769a0fafa" },
    { 64 * GIB, 0, 131185849, 328, 131076643, 130637870, 33386944, true,
      "be7df7685c23d4947dd6d7f210fa9f1dbf187c2a522553616e7bf09a4efbf45c" },
};

static bool long_tests(void)
{
    return getenv("CUZK_TEST_LONG") != NULL;
}

static void circuits_have_the_digests_of_the_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct known *k = &known[i];
        if (k->slow && !long_tests())
            continue;
        print_message("porep, %llu bytes\n", (unsigned long long)k->sector_bytes);
        struct porep_partition *blank = porep_blank(porep_config(k->sector_bytes), k->challenges);
        assert_non_null(blank);
        struct circuit_program program = { porep_synthesize, blank };
        struct cs_digest digest;
        struct cuzk_error err = { 0 };
        assert_ok(cs_digest(&program, &digest, NULL, NULL, &err), err);
        assert_int_equal(digest.n_rows, k->n_rows);
        assert_int_equal(digest.n_inputs, k->n_inputs);
        assert_int_equal(digest.n_aux, k->n_aux);
        assert_int_equal(digest.n_inputs + digest.a_dense_aux, k->a_points);
        assert_int_equal(digest.b_dense_inputs + digest.b_dense_aux, k->b_points);
        assert_hex_equal(digest.sha256, sizeof digest.sha256, k->digest);
        porep_partition_free(blank);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(circuits_have_the_digests_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
