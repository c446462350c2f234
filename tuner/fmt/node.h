/* Node: the document tree that YAML and msgpack readers give and that everything else reads.
 *
 * Invariants: a tree lives in one arena. Scalars keep their text (Str) and are resolved to a kind by the
 * rules of PyYAML (YAML 1.1): null ~ Null; true/false/yes/no/on/off in three cases; ints (also 0x, 0b,
 * leading 0 for octal, 1_000, 1:30; beyond 64 bits they become floats); floats (1.5, 1.e+3, .inf; but 1e3 is
 * a string); anything quoted is a string. Maps keep the order of the document; keys are scalars. Duplicate
 * keys are found by the reader (ERR_INPUT, or kept, or the last one counts, as the limits say). line counts
 * from 1; 0 for msgpack. Aliases share the subtree of their anchor: change nothing in a tree. An empty
 * document is an error.
 */
#ifndef FMT_NODE_H
#define FMT_NODE_H

#include "base/arena.h"

typedef enum { NODE_NULL, NODE_BOOL, NODE_INT, NODE_FLOAT, NODE_STR, NODE_SEQ, NODE_MAP } NodeKind;

typedef struct Node Node;
struct Node {
    NodeKind kind;
    int line;
    Str text; /* scalars from YAML: as written (unquoted); NODE_STR: the value */
    union {
        bool boolean;
        int64_t integer;
        double real;
        struct {
            Node *item; /* SEQ: n items; MAP: n pairs, key at [2i], value at [2i+1] */
            size_t n;
        };
    };
};

/* note is called for each key that a later equal key of its map replaces. name: the document's. */
typedef struct {
    void (*note)(void *ctx, const char *name, const Node *first, const Node *again);
    void *ctx;
} KeyReplaced;

/* Limits for an untrusted document. Zeroed fields mean the defaults in brackets. */
typedef struct {
    size_t max_bytes;   /* [256 MiB] of text */
    size_t max_nodes;   /* [50 million] after alias expansion */
    unsigned max_depth; /* [64] */
    bool keep_duplicate_keys;
    /* YAML: of equal keys of a map the last one counts, in the place of the first, as in PyYAML; NULL: they
     * are refused. */
    const KeyReplaced *replaced;
    /* msgpack: a list under this key is checked but not read: item is NULL, text has its n items for
     * msgpack_item. For lists of tens of thousands of small maps. */
    const char *raw_list;
} NodeLimits;

/* name is what messages call the document: 'name:line: ...'. The text must outlive the tree. */
Err yaml_parse(Arena *a, const char *name, Str text, const NodeLimits *limits, Node **out);
Err yaml_read(Arena *a, const char *path, const NodeLimits *limits, Node **out);
Err msgpack_parse(Arena *a, const char *name, Str data, const NodeLimits *limits, Node **out);
/* Reads the first object of rest and advances rest to the byte after it. */
Err msgpack_item(Arena *a, const char *name, Str *rest, const NodeLimits *limits, Node **out);

/* "null", "true", "an integer", ... for messages. */
const char *node_kind_name(NodeKind kind);

/* Value of key in a map; NULL when absent or when map is not a map. */
Node *node_get(const Node *map, const char *key);
Node *node_at(const Node *seq, size_t i); /* NULL when out of range or a raw list */

/* Checked access: on a wrong kind ERR_INPUT with 'name:line: what: expected an integer, found ...'. */
Err node_int(const Node *n, const char *name, const char *what, int64_t min, int64_t max, int64_t *out);
Err node_bool(const Node *n, const char *name, const char *what, bool *out);   /* also 0 and 1 */
Err node_real(const Node *n, const char *name, const char *what, double *out); /* ints too */
Err node_str(const Node *n, const char *name, const char *what, Str *out);     /* any scalar's text */
Err node_seq(const Node *n, const char *name, const char *what, size_t min, size_t max);
Err node_map(const Node *n, const char *name, const char *what);

/* Whether both hold the same data (ints equal floats of the same value; map order does not matter). */
bool node_equal(const Node *a, const Node *b);

#endif
