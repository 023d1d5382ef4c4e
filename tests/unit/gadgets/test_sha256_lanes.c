/* Hashes that the witness driver makes side by side have the same values, bit for bit, as hashes
   made one by one and as the gadgets' rows. */
#include "compare.h"

#include "gadgets/sha256.h"
#include "gadgets/sha256_lanes.h"
#include "r1cs/witness.h"

enum { MESSAGES_MAX = SHA256_LANES + 3, MESSAGE_WORDS_MAX = 40 };

struct messages {
    size_t lanes, count;
    size_t n;      /* of words of each */
    unsigned kind; /* of values: 0 zeros, 1 all r - 1, else random */
};

/* What the hash of a message of n words of numbers takes. */
static struct witness_size hash_size(const struct word_planes *message, size_t n)
{
    enum { BITS = 5 * 27000 };
    static uint64_t bits[BITS / 64 + 1];
    struct fr packed;
    struct witness witness = {
        .bits = bits,
        .full = &packed,
        .aux_capacity = BITS,
        .full_capacity = 1,
    };
    sha256_hash_witness(&witness, message, n);
    assert_false(witness.overflow);
    return (struct witness_size){.n_aux = witness.n_aux, .n_full = 1};
}

/* Each hash comes behind its numbers and some more bits, so that it begins anywhere in a word. */
static void build_messages(struct cs *cs, const void *input)
{
    const struct messages *messages = input;
    static struct word_planes words[MESSAGES_MAX][MESSAGE_WORDS_MAX];
    struct witness rooms[MESSAGES_MAX], *room[MESSAGES_MAX];
    const struct word_planes *message[MESSAGES_MAX];
    struct num digests[MESSAGES_MAX];
    uint64_t random = messages->n;
    for (size_t k = 0; k < messages->count; k++) {
        struct boolean bits[32 * MESSAGE_WORDS_MAX], digest[SHA256_BITS];
        for (size_t i = 0; i < messages->n; i += 8) {
            struct sha256_number number;
            struct fr value = test_random_fr(&random);
            value = messages->kind == 0 ? fr_zero : messages->kind == 1 ? fr_minus_one : value;
            sha256_number_of(cs, num_alloc(cs, &value), &number);
            memcpy(bits + 32 * i, number.bit, sizeof number.bit);
            memcpy(words[k] + i, number.word, sizeof number.word);
        }
        for (uint64_t i = test_random(&random) % 64; i > 0; i--)
            boolean_bit(cs, true);
        if (cs->witness) {
            struct witness_size size = hash_size(words[k], messages->n);
            room[k] = &rooms[k];
            message[k] = words[k];
            assert_true(witness_skip(cs->witness, &size, room[k]));
        } else {
            sha256_circuit(cs, bits, 32 * messages->n, digest);
            sha256_pack_digest(cs, digest);
        }
    }
    boolean_bit(cs, true);
    if (!cs->witness)
        return;
    sha256_hashes_witness(messages->lanes, messages->count, room, message, messages->n, digests);
    for (size_t k = 0; k < messages->count; k++) {
        assert_true(witness_part_complete(room[k]));
        assert_true(fr_equal(&digests[k].value, &rooms[k].full[rooms[k].n_full - 1]));
        assert_int_equal(digests[k].var.id, var_aux(rooms[k].n_aux - 1).id);
    }
}

static void hashes_side_by_side(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 3, 4, 5, 7, 8, 9, MESSAGES_MAX};
    static const size_t lengths[] = {8, 1, 16, 13, 40, 14, 24, 29, 7};
    const size_t lanes[] = {1, sha256_lanes()};
    for (size_t l = 0; l < 2; l++) {
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            struct messages messages = {lanes[l], counts[i], lengths[i], (unsigned)i % 4};
            struct circuit_program program = {build_messages, &messages};
            assert_int_equal(compare_drivers(&program), 0);
        }
    }
}

/* Blocks with constant bits anywhere, at all places of a word, with other bits before and behind,
   against the blocks one by one. */
static void blocks_side_by_side(void **state)
{
    (void)state;
    if (sha256_lanes() == 1) {
        print_message("SKIP: no AVX2 on this processor\n");
        skip();
    }
    enum { WORDS = 27000 / 64 + 2 };
    static uint64_t one[SHA256_LANES][WORDS], other[SHA256_LANES][WORDS];
    uint64_t random = 7;
    for (uint32_t round = 0; round < 256; round++) {
        size_t n = 1 + round / 64 + round % 5;
        bool initial = round & 64;
        struct word_planes message[SHA256_LANES][16];
        struct sha256_words a[SHA256_LANES] = {0}, b[SHA256_LANES];
        struct witness x[SHA256_LANES], y[SHA256_LANES], *lanes[SHA256_LANES];
        memset(one, 0, sizeof one);
        memset(other, 0, sizeof other);
        for (size_t t = 0; t < 24; t++) {
            uint32_t kind = test_random(&random) % 4;
            uint32_t constant = kind == 0 && t > 0 ? UINT32_MAX
                                : kind == 1 ? (uint32_t)test_random(&random) & UINT32_MAX >> 1
                                            : 0;
            uint32_t shared = (uint32_t)test_random(&random);
            for (size_t i = 0; i < n; i++) {
                uint32_t value = (uint32_t)test_random(&random);
                value = round % 8 == 0 ? 0 : round % 8 == 1 ? UINT32_MAX : value;
                if (t < 16)
                    message[i][t] = (struct word_planes){value, constant, value & constant};
                else if (initial)
                    a[i].word[t - 16] = (struct word_planes){shared, UINT32_MAX, shared};
                else
                    a[i].word[t - 16].value = value;
            }
        }
        for (size_t i = 0; i < n; i++) {
            uint32_t at = (round + 9 * (uint32_t)i) % 64;
            b[i] = a[i];
            x[i] = (struct witness){.bits = one[i], .aux_capacity = 64 * (WORDS - 1)};
            if (at > 0)
                witness_append_bits(&x[i], UINT64_MAX, at);
            sha256_compress_witness(&x[i], message[i], &a[i]);
            y[i] = (struct witness){.bits = other[i], .aux_capacity = x[i].n_aux + 64};
            if (at > 0)
                witness_append_bits(&y[i], UINT64_MAX, at);
            y[i].n_aux = x[i].n_aux;
            witness_append_bits(&x[i], UINT64_MAX, 64);
            witness_append_bits(&y[i], UINT64_MAX, 64);
            y[i].n_aux = at;
            lanes[i] = &y[i];
        }
        sha256_compress_avx2(n, lanes, message, b);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(y[i].n_aux + 64, x[i].n_aux);
            for (size_t t = 0; t < 8; t++)
                assert_memory_equal(&a[i].word[t], &b[i].word[t], sizeof a[i].word[t]);
        }
        assert_memory_equal(one, other, sizeof one);
        y[n - 1].aux_capacity = y[n - 1].n_aux + 100;
        sha256_compress_avx2(n, lanes, message, b);
        assert_true(y[n - 1].overflow);
        assert_memory_equal(one, other, sizeof one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_side_by_side),
        cmocka_unit_test(blocks_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
