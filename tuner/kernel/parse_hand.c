/* Reads the parts of the language that only programs written by hand use: head, expressions, ops. See hand.h,
 * parse.h. */
#include <math.h>
#include <string.h>

#include "kernel/parse_internal.h"
#include "kernel/words.h"

const char *const hand_params[HAND_PARAMS] = {"M", "N", "K", "lda", "ldb", "ldc", "ldd", "wg0", "wg1", "wg2"};

enum { MAX_NESTING = 32, NAME_MAX_BYTES = 31 };
/* Values of expressions stay below this, so that sums and products of them are exact in 64 bits. */
static const int64_t value_max = INT64_C(1) << 50;

DataType hand_sum_type(const Hand *h)
{
    DataType t = (DataType)h->type.DataType;
    return t == TYPE_H || t == TYPE_B ? TYPE_S : t == TYPE_I8 ? TYPE_I : t;
}

const Expr *hand_param(ExprPool *pool, HandParam i)
{
    static const char *const names[HAND_PARAMS] = {"v_M",   "v_N",   "v_K",   "v_lda", "v_ldb",
                                                   "v_ldc", "v_ldd", "v_wg0", "v_wg1", "v_wg2"};
    return expr_var(pool, names[i], (int)i, 0, UINT32_MAX);
}

/* ---- characters ---- */

/* A position in the rest of a line, after its first word. */
typedef struct {
    Parser *r;
    Str s;
    size_t at;
    int nesting;
} Cursor;

static void skip(Cursor *c)
{
    while (c->at < c->s.n && strchr(" \t\r", c->s.s[c->at])) c->at++;
}

static bool is_letter(char x)
{
    return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || (x >= '0' && x <= '9') || x == '_';
}

/* Returns the next token without taking it: a name, a number, "<-", or one character. */
static Str look(Cursor *c)
{
    skip(c);
    size_t from = c->at, to = from;
    if (to < c->s.n && c->s.s[to] == '%') to++;
    while (to < c->s.n && is_letter(c->s.s[to])) to++;
    if (to == from && to < c->s.n)
        to += c->s.s[to] == '<' && to + 1 < c->s.n && c->s.s[to + 1] == '-' ? 2 : 1;
    return str_sub(c->s, from, to);
}

static bool take(Cursor *c, const char *word)
{
    Str w = look(c);
    if (!str_eq_c(w, word)) return false;
    c->at += w.n;
    return true;
}

static Err need(Cursor *c, const char *word)
{
    if (take(c, word)) return ERR_OK;
    FAIL_AT(c->r, "'%.*s' where '%s' is expected", STR_ARG(look(c)), word);
}

static Err name_of(Cursor *c, const char *what, Str *to)
{
    Str w = look(c);
    if (w.n < 2 || w.n > NAME_MAX_BYTES || w.s[0] != '%')
        FAIL_AT(c->r, "'%.*s' where %s is expected", STR_ARG(w), what);
    *to = str_sub(w, 1, w.n);
    c->at += w.n;
    return ERR_OK;
}

static Err whole(Cursor *c, int64_t lo, int64_t hi, int32_t *to)
{
    Str w = look(c);
    int64_t v;
    if (!str_to_i64(w, &v) || v < lo || v > hi)
        FAIL_AT(c->r, "'%.*s' where a number from %lld to %lld is expected", STR_ARG(w), (long long)lo,
                (long long)hi);
    c->at += w.n;
    *to = (int32_t)v;
    return ERR_OK;
}

static Err real(Cursor *c, double *to)
{
    skip(c);
    size_t from = c->at, at = from;
    while (at < c->s.n && (is_letter(c->s.s[at]) || strchr("+-.", c->s.s[at]))) at++;
    Str w = str_sub(c->s, from, at);
    if (w.n > 40 || !str_to_f64(w, to) || !isfinite(*to))
        FAIL_AT(c->r, "'%.*s' where a finite number is expected", STR_ARG(w));
    c->at = at;
    return ERR_OK;
}

static Err end(Cursor *c)
{
    Str w = look(c);
    c->r->at = c->r->n;
    if (w.n) FAIL_AT(c->r, "unexpected '%.*s'", STR_ARG(w));
    return ERR_OK;
}

/* ---- expressions ---- */

static Err sum(Cursor *c, const Expr **e);
static Err atom(Cursor *c, const Expr **e);

static Err bounded(Cursor *c, const Expr *e)
{
    if (e->lo < -value_max || e->hi > value_max)
        FAIL_AT(c->r, "an expression can leave the range of 50 bits");
    return ERR_OK;
}

/* Reads the arguments of min(x, y) or max(x, y). */
static Err call(Cursor *c, ExprKind kind, const Expr **e)
{
    const Expr *x, *y;
    TRY(need(c, "("));
    TRY(sum(c, &x));
    TRY(need(c, ","));
    TRY(sum(c, &y));
    TRY(need(c, ")"));
    *e = expr_op(&c->r->p->hand->pool, kind, x, y);
    return ERR_OK;
}

static Err atom_in(Cursor *c, const Expr **e)
{
    ExprPool *pool = &c->r->p->hand->pool;
    Str w = look(c);
    int64_t v;
    if (take(c, "(")) {
        TRY(sum(c, e));
        return need(c, ")");
    }
    if (take(c, "min")) return call(c, EXPR_MIN, e);
    if (take(c, "max")) return call(c, EXPR_MAX, e);
    if (take(c, "-")) {
        TRY(atom(c, e));
        *e = expr_sub(pool, expr_const(pool, 0), *e);
        return ERR_OK;
    }
    if (w.n && w.s[0] != '%') {
        if (!str_to_i64(w, &v) || v > UINT32_MAX)
            FAIL_AT(c->r, "'%.*s' where a number, a name (%%name) or '(' is expected", STR_ARG(w));
        c->at += w.n;
        *e = expr_const(pool, v);
        return ERR_OK;
    }
    TRY(name_of(c, "a number, a name (%name) or '('", &w));
    for (int i = c->r->n_known - 1; i >= 0; i--)
        if (str_eq(c->r->known[i].name, w)) {
            *e = c->r->known[i].e;
            return ERR_OK;
        }
    FAIL_AT(c->r, "there is no number '%%%.*s': param, let or a loop around names one", STR_ARG(w));
}

static Err atom(Cursor *c, const Expr **e)
{
    if (++c->nesting > MAX_NESTING) FAIL_AT(c->r, "brackets are nested deeper than %d", MAX_NESTING);
    Err err = atom_in(c, e);
    c->nesting--;
    return err;
}

static Err product(Cursor *c, const Expr **e)
{
    TRY(atom(c, e));
    for (;;) {
        ExprKind kind;
        const Expr *y;
        if (take(c, "*"))
            kind = EXPR_MUL;
        else if (take(c, "/"))
            kind = EXPR_DIV;
        else if (take(c, "%"))
            kind = EXPR_MOD;
        else
            break;
        TRY(atom(c, &y));
        if (kind != EXPR_MUL && (y->lo <= 0 || (*e)->lo < 0))
            FAIL_AT(c->r, "'%s' needs a number from 0 up and one from 1 up; here from %lld and from %lld",
                    kind == EXPR_DIV ? "/" : "%", (long long)(*e)->lo, (long long)y->lo);
        *e = expr_op(&c->r->p->hand->pool, kind, *e, y);
        TRY(bounded(c, *e));
    }
    return ERR_OK;
}

static Err sum(Cursor *c, const Expr **e)
{
    TRY(product(c, e));
    for (;;) {
        const Expr *y;
        bool minus = take(c, "-");
        if (!minus && !take(c, "+")) return ERR_OK;
        TRY(product(c, &y));
        *e = expr_op(&c->r->p->hand->pool, minus ? EXPR_SUB : EXPR_ADD, *e, y);
        TRY(bounded(c, *e));
    }
}

static Err number(Cursor *c, HandNumber *n)
{
    skip(c);
    size_t from = c->at;
    c->nesting = 0;
    TRY(sum(c, &n->e));
    n->text = arena_dup(c->r->p->arena, str_trim(str_sub(c->s, from, c->at)));
    TRY_ALLOC(n->text.s);
    return ERR_OK;
}

/* ---- names ---- */

static Err define(Parser *r, Str name, const Expr *e, int depth)
{
    if (r->n_known == HAND_MAX_NAMES) FAIL_AT(r, "more than %d names", HAND_MAX_NAMES);
    for (int i = 0; i < r->n_known; i++)
        if (str_eq(r->known[i].name, name)) FAIL_AT(r, "there is a number '%%%.*s' already", STR_ARG(name));
    r->known[r->n_known++] = (ParseName){name, e, depth};
    return ERR_OK;
}

void parse_close(Parser *r)
{
    while (r->n_known && r->known[r->n_known - 1].depth >= r->depth && r->depth > 0) r->n_known--;
    r->depth--;
}

static Err variable_name(Cursor *c, HandArgs *h)
{
    Str name;
    TRY(name_of(c, "a name (%name)", &name));
    Str copy =
        arena_printf(c->r->p->arena, "v_%.*s",
                     STR_ARG(name)); /* the prefix keeps it from being a keyword of a kernel's language */
    TRY_ALLOC(copy.s);
    h->variable = copy.s;
    h->name = copy.s + 2;
    return ERR_OK;
}

/* ---- the head ---- */

bool parse_is_hand_clause(Str first)
{
    return str_eq_c(first, "problem") || str_eq_c(first, "grid") || str_eq_c(first, "param");
}

/* Reads keys and values of a ProblemType, which are those of a config. */
static Err problem(Parser *r, Hand *h)
{
    Buf yaml, words;
    Node *node;
    ProblemReadOptions o = {.strict = true};
    buf_init(&yaml);
    buf_init(&words);
    buf_putc(&yaml, '{');
    for (; r->at + 1 < r->n; r->at += 2) {
        const Str key = r->word[r->at], value = r->word[r->at + 1];
        buf_printf(&yaml, "%s%.*s: %.*s", yaml.n > 1 ? ", " : "", STR_ARG(key), STR_ARG(value));
        buf_printf(&words, "%s%.*s %.*s", words.n ? " " : "", STR_ARG(key), STR_ARG(value));
    }
    buf_putc(&yaml, '}');
    Err e = buf_check(&yaml);
    if (!e) e = buf_check(&words);
    if (!e && r->at < r->n) e = err_set(ERR_INPUT, "'%.*s' has no value", STR_ARG(r->word[r->at]));
    if (!e) e = yaml_parse(r->p->arena, "problem", buf_view(&yaml), NULL, &node);
    if (!e) e = problem_type_read("problem", node, &o, &h->type);
    if (!e) h->problem = arena_dup(r->p->arena, buf_view(&words));
    buf_fini(&yaml);
    buf_fini(&words);
    r->at = r->n;
    return e ? err_context(e, "%s:%d: ", r->name, r->line) : ERR_OK;
}

static Err param(Cursor *c)
{
    Hand *h = c->r->p->hand;
    while (look(c).n) {
        Str name;
        int i = 0;
        TRY(name_of(c, "a size (%name)", &name));
        while (i < HAND_PARAMS && !str_eq_c(name, hand_params[i])) i++;
        if (i == HAND_PARAMS)
            FAIL_AT(c->r, "'%%%.*s' is no argument: %%M %%N %%K %%lda %%ldb %%ldc %%ldd %%wg0 %%wg1 %%wg2",
                    STR_ARG(name));
        h->used[i] = true;
        TRY(define(c->r, name, hand_param(&h->pool, (HandParam)i), 0));
        (void)take(c, ",");
    }
    return end(c);
}

Err parse_hand_clause(Parser *r, Str first)
{
    Program *p = r->p;
    Cursor c = {.r = r, .s = r->text};
    c.at = (size_t)(first.s - r->text.s) + first.n;
    if (str_eq_c(first, "problem")) {
        if (p->hand) FAIL_AT(r, "a second 'problem'");
        if (p->body || p->n_tiles) FAIL_AT(r, "'problem' stands before tiles and ops");
        TRY_ALLOC(p->hand = ARENA_NEW(p->arena, Hand));
        expr_pool_init(&p->hand->pool, p->arena);
        return problem(r, p->hand);
    }
    if (!p->hand) FAIL_AT(r, "'%.*s' before 'problem'", STR_ARG(first));
    if (str_eq_c(first, "param")) {
        if (r->depth) FAIL_AT(r, "'param' inside of a loop");
        return param(&c);
    }
    TRY(need(&c, "tile_m"));
    TRY(whole(&c, 1, HAND_MAX_SIDE, &p->hand->tile_m));
    TRY(need(&c, "tile_n"));
    TRY(whole(&c, 1, HAND_MAX_SIDE, &p->hand->tile_n));
    return end(&c);
}

/* ---- ops ---- */

static Err tile_of(Cursor *c, int *to)
{
    Str name;
    TRY(name_of(c, "a tile (%name)", &name));
    for (*to = 0; *to < c->r->p->n_tiles; ++*to)
        if (str_eq_c(name, c->r->p->tile[*to].name)) return ERR_OK;
    FAIL_AT(c->r, "there is no tile '%%%.*s'", STR_ARG(name));
}

/* Reads "%d <- %x, %y, %z". The third source has no place in Op.tile; it must be the destination. */
static Err tiles(Cursor *c, Op *o, int sources)
{
    TRY(tile_of(c, &o->tile[0]));
    if (!sources) return ERR_OK;
    TRY(need(c, "<-"));
    for (int i = 1; i <= sources; i++) {
        if (i > 1) TRY(need(c, ","));
        TRY(tile_of(c, &o->tile[i]));
    }
    return ERR_OK;
}

static Err pair(Cursor *c, HandNumber n[2])
{
    TRY(need(c, "["));
    TRY(number(c, &n[0]));
    TRY(need(c, ","));
    TRY(number(c, &n[1]));
    return need(c, "]");
}

static Err init(Cursor *c, Op *o)
{
    TRY(tile_of(c, &o->tile[0]));
    TRY(pair(c, &o->hand->n[0]));
    TRY(need(c, "shape"));
    TRY(pair(c, &o->hand->n[2]));
    TRY(need(c, "strides"));
    return pair(c, &o->hand->n[4]);
}

/* Reads the offsets of update_tile_offset: "k + 32" or "m + 4, k + %step". */
static Err update(Cursor *c, Op *o)
{
    TRY(tile_of(c, &o->tile[0]));
    const Tile *t = &c->r->p->tile[o->tile[0]];
    do {
        Str w = look(c);
        int side = 0;
        while (side < 2 && !str_eq_c(w, program_dims[t->dim[side]])) side++;
        if (side == 2)
            FAIL_AT(c->r, "'%.*s' is no side of %%%s: %s, %s", STR_ARG(w), t->name, program_dims[t->dim[0]],
                    program_dims[t->dim[1]]);
        if (o->hand->n[side].e) FAIL_AT(c->r, "'%.*s' twice", STR_ARG(w));
        c->at += w.n;
        TRY(need(c, "+"));
        TRY(number(c, &o->hand->n[side]));
    } while (take(c, ","));
    return ERR_OK;
}

static Err loop(Cursor *c, Op *o)
{
    Hand *p = c->r->p->hand;
    HandArgs *h = o->hand;
    TRY(variable_name(c, h));
    TRY(need(c, "from"));
    TRY(number(c, &h->n[0]));
    TRY(need(c, "to"));
    TRY(number(c, &h->n[1]));
    TRY(need(c, "step"));
    TRY(whole(c, 1, INT32_MAX, &o->step));
    if (p->n_loops == HAND_MAX_LOOPS) FAIL_AT(c->r, "more than %d loops", HAND_MAX_LOOPS);
    h->slot = HAND_PARAMS + p->n_loops++;
    const Expr *from = h->n[0].e, *to = h->n[1].e;
    const Expr *var =
        expr_var(&p->pool, h->variable, h->slot, from->lo, (to->hi > from->lo ? to->hi : from->lo) + o->step);
    h->counter = var;
    TRY(parse_append(c->r, o, true));
    return define(c->r, str_from(h->name), var, c->r->depth);
}

static Err scalar(Cursor *c, HandArgs *h, bool is_whole)
{
    if (take(c, "alpha")) {
        h->scalar = HAND_ALPHA;
        return ERR_OK;
    }
    if (take(c, "beta")) {
        h->scalar = HAND_BETA;
        return ERR_OK;
    }
    return is_whole ? number(c, &h->n[0]) : real(c, &h->padding);
}

static Err three(Cursor *c, int32_t v[3])
{
    TRY(need(c, "["));
    for (int i = 0; i < 3; i++) {
        if (i) TRY(need(c, ","));
        TRY(whole(c, 1, 1024, &v[i]));
    }
    return need(c, "]");
}

static Err transpose(Cursor *c, HandArgs *h)
{
    int32_t v[2];
    TRY(need(c, "["));
    TRY(whole(c, 0, 1, &v[0]));
    TRY(need(c, ","));
    TRY(whole(c, 0, 1, &v[1]));
    if (v[0] == v[1]) FAIL_AT(c->r, "transpose is [%d, %d], expected [1, 0] or [0, 1]", v[0], v[1]);
    h->transpose = v[0] == 1;
    return need(c, "]");
}

/* Reads attributes: {transpose = [1, 0], padding = 1.0} of loads, {mma = [m, n, k]} of products. */
static Err attributes(Cursor *c, Op *o)
{
    if (!take(c, "{")) return ERR_OK;
    o->hand->has_attributes = true;
    do {
        if (o->kind == OP_LOAD_TILE && take(c, "transpose")) {
            TRY(need(c, "="));
            TRY(transpose(c, o->hand));
        } else if (o->kind == OP_LOAD_TILE && take(c, "padding")) {
            TRY(need(c, "="));
            TRY(real(c, &o->hand->padding));
            o->hand->has_padding = true;
        } else if (o->kind == OP_TILE_MMA && take(c, "mma")) {
            TRY(need(c, "="));
            TRY(three(c, o->hand->mma));
        } else
            FAIL_AT(c->r, "'%.*s' has no attribute '%.*s'", STR_ARG(c->r->word[0]), STR_ARG(look(c)));
    } while (take(c, ","));
    return need(c, "}");
}

/* Reads tile_mma. The tile that is added, where there is one, must be the destination. */
static Err mma(Cursor *c, Op *o)
{
    int sum_tile;
    TRY(tiles(c, o, 2));
    o->set = 0;
    if (!take(c, ",")) return ERR_OK;
    TRY(tile_of(c, &sum_tile));
    if (sum_tile != o->tile[0])
        FAIL_AT(c->r, "tile_mma adds %%%s, expected the tile that it writes, %%%s",
                c->r->p->tile[sum_tile].name, c->r->p->tile[o->tile[0]].name);
    o->set = 1;
    return ERR_OK;
}

static Err let(Cursor *c, Op *o)
{
    TRY(variable_name(c, o->hand));
    TRY(need(c, "="));
    TRY(number(c, &o->hand->n[0]));
    return define(c->r, str_from(o->hand->name), o->hand->n[0].e, c->r->depth);
}

static Err operands(Cursor *c, Op *o)
{
    switch (o->kind) {
    case OP_INIT_TILE:
        return init(c, o);
    case OP_UPDATE_TILE_OFFSET:
        return update(c, o);
    case OP_LET:
        return let(c, o);
    case OP_IF:
        return scalar(c, o->hand, true);
    case OP_PREFETCH_TILE:
        return tiles(c, o, 0);
    case OP_LOAD_TILE:
    case OP_STORE_TILE:
    case OP_CONVERT_TILE:
        return tiles(c, o, 1);
    case OP_TILE_MMA:
        return mma(c, o);
    case OP_ADD_TILE:
    case OP_MULTIPLY_TILE:
        return tiles(c, o, 2);
    case OP_FILL_TILE:
    case OP_SCALE_TILE:
    case OP_SHIFT_TILE:
        TRY(tiles(c, o, 0));
        TRY(need(c, "by"));
        return scalar(c, o->hand, o->kind == OP_SHIFT_TILE);
    case OP_BARRIER:
        return ERR_OK;
    default:
        FAIL_AT(c->r, "'%.*s' is for generated programs", STR_ARG(c->r->word[0]));
    }
}

Err parse_hand_op(Parser *r, Op *o)
{
    Cursor c = {.r = r, .s = r->text};
    c.at = (size_t)(r->word[0].s - r->text.s) + r->word[0].n;
    TRY_ALLOC(o->hand = ARENA_NEW(r->p->arena, HandArgs));
    o->hand->line = r->line;
    if (o->kind == OP_LOOP) {
        TRY(loop(&c, o));
    } else {
        TRY(operands(&c, o));
        if (o->kind != OP_IF) TRY(attributes(&c, o));
        TRY(parse_append(r, o, o->kind == OP_IF));
    }
    if (o->kind == OP_LOOP || o->kind == OP_IF) TRY(need(&c, "{"));
    return end(&c);
}
