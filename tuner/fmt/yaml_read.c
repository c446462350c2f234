/* YAML reader: libyaml's events to a Node tree. Bounds bytes, depth and nodes (after alias expansion), finds
 * duplicate keys. Merge keys ('<<') and tags other than the standard scalar ones are refused. */
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "base/fs.h"
#include "base/map.h"
#include "base/vec.h"
#include "fmt/keys.h"
#include "fmt/scalar.h"

typedef struct {
    size_t first;    /* of its children on the stack */
    size_t nodes;    /* counter at its start */
    int64_t anchor;  /* index or -1 */
    unsigned height; /* of the tallest child so far */
    int line;
    bool map;
} Frame;

typedef struct {
    Node node;
    size_t nodes; /* in the subtree, 0 while it is being read */
    unsigned height;
} Anchor;

typedef struct {
    yaml_parser_t yaml;
    Arena *arena;
    const char *name;
    Str text;
    NodeLimits limits;
    VEC(Node) stack; /* children of all open collections */
    VEC(Frame) frame;
    VEC(Anchor) anchor;
    Map anchor_name;
    size_t nodes;
    bool done; /* the document ended */
    bool started;
} Reader;

static Err out_of_memory(const Reader *r)
{
    return err_set(ERR_FAILED, "%s: out of memory after %zu nodes", r->name, r->nodes);
}

static int event_line(const yaml_event_t *e)
{
    return e->start_mark.line < INT32_MAX ? (int)e->start_mark.line + 1 : INT32_MAX;
}

/* Whether a tab indents the line; libyaml's own message says only that a character cannot start a token. */
static bool indented_by_tab(const Reader *r, size_t line)
{
    size_t at = 0;
    for (size_t i = 1; i < line && at < r->text.n; i++) at = str_find(r->text, '\n', at) + 1;
    while (at < r->text.n && (r->text.s[at] == ' ' || r->text.s[at] == '-')) at++;
    return at < r->text.n && r->text.s[at] == '\t';
}

/* libyaml's error as one line. */
static Err parse_error(const Reader *r)
{
    const yaml_parser_t *y = &r->yaml;
    if (y->error == YAML_MEMORY_ERROR) return out_of_memory(r);
    size_t line = y->problem_mark.line + 1;
    if (y->error == YAML_READER_ERROR) { /* has the byte's offset but no line */
        size_t end = y->problem_offset < r->text.n ? y->problem_offset : r->text.n;
        line = 1;
        for (size_t i = 0; i < end; i++) line += r->text.s[i] == '\n';
        if (y->problem_value >= 0)
            FAIL(ERR_INPUT, "%s:%zu: not YAML text: %s (#x%X at byte %zu)", r->name, line, y->problem,
                 (unsigned)y->problem_value, y->problem_offset);
    }
    if (indented_by_tab(r, line))
        FAIL(ERR_INPUT, "%s:%zu: the line is indented by a tab, expected blanks", r->name, line);
    if (y->context && y->context_mark.line != y->problem_mark.line)
        FAIL(ERR_INPUT, "%s:%zu: %s %s that starts in line %zu", r->name, line,
             y->problem ? y->problem : "bad YAML", y->context, y->context_mark.line + 1);
    FAIL(ERR_INPUT, "%s:%zu: %s%s%s", r->name, line, y->problem ? y->problem : "bad YAML",
         y->context ? " " : "", y->context ? y->context : "");
}

/* The scalar's text: a view of the document where the same bytes stand there, else a copy. mark.index counts
 * characters, not bytes, so the view is a guess that must be compared. */
static Str scalar_text(Reader *r, const yaml_event_t *e)
{
    Str value = {(const char *)e->data.scalar.value, e->data.scalar.length};
    size_t at = e->start_mark.index + (e->data.scalar.style != YAML_PLAIN_SCALAR_STYLE);
    if (value.n == 0) return STR("");
    if (at <= r->text.n && value.n <= r->text.n - at && memcmp(r->text.s + at, value.s, value.n) == 0)
        return (Str){r->text.s + at, value.n};
    return arena_dup(r->arena, value);
}

static Err tag_check(const Reader *r, const char *tag, const yaml_event_t *e, NodeKind kind)
{
    static const struct {
        const char *tag;
        NodeKind kind;
    } known[] = {{YAML_STR_TAG, NODE_STR},   {YAML_INT_TAG, NODE_INT}, {YAML_FLOAT_TAG, NODE_FLOAT},
                 {YAML_NULL_TAG, NODE_NULL}, {YAML_SEQ_TAG, NODE_SEQ}, {YAML_BOOL_TAG, NODE_BOOL},
                 {YAML_MAP_TAG, NODE_MAP}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(tag, known[i].tag)) continue;
        if (known[i].kind == kind) return 0;
        FAIL(ERR_INPUT, "%s:%d: tag '%.60s' on %s", r->name, event_line(e), tag, node_kind_name(kind));
    }
    FAIL(ERR_INPUT, "%s:%d: tag '%.60s' is not supported", r->name, event_line(e), tag);
}

static Err scalar_node(Reader *r, const yaml_event_t *e, Node *n)
{
    *n = (Node){.kind = NODE_STR, .line = event_line(e), .text = scalar_text(r, e)};
    if (!n->text.s) return out_of_memory(r);
    const char *tag = (const char *)e->data.scalar.tag;
    if (tag && strcmp(tag, "!") == 0) return 0;
    if (tag && strcmp(tag, YAML_STR_TAG) == 0) return 0;
    if (tag || e->data.scalar.plain_implicit) scalar_resolve(n->text, n);
    if (tag && strcmp(tag, YAML_FLOAT_TAG) == 0 && n->kind == NODE_INT) {
        n->kind = NODE_FLOAT;
        n->real = (double)n->integer;
    }
    return tag ? tag_check(r, tag, e, n->kind) : 0;
}

/* A finished node goes below the innermost open collection, or becomes the document. */
static Err node_add(Reader *r, const Node *n, unsigned height)
{
    if (r->frame.n) {
        Frame *f = &r->frame.v[r->frame.n - 1];
        if (f->height < height) f->height = height;
        if (f->map && (r->stack.n - f->first) % 2 == 0) {
            if (n->kind == NODE_SEQ || n->kind == NODE_MAP)
                FAIL(ERR_INPUT, "%s:%d: %s as a key is not supported", r->name, n->line,
                     node_kind_name(n->kind));
        }
    }
    return VEC_PUSH(&r->stack, *n) ? 0 : out_of_memory(r);
}

static Err nodes_count(Reader *r, size_t n, int line)
{
    if (n > r->limits.max_nodes - r->nodes)
        FAIL(ERR_INPUT, "%s:%d: more than %zu nodes, counting each use of an alias", r->name, line,
             r->limits.max_nodes);
    r->nodes += n;
    return 0;
}

/* Registers an anchor; *index is -1 when there is none. */
static Err anchor_add(Reader *r, const yaml_char_t *anchor, int line, int64_t *index)
{
    bool added;
    *index = -1;
    if (!anchor) return 0;
    Str name = str_from((const char *)anchor);
    int64_t *slot = map_put(&r->anchor_name, name, &added);
    if (!slot) return out_of_memory(r);
    if (!added)
        FAIL(ERR_INPUT, "%s:%d: anchor '%.60s' is defined twice", r->name, line, (const char *)anchor);
    *slot = *index = (int64_t)r->anchor.n;
    return VEC_PUSH(&r->anchor, ((Anchor){.nodes = 0})) ? 0 : out_of_memory(r);
}

static Err on_scalar(Reader *r, const yaml_event_t *e)
{
    Node n;
    int64_t anchor;
    TRY(nodes_count(r, 1, event_line(e)));
    TRY(scalar_node(r, e, &n));
    TRY(anchor_add(r, e->data.scalar.anchor, n.line, &anchor));
    if (anchor >= 0) r->anchor.v[anchor] = (Anchor){n, 1, 0};
    if (r->frame.n && n.kind == NODE_STR && e->data.scalar.plain_implicit && str_eq_c(n.text, "<<")) {
        const Frame *f = &r->frame.v[r->frame.n - 1];
        if (f->map && (r->stack.n - f->first) % 2 == 0)
            FAIL(ERR_INPUT, "%s:%d: merge key '<<' is not supported", r->name, n.line);
    }
    return node_add(r, &n, 0);
}

static Err on_alias(Reader *r, const yaml_event_t *e)
{
    const char *name = (const char *)e->data.alias.anchor;
    int line = event_line(e);
    const int64_t *index = map_get(&r->anchor_name, str_from(name));
    if (!index) FAIL(ERR_INPUT, "%s:%d: alias '*%.60s' has no anchor before it", r->name, line, name);
    const Anchor *anchor = &r->anchor.v[*index];
    if (!anchor->nodes)
        FAIL(ERR_INPUT, "%s:%d: alias '*%.60s' stands inside its own anchor", r->name, line, name);
    TRY(nodes_count(r, anchor->nodes, line));
    if (anchor->height + r->frame.n > r->limits.max_depth)
        FAIL(ERR_INPUT, "%s:%d: nested deeper than %u levels by alias '*%.60s'", r->name, line,
             r->limits.max_depth, name);
    Node n = anchor->node;
    n.line = line;
    return node_add(r, &n, anchor->height);
}

static Err on_start(Reader *r, const yaml_event_t *e, bool map)
{
    Frame f = {.first = r->stack.n, .nodes = r->nodes, .line = event_line(e), .map = map};
    if (r->frame.n >= r->limits.max_depth)
        FAIL(ERR_INPUT, "%s:%d: nested deeper than %u levels", r->name, f.line, r->limits.max_depth);
    TRY(nodes_count(r, 1, f.line));
    const yaml_char_t *tag = map ? e->data.mapping_start.tag : e->data.sequence_start.tag;
    if (tag) TRY(tag_check(r, (const char *)tag, e, map ? NODE_MAP : NODE_SEQ));
    TRY(anchor_add(r, map ? e->data.mapping_start.anchor : e->data.sequence_start.anchor, f.line, &f.anchor));
    return VEC_PUSH(&r->frame, f) ? 0 : out_of_memory(r);
}

static Err on_end(Reader *r)
{
    Frame f = r->frame.v[--r->frame.n];
    size_t n = r->stack.n - f.first;
    Node node = {.kind = f.map ? NODE_MAP : NODE_SEQ, .line = f.line};
    node.item = ARENA_ARRAY(r->arena, n, Node);
    if (!node.item) return out_of_memory(r);
    if (n) memcpy(node.item, r->stack.v + f.first, n * sizeof(Node));
    node.n = f.map ? n / 2 : n;
    r->stack.n = f.first;
    if (f.map && r->limits.replaced)
        TRY(keys_keep_last(&node, r->name, r->limits.replaced));
    else if (f.map && !r->limits.keep_duplicate_keys)
        TRY(keys_check(&node, r->name));
    if (f.anchor >= 0) r->anchor.v[f.anchor] = (Anchor){node, r->nodes - f.nodes, f.height + 1};
    return node_add(r, &node, f.height + 1);
}

static Err on_event(Reader *r, const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (r->started)
            FAIL(ERR_INPUT, "%s:%d: a second document starts here, expected one", r->name, event_line(e));
        r->started = true;
        return 0;
    case YAML_STREAM_END_EVENT:
        r->done = true;
        return 0;
    case YAML_ALIAS_EVENT:
        return on_alias(r, e);
    case YAML_SCALAR_EVENT:
        return on_scalar(r, e);
    case YAML_SEQUENCE_START_EVENT:
        return on_start(r, e, false);
    case YAML_MAPPING_START_EVENT:
        return on_start(r, e, true);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return on_end(r);
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        break;
    }
    return 0;
}

static Err events_read(Reader *r)
{
    while (!r->done) {
        yaml_event_t e;
        if (!yaml_parser_parse(&r->yaml, &e)) return parse_error(r);
        Err err = on_event(r, &e);
        yaml_event_delete(&e);
        if (err) return err;
    }
    return 0;
}

Err yaml_parse(Arena *a, const char *name, Str text, const NodeLimits *limits, Node **out)
{
    Reader r = {.arena = a, .name = name, .text = text};
    r.limits = node_limits(limits);
    if (text.n > r.limits.max_bytes)
        FAIL(ERR_INPUT, "%s: %zu bytes, more than the limit of %zu", name, text.n, r.limits.max_bytes);
    if (!yaml_parser_initialize(&r.yaml)) return out_of_memory(&r);
    yaml_parser_set_input_string(&r.yaml, (const unsigned char *)(text.s ? text.s : ""), text.n);
    Err e = events_read(&r);
    if (!e && r.stack.n == 0) e = err_set(ERR_INPUT, "%s:1: the document is empty", name);
    if (!e) {
        *out = ARENA_NEW(a, Node);
        if (*out)
            **out = r.stack.v[0];
        else
            e = out_of_memory(&r);
    }
    yaml_parser_delete(&r.yaml);
    map_fini(&r.anchor_name);
    VEC_FINI(&r.stack);
    VEC_FINI(&r.frame);
    VEC_FINI(&r.anchor);
    return e;
}

Err yaml_read(Arena *a, const char *path, const NodeLimits *limits, Node **out)
{
    Str text;
    TRY(file_read(a, path, node_limits(limits).max_bytes, &text));
    return yaml_parse(a, path, text, limits, out);
}
