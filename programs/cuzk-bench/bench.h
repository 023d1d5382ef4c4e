/* What the commands of cuzk-bench share. */
#ifndef CUZK_BENCH_H
#define CUZK_BENCH_H

#include "base/text.h"
#include "rpc/client.h"

#include <cuzk/status.h>
#include <cuzk/v1/proving.pb-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Default address of a daemon, that of the earlier bench. */
#define BENCH_DEFAULT_ADDRESS "http://127.0.0.1:9820"

/* A request as it is sent: built once, sent many times. Zero-initialise; free with bench_request_free. */
struct bench_request {
    uint32_t kind; /* of the wire interface; 0: no type given */
    uint64_t registered_proof;
    uint64_t sector_bytes;  /* 0: as the payload says */
    bool has_sector_number; /* given by a flag or by the C1's wrapper */
    uint64_t sector_number;
    bool has_miner_id;
    uint64_t miner_id;
    uint32_t partition;
    uint8_t randomness[32], comm_r_old[32], comm_r_new[32], comm_d_new[32];
    bool has_randomness, has_comm_r_old, has_comm_r_new, has_comm_d_new;
    uint8_t **payloads;
    size_t *payload_lens;
    size_t n_payloads;
};

/* Kind by name or alias (porep, porep-c2, seal-commit; snap, snap-deals, update; wpost,
   window-post, windowpost; winning, winning-post, winningpost), case-insensitive; 0 for anything
   else. */
uint32_t bench_kind(const char *name);
const char *bench_kind_text(uint32_t kind);

/* Reads the file of --c1: a C1 or its wrapper, sent unchanged. The sector number comes from the
   wrapper unless it is set already. */
enum cuzk_status bench_read_c1(struct bench_request *request, const char *path,
                                 struct cuzk_error *err);

/* Reads the file of --vanilla: a JSON array of base64 texts, or one raw vanilla proof. */
enum cuzk_status bench_read_vanilla(struct bench_request *request, const char *path,
                                      struct cuzk_error *err);

/* Encodes a ProveRequest with a fresh request id. */
enum cuzk_status bench_request_encode(const struct bench_request *request, uint8_t **bytes, size_t *len,
                                struct cuzk_error *err);
void bench_request_free(struct bench_request *request);

/* The answer to one Prove, with the client's wall time. Free message with message_free. */
struct bench_answer {
    Cuzk__V1__ProveResponse *message;
    double wall_s;
};

/* Opens a connection, sends, waits. gRPC errors become err with the code's name in the text. */
enum cuzk_status bench_prove(const char *address, const uint8_t *request, size_t len,
                             struct bench_answer *answer, struct cuzk_error *err);

/* Calls a method with small messages. *response is decoded by `descriptor`; free with message_free.
 */
enum cuzk_status bench_call(const char *address, const char *method,
                            const ProtobufCMessage *request,
                            const ProtobufCMessageDescriptor *descriptor,
                            ProtobufCMessage **response, struct cuzk_error *err);

/* Flags that every command takes. */
struct bench_globals {
    const char *address;
    const char *param_cache; /* where the .vk files are; NULL: proofs are not verified */
    bool json;
};

/* Flags of the commands that send proofs. */
struct load_options {
    struct bench_request request;
    unsigned count;
    unsigned concurrency;
};

/* One run of `count` proofs, `concurrency` at a time. */
struct load_result {
    double *wall_s; /* of the completed proofs, ascending; count of them is `completed` */
    double total_s;
    unsigned count, completed, failed, invalid, unverified;
    double prove_ms_sum, prove_ms_min, prove_ms_max;
    double queue_ms_sum, synth_ms_sum;
};

/* Sends the load, printing a line a proof unless `quiet`. Errors before the first proof fail the
   call; failures of single proofs are counted. Free result->wall_s with mem_free. */
enum cuzk_status load_run(const struct bench_globals *globals, const struct load_options *options,
                          bool quiet, struct load_result *result, struct cuzk_error *err);

/* The commands: arguments after the command's name; each returns an exit code. */
int command_single(const struct bench_globals *globals, int argc, char **argv);
int command_batch(const struct bench_globals *globals, int argc, char **argv);
int command_status(const struct bench_globals *globals, int argc, char **argv);
int command_metrics(const struct bench_globals *globals, int argc, char **argv);
int command_preload(const struct bench_globals *globals, int argc, char **argv);
int command_evict(const struct bench_globals *globals, int argc, char **argv);
int command_cancel(const struct bench_globals *globals, int argc, char **argv);
int command_gen_c1(const struct bench_globals *globals, int argc, char **argv);
int command_synth(const struct bench_globals *globals, int argc, char **argv);

#endif
