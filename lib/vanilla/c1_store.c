#include "vanilla/c1_internal.h"

#include "base/check.h"
#include "base/mem.h"

#include <string.h>

/* --- Where a value goes ----------------------------------------------------------------------- */

static struct porep_challenge *challenge_at(const struct c1_parser *parser)
{
    return &parser->c1->partitions[parser->place.partition]->challenges[parser->place.challenge];
}

static struct c1_claims *claims_at(const struct c1_parser *parser)
{
    return &parser->c1->claims[parser->place.partition][parser->place.challenge];
}

static const struct tree_shape *tree_at(const struct c1_parser *parser)
{
    const struct porep_config *config = parser->c1->values.config;
    return parser->place.tree == ROLE_TREE_D ? &config->tree_d : &config->tree_r;
}

static struct tree_path *path_at(const struct c1_parser *parser)
{
    struct porep_challenge *challenge = challenge_at(parser);
    if (parser->place.tree == ROLE_TREE_D)
        return &challenge->tree_d;
    if (parser->place.tree == ROLE_TREE_R)
        return &challenge->tree_r;
    return parser->place.column == C1_OWN_COLUMN ? &challenge->tree_c
                                                 : &challenge->parents[parser->place.column].path;
}

/* The frame `up` levels outside the innermost one. */
static const struct c1_frame *frame_around(const struct c1_parser *parser, unsigned up)
{
    return &parser->frames[parser->n_frames - 1 - up];
}

/* Levels of the base trees. Above them is one level for `sub` and one for `top`, if there are
   any. */
static unsigned base_levels(const struct tree_shape *tree)
{
    return tree->levels - (tree->sub > 0) - (tree->top > 0);
}

unsigned c1_store_count(const struct c1_parser *parser, enum c1_type type)
{
    const struct porep_config *config = parser->c1->values.config;
    const struct tree_shape *tree = tree_at(parser);
    switch (type) {
    case C1_PARTITIONS:
        return config->partitions;
    case C1_PARTITION:
        return config->challenges;
    case C1_DRG_COLUMNS:
        return POREP_DRG_PARENTS;
    case C1_EXP_COLUMNS:
        return POREP_EXP_PARENTS;
    case C1_ROWS:
    case C1_LABELINGS:
        return config->layers;
    case C1_PARENT_LABELS:
        return GRAPH_LABEL_PARENTS;
    case C1_LEVELS:
        return frame_around(parser, 1)->role == ROLE_BASE ? base_levels(tree) : 1;
    case C1_HASHES:
        return tree->arity[parser->place.level] - 1u;
    default:
        CHECK(false && "an array of the grammar");
        return 0;
    }
}

/* --- Names and choices ------------------------------------------------------------------------ */

static bool check_sizes_agree(struct c1_parser *parser)
{
    const struct porep_public *values = &parser->c1->values;
    if (!values->proof || !values->config ||
        values->proof->sector_bytes == values->config->sector_bytes)
        return true;
    return c1_parser_fail(parser, CUZK_INVALID_ARGUMENT,
                          "registered_proof %s has sectors of %llu bytes, the key in "
                          "vanilla_proofs says %llu",
                          values->proof->name, (unsigned long long)values->proof->sector_bytes,
                          (unsigned long long)values->config->sector_bytes);
}

bool c1_store_name(struct c1_parser *parser, const char *name, size_t len)
{
    const struct seal_proof *proof = seal_proof_by_name(name, len);
    if (!proof)
        return c1_parser_fail(parser, CUZK_INVALID_ARGUMENT,
                              "unknown name, expected StackedDrg, a size (2KiB, 8MiB, 512MiB, "
                              "32GiB, 64GiB) and V1, V1_1 or V1_1_Feat_SyntheticPoRep");
    if (proof->feature == SEAL_NON_INTERACTIVE)
        return c1_parser_fail(parser, CUZK_UNSUPPORTED,
                              "%s: non-interactive PoRep is not supported, expected V1, V1_1 or "
                              "V1_1_Feat_SyntheticPoRep",
                              proof->name);
    parser->c1->values.proof = proof;
    return check_sizes_agree(parser);
}

static bool choose_shape(struct c1_parser *parser, const char *key, size_t len)
{
    uint64_t sector_bytes = seal_shape_sector_bytes(key, len);
    if (sector_bytes == 0)
        return c1_parser_fail(parser, CUZK_INVALID_ARGUMENT,
                              "unknown key, expected StackedDrg, a size (2KiB, 8MiB, 512MiB, "
                              "32GiB, 64GiB) and V1");
    const struct porep_config *config = porep_config(sector_bytes);
    CHECK(config && config->partitions <= ARRAY_LEN(parser->c1->partitions));
    parser->c1->values.config = config;
    return check_sizes_agree(parser);
}

/* Single, Sub or Top must match the tree of the sector size. */
static bool choose_tree(struct c1_parser *parser, const char *key, size_t len)
{
    const struct tree_shape *tree = tree_at(parser);
    const char *wanted = tree->top > 0 ? "Top" : tree->sub > 0 ? "Sub" : "Single";
    if (strlen(wanted) == len && memcmp(wanted, key, len) == 0)
        return true;
    return c1_parser_fail(parser, CUZK_INVALID_ARGUMENT, "expected the key %s", wanted);
}

bool c1_store_choice(struct c1_parser *parser, enum c1_type choice, const char *key, size_t len)
{
    return choice == C1_VANILLA ? choose_shape(parser, key, len) : choose_tree(parser, key, len);
}

/* --- Objects and arrays ----------------------------------------------------------------------- */

static bool enter_partition(struct c1_parser *parser, unsigned partition)
{
    struct c1 *c1 = parser->c1;
    c1->partitions[partition] = porep_blank(c1->values.config, 0);
    c1->claims[partition] = mem_zalloc(c1->values.config->challenges, sizeof(struct c1_claims));
    if (!c1->partitions[partition] || !c1->claims[partition])
        return c1_parser_fail(parser, CUZK_NO_MEMORY, "no memory for the partition");
    parser->place.partition = partition;
    return true;
}

bool c1_store_enter(struct c1_parser *parser, enum c1_type type, enum c1_role role, unsigned index)
{
    struct c1_place *place = &parser->place;
    switch (type) {
    case C1_PARTITION:
        return enter_partition(parser, index);
    case C1_CHALLENGE:
        place->challenge = index;
        break;
    case C1_COLUMN_PROOF:
        place->column = role == ROLE_OWN_COLUMN ? C1_OWN_COLUMN : index;
        if (frame_around(parser, 1)->type == C1_EXP_COLUMNS)
            place->column += POREP_DRG_PARENTS;
        break;
    case C1_MERKLE:
        place->tree = role;
        break;
    case C1_LEVEL: {
        enum c1_role part = frame_around(parser, 2)->role;
        unsigned above = part == ROLE_BASE ? 0 : part == ROLE_SUB ? 1 : 2;
        place->level = above == 0 ? index : base_levels(tree_at(parser)) + above - 1;
        break;
    }
    case C1_LABELING:
        place->labeling = role == ROLE_ENCODING ? parser->c1->values.config->layers : index;
        break;
    default:
        break;
    }
    return true;
}

bool c1_store_leave(struct c1_parser *parser, enum c1_type type)
{
    if (type == C1_PARENT_LABELS)
        sha256(parser->labels, sizeof parser->labels,
               claims_at(parser)->labeling[parser->place.labeling].parents_sha256);
    return true;
}

/* --- 32-byte values --------------------------------------------------------------------------- */

static bool is_zero(const uint8_t bytes[32])
{
    static const uint8_t zero[32];
    return memcmp(bytes, zero, 32) == 0;
}

/* Values beside the vanilla proofs. NULL for other roles. */
static uint8_t *public_value_at(struct porep_public *values, enum c1_role role)
{
    switch (role) {
    case ROLE_COMM_R:
        return values->comm_r;
    case ROLE_COMM_D:
        return values->comm_d;
    case ROLE_REPLICA_ID:
        return values->replica_id;
    case ROLE_SEED:
        return values->seed;
    case ROLE_TICKET:
        return values->ticket;
    default:
        return NULL;
    }
}

static struct fr *root_or_leaf_at(struct c1_parser *parser, bool root)
{
    struct c1_claims *claims = claims_at(parser);
    unsigned column = parser->place.column;
    switch (parser->place.tree) {
    case ROLE_TREE_D:
        return root ? &claims->tree_d_root : &challenge_at(parser)->data_leaf;
    case ROLE_TREE_R:
        return root ? &claims->tree_r_root : &claims->tree_r_leaf;
    default:
        return root ? &claims->column_root[column] : &claims->column_leaf[column];
    }
}

/* The place where a field element is kept; NULL if it is not kept. */
static struct fr *element_at(struct c1_parser *parser, enum c1_role role, unsigned index)
{
    const struct c1_place *place = &parser->place;
    switch (role) {
    case ROLE_ROOT:
    case ROLE_LEAF:
        return root_or_leaf_at(parser, role == ROLE_ROOT);
    case ROLE_ROW:
        return place->column == C1_OWN_COLUMN
                   ? &claims_at(parser)->own_rows[index]
                   : &challenge_at(parser)->parents[place->column].rows[index];
    case ROLE_SIBLING:
        for (unsigned level = 0; level < place->level; level++)
            index += tree_at(parser)->arity[level] - 1u;
        return &path_at(parser)->siblings[index];
    default:
        return NULL;
    }
}

bool c1_store_bytes(struct c1_parser *parser, enum c1_role role, unsigned index)
{
    uint8_t *value = public_value_at(&parser->c1->values, role);
    if (value) {
        memcpy(value, parser->bytes, 32);
        if (role != ROLE_TICKET && is_zero(value))
            return c1_parser_fail(parser, CUZK_INVALID_ARGUMENT, "all zero, expected a value");
        if (role == ROLE_TICKET || role == ROLE_SEED)
            return true; /* any bytes */
    }
    struct fr unused;
    struct fr *place = value ? NULL : element_at(parser, role, index);
    if (!fr_from_bytes(place ? place : &unused, parser->bytes))
        return c1_parser_fail(parser, CUZK_INVALID_ARGUMENT,
                              "not canonical, expected a number below the field's modulus");
    if (role == ROLE_PARENT_LABEL)
        memcpy(parser->labels[index], parser->bytes, 32);
    return true;
}

/* --- Numbers ---------------------------------------------------------------------------------- */

static bool store_level_index(struct c1_parser *parser, uint64_t index)
{
    const struct tree_shape *tree = tree_at(parser);
    unsigned level = parser->place.level;
    if (index >= tree->arity[level])
        return c1_parser_fail(parser, CUZK_INVALID_ARGUMENT,
                              "expected a number below %u, the arity of the level, got %llu",
                              tree->arity[level], (unsigned long long)index);
    unsigned shift = 0;
    for (unsigned below = 0; below < level; below++)
        shift += tree_level_bits(tree, below);
    path_at(parser)->index |= index << shift;
    return true;
}

bool c1_store_number(struct c1_parser *parser, enum c1_role role, uint64_t value)
{
    struct c1_labeling *labeling;
    switch (role) {
    case ROLE_LEVEL_INDEX:
        return store_level_index(parser, value);
    case ROLE_LAYER:
    case ROLE_NODE:
        labeling = &claims_at(parser)->labeling[parser->place.labeling];
        *(role == ROLE_LAYER ? &labeling->layer : &labeling->node) = value;
        return true;
    case ROLE_SECTOR_NUMBER:
        parser->c1->sector_number = value;
        return true;
    case ROLE_SECTOR_BYTES:
        parser->c1->sector_bytes = value;
        return true;
    default: /* column.index: nothing depends on it */
        return true;
    }
}
