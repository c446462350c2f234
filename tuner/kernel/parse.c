/* Reader of programs; see parse.h. A line is a tile, an op, the head or end of a loop, or a clause of numbers
 * (fields.def). Words are separated by blanks; brackets, commas and colons stand for blanks too. */
#include "kernel/parse.h"

#include <string.h>

#include "kernel/contract.h"
#include "kernel/fields.h"
#include "kernel/gpu/maps.h"
#include "kernel/parse_internal.h"
#include "kernel/words.h"

/* ---- words ---- */

/* Is the character a separator? '<-' is a word, but the '<' of "wg_map<[" is a separator. */
static bool is_blank(Str line, size_t i)
{
    return strchr(" \t[],>", line.s[i]) || (line.s[i] == '<' && i + 1 < line.n && line.s[i + 1] == '[');
}

static Err split(Parser *r, Str line)
{
    r->n = r->at = 0;
    for (size_t i = 0; i < line.n;) {
        while (i < line.n && is_blank(line, i)) i++;
        size_t from = i;
        while (i < line.n && !is_blank(line, i)) i++;
        if (i == from) break;
        if (r->n == MAX_WORDS) FAIL_AT(r, "more than %d words in a line", MAX_WORDS);
        r->word[r->n++] = str_sub(line, from, i);
    }
    return ERR_OK;
}

static Str peek(const Parser *r) { return r->at < r->n ? r->word[r->at] : STR_NULL; }
static bool accept(Parser *r, const char *word)
{
    if (!str_eq_c(peek(r), word)) return false;
    r->at++;
    return true;
}

static Err expect(Parser *r, const char *word)
{
    if (accept(r, word)) return ERR_OK;
    FAIL_AT(r, "'%.*s' where '%s' is expected", STR_ARG(peek(r)), word);
}

static Err number(Parser *r, int32_t lo, int32_t *to)
{
    int64_t v;
    if (!str_to_i64(peek(r), &v) || v < lo || v > INT32_MAX)
        FAIL_AT(r, "'%.*s' where a number from %d up is expected", STR_ARG(peek(r)), lo);
    r->at++;
    *to = (int32_t)v;
    return ERR_OK;
}

/* Reads one of a list of words and sets *to to its index. */
static Err one_of(Parser *r, const char *const *words, int n, const char *what, int *to)
{
    for (int i = 0; i < n; i++)
        if (str_eq_c(peek(r), words[i])) {
            r->at++;
            *to = i;
            return ERR_OK;
        }
    FAIL_AT(r, "'%.*s' is no %s", STR_ARG(peek(r)), what);
}

/* ---- tiles ---- */

static Err tile_named(Parser *r, int *to)
{
    Str w = peek(r);
    char name[32];
    if (w.n < 2 || w.n > sizeof name || w.s[0] != '%')
        FAIL_AT(r, "'%.*s' where a tile is expected: %%name", STR_ARG(w));
    memcpy(name, w.s + 1, w.n - 1);
    name[w.n - 1] = 0;
    *to = program_tile(r->p, name);
    if (*to < 0) FAIL_AT(r, "there is no tile '%.*s'", STR_ARG(w));
    r->at++;
    return ERR_OK;
}

static Err map(Parser *r, const char *name, TileMap *m)
{
    if (!accept(r, name)) return ERR_OK;
    for (int i = 0; i < 2; i++) TRY(number(r, 1, &m->layout[i]));
    TRY(expect(r, "of"));
    for (int i = 0; i < 2; i++) TRY(number(r, 1, &m->data[i]));
    return ERR_OK;
}

/* How the threads of a generated program are numbered, and whose lanes they are. */
static Err order(Parser *r, Tile *t)
{
    if (r->p->hand) return ERR_OK;
    t->order.by_columns = accept(r, "by_columns");
    if (accept(r, "inner")) TRY(number(r, 1, &t->order.inner));
    if (accept(r, "share")) TRY(number(r, 2, &t->order.share));
    for (int i = 0; i < 4 && (i || accept(r, "mma")); i++) TRY(number(r, 1, &t->mma[i]));
    return ERR_OK;
}

/* Reads "view": the tile has the view of its operand, which follows from the transposes. */
static Err view(Parser *r, Tile *t, Str line)
{
    if (!accept(r, "view")) return ERR_OK;
    size_t at = line.n;
    for (size_t i = 0; i + 6 <= line.n; i++)
        if (!memcmp(line.s + i, " view ", 6)) at = i + 6;
    Str text = str_trim(str_sub(line, at, line.n));
    Buf known;
    buf_init(&known);
    for (int i = 0; i < 4 && !t->view; i++)
        for (int trans = 0; trans < 2 && !t->view; trans++) {
            View v;
            if (r->p->indices)
                contract_view(&v, r->p->indices, i, NULL);
            else
                program_view(&v, i, trans);
            buf_reset(&known);
            view_dump(&v, &known);
            if (!str_eq(text, buf_view(&known))) continue;
            r->p->view[i] = v;
            t->view = &r->p->view[i];
        }
    Err e = buf_check(&known);
    buf_fini(&known);
    TRY(e);
    if (!t->view)
        FAIL_AT(r, "no operand of %s has the view '%.*s'", r->p->indices ? "the contraction" : "a GEMM",
                STR_ARG(text));
    r->at = r->n;
    return ERR_OK;
}

static Err tile(Parser *r, Str line)
{
    static const char letters[] = "ABCDPE";
    Str name = peek(r), type, operand;
    int space, dim;
    if (r->p->n_tiles == PROGRAM_MAX_TILES) FAIL_AT(r, "more than %d tiles", PROGRAM_MAX_TILES);
    Tile *t = &r->p->tile[r->p->n_tiles];
    *t = (Tile){.n_buffers = 1, .line = r->line};
    if (name.n < 2 || name.n > 31 || name.s[0] != '%')
        FAIL_AT(r, "'%.*s' is no name of a tile", STR_ARG(name));
    for (size_t i = 1; i < name.n; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", name.s[i]) ||
            !name.s[i])
            FAIL_AT(r, "'%.*s' is no name of a tile: letters, digits and '_'", STR_ARG(name));
    Str copy = arena_dup(r->p->arena, str_sub(name, 1, name.n));
    TRY_ALLOC(copy.s);
    if (program_tile(r->p, copy.s) >= 0) FAIL_AT(r, "there is a tile '%.*s' already", STR_ARG(name));
    t->name = copy.s;
    if (r->p->hand) r->p->hand->tile_line[r->p->n_tiles] = r->line;
    r->at++;
    TRY(expect(r, ":"));
    operand = peek(r);
    if (operand.n != 1 || !strchr(letters, operand.s[0]))
        FAIL_AT(r, "'%.*s' is no operand: A, B, C, D, P for sums or E for vectors", STR_ARG(operand));
    t->operand = operand.s[0];
    r->at++;
    TRY(one_of(r, program_spaces, 3, "memory: global, local, register", &space));
    t->space = (Space)space;
    type = peek(r);
    if (!type_find(type, &t->type)) FAIL_AT(r, "'%.*s' is no data type", STR_ARG(type));
    r->at++;
    for (int i = 0; i < 2; i++) {
        TRY(one_of(r, program_dims, 3, "dimension: m, n, k", &dim));
        t->dim[i] = (Dim)dim;
        TRY(number(r, 1, &t->size[i]));
    }
    if (accept(r, "buffers")) TRY(number(r, 1, &t->n_buffers));
    TRY(map(r, "wg_map", &t->wg_map));
    TRY(map(r, "sg_map", &t->sg_map));
    TRY(order(r, t));
    r->p->n_tiles++;
    return view(r, t, line);
}

/* ---- ops ---- */

static Err loop_head(Parser *r, Op *o)
{
    int i;
    o->unroll = o->split = 1;
    TRY(one_of(r, program_dims, 3, "dimension: m, n, k", &i));
    o->dim = (Dim)i;
    TRY(expect(r, "step"));
    TRY(number(r, 1, &o->step));
    TRY(expect(r, "at"));
    TRY(one_of(r, program_levels, 4, "level: group, block, subgroup, lane", &i));
    o->level = (Level)i;
    if (accept(r, "unroll")) TRY(number(r, 1, &o->unroll));
    if (accept(r, "split")) TRY(number(r, 1, &o->split));
    if (accept(r, "phase")) {
        TRY(one_of(r, program_phases, 4, "phase: all, main, drain, rest", &i));
        o->phase = (Phase)i;
    }
    return ERR_OK;
}

static Err operands(Parser *r, Op *o)
{
    if (str_starts(peek(r), "%")) TRY(tile_named(r, &o->tile[0]));
    if (!accept(r, "<-")) return ERR_OK;
    for (int i = 1; i < 3 && str_starts(peek(r), "%"); i++) TRY(tile_named(r, &o->tile[i]));
    return ERR_OK;
}

/* Attributes of the ops of an epilogue. */
static Err epilogue_attributes(Parser *r, Op *o)
{
    int i;
    const int with = o->kind == OP_SCALE_TILE ? o->tile[1] : o->kind == OP_ADD_TILE ? o->tile[2] : -1;
    const char operand = with >= 0 ? r->p->tile[with].operand : 0; /* sums and vectors are not scaled */
    if (o->kind == OP_ACTIVATE_TILE) {
        TRY(expect(r, "by"));
        if (!activation_find(peek(r), &o->activation))
            FAIL_AT(r, "'%.*s' is no activation", STR_ARG(peek(r)));
        r->at++;
    }
    if ((o->kind == OP_SCALE_TILE || o->kind == OP_ADD_TILE) && operand != 'P' && operand != 'E') {
        TRY(expect(r, "by"));
        TRY(one_of(r, program_scalars + 1, 2, "scalar: alpha, beta", &i));
        o->scalar = (Scalar)(i + 1);
    }
    if (o->kind == OP_REDUCE_TILE) {
        TRY(expect(r, "across"));
        TRY(one_of(r, program_across + 1, 3, "place of parts: group, cluster, grid", &i));
        o->across = (Across)(i + 1);
    }
    o->parts = o->kind == OP_STORE_TILE && accept(r, "parts");
    o->last = accept(r, "last");
    return ERR_OK;
}

static Err attributes(Parser *r, Op *o)
{
    int i;
    TRY(epilogue_attributes(r, o));
    if (accept(r, "by")) {
        static const char *const names[] = {"all", "producer", "consumer"};
        TRY(one_of(r, names, 3, "role: all, producer, consumer", &i));
        o->role = (Role)i;
    }
    if (accept(r, "slot")) TRY(number(r, 0, &o->slot));
    if (accept(r, "set")) TRY(number(r, 0, &o->set));
    if (accept(r, "pending")) TRY(number(r, 0, &o->pending));
    if (accept(r, "if_more")) TRY(number(r, 0, &o->ahead));
    if (accept(r, "distance")) TRY(number(r, 0, &o->distance));
    if (accept(r, "guard"))
        while (r->at < r->n && !str_eq_c(peek(r), "{")) {
            TRY(one_of(r, program_dims, 3, "dimension: m, n, k", &i));
            o->guards |= 1u << i;
        }
    return ERR_OK;
}

/* Appends an op to the innermost open block. An op with a body opens a block. */
Err parse_append(Parser *r, Op *o, bool body)
{
    *r->tail[r->depth] = o;
    r->tail[r->depth] = &o->next;
    if (!body) return ERR_OK;
    if (r->depth + 1 == PARSE_MAX_DEPTH) FAIL_AT(r, "loops are nested deeper than %d", PARSE_MAX_DEPTH);
    r->tail[++r->depth] = &o->body;
    return ERR_OK;
}

static Err op(Parser *r, int kind)
{
    Op *o = ARENA_NEW(r->p->arena, Op);
    TRY_ALLOC(o);
    if (r->n_ops++ == PARSE_MAX_OPS) FAIL_AT(r, "more than %d ops", PARSE_MAX_OPS);
    *o = (Op){.kind = (OpKind)kind,
              .tile = {-1, -1, -1},
              .level = LEVEL_GROUP,
              .unroll = 1,
              .split = 1,
              .line = r->line};
    if (r->p->hand) return parse_hand_op(r, o);
    if (kind >= OP_LET) FAIL_AT(r, "'%.*s' is for programs with a 'problem' line", STR_ARG(r->word[0]));
    if (kind == OP_LOOP)
        TRY(loop_head(r, o));
    else
        TRY(operands(r, o));
    if (kind == OP_UPDATE_TILE_OFFSET) {
        int i;
        TRY(one_of(r, program_dims, 3, "dimension: m, n, k", &i));
        o->dim = (Dim)i;
        TRY(expect(r, "+"));
        TRY(number(r, INT32_MIN, &o->step));
    }
    TRY(attributes(r, o));
    TRY(parse_append(r, o, kind == OP_LOOP));
    return kind == OP_LOOP ? expect(r, "{") : ERR_OK;
}

/* ---- clauses ---- */

static Err target(Parser *r)
{
    Program *p = r->p;
    if (r->has_target) FAIL_AT(r, "a second program in one file");
    r->has_target = true;
    if (accept(r, "any")) return ERR_OK;
    p->target = target_find(peek(r));
    if (!p->target) FAIL_AT(r, "unknown architecture '%.*s'", STR_ARG(peek(r)));
    r->at++;
    if (!target_family(p->target)->is_gpu) {
        TRY_ALLOC(r->host = ARENA_NEW(p->arena, HostPlan));
        r->host->target = p->target;
        p->host = r->host;
    } else {
        TRY_ALLOC(r->gpu = ARENA_NEW(p->arena, GpuPlan));
        gpu_plan_init(r->gpu, p->target);
        p->gpu = r->gpu;
    }
    return ERR_OK;
}

static Err contraction(Parser *r)
{
    Indices *x = ARENA_NEW(r->p->arena, Indices);
    TRY_ALLOC(x);
    Err e = contract_read(&r->word[r->at], r->n - r->at, x);
    if (e) return err_context(e, "%s:%d: ", r->name, r->line);
    r->p->indices = x;
    r->at = r->n;
    return ERR_OK;
}

static Err clause(Parser *r, Str name)
{
    if (r->p->hand && !str_eq_c(name, "walk")) FAIL_AT(r, "unknown word '%.*s'", STR_ARG(name));
    FieldsOf of = fields_have(FIELDS_WALK, name) ? FIELDS_WALK : r->host ? FIELDS_HOST : FIELDS_GPU;
    void *to = of == FIELDS_WALK ? (void *)&r->p->walk : r->host ? (void *)r->host : (void *)r->gpu;
    if (str_eq_c(name, "contraction")) return contraction(r);
    if (!fields_have(of, name)) FAIL_AT(r, "unknown word '%.*s'", STR_ARG(name));
    while (r->at < r->n) {
        Str key = r->word[r->at++];
        if (r->at == r->n) FAIL_AT(r, "'%.*s' has no value", STR_ARG(key));
        Err e = fields_set(of, name, key, r->word[r->at++], to);
        if (e) return err_context(e, "%s:%d: ", r->name, r->line);
    }
    return ERR_OK;
}

static Err line_read(Parser *r, Str line)
{
    if (r->p->hand) line = str_sub(line, 0, str_find(line, ';', 0)); /* ';' begins a comment */
    r->text = line;
    TRY(split(r, line));
    if (r->n == 0 || r->word[0].s[0] == ';' || r->word[0].s[0] == '#') return ERR_OK;
    Str first = r->word[r->at++];
    if (str_eq_c(first, "title")) {
        r->p->title = arena_dup(r->p->arena, str_trim(str_sub(str_trim(line), 5, line.n)));
        TRY_ALLOC(r->p->title.s);
        return ERR_OK;
    }
    if (str_eq_c(first, "program"))
        TRY(target(r));
    else if (!r->has_target)
        FAIL_AT(r, "'%.*s' before 'program ARCHITECTURE'", STR_ARG(first));
    else if (parse_is_hand_clause(first))
        return parse_hand_clause(r, first);
    else if (!r->p->target && !r->p->hand)
        FAIL_AT(r, "'%.*s' before 'problem' in a program for any architecture", STR_ARG(first));
    else if (str_eq_c(first, "tile") && str_starts(peek(r), "%"))
        TRY(tile(r, line));
    else if (str_eq_c(first, "}")) {
        if (r->depth == 0) FAIL_AT(r, "'}' without a loop");
        parse_close(r);
    } else {
        int kind = program_op_named(first);
        if (kind >= 0 && r->p->hand) return op(r, kind);
        if (kind >= 0)
            TRY(op(r, kind));
        else
            TRY(clause(r, first));
    }
    if (r->at < r->n) FAIL_AT(r, "unexpected '%.*s'", STR_ARG(peek(r)));
    return ERR_OK;
}

/* Numbers of a walk that do not go with each other. */
static Err check_walk(const Walk *w)
{
    if (w->stream_k > 3) FAIL(ERR_INPUT, "walk stream_k %d, at most 3", w->stream_k);
    if (w->stream_k && (w->persistent == w->stream_even || w->split > 1))
        FAIL(ERR_INPUT, "walk stream_k %d needs persistent %d and split 1, not %d and %d", w->stream_k,
             !w->stream_even, w->persistent, w->split);
    if (w->stream_part && w->stream_k < 2)
        FAIL(ERR_INPUT, "walk stream_part %d needs stream_k 2 or 3, not %d", w->stream_part, w->stream_k);
    if (w->stream_even && (w->stream_k < 2 || w->stream_part))
        FAIL(ERR_INPUT, "walk stream_even needs stream_k 2 or 3 and stream_part 0, not %d and %d",
             w->stream_k, w->stream_part);
    return ERR_OK;
}

Err program_parse(Program *p, Str text, const char *name, Arena *arena)
{
    Parser r = {.p = p, .name = name};
    memset(p, 0, sizeof *p);
    p->arena = arena;
    r.tail[0] = &p->body;
    if (text.n > PARSE_MAX_BYTES)
        FAIL(ERR_INPUT, "%s: a program of %zu bytes, at most %d", name, text.n, (int)PARSE_MAX_BYTES);
    Str rest = text, line;
    while (str_split(&rest, '\n', &line)) {
        r.line++;
        TRY(line_read(&r, line));
    }
    if (!r.has_target) FAIL(ERR_INPUT, "%s: no 'program ARCHITECTURE'", name);
    if (!p->target && !p->hand) FAIL(ERR_INPUT, "%s: no 'problem' in a program for any architecture", name);
    if (r.depth) FAIL(ERR_INPUT, "%s:%d: a loop is not closed", name, r.line);
    if (p->hand) return expr_pool_check(&p->hand->pool);
    Err e = fields_check(FIELDS_WALK, &p->walk);
    if (!e) e = check_walk(&p->walk);
    if (!e) e = fields_check(r.host ? FIELDS_HOST : FIELDS_GPU, r.host ? (void *)r.host : (void *)r.gpu);
    if (!e && r.gpu) {
        r.gpu->walk = p->walk;
        r.gpu->indices = p->indices;
        e = gpu_verify(p, name);
        return e;
    }
    if (!e && r.host) return host_epilogue_read(p, name);
    return e ? err_context(e, "%s: ", name) : ERR_OK;
}
