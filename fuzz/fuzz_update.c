/* Any bytes as the vanilla proof of a sector update's partition: no crash, nothing left in memory.
   The first byte chooses the form of the tree; then come the three commitments. */
#include "fuzz.h"

#include "base/check.h"
#include "base/mem.h"
#include "circuits/sector.h"
#include "vanilla/update.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t sizes[4] = {2 * KIB, 4 * KIB, 8 * KIB, 1 * KIB};
    struct update_public values = {.config =
                                       update_config(sizes[size > 0 ? data[0] & 3 : 0], false)};
    if (size < 97)
        return 0;
    memcpy(values.comm_r_old, data + 1, 32);
    memcpy(values.comm_r_new, data + 33, 32);
    memcpy(values.comm_d_new, data + 65, 32);
    const struct update_vanilla proof = {data + 97, size - 97};
    struct cuzk_error err = {0};
    struct update *update = NULL;
    size_t before = mem_used_bytes();
    enum cuzk_status status = update_read(&values, &proof, 1, NULL, &update, &err);
    CHECK(status == CUZK_OK || status == CUZK_INVALID_ARGUMENT);
    CHECK((status == CUZK_OK) == (update != NULL));
    if (update) {
        status = update_check_partition(update, 0, NULL, &err);
        CHECK(status == CUZK_OK || status == CUZK_INVALID_ARGUMENT);
    }
    CHECK((status == CUZK_OK) == (err.text[0] == '\0'));
    update_free(update);
    CHECK(mem_used_bytes() == before);
    return 0;
}
