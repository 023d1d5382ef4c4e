/* libcuzk as another program sees it: public headers, the shared library, nothing else. */
#include <cuzk/dev.h>
#include <cuzk/engine.h>
#include <cuzk/log.h>
#include <cuzk/params.h>
#include <cuzk/prove.h>
#include <cuzk/trace.h>
#include <cuzk/verify.h>

#include <stdatomic.h>
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

/* What an embedder sees of an engine: entries of the log, a trace, a result, a snapshot. */
struct seen {
    atomic_uint entries;
    atomic_int outcome;
    atomic_bool has_reason;
};

static void count_entry(void *context, enum cuzk_log_level level, const char *area,
                        const char *text)
{
    struct seen *seen = context;
    if (level == CUZK_LOG_ERROR && *area && *text && !strchr(text, '\n'))
        atomic_fetch_add(&seen->entries, 1);
}

static void keep_outcome(void *context, const struct cuzk_result *result)
{
    struct seen *seen = context;
    atomic_store(&seen->has_reason, *result->error.text != '\0');
    atomic_store(&seen->outcome, (int)result->outcome);
}

static bool has_line(FILE *lines, const char *event)
{
    char line[1024];
    bool found = false;
    rewind(lines);
    while (fgets(line, sizeof line, lines))
        found |= strncmp(line, "TIMELINE,", 9) == 0 && strstr(line, event);
    return found;
}

static void check_snapshot(struct cuzk_engine *engine)
{
    struct cuzk_error err;
    struct cuzk_snapshot snapshot = {0};
    expect(cuzk_engine_snapshot(engine, &snapshot, &err) == CUZK_OK && snapshot.n_devices == 2,
           "it has the devices of the timing");
    expect(snapshot.n_devices && snapshot.devices[0].state == CUZK_DEVICE_IDLE &&
               strcmp(cuzk_device_state_text(snapshot.devices[0].state), "idle") == 0,
           "which are idle");
    expect(snapshot.queues[CUZK_SNAP - 1].kind == CUZK_SNAP, "a queue of each kind has its place");
    cuzk_snapshot_free(&snapshot);
}

static void run_engine(void)
{
    struct seen seen = {0};
    struct cuzk_error err = {0};
    FILE *lines = tmpfile();
    struct cuzk_trace *trace = NULL;
    expect(lines && cuzk_trace_create(fileno(lines), &trace, &err) == CUZK_OK, "a trace starts");
    cuzk_log_set_sink(count_entry, &seen);
    const struct cuzk_engine_options options = {.param_cache = "/nonexistent",
                                                .backend = "sim",
                                                .sim_timing = "devices=2,prove_ms=1",
                                                .trace = trace};
    struct cuzk_engine *engine = NULL;
    expect(cuzk_engine_open(&options, &engine, &err) == CUZK_OK, "an engine opens");
    check_snapshot(engine);

    const uint8_t *payload = (const uint8_t *)"{}";
    const size_t len = 2;
    const struct cuzk_request request = {
        .kind = CUZK_POREP, .payloads = &payload, .payload_lens = &len, .n_payloads = 1};
    char id[CUZK_JOB_ID_BYTES];
    expect(cuzk_engine_submit(engine, &request, id, NULL, NULL, &err) == CUZK_OK,
           "it takes a job, whose C1 is empty");
    expect(cuzk_engine_watch(engine, id, 0, keep_outcome, &seen, NULL, &err) == CUZK_OK,
           "which can be watched");
    expect(cuzk_engine_wait_idle(engine, 60000), "and ends");
    cuzk_engine_close(engine);
    cuzk_log_set_sink(NULL, NULL);
    cuzk_trace_destroy(trace);
    expect(seen.outcome == CUZK_JOB_FAILED && seen.has_reason, "the job fails with a reason");
    expect(seen.entries == 1, "the sink gets the failure as one entry");
    expect(has_line(lines, "ENGINE_START") && has_line(lines, "JOB_FAILED"),
           "the trace has the engine's start and the job's end");
    fclose(lines);
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

    run_engine();
    return failures != 0;
}
