/* Building statements; stmt_print.c prints them. See stmt.h. */
#include "kernel/lower/stmt.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"

/* What a call returns when memory has run out: a tree of no use, of which stmts_check tells. */
static const Expr no_expr = {.kind = EXPR_CONST};
static const Value no_value = {.kind = VALUE_EXPR, .expr = &no_expr};
static Stmt no_stmt;

void stmts_init(Stmts *s, size_t limit_bytes)
{
    *s = (Stmts){.tail = NULL};
    arena_init(&s->arena, limit_bytes);
    expr_pool_init(&s->pool, &s->arena);
    s->tail = &s->first;
}

void stmts_fini(Stmts *s) { arena_fini(&s->arena); }

Err stmts_check(const Stmts *s)
{
    if (s->failed || s->pool.failed) FAIL(ERR_FAILED, "out of memory for the statements of a kernel");
    if (s->open) BUG("a block of statements was not closed");
    return ERR_OK;
}

static void *take(Stmts *s, size_t n, size_t size)
{
    void *p = arena_array(&s->arena, n, size);
    if (!p) s->failed = true;
    return p;
}

/* A copy of n things. */
static const void *copy(Stmts *s, const void *from, int n, size_t size)
{
    void *to = take(s, (size_t)n, size);
    if (to && n) memcpy(to, from, (size_t)n * size);
    return to;
}

/* Nearly all names are short: they are printed once. */
static const char *name_v(Stmts *s, const char *fmt, va_list ap)
{
    char text[128], *name;
    va_list again;
    va_copy(again, ap);
    const int n = vsnprintf(text, sizeof text, fmt, ap);
    name = n < 0 ? NULL : take(s, (size_t)n + 1, 1);
    s->failed = s->failed || !name;
    if (name && (size_t)n < sizeof text)
        memcpy(name, text, (size_t)n + 1);
    else if (name)
        vsnprintf(name, (size_t)n + 1, fmt, again);
    va_end(again);
    return name ? name : "";
}

const char *stmts_name(Stmts *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *name = name_v(s, fmt, ap);
    va_end(ap);
    return name;
}

/* ---- values ---- */

static const Value *value(Stmts *s, Value v)
{
    Value *to = take(s, 1, sizeof *to);
    if (!to) return &no_value;
    *to = v;
    return to;
}

const Value *value_expr(Stmts *s, const Expr *e) { return value(s, (Value){.kind = VALUE_EXPR, .expr = e}); }

const Value *value_int(Stmts *s, int64_t number) { return value_expr(s, expr_const(&s->pool, number)); }

const Value *value_reg(Stmts *s, const char *name)
{
    return value(s, (Value){.kind = VALUE_NAME, .name = name});
}

const Value *value_named(Stmts *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *name = name_v(s, fmt, ap);
    va_end(ap);
    return value_reg(s, name);
}

const Value *value_literal(Stmts *s, const char *text) { return value_reg(s, text); }

const Value *value_at(Stmts *s, const Value *x, const Expr *i)
{
    return value(s, (Value){.kind = VALUE_AT, .x = x, .expr = i});
}

const Value *value_at_i(Stmts *s, const Value *x, int64_t i)
{
    return value_at(s, x, expr_const(&s->pool, i));
}

const Value *value_field(Stmts *s, const Value *x, const char *field)
{
    return value(s, (Value){.kind = VALUE_FIELD, .x = x, .name = field});
}

const Value *value_op(Stmts *s, ValueOp op, const Value *x, const Value *y)
{
    return value(s, (Value){.kind = VALUE_OP, .op = op, .x = x, .y = y});
}

const Value *value_select(Stmts *s, const Value *condition, const Value *then, const Value *otherwise)
{
    return value(s, (Value){.kind = VALUE_SELECT, .x = then, .y = otherwise, .z = condition});
}

const Value *value_cast(Stmts *s, const char *type, const Value *x)
{
    return value(s, (Value){.kind = VALUE_CAST, .name = type, .x = x});
}

static const Value *of_access(Stmts *s, ValueKind kind, Access a)
{
    const Access *kept = copy(s, &a, 1, sizeof a);
    return kept ? value(s, (Value){.kind = kind, .access = kept}) : &no_value;
}

const Value *value_load(Stmts *s, Access a) { return of_access(s, VALUE_LOAD, a); }
const Value *value_place(Stmts *s, Access a) { return of_access(s, VALUE_PLACE, a); }

static const Value *of_list(Stmts *s, ValueKind kind, const char *name, int n, const Value *const *x)
{
    const Value *const *list = copy(s, x, n, sizeof *x);
    return list ? value(s, (Value){.kind = kind, .name = name, .list = list, .n = n}) : &no_value;
}

const Value *value_call_n(Stmts *s, const char *f, int n, const Value *const *x)
{
    return of_list(s, VALUE_CALL, f, n, x);
}

const Value *value_list_n(Stmts *s, int n, const Value *const *x)
{
    return of_list(s, VALUE_LIST, NULL, n, x);
}

const Value *value_stage(Stmts *s, const StageRing *r, const Value *base, const Value *cursor)
{
    return value(s, (Value){.kind = VALUE_STAGE, .x = base, .y = cursor, .ring = r});
}

/* ---- the tree ---- */

static Stmt *add(Stmts *s, StmtKind kind)
{
    Stmt *to = take(s, 1, sizeof *to);
    if (!to) {
        no_stmt = (Stmt){.kind = kind};
        return &no_stmt;
    }
    *to = (Stmt){.kind = kind};
    *s->tail = to;
    s->tail = &to->next;
    return to;
}

/* What follows goes into the body. Without memory the block counts all the same. */
static void open_block(Stmts *s, Stmt *block)
{
    if (s->failed) return;
    block->parent = s->open;
    block->known = s->n_known;
    s->open = block;
    s->tail = &block->body;
}

void stmt_end(Stmts *s)
{
    if (s->failed) return;
    if (!s->open) BUG("no block of statements is open");
    s->n_known = s->open->known;
    s->tail = &s->open->next;
    s->open = s->open->parent;
}

void stmt_else(Stmts *s)
{
    if (s->failed) return;
    if (!s->open || s->open->kind != STMT_IF || s->open->has_else) BUG("no condition is open");
    s->n_known = s->open->known;
    s->open->has_else = true;
    s->tail = &s->open->otherwise;
}

/* ---- named expressions ---- */

void stmt_known(Stmts *s, const Expr *e)
{
    if (e->kind != EXPR_NAMED) return;
    if (s->n_known == s->cap_known) {
        int cap = s->cap_known ? 2 * s->cap_known : 16;
        const Expr **to = take(s, (size_t)cap, sizeof *to);
        if (!to) return;
        if (s->n_known) memcpy(to, s->known, (size_t)s->n_known * sizeof *to);
        s->known = to, s->cap_known = cap;
    }
    s->known[s->n_known++] = e;
}

static bool is_known(const Stmts *s, const Expr *e)
{
    for (int i = s->n_known - 1; i >= 0; i--)
        if (s->known[i] == e || (!strcmp(s->known[i]->name, e->name) && expr_same(s->known[i], e)))
            return true;
    return false;
}

static void let(Stmts *s, const char *name, const Expr *e)
{
    Stmt *to = add(s, STMT_LET);
    to->name = name, to->expr = e;
}

/* Declares the named expressions that e consists of, in an order that compiles. */
static void declare(Stmts *s, const Expr *e)
{
    if (!e || s->failed) return;
    if (e->kind != EXPR_NAMED) {
        if (!e->x) return;
        declare(s, e->z), declare(s, e->x), declare(s, e->y);
        return;
    }
    if (is_known(s, e)) return;
    declare(s, e->x);
    stmt_known(s, e);
    let(s, e->name, e->x);
}

static void declare_access(Stmts *s, const Access *a);

static void declare_value(Stmts *s, const Value *v)
{
    if (!v) return;
    declare(s, v->expr);
    declare_value(s, v->z), declare_value(s, v->x), declare_value(s, v->y);
    for (int i = 0; i < v->n; i++) declare_value(s, v->list[i]);
    if (v->access) declare_access(s, v->access);
}

static void declare_access(Stmts *s, const Access *a)
{
    declare(s, a->guard);
    declare_value(s, a->base);
    declare(s, a->offset);
}

const Expr *stmt_let(Stmts *s, const char *name, const Expr *e)
{
    const Expr *kept = expr_kept(&s->pool, name, e);
    if (kept->kind == EXPR_NAMED && is_known(s, kept)) return kept;
    declare(s, e);
    if (e->kind != EXPR_NAMED || strcmp(e->name, name)) let(s, name, e);
    stmt_known(s, kept);
    return kept;
}

/* ---- functions and types ---- */

void stmt_function(Stmts *s, Function f)
{
    f.param = copy(s, f.param, f.n_params, sizeof *f.param);
    const Function *kept = copy(s, &f, 1, sizeof f);
    Stmt *to = add(s, STMT_FUNCTION);
    to->function = kept;
    open_block(s, to);
}

void stmt_struct(Stmts *s, const char *name, int align_bytes)
{
    Stmt *to = add(s, STMT_STRUCT);
    to->name = name, to->number = align_bytes;
    open_block(s, to);
}

void stmt_typedef(Stmts *s, const char *type, const char *name, const char *attribute)
{
    Stmt *to = add(s, STMT_TYPEDEF);
    to->type = type, to->name = name, to->attribute = attribute;
}

void stmt_constant(Stmts *s, const char *type, const char *name, int64_t number)
{
    Stmt *to = add(s, STMT_CONSTANT);
    to->type = type, to->name = name, to->number = number;
}

void stmt_macro(Stmts *s, const char *name, const char *text)
{
    Stmt *to = add(s, STMT_MACRO);
    to->name = name, to->type = text;
}

void stmt_file(Stmts *s, const char *name) { add(s, STMT_FILE)->name = name; }

/* ---- declarations and assignments ---- */

static const Value *declaration(Stmts *s, StmtKind kind, const char *type, const char *name, const Value *x)
{
    declare_value(s, x);
    Stmt *to = add(s, kind);
    to->type = type, to->name = name, to->x = x;
    return value_reg(s, name);
}

const Value *stmt_define(Stmts *s, const char *type, const char *name, const Value *x)
{
    return declaration(s, STMT_DEFINE, type, name, x);
}

const Value *stmt_var(Stmts *s, const char *type, const char *name, const Value *x)
{
    return declaration(s, STMT_VAR, type, name, x);
}

const Value *stmt_array(Stmts *s, const char *type, const char *name, const int *dims)
{
    Stmt *to = add(s, STMT_VAR);
    to->type = type, to->name = name;
    for (int i = 0; i < STMT_MAX_DIMS && dims[i]; i++) to->dims[i] = dims[i];
    return value_reg(s, name);
}

void stmt_set(Stmts *s, const Value *at, const Value *x)
{
    declare_value(s, at), declare_value(s, x);
    Stmt *to = add(s, STMT_SET);
    to->to = at, to->x = x;
}

void stmt_update(Stmts *s, ValueOp op, const Value *at, const Value *x)
{
    declare_value(s, at), declare_value(s, x);
    Stmt *to = add(s, STMT_UPDATE);
    to->op = op, to->to = at, to->x = x;
}

void stmt_store(Stmts *s, Access a, const Value *x)
{
    declare_access(s, &a), declare_value(s, x);
    const Access *kept = copy(s, &a, 1, sizeof a);
    Stmt *to = add(s, STMT_STORE);
    to->access = kept, to->x = x;
}

void stmt_do(Stmts *s, const Value *x)
{
    declare_value(s, x);
    add(s, STMT_DO)->x = x;
}

/* ---- control ---- */

const Expr *stmt_loop(Stmts *s, Loop l)
{
    declare(s, l.start), declare(s, l.limit), declare(s, l.step_by), declare_value(s, l.condition);
    if (!l.step) l.step = 1;
    const Loop *kept = copy(s, &l, 1, sizeof l);
    Stmt *to = add(s, STMT_LOOP);
    to->loop = kept;
    open_block(s, to);
    int64_t lo = l.start && l.step > 0 ? l.start->lo : 0, hi = l.limit ? l.limit->hi - 1 : UINT32_MAX;
    return expr_var(&s->pool, l.var, l.slot, lo, hi < lo ? lo : hi);
}

const Expr *stmt_unrolled(Stmts *s, const char *var, int slot, int64_t n)
{
    return stmt_loop(s, (Loop){.var = var,
                               .start = expr_const(&s->pool, 0),
                               .limit = expr_const(&s->pool, n),
                               .slot = slot,
                               .unroll = UNROLL_FULL});
}

void stmt_if(Stmts *s, const Value *condition)
{
    declare_value(s, condition);
    Stmt *to = add(s, STMT_IF);
    to->x = condition;
    open_block(s, to);
}

void stmt_if_expr(Stmts *s, const Expr *condition) { stmt_if(s, value_expr(s, condition)); }

void stmt_if_seldom(Stmts *s, const Value *condition)
{
    stmt_if(s, condition);
    if (!s->failed) s->open->is_seldom = true;
}

void stmt_block(Stmts *s) { open_block(s, add(s, STMT_BLOCK)); }

void stmt_return(Stmts *s, const Value *x)
{
    declare_value(s, x);
    add(s, STMT_RETURN)->x = x;
}

void stmt_leave(Stmts *s) { add(s, STMT_LEAVE); }
void stmt_next(Stmts *s) { add(s, STMT_NEXT); }
void stmt_barrier(Stmts *s) { add(s, STMT_BARRIER); }
void stmt_wait(Stmts *s, int pending) { add(s, STMT_WAIT)->number = pending; }

void stmt_copy(Stmts *s, Access to, Access from, const Value *valid)
{
    const Access both[] = {to, from};
    declare_access(s, &to), declare_access(s, &from), declare_value(s, valid);
    const Access *kept = copy(s, both, 2, sizeof *both);
    Stmt *at = add(s, STMT_COPY);
    at->access = kept, at->x = valid;
}

void stmt_commit(Stmts *s) { add(s, STMT_COMMIT); }

void stmt_await(Stmts *s, const StageRing *r, const Value *cursor, int ahead)
{
    Stmt *to = add(s, STMT_AWAIT);
    to->ring = r, to->to = cursor, to->dims[0] = ahead, to->number = UNDERIVED;
}

static const Value *cursor_at(Stmts *s, const StageRing *r, const char *type, const Value *cursor, int stage)
{
    Stmt *to = add(s, STMT_CURSOR);
    to->ring = r, to->type = type, to->to = cursor, to->number = stage;
    return cursor;
}

const Value *stmt_cursor(Stmts *s, const StageRing *r, const char *type, const char *name, int first)
{
    return cursor_at(s, r, type, value_reg(s, name), first);
}

void stmt_cursor_set(Stmts *s, const StageRing *r, const Value *cursor, int stage)
{
    cursor_at(s, r, NULL, cursor, stage);
}

void stmt_advance(Stmts *s, const StageRing *r, const Value *cursor)
{
    Stmt *to = add(s, STMT_ADVANCE);
    to->ring = r, to->to = cursor;
}

void stmt_box(Stmts *s, Access to, const Value *full, Box b)
{
    declare_access(s, &to);
    for (int i = 0; i < BOX_NUMBERS; i++)
        if (b.at[i]) declare_value(s, b.at[i]);
    const Access *kept = copy(s, &to, 1, sizeof to);
    const Box *box = copy(s, &b, 1, sizeof b);
    Stmt *at = add(s, STMT_BOX);
    at->access = kept, at->x = full, at->box = box;
}

void stmt_expect(Stmts *s, const Value *full)
{
    Stmt *at = add(s, STMT_EXPECT);
    at->x = full, at->number = UNDERIVED;
}

void stmt_store_await(Stmts *s, const Value *address)
{
    declare_value(s, address);
    Stmt *at = add(s, STMT_STORE_AWAIT);
    at->to = address, at->number = UNDERIVED;
}

void stmt_phase(Stmts *s, const Value *barrier, const Value *parity)
{
    declare_value(s, parity);
    Stmt *at = add(s, STMT_PHASE);
    at->to = barrier, at->x = parity;
}

void stmt_arrive(Stmts *s, const Value *barrier, const Value *rank)
{
    declare_value(s, rank);
    Stmt *at = add(s, STMT_ARRIVE);
    at->to = barrier, at->x = rank;
}

void stmt_product(Stmts *s, Product p)
{
    declare_value(s, p.x), declare_value(s, p.y), declare_value(s, p.add);
    const Product *kept = copy(s, &p, 1, sizeof p);
    add(s, STMT_PRODUCT)->product = kept;
}

void stmt_product_fence(Stmts *s) { add(s, STMT_PRODUCT_FENCE); }
void stmt_product_commit(Stmts *s) { add(s, STMT_PRODUCT_COMMIT); }

void stmt_product_await(Stmts *s, const Value *of)
{
    Stmt *at = add(s, STMT_PRODUCT_AWAIT);
    at->x = of, at->number = UNDERIVED;
}

void stmt_fence(Stmts *s) { add(s, STMT_FENCE); }
void stmt_comment(Stmts *s, const char *text) { add(s, STMT_COMMENT)->name = text; }
void stmt_gap(Stmts *s) { add(s, STMT_GAP); }

void stmt_asm(Stmts *s, Asm a)
{
    int n = a.n_outputs + a.n_inputs;
    for (int i = 0; i < n; i++) declare_value(s, a.operand[i].x);
    a.operand = copy(s, a.operand, n, sizeof *a.operand);
    const Asm *kept = copy(s, &a, 1, sizeof a);
    add(s, STMT_ASM)->assembly = kept;
}
