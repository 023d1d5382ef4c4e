#include "key/vk.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/mem.h"
#include "key/params.h"

/* Offsets of part A.5. */
enum {
    AT_ALPHA_G1 = 0,
    AT_BETA_G1 = 96,
    AT_BETA_G2 = 192,
    AT_GAMMA_G2 = 384,
    AT_DELTA_G1 = 576,
    AT_DELTA_G2 = 672,
    AT_IC_COUNT = 864,
    AT_IC = 868,
};

/* The largest circuit has 25,840 inputs; a file that asks for more than this is not a key. */
#define VK_FILE_BYTES_MAX ((size_t)64 << 20)

static enum cuzk_status read_g1(struct g1_affine *out, const uint8_t *bytes, const char *name,
                                struct cuzk_error *err)
{
    if (g1_decode(out, bytes, POINT_CHECK_SUBGROUP))
        return CUZK_OK;
    return error_set(err, CUZK_BAD_PARAMS, "vk: %s is not a finite point of the G1 subgroup", name);
}

static enum cuzk_status read_g2(struct g2_affine *out, const uint8_t *bytes, const char *name,
                                struct cuzk_error *err)
{
    if (g2_decode(out, bytes, POINT_CHECK_SUBGROUP))
        return CUZK_OK;
    return error_set(err, CUZK_BAD_PARAMS, "vk: %s is not a finite point of the G2 subgroup", name);
}

static enum cuzk_status read_points(const uint8_t *bytes, struct vk *vk, struct cuzk_error *err)
{
    TRY(read_g1(&vk->alpha_g1, bytes + AT_ALPHA_G1, "alpha_g1", err));
    TRY(read_g1(&vk->beta_g1, bytes + AT_BETA_G1, "beta_g1", err));
    TRY(read_g2(&vk->beta_g2, bytes + AT_BETA_G2, "beta_g2", err));
    TRY(read_g2(&vk->gamma_g2, bytes + AT_GAMMA_G2, "gamma_g2", err));
    TRY(read_g1(&vk->delta_g1, bytes + AT_DELTA_G1, "delta_g1", err));
    TRY(read_g2(&vk->delta_g2, bytes + AT_DELTA_G2, "delta_g2", err));
    for (uint32_t i = 0; i < vk->n_ic; i++) {
        if (!g1_decode(&vk->ic[i], bytes + AT_IC + (size_t)G1_BYTES * i, POINT_CHECK_SUBGROUP))
            return error_set(err, CUZK_BAD_PARAMS,
                             "vk: ic[%u] is not a finite point of the G1 subgroup", i);
    }
    return CUZK_OK;
}

enum cuzk_status vk_parse(const uint8_t *bytes, size_t len, bool exact, struct vk *out,
                          size_t *used, struct cuzk_error *err)
{
    if (len < AT_IC)
        return error_set(err, CUZK_BAD_PARAMS, "vk: %zu bytes, expected at least %zu", len,
                         VK_BYTES(1));
    struct vk vk = {.n_ic = load_u32_be(bytes + AT_IC_COUNT)};
    size_t wanted = VK_BYTES(vk.n_ic);
    if (vk.n_ic == 0)
        return error_set(err, CUZK_BAD_PARAMS, "vk: no ic points, expected at least one");
    if (len < wanted || (exact && len > wanted))
        return error_set(err, CUZK_BAD_PARAMS, "vk: %zu bytes, expected %zu for its %u ic points",
                         len, wanted, vk.n_ic);
    vk.ic = mem_alloc(vk.n_ic, sizeof *vk.ic);
    if (!vk.ic)
        return error_set(err, CUZK_NO_MEMORY, "vk: no memory for %u ic points", vk.n_ic);
    enum cuzk_status status = read_points(bytes, &vk, err);
    if (status != CUZK_OK) {
        vk_free(&vk);
        return status;
    }
    uint8_t digest[BLAKE2B_BYTES];
    blake2b_512(bytes, wanted, digest);
    memcpy(vk.digest, digest, sizeof vk.digest);
    *out = vk;
    *used = wanted;
    return CUZK_OK;
}

enum cuzk_status vk_read(const char *path, struct vk *out, struct cuzk_error *err)
{
    if (key_path_is(path, KEY_FILE_PARAMS)) {
        struct params *params;
        TRY(params_open(path, &params, err));
        *out = params->vk;
        params->vk.ic = NULL; /* now the caller's */
        params_close(params);
        return CUZK_OK;
    }
    uint8_t *bytes;
    size_t len, used;
    enum cuzk_status status = file_read(path, VK_FILE_BYTES_MAX, &bytes, &len, err);
    if (status == CUZK_NO_MEMORY)
        return status;
    if (status != CUZK_OK) {
        if (err)
            err->status = CUZK_BAD_PARAMS;
        return CUZK_BAD_PARAMS;
    }
    status = vk_parse(bytes, len, true, out, &used, err);
    mem_free(bytes);
    if (status != CUZK_OK)
        error_prefix(err, "%s", path);
    return status;
}

void vk_free(struct vk *vk)
{
    mem_free(vk->ic);
    vk->ic = NULL;
    vk->n_ic = 0;
}

enum cuzk_status vk_match_circuit(const struct vk *vk, bool is_dev, const char *name,
                                  const struct circuit_info *circuit, struct cuzk_error *err)
{
    if (vk->n_ic != circuit->n_inputs)
        return error_set(err, CUZK_BAD_PARAMS, "%s: %u ic points, expected %u for %s", name,
                         vk->n_ic, circuit->n_inputs, circuit->id);
    char digest[2 * sizeof vk->digest + 1];
    hex_encode(vk->digest, sizeof vk->digest, digest);
    bool published = circuit->vk_digest[0] != '\0';
    bool same = strcmp(digest, circuit->vk_digest) == 0;
    if (is_dev && same)
        return error_set(err, CUZK_BAD_PARAMS,
                         "%s: the published parameters of %s, in a folder marked by %s", name,
                         circuit->id, PARAMS_DEV_MARKER);
    if (!is_dev && !published)
        return error_set(err, CUZK_BAD_PARAMS,
                         "%s: there are no published parameters of %s; development ones need a "
                         "folder marked by %s",
                         name, circuit->id, PARAMS_DEV_MARKER);
    if (!is_dev && !same)
        return error_set(err, CUZK_BAD_PARAMS,
                         "%s: vk digest %s, expected %s (published for %s); development "
                         "parameters need a folder marked by %s",
                         name, digest, circuit->vk_digest, circuit->id, PARAMS_DEV_MARKER);
    return CUZK_OK;
}
