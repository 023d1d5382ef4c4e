#include "engine/request.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

/* Canonical form: magic, numbers (little-endian), the four 32-byte fields (zero when absent), then
   for each payload its length and its bytes. */
static const char magic[8] = {'c', 'u', 'z', 'k', 'r', 'e', 'q', '1'};

enum {
    AT_KIND = 8,
    AT_PARTITION = 12,
    AT_FLAGS = 16,
    AT_N_PAYLOADS = 20,
    AT_SECTOR_BYTES = 24,
    AT_REGISTERED = 32,
    AT_SECTOR_NUMBER = 40,
    AT_MINER = 48,
    AT_FIELDS = 56,
    HEAD_BYTES = AT_FIELDS + 4 * 32,

    FLAG_SECTOR_NUMBER = 1,
    FLAG_MINER = 2,
    FLAG_FIRST_FIELD = 4, /* the four 32-byte fields, one bit each */
};

const char *request_kind_label(enum cuzk_proof_kind kind)
{
    switch (kind) {
    case CUZK_POREP:
        return "porep_c2";
    case CUZK_SNAP:
        return "snap_update";
    case CUZK_WINDOW_POST:
        return "window_post";
    case CUZK_WINNING_POST:
        return "winning_post";
    }
    return "unknown";
}

/* Length of the UTF-8 sequence at p, 0 if malformed. Does not look beyond a terminator. */
static unsigned utf8_sequence(const unsigned char *p)
{
    unsigned len = p[0] < 0x80                   ? 1
                   : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
                   : (p[0] & 0xf0) == 0xe0       ? 3
                   : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                                 : 0;
    for (unsigned i = 1; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return len;
}

static enum cuzk_status check_id(const char *id, struct cuzk_error *err)
{
    size_t len = strnlen(id, CUZK_REQUEST_ID_MAX + 1);
    if (len > CUZK_REQUEST_ID_MAX)
        return error_set(err, CUZK_INVALID_ARGUMENT, "request_id: longer than %d bytes",
                         CUZK_REQUEST_ID_MAX);
    for (size_t i = 0; i < len;) {
        unsigned char c = (unsigned char)id[i];
        if (c < 0x20 || c == 0x7f)
            return error_set(err, CUZK_INVALID_ARGUMENT,
                             "request_id: control character 0x%02x at byte %zu", c, i);
        unsigned step = utf8_sequence((const unsigned char *)id + i);
        if (step == 0)
            return error_set(err, CUZK_INVALID_ARGUMENT, "request_id: not UTF-8 at byte %zu", i);
        i += step;
    }
    return CUZK_OK;
}

static enum cuzk_priority default_priority(enum cuzk_proof_kind kind)
{
    return kind == CUZK_WINNING_POST  ? CUZK_PRIORITY_CRITICAL
           : kind == CUZK_WINDOW_POST ? CUZK_PRIORITY_HIGH
                                      : CUZK_PRIORITY_NORMAL;
}

static enum cuzk_status check_payloads(const struct cuzk_request *from, size_t *total,
                                       struct cuzk_error *err)
{
    if (from->n_payloads == 0)
        return error_set(err, CUZK_INVALID_ARGUMENT, "vanilla proof: missing");
    if (from->n_payloads > REQUEST_PAYLOADS_MAX)
        return error_set(err, CUZK_INVALID_ARGUMENT, "vanilla proofs: %zu, at most %d are taken",
                         from->n_payloads, REQUEST_PAYLOADS_MAX);
    *total = 0;
    for (size_t i = 0; i < from->n_payloads; i++) {
        size_t len = from->payload_lens[i];
        if (len == 0)
            return error_set(err, CUZK_INVALID_ARGUMENT, "vanilla proof %zu: empty", i);
        if (len > REQUEST_PAYLOAD_BYTES_MAX || *total + len > REQUEST_PAYLOAD_BYTES_MAX)
            return error_set(err, CUZK_RESOURCE_EXHAUSTED,
                             "vanilla proofs: more than the limit of %d bytes",
                             REQUEST_PAYLOAD_BYTES_MAX);
        *total += len;
    }
    return CUZK_OK;
}

static enum cuzk_status check_request(const struct cuzk_request *from, size_t *total,
                                      struct cuzk_error *err)
{
    if (from->kind < CUZK_POREP || from->kind > CUZK_WINNING_POST)
        return error_set(err, CUZK_INVALID_ARGUMENT, "invalid proof_kind: %d", (int)from->kind);
    if (from->request_id)
        TRY(check_id(from->request_id, err));
    return check_payloads(from, total, err);
}

static void encode_request(uint8_t *to, const struct cuzk_request *from)
{
    const uint8_t *fields[4] = {from->randomness, from->comm_r_old, from->comm_r_new,
                                from->comm_d_new};
    uint32_t flags = (from->has_sector_number ? FLAG_SECTOR_NUMBER : 0u) |
                     (from->has_miner_id ? FLAG_MINER : 0u);
    memset(to, 0, HEAD_BYTES);
    memcpy(to, magic, sizeof magic);
    for (unsigned i = 0; i < 4; i++)
        if (fields[i]) {
            flags |= (uint32_t)FLAG_FIRST_FIELD << i;
            memcpy(to + AT_FIELDS + 32 * i, fields[i], 32);
        }
    store_u32_le(to + AT_KIND, (uint32_t)from->kind);
    store_u32_le(to + AT_PARTITION, from->partition_index);
    store_u32_le(to + AT_FLAGS, flags);
    store_u32_le(to + AT_N_PAYLOADS, (uint32_t)from->n_payloads);
    store_u64_le(to + AT_SECTOR_BYTES, from->sector_bytes);
    store_u64_le(to + AT_REGISTERED, from->registered_proof);
    store_u64_le(to + AT_SECTOR_NUMBER, from->has_sector_number ? from->sector_number : 0);
    store_u64_le(to + AT_MINER, from->has_miner_id ? from->miner_id : 0);
    uint8_t *at = to + HEAD_BYTES;
    for (size_t i = 0; i < from->n_payloads; i++) {
        store_u64_le(at, from->payload_lens[i]);
        memcpy(at + 8, from->payloads[i], from->payload_lens[i]);
        at += 8 + from->payload_lens[i];
    }
}

static enum cuzk_status find_payloads(struct request *request, struct cuzk_error *err)
{
    request->payloads = mem_zalloc(request->n_payloads, sizeof *request->payloads);
    if (!request->payloads)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a request");
    size_t at = HEAD_BYTES;
    for (size_t i = 0; i < request->n_payloads; i++) {
        if (request->encoded_len - at < 8)
            return error_set(err, CUZK_IO, "journaled request: cut short");
        uint64_t len = load_u64_le(request->encoded + at);
        at += 8;
        if (len > request->encoded_len - at)
            return error_set(err, CUZK_IO, "journaled request: cut short");
        request->payloads[i] = (struct request_payload){request->encoded + at, (size_t)len};
        at += (size_t)len;
    }
    return at == request->encoded_len ? CUZK_OK
                                      : error_set(err, CUZK_IO, "journaled request: too long");
}

static enum cuzk_status decode_into(struct request *request, struct cuzk_error *err)
{
    const uint8_t *bytes = request->encoded;
    if (request->encoded_len < HEAD_BYTES || memcmp(bytes, magic, sizeof magic) != 0)
        return error_set(err, CUZK_IO, "journaled request: not one of ours");
    uint32_t flags = load_u32_le(bytes + AT_FLAGS);
    request->kind = (enum cuzk_proof_kind)load_u32_le(bytes + AT_KIND);
    request->partition_index = load_u32_le(bytes + AT_PARTITION);
    request->sector_bytes = load_u64_le(bytes + AT_SECTOR_BYTES);
    request->registered_proof = load_u64_le(bytes + AT_REGISTERED);
    request->has_sector_number = flags & FLAG_SECTOR_NUMBER;
    request->sector_number = load_u64_le(bytes + AT_SECTOR_NUMBER);
    request->has_miner_id = flags & FLAG_MINER;
    request->miner_id = load_u64_le(bytes + AT_MINER);
    const uint8_t **fields[4] = {&request->randomness, &request->comm_r_old, &request->comm_r_new,
                                 &request->comm_d_new};
    for (unsigned i = 0; i < 4; i++)
        *fields[i] = flags & (uint32_t)FLAG_FIRST_FIELD << i ? bytes + AT_FIELDS + 32 * i : NULL;
    request->n_payloads = load_u32_le(bytes + AT_N_PAYLOADS);
    if (request->n_payloads == 0 || request->n_payloads > REQUEST_PAYLOADS_MAX)
        return error_set(err, CUZK_IO, "journaled request: %zu payloads", request->n_payloads);
    return find_payloads(request, err);
}

enum cuzk_status request_decode(const char *id, enum cuzk_priority priority, uint8_t *encoded,
                                size_t encoded_len, struct request **out, struct cuzk_error *err)
{
    struct request *request = mem_zalloc(1, sizeof *request);
    if (!request) {
        mem_free(encoded);
        return error_set(err, CUZK_NO_MEMORY, "no memory for a request");
    }
    request->encoded = encoded;
    request->encoded_len = encoded_len;
    request->priority = priority;
    snprintf(request->id, sizeof request->id, "%s", id);
    sha256(encoded, encoded_len, request->hash);
    enum cuzk_status status = decode_into(request, err);
    if (status != CUZK_OK) {
        request_release(request);
        return status;
    }
    *out = request;
    return CUZK_OK;
}

enum cuzk_status request_copy(const struct cuzk_request *from, struct request **out,
                              struct cuzk_error *err)
{
    size_t payload_bytes = 0;
    TRY(check_request(from, &payload_bytes, err));
    size_t len = HEAD_BYTES + 8 * from->n_payloads + payload_bytes;
    uint8_t *encoded = mem_alloc(len, 1);
    if (!encoded)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a request of %zu bytes", len);
    encode_request(encoded, from);
    enum cuzk_priority priority =
        from->priority >= CUZK_PRIORITY_LOW && from->priority <= CUZK_PRIORITY_CRITICAL
            ? from->priority
            : default_priority(from->kind);
    return request_decode(from->request_id ? from->request_id : "", priority, encoded, len, out,
                          err);
}

void request_release(struct request *request)
{
    if (!request)
        return;
    mem_free(request->payloads);
    mem_free(request->encoded);
    mem_free(request);
}

void request_job_id(const char *request_id, uint64_t number, char out[CUZK_JOB_ID_BYTES])
{
    snprintf(out, CUZK_JOB_ID_BYTES, "%s-%016llx", request_id[0] ? request_id : "job",
             (unsigned long long)number);
}

bool request_job_number(const char *job_id, uint64_t *number)
{
    size_t len = strnlen(job_id, CUZK_JOB_ID_BYTES);
    if (len < 18 || len >= CUZK_JOB_ID_BYTES || job_id[len - 17] != '-')
        return false;
    uint8_t bytes[8];
    if (!hex_decode(job_id + len - 16, bytes, sizeof bytes))
        return false;
    *number = load_u64_be(bytes);
    return true;
}
