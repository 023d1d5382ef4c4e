/* The order of jobs, the states of a job, and what a request is. */
#include "support/support.h"

#include "base/hash.h"
#include "base/mem.h"
#include "engine/job.h"
#include "engine/queue.h"
#include "engine/request.h"

#include <stdio.h>
#include <string.h>

enum { ENTRIES = 300 };

/* A small generator, so that a failure can be repeated. */
static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static bool in_order(const struct queue *queue)
{
    for (size_t i = 1; i < queue->len; i++) {
        const struct queue_entry *a = queue->entries[i - 1];
        const struct queue_entry *b = queue->entries[i];
        if (a->priority < b->priority || (a->priority == b->priority && a->age >= b->age))
            return false;
    }
    return true;
}

static void queue_is_ordered_after_any_insertions_and_removals(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 20; seed++) {
        struct queue queue = {0};
        static struct queue_entry entries[ENTRIES];
        bool inside[ENTRIES] = {false};
        size_t n = 0;
        uint32_t random = seed;
        for (unsigned step = 0; step < 2000; step++) {
            unsigned i = next_random(&random) % ENTRIES;
            if (inside[i]) {
                queue_remove(&queue, &entries[i]);
                n--;
            } else {
                entries[i] = (struct queue_entry){(int)(next_random(&random) % 4), i, NULL};
                size_t rank = queue_rank(&queue, &entries[i]);
                assert_true(queue_insert(&queue, &entries[i]));
                assert_ptr_equal(queue.entries[rank], &entries[i]);
                n++;
            }
            inside[i] = !inside[i];
            assert_int_equal(queue.len, n);
            assert_true(in_order(&queue));
        }
        queue_free(&queue);
    }
}

static void queue_survives_lack_of_memory(void **state)
{
    (void)state;
    struct queue queue = {0};
    struct queue_entry entry = {1, 1, NULL};
    mem_fail_after(0);
    assert_false(queue_insert(&queue, &entry));
    mem_fail_after(-1);
    assert_true(queue_insert(&queue, &entry));
    assert_int_equal(queue.len, 1);
    queue_free(&queue);
}

/* A job only moves forward, ends once, and a result can only expire. */
static void only_legal_steps_of_a_job_are_legal(void **state)
{
    (void)state;
    static const char *const expected[JOB_STATES] = {
        [JOB_ACCEPTED] = ".Q..."
                         "FX.",
        [JOB_QUEUED] = "..P.."
                       "FX.",
        [JOB_PARSING] = "...R."
                        "FX.",
        [JOB_RUNNING] = "....D"
                        "FX.",
        [JOB_DONE] = "......."
                     "E",
        [JOB_FAILED] = "......."
                       "E",
        [JOB_CANCELLED] = "......."
                          "E",
        [JOB_EXPIRED] = "........",
    };
    for (unsigned from = 0; from < JOB_STATES; from++)
        for (unsigned to = 0; to < JOB_STATES; to++)
            assert_int_equal(job_may_become((enum job_state)from, (enum job_state)to),
                             expected[from][to] != '.');
}

static struct cuzk_request sample(const uint8_t *const *payloads, const size_t *lens)
{
    return (struct cuzk_request){.request_id = "r",
                                 .kind = CUZK_WINDOW_POST,
                                 .sector_bytes = 2048,
                                 .payloads = payloads,
                                 .payload_lens = lens,
                                 .n_payloads = 2};
}

static void digest_of(const struct cuzk_request *from, uint8_t hash[REQUEST_HASH_BYTES])
{
    struct request *request;
    struct cuzk_error err;
    assert_ok(request_copy(from, &request, &err), err);
    memcpy(hash, request->hash, REQUEST_HASH_BYTES);
    request_release(request);
}

/* Each field and payload makes another request; the id and the priority do not. */
static void identity_is_in_every_field(void **state)
{
    (void)state;
    uint8_t field[32] = {1};
    const uint8_t *payloads[2] = {(const uint8_t *)"ab", (const uint8_t *)"c"};
    const uint8_t *shifted[2] = {(const uint8_t *)"a", (const uint8_t *)"bc"};
    const size_t lens[2] = {2, 1};
    const size_t shifted_lens[2] = {1, 2};
    struct cuzk_request variants[13];
    for (unsigned i = 0; i < 13; i++)
        variants[i] = sample(payloads, lens);
    variants[1].kind = CUZK_SNAP;
    variants[2].sector_bytes = 4096;
    variants[3].registered_proof = 1;
    variants[4].has_sector_number = true; /* sector 0 is another request than no sector */
    variants[5].has_miner_id = true;
    variants[6].partition_index = 1;
    variants[7].randomness = field;
    variants[8].comm_r_old = field;
    variants[9].comm_r_new = field;
    variants[10].comm_d_new = field;
    variants[11].n_payloads = 1;
    variants[12].payloads = shifted;
    variants[12].payload_lens = shifted_lens;
    uint8_t hashes[13][REQUEST_HASH_BYTES];
    for (unsigned i = 0; i < 13; i++) {
        digest_of(&variants[i], hashes[i]);
        for (unsigned j = 0; j < i; j++)
            assert_memory_not_equal(hashes[i], hashes[j], REQUEST_HASH_BYTES);
    }
    uint8_t same[REQUEST_HASH_BYTES];
    struct cuzk_request other = sample(payloads, lens);
    other.request_id = "another";
    other.priority = CUZK_PRIORITY_LOW;
    digest_of(&other, same);
    assert_memory_equal(same, hashes[0], REQUEST_HASH_BYTES);
}

static void a_request_comes_back_from_its_bytes(void **state)
{
    (void)state;
    uint8_t field[32] = {7};
    const uint8_t *payloads[2] = {(const uint8_t *)"ab", (const uint8_t *)"c"};
    const size_t lens[2] = {2, 1};
    struct cuzk_request from = sample(payloads, lens);
    from.has_miner_id = true;
    from.miner_id = 1000;
    from.comm_r_new = field;
    struct request *first;
    struct request *second;
    struct cuzk_error err;
    assert_ok(request_copy(&from, &first, &err), err);
    assert_int_equal(first->priority, CUZK_PRIORITY_HIGH); /* by kind */
    uint8_t *bytes = mem_memdup(first->encoded, first->encoded_len);
    assert_ok(request_decode("r", first->priority, bytes, first->encoded_len, &second, &err), err);
    assert_memory_equal(first->hash, second->hash, REQUEST_HASH_BYTES);
    assert_int_equal(second->kind, CUZK_WINDOW_POST);
    assert_true(second->has_miner_id && second->miner_id == 1000 && !second->has_sector_number);
    assert_null(second->randomness);
    assert_memory_equal(second->comm_r_new, field, 32);
    assert_int_equal(second->n_payloads, 2);
    assert_memory_equal(second->payloads[0].bytes, "ab", 2);
    request_release(second);
    /* A request that is cut anywhere is refused, and no byte beyond its end is read. */
    for (size_t len = 0; len < first->encoded_len; len++) {
        uint8_t *cut = mem_memdup(first->encoded, len);
        assert_int_not_equal(request_decode("r", 1, cut, len, &second, &err), CUZK_OK);
    }
    request_release(first);
}

static void job_ids_carry_their_number(void **state)
{
    (void)state;
    char id[CUZK_JOB_ID_BYTES];
    uint64_t number;
    request_job_id("wdpost-1000-[1 2]", UINT64_C(0xfedcba9876543210), id);
    assert_string_equal(id, "wdpost-1000-[1 2]-fedcba9876543210");
    assert_true(request_job_number(id, &number));
    assert_true(number == UINT64_C(0xfedcba9876543210));
    assert_false(request_job_number("x-123", &number));
    assert_false(request_job_number("x-000000000000000g", &number));
    assert_false(request_job_number("", &number));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue_is_ordered_after_any_insertions_and_removals),
        cmocka_unit_test(queue_survives_lack_of_memory),
        cmocka_unit_test(only_legal_steps_of_a_job_are_legal),
        cmocka_unit_test(identity_is_in_every_field),
        cmocka_unit_test(a_request_comes_back_from_its_bytes),
        cmocka_unit_test(job_ids_carry_their_number),
    };
    return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
