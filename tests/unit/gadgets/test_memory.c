/* Running out of memory anywhere in the gadgets is an error, and nothing leaks. */
#include "compare.h"

#include "gadgets/merkle.h"
#include "gadgets/sha256.h"
#include "oracle/check.h"
#include "oracle/digest.h"

static void build(struct cs *cs, const void *input)
{
    static const uint8_t poseidon[] = {8, 2}, binary[] = {2};
    static const struct fr siblings[8];
    (void)input;
    struct num leaf = num_alloc(cs, &fr_one), root = num_alloc(cs, &fr_one);
    struct merkle_path path = {MERKLE_POSEIDON, 2, poseidon, 9, siblings};
    merkle_prove(cs, &path, leaf, root);
    merkle_prove(cs, &path, leaf, root);
    path = (struct merkle_path){MERKLE_SHA256, 1, binary, 1, siblings};
    merkle_prove(cs, &path, leaf, root);
}

typedef enum cuzk_status run_fn(const struct circuit_program *program, struct cuzk_error *err);

static enum cuzk_status run_recorder(const struct circuit_program *program, struct cuzk_error *err)
{
    struct shape *shape;
    enum cuzk_status status = shape_record(program, &shape, err);
    if (status == CUZK_OK)
        shape_free(shape);
    return status;
}

static enum cuzk_status run_digest(const struct circuit_program *program, struct cuzk_error *err)
{
    struct cs_digest digest;
    return cs_digest(program, &digest, NULL, NULL, err);
}

static enum cuzk_status run_check(const struct circuit_program *program, struct cuzk_error *err)
{
    struct check_result result;
    return cs_check(program, &result, NULL, NULL, NULL, NULL, err);
}

/* Fails the first allocation, a later one, and so on, until the run gets through. */
static void fail_allocations(run_fn *run)
{
    struct circuit_program program = {build, NULL};
    size_t used = mem_used_bytes();
    unsigned failures = 0;
    for (long after = 0;; after += 1 + after / 8) {
        struct cuzk_error err = {0};
        mem_fail_after(after);
        enum cuzk_status status = run(&program, &err);
        mem_fail_after(-1);
        assert_int_equal(mem_used_bytes(), used);
        if (status == CUZK_OK)
            break;
        assert_int_equal(status, CUZK_NO_MEMORY);
        failures++;
    }
    assert_true(failures > 5);
}

static void out_of_memory_is_an_error(void **state)
{
    (void)state;
    fail_allocations(run_recorder);
    fail_allocations(run_digest);
    fail_allocations(run_check);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(out_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
