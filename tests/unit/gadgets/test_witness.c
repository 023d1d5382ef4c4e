/* The fast paths of the witness driver give the same values, bit for bit, as the gadgets' rows. */
#include "compare.h"

#include "base/hash.h"
#include "gadgets/merkle_batch.h"
#include "gadgets/poseidon_circuit.h"
#include "gadgets/sha256.h"
#include "gadgets/sha256_witness.h"
#include "r1cs/witness.h"

/* --- SHA-256 blocks --------------------------------------------------------------------------- */

enum { STATE_BITS = 256, BLOCK_BITS = STATE_BITS + SHA256_BLOCK_BITS };

/* Kinds (enum boolean_kind) and values of the state's bits, least significant first, and of the
   message's. */
struct block {
    uint8_t kind[BLOCK_BITS];
    bool value[BLOCK_BITS];
};

static struct boolean make_bit(struct cs *cs, const struct block *block, size_t i)
{
    bool value = block->value[i];
    if (block->kind[i] == BOOLEAN_CONSTANT)
        return boolean_constant(value);
    if (block->kind[i] == BOOLEAN_NEGATED)
        return boolean_not(boolean_bit(cs, !value));
    return boolean_bit(cs, value);
}

static void build_block(struct cs *cs, const void *input)
{
    struct uint32 state[8];
    struct boolean message[SHA256_BLOCK_BITS];
    for (size_t i = 0; i < STATE_BITS; i++)
        state[i / 32].bit[i % 32] = make_bit(cs, input, i);
    for (size_t i = 0; i < SHA256_BLOCK_BITS; i++)
        message[i] = make_bit(cs, input, STATE_BITS + i);
    sha256_compress_circuit(cs, message, state);
    /* What comes after a block sees its outputs. */
    struct boolean digest[SHA256_BITS];
    for (size_t i = 0; i < 8; i++)
        uint32_to_be_bits(&state[i], digest + 32 * i);
    sha256_pack_digest(cs, digest);
}

static void check_block(const struct block *block)
{
    struct circuit_program program = {build_block, block};
    assert_int_equal(compare_drivers(&program), 0);
}

enum fill { FILL_ZEROS, FILL_ONES, FILL_RANDOM };

static void fill_values(struct block *block, enum fill fill, uint64_t *random)
{
    for (size_t i = 0; i < BLOCK_BITS; i++) {
        if (block->kind[i] != BOOLEAN_CONSTANT)
            block->value[i] = fill == FILL_RANDOM ? test_random(random) & 1 : fill == FILL_ONES;
    }
}

static void set_constant_word(struct block *block, size_t first, uint32_t big_endian)
{
    for (size_t i = 0; i < 32; i++) {
        block->kind[first + i] = BOOLEAN_CONSTANT;
        block->value[first + i] = big_endian >> (31 - i) & 1;
    }
}

/* The five kinds of blocks that circuits are made of: K0 … K4. */
static struct block block_of_kind(unsigned kind)
{
    struct block block = {0};
    struct uint32 iv[8];
    memset(block.kind, BOOLEAN_PLAIN, sizeof block.kind);
    sha256_initial_state(iv);
    for (size_t i = 0; (kind == 0 || kind == 3) && i < STATE_BITS; i++) {
        block.kind[i] = BOOLEAN_CONSTANT;
        block.value[i] = iv[i / 32].bit[i % 32].value;
    }
    size_t last_number = kind == 0 || kind == 2 ? 248 : 504;
    for (size_t i = 248; kind < 4 && i <= last_number; i += 256) {
        block.kind[STATE_BITS + i] = BOOLEAN_CONSTANT;
        block.value[STATE_BITS + i] = false;
    }
    static const size_t first_constant[] = {8, 16, 8, 16, 0};
    static const uint32_t first_word[] = {7, 0, 0x80000000, 0, 0x80000000};
    static const uint32_t last_word[] = {0, 0, 9984, 0, 512};
    for (size_t t = first_constant[kind]; t < 16; t++) {
        uint32_t word = t == first_constant[kind] ? first_word[kind]
                        : t == 15                 ? last_word[kind]
                                                  : 0;
        if (kind != 0 || (t != 9 && t != 10))
            set_constant_word(&block, STATE_BITS + 32 * t, word);
    }
    return block;
}

static void assert_has_template(const struct circuit_program *program, const char *name)
{
    struct shape *shape;
    struct cuzk_error err = {0};
    bool found = false;
    assert_ok(shape_record(program, &shape, &err), err);
    for (uint32_t i = 0; i < shape->n_templates; i++)
        found = found || strcmp(shape->templates[i].name, name) == 0;
    assert_true(found);
    shape_free(shape);
}

static void blocks_of_the_circuits(void **state)
{
    (void)state;
    static const char *const names[] = {"sha256-k0", "sha256-k1", "sha256-k2", "sha256-k3",
                                        "sha256-k4"};
    uint64_t random = 1;
    for (unsigned kind = 0; kind < 5; kind++) {
        struct block block = block_of_kind(kind);
        struct circuit_program program = {build_block, &block};
        assert_has_template(&program, names[kind]);
        for (unsigned fill = FILL_ZEROS; fill <= FILL_RANDOM; fill++) {
            fill_values(&block, fill, &random);
            check_block(&block);
        }
    }
}

/* Kinds at random, from all constant to none; and a single variable bit at several places. */
static void blocks_of_any_mixture(void **state)
{
    (void)state;
    uint64_t random = 2;
    struct block block = {0};
    for (unsigned share = 0; share <= 8; share++) {
        for (size_t i = 0; i < BLOCK_BITS; i++) {
            bool constant = test_random(&random) % 8 < share;
            uint8_t variable = test_random(&random) & 1 ? BOOLEAN_PLAIN : BOOLEAN_NEGATED;
            block.kind[i] = constant ? BOOLEAN_CONSTANT : variable;
            block.value[i] = test_random(&random) & 1;
        }
        block.kind[0] = BOOLEAN_PLAIN;
        check_block(&block);
    }
    for (size_t place = 0; place < BLOCK_BITS; place += 151) {
        memset(block.kind, BOOLEAN_CONSTANT, sizeof block.kind);
        block.kind[place] = BOOLEAN_PLAIN;
        check_block(&block);
    }
}

/* --- Whole hashes ----------------------------------------------------------------------------- */

struct message {
    const uint8_t *bytes;
    size_t len;
    uint8_t *digest;
};

static void build_hash(struct cs *cs, const void *input)
{
    const struct message *message = input;
    struct boolean bits[8 * 256], digest[SHA256_BITS];
    for (size_t i = 0; i < 8 * message->len; i++)
        bits[i] = boolean_bit(cs, message->bytes[i / 8] >> (7 - i % 8) & 1);
    sha256_circuit(cs, bits, 8 * message->len, digest);
    /* The recorder makes no values; the last driver to run is the checking one. */
    memset(message->digest, 0, SHA256_BYTES);
    for (size_t i = 0; i < SHA256_BITS; i++)
        message->digest[i / 8] |= (uint8_t)(digest[i].value << (7 - i % 8));
}

static void hashes_are_those_of_sha256(void **state)
{
    (void)state;
    static const size_t lengths[] = {0, 1, 55, 56, 63, 64, 65, 128, 200};
    uint8_t bytes[256], digest[SHA256_BYTES], expected[SHA256_BYTES];
    uint64_t random = 3;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)test_random(&random);
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        struct message message = {bytes, lengths[k], digest};
        struct circuit_program program = {build_hash, &message};
        assert_int_equal(compare_drivers(&program), 0);
        sha256(bytes, lengths[k], expected);
        assert_memory_equal(digest, expected, sizeof expected);
    }
}

/* Numbers one after the other, which end at all places of a block that a message of whole words can
   end at, and take one to four blocks. */
struct numbers {
    size_t n; /* of words of the message */
    const struct fr *values;
};

static void build_number_hash(struct cs *cs, const void *input)
{
    const struct numbers *numbers = input;
    struct boolean bits[48 * 32], digest[SHA256_BITS];
    struct word_planes words[48];
    for (size_t i = 0; i < numbers->n; i += 8) {
        struct sha256_number number;
        sha256_number_of(cs, num_alloc(cs, &numbers->values[i / 8]), &number);
        memcpy(bits + 32 * i, number.bit, sizeof number.bit);
        memcpy(words + i, number.word, sizeof number.word);
    }
    if (cs->witness) {
        sha256_hash_witness(cs->witness, words, numbers->n);
    } else {
        sha256_circuit(cs, bits, 32 * numbers->n, digest);
        sha256_pack_digest(cs, digest);
    }
}

static void hashes_of_numbers(void **state)
{
    (void)state;
    uint64_t random = 5;
    struct fr values[6] = {fr_zero, fr_minus_one, fr_one};
    for (size_t n = 1; n <= 48; n++) {
        for (size_t i = 3; i < 6; i++)
            values[i] = test_random_fr(&random);
        struct numbers numbers = {n, values + n % 4};
        if (n > 16)
            numbers.values = values;
        struct circuit_program program = {build_number_hash, &numbers};
        assert_int_equal(compare_drivers(&program), 0);
    }
}

/* Runs of all kinds of lengths at all places of a word, with other bits before and behind. */
static void runs_of_bits(void **state)
{
    (void)state;
    static const unsigned counts[] = {1, 2, 35, 61, 54, 34, 32, 64, 63, 2, 64, 64};
    enum { N = sizeof counts / sizeof counts[0], BITS = 1024 };
    uint64_t random = 6;
    for (unsigned at = 0; at < 64; at++) {
        for (unsigned n = 1; n <= N; n++) {
            uint64_t one[BITS / 64 + 1] = {0}, other[BITS / 64 + 1] = {0};
            struct witness a = {.bits = one, .aux_capacity = BITS};
            struct witness b = {.bits = other, .aux_capacity = BITS};
            uint32_t total = 0;
            for (unsigned i = 0; i < n; i++)
                total += counts[i];
            if (at > 0) {
                witness_append_bits(&a, UINT64_MAX, at);
                witness_append_bits(&b, UINT64_MAX, at);
            }
            b.n_aux += total;
            witness_append_bits(&b, UINT64_MAX, 64);
            b.n_aux = at;
            struct witness_run run = {0};
            assert_true(witness_run_start(&run, &b, total));
            for (unsigned i = 0; i < n; i++) {
                uint64_t bits = test_random(&random) >> (64 - counts[i]);
                witness_append_bits(&a, bits, counts[i]);
                witness_run_put(&run, bits, counts[i]);
            }
            witness_run_finish(&run);
            assert_int_equal(a.n_aux, b.n_aux);
            witness_append_bits(&a, UINT64_MAX, 64);
            assert_memory_equal(one, other, sizeof one);
        }
    }
    struct witness_run run;
    struct witness full = {.aux_capacity = 100, .n_aux = 90};
    assert_false(witness_run_start(&run, &full, 11));
    assert_true(full.overflow && full.n_aux == 90);
}

/* --- Numbers, Poseidon and paths -------------------------------------------------------------- */

struct values {
    struct fr value[16];
};

static void build_numbers(struct cs *cs, const void *input)
{
    const struct values *values = input;
    struct num nums[POSEIDON_ARITY_MAX];
    struct boolean bits[FR_BITS];
    for (size_t i = 0; i < POSEIDON_ARITY_MAX; i++)
        nums[i] = num_alloc(cs, &values->value[i]);
    for (size_t i = 0; i < 3; i++) {
        num_to_bits(cs, nums[i], bits);
        num_pack_bits(cs, bits, FR_CAPACITY);
        num_decompose(cs, nums[i], FR_BITS, bits);
        num_pack_into_inputs(cs, bits, FR_BITS);
    }
    num_inputize(cs, num_add(cs, num_square(cs, nums[0]), num_mul(cs, nums[1], nums[2])));
    struct num hash = poseidon_circuit(cs, POSEIDON_RANDOMNESS, 2, nums);
    static const unsigned arity[] = {2, 4, 8, 11};
    for (size_t i = 0; i < 4; i++) {
        /* Each chain's second use is a placement of the first. */
        nums[0] = poseidon_circuit(cs, POSEIDON_TREE, arity[i], nums);
        nums[1] = poseidon_circuit(cs, POSEIDON_TREE, arity[i], nums);
    }
    num_inputize(cs, num_add(cs, hash, nums[1]));
}

static void numbers_and_poseidon(void **state)
{
    (void)state;
    uint64_t random = 4;
    for (unsigned round = 0; round < 4; round++) {
        struct values values;
        for (size_t i = 0; i < 16; i++)
            values.value[i] = round == 0   ? fr_zero
                              : round == 1 ? fr_minus_one
                                           : test_random_fr(&random);
        struct circuit_program program = {build_numbers, &values};
        assert_int_equal(compare_drivers(&program), 0);
    }
}

/* The roots are wrong, which leaves one row of each of the two proofs unsatisfied. */
static void build_paths(struct cs *cs, const void *input)
{
    static const uint8_t poseidon[] = {8, 8, 4, 2}, binary[] = {2, 2, 2};
    uint64_t random = *(const uint64_t *)input;
    struct fr siblings[7 + 7 + 3 + 1], leaf = test_random_fr(&random), root = fr_one;
    for (size_t i = 0; i < sizeof siblings / sizeof siblings[0]; i++)
        siblings[i] = test_random_fr(&random);
    struct merkle_path path = {
        MERKLE_POSEIDON, 4, poseidon, test_random(&random) % 512, siblings,
    };
    merkle_prove(cs, &path, num_alloc(cs, &leaf), num_alloc(cs, &root));
    path = (struct merkle_path){MERKLE_SHA256, 3, binary, test_random(&random) % 8, siblings};
    merkle_prove(cs, &path, num_alloc(cs, &leaf), num_alloc(cs, &root));
    struct num given[18];
    struct boolean bits[9];
    for (size_t i = 0; i < 18; i++)
        given[i] = num_alloc(cs, &siblings[i]);
    for (size_t i = 0; i < 9; i++)
        bits[i] = boolean_bit(cs, test_random(&random) & 1);
    merkle_root(cs, MERKLE_POSEIDON, 4, poseidon, num_alloc(cs, &leaf), bits, given);
    merkle_root(cs, MERKLE_SHA256, 3, binary, num_alloc(cs, &leaf), bits, given);
}

static void paths(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3; seed++) {
        struct circuit_program program = {build_paths, &seed};
        assert_int_equal(compare_drivers(&program), 2);
    }
}

/* --- Proofs made together --------------------------------------------------------------------- */

struct proofs {
    size_t n;
    unsigned kind; /* of values: 0 zeros, 1 all r − 1, else random */
};

static struct fr proof_value(const struct proofs *proofs, uint64_t *random)
{
    struct fr value = test_random_fr(random);
    return proofs->kind == 0 ? fr_zero : proofs->kind == 1 ? fr_minus_one : value;
}

/* Columns of all sizes under trees of several shapes, with other variables between the proofs.
   Every root is wrong. */
static void build_proofs(struct cs *cs, const void *input)
{
    static const uint8_t arities[][4] = {{8, 8, 4, 2}, {2}, {8, 8}, {4, 8, 2}};
    static const unsigned levels[] = {4, 1, 2, 3}, columns[] = {11, 1, 8, 2, 4};
    struct fr siblings[16][7 + 7 + 3 + 1];
    const struct proofs *proofs = input;
    struct merkle_batch batch;
    uint64_t random = proofs->n;
    merkle_batch_start(&batch, cs);
    for (size_t k = 0; k < proofs->n; k++) {
        struct num column[POSEIDON_ARITY_MAX], root;
        for (size_t i = 0; i < 18; i++)
            siblings[k % 16][i] = proof_value(proofs, &random);
        for (size_t i = 0; i < POSEIDON_ARITY_MAX; i++) {
            struct fr value = proof_value(proofs, &random);
            column[i] = num_alloc(cs, &value);
        }
        root = num_alloc(cs, &fr_one);
        struct merkle_path path = {
            MERKLE_POSEIDON,  levels[k % 4], arities[k % 4], test_random(&random) % 512,
            siblings[k % 16],
        };
        merkle_batch_prove(&batch, column, columns[k % 5], &path, root);
        boolean_bit(cs, test_random(&random) & 1);
    }
    merkle_batch_finish(&batch);
    num_alloc(cs, &fr_one);
}

static void proofs_made_together(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (unsigned kind = 0; kind < 3; kind++) {
            struct proofs proofs = {counts[i], kind};
            struct circuit_program program = {build_proofs, &proofs};
            assert_int_equal(compare_drivers(&program), counts[i]);
        }
    }
}

/* The room for a proof is not there. */
static void proofs_that_do_not_fit(void **state)
{
    (void)state;
    struct proofs few = {7, 2}, many = {9, 2};
    struct circuit_program program = {build_proofs, &few};
    struct shape *shape;
    struct witness witness;
    struct cuzk_error err = {0};
    assert_ok(shape_record(&program, &shape, &err), err);
    program.input = &many;
    assert_int_equal(witness_synthesize(&program, shape, &witness, &err), CUZK_INTERNAL);
    shape_free(shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_the_circuits),
        cmocka_unit_test(blocks_of_any_mixture),
        cmocka_unit_test(hashes_are_those_of_sha256),
        cmocka_unit_test(hashes_of_numbers),
        cmocka_unit_test(runs_of_bits),
        cmocka_unit_test(numbers_and_poseidon),
        cmocka_unit_test(paths),
        cmocka_unit_test(proofs_made_together),
        cmocka_unit_test(proofs_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
