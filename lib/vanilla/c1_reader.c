#include "vanilla/c1_internal.h"

#include "base/check.h"
#include "base/error.h"
#include "base/mem.h"
#include "vanilla/base64.h"

#include <string.h>

/* Base64 characters that are decoded at once. */
enum { DECODE_CHARS = 8 * 1024 };

/* Where the reader is in the outer text. It follows the text far enough to find the content of
   Phase1Out, a string of up to 68 MB, which the JSON parser is not given. */
enum text_state { TEXT_OUTSIDE, TEXT_STRING, TEXT_ESCAPE, TEXT_BASE64 };

struct c1_reader {
    struct c1 *c1;
    struct c1_parser outer; /* of the text that is fed: a C1 or a wrapper */
    struct c1_parser inner; /* of the C1 inside a wrapper; its text is NULL before Phase1Out */
    enum text_state state;
    struct base64 base64;
    struct pool *pool; /* to split the text with; NULL once that was tried, and without a pool */
    struct cuzk_error error; /* the first failure */
};

static bool start_parser(struct c1_parser *parser, struct c1 *c1, bool may_be_wrapper)
{
    parser->name = "C1";
    parser->c1 = c1;
    parser->may_be_wrapper = may_be_wrapper;
    parser->text = json_text_new(c1_parser_event, parser);
    return parser->text != NULL;
}

struct c1_reader *c1_reader_new(void)
{
    struct c1_reader *reader = mem_zalloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    reader->c1 = mem_zalloc(1, sizeof *reader->c1);
    if (!reader->c1 || !start_parser(&reader->outer, reader->c1, true)) {
        c1_reader_free(reader);
        return NULL;
    }
    return reader;
}

void c1_reader_free(struct c1_reader *reader)
{
    if (!reader)
        return;
    json_text_free(reader->outer.text);
    json_text_free(reader->inner.text);
    c1_free(reader->c1);
    mem_free(reader);
}

/* The error of a text that failed: the parser's own one if it was the parser that stopped the
   text. */
static enum cuzk_status explain_failure(const struct c1_parser *parser, enum cuzk_status status,
                                        struct cuzk_error *err)
{
    if (status == CUZK_OK)
        return CUZK_OK;
    if (status != CUZK_CANCELLED)
        return error_prefix(err, "%s", parser->name);
    *err = parser->error;
    return err->status;
}

static enum cuzk_status parse(struct c1_parser *parser, const char *bytes, size_t len,
                              struct cuzk_error *err)
{
    return explain_failure(parser, c1_parser_feed(parser, bytes, len, err), err);
}

static enum cuzk_status parse_end(struct c1_parser *parser, struct cuzk_error *err)
{
    return explain_failure(parser, json_text_end(parser->text, err), err);
}

/* Feeds a C1's text up to the first bracket, which normally is that of the partitions, and then
   the partitions if they can be split. This is tried once; a text that is not split is read in
   order. */
static enum cuzk_status parse_split(struct c1_reader *reader, struct c1_parser *parser,
                                    const struct c1_source *source, size_t *taken,
                                    struct cuzk_error *err)
{
    char buffer[C1_SOURCE_BYTES];
    const char *bytes = NULL;
    struct pool *pool = reader->pool;
    reader->pool = NULL;
    size_t len = c1_source_at(source, 0, buffer, &bytes);
    const char *bracket = len > 0 ? memchr(bytes, '[', len) : NULL;
    *taken = bracket ? (size_t)(bracket - bytes) + 1 : 0;
    if (!bracket)
        return CUZK_OK;
    TRY(parse(parser, bytes, *taken, err));
    *taken += c1_split(parser, source, *taken, pool);
    return CUZK_OK;
}

/* --- The wrapper ------------------------------------------------------------------------------ */

static enum cuzk_status feed_base64(struct c1_reader *reader, const char *text, size_t len,
                                    struct cuzk_error *err)
{
    uint8_t bytes[DECODE_CHARS / 4 * 3 + 3];
    size_t parsed = 0; /* the first bytes of the next ones that the parser has already */
    if (reader->pool) {
        const struct c1_source source = {text, len, true};
        TRY(parse_split(reader, &reader->inner, &source, &parsed, err));
        reader->base64.read = parsed / 3 * 4;
        text += reader->base64.read;
        len -= reader->base64.read;
        parsed %= 3;
    }
    while (len > 0) {
        size_t piece = len < DECODE_CHARS ? len : DECODE_CHARS;
        size_t ready;
        enum cuzk_status status = base64_decode(&reader->base64, text, piece, bytes, &ready, err);
        /* A fault in the C1 is reported first: its bytes stand before the fault in the base64. */
        struct cuzk_error inner = {0};
        CHECK(ready >= parsed);
        if (parse(&reader->inner, (const char *)bytes + parsed, ready - parsed, &inner) !=
            CUZK_OK) {
            *err = inner;
            return inner.status;
        }
        if (status != CUZK_OK)
            return error_prefix(err, "wrapper: Phase1Out");
        parsed = 0;
        text += piece;
        len -= piece;
    }
    return CUZK_OK;
}

/* The closing quote of Phase1Out. */
static enum cuzk_status end_base64(struct c1_reader *reader, struct cuzk_error *err)
{
    if (base64_end(&reader->base64, err) != CUZK_OK)
        return error_prefix(err, "wrapper: Phase1Out");
    TRY(parse_end(&reader->inner, err));
    json_text_skip(reader->outer.text, reader->base64.read);
    return CUZK_OK;
}

static enum cuzk_status begin_base64(struct c1_reader *reader, struct cuzk_error *err)
{
    if (!start_parser(&reader->inner, reader->c1, false))
        return error_set(err, CUZK_NO_MEMORY, "wrapper: no memory for the reader of Phase1Out");
    return CUZK_OK;
}

/* State after a character outside Phase1Out. */
static enum text_state next_state(enum text_state state, char c)
{
    if (state == TEXT_ESCAPE)
        return TEXT_STRING;
    if (c == '"')
        return state == TEXT_STRING ? TEXT_OUTSIDE : TEXT_STRING;
    return state == TEXT_STRING && c == '\\' ? TEXT_ESCAPE : state;
}

/* Takes the text up to and including the next quote. So each key is known before its value
   comes. */
static enum cuzk_status feed_outer(struct c1_reader *reader, const char *text, size_t len,
                                   size_t *taken, struct cuzk_error *err)
{
    size_t n = 0;
    char last;
    do {
        last = text[n++];
        reader->state = next_state(reader->state, last);
    } while (last != '"' && n < len);
    *taken = n;
    TRY(parse(&reader->outer, text, n, err));
    if (last != '"' || reader->state != TEXT_STRING || !c1_parser_at_base64(&reader->outer))
        return CUZK_OK;
    reader->state = TEXT_BASE64;
    return begin_base64(reader, err);
}

/* Takes content of Phase1Out, and its end if that is there. */
static enum cuzk_status feed_phase1(struct c1_reader *reader, const char *text, size_t len,
                                    size_t *taken, struct cuzk_error *err)
{
    const char *quote = memchr(text, '"', len);
    *taken = quote ? (size_t)(quote - text) : len;
    TRY(feed_base64(reader, text, *taken, err));
    if (!quote)
        return CUZK_OK;
    TRY(end_base64(reader, err));
    *taken += 1;
    reader->state = TEXT_OUTSIDE;
    return parse(&reader->outer, quote, 1, err);
}

/* Takes content of a C1 without a wrapper. */
static enum cuzk_status feed_c1(struct c1_reader *reader, const char *text, size_t len,
                                size_t *taken, struct cuzk_error *err)
{
    const struct c1_source source = {text, len, false};
    if (reader->pool)
        return parse_split(reader, &reader->outer, &source, taken, err);
    *taken = len;
    return parse(&reader->outer, text, len, err);
}

static enum cuzk_status feed_text(struct c1_reader *reader, const char *text, size_t len,
                                  struct cuzk_error *err)
{
    while (len > 0) {
        size_t taken = len;
        if (reader->state == TEXT_BASE64)
            TRY(feed_phase1(reader, text, len, &taken, err));
        else if (reader->outer.decided && !reader->c1->wrapped)
            TRY(feed_c1(reader, text, len, &taken, err));
        else
            TRY(feed_outer(reader, text, len, &taken, err));
        text += taken;
        len -= taken;
    }
    return CUZK_OK;
}

enum cuzk_status c1_reader_feed(struct c1_reader *reader, const void *bytes, size_t len,
                                struct cuzk_error *err)
{
    if (reader->error.status == CUZK_OK)
        feed_text(reader, bytes, len, &reader->error);
    if (reader->error.status != CUZK_OK && err)
        *err = reader->error;
    return reader->error.status;
}

/* --- The end ---------------------------------------------------------------------------------- */

static enum cuzk_status finish_c1(struct c1_reader *reader, struct cuzk_error *err)
{
    struct c1 *c1 = reader->c1;
    if (reader->state == TEXT_BASE64)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "wrapper: the text ends inside Phase1Out, after %llu characters of it",
                         (unsigned long long)reader->base64.read);
    TRY(parse_end(&reader->outer, err));
    if (c1->wrapped && c1->sector_bytes != c1->values.config->sector_bytes)
        return error_set(err, CUZK_INVALID_ARGUMENT,
                         "wrapper: SectorSize is %llu, but the C1 in Phase1Out is %s of %llu bytes",
                         (unsigned long long)c1->sector_bytes, c1->values.proof->name,
                         (unsigned long long)c1->values.config->sector_bytes);
    for (unsigned k = 0; k < c1->values.config->partitions; k++) {
        struct porep_partition *partition = c1->partitions[k];
        const struct c1_claims *claims = c1->claims[k];
        CHECK(fr_from_bytes(&partition->replica_id, c1->values.replica_id) &&
              fr_from_bytes(&partition->comm_d, c1->values.comm_d) &&
              fr_from_bytes(&partition->comm_r, c1->values.comm_r));
        partition->comm_c = claims[0].column_root[C1_OWN_COLUMN];
        partition->comm_r_last = claims[0].tree_r_root;
        for (unsigned i = 0; i < c1->values.config->challenges; i++)
            partition->challenges[i].node = claims[i].labeling[0].node;
    }
    return CUZK_OK;
}

enum cuzk_status c1_reader_finish(struct c1_reader *reader, struct c1 **out, struct cuzk_error *err)
{
    *out = NULL;
    if (reader->error.status == CUZK_OK)
        finish_c1(reader, &reader->error);
    if (reader->error.status != CUZK_OK) {
        if (err)
            *err = reader->error;
        return reader->error.status;
    }
    *out = reader->c1;
    reader->c1 = NULL;
    error_set(&reader->error, CUZK_FAILED_PRECONDITION, "C1: the reader has finished");
    return CUZK_OK;
}

enum cuzk_status c1_parse(const void *bytes, size_t len, struct c1 **out, struct cuzk_error *err)
{
    return c1_parse_parallel(bytes, len, NULL, out, err);
}

enum cuzk_status c1_parse_parallel(const void *bytes, size_t len, struct pool *pool,
                                   struct c1 **out, struct cuzk_error *err)
{
    *out = NULL;
    struct c1_reader *reader = c1_reader_new();
    if (!reader)
        return error_set(err, CUZK_NO_MEMORY, "C1: no memory for the reader");
    reader->pool = pool;
    enum cuzk_status status = c1_reader_feed(reader, bytes, len, err);
    if (status == CUZK_OK)
        status = c1_reader_finish(reader, out, err);
    c1_reader_free(reader);
    return status;
}

/* --- Access ----------------------------------------------------------------------------------- */

void c1_forget_partitions(struct c1 *c1)
{
    for (size_t k = 0; k < C1_PARTITIONS_MAX; k++) {
        porep_partition_free(c1->partitions[k]);
        mem_free(c1->claims[k]);
        c1->partitions[k] = NULL;
        c1->claims[k] = NULL;
    }
}

void c1_free(struct c1 *c1)
{
    if (!c1)
        return;
    c1_forget_partitions(c1);
    poseidon_memo_free(atomic_load(&c1->memo));
    mem_free(c1);
}

const struct porep_public *c1_public(const struct c1 *c1)
{
    return &c1->values;
}

const struct porep_partition *c1_partition(const struct c1 *c1, unsigned partition)
{
    CHECK(partition < c1->values.config->partitions);
    CHECK(atomic_load(&c1->checked) >> partition & 1);
    return c1->partitions[partition];
}
