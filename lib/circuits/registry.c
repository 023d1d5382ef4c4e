#include "circuits/registry.h"

#include "base/error.h"
#include "circuits/porep.h"
#include "circuits/post.h"
#include "circuits/sector.h"
#include "circuits/update.h"

/* The parameter files that are published, and those of small sizes that follow the same rule
   (docs/spec/parameters.md, parts H and I.2). */
static const struct circuit_info circuits[] = {
    {"porep-2k", CUZK_POREP, 2 * KIB, "2KiB", 1, 40, 1114707768,
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
     "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f",
     "434fb1338ecfaf0f59256f30dde4968f", "dc1ade9929ade1708238f155343044ac"},
    {"porep-4k", CUZK_POREP, 4 * KIB, "4KiB", 1, 40, 1142600952,
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-2-0-sha256_hasher-"
     "71fadf776fff80d5977d027cdf5b4af941c75de6aafee6530ff15997f7173b9b",
     "", ""},
    {"porep-16k", CUZK_POREP, 16 * KIB, "16KiB", 1, 40, 1193287800,
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0-sha256_hasher-"
     "5d6414be6742cfc2d41b04c9f12eacd8f78775cf01c1f5cdcf5b370808fe5b74",
     "", ""},
    {"porep-32k", CUZK_POREP, 32 * KIB, "32KiB", 1, 40, 1221180984,
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-2-sha256_hasher-"
     "2a21b24b412f71b8441648d2cd849229afd278d96964baf1a0f2712f4afbadfd",
     "", ""},
    {"porep-8m", CUZK_POREP, 8 * MIB, "8MiB", 1, 40, 1429027896,
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
     "ecd683648512ab1765faa2a5f14bab48f676e633467f0aa8aad4b55dcb0652bb",
     "09e612e4eeb7a0eb95679a88404f960c", "b687beb9adbd9dabe265a7e3620813e4"},
    {"porep-16m", CUZK_POREP, 16 * MIB, "16MiB", 1, 40, 1456921080,
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-2-0-sha256_hasher-"
     "86c715b389cbfdcb1c84b73e4bf276474652288a6aefcaa9f9600c21b0cff44e",
     "", ""},
    {"porep-512m", CUZK_POREP, 512 * MIB, "512MiB", 1, 40, 1988841144,
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
     "6babf46ce344ae495d558e7770a585b2382d54f225af8ed0397b8be7c3fcd472",
     "6c77597eb91ab936c1cef4cf19eba1b3", "065179da19fbe515507267677f02823e"},
    {"porep-1g", CUZK_POREP, 1 * GIB, "1GiB", 1, 40, 2016734328,
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-2-0-sha256_hasher-"
     "002b03e3cbccd5d23c5f673a39ec4127ae31a1820be2faa32f72fdc75cf262c2",
     "", ""},
    {"porep-32g", CUZK_POREP, 32 * GIB, "32GiB", 10, 328, 47373928632,
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0-sha256_hasher-"
     "82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820",
     "6a388072a518cf46ebd661f5cc46900a", "0c7b4aac1c40fdb7eb82bc355b41addf"},
    {"porep-64g", CUZK_POREP, 64 * GIB, "64GiB", 10, 328, 47624967288,
     "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-2-sha256_hasher-"
     "96f1b4a04c5c51e4759bbf224bbc2ef5a42c7100f16ec0637123f16a845ddfb2",
     "1801f8a6e1b00bceb00cc27314bb5ce3", "a89884252c04c298d0b3c81bfd884164"},
    {"winning-2k", CUZK_WINNING_POST, 2 * KIB, "2KiB", 1, 133, 47299128,
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "3ea05428c9d11689f23529cde32fd30aabd50f7d2c93657c1d3650bca3e8ea9e",
     "82c88066be968bb550a05e30ff6c2413", "ffd79788d614d27919ae5bd2d94eacb6"},
    {"winning-4k", CUZK_WINNING_POST, 4 * KIB, "4KiB", 1, 133, 55263480,
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-2-0-"
     "1b919095872c3abb6e84fb6060425159f5ddd55c982df1853100e66919c70d34",
     "", ""},
    {"winning-16k", CUZK_WINNING_POST, 16 * KIB, "16KiB", 1, 133, 60674424,
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-"
     "fb97aa10509b0b9a3663c412f4362c4899d88bc4fcd680ab5898a4b5c594c9ca",
     "", ""},
    {"winning-32k", CUZK_WINNING_POST, 32 * KIB, "32KiB", 1, 133, 81221688,
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-"
     "46ced5cb1fda8c92490b22b2af7bd1adedace49a0a40539f96bea1082b740ebc",
     "", ""},
    {"winning-8m", CUZK_WINNING_POST, 8 * MIB, "8MiB", 1, 133, 113383224,
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "50c7368dea9593ed0989e70974d28024efa9d156d585b7eea1be22b2e753f331",
     "700171ecf7334e3199437c930676af82", "79ebb55f56fda427743e35053edad8fc"},
    {"winning-16m", CUZK_WINNING_POST, 16 * MIB, "16MiB", 1, 133, 121347576,
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-2-0-"
     "6f17428086c4e8ebe4fe3cb08be628669bf3e16652c22a78e1fa53e9e83feaf4",
     "", ""},
    {"winning-512m", CUZK_WINNING_POST, 512 * MIB, "512MiB", 1, 133, 165299640,
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "7d739b8cf60f1b0709eeebee7730e297683552e4b69cab6984ec0285663c5781",
     "827359440349fe8f5a016e7598993b79", "bd2cd62f65c1ab84f19ca27e97b7c731"},
    {"winning-1g", CUZK_WINNING_POST, 1 * GIB, "1GiB", 1, 133, 173263992,
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-2-0-"
     "bbd6dae94a7b8b69d4d020e0562f8640033a09b4a500ad3ab68f696fcf521519",
     "", ""},
    {"winning-32g", CUZK_WINNING_POST, 32 * GIB, "32GiB", 1, 133, 192050232,
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-"
     "559e581f022bb4e4ec6e719e563bf0e026ad6de42e56c18714a2c692b1b88d7e",
     "d84f79a16fe40e9e25a36e2107bb1ba0", "fc02943678dd119e69e7fab8420e8819"},
    {"winning-64g", CUZK_WINNING_POST, 64 * GIB, "64GiB", 1, 133, 200014584,
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-"
     "b62098629d07946e9028127e70295ed996fe3ed25b0f9f88eb610a0ab4385a3c",
     "2170a91ad5bae22ea61f2ea766630322", "6d3789148fb6466d07ee1e24d6292fd6"},
    {"wpost-2k", CUZK_WINDOW_POST, 2 * KIB, "2KiB", 1, 23, 11501496,
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0",
     "7610b9f82bfc88405b7a832b651ce2f6", "0e0958009936b9d5e515ec97b8cb792d"},
    {"wpost-4k", CUZK_WINDOW_POST, 4 * KIB, "4KiB", 1, 23, 13914936,
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-2-0-"
     "cc42931263e38853659466f248a6d623b702bf9ec49f687b2a931cef727c1069",
     "", ""},
    {"wpost-16k", CUZK_WINDOW_POST, 16 * KIB, "16KiB", 1, 23, 15554616,
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-"
     "457fef4290dae6633b426166ae92f2e7732fe528b75fec3226dc479ce7c95662",
     "", ""},
    {"wpost-32k", CUZK_WINDOW_POST, 32 * KIB, "32KiB", 1, 23, 21113784,
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-"
     "0f2270b825bd80be1b341ad648b96c9cbf744a38c50921dc734e4a251a48447b",
     "", ""},
    {"wpost-8m", CUZK_WINDOW_POST, 8 * MIB, "8MiB", 1, 23, 30859704,
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "5294475db5237a2e83c3e52fd6c2b03859a1831d45ed08c4f35dbf9a803165a9",
     "c49499bb76a0762884896f9683403f55", "34d4feeacd9abf788d69ef1bb4d8fd00"},
    {"wpost-16m", CUZK_WINDOW_POST, 16 * MIB, "16MiB", 1, 23, 39564600,
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-2-0-"
     "8feba84565cc48dcdb48c9b2957754a8b91e1bfa1fc1348791d1a3fda9b5ea09",
     "", ""},
    {"wpost-512m", CUZK_WINDOW_POST, 512 * MIB, "512MiB", 1, 23, 45257400,
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
     "0cfb4f178bbb71cf2ecfcd42accce558b27199ab4fb59cb78f2483fe21ef36d9",
     "1a7d4a9c8a502a497ed92a54366af33f", "4dae975de4f011f101f5a2f86d1daaba"},
    {"wpost-1g", CUZK_WINDOW_POST, 1 * GIB, "1GiB", 1, 23, 47670840,
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-2-0-"
     "f3aab9038a63efce6e3dc362dc6a7f7a01f078100441320740f23d626e3dd4cb",
     "", ""},
    {"wpost-32g", CUZK_WINDOW_POST, 32 * GIB, "32GiB", 1, 25840, 60780374232,
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-"
     "0377ded656c6f524f1618760bffe4e0a1c51d5a70c4509eedae8a27555733edc",
     "2cf49eb26f1fee94c85781a390ddb4c8", "0f8ec542485568fa3468c066e9fed82b"},
    {"wpost-64g", CUZK_WINDOW_POST, 64 * GIB, "64GiB", 1, 25301, 62556733560,
     "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-"
     "2627e4006b67f99cef990c0a47d5426cb7ab0a0ad58fc1061547bf2d28b09def",
     "3810b7780ac0e299b22ae70f1f94c9bc", "59d2bf1857adc59a4f08fcf2afaa916b"},
    {"snap-2k", CUZK_SNAP, 2 * KIB, "2KiB", 1, 5, 655789464,
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-"
     "fb9e095bebdd77511c0269b967b4d87ba8b8a525edaa0e165de23ba454510194",
     "311f92a3e75036ced01b1c0025f1fa0c", "eadad9784969890d30f2749708c79771"},
    {"snap-4k", CUZK_SNAP, 4 * KIB, "4KiB", 1, 5, 979673496,
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-2-0-"
     "86f9265ed999ecebd51ecb470f0ad59033c2f67efc0179811f60a8561bbf2fb7",
     "", ""},
    {"snap-16k", CUZK_SNAP, 16 * KIB, "16KiB", 2, 5, 2477541240,
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-0-"
     "6c63c2c7caaffe0f5b745c60dfe539d35860b620686b52e138fb373ed5b68004",
     "", ""},
    {"snap-32k", CUZK_SNAP, 32 * KIB, "32KiB", 2, 5, 2600098680,
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-2-"
     "ac7ca4f57f12169edc7e40c5d842c15dc47662228f2c245c97d1ca4dffca0bdd",
     "", ""},
    {"snap-8m", CUZK_SNAP, 8 * MIB, "8MiB", 4, 5, 4268165208,
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-"
     "92180959e1918d26350b8e6cfe217bbdd0a2d8de51ebec269078b364b715ad63",
     "5aedd2cf3e5c0a15623d56a1b43110ad", "abd80269054d391a734febdac0d2e687"},
    {"snap-16m", CUZK_SNAP, 16 * MIB, "16MiB", 4, 5, 4390722648,
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-2-0-"
     "05c0e7da0d0341a1e5cb5ed6f34be85cc401bb05d23c10b207bae063b4aab9e3",
     "", ""},
    {"snap-512m", CUZK_SNAP, 512 * MIB, "512MiB", 16, 5, 21741422712,
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-"
     "61fa69f38b9cc771ba27b670124714b4ea77fbeae05e377fb859c4a43b73a30c",
     "c3ad7bb549470b82ad52ed070aebb4f4", "994c5b7d450ca9da348c910689f2dc7f"},
    {"snap-32g", CUZK_SNAP, 32 * GIB, "32GiB", 16, 5, 34453501368,
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-0-"
     "3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18",
     "1b3cfd761a961543f9eb273e435a06a2", "3a6941983754737fde880d29c7094905"},
    {"snap-64g", CUZK_SNAP, 64 * GIB, "64GiB", 16, 5, 35507495352,
     "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-2-"
     "102e1444a7e9a97ebf1e3d6855dcc77e66c011ea66f936d9b2c508f87f2f83a7",
     "1a392e7b759fb18e036c7559b5ece816", "80e366df2f1011953c2d01c7b7c9ee8e"},
};

enum { CIRCUITS = sizeof circuits / sizeof circuits[0] };

/* By circuit_add. */
static const struct circuit_info *added;
static const struct circuit_program *added_blank;

void circuit_add(const struct circuit_info *circuit, const struct circuit_program *blank)
{
    added = circuit;
    added_blank = blank;
}

size_t circuit_count(void)
{
    return CIRCUITS + (added != NULL);
}

const struct circuit_info *circuit_at(size_t index)
{
    if (index == CIRCUITS)
        return added;
    return index < CIRCUITS ? &circuits[index] : NULL;
}

const struct circuit_info *circuit_find(enum cuzk_proof_kind kind, uint64_t sector_bytes)
{
    for (size_t i = 0; i < circuit_count(); i++) {
        const struct circuit_info *circuit = circuit_at(i);
        if (circuit->kind == kind && circuit->sector_bytes == sector_bytes)
            return circuit;
    }
    return NULL;
}

const struct circuit_info *circuit_by_id(const char *id)
{
    for (size_t i = 0; i < circuit_count(); i++) {
        if (strcmp(circuit_at(i)->id, id) == 0)
            return circuit_at(i);
    }
    return NULL;
}

static enum cuzk_status record(const struct circuit_info *circuit,
                               void (*synthesize)(struct cs *cs, const void *input),
                               const void *blank, struct shape **out, struct cuzk_error *err)
{
    if (!blank)
        return error_set(err, CUZK_NO_MEMORY, "shape of %s: no memory", circuit->id);
    struct circuit_program program = {synthesize, blank};
    if (shape_record(&program, out, err) != CUZK_OK)
        return error_prefix(err, "shape of %s", circuit->id);
    return CUZK_OK;
}

enum cuzk_status circuit_shape(const struct circuit_info *circuit, struct shape **out,
                               struct cuzk_error *err)
{
    uint64_t bytes = circuit->sector_bytes;
    enum cuzk_status status;
    if (circuit == added) {
        status = record(circuit, added_blank->synthesize, added_blank->input, out, err);
    } else if (circuit->kind == CUZK_POREP) {
        struct porep_partition *blank = porep_blank(porep_config(bytes), 0);
        status = record(circuit, porep_synthesize, blank, out, err);
        porep_partition_free(blank);
    } else if (circuit->kind == CUZK_SNAP) {
        struct update_partition *blank = update_blank(update_config(bytes, false));
        status = record(circuit, update_synthesize, blank, out, err);
        update_partition_free(blank);
    } else {
        bool winning = circuit->kind == CUZK_WINNING_POST;
        struct post_partition *blank =
            post_blank(winning ? post_winning_config(bytes) : post_window_config(bytes), 0);
        status = record(circuit, post_synthesize, blank, out, err);
        post_partition_free(blank);
    }
    return status;
}
