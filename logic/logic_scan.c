/* Logic files as PyYAML writes them, read line by line without a tree: nearly all of a file is lines `key:
 * scalar` of solutions and rows of the table. Other parts are passed to the YAML reader one by one. A file of
 * another form or with an error is passed to it as a whole (logic_read.c), which reports the error. Only the
 * result needs memory. */
#include "logic/logic_internal.h"

#include <string.h>

#include "fmt/scalar.h"

/* A piece of the text that starts at a line's begin. */
typedef struct {
    Str rest;
    int line; /* of rest's first line */
} Lines;

static bool next_line(Lines *l, Str *line)
{
    if (l->rest.n == 0) return false;
    size_t end = str_find(l->rest, '\n', 0);
    *line = str_sub(l->rest, 0, end);
    l->rest = str_sub(l->rest, end < l->rest.n ? end + 1 : end, l->rest.n);
    l->line++;
    return true;
}

static bool starts(Str s, const char *prefix, size_t n) { return s.n >= n && memcmp(s.s, prefix, n) == 0; }

/* The text up to the next line, from the second on, that starts with prefix (of n bytes). */
static Str take_piece(Lines *l, const char *prefix, size_t n)
{
    Str all = l->rest, line;
    size_t used = 0;
    for (bool first = true; l->rest.n; first = false) {
        if (!first && starts(l->rest, prefix, n)) break;
        (void)next_line(l, &line);
        used = all.n - l->rest.n;
    }
    return str_sub(all, 0, used);
}

static Err parse_piece(LogicReader *r, Str piece, Node **out)
{
    NodeLimits limits = {.max_bytes = LOGIC_MAX_BYTES};
    return yaml_parse(r->a, r->name, piece, &limits, out);
}

/* ---- values ---- */

enum { FLOW_MAX = 18 };

typedef struct {
    Node value;
    Node item[FLOW_MAX];
} Value;

/* Whether the scalar is plain and has no special meaning in YAML. */
static bool plain_scalar(Str s)
{
    if (s.n == 0 || memchr("!&*-?|>@`\"'#%,[]{}:", s.s[0], 20)) {
        bool number = s.n > 1 && s.s[0] == '-' && s.s[1] >= '0' && s.s[1] <= '9';
        if (!number) return false;
    }
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.s[i];
        if (c <= ' ' || c > '~' || c == ':' || c == '#' || c == ',' || c == '[' || c == ']' || c == '{' ||
            c == '}')
            return false;
    }
    return true;
}

static bool set_scalar(Node *n, Str text, int line)
{
    if (!plain_scalar(text)) return false;
    scalar_resolve(text, n);
    n->text = text;
    n->line = line;
    return true;
}

/* `[a, b]` and `{a: b, c: d}` of plain scalars in one line. */
static bool set_flow(Value *v, Str text, int line)
{
    bool map = text.s[0] == '{';
    if (text.s[text.n - 1] != (map ? '}' : ']')) return false;
    Str rest = str_sub(text, 1, text.n - 1), part;
    size_t n = 0;
    while (rest.n && str_split(&rest, ',', &part)) {
        if (n > 0) {
            if (part.n == 0 || part.s[0] != ' ') return false;
            part = str_sub(part, 1, part.n);
        }
        if (n + 2 > FLOW_MAX) return false;
        if (map) {
            size_t colon = str_find(part, ':', 0);
            if (colon + 1 >= part.n || part.s[colon + 1] != ' ') return false;
            if (!set_scalar(&v->item[n++], str_sub(part, 0, colon), line)) return false;
            part = str_sub(part, colon + 2, part.n);
        }
        if (!set_scalar(&v->item[n++], part, line)) return false;
        if (rest.s && rest.n == 0) return false; /* ends with a comma */
    }
    for (size_t i = 2; map && i < n; i += 2) /* repeated keys are the YAML reader's to find */
        for (size_t j = 0; j < i; j += 2)
            if (str_eq(v->item[i].text, v->item[j].text)) return false;
    v->value = (Node){.kind = map ? NODE_MAP : NODE_SEQ, .line = line};
    v->value.item = v->item;
    v->value.n = map ? n / 2 : n;
    return true;
}

static bool set_value(Value *v, Str text, int line)
{
    if (text.n >= 2 && (text.s[0] == '[' || text.s[0] == '{')) return set_flow(v, text, line);
    if (text.n == 2 && memcmp(text.s, "''", 2) == 0) {
        v->value = (Node){.kind = NODE_STR, .line = line, .text = str_sub(text, 1, 1)};
        return true;
    }
    return set_scalar(&v->value, text, line);
}

/* Copies a value from the stack to the arena. */
static const Node *value_dup(Arena *a, const Value *v)
{
    size_t n = v->value.kind == NODE_MAP ? 2 * v->value.n : v->value.kind == NODE_SEQ ? v->value.n : 0;
    Node *copy = ARENA_ARRAY(a, n + 1, Node);
    if (!copy) return NULL;
    copy[0] = v->value;
    if (n) memcpy(copy + 1, v->item, n * sizeof *copy);
    if (copy->kind == NODE_MAP || copy->kind == NODE_SEQ) copy->item = copy + 1;
    return copy;
}

/* ---- solutions ---- */

typedef struct {
    LogicReader *r;
    Str type_text; /* of the last nested problem type, and what it is */
    const Node *type;
    size_t next; /* place in the sorted keys after the last one found */
} Scan;

/* Keys are sorted: the next one is mostly a few rows on. */
static ParamId find_key(Scan *scan, Str key)
{
    const LogicKeys *k = &scan->r->keys;
    for (size_t i = scan->next; i < PARAM_COUNT && i < scan->next + 12; i++)
        if (str_eq(k->name[i], key)) {
            scan->next = i + 1;
            return k->order[i];
        }
    return logic_keys_find(k, key);
}

static bool repeated(const LogicSolution *s, ParamId id, Str key)
{
    if (id != PARAM_COUNT && solution_has(&s->s, id)) return true;
    for (size_t i = 0; i < s->n_kept; i++)
        if (str_eq(s->kept[i].key, key)) return true;
    return false;
}

static bool scan_key(Scan *scan, Str line, int number, LogicSolution *out)
{
    Value v;
    LogicReader *r = scan->r;
    size_t colon = str_find(line, ':', 0);
    if (colon + 2 >= line.n || line.s[colon + 1] != ' ') return false;
    Str key = str_sub(line, 0, colon);
    Node key_node;
    v.value = (Node){.kind = NODE_NULL};
    ParamId id = find_key(scan, key);
    if (repeated(out, id, key)) return false;
    if (id == PARAM_COUNT && (!set_scalar(&key_node, key, number) || key_node.kind != NODE_STR)) return false;
    if (!set_value(&v, str_sub(line, colon + 2, line.n), number)) return false;
    size_t kept = out->n_kept;
    if (logic_solution_key(r->a, id, r->name, key, &v.value, out)) return false;
    for (size_t i = 0; kept < out->n_kept && i < out->n_kept; i++)
        if (out->kept[i].value == &v.value && !(out->kept[i].value = value_dup(r->a, &v))) return false;
    return true;
}

/* The lines below `ProblemType:`; the same text is the same tree. */
static bool scan_type(Scan *scan, Lines *l, LogicSolution *out)
{
    Str all = l->rest, line;
    Node *root = NULL;
    if (out->problem_type) return false;
    while (starts(l->rest, "      ", 6)) (void)next_line(l, &line);
    Str text = str_sub(all, 0, all.n - l->rest.n);
    if (text.n == 0) return false;
    if (!scan->type || !str_eq(text, scan->type_text)) {
        if (parse_piece(scan->r, text, &root) || root->kind != NODE_MAP) return false;
        scan->type = root;
        scan->type_text = text;
    }
    out->problem_type = scan->type;
    return true;
}

/* `- - key: value` or `  - key: value`, then lines indented by 4. */
static bool scan_solution(Scan *scan, Str piece, int number, LogicSolution *out)
{
    Lines l = {piece, number};
    Str line;
    logic_solution_init(out, scan->r->pt, number);
    scan->next = 0;
    while (l.rest.n) {
        int at = l.line;
        (void)next_line(&l, &line);
        bool first = at == number;
        if (line.n < 5 || (!first && !starts(line, "    ", 4)) || line.s[4] == ' ') return false;
        line = str_sub(line, 4, line.n);
        if (str_eq(line, STR("ProblemType:"))) {
            if (!scan_type(scan, &l, out)) return false;
        } else if (!scan_key(scan, line, at, out)) {
            return false;
        }
    }
    return true;
}

static bool scan_solutions(LogicReader *r, Str element, int number)
{
    Scan scan = {.r = r};
    Lines l = {element, number};
    if (!r->pt || !starts(element, "- - ", 4)) return false;
    while (l.rest.n) {
        LogicSolution s;
        Node *root = NULL;
        int at = l.line;
        Str piece = take_piece(&l, "  - ", 4);
        if (at != number && !starts(piece, "  - ", 4)) return false;
        if (scan_solution(&scan, piece, at, &s)) {
            if (logic_add_solution(r, s)) return false;
            continue;
        }
        if (parse_piece(r, piece, &root) || root->kind != NODE_SEQ || root->n != 1) return false;
        const Node *map = &root->item[0];
        if (at == number && map->kind == NODE_SEQ && map->n == 1) map = &map->item[0];
        if (map->kind != NODE_MAP || logic_take_solution(r, map)) return false;
        r->solutions.v[r->solutions.n - 1].line = at;
    }
    return true;
}

/* ---- rows ---- */

static bool scan_row(LogicReader *r, Str key, Str best, int number)
{
    Value size, won;
    int64_t v[LOGIC_KEY_MAX];
    if (key.n < 2 || key.s[0] != '[' || !set_flow(&size, key, number)) return false;
    if (best.n < 2 || best.s[0] != '[' || !set_flow(&won, best, number)) return false;
    if (size.value.n > LOGIC_KEY_MAX || won.value.n != 2 || won.item[0].kind != NODE_INT) return false;
    for (size_t i = 0; i < size.value.n; i++) {
        if (size.item[i].kind != NODE_INT) return false;
        v[i] = size.item[i].integer;
    }
    const Node *speed = &won.item[1];
    if (speed->kind != NODE_INT && speed->kind != NODE_FLOAT) return false;
    double gflops = speed->kind == NODE_INT ? (double)speed->integer : speed->real;
    return logic_add_row(r, v, (int32_t)size.value.n, won.item[0].integer, gflops, number) == ERR_OK;
}

static bool scan_rows(LogicReader *r, Str element, int number)
{
    Lines l = {element, number};
    Str key, best;
    if (!r->pt || !starts(element, "- - - [", 7)) return false;
    while (l.rest.n) {
        int at = l.line;
        const char *prefix = at == number ? "- - - " : "  - - ";
        (void)next_line(&l, &key);
        if (!next_line(&l, &best) || !starts(key, prefix, 6) || !starts(best, "    - ", 6)) return false;
        if (!scan_row(r, str_sub(key, 6, key.n), str_sub(best, 6, best.n), at)) return false;
    }
    return true;
}

/* ---- the list ---- */

static bool scan_element(LogicReader *r, size_t i, Str element, int number)
{
    Node *root = NULL;
    if (i == LOGIC_AT_SOLUTIONS && starts(element, "- - ", 4)) return scan_solutions(r, element, number);
    if (i == LOGIC_AT_TABLE && starts(element, "- - - [", 7)) return scan_rows(r, element, number);
    if (parse_piece(r, element, &root) || root->kind != NODE_SEQ || root->n != 1) return false;
    return logic_take_element(r, i, &root->item[0]) == ERR_OK;
}

/* Whether the text has anchors or comments, which cannot be read in pieces. */
static bool whole_only(Str text)
{
    for (size_t i = 0; i + 1 < text.n; i++) {
        char c = text.s[i];
        if (c == '#' || c == '\t' || c == '\r') return true;
        if ((c == '&' || c == '*') && (i == 0 || text.s[i - 1] == ' ')) return true;
    }
    return text.n == 0 || !starts(text, "- ", 2) || text.s[text.n - 1] != '\n';
}

Err logic_scan(LogicReader *r, Str text, bool *done)
{
    Lines l = {text, 1};
    size_t n = 0;
    *done = false;
    if (whole_only(text)) return ERR_OK;
    for (; l.rest.n; n++) {
        int at = l.line;
        Str element = take_piece(&l, "- ", 2);
        if (!scan_element(r, n, element, at)) {
            err_clear();
            return ERR_OK;
        }
    }
    r->l->n_elements = n;
    *done = n > LOGIC_AT_RANGE;
    return ERR_OK;
}
