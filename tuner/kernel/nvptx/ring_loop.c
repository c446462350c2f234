/* The main loop of ring kernels as statements: copies of a chunk into a stage, the wait for the next stage,
 * products of the current one. An iteration copies a chunk into the stage that the iteration before it has
 * multiplied. Numbers of pending groups are derived from these statements and checked by
 * kernel/lower/async.h. */
#include "kernel/lower/async.h"
#include "kernel/lower/build.h"
#include "kernel/nvptx/ring_copy.h"

/* A and B choose their copy functions separately, so that a misaligned operand does not make the other one be
 * copied by elements. The code for it needs registers, so only kernels with at most this many bytes of
 * accumulators per thread have it. */
enum { SEPARATE_ACC_BYTES = 128 };

typedef struct {
    const GpuPlan *p;
    Stmts *s;
    RingCopy copy[2];
    const StageRing *ring;
    bool separate; /* A and B choose their copy functions separately */
    int parts;     /* steps of K over which a chunk's copies are distributed */
} RingLoop;

static const Value *less(const RingLoop *l, const char *x, const char *y)
{
    return value_op(l->s, VALUE_LT, reg(l, x), reg(l, y));
}
static const Value *plus(const RingLoop *l, const Value *x, int64_t n)
{
    return n ? value_op(l->s, VALUE_ADD, x, number(l, n)) : x;
}
void ring_open(Stmts *s, const char *name, bool into)
{
    const StmtParam param[] = {{"@CopyA &", "a"}, {"@CopyB &", "b"}, {"@Ring &", "g"}, {"@u32", "into"}};
    stmt_function(s, (Function){.name = name, .param = param, .n_params = into ? 4 : 3});
}

void ring_call(Stmts *s, const char *name)
{
    stmt_call(s, name, value_reg(s, "a"), value_reg(s, "b"), value_reg(s, "g"));
}

void ring_chunk(const GpuPlan *p, Stmts *s)
{
    const Value *is = value_op(s, VALUE_LT, value_reg(s, "g.next"), value_reg(s, "g.whole"));
    const Value *whole = stmt_define(s, "bool", "whole", is), *tail = value_reg(s, "g.tail");
    stmt_define(s, "int", "k_left", value_select(s, whole, value_int(s, p->depth_u), tail));
}

static const char *function(const RingLoop *l, const char *name, int i)
{
    return ring_copy_name(l->s, name, "ab"[i]);
}

/* Operands that are copied through registers are loaded one chunk ahead. */
static bool loads_ahead(const RingLoop *l)
{
    const GpuRing *r = &l->p->ring;
    return r->via_registers || r->gathered_via_registers[0] || r->gathered_via_registers[1];
}

static void ring_struct(const RingLoop *l)
{
    static const struct {
        const char *type, *name;
    } field[] = {{"@u32", "smem"},     {"@u32", "stage"},    {"int", "read"},      {"int", "write"},
                 {"int", "next"},      {"int", "whole"},     {"int", "chunks"},    {"int", "wrap"},
                 {"int", "tail"},      {"bool", "inside_a"}, {"bool", "inside_b"}, {"bool", "aligned_a"},
                 {"bool", "aligned_b"}};
    stmt_comment(l->s, "---- the ring of stages ----");
    stmt_struct(l->s, "@Ring", 0);
    for (size_t i = 0; i < sizeof field / sizeof *field; i++)
        stmt_var(l->s, field[i].type, field[i].name, NULL);
    if (l->p->indices) {
        stmt_var(l->s, "@Dims", "x", NULL);
        stmt_var(l->s, "@u32", "table", NULL);
        stmt_var(l->s, "int", "refill", NULL);
        stmt_var(l->s, "unsigned", "first", NULL);
        stmt_var(l->s, "unsigned", "step", NULL);
    }
    stmt_end(l->s);
}

/* Prints @advance: the pointers move from chunk g.next to the chunk after it. StaggerU: before chunk g.wrap
 * they wrap around to the first. */
static void advance(const RingLoop *l)
{
    Stmts *s = l->s;
    const Value *next = reg(l, "g.next"), *n = reg(l, "n");
    ring_open(l->s, "@advance", false);
    stmt_update(s, VALUE_ADD, next, number(l, 1));
    stmt_var(s, "long long", "n", number(l, 1));
    if (l->p->walk.staggers) {
        stmt_if(s, value_op(s, VALUE_EQ, next, reg(l, "g.wrap")));
        stmt_update(s, VALUE_SUB, n, reg(l, "g.whole"));
        stmt_end(s);
        stmt_if(s, value_op(s, VALUE_EQ, next, reg(l, "g.whole")));
        stmt_update(s, VALUE_ADD, n, reg(l, "g.wrap"));
        stmt_end(s);
    }
    stmt_update(s, VALUE_ADD, reg(l, "a.p"), value_op(s, VALUE_MUL, reg(l, "a.k_step"), n));
    stmt_update(s, VALUE_ADD, reg(l, "b.p"), value_op(s, VALUE_MUL, reg(l, "b.k_step"), n));
    stmt_end(s);
}

/* ---- the copies of a chunk ---- */

/* Prints @operand_X, which copies one operand's chunk. in: all rows and columns of the tile are inside, and
 * its pieces are aligned. */
static void operand(const RingLoop *l, int i)
{
    Stmts *s = l->s;
    const RingCopy *c = &l->copy[i];
    const Value *x = reg(l, "x"), *into = reg(l, "into"), *k_left = reg(l, "k_left");
    stmt_function(s, (Function){.name = function(l, "operand", i),
                                STMT_PARAMS({stmts_name(s, "const @Copy%c &", c->upper), "x"},
                                            {"@u32", "into"}, {"bool", "in"}, {"bool", "whole"},
                                            {"bool", "aligned"}, {"int", "k_left"})});
    stmt_if(s, both(l, reg(l, "in"), reg(l, "whole")));
    const Value *q = stmt_var(s, "const char *", "q", reg(l, "x.p"));
    stmt_call(s, function(l, "whole", i), x, into, number(l, 0), number(l, c->n + c->extra), q);
    stmt_else(s);
    if (l->p->ring.shift_ptr) {
        stmt_if(s, reg(l, "in"));
        stmt_call(s, function(l, "k_tail", i), x, into, k_left);
        stmt_else(s);
    }
    if (!c->always_aligned) stmt_if(s, reg(l, "aligned"));
    stmt_call(s, function(l, "guarded", i), x, into, k_left);
    if (!c->always_aligned) {
        stmt_else(s);
        stmt_call(s, function(l, "elements", i), x, into, k_left);
        stmt_end(s);
    }
    if (l->p->ring.shift_ptr) stmt_end(s);
    stmt_end(s);
    stmt_end(s);
}

/* The address of A's tile or of B's in the stage at the address `into`. */
static const Value *tile_in(const RingLoop *l, const char *into, int i)
{
    return plus(l, reg(l, into), i ? l->copy[0].tile.bytes : 0);
}

static void call_operands(const RingLoop *l, bool aligned)
{
    static const char *const x[] = {"a", "b"};
    for (int i = 0; i < 2; i++) {
        const Value *is_aligned =
            aligned ? value_literal(l->s, "true") : reg(l, i ? "g.aligned_b" : "g.aligned_a");
        stmt_call(l->s, function(l, "operand", i), reg(l, x[i]), tile_in(l, "into", i),
                  reg(l, i ? "g.inside_b" : "g.inside_a"), reg(l, "whole"), is_aligned, reg(l, "k_left"));
    }
}

static void call_elements(const RingLoop *l)
{
    static const char *const x[] = {"a", "b"};
    for (int i = 0; i < 2; i++)
        stmt_call(l->s, function(l, "elements", i), reg(l, x[i]), tile_in(l, "into", i), reg(l, "k_left"));
}

/* Prints @load_ahead of operands that are copied through registers, which loads chunk g.next. */
static void load_ahead(const RingLoop *l)
{
    Stmts *s = l->s;
    ring_open(l->s, "@load_ahead", false);
    stmt_if(s, less(l, "g.next", "g.chunks"));
    ring_chunk(l->p, l->s);
    stmt_call(s, "@load_a", reg(l, "a"), both(l, reg(l, "whole"), reg(l, "g.inside_a")), reg(l, "k_left"));
    stmt_call(s, "@load_b", reg(l, "b"), both(l, reg(l, "whole"), reg(l, "g.inside_b")), reg(l, "k_left"));
    stmt_end(s);
    stmt_end(s);
}

static void store_both(const RingLoop *l)
{
    stmt_call(l->s, "@store_a", reg(l, "a"), tile_in(l, "into", 0));
    stmt_call(l->s, "@store_b", reg(l, "b"), tile_in(l, "into", 1));
}

/* Prints @copy: chunk g.next, if there is one, into a stage. The copies are one group in either case. */
static void copy(const RingLoop *l)
{
    Stmts *s = l->s;
    const GpuRing *r = &l->p->ring;
    ring_open(l->s, "@copy", true);
    stmt_if(s, less(l, "g.next", "g.chunks"));
    if (r->via_registers)
        store_both(l);
    else {
        ring_chunk(l->p, l->s);
        if (!r->shifts) stmt_if(s, both(l, reg(l, "g.aligned_a"), reg(l, "g.aligned_b")));
        call_operands(l, true);
        if (!r->shifts) {
            stmt_else(s);
            l->separate ? call_operands(l, false) : call_elements(l);
            stmt_end(s);
        }
    }
    ring_call(l->s, "@advance");
    if (r->via_registers) ring_call(l->s, "@load_ahead");
    stmt_end(s);
    stmt_commit(s);
    stmt_end(s);
}

/* ---- the main loop ---- */

/* Waits for the copies of the stage to read next, and makes it the current one. */
static void next_stage(const RingLoop *l)
{
    Stmts *s = l->s;
    stmt_await(s, l->ring, reg(l, "g.read"), 1);
    stmt_barrier(s);
    stmt_advance(s, l->ring, reg(l, "g.read"));
    stmt_set(s, reg(l, "g.stage"), value_stage(s, l->ring, reg(l, "g.smem"), reg(l, "g.read")));
}

static void load_fragments(const RingLoop *l, const Expr *set, const Expr *step)
{
    stmt_call(l->s, "c.load", value_at(l->s, reg(l, "f"), set), tile_in(l, "g.stage", 0),
              tile_in(l, "g.stage", 1), value_expr(l->s, step));
}

/* How often a chunk's copies are issued. FMA kernels of contractions have many small ones, of which several
 * are issued at once (load_entries in ring_gather.c says why). */
static int copy_runs(const RingLoop *l)
{
    const int n = l->copy[0].n + l->copy[1].n;
    if (!l->p->indices || l->p->matrix.used || n <= RING_COPY_RUN) return l->parts;
    return n / RING_COPY_RUN < l->parts ? n / RING_COPY_RUN : l->parts;
}

/* The copies of step ks of a chunk that lies inside both operands. */
static void copy_part(const RingLoop *l, const Expr *ks)
{
    static const char *const x[] = {"a", "b"}, *const q[] = {"qa", "qb"};
    Stmts *s = l->s;
    ExprPool *pool = &s->pool;
    const bool via_registers = l->p->ring.via_registers;
    if (!via_registers) {
        const int runs = copy_runs(l), every = l->parts / runs;
        const Expr *run = expr_div_i(pool, ks, every),
                   *now = expr_op(pool, EXPR_LT, run, expr_const(pool, runs));
        const Expr *at = expr_op(pool, EXPR_EQ, expr_mod_i(pool, ks, every), expr_const(pool, 0));
        stmt_if_expr(s, every == 1 ? now : expr_op(pool, EXPR_BOTH, at, now));
        for (int i = 0; i < 2; i++) {
            const Expr *pieces = expr_const(pool, l->copy[i].n + l->copy[i].extra);
            const Expr *from = expr_div_i(pool, expr_mul(pool, pieces, run), runs);
            const Expr *to = expr_div_i(pool, expr_mul(pool, pieces, expr_add_i(pool, run, 1)), runs);
            if (l->p->indices)
                ring_gather_part(&l->copy[i], tile_in(l, "into", i), value_expr(s, from), value_expr(s, to));
            else
                stmt_call(s, function(l, "whole", i), reg(l, x[i]), tile_in(l, "into", i),
                          value_expr(s, from), value_expr(s, to), reg(l, q[i]));
        }
        stmt_end(s);
    }
    stmt_if_expr(s, expr_op(pool, EXPR_EQ, ks, expr_const(pool, l->parts - 1)));
    if (!via_registers && !l->p->indices) ring_call(l->s, "@advance");
    stmt_commit(s);
    stmt_end(s);
}

/* One iteration: multiplies the current stage and copies a chunk into the stage before it. fast: that chunk
 * lies inside both operands. Its copies are then distributed over the steps of K. */
static void iteration(const RingLoop *l, bool fast)
{
    Stmts *s = l->s;
    ExprPool *pool = &s->pool;
    const int steps = l->p->steps, ahead = l->p->ring.read_ahead;
    const bool via_registers = l->p->ring.via_registers;
    const Value *write = reg(l, "g.write");
    const Value *into = stmt_define(s, "@u32", "into", value_stage(s, l->ring, reg(l, "g.smem"), write));
    if (fast && l->p->indices) ring_gather_iteration(l->copy, into);
    if (fast && !via_registers && !l->p->indices) {
        stmt_var(s, "const char *", "qa", reg(l, "a.p"));
        stmt_var(s, "const char *", "qb", reg(l, "b.p"));
    }
    if (fast && via_registers) {
        store_both(l);
        ring_call(l->s, "@advance");
        stmt_call(s, "@load_whole_a", reg(l, "a"));
        stmt_call(s, "@load_whole_b", reg(l, "b"));
    }
    if (!fast) stmt_call(s, "@copy", reg(l, "a"), reg(l, "b"), reg(l, "g"), into);
    const Expr *ks = stmt_unrolled(s, "ks", 0, steps), *next = expr_add_i(pool, ks, 1);
    if (ahead) {
        stmt_if_expr(s, expr_op(pool, EXPR_EQ, ks, expr_const(pool, steps - 1)));
        next_stage(l);
        stmt_end(s);
        load_fragments(l, expr_and_i(pool, next, 1), expr_mod_i(pool, next, steps));
    } else
        load_fragments(l, expr_const(pool, 0), ks);
    if (fast) copy_part(l, ks);
    stmt_call(s, "c.mac", value_at(s, reg(l, "f"), ahead ? expr_and_i(pool, ks, 1) : expr_const(pool, 0)));
    stmt_end(s);
    if (!ahead) next_stage(l);
    stmt_advance(s, l->ring, write);
}

static void turns(const RingLoop *l, const char *limit, bool fast)
{
    const Value *more = less(l, "i", limit);
    stmt_loop(l->s, (Loop){.var = "i", .condition = more, .unroll = UNROLL_NONE});
    iteration(l, fast);
    stmt_end(l->s);
}

/* Copies the first chunks into all stages but the last one. */
static void fill(const RingLoop *l)
{
    Stmts *s = l->s;
    const Expr *filled = stmt_loop(s, (Loop){.var = "i",
                                             .type = "int",
                                             .start = expr_const(&s->pool, 0),
                                             .limit = expr_const(&s->pool, l->p->n_stages - 1),
                                             .unroll = UNROLL_NONE});
    stmt_call(s, "@copy", reg(l, "a"), reg(l, "b"), reg(l, "g"),
              value_stage(s, l->ring, reg(l, "g.smem"), value_expr(s, filled)));
    stmt_end(s);
}

/* Prints @first_chunks of PrefetchAcrossPersistent: the loads that a tile issues before the results of the
 * tile before it are stored. Where both operands are copied through registers, one chunk waits there until
 * these are stored. A contraction's table of offsets is filled before: its entries for the tile before are of
 * no use behind the main loop. */
static void first_chunks(const RingLoop *l)
{
    ring_open(l->s, "@first_chunks", false);
    if (loads_ahead(l)) ring_call(l->s, "@load_ahead");
    if (ring_fills_ahead(l->p)) fill(l);
    stmt_end(l->s);
}

static void main_loop(const RingLoop *l)
{
    Stmts *s = l->s;
    const int ahead = l->p->n_stages - 1;
    const bool prefetches = l->p->walk.prefetches;
    stmt_function(
        s, (Function){.name = "@main_loop",
                      STMT_PARAMS({"@Acc &", "c"}, {"@CopyA &", "a"}, {"@CopyB &", "b"}, {"@Ring &", "g"})});
    stmt_array(s, "@Frag", "f", DIMS(l->p->ring.read_ahead + 1));
    if (loads_ahead(l) && !prefetches) ring_call(l->s, "@load_ahead");
    if (!ring_fills_ahead(l->p)) fill(l);
    const Value *read = reg(l, "g.read");
    stmt_cursor_set(s, l->ring, read, 0);
    stmt_cursor_set(s, l->ring, reg(l, "g.write"), ahead);
    stmt_await(s, l->ring, read, 0);
    stmt_barrier(s);
    stmt_set(s, reg(l, "g.stage"), value_stage(s, l->ring, reg(l, "g.smem"), read));
    if (l->p->ring.read_ahead) load_fragments(l, expr_const(&s->pool, 0), expr_const(&s->pool, 0));
    stmt_var(s, "int", "i", number(l, 0));
    const Value *rest = plus(l, reg(l, "g.whole"), -ahead - loads_ahead(l));
    const char *const in[2] = {l->p->indices ? "g.aligned_a" : "g.inside_a",
                               l->p->indices ? "g.aligned_b" : "g.inside_b"};
    const Value *inside = both(l, reg(l, in[0]), reg(l, in[1]));
    stmt_define(s, "int", "fast", value_select(s, inside, rest, number(l, 0)));
    turns(l, "fast", true);
    turns(l, "g.chunks", false);
    stmt_await(s, l->ring, NULL, 0);
    if (ring_fills_ahead(l->p)) stmt_barrier(s); /* the next tile fills stages that threads still read */
    stmt_end(s);
}

/* ---- before and behind the loop ---- */

/* Prints @begin: the ring and the copies at the work-group's first chunk of K, `first`; later ones are `step`
 * chunks apart. */
static void begin(const RingLoop *l)
{
    static const char *const tensor[] = {"a", "b"}, *const ld[] = {"lda", "ldb"}, *const at[] = {"m0", "n0"},
                             *const size[] = {"m", "n"}, *const copies[] = {"ca", "cb"};
    Stmts *s = l->s;
    const GpuRing *r = &l->p->ring;
    const Value *inside[2], *aligned[2];
    stmt_function(
        s, (Function){.name = "@begin",
                      STMT_PARAMS({"@CopyA &", "ca"}, {"@CopyB &", "cb"}, {"@Ring &", "g"},
                                  {"const @T *", "a"}, {"const @T *", "b"}, {"@u64", "lda"}, {"@u64", "ldb"},
                                  {"unsigned", "m"}, {"unsigned", "n"}, {"int", "m0"}, {"int", "n0"},
                                  {"int", "tid"}, {"unsigned", "first"}, {"int", "step"})});
    stmt_set(s, reg(l, "g.next"), number(l, 0));
    for (int i = 0; i < 2; i++) {
        const Value *side = value_cast(s, "int", reg(l, size[i]));
        inside[i] = value_named(s, "g.inside_%s", tensor[i]);
        stmt_set(s, inside[i], value_op(s, VALUE_LE, plus(l, reg(l, at[i]), l->copy[i].x->tile), side));
    }
    for (int i = 0; i < 2; i++) {
        const RingCopy *c = &l->copy[i];
        const Value *from = reg(l, tensor[i]);
        if (c->k_rows) from = value_op(s, VALUE_ADD, from, reg(l, at[i]));
        const Value *ld_bytes = value_op(s, VALUE_MUL, reg(l, ld[i]), number(l, c->bpe));
        const Value *bits = value_op(s, VALUE_OR, value_cast(s, "@u64", from), ld_bytes);
        bits = value_op(s, VALUE_EQ, value_op(s, VALUE_AND, bits, number(l, c->cw - 1)), number(l, 0));
        aligned[i] = value_named(s, "g.aligned_%s", tensor[i]);
        stmt_set(s, aligned[i], r->shifts ? value_literal(s, "true") : bits);
    }
    for (int i = 0; i < 2; i++) {
        if (!r->via_registers && !r->shifts) stmt_set(s, inside[i], both(l, inside[i], aligned[i]));
        if (!r->via_registers) continue;
        stmt_set(s, value_named(s, "%s.words", copies[i]), aligned[i]);
    }
    for (int i = 0; i < 2; i++) {
        const Value *depth = number(l, l->p->depth_u);
        stmt_call(s, function(l, "begin", i), reg(l, copies[i]), reg(l, tensor[i]), reg(l, ld[i]),
                  reg(l, at[i]), reg(l, size[i]), reg(l, "tid"),
                  value_op(s, VALUE_MUL, value_cast(s, "@u64", reg(l, "first")), depth),
                  value_op(s, VALUE_MUL, reg(l, "step"), depth));
    }
    stmt_end(s);
}

Err ring_loop_put(const GpuPlan *p, Stmts *s)
{
    const int acc_bytes = p->n_acc * gpu_type_bytes(&p->acc);
    StageRing *ring = arena_array(&s->arena, 1, sizeof *ring);
    RingLoop l = {.p = p,
                  .s = s,
                  .copy = {ring_copy_of(p, s, 0), ring_copy_of(p, s, 1)},
                  .ring = ring,
                  .separate = acc_bytes <= SEPARATE_ACC_BYTES,
                  .parts = p->steps > 1 ? p->steps - 1 : 1};
    TRY_ALLOC(ring);
    *ring = (StageRing){.n_stages = p->n_stages, .bytes = l.copy[0].tile.bytes + l.copy[1].tile.bytes};
    for (int i = 0; i < 2; i++) l.copy[i].elements = !l.copy[i].always_aligned || !l.separate;
    ring_struct(&l);
    if (p->indices) ring_table_put(p, s);
    for (int i = 0; i < 2; i++) ring_copy_put(&l.copy[i]);
    if (p->indices) {
        ring_gather_loop_put(l.copy);
        if (p->walk.prefetches) first_chunks(&l);
        main_loop(&l);
        return ring_fills_ahead(p) ? async_derive_turns(s, "@first_chunks", "@main_loop")
                                   : async_derive(s, "@main_loop");
    }
    advance(&l);
    if (p->ring.via_registers)
        load_ahead(&l);
    else
        for (int i = 0; i < 2; i++) operand(&l, i);
    copy(&l);
    if (p->walk.prefetches) first_chunks(&l);
    main_loop(&l);
    begin(&l);
    return ring_fills_ahead(p) ? async_derive_turns(s, "@first_chunks", "@main_loop")
                               : async_derive(s, "@main_loop");
}
