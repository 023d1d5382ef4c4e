/* A gadget that forgets a row which makes a bit a bit cannot be recorded. */
#include "support/support.h"

#include "gadgets/num.h"
#include "gadgets/sha256.h"
#include "r1cs/shape.h"

/* Drops one row on its way to a driver. */
static struct {
    struct cs_driver driver; /* the recorder's with another enforce */
    const struct cs_driver *inner;
    uint64_t dropped;
    uint64_t next;
    bool is_linear; /* the dropped row is A·1 = C */
} dropper;

static void drop_enforce(struct cs *cs, struct lc *a, struct lc *b, struct lc *c)
{
    if (dropper.next++ != dropper.dropped) {
        dropper.inner->enforce(cs, a, b, c);
        return;
    }
    dropper.is_linear = b->len == 1 && b->terms[0].var.id == VAR_ONE.id;
    cs->n_rows--; /* cs_enforce counts it */
}

/* Hashing two nodes: strict bits of two numbers and two blocks of SHA-256. */
static void hash_nodes(struct cs *cs, const void *input)
{
    dropper.inner = cs->driver;
    dropper.driver = *cs->driver;
    dropper.driver.enforce = drop_enforce;
    dropper.dropped = *(const uint64_t *)input;
    dropper.next = 0;
    dropper.is_linear = false;
    cs->driver = &dropper.driver;
    struct num left = num_alloc(cs, &fr_zero), right = num_alloc(cs, &fr_one);
    sha256_hash_nodes(cs, left, right);
    cs->driver = dropper.inner;
}

static enum cuzk_status record_without(uint64_t row, struct cuzk_error *err)
{
    struct circuit_program program = {hash_nodes, &row};
    struct shape *shape = NULL;
    enum cuzk_status status = shape_record(&program, &shape, err);
    shape_free(shape);
    return status;
}

/* All rows but the linear ones (sums of words, packings) define a bit. */
static void test_dropped_rows(void **state)
{
    (void)state;
    struct cuzk_error err = {0};
    assert_ok(record_without(UINT64_MAX, &err), err);
    const uint64_t n_rows = dropper.next;
    assert_true(n_rows > 45000);
    unsigned refused = 0;
    for (uint64_t row = 0; row < n_rows; row += 331) {
        const enum cuzk_status status = record_without(row, &err);
        if (status != (dropper.is_linear ? CUZK_OK : CUZK_INTERNAL))
            fail_msg("without row %llu: %s", (unsigned long long)row, cuzk_status_text(status));
        if (status == CUZK_OK)
            continue;
        assert_non_null(strstr(err.text, "no row forces it to be 0 or 1"));
        refused++;
    }
    assert_true(refused > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dropped_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
