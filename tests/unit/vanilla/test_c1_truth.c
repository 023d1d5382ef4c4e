/* Sectors that are wrong in one place and consistent everywhere else: all trees are hashed again
   over the wrong value, so that only the check of that value can find it. */
#include "support/sparse.h"
#include "support/support.h"

#include "base/mem.h"
#include "base/pool.h"
#include "math/poseidon.h"
#include "vanilla/c1.h"

#include <stdio.h>
#include <string.h>

static struct fr *node_value(struct sparse_tree *tree, unsigned level, uint64_t index)
{
    struct sparse_level *nodes = &tree->level[level];
    for (size_t i = 0; i < nodes->count; i++) {
        if (nodes->index[i] == index)
            return &nodes->value[i];
    }
    fail_msg("node %llu is not known", (unsigned long long)index);
    return NULL;
}

/* Gives a leaf another value and hashes its path again. */
static void change_leaf(struct sparse_tree *tree, uint64_t index, const struct fr *value)
{
    *node_value(tree, 0, index) = *value;
    for (unsigned h = 0; h < tree->shape->levels; h++) {
        unsigned arity = tree->shape->arity[h];
        struct fr children[8];
        index /= arity;
        for (unsigned i = 0; i < arity; i++)
            children[i] = *sparse_tree_node(tree, h, index * arity + i);
        poseidon_hash(node_value(tree, h + 1, index), arity, children);
    }
}

static void set_comm_r(struct sparse_sector *sector)
{
    unsigned top = sector->tree_c.shape->levels;
    struct fr roots[2] = {*sparse_tree_node(&sector->tree_c, top, 0),
                          *sparse_tree_node(&sector->tree_r, top, 0)};
    poseidon_hash(&roots[0], 2, roots);
    fr_to_bytes(sector->values.comm_r, &roots[0]);
}

static void rehash_columns(struct sparse_sector *sector)
{
    unsigned layers = sector->values.config->layers;
    for (size_t i = 0; i < sector->n_nodes; i++) {
        struct fr rows[POREP_LAYERS_MAX];
        for (unsigned row = 0; row < layers; row++)
            assert_true(fr_from_bytes(&rows[row], sector->labels[i][row]));
        poseidon_hash(&rows[0], layers, rows);
        change_leaf(&sector->tree_c, sector->nodes[i], &rows[0]);
    }
}

static void rehash_replica(struct sparse_sector *sector)
{
    struct fr data;
    assert_true(fr_from_bytes(&data, sector->tree_d[0]));
    for (size_t i = 0; i < sector->n_nodes; i++) {
        struct fr leaf;
        assert_true(fr_from_bytes(&leaf, sector->labels[i][sector->values.config->layers - 1]));
        fr_add(&leaf, &leaf, &data);
        change_leaf(&sector->tree_r, sector->nodes[i], &leaf);
    }
}

static void check(const struct sparse_sector *sector, struct cuzk_error *err)
{
    struct text text = {0};
    struct c1 *c1;
    *err = (struct cuzk_error){0};
    assert_ok(sparse_write(sector, add_text, &text, err), *err);
    assert_ok(c1_parse(text.data, text.len, &c1, err), *err);
    c1_check(c1, NULL, NULL, err);
    text_free(&text);
    c1_free(c1);
}

static void make(struct sparse_sector *sector)
{
    struct cuzk_error err;
    assert_ok(sparse_make(sector, seal_proof_by_number(5), NULL, &err), err);
}

/* The helpers above change nothing in a right sector. */
static void a_right_sector_stays_right(void **state)
{
    (void)state;
    struct sparse_sector sector;
    struct cuzk_error err;
    make(&sector);
    rehash_columns(&sector);
    rehash_replica(&sector);
    set_comm_r(&sector);
    check(&sector, &err);
    assert_ok(err.status, err);
    sparse_free(&sector);
}

static void a_wrong_label(void **state)
{
    (void)state;
    for (unsigned layer = 1; layer <= 2; layer++) {
        struct sparse_sector sector;
        struct cuzk_error err;
        char expected[CUZK_ERROR_TEXT_BYTES];
        make(&sector);
        size_t node = sector.challenges[0][1] == sector.nodes[0] ? 0 : 1;
        sector.labels[node][layer - 1][0] ^= 1;
        rehash_columns(&sector);
        rehash_replica(&sector);
        set_comm_r(&sector);
        check(&sector, &err);
        snprintf(expected, sizeof expected,
                 "C1: partition 0, challenge 1 (node %llu): labeling_proofs[%u]: the label hash "
                 "differs from row %u of c_x",
                 (unsigned long long)sector.challenges[0][1], layer - 1, layer - 1);
        assert_string_equal(err.text, expected);
        sparse_free(&sector);
    }
}

static void a_wrong_replica_node(void **state)
{
    (void)state;
    struct sparse_sector sector;
    struct cuzk_error err;
    char expected[CUZK_ERROR_TEXT_BYTES];
    make(&sector);
    uint64_t node = sector.challenges[0][0];
    struct fr leaf = *sparse_tree_node(&sector.tree_r, 0, node);
    fr_add(&leaf, &leaf, &fr_one);
    change_leaf(&sector.tree_r, node, &leaf);
    set_comm_r(&sector);
    check(&sector, &err);
    snprintf(expected, sizeof expected,
             "C1: partition 0, challenge 0 (node %llu): encoding_proof: label and data do not add "
             "up to the leaf of comm_r_last_proof",
             (unsigned long long)node);
    assert_string_equal(err.text, expected);
    sparse_free(&sector);
}

/* Of several faults, found by several threads, the first in the file is reported. */
static void the_first_fault_is_told(void **state)
{
    (void)state;
    struct sparse_sector sector;
    struct text text = {0};
    struct cuzk_error err;
    struct c1 *c1;
    assert_ok(sparse_make(&sector, seal_proof_by_number(8), NULL, &err), err);
    for (unsigned k = 3; k < 10; k++) {
        uint64_t node = sector.challenges[k][5];
        struct fr leaf = *sparse_tree_node(&sector.tree_r, 0, node);
        fr_add(&leaf, &leaf, &fr_one);
        change_leaf(&sector.tree_r, node, &leaf);
    }
    set_comm_r(&sector);
    assert_ok(sparse_write(&sector, add_text, &text, &err), err);
    assert_ok(c1_parse(text.data, text.len, &c1, &err), err);
    struct pool *pool = pool_new(4);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(c1_check(c1, NULL, i ? NULL : pool, &err), CUZK_INVALID_ARGUMENT);
        assert_non_null(strstr(err.text, "C1: partition 3, challenge 5 (node "));
    }
    pool_free(pool);
    text_free(&text);
    c1_free(c1);
    sparse_free(&sector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_sector_stays_right),
        cmocka_unit_test(a_wrong_label),
        cmocka_unit_test(a_wrong_replica_node),
        cmocka_unit_test(the_first_fault_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
