#include "circuits/registry.h"

#include "base/error.h"
#include "circuits/porep.h"
#include "circuits/post.h"
#include "circuits/sector.h"
#include "circuits/update.h"

/* The published parameter files, and those of small sizes that follow the same rule
   (docs/spec/parameters.md, parts H and I.2). */
static const struct circuit_info circuits[] = {
    {
        .id = "porep-2k",
        .kind = PROOF_KIND_POREP,
        .sector_bytes = 2 * KIB,
        .size_text = "2KiB",
        .partitions = 1,
        .n_inputs = 40,
        .params_bytes = 1114707768,
        .params_name =
            "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
            "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f",
        .params_digest = "434fb1338ecfaf0f59256f30dde4968f",
        .vk_digest = "dc1ade9929ade1708238f155343044ac",
    },
    {
        .id = "porep-4k",
        .kind = PROOF_KIND_POREP,
        .sector_bytes = 4 * KIB,
        .size_text = "4KiB",
        .partitions = 1,
        .n_inputs = 40,
        .params_bytes = 1142600952,
        .params_name =
            "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-2-0-sha256_hasher-"
            "71fadf776fff80d5977d027cdf5b4af941c75de6aafee6530ff15997f7173b9b",
        .params_digest = "",
        .vk_digest = "",
    },
    {
        .id = "porep-16k",
        .kind = PROOF_KIND_POREP,
        .sector_bytes = 16 * KIB,
        .size_text = "16KiB",
        .partitions = 1,
        .n_inputs = 40,
        .params_bytes = 1193287800,
        .params_name =
            "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0-sha256_hasher-"
            "5d6414be6742cfc2d41b04c9f12eacd8f78775cf01c1f5cdcf5b370808fe5b74",
        .params_digest = "",
        .vk_digest = "",
    },
    {
        .id = "porep-32k",
        .kind = PROOF_KIND_POREP,
        .sector_bytes = 32 * KIB,
        .size_text = "32KiB",
        .partitions = 1,
        .n_inputs = 40,
        .params_bytes = 1221180984,
        .params_name =
            "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-2-sha256_hasher-"
            "2a21b24b412f71b8441648d2cd849229afd278d96964baf1a0f2712f4afbadfd",
        .params_digest = "",
        .vk_digest = "",
    },
    {
        .id = "porep-8m",
        .kind = PROOF_KIND_POREP,
        .sector_bytes = 8 * MIB,
        .size_text = "8MiB",
        .partitions = 1,
        .n_inputs = 40,
        .params_bytes = 1429027896,
        .params_name =
            "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
            "ecd683648512ab1765faa2a5f14bab48f676e633467f0aa8aad4b55dcb0652bb",
        .params_digest = "09e612e4eeb7a0eb95679a88404f960c",
        .vk_digest = "b687beb9adbd9dabe265a7e3620813e4",
    },
    {
        .id = "porep-16m",
        .kind = PROOF_KIND_POREP,
        .sector_bytes = 16 * MIB,
        .size_text = "16MiB",
        .partitions = 1,
        .n_inputs = 40,
        .params_bytes = 1456921080,
        .params_name =
            "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-2-0-sha256_hasher-"
            "86c715b389cbfdcb1c84b73e4bf276474652288a6aefcaa9f9600c21b0cff44e",
        .params_digest = "",
        .vk_digest = "",
    },
    {
        .id = "porep-512m",
        .kind = PROOF_KIND_POREP,
        .sector_bytes = 512 * MIB,
        .size_text = "512MiB",
        .partitions = 1,
        .n_inputs = 40,
        .params_bytes = 1988841144,
        .params_name =
            "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
            "6babf46ce344ae495d558e7770a585b2382d54f225af8ed0397b8be7c3fcd472",
        .params_digest = "6c77597eb91ab936c1cef4cf19eba1b3",
        .vk_digest = "065179da19fbe515507267677f02823e",
    },
    {
        .id = "porep-1g",
        .kind = PROOF_KIND_POREP,
        .sector_bytes = 1 * GIB,
        .size_text = "1GiB",
        .partitions = 1,
        .n_inputs = 40,
        .params_bytes = 2016734328,
        .params_name =
            "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-2-0-sha256_hasher-"
            "002b03e3cbccd5d23c5f673a39ec4127ae31a1820be2faa32f72fdc75cf262c2",
        .params_digest = "",
        .vk_digest = "",
    },
    {
        .id = "porep-32g",
        .kind = PROOF_KIND_POREP,
        .sector_bytes = 32 * GIB,
        .size_text = "32GiB",
        .partitions = 10,
        .n_inputs = 328,
        .params_bytes = 47373928632,
        .params_name =
            "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0-sha256_hasher-"
            "82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820",
        .params_digest = "6a388072a518cf46ebd661f5cc46900a",
        .vk_digest = "0c7b4aac1c40fdb7eb82bc355b41addf",
    },
    {
        .id = "porep-64g",
        .kind = PROOF_KIND_POREP,
        .sector_bytes = 64 * GIB,
        .size_text = "64GiB",
        .partitions = 10,
        .n_inputs = 328,
        .params_bytes = 47624967288,
        .params_name =
            "v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-2-sha256_hasher-"
            "96f1b4a04c5c51e4759bbf224bbc2ef5a42c7100f16ec0637123f16a845ddfb2",
        .params_digest = "1801f8a6e1b00bceb00cc27314bb5ce3",
        .vk_digest = "a89884252c04c298d0b3c81bfd884164",
    },
    {
        .id = "winning-2k",
        .kind = PROOF_KIND_WINNING,
        .sector_bytes = 2 * KIB,
        .size_text = "2KiB",
        .partitions = 1,
        .n_inputs = 133,
        .params_bytes = 47299128,
        .params_name = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
                       "3ea05428c9d11689f23529cde32fd30aabd50f7d2c93657c1d3650bca3e8ea9e",
        .params_digest = "82c88066be968bb550a05e30ff6c2413",
        .vk_digest = "ffd79788d614d27919ae5bd2d94eacb6",
    },
    {
        .id = "winning-4k",
        .kind = PROOF_KIND_WINNING,
        .sector_bytes = 4 * KIB,
        .size_text = "4KiB",
        .partitions = 1,
        .n_inputs = 133,
        .params_bytes = 55263480,
        .params_name = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-2-0-"
                       "1b919095872c3abb6e84fb6060425159f5ddd55c982df1853100e66919c70d34",
        .params_digest = "",
        .vk_digest = "",
    },
    {
        .id = "winning-16k",
        .kind = PROOF_KIND_WINNING,
        .sector_bytes = 16 * KIB,
        .size_text = "16KiB",
        .partitions = 1,
        .n_inputs = 133,
        .params_bytes = 60674424,
        .params_name = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-"
                       "fb97aa10509b0b9a3663c412f4362c4899d88bc4fcd680ab5898a4b5c594c9ca",
        .params_digest = "",
        .vk_digest = "",
    },
    {
        .id = "winning-32k",
        .kind = PROOF_KIND_WINNING,
        .sector_bytes = 32 * KIB,
        .size_text = "32KiB",
        .partitions = 1,
        .n_inputs = 133,
        .params_bytes = 81221688,
        .params_name = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-"
                       "46ced5cb1fda8c92490b22b2af7bd1adedace49a0a40539f96bea1082b740ebc",
        .params_digest = "",
        .vk_digest = "",
    },
    {
        .id = "winning-8m",
        .kind = PROOF_KIND_WINNING,
        .sector_bytes = 8 * MIB,
        .size_text = "8MiB",
        .partitions = 1,
        .n_inputs = 133,
        .params_bytes = 113383224,
        .params_name = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
                       "50c7368dea9593ed0989e70974d28024efa9d156d585b7eea1be22b2e753f331",
        .params_digest = "700171ecf7334e3199437c930676af82",
        .vk_digest = "79ebb55f56fda427743e35053edad8fc",
    },
    {
        .id = "winning-16m",
        .kind = PROOF_KIND_WINNING,
        .sector_bytes = 16 * MIB,
        .size_text = "16MiB",
        .partitions = 1,
        .n_inputs = 133,
        .params_bytes = 121347576,
        .params_name = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-2-0-"
                       "6f17428086c4e8ebe4fe3cb08be628669bf3e16652c22a78e1fa53e9e83feaf4",
        .params_digest = "",
        .vk_digest = "",
    },
    {
        .id = "winning-512m",
        .kind = PROOF_KIND_WINNING,
        .sector_bytes = 512 * MIB,
        .size_text = "512MiB",
        .partitions = 1,
        .n_inputs = 133,
        .params_bytes = 165299640,
        .params_name = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
                       "7d739b8cf60f1b0709eeebee7730e297683552e4b69cab6984ec0285663c5781",
        .params_digest = "827359440349fe8f5a016e7598993b79",
        .vk_digest = "bd2cd62f65c1ab84f19ca27e97b7c731",
    },
    {
        .id = "winning-1g",
        .kind = PROOF_KIND_WINNING,
        .sector_bytes = 1 * GIB,
        .size_text = "1GiB",
        .partitions = 1,
        .n_inputs = 133,
        .params_bytes = 173263992,
        .params_name = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-2-0-"
                       "bbd6dae94a7b8b69d4d020e0562f8640033a09b4a500ad3ab68f696fcf521519",
        .params_digest = "",
        .vk_digest = "",
    },
    {
        .id = "winning-32g",
        .kind = PROOF_KIND_WINNING,
        .sector_bytes = 32 * GIB,
        .size_text = "32GiB",
        .partitions = 1,
        .n_inputs = 133,
        .params_bytes = 192050232,
        .params_name = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-"
                       "559e581f022bb4e4ec6e719e563bf0e026ad6de42e56c18714a2c692b1b88d7e",
        .params_digest = "d84f79a16fe40e9e25a36e2107bb1ba0",
        .vk_digest = "fc02943678dd119e69e7fab8420e8819",
    },
    {
        .id = "winning-64g",
        .kind = PROOF_KIND_WINNING,
        .sector_bytes = 64 * GIB,
        .size_text = "64GiB",
        .partitions = 1,
        .n_inputs = 133,
        .params_bytes = 200014584,
        .params_name = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-"
                       "b62098629d07946e9028127e70295ed996fe3ed25b0f9f88eb610a0ab4385a3c",
        .params_digest = "2170a91ad5bae22ea61f2ea766630322",
        .vk_digest = "6d3789148fb6466d07ee1e24d6292fd6",
    },
    {
        .id = "wpost-2k",
        .kind = PROOF_KIND_WINDOW,
        .sector_bytes = 2 * KIB,
        .size_text = "2KiB",
        .partitions = 1,
        .n_inputs = 23,
        .params_bytes = 11501496,
        .params_name = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
                       "0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0",
        .params_digest = "7610b9f82bfc88405b7a832b651ce2f6",
        .vk_digest = "0e0958009936b9d5e515ec97b8cb792d",
    },
    {
        .id = "wpost-4k",
        .kind = PROOF_KIND_WINDOW,
        .sector_bytes = 4 * KIB,
        .size_text = "4KiB",
        .partitions = 1,
        .n_inputs = 23,
        .params_bytes = 13914936,
        .params_name = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-2-0-"
                       "cc42931263e38853659466f248a6d623b702bf9ec49f687b2a931cef727c1069",
        .params_digest = "",
        .vk_digest = "",
    },
    {
        .id = "wpost-16k",
        .kind = PROOF_KIND_WINDOW,
        .sector_bytes = 16 * KIB,
        .size_text = "16KiB",
        .partitions = 1,
        .n_inputs = 23,
        .params_bytes = 15554616,
        .params_name = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-"
                       "457fef4290dae6633b426166ae92f2e7732fe528b75fec3226dc479ce7c95662",
        .params_digest = "",
        .vk_digest = "",
    },
    {
        .id = "wpost-32k",
        .kind = PROOF_KIND_WINDOW,
        .sector_bytes = 32 * KIB,
        .size_text = "32KiB",
        .partitions = 1,
        .n_inputs = 23,
        .params_bytes = 21113784,
        .params_name = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-"
                       "0f2270b825bd80be1b341ad648b96c9cbf744a38c50921dc734e4a251a48447b",
        .params_digest = "",
        .vk_digest = "",
    },
    {
        .id = "wpost-8m",
        .kind = PROOF_KIND_WINDOW,
        .sector_bytes = 8 * MIB,
        .size_text = "8MiB",
        .partitions = 1,
        .n_inputs = 23,
        .params_bytes = 30859704,
        .params_name = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
                       "5294475db5237a2e83c3e52fd6c2b03859a1831d45ed08c4f35dbf9a803165a9",
        .params_digest = "c49499bb76a0762884896f9683403f55",
        .vk_digest = "34d4feeacd9abf788d69ef1bb4d8fd00",
    },
    {
        .id = "wpost-16m",
        .kind = PROOF_KIND_WINDOW,
        .sector_bytes = 16 * MIB,
        .size_text = "16MiB",
        .partitions = 1,
        .n_inputs = 23,
        .params_bytes = 39564600,
        .params_name = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-2-0-"
                       "8feba84565cc48dcdb48c9b2957754a8b91e1bfa1fc1348791d1a3fda9b5ea09",
        .params_digest = "",
        .vk_digest = "",
    },
    {
        .id = "wpost-512m",
        .kind = PROOF_KIND_WINDOW,
        .sector_bytes = 512 * MIB,
        .size_text = "512MiB",
        .partitions = 1,
        .n_inputs = 23,
        .params_bytes = 45257400,
        .params_name = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-"
                       "0cfb4f178bbb71cf2ecfcd42accce558b27199ab4fb59cb78f2483fe21ef36d9",
        .params_digest = "1a7d4a9c8a502a497ed92a54366af33f",
        .vk_digest = "4dae975de4f011f101f5a2f86d1daaba",
    },
    {
        .id = "wpost-1g",
        .kind = PROOF_KIND_WINDOW,
        .sector_bytes = 1 * GIB,
        .size_text = "1GiB",
        .partitions = 1,
        .n_inputs = 23,
        .params_bytes = 47670840,
        .params_name = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-2-0-"
                       "f3aab9038a63efce6e3dc362dc6a7f7a01f078100441320740f23d626e3dd4cb",
        .params_digest = "",
        .vk_digest = "",
    },
    {
        .id = "wpost-32g",
        .kind = PROOF_KIND_WINDOW,
        .sector_bytes = 32 * GIB,
        .size_text = "32GiB",
        .partitions = 1,
        .n_inputs = 25840,
        .params_bytes = 60780374232,
        .params_name = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-"
                       "0377ded656c6f524f1618760bffe4e0a1c51d5a70c4509eedae8a27555733edc",
        .params_digest = "2cf49eb26f1fee94c85781a390ddb4c8",
        .vk_digest = "0f8ec542485568fa3468c066e9fed82b",
    },
    {
        .id = "wpost-64g",
        .kind = PROOF_KIND_WINDOW,
        .sector_bytes = 64 * GIB,
        .size_text = "64GiB",
        .partitions = 1,
        .n_inputs = 25301,
        .params_bytes = 62556733560,
        .params_name = "v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-"
                       "2627e4006b67f99cef990c0a47d5426cb7ab0a0ad58fc1061547bf2d28b09def",
        .params_digest = "3810b7780ac0e299b22ae70f1f94c9bc",
        .vk_digest = "59d2bf1857adc59a4f08fcf2afaa916b",
    },
    {
        .id = "snap-2k",
        .kind = PROOF_KIND_UPDATE,
        .sector_bytes = 2 * KIB,
        .size_text = "2KiB",
        .partitions = 1,
        .n_inputs = 5,
        .params_bytes = 655789464,
        .params_name = "v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-"
                       "fb9e095bebdd77511c0269b967b4d87ba8b8a525edaa0e165de23ba454510194",
        .params_digest = "311f92a3e75036ced01b1c0025f1fa0c",
        .vk_digest = "eadad9784969890d30f2749708c79771",
    },
    {
        .id = "snap-4k",
        .kind = PROOF_KIND_UPDATE,
        .sector_bytes = 4 * KIB,
        .size_text = "4KiB",
        .partitions = 1,
        .n_inputs = 5,
        .params_bytes = 979673496,
        .params_name = "v28-empty-sector-update-merkletree-poseidon_hasher-8-2-0-"
                       "86f9265ed999ecebd51ecb470f0ad59033c2f67efc0179811f60a8561bbf2fb7",
        .params_digest = "",
        .vk_digest = "",
    },
    {
        .id = "snap-16k",
        .kind = PROOF_KIND_UPDATE,
        .sector_bytes = 16 * KIB,
        .size_text = "16KiB",
        .partitions = 2,
        .n_inputs = 5,
        .params_bytes = 2477541240,
        .params_name = "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-0-"
                       "6c63c2c7caaffe0f5b745c60dfe539d35860b620686b52e138fb373ed5b68004",
        .params_digest = "",
        .vk_digest = "",
    },
    {
        .id = "snap-32k",
        .kind = PROOF_KIND_UPDATE,
        .sector_bytes = 32 * KIB,
        .size_text = "32KiB",
        .partitions = 2,
        .n_inputs = 5,
        .params_bytes = 2600098680,
        .params_name = "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-2-"
                       "ac7ca4f57f12169edc7e40c5d842c15dc47662228f2c245c97d1ca4dffca0bdd",
        .params_digest = "",
        .vk_digest = "",
    },
    {
        .id = "snap-8m",
        .kind = PROOF_KIND_UPDATE,
        .sector_bytes = 8 * MIB,
        .size_text = "8MiB",
        .partitions = 4,
        .n_inputs = 5,
        .params_bytes = 4268165208,
        .params_name = "v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-"
                       "92180959e1918d26350b8e6cfe217bbdd0a2d8de51ebec269078b364b715ad63",
        .params_digest = "5aedd2cf3e5c0a15623d56a1b43110ad",
        .vk_digest = "abd80269054d391a734febdac0d2e687",
    },
    {
        .id = "snap-16m",
        .kind = PROOF_KIND_UPDATE,
        .sector_bytes = 16 * MIB,
        .size_text = "16MiB",
        .partitions = 4,
        .n_inputs = 5,
        .params_bytes = 4390722648,
        .params_name = "v28-empty-sector-update-merkletree-poseidon_hasher-8-2-0-"
                       "05c0e7da0d0341a1e5cb5ed6f34be85cc401bb05d23c10b207bae063b4aab9e3",
        .params_digest = "",
        .vk_digest = "",
    },
    {
        .id = "snap-512m",
        .kind = PROOF_KIND_UPDATE,
        .sector_bytes = 512 * MIB,
        .size_text = "512MiB",
        .partitions = 16,
        .n_inputs = 5,
        .params_bytes = 21741422712,
        .params_name = "v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-"
                       "61fa69f38b9cc771ba27b670124714b4ea77fbeae05e377fb859c4a43b73a30c",
        .params_digest = "c3ad7bb549470b82ad52ed070aebb4f4",
        .vk_digest = "994c5b7d450ca9da348c910689f2dc7f",
    },
    {
        .id = "snap-32g",
        .kind = PROOF_KIND_UPDATE,
        .sector_bytes = 32 * GIB,
        .size_text = "32GiB",
        .partitions = 16,
        .n_inputs = 5,
        .params_bytes = 34453501368,
        .params_name = "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-0-"
                       "3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18",
        .params_digest = "1b3cfd761a961543f9eb273e435a06a2",
        .vk_digest = "3a6941983754737fde880d29c7094905",
    },
    {
        .id = "snap-64g",
        .kind = PROOF_KIND_UPDATE,
        .sector_bytes = 64 * GIB,
        .size_text = "64GiB",
        .partitions = 16,
        .n_inputs = 5,
        .params_bytes = 35507495352,
        .params_name = "v28-empty-sector-update-merkletree-poseidon_hasher-8-8-2-"
                       "102e1444a7e9a97ebf1e3d6855dcc77e66c011ea66f936d9b2c508f87f2f83a7",
        .params_digest = "1a392e7b759fb18e036c7559b5ece816",
        .vk_digest = "80e366df2f1011953c2d01c7b7c9ee8e",
    },
};

size_t circuit_count(void)
{
    return sizeof circuits / sizeof circuits[0];
}

const struct circuit_info *circuit_at(size_t index)
{
    return index < circuit_count() ? &circuits[index] : NULL;
}

const struct circuit_info *circuit_find(enum proof_kind kind, uint64_t sector_bytes)
{
    for (size_t i = 0; i < circuit_count(); i++) {
        if (circuits[i].kind == kind && circuits[i].sector_bytes == sector_bytes)
            return &circuits[i];
    }
    return NULL;
}

const struct circuit_info *circuit_by_id(const char *id)
{
    for (size_t i = 0; i < circuit_count(); i++) {
        if (strcmp(circuits[i].id, id) == 0)
            return &circuits[i];
    }
    return NULL;
}

static enum cuzk_status record_shape(const struct circuit_info *circuit,
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
    if (circuit->kind == PROOF_KIND_POREP) {
        struct porep_partition *blank = porep_blank(porep_config(bytes), 0);
        status = record_shape(circuit, porep_synthesize, blank, out, err);
        porep_partition_free(blank);
    } else if (circuit->kind == PROOF_KIND_UPDATE) {
        struct update_partition *blank = update_blank(update_config(bytes, false));
        status = record_shape(circuit, update_synthesize, blank, out, err);
        update_partition_free(blank);
    } else {
        bool winning = circuit->kind == PROOF_KIND_WINNING;
        struct post_partition *blank =
            post_blank(winning ? post_winning_config(bytes) : post_window_config(bytes), 0);
        status = record_shape(circuit, post_synthesize, blank, out, err);
        post_partition_free(blank);
    }
    return status;
}
