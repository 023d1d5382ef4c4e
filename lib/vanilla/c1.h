/* Reading and checking the output of PoRep commit phase 1, "C1" (docs/spec/circuits.md, part E.6).

   The input is JSON text from outside: the C1 itself or the wrapper around it that storage systems
   send, {"SectorNum":…,"Phase1Out":"<base64 of the C1>","SectorSize":…}. It is read in one pass, in
   pieces of any size, keys in any order, unknown keys ignored. Only what the circuit and the checks
   need is kept (32 GiB: 8 MiB of 39 to 51 MB of text).

   A struct c1 is well-formed (every count, range and field element was looked at while reading)
   but not yet true: c1_check_partition recomputes everything that the text claims about a
   partition, and only then can it be synthesized. Error texts name the field; "at byte N" is the
   offset right behind the offending value, in the decoded C1 text, or in the wrapper when the text
   begins with "wrapper".
 */
#ifndef VANILLA_C1_H
#define VANILLA_C1_H

#include "vanilla/porep_public.h"

struct c1;
struct c1_reader;
struct pool;

/* --- Reading ---------------------------------------------------------------------------------- */

/* NULL without memory. */
struct c1_reader *c1_reader_new(void);
void c1_reader_free(struct c1_reader *reader);

/* Takes the next bytes of the text. CUZK_INVALID_ARGUMENT for wrong input, CUZK_UNSUPPORTED for
   non-interactive PoRep, CUZK_NO_MEMORY. After a failure every later call fails in the same way. */
enum cuzk_status c1_reader_feed(struct c1_reader *reader, const void *bytes, size_t len,
                                struct cuzk_error *err);

/* The text is over. On success *out is the caller's; free it with c1_free. The reader can only be
   freed after this. */
enum cuzk_status c1_reader_finish(struct c1_reader *reader, struct c1 **out,
                                  struct cuzk_error *err);

/* The three above at once, for a text that is in memory. */
enum cuzk_status c1_parse(const void *bytes, size_t len, struct c1 **out, struct cuzk_error *err);

/* The same C1, or the same failure, with the partitions spread over the pool (NULL: the caller
   alone): each thread takes another 200 KiB meanwhile. A text with a fault is read twice up to it.
 */
enum cuzk_status c1_parse_parallel(const void *bytes, size_t len, struct pool *pool,
                                   struct c1 **out, struct cuzk_error *err);

void c1_free(struct c1 *c1);

/* --- What it says ----------------------------------------------------------------------------- */

/* Valid as long as the C1. */
const struct porep_public *c1_public(const struct c1 *c1);

/* The wrapper's SectorNum; false if there was no wrapper. */
bool c1_sector_number(const struct c1 *c1, uint64_t *sector_number);

/* Memory that it holds; from the first check on that is 2 MB more for 32 GiB. */
size_t c1_bytes(const struct c1 *c1);

/* --- Checking --------------------------------------------------------------------------------- */

/* What the caller knows from elsewhere, normally from the request. */
struct c1_expect {
    uint64_t sector_bytes; /* 0: any */
    bool has_registered_proof;
    uint64_t registered_proof; /* number, see seal_proof.h */
    bool has_sector_number;
    uint64_t sector_number;
    bool has_miner_id;
    uint64_t miner_id;
};

/* Agreement with expect; replica_id, if miner and sector number (from expect or the wrapper) are
   known. Cheap. CUZK_INVALID_ARGUMENT. */
enum cuzk_status c1_check_expected(const struct c1 *c1, const struct c1_expect *expect,
                                   struct cuzk_error *err);

/* A partition, < config->partitions: comm_r, then for each challenge its derivation, graph parents,
   all Merkle paths, columns, labels and encoding. The first fault in the order of the file is
   reported, with partition, challenge and part (CUZK_INVALID_ARGUMENT). Work is spread over the
   pool (NULL: the caller alone). Several threads may check partitions of one C1: they share the
   hashes that were computed, which are kept as long as the C1 where there is memory for them. A
   partition that was found true is not looked at again. */
enum cuzk_status c1_check_partition(struct c1 *c1, unsigned partition, struct pool *pool,
                                    struct cuzk_error *err);

/* The two above, for all partitions: the first fault in the whole file. expect may be NULL. */
enum cuzk_status c1_check(struct c1 *c1, const struct c1_expect *expect, struct pool *pool,
                          struct cuzk_error *err);

/* A partition's input of the circuit, partition < config->partitions; belongs to the C1. Only after
   a check found the partition true, in whatever thread. Its public inputs:
   porep_inputs(c1_public(c1), partition, …). */
const struct porep_partition *c1_partition(const struct c1 *c1, unsigned partition);

#endif
