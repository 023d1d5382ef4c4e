#include "gadgets/sha256.h"

#include "base/check.h"
#include "base/mem.h"
#include "gadgets/row.h"
#include "gadgets/sha256_tables.h"
#include "gadgets/sha256_witness.h"

void sha256_initial_state(struct uint32 state[8])
{
    for (size_t i = 0; i < 8; i++)
        state[i] = uint32_constant(sha256_iv[i]);
}

static struct uint32 xor3(struct cs *cs, const struct uint32 *a, const struct uint32 *b,
                          const struct uint32 *c)
{
    struct uint32 ab = uint32_xor(cs, a, b);
    return uint32_xor(cs, &ab, c);
}

/* The xor of three rotations, or of two and a shift. */
static struct uint32 sigma(struct cs *cs, const struct uint32 *a, unsigned by1, unsigned by2,
                           unsigned by3, bool shift)
{
    struct uint32 x = uint32_rotr(a, by1);
    struct uint32 y = uint32_rotr(a, by2);
    struct uint32 z = shift ? uint32_shr(a, by3) : uint32_rotr(a, by3);
    return xor3(cs, &x, &y, &z);
}

static void extend_message(struct multieq *equations, struct uint32 w[64])
{
    for (size_t t = 16; t < 64; t++) {
        struct uint32 s0 = sigma(equations->cs, &w[t - 15], 7, 18, 3, true);
        struct uint32 s1 = sigma(equations->cs, &w[t - 2], 17, 19, 10, true);
        const struct uint32 *addends[] = {&w[t - 16], &s0, &w[t - 7], &s1};
        w[t] = uint32_add(equations, addends, 4);
    }
}

/* Words that are summed up only when their sum is needed. */
struct addends {
    struct uint32 words[8];
    size_t n;
};

static void addends_put(struct addends *to, const struct uint32 *word)
{
    to->words[to->n++] = *word;
}

static struct uint32 addends_sum(struct multieq *equations, const struct addends *from)
{
    const struct uint32 *list[8];
    for (size_t i = 0; i < from->n; i++)
        list[i] = &from->words[i];
    return uint32_add(equations, list, from->n);
}

/* Round i on s = a … h. for_a and for_e receive the addends of the next a and e. */
static void compress_round(struct multieq *equations, size_t i, const struct uint32 *w,
                           struct uint32 s[8], struct addends *for_a, struct addends *for_e)
{
    struct cs *cs = equations->cs;
    if (i > 0)
        s[4] = addends_sum(equations, for_e);
    struct uint32 s1 = sigma(cs, &s[4], 6, 11, 25, false);
    struct uint32 ch = uint32_ch(cs, &s[4], &s[5], &s[6]);
    struct uint32 k = uint32_constant(sha256_round_constants[i]);
    if (i > 0)
        s[0] = addends_sum(equations, for_a);
    struct uint32 s0 = sigma(cs, &s[0], 2, 13, 22, false);
    struct uint32 maj = uint32_maj(cs, &s[0], &s[1], &s[2]);

    for_e->n = 0;
    addends_put(for_e, &s[7]);
    addends_put(for_e, &s1);
    addends_put(for_e, &ch);
    addends_put(for_e, &k);
    addends_put(for_e, w);
    *for_a = *for_e;
    addends_put(for_e, &s[3]);
    addends_put(for_a, &s0);
    addends_put(for_a, &maj);
    memmove(&s[1], &s[0], 7 * sizeof *s);
}

static void compress_rows(struct cs *cs, const struct boolean message[SHA256_BLOCK_BITS],
                          struct uint32 state[8])
{
    struct multieq equations;
    multieq_start(&equations, cs);
    struct uint32 w[64], s[8];
    for (size_t t = 0; t < 16; t++)
        w[t] = uint32_from_be_bits(message + 32 * t);
    extend_message(&equations, w);

    struct addends for_a, for_e;
    memcpy(s, state, sizeof s);
    for (size_t i = 0; i < 64; i++)
        compress_round(&equations, i, &w[i], s, &for_a, &for_e);
    addends_put(&for_a, &state[0]);
    addends_put(&for_e, &state[4]);
    for (size_t i = 0; i < 8; i++) {
        const struct uint32 *addends[] = {&state[i], &s[i]};
        if (i == 0 || i == 4)
            state[i] = addends_sum(&equations, i == 0 ? &for_a : &for_e);
        else
            state[i] = uint32_add(&equations, addends, 2);
    }
    multieq_finish(&equations);
}

/* A kind of block, word by word: which message bits are constant, and their values. */
struct block_kind {
    const char *name;
    bool constant_state;
    int variant_word; /* index of a constant word whose value is the template's variant, or -1 */
    uint32_t constant[16];
    uint32_t value[16];
};

/* The constant 0 at the end of a 255-bit number in bytes: bit 248 of a half block. */
#define NUMBER_END 0x80u
#define ALL UINT32_MAX

static const struct block_kind block_kinds[] = {
    {.name = "sha256-k0",
     .constant_state = true,
     .variant_word = 8,
     .constant = {[7] = NUMBER_END, [8] = ALL, [11] = ALL, ALL, ALL, ALL, ALL}},
    {.name = "sha256-k1", .variant_word = -1, .constant = {[7] = NUMBER_END, [15] = NUMBER_END}},
    {.name = "sha256-k2",
     .variant_word = -1,
     .constant = {[7] = NUMBER_END, [8] = ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL},
     .value = {[8] = 0x80000000, [15] = 9984}},
    {.name = "sha256-k3",
     .constant_state = true,
     .variant_word = -1,
     .constant = {[7] = NUMBER_END, [15] = NUMBER_END}},
    {.name = "sha256-k4",
     .variant_word = -1,
     .constant = {ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL},
     .value = {[0] = 0x80000000, [15] = 512}},
};

static bool message_matches(const struct block_kind *kind, const struct word_planes message[16])
{
    for (int t = 0; t < 16; t++) {
        const struct word_planes *word = &message[t];
        if (word->constant != kind->constant[t] || (word->negated & ~word->constant) != 0)
            return false;
        if (t != kind->variant_word && (word->value & word->constant) != kind->value[t])
            return false;
    }
    return true;
}

static bool state_matches(const struct block_kind *kind, const struct uint32 state[8])
{
    for (size_t i = 0; i < 8; i++) {
        struct word_planes word = word_planes_of_le_bits(state[i].bit);
        bool matches = kind->constant_state ? word.constant == ALL && word.value == sha256_iv[i]
                                            : word.constant == 0 && word.negated == 0;
        if (!matches)
            return false;
    }
    return true;
}

static const struct block_kind *kind_of_block(const struct word_planes message[16],
                                              const struct uint32 state[8])
{
    for (size_t k = 0; k < ARRAY_LEN(block_kinds); k++) {
        if (message_matches(&block_kinds[k], message) && state_matches(&block_kinds[k], state))
            return &block_kinds[k];
    }
    return NULL;
}

/* The variables that a block reads: those of the state, then those of the message. Bits are taken
   from the end of each byte, so that numbers give long runs of consecutive variables. */
static size_t list_externals(struct var *out, const struct boolean message[SHA256_BLOCK_BITS],
                             const struct uint32 state[8])
{
    size_t n = 0;
    for (size_t i = 0; i < SHA256_BITS; i++) {
        struct boolean bit = state[i / 32].bit[i % 32];
        if (!boolean_is_constant(bit))
            out[n++] = bit.var;
    }
    for (size_t i = 0; i < SHA256_BLOCK_BITS; i++) {
        struct boolean bit = message[i ^ 7];
        if (!boolean_is_constant(bit))
            out[n++] = bit.var;
    }
    return n;
}

static void compress_template(struct cs *cs, const struct block_kind *kind, uint32_t variant,
                              const struct boolean message[SHA256_BLOCK_BITS],
                              struct uint32 state[8])
{
    struct var externals[SHA256_BITS + SHA256_BLOCK_BITS], outs[SHA256_BITS];
    struct cs_template use = {
        .name = kind->name,
        .variant = variant,
        .externals = externals,
        .n_externals = list_externals(externals, message, state),
    };
    if (cs_template_begin(cs, &use, outs, SHA256_BITS)) {
        compress_rows(cs, message, state);
        for (size_t i = 0; i < SHA256_BITS; i++)
            outs[i] = state[i / 32].bit[i % 32].var;
        cs_template_end(cs, outs, SHA256_BITS);
    } else {
        for (size_t i = 0; i < SHA256_BITS; i++)
            state[i / 32].bit[i % 32] = boolean_plain(outs[i], false);
    }
}

static void compress_words(struct witness *witness, const struct word_planes message[16],
                           struct uint32 state[8])
{
    struct sha256_words words;
    for (size_t i = 0; i < 8; i++)
        words.word[i] = word_planes_of_le_bits(state[i].bit);
    sha256_compress_witness(witness, message, &words);
    for (size_t i = 0; i < 256; i++) {
        const struct word_planes *word = &words.word[i / 32];
        bool value = word->value >> i % 32 & 1;
        state[i / 32].bit[i % 32] =
            word->constant ? boolean_constant(value)
                           : boolean_plain(var_aux(words.first[i / 32] + i % 32), value);
    }
}

void sha256_compress_circuit(struct cs *cs, const struct boolean message[SHA256_BLOCK_BITS],
                             struct uint32 state[8])
{
    struct word_planes planes[16];
    for (size_t t = 0; t < 16; t++)
        planes[t] = word_planes_of_be_bits(message + 32 * t);
    if (!row_wanted(cs)) {
        compress_words(cs->witness, planes, state);
        return;
    }
    const struct block_kind *kind = kind_of_block(planes, state);
    if (kind) {
        uint32_t variant = kind->variant_word >= 0 ? planes[kind->variant_word].value : 0;
        compress_template(cs, kind, variant, message, state);
    } else {
        compress_rows(cs, message, state);
    }
}

void sha256_circuit(struct cs *cs, const struct boolean *bits, size_t n,
                    struct boolean digest[SHA256_BITS])
{
    size_t padded = (n + 1 + 64 + SHA256_BLOCK_BITS - 1) / SHA256_BLOCK_BITS * SHA256_BLOCK_BITS;
    struct boolean *message = mem_alloc(padded, sizeof *message);
    struct uint32 state[8];
    sha256_initial_state(state);
    if (message) {
        memcpy(message, bits, n * sizeof *bits);
        message[n] = boolean_constant(true);
        for (size_t i = n + 1; i < padded - 64; i++)
            message[i] = boolean_constant(false);
        for (size_t i = 0; i < 64; i++)
            message[padded - 64 + i] = boolean_constant(n >> (63 - i) & 1);
        for (size_t at = 0; at < padded; at += SHA256_BLOCK_BITS)
            sha256_compress_circuit(cs, message + at, state);
    } else {
        cs_fail(cs, CUZK_NO_MEMORY);
    }
    for (size_t i = 0; i < 8; i++)
        uint32_to_be_bits(&state[i], digest + 32 * i);
    mem_free(message);
}

struct num sha256_pack_digest(struct cs *cs, const struct boolean digest[SHA256_BITS])
{
    struct boolean bits[SHA256_BITS];
    num_reverse_bits_in_bytes(digest, SHA256_BITS, bits);
    return num_pack_bits(cs, bits, FR_CAPACITY);
}

void sha256_number_of(struct cs *cs, struct num x, struct sha256_number *out)
{
    if (row_wanted(cs)) {
        struct boolean bits[FR_BITS];
        num_to_bits(cs, x, bits);
        num_reverse_bits_in_bytes(bits, FR_BITS, out->bit);
    } else {
        uint64_t limbs[4];
        num_to_bits_witness(cs, x, limbs);
        word_planes_of_limbs(out->word, limbs);
    }
}

struct num sha256_hash_nodes(struct cs *cs, struct num left, struct num right)
{
    struct sha256_number numbers[2];
    sha256_number_of(cs, left, &numbers[0]);
    sha256_number_of(cs, right, &numbers[1]);
    if (!row_wanted(cs)) {
        struct word_planes words[16];
        memcpy(words, numbers[0].word, sizeof numbers[0].word);
        memcpy(words + 8, numbers[1].word, sizeof numbers[1].word);
        return sha256_hash_witness(cs->witness, words, 16);
    }
    struct boolean message[SHA256_BLOCK_BITS], digest[SHA256_BITS];
    memcpy(message, numbers[0].bit, sizeof numbers[0].bit);
    memcpy(message + SHA256_BITS, numbers[1].bit, sizeof numbers[1].bit);
    sha256_circuit(cs, message, SHA256_BLOCK_BITS, digest);
    return sha256_pack_digest(cs, digest);
}
