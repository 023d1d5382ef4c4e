/* A request as the engine keeps it: checked, copied, and with an identity. */
#ifndef ENGINE_REQUEST_H
#define ENGINE_REQUEST_H

#include <cuzk/engine.h>

enum {
    REQUEST_HASH_BYTES = 32,
    REQUEST_KINDS = CUZK_WINNING_POST,     /* proof kinds; the first one is 1 */
    REQUEST_PAYLOADS_MAX = 4096,           /* a WindowPoSt partition has at most 2,349 sectors */
    REQUEST_PAYLOAD_BYTES_MAX = 256 << 20, /* all payloads together */
};

struct request_payload {
    const uint8_t *bytes;
    size_t len;
};

/* All that a client asked for. `encoded` is the canonical form of every field and payload, except
   the id and the priority: these two do not say which proof is asked for. The SHA-256 of `encoded`
   is the request's identity, and its bytes are the journal's payload file. */
struct request {
    char id[CUZK_REQUEST_ID_MAX + 1]; /* "": the client gave none */
    enum cuzk_priority priority;      /* never DEFAULT */
    uint8_t hash[REQUEST_HASH_BYTES];
    uint8_t *encoded;
    size_t encoded_len;

    /* Views into `encoded`. */
    enum cuzk_proof_kind kind;
    uint64_t sector_bytes;
    uint64_t registered_proof;
    bool has_sector_number, has_miner_id;
    uint64_t sector_number, miner_id;
    uint32_t partition_index;
    const uint8_t *randomness, *comm_r_old, *comm_r_new, *comm_d_new; /* 32 bytes or NULL */
    struct request_payload *payloads;
    size_t n_payloads;
};

/* Checks lengths, the id's characters and the enumerations, and copies everything. Free the result
   with request_release. CUZK_INVALID_ARGUMENT names the field, CUZK_RESOURCE_EXHAUSTED the
   limit. */
enum cuzk_status request_copy(const struct cuzk_request *from, struct request **out,
                              struct cuzk_error *err);

/* A request from the journal. Takes over `encoded`, which is from mem_alloc, even in failure. */
enum cuzk_status request_decode(const char *id, enum cuzk_priority priority, uint8_t *encoded,
                                size_t encoded_len, struct request **out, struct cuzk_error *err);
void request_release(struct request *request);

/* "porep_c2" and so on: the labels of the metrics. */
const char *request_kind_label(enum cuzk_proof_kind kind);

/* Job ids: the request id, "-", 16 hexadecimal digits of the engine's own number. */
void request_job_id(const char *request_id, uint64_t number, char out[CUZK_JOB_ID_BYTES]);
/* The number in a job id; false if the text is not one. */
bool request_job_number(const char *job_id, uint64_t *number);

#endif
