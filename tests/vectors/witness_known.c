#include "vectors/witness_known.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "oracle/check.h"

#include <stdio.h>
#include <string.h>

struct row_hashers {
    struct hasher *side[3]; /* a, b, c */
};

static void hash_fr(struct hasher *hasher, const struct fr *value)
{
    uint8_t bytes[FR_BYTES];
    fr_to_bytes(bytes, value);
    hasher_update(hasher, bytes, sizeof bytes);
}

static void hash_row(void *context, const struct fr *a, const struct fr *b, const struct fr *c)
{
    struct row_hashers *hashers = context;
    hash_fr(hashers->side[0], a);
    hash_fr(hashers->side[1], b);
    hash_fr(hashers->side[2], c);
}

/* Compares with the line "<name>-sha256 <hex>" or "<name>_sha256 <hex>"; frees the hasher. */
static void assert_digest(struct hasher *hasher, const char *known, const char *name)
{
    uint8_t digest[SHA256_BYTES];
    char hex[2 * SHA256_BYTES + 1];
    hasher_final(hasher, digest);
    for (const char *separator = "-_"; *separator; separator++) {
        char key[32];
        snprintf(key, sizeof key, "\n%s%csha256 ", name, *separator);
        const char *line = strstr(known, key);
        if (!line)
            continue;
        snprintf(hex, sizeof hex, "%s", line + strlen(key));
        assert_hex_equal(digest, sizeof digest, hex);
        return;
    }
    fail_msg("no digest %s", name);
}

static const char *part_of(const char *known, const char *format, unsigned partition)
{
    char mark[32];
    snprintf(mark, sizeof mark, format, partition);
    const char *part = strstr(known, mark);
    return part ? part : known;
}

void assert_witness_known(const struct circuit_program *program, const struct fr *derived,
                          size_t n_derived, const char *known, unsigned partition)
{
    struct row_hashers rows = {{sha256_new(), sha256_new(), sha256_new()}};
    struct hasher *hasher = sha256_new();
    struct check_result result;
    struct cuzk_error err;
    struct fr *inputs;
    struct fr *aux;
    known = part_of(known, "[partition %u]", partition);
    assert_ok(cs_check(program, &result, hash_row, &rows, &inputs, &aux, &err), err);
    assert_int_equal(result.unsatisfied, 0);
    assert_int_equal(result.n_inputs, n_derived + 1);
    assert_memory_equal(inputs + 1, derived, n_derived * sizeof *derived);
    for (uint32_t i = 0; i < result.n_inputs; i++) {
        hash_fr(hasher, &inputs[i]);
        hash_row(&rows, &inputs[i], &fr_zero, &fr_zero); /* the rows of part A.7 */
    }
    assert_digest(hasher, known, "inputs");
    hasher = sha256_new();
    for (uint32_t i = 0; i < result.n_aux; i++)
        hash_fr(hasher, &aux[i]);
    assert_digest(hasher, known, "aux");
    assert_digest(rows.side[0], known, "a");
    assert_digest(rows.side[1], known, "b");
    assert_digest(rows.side[2], known, "c");
    mem_free(inputs);
    mem_free(aux);
}

void assert_inputs_known(const struct fr *inputs, size_t n, const char *known, unsigned partition)
{
    const char *line = strchr(part_of(known, "# partition %u:", partition), '\n');
    for (size_t i = 0; i < n; i++) {
        uint8_t bytes[FR_BYTES];
        char hex[2 * FR_BYTES + 1];
        assert_non_null(line);
        snprintf(hex, sizeof hex, "%s", line + 1);
        fr_to_bytes(bytes, &inputs[i]);
        assert_hex_equal(bytes, sizeof bytes, hex);
        line = strchr(line + 1, '\n');
    }
}
