#include "vanilla/c1_internal.h"

#include "base/check.h"
#include "base/mem.h"
#include "base/pool.h"
#include "vanilla/base64.h"

#include <stdatomic.h>
#include <string.h>

/* The longest text behind the partitions; five arrays of bytes with their keys take under 1 KiB. */
enum { TAIL_MAX = 4 * 1024 };

/* The places of the partitions are guessed from what a usual text looks like. A wrong guess does no
   harm: only if each piece by itself is a whole partition are the pieces the items of the array,
   one after the other with commas between them. */
struct split {
    const struct c1_parser *parser; /* behind the bracket of the array */
    const struct c1_source *source;
    size_t begins[C1_PARTITIONS_MAX + 1]; /* partition k ends one byte before begins[k + 1] */
    unsigned n;
    atomic_bool failed;
};

/* --- A whole text in memory ------------------------------------------------------------------- */

size_t c1_source_at(const struct c1_source *source, size_t offset, char buffer[C1_SOURCE_BYTES],
                    const char **bytes)
{
    if (!source->base64) {
        *bytes = source->text + offset;
        return source->len - offset;
    }
    enum { CHARS = C1_SOURCE_BYTES / 3 * 4 };
    const size_t first = offset / 3 * 4;
    const size_t left = source->len - first;
    const size_t n = left < CHARS ? left : CHARS;
    struct base64 state = {0};
    size_t ready;
    *bytes = buffer + offset % 3;
    if (base64_decode(&state, source->text + first, n, (uint8_t *)buffer, &ready, NULL) != CUZK_OK)
        return 0;
    if (state.padding > 0 && n < left) /* nothing may follow the padding */
        return 0;
    return ready > offset % 3 ? ready - offset % 3 : 0;
}

/* The first place of the pattern that lies wholly in [from, to); 0 if there is none. */
static size_t find_pattern(const struct c1_source *source, size_t from, size_t to,
                           const char *pattern)
{
    char buffer[C1_SOURCE_BYTES];
    const size_t pattern_len = strlen(pattern);
    while (from < to) {
        const char *bytes = NULL;
        size_t n = c1_source_at(source, from, buffer, &bytes);
        n = n < to - from ? n : to - from;
        if (n < pattern_len)
            return 0;
        const char *found = memmem(bytes, n, pattern, pattern_len);
        if (found)
            return from + (size_t)(found - bytes);
        from += n - pattern_len + 1;
    }
    return 0;
}

/* --- Partitions ------------------------------------------------------------------------------- */

/* Partitions have nearly the same length: the end of each is searched for around its share of what
   is left. */
static bool guess_places(struct split *split, size_t begin)
{
    const struct c1_source *source = split->source;
    const size_t len = source->base64 ? source->len / 4 * 3 : source->len;
    const size_t tail = len > begin + TAIL_MAX ? len - TAIL_MAX : begin;
    const size_t last = find_pattern(source, tail, len, "}]]}");
    if (last == 0)
        return false;
    const size_t end = last + 2;
    split->begins[0] = begin;
    for (unsigned k = 1; k < split->n; k++) {
        const size_t before = split->begins[k - 1];
        const size_t share = (end - before) / (split->n - k + 1);
        const size_t found =
            find_pattern(source, before + share - share / 16, before + share + share / 16, "}],[{");
        if (found == 0)
            return false;
        split->begins[k] = found + 3;
    }
    split->begins[split->n] = end + 1;
    return true;
}

/* Reads partition k with a parser of its own, for which it is a whole JSON text. The copied frames
   tell that parser where in the C1 it is. */
static void read_partition(void *context, size_t k)
{
    struct split *split = context;
    struct c1_parser parser = *split->parser;
    char buffer[C1_SOURCE_BYTES];
    const size_t end = split->begins[k + 1] - 1;
    if (atomic_load(&split->failed))
        return;
    parser.frames[parser.n_frames - 1].count = (uint32_t)k;
    parser.text = json_text_new(c1_parser_event, &parser);
    bool good = parser.text != NULL;
    for (size_t at = split->begins[k]; good && at < end;) {
        const char *bytes = NULL;
        size_t n = c1_source_at(split->source, at, buffer, &bytes);
        n = n < end - at ? n : end - at;
        good = n > 0 && c1_parser_feed(&parser, bytes, n, NULL) == CUZK_OK;
        at += n;
    }
    if (!good || json_text_end(parser.text, NULL) != CUZK_OK)
        atomic_store(&split->failed, true);
    json_text_free(parser.text);
}

size_t c1_split(struct c1_parser *parser, const struct c1_source *source, size_t begin,
                struct pool *pool)
{
    struct split split = {.parser = parser, .source = source};
    struct c1_frame *frame = parser->n_frames > 0 ? &parser->frames[parser->n_frames - 1] : NULL;
    if (!frame || frame->type != C1_PARTITIONS || frame->count > 0 ||
        !json_text_at_event(parser->text))
        return 0;
    split.n = c1_store_count(parser, C1_PARTITIONS);
    if (split.n < 2 || pool_threads(pool) < 2 || !guess_places(&split, begin))
        return 0;
    pool_run(pool, split.n, read_partition, &split);
    if (atomic_load(&split.failed)) {
        c1_forget_partitions(parser->c1);
        return 0;
    }
    const size_t taken = split.begins[split.n] - 1 - begin;
    frame->count = split.n;
    json_text_skip(parser->text, taken);
    return taken;
}
