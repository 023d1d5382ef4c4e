#include "circuits/post.h"

#include "base/mem.h"
#include "circuits/sector.h"
#include "gadgets/merkle_batch.h"
#include "gadgets/poseidon_circuit.h"

#include <pthread.h>

enum { WINNING_SECTORS = 66, WINDOW_CHALLENGES = 10 };

static struct post_config winning[SECTOR_SIZES], window[SECTOR_SIZES];
static pthread_once_t configs_once = PTHREAD_ONCE_INIT;

static unsigned window_sectors(uint64_t sector_bytes)
{
    return sector_bytes == 32 * GIB ? 2349 : sector_bytes == 64 * GIB ? 2300 : 2;
}

static void make_configs(void)
{
    for (size_t i = 0; i < SECTOR_SIZES; i++) {
        uint64_t bytes = sector_sizes[i].bytes;
        winning[i] = (struct post_config){
            .sector_bytes = bytes,
            .sectors = WINNING_SECTORS,
            .challenges = 1,
        };
        window[i] = (struct post_config){
            .sector_bytes = bytes,
            .sectors = window_sectors(bytes),
            .challenges = WINDOW_CHALLENGES,
        };
        sector_tree_r(&winning[i].tree_r, &sector_sizes[i]);
        sector_tree_r(&window[i].tree_r, &sector_sizes[i]);
    }
}

static const struct post_config *find_config(const struct post_config *configs,
                                             uint64_t sector_bytes)
{
    if (!sector_is_sealed(sector_bytes))
        return NULL;
    for (size_t i = 0; i < SECTOR_SIZES; i++) {
        if (configs[i].sector_bytes == sector_bytes)
            return &configs[i];
    }
    return NULL;
}

const struct post_config *post_winning_config(uint64_t sector_bytes)
{
    pthread_once(&configs_once, make_configs);
    return find_config(winning, sector_bytes);
}

const struct post_config *post_window_config(uint64_t sector_bytes)
{
    pthread_once(&configs_once, make_configs);
    return find_config(window, sector_bytes);
}

static void synthesize_sector(struct cs *cs, const struct post_config *config,
                              const struct post_sector *sector, struct merkle_batch *proofs)
{
    struct num comm_r_last = num_alloc(cs, &sector->comm_r_last);
    struct num comm_c = num_alloc(cs, &sector->comm_c);
    struct num comm_r = num_alloc(cs, &sector->comm_r);
    num_inputize(cs, comm_r);
    cs_push(cs, "comm_r");
    const struct num pair[2] = {comm_c, comm_r_last};
    num_enforce_equal(cs, comm_r, poseidon_circuit(cs, POSEIDON_TREE, 2, pair));
    cs_pop(cs);
    for (unsigned i = 0; i < config->challenges; i++) {
        const struct post_challenge *challenge = &sector->challenges[i];
        struct merkle_path path = sector_path(MERKLE_POSEIDON, &config->tree_r, &challenge->path);
        struct num leaf = num_alloc(cs, &challenge->leaf);
        cs_push(cs, "challenge");
        merkle_batch_prove(proofs, &leaf, 1, &path, comm_r_last);
        cs_pop(cs);
    }
}

static void sector_part(struct cs *cs, void *context, size_t index)
{
    const struct post_partition *partition = *(const struct post_partition *const *)context;
    struct merkle_batch proofs;
    merkle_batch_start(&proofs, cs);
    cs_push(cs, "sector");
    synthesize_sector(cs, partition->config, &partition->sectors[index], &proofs);
    merkle_batch_finish(&proofs);
    cs_pop(cs);
}

void post_synthesize(struct cs *cs, const void *input)
{
    const struct post_partition *partition = input;
    cs_push(cs, "post");
    cs_parts(cs, partition->config->sectors, sector_part, &partition);
    cs_pop(cs);
}

/* A partition together with its configuration, for a configuration that is not one of the fixed
   ones. */
struct owned_partition {
    struct post_partition partition;
    struct post_config config;
};

/* Gives the first n_given slots places of their own. */
static void place_challenges(struct post_partition *partition, unsigned n_given)
{
    const struct post_config *config = partition->config;
    struct post_challenge *challenge = partition->challenges;
    struct fr *siblings = partition->siblings;
    for (unsigned i = 0; i < n_given; i++) {
        partition->sectors[i].challenges = challenge;
        for (unsigned k = 0; k < config->challenges; k++, challenge++) {
            challenge->path.siblings = siblings;
            siblings += config->tree_r.siblings;
        }
    }
}

/* Allocates the memory of a partition whose configuration is set. */
static struct post_partition *take_places(struct post_partition *partition, unsigned n_given)
{
    const struct post_config *config = partition->config;
    size_t n_challenges = (size_t)n_given * config->challenges;
    partition->sectors = mem_zalloc(config->sectors, sizeof *partition->sectors);
    partition->challenges = mem_zalloc(n_challenges, sizeof *partition->challenges);
    partition->siblings =
        mem_zalloc(n_challenges * config->tree_r.siblings, sizeof *partition->siblings);
    if (!partition->sectors || !partition->challenges || !partition->siblings) {
        post_partition_free(partition);
        return NULL;
    }
    place_challenges(partition, n_given);
    return partition;
}

struct post_partition *post_blank(const struct post_config *config, unsigned sectors)
{
    struct owned_partition *owned = mem_zalloc(1, sizeof *owned);
    if (!owned)
        return NULL;
    struct post_partition *partition = &owned->partition;
    partition->config = config;
    if (sectors != 0 && sectors != config->sectors) {
        owned->config = *config;
        owned->config.sectors = sectors;
        partition->config = &owned->config;
    }
    return take_places(partition, partition->config->sectors);
}

struct post_partition *post_blank_padded(const struct post_config *config, unsigned n_given)
{
    struct owned_partition *owned = mem_zalloc(1, sizeof *owned);
    if (!owned)
        return NULL;
    owned->partition.config = config;
    return take_places(&owned->partition, n_given);
}

void post_pad(struct post_partition *partition, unsigned n_given)
{
    for (unsigned i = n_given; i < partition->config->sectors; i++)
        partition->sectors[i] = partition->sectors[i - 1];
}

void post_partition_free(struct post_partition *partition)
{
    if (!partition)
        return;
    mem_free(partition->sectors);
    mem_free(partition->challenges);
    mem_free(partition->siblings);
    mem_free(partition);
}
