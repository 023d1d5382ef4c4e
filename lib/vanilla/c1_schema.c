#include "vanilla/c1_internal.h"

#include "base/check.h"

/* The grammar of part E.6, as tables. */

static const struct c1_field root[] = {
    {"registered_proof", C1_NAME, ROLE_NONE},  {"vanilla_proofs", C1_VANILLA, ROLE_NONE},
    {"comm_r", C1_BYTES, ROLE_COMM_R},         {"comm_d", C1_BYTES, ROLE_COMM_D},
    {"replica_id", C1_BYTES, ROLE_REPLICA_ID}, {"seed", C1_BYTES, ROLE_SEED},
    {"ticket", C1_BYTES, ROLE_TICKET},
};
static const struct c1_field wrapper[] = {
    {"SectorNum", C1_UINT64, ROLE_SECTOR_NUMBER},
    {"Phase1Out", C1_BASE64, ROLE_NONE},
    {"SectorSize", C1_UINT64, ROLE_SECTOR_BYTES},
};
static const struct c1_field challenge[] = {
    {"comm_d_proofs", C1_MERKLE, ROLE_TREE_D},
    {"comm_r_last_proof", C1_MERKLE, ROLE_TREE_R},
    {"replica_column_proofs", C1_COLUMN_PROOFS, ROLE_NONE},
    {"labeling_proofs", C1_LABELINGS, ROLE_NONE},
    {"encoding_proof", C1_LABELING, ROLE_ENCODING},
};
static const struct c1_field column_proofs[] = {
    {"c_x", C1_COLUMN_PROOF, ROLE_OWN_COLUMN},
    {"drg_parents", C1_DRG_COLUMNS, ROLE_NONE},
    {"exp_parents", C1_EXP_COLUMNS, ROLE_NONE},
};
static const struct c1_field column_proof[] = {
    {"column", C1_COLUMN, ROLE_NONE},
    {"inclusion_proof", C1_MERKLE, ROLE_OWN_COLUMN},
};
static const struct c1_field column[] = {
    {"index", C1_UINT32, ROLE_COLUMN_INDEX},
    {"rows", C1_ROWS, ROLE_NONE},
    {"_h", C1_NULL, ROLE_NONE},
};
static const struct c1_field merkle[] = {{"data", C1_DATA, ROLE_NONE}};
static const struct c1_field single[] = {
    {"root", C1_BYTES, ROLE_ROOT},
    {"leaf", C1_BYTES, ROLE_LEAF},
    {"path", C1_PATH, ROLE_BASE},
};
static const struct c1_field sub[] = {
    {"base_proof", C1_PATH, ROLE_BASE},
    {"sub_proof", C1_PATH, ROLE_SUB},
    {"root", C1_BYTES, ROLE_ROOT},
    {"leaf", C1_BYTES, ROLE_LEAF},
};
static const struct c1_field top[] = {
    {"base_proof", C1_PATH, ROLE_BASE}, {"sub_proof", C1_PATH, ROLE_SUB},
    {"top_proof", C1_PATH, ROLE_TOP},   {"root", C1_BYTES, ROLE_ROOT},
    {"leaf", C1_BYTES, ROLE_LEAF},
};
static const struct c1_field path[] = {{"path", C1_LEVELS, ROLE_NONE}};
static const struct c1_field level[] = {
    {"hashes", C1_HASHES, ROLE_NONE},
    {"index", C1_UINT64, ROLE_LEVEL_INDEX},
};
static const struct c1_field labeling[] = {
    {"parents", C1_PARENT_LABELS, ROLE_NONE},
    {"layer_index", C1_UINT32, ROLE_LAYER},
    {"node", C1_UINT64, ROLE_NODE},
};
/* The shape's name is looked up by seal_shape_sector_bytes. */
static const struct c1_field vanilla[] = {{"", C1_PARTITIONS, ROLE_NONE}};
static const struct c1_field data[] = {
    {"Single", C1_SINGLE, ROLE_NONE},
    {"Sub", C1_SUB, ROLE_NONE},
    {"Top", C1_TOP, ROLE_NONE},
};

/* Items of arrays, with what they are called. */
static const struct c1_field partition_item[] = {{"partitions", C1_PARTITION, ROLE_NONE}};
static const struct c1_field challenge_item[] = {{"challenges", C1_CHALLENGE, ROLE_NONE}};
static const struct c1_field column_item[] = {{"columns", C1_COLUMN_PROOF, ROLE_NONE}};
static const struct c1_field row_item[] = {{"rows", C1_BYTES, ROLE_ROW}};
static const struct c1_field level_item[] = {{"path elements", C1_LEVEL, ROLE_NONE}};
static const struct c1_field hash_item[] = {{"hashes", C1_BYTES, ROLE_SIBLING}};
static const struct c1_field labeling_item[] = {{"labeling proofs", C1_LABELING, ROLE_NONE}};
static const struct c1_field label_item[] = {{"labels", C1_BYTES, ROLE_PARENT_LABEL}};

#define OBJECT(fields)                                                                             \
    {                                                                                              \
        C1_KIND_OBJECT, "an object", fields, ARRAY_LEN(fields)                                     \
    }
#define CHOICE(fields)                                                                             \
    {                                                                                              \
        C1_KIND_CHOICE, "an object with one key", fields, ARRAY_LEN(fields)                        \
    }
#define ARRAY(item)                                                                                \
    {                                                                                              \
        C1_KIND_ARRAY, "an array", item, 1                                                         \
    }
#define SCALAR(what)                                                                               \
    {                                                                                              \
        C1_KIND_SCALAR, what, NULL, 0                                                              \
    }

const struct c1_rule c1_rules[] = {
    [C1_ROOT] = OBJECT(root),
    [C1_WRAPPER] = OBJECT(wrapper),
    [C1_CHALLENGE] = OBJECT(challenge),
    [C1_COLUMN_PROOFS] = OBJECT(column_proofs),
    [C1_COLUMN_PROOF] = OBJECT(column_proof),
    [C1_COLUMN] = OBJECT(column),
    [C1_MERKLE] = OBJECT(merkle),
    [C1_SINGLE] = OBJECT(single),
    [C1_SUB] = OBJECT(sub),
    [C1_TOP] = OBJECT(top),
    [C1_PATH] = OBJECT(path),
    [C1_LEVEL] = OBJECT(level),
    [C1_LABELING] = OBJECT(labeling),
    [C1_VANILLA] = CHOICE(vanilla),
    [C1_DATA] = CHOICE(data),
    [C1_PARTITIONS] = ARRAY(partition_item),
    [C1_PARTITION] = ARRAY(challenge_item),
    [C1_DRG_COLUMNS] = ARRAY(column_item),
    [C1_EXP_COLUMNS] = ARRAY(column_item),
    [C1_ROWS] = ARRAY(row_item),
    [C1_LEVELS] = ARRAY(level_item),
    [C1_HASHES] = ARRAY(hash_item),
    [C1_LABELINGS] = ARRAY(labeling_item),
    [C1_PARENT_LABELS] = ARRAY(label_item),
    [C1_BYTES] = {C1_KIND_ARRAY, "an array of 32 bytes", NULL, 0},
    [C1_NAME] = SCALAR("a string"),
    [C1_BASE64] = SCALAR("a string of base64"),
    [C1_UINT32] = SCALAR("a whole number below 2^32"),
    [C1_UINT64] = SCALAR("a whole number below 2^64"),
    [C1_NULL] = SCALAR("null"),
};
