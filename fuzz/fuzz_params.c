/* Any bytes as a .params file and as a .vk file, which are opened, checked and digested. */
#include "fuzz.h"

#include "base/check.h"
#include "key/params.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static void try_file(const char *path, size_t size)
{
    struct params *params;
    struct cuzk_error err;
    uint8_t digest[16];
    enum cuzk_status status = params_open(path, &params, &err);
    CHECK(status == CUZK_OK || status == CUZK_BAD_PARAMS);
    if (status != CUZK_OK)
        return;
    size_t bytes = VK_BYTES(params->vk.n_ic);
    for (enum key_vector which = KEY_H; which < KEY_VECTORS; which++)
        bytes += 4 + params->key.v[which].n * (size_t)(which == KEY_B_G2 ? G2_BYTES : G1_BYTES);
    CHECK(bytes == params->bytes && bytes <= size);
    status = params_check_points(params, POINT_CHECK_SUBGROUP, NULL, &err);
    CHECK(status == CUZK_OK || status == CUZK_BAD_PARAMS);
    CHECK(params_digest(params, digest, &err) == CUZK_OK);
    params_close(params);
}

static void try_vk(const uint8_t *data, size_t size)
{
    struct vk vk;
    struct cuzk_error err;
    size_t used;
    enum cuzk_status status = vk_parse(data, size, true, &vk, &used, &err);
    CHECK(status == CUZK_OK || status == CUZK_BAD_PARAMS);
    if (status == CUZK_OK) {
        CHECK(used == size && size == VK_BYTES(vk.n_ic));
        vk_free(&vk);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = memfd_create("params", MFD_CLOEXEC);
    CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    try_file(path, size);
    close(fd);
    try_vk(data, size);
    return 0;
}
