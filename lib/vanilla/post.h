/* Reading and checking the vanilla proofs of WinningPoSt and WindowPoSt (part F).

   A vanilla proof comes from outside as bincode, one for each sector. A struct post is well-formed
   (every length and field element was looked at while reading, and what a sector says twice agrees)
   but not yet true: post_check recomputes challenges and Merkle paths, and only then can it be
   synthesized. Messages name the vanilla proof by its place in the request, its sector and the
   challenge. */
#ifndef VANILLA_POST_H
#define VANILLA_POST_H

#include <cuzk/status.h>

#include "circuits/post.h"

struct pool;
struct post;

/* What a request says of a PoSt besides its vanilla proofs. */
struct post_public {
    const struct post_config *config;
    bool winning;
    bool api_v1_2;          /* see struct post_proof */
    uint32_t partition;     /* of the deadline; only API 1.0.0 looks at it */
    uint8_t randomness[32]; /* canonical: post_check_randomness */
};

/* The bytes of a vanilla proof. Those behind its end are ignored, as the reference does. */
struct post_vanilla {
    const uint8_t *bytes;
    size_t len;
};

/* CUZK_INVALID_ARGUMENT if the reference would refuse the randomness: it must be a canonical field
   element. */
enum cuzk_status post_check_randomness(const uint8_t randomness[32], struct cuzk_error *err);

/* The length of a vanilla proof without anything behind it. */
size_t post_vanilla_bytes(const struct post_public *values);

/* Are there as many vanilla proofs as the kind allows, and is each long enough? Cheap.
   CUZK_INVALID_ARGUMENT. */
enum cuzk_status post_check_sizes(const struct post_public *values,
                                  const struct post_vanilla *proofs, size_t n_proofs,
                                  struct cuzk_error *err);

/* The leaf that a sector opens for a challenge: `slot` of the partition, `n` of the sector's
   challenges. */
uint64_t post_challenge_leaf(const struct post_public *values, uint64_t sector_id, unsigned slot,
                             unsigned n);

/* Reads the vanilla proofs of one partition: of a WinningPoSt one, of a WindowPoSt 1 to
   config->sectors in the order of the partition. Reading is spread over the pool (NULL: the caller
   alone). CUZK_INVALID_ARGUMENT names what is wrong. Free with post_free. */
enum cuzk_status post_read(const struct post_public *values, const struct post_vanilla *proofs,
                           size_t n_proofs, struct pool *pool, struct post **out,
                           struct cuzk_error *err);
void post_free(struct post *post);

/* Recomputes everything that the vanilla proofs claim: comm_r, the challenged leaves, all paths.
   The first fault in the order of the sectors is reported (CUZK_INVALID_ARGUMENT). Not again once
   it found all true. */
enum cuzk_status post_check(struct post *post, struct pool *pool, struct cuzk_error *err);

/* The circuit's input; belongs to the PoSt. Only after post_check found it true. */
const struct post_partition *post_checked(const struct post *post);

/* Number of inputs without the constant 1, and the inputs. */
size_t post_inputs_count(const struct post_config *config);
void post_inputs(const struct post *post, struct fr *inputs);

#endif
