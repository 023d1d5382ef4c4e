/* libcuzk as another program sees it: public headers, the shared library, nothing else. */
#include <cuzk/dev.h>
#include <cuzk/engine.h>
#include <cuzk/params.h>
#include <cuzk/prove.h>
#include <cuzk/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(bool good, const char *what)
{
    printf("%s %s\n", good ? "ok    " : "FAILED", what);
    failures += !good;
}

static size_t read_hex(const char *path, uint8_t *out, size_t max)
{
    FILE *file = fopen(path, "r");
    size_t n = 0;
    unsigned byte;
    while (file && n < max && fscanf(file, "%2x", &byte) == 1)
        out[n++] = (uint8_t)byte;
    if (file)
        fclose(file);
    return n;
}

/* The last word of every line that is no comment. */
static size_t read_inputs(const char *path, uint8_t *out, size_t max)
{
    FILE *file = fopen(path, "r");
    char line[256];
    size_t n = 0;
    while (file && fgets(line, sizeof line, file)) {
        if (*line == '#')
            continue;
        line[strcspn(line, "\n")] = '\0';
        const char *word = strrchr(line, ' ');
        word = word ? word + 1 : line;
        for (size_t i = 0; word[i] && word[i + 1] && n < max; i += 2) {
            char digits[3] = {word[i], word[i + 1], '\0'};
            out[n++] = (uint8_t)strtoul(digits, NULL, 16);
        }
    }
    if (file)
        fclose(file);
    return n;
}

static enum cuzk_status count_bytes(void *context, const void *bytes, size_t len,
                                    struct cuzk_error *err)
{
    (void)bytes;
    (void)err;
    *(size_t *)context += len;
    return CUZK_OK;
}

int main(void)
{
    static uint8_t inputs[64 * CUZK_INPUT_BYTES];
    uint8_t proof[CUZK_PROOF_BYTES];
    struct cuzk_error err = {0};
    struct cuzk_vk *vk = NULL;
    enum cuzk_status status = cuzk_vk_open("vectors/reference/porep-2k/porep-2k.vk", &vk, &err);
    expect(status == CUZK_OK, "the reference's key opens");
    size_t n = read_inputs("vectors/reference/porep-2k/public-inputs.txt", inputs, sizeof inputs);
    expect(vk && n == cuzk_vk_inputs(vk) * CUZK_INPUT_BYTES, "it has as many inputs as the file");
    expect(read_hex("vectors/reference/porep-2k/proof.hex", proof, sizeof proof) == sizeof proof,
           "the reference's proof is there");
    expect(vk && cuzk_verify(vk, proof, sizeof proof, inputs, n, &err) == CUZK_OK,
           "the reference's proof verifies");
    inputs[0] ^= 1;
    expect(vk && cuzk_verify(vk, proof, sizeof proof, inputs, n, &err) == CUZK_VERIFY_FAILED,
           "not with another input");
    cuzk_vk_close(vk);

    size_t bytes = 0;
    expect(cuzk_gen_c1(2048, NULL, count_bytes, &bytes, &err) == CUZK_OK && bytes == 100532,
           "a made-up C1 has the known length");

    struct cuzk_engine_options options = {.param_cache = "/nonexistent", .backend = "cpu"};
    struct cuzk_engine *engine = NULL;
    struct cuzk_snapshot snapshot = {0};
    expect(cuzk_engine_open(&options, &engine, &err) == CUZK_OK, "an engine opens");
    expect(cuzk_engine_snapshot(engine, &snapshot, &err) == CUZK_OK && snapshot.n_devices == 1,
           "and has one device");
    cuzk_snapshot_free(&snapshot);
    cuzk_engine_close(engine);
    return failures != 0;
}
