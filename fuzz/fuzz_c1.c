/* Any bytes as a C1 or its wrapper: in one piece, in pieces whose size follows from the bytes, and
   with its partitions read in parallel. There must be no crash, nothing left in memory, and the
   same answer each time. */
#include "fuzz.h"

#include "base/check.h"
#include "base/mem.h"
#include "base/pool.h"
#include "vanilla/c1.h"

#include <string.h>

static enum cuzk_status read_c1(const uint8_t *data, size_t size, size_t piece, struct c1 **c1,
                                struct cuzk_error *err)
{
    struct c1_reader *reader = c1_reader_new();
    CHECK(reader);
    enum cuzk_status status = CUZK_OK;
    for (size_t i = 0; i < size && status == CUZK_OK; i += piece)
        status = c1_reader_feed(reader, data + i, size - i < piece ? size - i : piece, err);
    if (status == CUZK_OK)
        status = c1_reader_finish(reader, c1, err);
    c1_reader_free(reader);
    return status;
}

static struct pool *two_threads(void)
{
    static struct pool *pool;
    if (!pool)
        pool = pool_new(2);
    CHECK(pool);
    return pool;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct c1 *whole = NULL;
    struct c1 *cut = NULL;
    struct c1 *split = NULL;
    struct cuzk_error whole_error = {0};
    struct cuzk_error cut_error = {0};
    struct cuzk_error split_error = {0};
    struct pool *pool = two_threads();
    size_t before = mem_used_bytes();
    size_t piece = size ? 1 + data[size / 2] % 97u : 1;
    enum cuzk_status status = read_c1(data, size, size + 1, &whole, &whole_error);
    CHECK(read_c1(data, size, piece, &cut, &cut_error) == status);
    CHECK(strcmp(whole_error.text, cut_error.text) == 0);
    CHECK(c1_parse_parallel(data, size, pool, &split, &split_error) == status);
    CHECK(strcmp(whole_error.text, split_error.text) == 0);
    if (status == CUZK_OK) {
        CHECK(c1_check(whole, NULL, NULL, &whole_error) == c1_check(cut, NULL, NULL, &cut_error));
        CHECK(strcmp(whole_error.text, cut_error.text) == 0);
    }
    c1_free(whole);
    c1_free(cut);
    c1_free(split);
    CHECK(mem_used_bytes() == before);
    return 0;
}
