/* What the commands of cuzk-bench share. */
#ifndef CUZK_BENCH_H
#define CUZK_BENCH_H

#include "base/text.h"
#include "rpc/client.h"

#include <cuzk/kind.h>
#include <cuzk/status.h>
#include <cuzk/v1/proving.pb-c.h>
#include <cuzk/v1/timeline.pb-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Default address of a daemon, that of the Rust cuzk's bench. */
#define BENCH_DEFAULT_ADDRESS "http://127.0.0.1:9820"

/* A request as it is sent: built once, sent many times. Zero-initialise; free with
   bench_request_free. */
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

/* Kind by its name (cuzk/kind.h) or an alias (porep-c2, seal-commit; snap-deals, update;
   window-post, windowpost; winning-post, winningpost), case-insensitive; 0 for anything else. */
uint32_t bench_kind(const char *name);

/* Reads the file of --c1: a C1 or its wrapper, sent unchanged. The sector number comes from the
   wrapper unless it is set already. */
enum cuzk_status bench_read_c1(struct bench_request *request, const char *path,
                               struct cuzk_error *err);

/* Reads the file of --vanilla: a JSON array of base64 texts, or one raw vanilla proof. */
enum cuzk_status bench_read_vanilla(struct bench_request *request, const char *path,
                                    struct cuzk_error *err);

/* Encodes a ProveRequest with a fresh request id. */
enum cuzk_status bench_request_encode(const struct bench_request *request, uint8_t **bytes,
                                      size_t *len, struct cuzk_error *err);
void bench_request_free(struct bench_request *request);

/* The answer to one Prove, with the client's wall time. Free message with message_free. */
struct bench_answer {
    Cuzk__V1__ProveResponse *message;
    double wall_s;
};

/* Opens a connection, sends, waits. gRPC errors become err with the code's name in the text. */
enum cuzk_status bench_prove(const char *address, const uint8_t *request, size_t len,
                             struct bench_answer *answer, struct cuzk_error *err);

/* Calls a method of ProvingEngine with small messages. *response is decoded by `descriptor`; free
   with message_free. */
enum cuzk_status bench_call(const char *address, const char *method,
                            const ProtobufCMessage *request,
                            const ProtobufCMessageDescriptor *descriptor,
                            ProtobufCMessage **response, struct cuzk_error *err);

/* Marks the start or the end (mark->edge) of a labelled run in the daemon's timeline. CUZK_OK also
   for a daemon that does not have the method: its timeline has no labels. */
enum cuzk_status bench_mark_run(const char *address, Cuzk__V1__MarkRunRequest *mark,
                                const char *label, struct cuzk_error *err);

/* protobuf-c's strings are not const; they are only read. */
char *bench_field(const char *text);

/* Flags that every command takes. */
struct bench_globals {
    const char *address;
    const char *param_cache; /* where the .vk files are; NULL: proofs are not verified */
    bool json;
};

enum load_command { LOAD_SINGLE, LOAD_BATCH, LOAD_SWEEP };

enum { LOAD_RUNS_MAX = 64, LOAD_LABEL_MAX = 40, LOAD_LABEL_BYTES = 65 };

/* Flags of the commands that send proofs. Strings are those of the command line. */
struct load_options {
    enum load_command command;
    struct bench_request request;
    unsigned count;
    unsigned concurrency;
    const char *label; /* NULL: none given */
    /* Of a sweep: */
    struct {
        unsigned count, concurrency;
    } runs[LOAD_RUNS_MAX];
    size_t n_runs;
    const char *log_path, *plot_path; /* NULL: none */
    bool markdown;
};

/* Fills options from a command's arguments and reads its input file. Returns an exit code, or −1 to
   go on; then free options->request with bench_request_free. */
int load_read_options(struct load_options *options, enum load_command command, int argc,
                      char **argv);

/* The name of a run in the daemon's timeline. */
void load_label(const struct load_options *options, char label[LOAD_LABEL_BYTES]);

/* One run of `count` proofs, `concurrency` at a time. Times are of completed and of simulated
   proofs; simulated proofs count as failed. */
struct load_result {
    char label[LOAD_LABEL_BYTES];
    double *wall_s; /* ascending */
    unsigned timed; /* number of elements of wall_s */
    double total_s;
    unsigned count, concurrency, completed, failed, invalid, unverified, simulated;
    double prove_ms_sum, prove_ms_min, prove_ms_max;
    double queue_ms_sum, synth_ms_sum;
};

/* Sends all proofs of a run, marked in the daemon's timeline, and prints a line for each unless
   `quiet`. Errors before the first proof fail the call; failures of single proofs are counted. Free
   result->wall_s with mem_free in any case. */
enum cuzk_status load_run(const struct bench_globals *globals, const struct load_options *options,
                          bool quiet, struct load_result *result, struct cuzk_error *err);

/* The figures of a run, measured here or read from a file. Times are in seconds. */
struct figures {
    char type[16], label[LOAD_LABEL_BYTES];
    unsigned count, concurrency, completed, failed, invalid, unverified, simulated;
    double total;
    double wall_avg, wall_min, wall_max, wall_p50, wall_p95; /* a proof, as the client sees it */
    double prove_avg, prove_min, prove_max, queue_avg, synth_avg; /* as the daemon says */
    double per_minute;
    /* From the daemon's log: */
    bool explained;
    double utilisation, confidence; /* shares */
    char bottleneck[24];
};

void figures_of_run(const char *type, const struct load_result *result, struct figures *out);
/* The summary of a batch. */
void figures_print(const struct figures *figures);
/* One JSON object. */
void figures_add_json(const struct figures *figures, struct text *out);
/* Reads the output of `batch --json` or `sweep --json`. *out is set on success only; free it with
   mem_free. */
enum cuzk_status figures_read(const char *path, struct figures **out, size_t *count,
                              struct cuzk_error *err);
/* 0 all completed, 1 some failed, 6 one did not verify. */
int figures_exit_code(const struct figures *figures);

/* A table of short cells, the columns aligned to the right. */
enum { TABLE_COLUMNS_MAX = 16, TABLE_CELL_BYTES = 24 };
struct table {
    char (*cells)[TABLE_COLUMNS_MAX][TABLE_CELL_BYTES]; /* the first row is the head */
    size_t rows, capacity;
    unsigned columns, column; /* column: of the cell to come */
    bool failed;              /* no memory */
};
void table_row(struct table *table);
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_render(const struct table *table, bool markdown, struct text *out);
void table_free(struct table *table);

/* Draws throughput and times of some runs as one SVG picture that needs no other file. */
void plot_runs(const struct figures *runs, size_t count, struct text *out);

/* The commands: arguments after the command's name; each returns an exit code. */
int command_single(const struct bench_globals *globals, int argc, char **argv);
int command_batch(const struct bench_globals *globals, int argc, char **argv);
int command_sweep(const struct bench_globals *globals, int argc, char **argv);
int command_compare(const struct bench_globals *globals, int argc, char **argv);
int command_status(const struct bench_globals *globals, int argc, char **argv);
int command_metrics(const struct bench_globals *globals, int argc, char **argv);
int command_preload(const struct bench_globals *globals, int argc, char **argv);
int command_evict(const struct bench_globals *globals, int argc, char **argv);
int command_cancel(const struct bench_globals *globals, int argc, char **argv);
/* The bytes of "2KiB", "8MiB", …; 0 if it is no sector size. */
uint64_t bench_sector_size(const char *text);
int command_gen_vanilla(const struct bench_globals *globals, int argc, char **argv);
int command_gen_c1(const struct bench_globals *globals, int argc, char **argv);
int command_synth(const struct bench_globals *globals, int argc, char **argv);

#endif
