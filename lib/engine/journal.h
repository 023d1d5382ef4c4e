/* The journal of jobs: what has been accepted survives kill -9 at any point.

   A folder with a SQLite database (write-ahead log, synchronous=FULL) and one file for each request
   that is not finished, named by the SHA-256 of its content and its job's number. A job is in the
   journal once its row is; the file is there before the row, and goes after it.

   A process counts a start of a job before it begins and takes it back when it ends in good order.
   After JOURNAL_STARTS_MAX starts that died with it a job is set aside as poison. So that this does
   not hit jobs that merely ran beside the poisonous one, the engine begins those that have such
   starts one at a time.

   Functions may be called from any thread. CUZK_RESOURCE_EXHAUSTED: the disk is full. */
#ifndef ENGINE_JOURNAL_H
#define ENGINE_JOURNAL_H

#include "engine/request.h"

enum { JOURNAL_STARTS_MAX = 3 };

struct journal;

enum journal_state {
    JOURNAL_PENDING = 0,
    JOURNAL_DONE = 1,
    JOURNAL_FAILED = 2,
    JOURNAL_CANCELLED = 3
};

/* A job as it is in the journal: the columns of its row. */
struct journal_job {
    uint64_t number;
    const char *request_id;
    const uint8_t *hash; /* REQUEST_HASH_BYTES */
    enum cuzk_proof_kind kind;
    enum cuzk_priority priority;
    enum journal_state state;
    unsigned starts;
    uint64_t request_bytes;
    /* Only of finished ones: */
    uint64_t finished_unix; /* when, in seconds since 1970 */
    enum cuzk_status error_status;
    const char *error_text;
    const uint8_t *proof;
    size_t proof_len;
    uint64_t queue_ms, srs_load_ms, synthesis_ms, device_ms, total_ms;
};

/* Opens or creates. CUZK_FAILED_PRECONDITION: another process has it; CUZK_IO. Jobs that were
   started too often are failed here, and their request's file renamed to *.poison. */
enum cuzk_status journal_open(const char *folder, struct journal **out, struct cuzk_error *err);
void journal_close(struct journal *journal);

/* Visits all jobs, oldest first; the pointers are valid during the visit. Stops at the first
   failure of visit. */
typedef enum cuzk_status journal_visit_fn(void *context, const struct journal_job *job,
                                          struct cuzk_error *err);
enum cuzk_status journal_visit(struct journal *journal, journal_visit_fn *visit, void *context,
                               struct cuzk_error *err);

/* The next number that no job ever had. */
uint64_t journal_next_number(const struct journal *journal);

/* Makes a new job durable. */
enum cuzk_status journal_add(struct journal *journal, uint64_t number,
                             const struct request *request, struct cuzk_error *err);
/* Reads a pending job's request back; CUZK_IO if its file is gone or not what it was. */
enum cuzk_status journal_read(struct journal *journal, uint64_t number, const char *request_id,
                              enum cuzk_priority priority, const uint8_t hash[REQUEST_HASH_BYTES],
                              struct request **out, struct cuzk_error *err);
/* Counts a start, or takes it back (delta -1). */
enum cuzk_status journal_start(struct journal *journal, uint64_t number, int delta,
                               struct cuzk_error *err);
/* Records how a job ended (number, hash, state and all below it), and drops its request. */
enum cuzk_status journal_finish(struct journal *journal, const struct journal_job *job,
                                struct cuzk_error *err);
/* Forgets finished jobs. */
enum cuzk_status journal_forget(struct journal *journal, const uint64_t *numbers, size_t n,
                                struct cuzk_error *err);

/* For tests: called at named points ("file", "row", "start", "finish", …), before and after each
   becomes durable. */
typedef void journal_probe_fn(void *context, const char *point);
void journal_set_probe(struct journal *journal, journal_probe_fn *probe, void *context);

#endif
