#include "bench.h"

#include "base/bytes.h"
#include "base/check.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "rpc/message.h"

#include <cuzk/engine.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <yajl/yajl_parse.h>
#include <yajl/yajl_tree.h>

/* The largest message that a daemon takes. */
#define PAYLOAD_BYTES_MAX ((size_t)256 << 20)

struct kind_alias {
    const char *name;
    uint32_t kind;
};

/* Beside the names of the kinds themselves. */
static const struct kind_alias aliases[] = {
    {"porep-c2", CUZK_POREP},
    {"seal-commit", CUZK_POREP},
    {"snap-deals", CUZK_SNAP},
    {"update", CUZK_SNAP},
    {"window-post", CUZK_WINDOW_POST},
    {"windowpost", CUZK_WINDOW_POST},
    {"winning-post", CUZK_WINNING_POST},
    {"winningpost", CUZK_WINNING_POST},
};

uint32_t bench_kind(const char *name)
{
    for (uint32_t kind = 1; kind <= CUZK_PROOF_KINDS; kind++) {
        if (strcasecmp(name, cuzk_proof_kind_name((enum cuzk_proof_kind)kind)) == 0)
            return kind;
    }
    for (size_t i = 0; i < ARRAY_LEN(aliases); i++) {
        if (strcasecmp(name, aliases[i].name) == 0)
            return aliases[i].kind;
    }
    return 0;
}

static enum cuzk_status add_payload(struct bench_request *request, uint8_t *data, size_t len,
                                    struct cuzk_error *err)
{
    size_t n = request->n_payloads;
    uint8_t **payloads = mem_realloc(request->payloads, n + 1, sizeof *payloads);
    if (payloads)
        request->payloads = payloads;
    size_t *lens = mem_realloc(request->payload_lens, n + 1, sizeof *lens);
    if (lens)
        request->payload_lens = lens;
    if (!payloads || !lens) {
        mem_free(data);
        return error_set(err, CUZK_NO_MEMORY, "no memory for the vanilla proofs");
    }
    payloads[n] = data;
    lens[n] = len;
    request->n_payloads++;
    return CUZK_OK;
}

/* ---- the sector number of a wrapper -----------------------------------------------------------
 */

struct wrapper_scan {
    unsigned depth;
    bool at_sector_number;
    bool found;
    uint64_t sector_number;
};

static int scan_key(void *context, const unsigned char *key, size_t len)
{
    struct wrapper_scan *scan = context;
    scan->at_sector_number = scan->depth == 1 && len == 9 && memcmp(key, "SectorNum", 9) == 0;
    return 1;
}

static int scan_integer(void *context, long long value)
{
    struct wrapper_scan *scan = context;
    if (scan->at_sector_number && value >= 0) {
        scan->found = true;
        scan->sector_number = (uint64_t)value;
        return 0;
    }
    return 1;
}

static int scan_open(void *context)
{
    struct wrapper_scan *scan = context;
    /* A C1 that is not wrapped has nothing to find deeper down; stop at its first array. */
    return ++scan->depth <= 1;
}

static int scan_stop(void *context)
{
    (void)context;
    return 0;
}

static void find_sector_number(const uint8_t *data, size_t len, struct wrapper_scan *scan)
{
    const yajl_callbacks callbacks = {.yajl_integer = scan_integer,
                                      .yajl_start_map = scan_open,
                                      .yajl_map_key = scan_key,
                                      .yajl_start_array = scan_stop};
    yajl_handle parser = yajl_alloc(&callbacks, NULL, scan);
    if (!parser)
        return;
    yajl_parse(parser, data, len);
    yajl_free(parser);
}

enum cuzk_status bench_read_c1(struct bench_request *request, const char *path,
                               struct cuzk_error *err)
{
    uint8_t *data;
    size_t len;
    TRY(file_read(path, PAYLOAD_BYTES_MAX, &data, &len, err));
    struct wrapper_scan scan = {0};
    find_sector_number(data, len, &scan);
    if (scan.found && !request->has_sector_number) {
        request->has_sector_number = true;
        request->sector_number = scan.sector_number;
    }
    return add_payload(request, data, len, err);
}

/* ---- vanilla proofs ---------------------------------------------------------------------------
 */

static enum cuzk_status add_base64(struct bench_request *request, const char *text, size_t index,
                                   struct cuzk_error *err)
{
    size_t len = strlen(text);
    uint8_t *data = len % 4 == 0 ? mem_alloc(len / 4 * 3 + 1, 1) : NULL;
    int decoded = data ? EVP_DecodeBlock(data, (const unsigned char *)text, (int)len) : -1;
    if (decoded < 0) {
        mem_free(data);
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "vanilla proof %zu: expected padded base64 of the standard alphabet",
                         index);
    }
    size_t padding = len > 0 && text[len - 1] == '=' ? (text[len - 2] == '=' ? 2 : 1) : 0;
    return add_payload(request, data, (size_t)decoded - padding, err);
}

enum cuzk_status bench_read_vanilla(struct bench_request *request, const char *path,
                                    struct cuzk_error *err)
{
    uint8_t *data;
    size_t len;
    TRY(file_read(path, PAYLOAD_BYTES_MAX, &data, &len, err));
    char reason[128];
    yajl_val tree = len > 0 && data[0] == '['
                        ? yajl_tree_parse((const char *)data, reason, sizeof reason)
                        : NULL;
    if (!YAJL_IS_ARRAY(tree))
        return add_payload(request, data, len, err);
    enum cuzk_status status = CUZK_OK;
    for (size_t i = 0; status == CUZK_OK && i < tree->u.array.len; i++) {
        const char *text = YAJL_GET_STRING(tree->u.array.values[i]);
        status = text ? add_base64(request, text, i, err)
                      : error_set(err, CUZK_INVALID_ARGUMENT,
                                  "%s: element %zu: expected a base64 text", path, i);
    }
    yajl_tree_free(tree);
    mem_free(data);
    return status;
}

/* ---- encoding ---------------------------------------------------------------------------------
 */

static void random_id(char text[37])
{
    uint8_t bytes[16];
    char hex[33];
    RAND_bytes(bytes, sizeof bytes);
    bytes[6] = (uint8_t)((bytes[6] & 0x0f) | 0x40); /* UUID version 4 */
    bytes[8] = (uint8_t)((bytes[8] & 0x3f) | 0x80);
    hex_encode(bytes, sizeof bytes, hex);
    snprintf(text, 37, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16, hex + 20);
}

static void set_digest(ProtobufCBinaryData *field, bool given, const uint8_t bytes[32])
{
    union {
        const uint8_t *in;
        uint8_t *out;
    } data = {bytes};
    if (given)
        *field = (ProtobufCBinaryData){32, data.out};
}

enum cuzk_status bench_request_encode(const struct bench_request *request, uint8_t **bytes,
                                      size_t *len, struct cuzk_error *err)
{
    Cuzk__V1__SubmitProofRequest submit = CUZK__V1__SUBMIT_PROOF_REQUEST__INIT;
    Cuzk__V1__ProveRequest prove = CUZK__V1__PROVE_REQUEST__INIT;
    char id[37];
    random_id(id);
    prove.submit = &submit;
    submit.request_id = id;
    submit.proof_kind = (Cuzk__V1__ProofKind)request->kind;
    submit.sector_size = request->sector_bytes;
    submit.registered_proof = request->registered_proof;
    if (request->has_sector_number || request->kind != CUZK_POREP) {
        submit.sector_number = request->sector_number;
        submit.miner_id = request->miner_id;
    }
    submit.partition_index = request->partition;
    set_digest(&submit.randomness, request->has_randomness, request->randomness);
    set_digest(&submit.comm_r_old, request->has_comm_r_old, request->comm_r_old);
    set_digest(&submit.comm_r_new, request->has_comm_r_new, request->comm_r_new);
    set_digest(&submit.comm_d_new, request->has_comm_d_new, request->comm_d_new);
    ProtobufCBinaryData *list = mem_alloc(request->n_payloads, sizeof *list);
    if (!list)
        return error_set(err, CUZK_NO_MEMORY, "no memory for the request");
    for (size_t i = 0; i < request->n_payloads; i++)
        list[i] = (ProtobufCBinaryData){request->payload_lens[i], request->payloads[i]};
    if (request->kind == CUZK_POREP && request->n_payloads == 1) {
        submit.vanilla_proof = list[0];
    } else {
        submit.vanilla_proofs = list;
        submit.n_vanilla_proofs = request->n_payloads;
    }
    enum cuzk_status status = message_encode(&prove.base, bytes, len, err);
    mem_free(list);
    return status;
}

void bench_request_free(struct bench_request *request)
{
    for (size_t i = 0; i < request->n_payloads; i++)
        mem_free(request->payloads[i]);
    mem_free(request->payloads);
    mem_free(request->payload_lens);
    *request = (struct bench_request){0};
}

/* ---- calling ----------------------------------------------------------------------------------
 */

/* A call whose answer may be an error of the daemon's: *result says. */
static enum cuzk_status call_path(const char *address, const char *path, const uint8_t *message,
                                  size_t len, struct rpc_result *result, struct cuzk_error *err)
{
    struct rpc_client_config config = {.address = address};
    struct rpc_client *client;
    TRY(rpc_client_open(&config, &client, err));
    enum cuzk_status status = rpc_client_call(client, path, message, len, UINT64_MAX, result, err);
    rpc_client_close(client);
    return status;
}

static enum cuzk_status refused(const char *method, const struct rpc_result *result,
                                struct cuzk_error *err)
{
    return error_set(
        err, result->code == RPC_INVALID_ARGUMENT ? CUZK_INVALID_ARGUMENT : CUZK_UNAVAILABLE,
        "%s: %s: %s", method, rpc_code_name((int)result->code), result->text);
}

static enum cuzk_status call_method(const char *address, const char *method, const uint8_t *message,
                                    size_t len, struct rpc_result *result, struct cuzk_error *err)
{
    char path[96];
    snprintf(path, sizeof path, "/cuzk.v1.ProvingEngine/%s", method);
    TRY(call_path(address, path, message, len, result, err));
    return result->code == RPC_OK ? CUZK_OK : refused(method, result, err);
}

enum cuzk_status bench_prove(const char *address, const uint8_t *request, size_t len,
                             struct bench_answer *answer, struct cuzk_error *err)
{
    struct rpc_result result = {0};
    TRY(call_method(address, "Prove", request, len, &result, err));
    ProtobufCMessage *message;
    enum cuzk_status status = message_decode(&cuzk__v1__prove_response__descriptor, result.message,
                                             result.len, &message, err);
    mem_free(result.message);
    if (status != CUZK_OK)
        return error_prefix(err, "Prove: the answer");
    answer->message = (Cuzk__V1__ProveResponse *)(void *)message;
    if (answer->message->result)
        return CUZK_OK;
    message_free(message);
    return error_set(err, CUZK_INTERNAL, "Prove: the answer has no result");
}

enum cuzk_status bench_call(const char *address, const char *method,
                            const ProtobufCMessage *request,
                            const ProtobufCMessageDescriptor *descriptor,
                            ProtobufCMessage **response, struct cuzk_error *err)
{
    uint8_t *bytes;
    size_t len;
    struct rpc_result result = {0};
    TRY(message_encode(request, &bytes, &len, err));
    enum cuzk_status status = call_method(address, method, bytes, len, &result, err);
    mem_free(bytes);
    if (status != CUZK_OK)
        return status;
    status = message_decode(descriptor, result.message, result.len, response, err);
    mem_free(result.message);
    return status;
}

char *bench_field(const char *text)
{
    union {
        const char *in;
        char *out;
    } field = {text};
    return field.out;
}

enum cuzk_status bench_mark_run(const char *address, Cuzk__V1__MarkRunRequest *mark,
                                const char *label, struct cuzk_error *err)
{
    uint8_t *bytes;
    size_t len;
    struct rpc_result result = {0};
    mark->label = bench_field(label);
    TRY(message_encode(&mark->base, &bytes, &len, err));
    enum cuzk_status status =
        call_path(address, "/cuzk.v1.Timeline/MarkRun", bytes, len, &result, err);
    mem_free(bytes);
    mem_free(result.message);
    if (status != CUZK_OK || result.code == RPC_OK || result.code == RPC_UNIMPLEMENTED)
        return status;
    return refused("MarkRun", &result, err);
}
