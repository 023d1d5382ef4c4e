/* cuzk/dev.h: made-up data. */
#include <cuzk/dev.h>

#include "base/error.h"
#include "base/mem.h"
#include "vanilla/made_up.h"
#include "vanilla/sparse.h"

#include <string.h>

enum cuzk_status cuzk_gen_c1(uint64_t sector_bytes, const uint8_t *seed, cuzk_write_fn *write,
                             void *context, struct cuzk_error *err)
{
    return sparse_gen_c1(sector_bytes, seed, write, context, err);
}

static enum cuzk_status check_post(enum cuzk_proof_kind kind, const struct post_public *values,
                                   unsigned n_sectors, struct cuzk_error *err)
{
    if (!values->config)
        return error_set(err, CUZK_INVALID_ARGUMENT, "no %s circuit for sectors of this size",
                         cuzk_proof_kind_name(kind));
    unsigned most = values->winning ? 1 : values->config->sectors;
    if (n_sectors == 0 || n_sectors > most)
        return error_set(err, CUZK_INVALID_ARGUMENT, "%u sectors, a %s of this size has 1 to %u",
                         n_sectors, cuzk_proof_kind_name(kind), most);
    return post_check_randomness(values->randomness, err);
}

enum cuzk_status cuzk_gen_post(enum cuzk_proof_kind kind, uint64_t sector_bytes, unsigned n_sectors,
                               const uint8_t randomness[32], cuzk_vanilla_fn *take, void *context,
                               struct cuzk_error *err)
{
    if (kind != CUZK_WINNING_POST && kind != CUZK_WINDOW_POST)
        return error_set(err, CUZK_INVALID_ARGUMENT, "%s is no PoSt", cuzk_proof_kind_name(kind));
    const bool winning = kind == CUZK_WINNING_POST;
    struct post_public values = {
        .config = winning ? post_winning_config(sector_bytes) : post_window_config(sector_bytes),
        .winning = winning,
        .api_v1_2 = !winning,
    };
    memcpy(values.randomness, randomness, sizeof values.randomness);
    TRY(check_post(kind, &values, n_sectors, err));
    const size_t len = post_vanilla_bytes(&values);
    uint8_t *bytes = mem_alloc(1, len);
    enum cuzk_status status = CUZK_OK;
    for (unsigned i = 0; i < n_sectors && status == CUZK_OK; i++) {
        if (!bytes || !made_up_post(&values, i + 1, i, bytes))
            status = error_set(err, CUZK_NO_MEMORY, "no memory for a made-up PoSt");
        else
            status = take(context, i, bytes, len, err);
    }
    mem_free(bytes);
    return status;
}

static enum cuzk_status take_partitions(const struct made_up_update *update, cuzk_vanilla_fn *take,
                                        void *context, struct cuzk_error *err)
{
    const struct update_config *config = update->values.config;
    const size_t len = update_vanilla_bytes(config);
    uint8_t *bytes = mem_alloc(1, len);
    if (!bytes)
        return error_set(err, CUZK_NO_MEMORY, "no memory for a made-up sector update");
    enum cuzk_status status = CUZK_OK;
    for (unsigned k = 0; k < config->partitions && status == CUZK_OK; k++) {
        made_up_update_partition(update, k, bytes);
        status = take(context, k, bytes, len, err);
    }
    mem_free(bytes);
    return status;
}

enum cuzk_status cuzk_gen_update(uint64_t sector_bytes, struct cuzk_gen_commitments *commitments,
                                 cuzk_vanilla_fn *take, void *context, struct cuzk_error *err)
{
    const struct update_config *config = update_config(sector_bytes, false);
    if (!config)
        return error_set(err, CUZK_INVALID_ARGUMENT, "no snap circuit for sectors of this size");
    struct made_up_update update;
    enum cuzk_status status = made_up_update_init(&update, config, err);
    if (status == CUZK_OK) {
        memcpy(commitments->comm_r_old, update.values.comm_r_old, 32);
        memcpy(commitments->comm_r_new, update.values.comm_r_new, 32);
        memcpy(commitments->comm_d_new, update.values.comm_d_new, 32);
        status = take_partitions(&update, take, context, err);
    }
    made_up_update_free(&update);
    return status;
}
