/* Any bytes as the vanilla proof of a PoSt's sector: no crash, nothing left in memory; what is
   found true is what a made-up sector says, or is at least as long as such a proof. The first byte
   chooses the kind, the form of the tree and the version of the challenges. */
#include "fuzz.h"

#include "base/check.h"
#include "base/mem.h"
#include "circuits/sector.h"
#include "vanilla/post.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t sizes[4] = {2 * KIB, 4 * KIB, 16 * KIB, 32 * KIB};
    uint8_t choice = size > 0 ? data[0] : 0;
    uint64_t bytes = sizes[choice >> 1 & 3];
    const struct post_public values = {
        .config = choice & 1 ? post_winning_config(bytes) : post_window_config(bytes),
        .winning = choice & 1,
        .api_v1_2 = choice >> 3 & 1,
    };
    const struct post_vanilla proof = {data + (size > 0), size - (size > 0)};
    struct cuzk_error err = {0};
    struct post *post = NULL;
    size_t before = mem_used_bytes();
    enum cuzk_status status = post_read(&values, &proof, 1, NULL, &post, &err);
    CHECK(status == CUZK_OK || status == CUZK_INVALID_ARGUMENT);
    CHECK((status == CUZK_OK) == (post != NULL));
    if (post) {
        CHECK(proof.len >= post_vanilla_bytes(&values));
        status = post_check(post, NULL, &err);
        CHECK(status == CUZK_OK || status == CUZK_INVALID_ARGUMENT);
    }
    CHECK((status == CUZK_OK) == (err.text[0] == '\0'));
    post_free(post);
    CHECK(mem_used_bytes() == before);
    return 0;
}
