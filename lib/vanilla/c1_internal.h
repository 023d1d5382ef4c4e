/* Shared by the files of the C1 reader. Private to lib/vanilla. */
#ifndef VANILLA_C1_INTERNAL_H
#define VANILLA_C1_INTERNAL_H

#include "base/hash.h"
#include "vanilla/c1.h"
#include "vanilla/json_text.h"
#include "vanilla/poseidon_memo.h"

#include <stdatomic.h>

enum { C1_PARTITIONS_MAX = 16 };

/* Columns of a challenge: its parents', then its own. */
enum { C1_OWN_COLUMN = POREP_PARENTS, C1_COLUMNS = POREP_PARENTS + 1 };

/* A label hash as the text claims it: labeling_proofs 1 … L, then the encoding proof. Of the 37
   parent labels only the digest is kept, since they must be the labels of the opened columns. */
struct c1_labeling {
    uint64_t layer;
    uint64_t node;
    uint8_t parents_sha256[SHA256_BYTES];
};

/* Values of one challenge that the circuit computes itself; here they are only compared. */
struct c1_claims {
    struct fr tree_d_root;
    struct fr tree_r_root;
    struct fr tree_r_leaf;
    struct fr column_root[C1_COLUMNS];
    struct fr column_leaf[C1_COLUMNS];
    struct fr own_rows[POREP_LAYERS_MAX];
    struct c1_labeling labeling[POREP_LAYERS_MAX + 1];
};

struct c1 {
    struct porep_public values; /* config is set by the key in vanilla_proofs */
    struct porep_partition *partitions[C1_PARTITIONS_MAX]; /* config->partitions of them */
    struct c1_claims *claims[C1_PARTITIONS_MAX]; /* per partition, config->challenges of them */
    bool wrapped;
    uint64_t sector_number; /* SectorNum and SectorSize of the wrapper, if there is one */
    uint64_t sector_bytes;
    atomic_uint checked; /* bit k: partition k is true */
    struct poseidon_memo
        *_Atomic memo; /* of all checks; NULL before the first one, or without memory */
};

_Static_assert(C1_PARTITIONS_MAX <= 32, "a bit for each partition");

/* --- The grammar (c1_schema.c) ---------------------------------------------------------------- */

enum c1_type {
    /* objects: every key of the table must be there, others are ignored */
    C1_ROOT,
    C1_WRAPPER,
    C1_CHALLENGE,
    C1_COLUMN_PROOFS,
    C1_COLUMN_PROOF,
    C1_COLUMN,
    C1_MERKLE,
    C1_SINGLE,
    C1_SUB,
    C1_TOP,
    C1_PATH,
    C1_LEVEL,
    C1_LABELING,
    /* objects with exactly one key, out of several that are known */
    C1_VANILLA,
    C1_DATA,
    /* arrays, of a length that follows from the sector size */
    C1_PARTITIONS,
    C1_PARTITION,
    C1_DRG_COLUMNS,
    C1_EXP_COLUMNS,
    C1_ROWS,
    C1_LEVELS,
    C1_HASHES,
    C1_LABELINGS,
    C1_PARENT_LABELS,
    C1_BYTES, /* 32 numbers 0 … 255 */
    /* scalars */
    C1_NAME,
    C1_BASE64,
    C1_UINT32,
    C1_UINT64,
    C1_NULL,
};

/* What a value is used for, where its type does not say it. */
enum c1_role {
    ROLE_NONE,
    ROLE_COMM_R,
    ROLE_COMM_D,
    ROLE_REPLICA_ID,
    ROLE_SEED,
    ROLE_TICKET,
    ROLE_TREE_D,
    ROLE_TREE_R,
    ROLE_OWN_COLUMN,
    ROLE_ROW,
    ROLE_ROOT,
    ROLE_LEAF,
    ROLE_BASE,
    ROLE_SUB,
    ROLE_TOP,
    ROLE_SIBLING,
    ROLE_LEVEL_INDEX,
    ROLE_COLUMN_INDEX,
    ROLE_ENCODING,
    ROLE_PARENT_LABEL,
    ROLE_LAYER,
    ROLE_NODE,
    ROLE_SECTOR_NUMBER,
    ROLE_SECTOR_BYTES,
};

struct c1_field {
    const char *name;
    enum c1_type type;
    enum c1_role role;
};

enum c1_kind { C1_KIND_OBJECT, C1_KIND_CHOICE, C1_KIND_ARRAY, C1_KIND_SCALAR };

struct c1_rule {
    enum c1_kind kind;
    const char *what;              /* for messages: "an object" */
    const struct c1_field *fields; /* of objects; arrays have one, for their items */
    unsigned n_fields;
};

extern const struct c1_rule c1_rules[];

/* --- The machine (c1_parser.c) ---------------------------------------------------------------- */

enum { C1_FRAMES_MAX = 24, C1_DEPTH_MAX = 128 };

/* An open object or array. */
struct c1_frame {
    enum c1_type type;
    enum c1_role role;
    uint32_t seen;                /* objects: bit i, field i was there */
    uint32_t count;               /* arrays: items begun */
    const struct c1_field *field; /* the field whose value is being read; NULL between fields */
};

/* Where in the C1 the parser is: set when an object or array of that meaning is entered. */
struct c1_place {
    unsigned partition;
    unsigned challenge;
    unsigned column;   /* while inside a column proof */
    enum c1_role tree; /* ROLE_TREE_D, ROLE_TREE_R or ROLE_OWN_COLUMN for tree_c */
    unsigned level;    /* of the path, from the leaves */
    unsigned labeling;
};

struct c1_parser {
    const char *name; /* "C1" or "wrapper", begins texts */
    struct json_text *text;
    struct c1 *c1;
    bool may_be_wrapper; /* the text may be a wrapper: it is the outermost one */
    bool decided;        /* a known key has decided whether it is one */
    struct c1_frame frames[C1_FRAMES_MAX];
    unsigned n_frames;
    unsigned ignored_depth; /* open brackets of a value that is ignored */
    bool ignore_next;       /* the next value belongs to an unknown key */
    struct c1_place place;
    uint8_t bytes[32]; /* of the innermost C1_BYTES */
    uint8_t labels[GRAPH_LABEL_PARENTS][32];
    struct cuzk_error error; /* why the parser stopped the text */
};

/* The event function of the parser's text; context is the parser. */
json_event_fn c1_parser_event;

/* Feeds the parser's text, as json_text_feed does. Nearly all of a C1 is arrays of 32 numbers. Of
   these the JSON parser gets the brackets only, unless they are written in an unusual way. */
enum cuzk_status c1_parser_feed(struct c1_parser *parser, const char *text, size_t len,
                                struct cuzk_error *err);

/* Fails with "<name>: <where>: <format>, at byte <offset>". Always false. */
bool c1_parser_fail(struct c1_parser *parser, enum cuzk_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* True between the key Phase1Out of a wrapper and its value. */
bool c1_parser_at_base64(const struct c1_parser *parser);

/* --- Arrays of bytes (c1_bytes.c) ------------------------------------------------------------- */

enum { C1_BYTES_TEXT_MAX = 32 * 4 }; /* three digits and a comma each, or the bracket */

/* Reads "n,n,…,n]", 32 numbers 0 … 255 without white space or leading zeros. Returns the length of
   that text without the bracket. Returns 0, with bytes incomplete, if the text does not begin in
   this way or if fewer than C1_BYTES_TEXT_MAX bytes of it are here. */
size_t c1_bytes_read(uint8_t bytes[32], const char *text, size_t len);

/* --- Partitions in parallel (c1_split.c) ------------------------------------------------------ */

/* A C1 whose whole text is in memory. */
struct c1_source {
    const char *text;
    size_t len;
    bool base64; /* the text is the content of Phase1Out; offsets are always those in the C1 */
};

enum { C1_SOURCE_BYTES = 6 * 1024 };

/* Returns, in *bytes, the C1's text from an offset on, as much of it as there is in one piece; it
   may lie in the buffer. The result is its length; 0 at the end and for wrong base64. */
size_t c1_source_at(const struct c1_source *source, size_t offset, char buffer[C1_SOURCE_BYTES],
                    const char **bytes);

/* For a parser that has read `begin` bytes of the source. If they end with the bracket in front of
   the partitions, the partitions are read on the pool, each by a parser of its own. Returns the
   length of their text, and the parser is where it would be if it had read that text. Returns 0 if
   the partitions are not written as usual or have a fault, or without memory: then nothing has
   changed, and the parser, reading on by itself, finds the first fault. */
size_t c1_split(struct c1_parser *parser, const struct c1_source *source, size_t begin,
                struct pool *pool);

/* Frees all partitions that were read. */
void c1_forget_partitions(struct c1 *c1);

/* --- Placing values (c1_store.c); all return false after c1_parser_fail ----------------------- */

/* The key of a choice was read. */
bool c1_store_choice(struct c1_parser *parser, enum c1_type choice, const char *key, size_t len);

/* An object or array begins, whose frame was pushed. index: its place in the array around it. */
bool c1_store_enter(struct c1_parser *parser, enum c1_type type, enum c1_role role, unsigned index);

/* 32 bytes are complete; index: their place in the array around them. */
bool c1_store_bytes(struct c1_parser *parser, enum c1_role role, unsigned index);
bool c1_store_number(struct c1_parser *parser, enum c1_role role, uint64_t value);
bool c1_store_name(struct c1_parser *parser, const char *name, size_t len);

/* An array is complete. */
bool c1_store_leave(struct c1_parser *parser, enum c1_type type);

/* The number of items that an array must have. */
unsigned c1_store_count(const struct c1_parser *parser, enum c1_type type);

#endif
