/* The journal of jobs: an accepted job survives kill -9 at any point. Private to lib/engine.

   The journal is a folder with a SQLite database (write-ahead log, synchronous=FULL) and one file
   for each request that is not finished. The file's name is the SHA-256 of its content and the
   number of its job. A job is in the journal if its row is: the file is written before the row, and
   removed after the row says that the job has ended.

   A process counts a start of a job before it begins the job, and takes the start back when the
   process ends in good order. After JOURNAL_STARTS_MAX starts whose processes died the job is set
   aside as poison. The engine begins jobs that have such starts one at a time, so that this does
   not hit jobs that only ran beside the poisonous one.

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

/* Opens or creates a journal. Jobs that were started too often become FAILED here, and the files of
   their requests are renamed to *.poison. CUZK_FAILED_PRECONDITION: another process has it open;
   CUZK_IO. */
enum cuzk_status journal_open(const char *folder, struct journal **out, struct cuzk_error *err);
void journal_close(struct journal *journal);

/* Visits all jobs, the oldest first. The pointers in the job are valid during the visit. Stops at
   the first visit that fails. */
typedef enum cuzk_status journal_visit_fn(void *context, const struct journal_job *job,
                                          struct cuzk_error *err);
enum cuzk_status journal_visit(struct journal *journal, journal_visit_fn *visit, void *context,
                               struct cuzk_error *err);

/* A number that no job had when the journal was opened, nor before. */
uint64_t journal_next_number(const struct journal *journal);

/* Makes a new job durable: CUZK_OK means that it survives. */
enum cuzk_status journal_add(struct journal *journal, uint64_t number,
                             const struct request *request, struct cuzk_error *err);
/* Reads a pending job's request back. CUZK_IO: its file is gone or has changed. */
enum cuzk_status journal_read(struct journal *journal, uint64_t number, const char *request_id,
                              enum cuzk_priority priority, const uint8_t hash[REQUEST_HASH_BYTES],
                              struct request **out, struct cuzk_error *err);
/* Counts a start of a pending job (delta 1), or takes it back (delta -1). */
enum cuzk_status journal_start(struct journal *journal, uint64_t number, int delta,
                               struct cuzk_error *err);
/* Records how a job ended (number, hash, state and the members of finished ones), and removes its
   request. */
enum cuzk_status journal_finish(struct journal *journal, const struct journal_job *job,
                                struct cuzk_error *err);
/* Forgets finished jobs. */
enum cuzk_status journal_forget(struct journal *journal, const uint64_t *numbers, size_t n,
                                struct cuzk_error *err);

/* For tests: the probe is called before and after each step that makes something durable, with the
   name of the point ("before file", "after row", …). */
typedef void journal_probe_fn(void *context, const char *point);
void journal_set_probe(struct journal *journal, journal_probe_fn *probe, void *context);

#endif
