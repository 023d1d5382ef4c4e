#include "engine/journal.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

struct journal {
    char folder[PATH_MAX];
    int lock_fd;
    pthread_mutex_t mutex; /* of db */
    sqlite3 *db;
    uint64_t next_number;
    journal_probe_fn *probe;
    void *probe_context;
};

/* --- The table -------------------------------------------------------------------------------- */

/* The columns of table "job" after its key, the job's number. Each has the name of the member of
   struct journal_job that it holds: X(name, type in SQL, how it is bound and read, type in C). The
   first group is written when a job is added, the second one when the job has ended. */
#define REQUEST_COLUMNS(X)                                                                         \
    X(request_id, "TEXT NOT NULL", TEXT, const char *)                                             \
    X(hash, "BLOB NOT NULL", HASH, const uint8_t *)                                                \
    X(kind, "INTEGER NOT NULL", INTEGER, enum cuzk_proof_kind)                                     \
    X(priority, "INTEGER NOT NULL", INTEGER, enum cuzk_priority)                                   \
    X(state, "INTEGER NOT NULL", INTEGER, enum journal_state)                                      \
    X(starts, "INTEGER NOT NULL DEFAULT 0", INTEGER, unsigned)                                     \
    X(request_bytes, "INTEGER NOT NULL", INTEGER, uint64_t)

#define RESULT_COLUMNS(X)                                                                          \
    X(finished_unix, "INTEGER", INTEGER, uint64_t)                                                 \
    X(error_status, "INTEGER", INTEGER, enum cuzk_status)                                          \
    X(error_text, "TEXT", TEXT, const char *)                                                      \
    X(proof, "BLOB", PROOF, const uint8_t *)                                                       \
    X(queue_ms, "INTEGER", INTEGER, uint64_t)                                                      \
    X(srs_load_ms, "INTEGER", INTEGER, uint64_t)                                                   \
    X(synthesis_ms, "INTEGER", INTEGER, uint64_t)                                                  \
    X(device_ms, "INTEGER", INTEGER, uint64_t)                                                     \
    X(total_ms, "INTEGER", INTEGER, uint64_t)

#define COLUMNS(X) REQUEST_COLUMNS(X) RESULT_COLUMNS(X)

#define DEFINITION(name, sql, how, type) ", " #name " " sql
#define NAME(name, sql, how, type) ", " #name
#define PLACE(name, sql, how, type) ", ?"
#define ASSIGNMENT(name, sql, how, type) ", " #name " = ?"
#define INDEX(name, sql, how, type) COLUMN_##name,

/* Of select_jobs. */
enum { COLUMN_number, COLUMNS(INDEX) };

static const char create_job[] =
    "CREATE TABLE IF NOT EXISTS job (number INTEGER PRIMARY KEY" COLUMNS(DEFINITION) ")";
static const char create_counter[] =
    "CREATE TABLE IF NOT EXISTS counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL);"
    "INSERT OR IGNORE INTO counter VALUES ('next_number', 1);";
static const char select_jobs[] = "SELECT number" COLUMNS(NAME) " FROM job ORDER BY number";
static const char insert_job[] =
    "INSERT INTO job (number" REQUEST_COLUMNS(NAME) ") VALUES (?" REQUEST_COLUMNS(PLACE) ")";
static const char finish_job[] =
    "UPDATE job SET state = ?" RESULT_COLUMNS(ASSIGNMENT) " WHERE number = ? AND state = ?";

static void call_probe(struct journal *journal, const char *point)
{
    if (journal->probe)
        journal->probe(journal->probe_context, point);
}

void journal_set_probe(struct journal *journal, journal_probe_fn *fn, void *context)
{
    journal->probe = fn;
    journal->probe_context = context;
}

static enum cuzk_status sql_error(struct journal *journal, const char *what, struct cuzk_error *err)
{
    int code = sqlite3_errcode(journal->db);
    return error_set(err,
                     code == SQLITE_FULL    ? CUZK_RESOURCE_EXHAUSTED
                     : code == SQLITE_NOMEM ? CUZK_NO_MEMORY
                                            : CUZK_IO,
                     "journal %s: cannot %s: %s", journal->folder, what,
                     sqlite3_errmsg(journal->db));
}

static enum cuzk_status file_error(struct cuzk_error *err, int saved)
{
    bool full = saved == ENOSPC || saved == EDQUOT || saved == EFBIG;
    if (err && full)
        err->status = CUZK_RESOURCE_EXHAUSTED;
    return full ? CUZK_RESOURCE_EXHAUSTED : CUZK_IO;
}

/* One SQL statement and the number of its parameters that are bound. */
struct statement {
    struct journal *journal;
    sqlite3_stmt *stmt;
    int bound;
};

static bool prepare_statement(struct statement *s, struct journal *journal, const char *sql)
{
    *s = (struct statement){.journal = journal};
    return sqlite3_prepare_v2(journal->db, sql, -1, &s->stmt, NULL) == SQLITE_OK;
}

static void bind_int(struct statement *s, uint64_t value)
{
    sqlite3_bind_int64(s->stmt, ++s->bound, (sqlite3_int64)value);
}

static void bind_text(struct statement *s, const char *text)
{
    sqlite3_bind_text(s->stmt, ++s->bound, text, -1, SQLITE_TRANSIENT);
}

static void bind_blob(struct statement *s, const void *bytes, size_t len)
{
    sqlite3_bind_blob64(s->stmt, ++s->bound, bytes, len, SQLITE_TRANSIENT);
}

#define BIND_INTEGER(name) bind_int(s, (uint64_t)job->name);
#define BIND_TEXT(name) bind_text(s, job->name);
#define BIND_HASH(name) bind_blob(s, job->name, REQUEST_HASH_BYTES);
#define BIND_PROOF(name) bind_blob(s, job->name, job->proof_len);
#define BIND(name, sql, how, type) BIND_##how(name)

static void bind_request(struct statement *s, const struct journal_job *job)
{
    bind_int(s, job->number);
    REQUEST_COLUMNS(BIND)
}

static void bind_result(struct statement *s, const struct journal_job *job)
{
    bind_int(s, (uint64_t)job->state);
    RESULT_COLUMNS(BIND)
    bind_int(s, job->number);
    bind_int(s, JOURNAL_PENDING);
}

static enum cuzk_status run_statement(struct statement *s, const char *what, struct cuzk_error *err)
{
    enum cuzk_status status = CUZK_OK;
    if (!s->stmt || sqlite3_step(s->stmt) != SQLITE_DONE)
        status = sql_error(s->journal, what, err);
    sqlite3_finalize(s->stmt);
    return status;
}

static enum cuzk_status execute_sql(struct journal *journal, const char *sql,
                                    struct cuzk_error *err)
{
    if (sqlite3_exec(journal->db, sql, NULL, NULL, NULL) == SQLITE_OK)
        return CUZK_OK;
    return sql_error(journal, "write", err);
}

/* --- Files ------------------------------------------------------------------------------------ */

static void payload_path(const struct journal *journal, uint64_t number,
                         const uint8_t hash[REQUEST_HASH_BYTES], const char *ending,
                         char path[PATH_MAX])
{
    char hex[2 * REQUEST_HASH_BYTES + 1];
    hex_encode(hash, REQUEST_HASH_BYTES, hex);
    snprintf(path, PATH_MAX, "%.3000s/%s.%016" PRIx64 "%s", journal->folder, hex, number, ending);
}

static enum cuzk_status sync_folder(const struct journal *journal, struct cuzk_error *err)
{
    int fd = open(journal->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int saved = fd < 0 || fsync(fd) != 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    return saved ? error_errno(err, CUZK_IO, saved, "journal %s: cannot sync", journal->folder)
                 : CUZK_OK;
}

/* Is this a file of the journal that no pending job needs? Other names are left alone. */
static bool is_orphan(struct journal *journal, const char *name)
{
    size_t len = strlen(name);
    uint64_t number;
    uint8_t bytes[8];
    if (len > 5 && strcmp(name + len - 5, ".part") == 0)
        return true;
    if (len != 2 * REQUEST_HASH_BYTES + 17 || !hex_decode(name + len - 16, bytes, sizeof bytes))
        return false;
    number = load_u64_be(bytes);
    struct statement s;
    bool pending = false;
    if (prepare_statement(&s, journal, "SELECT 1 FROM job WHERE number = ? AND state = ?")) {
        bind_int(&s, number);
        bind_int(&s, JOURNAL_PENDING);
        pending = sqlite3_step(s.stmt) != SQLITE_DONE; /* an error keeps the file */
    }
    sqlite3_finalize(s.stmt);
    return !pending;
}

static void remove_orphans(struct journal *journal)
{
    DIR *folder = opendir(journal->folder);
    if (!folder)
        return;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (is_orphan(journal, entry->d_name))
            unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
}

/* --- Opening ---------------------------------------------------------------------------------- */

static enum cuzk_status lock_folder(struct journal *journal, struct cuzk_error *err)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.3000s/lock", journal->folder);
    journal->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (journal->lock_fd < 0)
        return error_errno(err, CUZK_IO, errno, "cannot create %s", path);
    if (flock(journal->lock_fd, LOCK_EX | LOCK_NB) != 0)
        return error_set(err, CUZK_FAILED_PRECONDITION,
                         "journal %s: another process is running on it", journal->folder);
    return CUZK_OK;
}

static enum cuzk_status set_poison_aside(struct journal *journal, struct cuzk_error *err)
{
    struct statement s;
    if (!prepare_statement(&s, journal,
                           "SELECT number, hash FROM job WHERE state = ? AND starts >= ?"))
        return sql_error(journal, "read", err);
    bind_int(&s, JOURNAL_PENDING);
    bind_int(&s, JOURNAL_STARTS_MAX);
    while (sqlite3_step(s.stmt) == SQLITE_ROW) {
        uint64_t number = (uint64_t)sqlite3_column_int64(s.stmt, 0);
        const uint8_t *hash = sqlite3_column_blob(s.stmt, 1);
        if (!hash || sqlite3_column_bytes(s.stmt, 1) != REQUEST_HASH_BYTES)
            continue;
        char from[PATH_MAX];
        char to[PATH_MAX];
        payload_path(journal, number, hash, "", from);
        payload_path(journal, number, hash, ".poison", to);
        if (rename(from, to) == 0)
            log_error("journal",
                      "job %016" PRIx64 " died with this process %d times and is set aside; "
                      "its request is kept as %s",
                      number, JOURNAL_STARTS_MAX, to);
    }
    sqlite3_finalize(s.stmt);
    if (!prepare_statement(
            &s, journal,
            "UPDATE job SET state = ?, finished_unix = ?, error_status = ?, error_text = ?"
            " WHERE state = ? AND starts >= ?"))
        return sql_error(journal, "write", err);
    bind_int(&s, JOURNAL_FAILED);
    bind_int(&s, clock_unix_s());
    bind_int(&s, CUZK_INTERNAL);
    bind_text(&s, "set aside: the daemon died three times while it worked on this job");
    bind_int(&s, JOURNAL_PENDING);
    bind_int(&s, JOURNAL_STARTS_MAX);
    return run_statement(&s, "write", err);
}

static enum cuzk_status read_counter(struct journal *journal, struct cuzk_error *err)
{
    struct statement s;
    if (!prepare_statement(&s, journal, "SELECT value FROM counter WHERE name = 'next_number'") ||
        sqlite3_step(s.stmt) != SQLITE_ROW) {
        sqlite3_finalize(s.stmt);
        return sql_error(journal, "read the counter", err);
    }
    journal->next_number = (uint64_t)sqlite3_column_int64(s.stmt, 0);
    sqlite3_finalize(s.stmt);
    return CUZK_OK;
}

static enum cuzk_status open_database(struct journal *journal, struct cuzk_error *err)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.3000s/journal.sqlite", journal->folder);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &journal->db, flags, NULL) != SQLITE_OK)
        return journal->db ? sql_error(journal, "open", err)
                           : error_set(err, CUZK_NO_MEMORY, "no memory for the journal");
    TRY(execute_sql(
        journal, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA user_version=1;", err));
    TRY(execute_sql(journal, create_job, err));
    TRY(execute_sql(journal, create_counter, err));
    TRY(set_poison_aside(journal, err));
    TRY(read_counter(journal, err));
    remove_orphans(journal);
    return CUZK_OK;
}

enum cuzk_status journal_open(const char *folder, struct journal **out, struct cuzk_error *err)
{
    TRY(file_make_dirs(folder, err));
    struct journal *journal = mem_zalloc(1, sizeof *journal);
    if (!journal)
        return error_set(err, CUZK_NO_MEMORY, "no memory for the journal");
    journal->lock_fd = -1;
    pthread_mutex_init(&journal->mutex, NULL);
    snprintf(journal->folder, sizeof journal->folder, "%s", folder);
    enum cuzk_status status = lock_folder(journal, err);
    if (status == CUZK_OK)
        status = open_database(journal, err);
    if (status != CUZK_OK) {
        journal_close(journal);
        return status;
    }
    *out = journal;
    return CUZK_OK;
}

void journal_close(struct journal *journal)
{
    if (!journal)
        return;
    sqlite3_close(journal->db);
    if (journal->lock_fd >= 0)
        close(journal->lock_fd);
    pthread_mutex_destroy(&journal->mutex);
    mem_free(journal);
}

uint64_t journal_next_number(const struct journal *journal)
{
    return journal->next_number;
}

/* --- Reading ---------------------------------------------------------------------------------- */

#define READ_INTEGER(name, type) job->name = (type)sqlite3_column_int64(row, COLUMN_##name);
#define READ_TEXT(name, type) job->name = (type)sqlite3_column_text(row, COLUMN_##name);
#define READ_HASH(name, type)                                                                      \
    if (sqlite3_column_bytes(row, COLUMN_##name) == REQUEST_HASH_BYTES)                            \
        job->name = (type)sqlite3_column_blob(row, COLUMN_##name);
#define READ_PROOF(name, type)                                                                     \
    job->name = (type)sqlite3_column_blob(row, COLUMN_##name);                                     \
    job->proof_len = (size_t)sqlite3_column_bytes(row, COLUMN_##name);
#define READ(name, sql, how, type) READ_##how(name, type)

/* False: the row is not one of ours. */
static bool read_row(sqlite3_stmt *row, struct journal_job *job)
{
    *job = (struct journal_job){.number = (uint64_t)sqlite3_column_int64(row, COLUMN_number)};
    COLUMNS(READ)
    if (!job->error_text)
        job->error_text = "";
    return job->request_id && job->hash;
}

enum cuzk_status journal_visit(struct journal *journal, journal_visit_fn *visit, void *context,
                               struct cuzk_error *err)
{
    struct statement s;
    if (!prepare_statement(&s, journal, select_jobs))
        return sql_error(journal, "read", err);
    enum cuzk_status status = CUZK_OK;
    int step = SQLITE_DONE;
    while (status == CUZK_OK && (step = sqlite3_step(s.stmt)) == SQLITE_ROW) {
        struct journal_job job;
        if (read_row(s.stmt, &job))
            status = visit(context, &job, err);
    }
    if (status == CUZK_OK && step != SQLITE_DONE)
        status = sql_error(journal, "read", err);
    sqlite3_finalize(s.stmt);
    return status;
}

enum cuzk_status journal_read(struct journal *journal, uint64_t number, const char *request_id,
                              enum cuzk_priority priority, const uint8_t hash[REQUEST_HASH_BYTES],
                              struct request **out, struct cuzk_error *err)
{
    char path[PATH_MAX];
    uint8_t *bytes;
    size_t len;
    uint8_t digest[SHA256_BYTES];
    payload_path(journal, number, hash, "", path);
    TRY(file_read(path, (size_t)REQUEST_PAYLOAD_BYTES_MAX + (1 << 20), &bytes, &len, err));
    sha256(bytes, len, digest);
    if (memcmp(digest, hash, sizeof digest) != 0) {
        mem_free(bytes);
        return error_set(err, CUZK_IO, "%s: its content does not have the digest in its name",
                         path);
    }
    return request_decode(request_id, priority, bytes, len, out, err);
}

/* --- Writing ---------------------------------------------------------------------------------- */

static enum cuzk_status insert_row(struct journal *journal, uint64_t number,
                                   const struct request *request, struct cuzk_error *err)
{
    const struct journal_job job = {
        .number = number,
        .request_id = request->id,
        .hash = request->hash,
        .kind = request->kind,
        .priority = request->priority,
        .state = JOURNAL_PENDING,
        .request_bytes = request->encoded_len,
    };
    struct statement s;
    TRY(execute_sql(journal, "BEGIN IMMEDIATE", err));
    prepare_statement(&s, journal, insert_job);
    bind_request(&s, &job);
    enum cuzk_status status = run_statement(&s, "add a job", err);
    if (status == CUZK_OK) {
        prepare_statement(
            &s, journal, "UPDATE counter SET value = max(value, ? + 1) WHERE name = 'next_number'");
        bind_int(&s, number);
        status = run_statement(&s, "count", err);
    }
    if (status == CUZK_OK)
        status = execute_sql(journal, "COMMIT", err);
    if (status != CUZK_OK)
        sqlite3_exec(journal->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

enum cuzk_status journal_add(struct journal *journal, uint64_t number,
                             const struct request *request, struct cuzk_error *err)
{
    char path[PATH_MAX];
    payload_path(journal, number, request->hash, "", path);
    call_probe(journal, "before file");
    errno = 0;
    if (file_write(path, request->encoded, request->encoded_len, err) != CUZK_OK) {
        enum cuzk_status status = file_error(err, errno);
        error_prefix(err, "journal");
        return status;
    }
    enum cuzk_status status = sync_folder(journal, err);
    call_probe(journal, "before row");
    if (status == CUZK_OK) {
        pthread_mutex_lock(&journal->mutex);
        status = insert_row(journal, number, request, err);
        pthread_mutex_unlock(&journal->mutex);
    }
    if (status != CUZK_OK)
        unlink(path);
    call_probe(journal, "after row");
    return status;
}

enum cuzk_status journal_start(struct journal *journal, uint64_t number, int delta,
                               struct cuzk_error *err)
{
    struct statement s;
    call_probe(journal, "before start");
    pthread_mutex_lock(&journal->mutex);
    prepare_statement(&s, journal,
                      "UPDATE job SET starts = max(0, starts + ?) WHERE number = ? AND state = ?");
    sqlite3_bind_int(s.stmt, ++s.bound, delta);
    bind_int(&s, number);
    bind_int(&s, JOURNAL_PENDING);
    enum cuzk_status status = run_statement(&s, "count a start", err);
    pthread_mutex_unlock(&journal->mutex);
    call_probe(journal, "after start");
    return status;
}

enum cuzk_status journal_finish(struct journal *journal, const struct journal_job *job,
                                struct cuzk_error *err)
{
    struct statement s;
    char path[PATH_MAX];
    call_probe(journal, "before finish");
    pthread_mutex_lock(&journal->mutex);
    prepare_statement(&s, journal, finish_job);
    bind_result(&s, job);
    enum cuzk_status status = run_statement(&s, "record a result", err);
    pthread_mutex_unlock(&journal->mutex);
    call_probe(journal, "after finish");
    if (status == CUZK_OK) {
        payload_path(journal, job->number, job->hash, "", path);
        unlink(path);
    }
    return status;
}

enum cuzk_status journal_forget(struct journal *journal, const uint64_t *numbers, size_t n,
                                struct cuzk_error *err)
{
    pthread_mutex_lock(&journal->mutex);
    enum cuzk_status status = execute_sql(journal, "BEGIN IMMEDIATE", err);
    for (size_t i = 0; i < n && status == CUZK_OK; i++) {
        struct statement s;
        prepare_statement(&s, journal, "DELETE FROM job WHERE number = ? AND state <> ?");
        bind_int(&s, numbers[i]);
        bind_int(&s, JOURNAL_PENDING);
        status = run_statement(&s, "forget a job", err);
    }
    if (status == CUZK_OK)
        status = execute_sql(journal, "COMMIT", err);
    if (status != CUZK_OK)
        sqlite3_exec(journal->db, "ROLLBACK", NULL, NULL, NULL);
    pthread_mutex_unlock(&journal->mutex);
    return status;
}
