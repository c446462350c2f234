/* Kernels without local memory: threads load vectors of A and B from global memory into registers and
 * multiply them, for products with a side of a few elements. Groups of threads share K and add up their sums
 * at the end (gpu_store).
 *
 * A thread has ThreadTile0 x ThreadTile1 elements of D in pieces of consecutive ones, as many as a load has
 * along M or N; pieces are SubGroup of them apart. It takes `steps` runs of k_step consecutive elements of K
 * from every DepthU; runs of the groups alternate. The rest of K, and operands whose vectors are misaligned
 * or hang over an edge, are read element by element.
 */
#include "kernel/gpu/gpu.h"

/* Returns the number of consecutive rows (or columns) in a piece of a thread. */
static int vector_of(const GpuOperand *x) { return x->tlu ? x->width : 1; }

/* Return the number of loads of a run, along M or N and along K. */
static int loads_free(const GpuPlan *p, int n) { return p->tt[n] / vector_of(&p->op[n]); }
static int loads_k(const GpuPlan *p, int n) { return p->op[n].tlu ? p->k_step : p->k_step / p->op[n].width; }

/* Element e of the piece of a thread's rows (n 0) or columns, in the tile. */
static const Expr *free_of(ExprPool *pool, const GpuPlan *p, int n, const Expr *piece, const Expr *e)
{
    const Expr *tid = gpu_tid(pool, p);
    const Expr *thread =
        n ? expr_mod_i(pool, expr_div_i(pool, tid, p->sg[0]), p->sg[1]) : expr_mod_i(pool, tid, p->sg[0]);
    const Expr *vector = expr_add(pool, expr_mul_i(pool, piece, p->sg[n]), thread);
    return expr_add(pool, expr_mul_i(pool, vector, vector_of(&p->op[n])), e);
}

/* ---- sums ---- */

static void places(const GpuPlan *p, Stmts *s)
{
    static const char *const name[] = {"@acc_row", "@acc_col"};
    ExprPool *pool = &s->pool;
    const Expr *number = gpu_counter(pool, "i", GPU_NUMBER, p->n_acc);
    const Expr *in[] = {expr_mod_i(pool, number, p->tt[0]), expr_div_i(pool, number, p->tt[0])};
    for (int i = 0; i < 2; i++) {
        const int v = vector_of(&p->op[i]);
        stmt_function(s, (Function){.result = "unsigned",
                                    .name = name[i],
                                    STMT_PARAMS({"unsigned", "tid"}, {"int", "i"})});
        const Expr *piece = expr_div_i(pool, in[i], v), *e = expr_mod_i(pool, in[i], v);
        stmt_return(s, value_expr(s, free_of(pool, p, i, piece, e)));
        stmt_end(s);
    }
    stmt_gap(s);
}

/* ---- whole chunks ---- */

static const char *const arrays[] = {"a", "b"};

static void chunk_struct(const GpuPlan *p, Stmts *s)
{
    stmt_struct(s, "@Chunk", 0);
    for (int n = 0; n < 2; n++)
        stmt_array(s, stmts_name(s, "@VP%d", p->op[n].width * p->in.parts), arrays[n],
                   DIMS(p->steps, loads_free(p, n) * loads_k(p, n)));
    stmt_end(s);
    stmt_gap(s);
}

/* Declares the variable `free`, the row or column of the operand that tile position `at` reads. */
static const Expr *let_free(Stmts *s, const GpuOperand *x, const Expr *at)
{
    stmt_define(s, "unsigned long long", "free", gpu_near(s, gpu_operand_index(x), value_reg(s, "t"), at));
    return gpu_stride(s, "free");
}

/* The same for a vector that begins there. One that straddles the edge is shifted back to end at it; its rows
 * are then those of @edge_row. */
static const Expr *let_vector(Stmts *s, const GpuOperand *x, const Expr *at)
{
    ExprPool *pool = &s->pool;
    const bool a = x->name == 'a';
    if (!x->tlu || x->width == 1) return let_free(s, x, at);
    const Expr *last = expr_u31(pool, expr_add_i(pool, gpu_side(s, !a), -x->width));
    const Expr *free = expr_add(pool, gpu_origin(s, !a), at);
    stmt_define(s, "unsigned long long", "free", value_expr(s, expr_op(pool, EXPR_MIN, free, last)));
    return gpu_stride(s, "free");
}

static const Expr *element_of(const GpuPlan *p, Stmts *s, const GpuOperand *x, const Expr *free,
                              const Expr *k)
{
    return gpu_operand_address(&s->pool, p, x, free, k, gpu_leading(s, gpu_operand_index(x)));
}

/* The first element of K of the thread's run number `run` of the chunk at k0. */
static const Expr *run_of(Stmts *s, const GpuPlan *p, const Expr *run)
{
    ExprPool *pool = &s->pool;
    const Expr *turn = expr_add(pool, expr_mul_i(pool, run, p->lsu), gpu_part_of_k(pool, p));
    return expr_add(pool, expr_var(pool, "k0", 0, 0, UINT32_MAX), expr_mul_i(pool, turn, p->k_step));
}

static void load_operand(const GpuPlan *p, Stmts *s, int n)
{
    ExprPool *pool = &s->pool;
    const GpuOperand *x = &p->op[n];
    const int parts = x->width * p->in.parts, pieces = loads_free(p, n), along = loads_k(p, n);
    const Expr *i = stmt_unrolled(s, "i", GPU_I, pieces);
    const Expr *free = let_vector(s, x, free_of(pool, p, n, i, expr_const(pool, 0)));
    const Expr *run = stmt_unrolled(s, "s", GPU_STEP, p->steps);
    const Expr *e = stmt_unrolled(s, "e", GPU_E, along);
    const Expr *k = expr_add(pool, run_of(s, p, run), expr_mul_i(pool, e, x->tlu ? 1 : x->width));
    k = stmt_let(s, "k", expr_u32(pool, k));
    Access from = access_at(SPACE_GLOBAL, stmts_name(s, "@VP%du", parts), x->width * gpu_type_bytes(&p->in),
                            gpu_operand_start(s, gpu_operand_index(x)),
                            expr_mul_i(pool, element_of(p, s, x, free, k), gpu_type_bytes(&p->in)));
    from.hint = x->hint;
    const Value *to = value_at(s, value_named(s, "c.%s", arrays[n]), run);
    stmt_set(s, value_at(s, to, expr_add(pool, expr_mul_i(pool, e, pieces), i)), value_load(s, from));
    for (int open = 0; open < 3; open++) stmt_end(s);
}

static void loads(const GpuPlan *p, Stmts *s)
{
    stmt_function(s, (Function){.name = "@chunk_load",
                                STMT_PARAMS({"@Chunk &", "c"}, {"const @Tile &", "t"}, {"unsigned", "tid"},
                                            {"unsigned", "k0"})});
    for (int n = 0; n < 2; n++) load_operand(p, s, n);
    stmt_end(s);
    stmt_gap(s);
}

/* ---- products ---- */

/* Converts a part (real or imaginary) of an element to the type of the sums. */
static const Value *widened(const GpuPlan *p, Stmts *s, int n, const Value *part)
{
    const DataType type = p->op[n].type.type;
    if (p->in.parts == 2) return part;
    if (type == TYPE_I8) return value_cast(s, "int", part);
    return *gpu_widen(type) ? value_call(s, gpu_widen(type), part) : part;
}

/* Part q of element i of the thread's rows or columns, element k of a run, in the vectors of that run. */
static const Value *of_vectors(const GpuPlan *p, Stmts *s, int n, const Expr *i, const Expr *k, int q)
{
    ExprPool *pool = &s->pool;
    const GpuOperand *x = &p->op[n];
    const int v = vector_of(x), along = x->tlu ? 1 : x->width;
    const Expr *load = expr_add(pool, expr_mul_i(pool, expr_div_i(pool, k, along), loads_free(p, n)),
                                expr_div_i(pool, i, v));
    const Expr *in = x->tlu ? expr_mod_i(pool, i, v) : expr_mod_i(pool, k, along);
    const Value *runs =
        value_at(s, value_named(s, "c.%s", arrays[n]), gpu_counter(pool, "s", GPU_STEP, p->steps));
    const Expr *part = expr_add_i(pool, expr_mul_i(pool, in, p->in.parts), q);
    return widened(p, s, n, value_at(s, value_at(s, runs, load), part));
}

/* The same for elements that are loaded one by one. */
static const Value *of_elements(const GpuPlan *p, Stmts *s, int n, const Expr *i, const Expr *k, int q)
{
    ExprPool *pool = &s->pool;
    const Value *all = value_at(s, value_named(s, "%s", arrays[n]), k);
    return widened(p, s, n, value_at(s, all, expr_add_i(pool, expr_mul_i(pool, i, p->in.parts), q)));
}

typedef const Value *(*ElementOf)(const GpuPlan *p, Stmts *s, int n, const Expr *i, const Expr *k, int q);

/* (ar + i ai)(br + i bi) by four products; conjugated operands have signs of their own. */
static void mac_complex(const GpuPlan *p, Stmts *s, const Value *const x[4], const Expr *number)
{
    ExprPool *pool = &s->pool;
    const bool conj_a = p->op[0].conj, conj_b = p->op[1].conj;
    const Value *v = value_reg(s, "acc.v"), *re = value_at(s, v, expr_mul_i(pool, number, 2)),
                *im = value_at(s, v, expr_add_i(pool, expr_mul_i(pool, number, 2), 1));
    const Value *ai = value_op(s, VALUE_NEG, x[1], NULL), *bi = value_op(s, VALUE_NEG, x[3], NULL);
    stmt_set(
        s, re,
        value_call(s, "@fma", conj_a == conj_b ? ai : x[1], x[3], value_call(s, "@fma", x[0], x[2], re)));
    stmt_set(
        s, im,
        value_call(s, "@fma", conj_a ? ai : x[1], x[2], value_call(s, "@fma", x[0], conj_b ? bi : x[3], im)));
}

/* Adds the products of elements k of the thread's rows and columns. */
static void mac(const GpuPlan *p, Stmts *s, const Expr *k, ElementOf element)
{
    ExprPool *pool = &s->pool;
    const char *f = p->acc.type != TYPE_I ? "@fma" : p->in.type == TYPE_4XI8 ? "@dot4" : "@mad24";
    const Expr *j = stmt_unrolled(s, "j", GPU_Q, p->tt[1]), *i = stmt_unrolled(s, "i", GPU_I, p->tt[0]);
    const Expr *number = expr_add(pool, expr_mul_i(pool, j, p->tt[0]), i);
    const Value *sum = value_at(s, value_reg(s, "acc.v"), number);
    if (p->acc.parts == 2) {
        const Value *const x[] = {element(p, s, 0, i, k, 0), element(p, s, 0, i, k, 1),
                                  element(p, s, 1, j, k, 0), element(p, s, 1, j, k, 1)};
        mac_complex(p, s, x, number);
    } else
        stmt_set(s, sum, value_call(s, f, element(p, s, 0, i, k, 0), element(p, s, 1, j, k, 0), sum));
    stmt_end(s);
    stmt_end(s);
}

static void products(const GpuPlan *p, Stmts *s)
{
    stmt_function(s,
                  (Function){.name = "@chunk_mac", STMT_PARAMS({"@Acc &", "acc"}, {"const @Chunk &", "c"})});
    stmt_unrolled(s, "s", GPU_STEP, p->steps);
    const Expr *k = stmt_unrolled(s, "k", GPU_E, p->k_step);
    mac(p, s, k, of_vectors);
    stmt_end(s);
    stmt_end(s);
    stmt_end(s);
    stmt_gap(s);
}

/* ---- element by element ---- */

/* Elements of K whose loads are in flight at a time. */
static int rest_step(const GpuPlan *p)
{
    const int n = p->steps * p->k_step;
    return n % 4 == 0 ? 4 : n % 2 == 0 ? 2 : 1;
}

static void rest_loads(const GpuPlan *p, Stmts *s, int n)
{
    ExprPool *pool = &s->pool;
    const GpuOperand *x = &p->op[n];
    const int v = vector_of(x), parts = p->in.parts;
    const Expr *i = stmt_unrolled(s, "i", GPU_I, p->tt[n]);
    const Expr *free = let_free(s, x, free_of(pool, p, n, expr_div_i(pool, i, v), expr_mod_i(pool, i, v)));
    const Expr *k = expr_var(pool, "k", 0, 0, UINT32_MAX);
    const Value *start = value_cast(s, "const @P *", gpu_operand_start(s, gpu_operand_index(x)));
    const Value *moved = value_expr(s, expr_mul_i(pool, element_of(p, s, x, free, k), parts));
    const Value *from = stmt_define(s, "const @P *", "from", value_op(s, VALUE_ADD, start, moved));
    const Expr *q = stmt_unrolled(s, "q", GPU_Q, parts);
    Access part = access_element(SPACE_GLOBAL, "@P", p->in.part_bytes, from, q);
    part.guard = expr_op(pool, EXPR_LT, k, gpu_size(s, "t.k"));
    const Value *to = value_at(s, value_reg(s, arrays[n]), gpu_counter(pool, "e", GPU_E, rest_step(p)));
    stmt_set(s, value_at(s, to, expr_add(pool, expr_mul_i(pool, i, parts), q)), value_load(s, part));
    stmt_end(s);
    stmt_end(s);
}

/* The elements of the chunk at k0 that are below K, distributed round-robin over the groups. */
static void rest(const GpuPlan *p, Stmts *s)
{
    ExprPool *pool = &s->pool;
    const int each = rest_step(p), most = p->steps * p->k_step;
    stmt_function(s, (Function){.name = "@chunk_rest",
                                STMT_PARAMS({"@Acc &", "acc"}, {"const @Tile &", "t"}, {"unsigned", "tid"},
                                            {"unsigned", "k0"})});
    const Expr *k0 = expr_var(pool, "k0", 0, 0, INT32_MAX);
    const Expr *left = expr_u31(pool, expr_sub(pool, gpu_size(s, "t.k"), k0));
    const Expr *turns = expr_div_i(pool, expr_add_i(pool, left, p->lsu - 1), p->lsu);
    turns = stmt_let(s, "turns", expr_op(pool, EXPR_MIN, turns, expr_const(pool, most)));
    const Expr *s0 = stmt_loop(s, (Loop){.var = "s",
                                         .type = "unsigned",
                                         .start = expr_const(pool, 0),
                                         .limit = turns,
                                         .step = each,
                                         .unroll = UNROLL_NONE});
    for (int n = 0; n < 2; n++) stmt_array(s, "@P", arrays[n], DIMS(each, p->tt[n] * p->in.parts));
    const Expr *e = stmt_unrolled(s, "e", GPU_E, each);
    const Expr *turn = expr_mul_i(pool, expr_add(pool, s0, e), p->lsu);
    const Expr *k =
        expr_add(pool, expr_add(pool, expr_var(pool, "k0", 0, 0, UINT32_MAX), turn), gpu_part_of_k(pool, p));
    stmt_let(s, "k", expr_u32(pool, k));
    for (int n = 0; n < 2; n++) rest_loads(p, s, n);
    stmt_end(s);
    e = stmt_unrolled(s, "e", GPU_E, each);
    mac(p, s, e, of_elements);
    stmt_end(s);
    stmt_end(s);
    stmt_end(s);
    stmt_gap(s);
}

/* Prints the function that returns whether vectors are misaligned or longer than M or N. */
static void slow(const GpuPlan *p, Stmts *s)
{
    stmt_function(s, (Function){.result = "int", .name = "@copy_slow", STMT_PARAMS({"const @Tile &", "t"})});
    stmt_var(s, "int", "slow", value_int(s, 0));
    for (int n = 0; n < 2; n++) gpu_slow_vectors(p, s, &p->op[n]);
    stmt_return(s, value_reg(s, "slow"));
    stmt_end(s);
    stmt_gap(s);
}

void gpu_direct(const GpuPlan *p, Buf *out)
{
    Stmts s;
    stmts_init(&s, GPU_STMTS_BYTES);
    gpu_heading(&s, "---- vectors from global memory, multiply-add ----");
    gpu_sums(p, &s);
    places(p, &s);
    chunk_struct(p, &s);
    loads(p, &s);
    products(p, &s);
    rest(p, &s);
    slow(p, &s);
    gpu_put(p, &s, out);
}

/* ---- the loop over K ---- */

/* The first element of K of the group's chunk number `turn`. */
static const Value *first_k(const GpuPlan *p, Stmts *s, const Expr *turn)
{
    ExprPool *pool = &s->pool;
    const Expr *by = expr_u31(pool, expr_mul(pool, turn, gpu_size(s, "step")));
    const Expr *chunk =
        expr_within(pool, expr_add(pool, gpu_size(s, "first"), by), 0, INT32_MAX / p->depth_u);
    return value_expr(s, expr_mul_i(pool, chunk, p->depth_u));
}

typedef struct {
    const GpuPlan *p;
    const Program *program;
    Stmts *s;
} Loops;

/* The ops of A and B are adjacent; A's stands for both. */
static bool second_of_pair(const Loops *t, const Op *o)
{
    return o->kind == OP_LOAD_TILE && t->program->tile[o->tile[1]].operand == 'B';
}

/* Loads a chunk into variable `to`. */
static void load_into(const Loops *t, const Op *o, const Value *to)
{
    Stmts *s = t->s;
    const Expr *turn = expr_add_i(&s->pool, gpu_size(s, "i"), o->ahead);
    stmt_call(s, "@chunk_load", to, value_reg(s, "t"), value_reg(s, "tid"), first_k(t->p, s, turn));
}

static void chunk_load(const Loops *t, const Op *o)
{
    load_into(t, o, stmt_var(t->s, "@Chunk", o->set ? "next" : "chunk", NULL));
}

/* Opens the loop over K of a phase; the last chunk of a prefetching loop (drain) is a block, not a loop. */
static void open_loop(const Loops *t, const Op *o)
{
    Stmts *s = t->s;
    ExprPool *pool = &s->pool;
    if (o->phase == PHASE_DRAIN) {
        stmt_block(s);
        return;
    }
    const int ahead = o->phase == PHASE_MAIN ? 1 : 0;
    const Expr *more = expr_op(pool, EXPR_LT, expr_add_i(pool, expr_var(pool, "i", 0, 0, INT32_MAX), ahead),
                               gpu_size(s, "whole"));
    stmt_loop(s, (Loop){.var = "i", .condition = value_expr(s, more), .unroll = UNROLL_NONE});
}

static void walk(const Loops *t, const Op *list)
{
    Stmts *s = t->s;
    for (const Op *o = list; o; o = o->next) {
        if (o->kind == OP_LOOP && o->phase == PHASE_REST) return;
        if (o->kind == OP_LOOP) {
            open_loop(t, o);
            walk(t, o->body);
            if (o->phase == PHASE_MAIN) stmt_set(s, value_reg(s, "chunk"), value_reg(s, "next"));
            stmt_end(s);
        } else if (o->kind == OP_LOAD_TILE && !second_of_pair(t, o))
            chunk_load(t, o);
        else if (o->kind == OP_TILE_MMA)
            stmt_call(s, "@chunk_mac", value_reg(s, "acc"), value_reg(s, "chunk"));
    }
}

static const Op *first_loop(const Program *program)
{
    const Op *o = program->body;
    while (o && o->kind != OP_LOOP) o = o->next;
    return o;
}

void gpu_direct_first(const GpuPlan *p, const Program *program, Stmts *s, const Value *where)
{
    const Loops t = {p, program, s};
    const Op *end = first_loop(program);
    stmt_var(s, "unsigned", "i", value_int(s, 0));
    const Value *chunk = stmt_var(s, "@Chunk", "chunk", NULL);
    stmt_if(s, value_op(s, VALUE_BOTH, where, value_expr(s, gpu_any_whole(s))));
    for (const Op *o = program->body; o != end; o = o->next)
        if (o->kind == OP_LOAD_TILE && !second_of_pair(&t, o)) load_into(&t, o, chunk);
    stmt_end(s);
}

Err gpu_direct_loop(const GpuPlan *p, const Program *program, Stmts *s)
{
    const Loops t = {p, program, s};
    ExprPool *pool = &s->pool;
    const Op *rest_of = NULL;
    for (const Op *o = program->body; o; o = o->next)
        if (o->kind == OP_LOOP && o->phase == PHASE_REST) rest_of = o;
    if (!rest_of) FAIL(ERR_FAILED, "a program without a loop over the rest of K cannot be lowered");
    stmt_if_expr(s, gpu_any_whole(s));
    if (!p->walk.prefetches) stmt_var(s, "unsigned", "i", value_int(s, 0));
    walk(&t, p->walk.prefetches ? first_loop(program) : program->body);
    stmt_end(s);
    const Expr *j = stmt_loop(s, (Loop){.var = "j",
                                        .start = gpu_size(s, "whole"),
                                        .limit = gpu_size(s, "count"),
                                        .unroll = UNROLL_NONE});
    stmt_call(s, "@chunk_rest", value_reg(s, "acc"), value_reg(s, "t"), value_reg(s, "tid"),
              first_k(p, s, expr_u31(pool, j)));
    stmt_end(s);
    return ERR_OK;
}
