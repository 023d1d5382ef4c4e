/* Reading and checking the output of PoRep commit phase 1, "C1" (docs/spec/circuits.md, part E.6).

   The input is JSON text from outside: the C1 itself or the wrapper around it that storage systems
   send, {"SectorNum":…,"Phase1Out":"<base64 of the C1>","SectorSize":…}. It is read in one pass, in
   pieces of any size; keys may come in any order, and unknown keys are ignored. Only what the
   circuit and the checks need is kept (32 GiB: 8 MiB of 39 to 51 MB of text, and 2 MiB more from
   the first check on).

   A struct c1 is well-formed: every count, range and field element was checked while reading. It is
   not yet true: c1_check_partition recomputes everything that the text claims about a partition,
   and only then can the partition be synthesized. Error texts name the field; "at byte N" is the
   offset right behind the offending value, in the decoded C1 text, or in the wrapper if the error
   text begins with "wrapper". */
#ifndef VANILLA_C1_H
#define VANILLA_C1_H

#include "vanilla/porep_public.h"

struct c1;
struct c1_reader;
struct pool;

/* --- Reading ---------------------------------------------------------------------------------- */

/* Returns NULL without memory. */
struct c1_reader *c1_reader_new(void);
void c1_reader_free(struct c1_reader *reader);

/* Takes the next bytes of the text. Errors: INVALID_ARGUMENT for wrong input, UNSUPPORTED for
   non-interactive PoRep, NO_MEMORY. After a failure every later call fails in the same way. */
enum cuzk_status c1_reader_feed(struct c1_reader *reader, const void *bytes, size_t len,
                                struct cuzk_error *err);

/* To be called at the end of the text. On success *out is the caller's; free it with c1_free. The
   reader can only be freed after this. */
enum cuzk_status c1_reader_finish(struct c1_reader *reader, struct c1 **out,
                                  struct cuzk_error *err);

/* Reads a text that is in memory. */
enum cuzk_status c1_parse(const void *bytes, size_t len, struct c1 **out, struct cuzk_error *err);

/* Does the same as c1_parse, with the same result, but with the partitions spread over the pool
   (NULL: the calling thread only). Each thread takes another 200 KiB meanwhile. A text with a fault
   is read twice up to the fault. */
enum cuzk_status c1_parse_parallel(const void *bytes, size_t len, struct pool *pool,
                                   struct c1 **out, struct cuzk_error *err);

void c1_free(struct c1 *c1);

/* --- Content ---------------------------------------------------------------------------------- */

/* Valid as long as the C1. */
const struct porep_public *c1_public(const struct c1 *c1);

/* --- Checking --------------------------------------------------------------------------------- */

/* What the caller knows from another source, normally from the request. */
struct c1_expect {
    uint64_t sector_bytes; /* 0: any */
    bool has_registered_proof;
    uint64_t registered_proof; /* number, see seal_proof.h */
    bool has_sector_number;
    uint64_t sector_number;
    bool has_miner_id;
    uint64_t miner_id;
};

/* Compares the C1 with expect, and recomputes replica_id if the miner and the sector number (from
   expect or the wrapper) are known. This is cheap. Error: INVALID_ARGUMENT. */
enum cuzk_status c1_check_expected(const struct c1 *c1, const struct c1_expect *expect,
                                   struct cuzk_error *err);

/* Checks a partition, < config->partitions: comm_r, then for each challenge its derivation, graph
   parents, all Merkle paths, columns, labels and encoding. Error: INVALID_ARGUMENT; the first fault
   in the order of the file is reported, with partition, challenge and part. The work is spread over
   the pool (NULL: the calling thread only). Several threads may check partitions of one C1. They
   share the hashes that were computed, which are kept as long as the C1 if there is memory for
   them. A partition that was found true is not checked again. */
enum cuzk_status c1_check_partition(struct c1 *c1, unsigned partition, struct pool *pool,
                                    struct cuzk_error *err);

/* Both checks, for all partitions; reports the first fault in the whole file. expect may be
   NULL. */
enum cuzk_status c1_check(struct c1 *c1, const struct c1_expect *expect, struct pool *pool,
                          struct cuzk_error *err);

/* The circuit's input of a partition, < config->partitions, which belongs to the C1. To be called
   only after a check, in any thread, found the partition true. Its public inputs are
   porep_inputs(c1_public(c1), partition, …). */
const struct porep_partition *c1_partition(const struct c1 *c1, unsigned partition);

#endif
