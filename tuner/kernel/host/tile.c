/* Register tiles: one function per shape that multiplies a stripe of A with a stripe of B over k and stores
 * the result. Lowers the innermost ops of the program: init_tile, the loop over k with its loads, prefetches
 * and tile_mma, epilogue.
 *
 * direct tiles hold D's own type in vector registers and are written in full and masked shapes, so edges cost
 * no copies. staged tiles (16-bit D, complex) put their sums in memory and a scalar epilogue converts; panels
 * are padded there, so one shape is enough.
 */
#include "kernel/host/text.h"

typedef struct {
    HostText *t;
    int mv, nr, split, unroll, distance;
    bool masked;
} Shape;

static const char *const part_name[2] = {"r", "i"};
/* Columns of B that share a pointer where K is contiguous. */
enum { COLUMNS = 4 };

/* Returns the suffix of a part's names: "" for real numbers, else the part's letter. */
static const char *part_of(const HostText *t, int part) { return t->p->parts == 2 ? part_name[part] : ""; }

/* Returns the accumulator of split l, column j and vector i, and of a part of complex numbers. */
static const Value *sum_of(const Shape *x, int l, int i, int j, int part)
{
    return value_named(&x->t->s, "c%s%d_%d_%d", part_of(x->t, part), l, i, j);
}

static const Value *vector_of_a(const Shape *x, int i, int part)
{
    return value_named(&x->t->s, "a%s%d", part_of(x->t, part), i);
}

/* Is B read without packing, with K contiguous? Then each column of the tile is a stream of its own. */
static bool has_columns(const HostText *t) { return !t->p->pack[1] && !t->contiguous[HOST_B]; }

static const char *column_pointer(HostText *t, int j)
{
    return j < COLUMNS ? "b" : stmts_name(&t->s, "b%d", j / COLUMNS * COLUMNS);
}

/* ---- addresses: of A and B at step k, in the packed panel or by the view ---- */

static const Expr *address_a(HostText *t, int row, int part, int k)
{
    const HostPlan *p = t->p;
    if (p->pack[0]) return host_number(t, ((int64_t)k * p->parts + part) * p->mr + row);
    return host_address_k(t, HOST_A, "lda", host_number(t, row), host_number(t, k));
}

static const Expr *address_b(HostText *t, int column, int part, int k)
{
    const HostPlan *p = t->p;
    if (p->runs) return expr_add_i(&t->s.pool, expr_mul_i(&t->s.pool, host_int(t, "ldb"), k), column);
    if (p->pack[1]) return host_number(t, ((int64_t)k * p->nr + column) * p->parts + part);
    return host_address_k(t, HOST_B, "ldb", host_number(t, column), host_number(t, k));
}

static void init_tile(const Shape *x)
{
    HostText *t = x->t;
    Stmts *s = &t->s;
    const Value *zero = value_list(s, value_int(s, 0));
    for (int l = 0; l < x->split; l++)
        for (int j = 0; j < x->nr; j++)
            for (int i = 0; i < x->mv; i++)
                for (int part = 0; part < t->p->parts; part++)
                    stmt_var(s, "@V", sum_of(x, l, i, j, part)->name, zero);
    for (int j = COLUMNS; has_columns(t) && j < x->nr; j += COLUMNS)
        host_pointer(t, "const @TC *", column_pointer(t, j), "b", address_b(t, j, 0, 0));
}

/* ---- the loop over k ---- */

static const Value *load(const Shape *x, const char *from, const Expr *at, int i)
{
    Stmts *s = &x->t->s;
    const Value *pointer = host_plus(x->t, from, at);
    if (!x->masked || i < x->mv - 1) return value_call(s, "@load", pointer);
    return value_call(s, "@load_n", pointer, value_reg(s, "w"));
}

static void load_a(const Shape *x, int k)
{
    HostText *t = x->t;
    const HostPlan *p = t->p;
    for (int i = 0; i < x->mv; i++)
        for (int part = 0; part < p->parts; part++) {
            const Expr *at = address_a(t, i * p->vl, part, k);
            const Value *v =
                p->pack[0] ? value_call(&t->s, "@load", host_plus(t, "a", at)) : load(x, "a", at, i);
            stmt_define(&t->s, "@V", vector_of_a(x, i, part)->name, v);
        }
}

static const Value *element_of_b(HostText *t, int j, int part, int k)
{
    if (has_columns(t)) return host_element(t, column_pointer(t, j), address_b(t, j % COLUMNS, part, k));
    return host_element(t, "b", address_b(t, j, part, k));
}

static void mma_complex(const Shape *x, const Value *const b[2], int l, int i, int j)
{
    Stmts *s = &x->t->s;
    const Value *ar = vector_of_a(x, i, 0), *ai = vector_of_a(x, i, 1);
    const Value *cr = sum_of(x, l, i, j, 0), *ci = sum_of(x, l, i, j, 1);
    stmt_set(s, cr, value_call(s, "@fnma", ai, b[1], value_call(s, "@fma", ar, b[0], cr)));
    stmt_set(s, ci, value_call(s, "@fma", ar, b[1], value_call(s, "@fma", ai, b[0], ci)));
}

static void mma(const Shape *x, int l, int k)
{
    HostText *t = x->t;
    Stmts *s = &t->s;
    for (int j = 0; j < x->nr; j++) {
        const Value *b[2];
        stmt_block(s);
        for (int part = 0; part < t->p->parts; part++)
            b[part] = stmt_define(s, "@V", t->p->parts == 2 ? stmts_name(s, "b%s", part_name[part]) : "b_",
                                  value_call(s, "@set", element_of_b(t, j, part, k)));
        for (int i = 0; i < x->mv; i++) {
            const Value *c = sum_of(x, l, i, j, 0);
            if (t->p->parts == 2)
                mma_complex(x, b, l, i, j);
            else
                stmt_set(s, c, value_call(s, "@fma", vector_of_a(x, i, 0), b[0], c));
        }
        stmt_end(s);
    }
}

static void move(HostText *t, const char *pointer, const Expr *by)
{
    stmt_update(&t->s, VALUE_ADD, value_reg(&t->s, pointer), value_expr(&t->s, by));
}

/* Lowers update_tile_offset: advances the pointers by n steps of k. */
static void advance(const Shape *x, int n)
{
    HostText *t = x->t;
    move(t, "a", address_a(t, 0, 0, n));
    move(t, "b", address_b(t, 0, 0, n));
    for (int j = COLUMNS; has_columns(t) && j < x->nr; j += COLUMNS)
        move(t, column_pointer(t, j), address_b(t, 0, 0, n));
}

/* Prefetches step k of a later panel of A to the second-level cache: no prefetcher of the processor follows
 * steps of K that are far apart in memory, and the panel's first tile would wait for each of them. */
static void prefetch_panel(const Shape *x, int k)
{
    enum { TO_READ = 0, SECOND_LEVEL = 2 };
    HostText *t = x->t;
    Stmts *s = &t->s;
    const HostPlan *p = t->p;
    for (int i = 0; i < p->mr; i += 64 / p->compute.bytes) {
        const Expr *at = address_a(t, i + p->prefetch_panels * p->mr, 0, k);
        stmt_call(s, "__builtin_prefetch", host_plus(t, "a", at), value_int(s, TO_READ),
                  value_int(s, SECOND_LEVEL));
    }
}

static void prefetch_a(const Shape *x, int k)
{
    HostText *t = x->t;
    const HostPlan *p = t->p;
    if (p->prefetch_panels && !x->masked) prefetch_panel(x, k);
    if (!x->distance) return;
    const int line = 64 / p->compute.bytes, row = x->mv * p->vl * p->parts;
    for (int i = 0; i < row; i += line)
        stmt_call(&t->s, "__builtin_prefetch", host_plus(t, "a", address_a(t, i, 0, k + x->distance)));
}

/* Prints one iteration of the loop, which does `steps` steps of k. */
static void iteration(const Shape *x, int steps)
{
    Stmts *s = &x->t->s;
    for (int k = 0; k < steps; k++) {
        stmt_block(s);
        prefetch_a(x, k);
        load_a(x, k);
        mma(x, k % x->split, k);
        stmt_end(s);
    }
    advance(x, steps);
}

static void k_loop(const Shape *x)
{
    HostText *t = x->t;
    Stmts *s = &t->s;
    ExprPool *pool = &s->pool;
    const Expr *k = host_int(t, "k");
    const int steps[] = {x->split * x->unroll, 1};
    if (t->p->runs) host_runs_taps_open(t);
    for (int i = steps[0] == 1; i < 2; i++) {
        const Expr *left = expr_op(pool, EXPR_LE, host_number(t, steps[i]), k);
        stmt_loop(s, (Loop){.var = "k", .condition = value_expr(s, left), .step = -steps[i]});
        iteration(x, steps[i]);
        stmt_end(s);
    }
    if (t->p->runs) host_runs_taps_close(t);
    for (int l = 1; l < x->split; l++)
        for (int j = 0; j < x->nr; j++)
            for (int i = 0; i < x->mv; i++)
                for (int part = 0; part < t->p->parts; part++)
                    stmt_update(s, VALUE_ADD, sum_of(x, 0, i, j, part), sum_of(x, l, i, j, part));
}

/* ---- the epilogue ---- */

static const Expr *address_of_result(const Shape *x, HostOperand o, int row, int column)
{
    HostText *t = x->t;
    return host_address(t, o, o == HOST_D ? "ldd" : "ldc", host_number(t, row), host_number(t, column));
}

static void prefetch_d(const Shape *x)
{
    HostText *t = x->t;
    Stmts *s = &t->s;
    const int line = 64 / t->p->compute.bytes, rows = x->mv * t->p->vl;
    for (int j = 0; j < x->nr; j++)
        for (int i = 0; i < rows; i += line)
            stmt_call(s, "__builtin_prefetch", host_plus(t, "d", address_of_result(x, HOST_D, i, j)),
                      value_int(s, 1));
}

static const Value *scale_vector(const Shape *x, const Value *v)
{
    return value_op(&x->t->s, VALUE_MUL, value_reg(&x->t->s, "alpha"), v);
}

static const Value *add_c(const Shape *x, int i, int j, const Value *v)
{
    Stmts *s = &x->t->s;
    const Value *c = load(x, "c", address_of_result(x, HOST_C, i * x->t->p->vl, j), i);
    return value_call(s, "@fma", value_reg(s, "beta"), c, v);
}

static void store_vector(const Shape *x, int i, int j, const Value *v)
{
    Stmts *s = &x->t->s;
    const Value *to = host_plus(x->t, "d", address_of_result(x, HOST_D, i * x->t->p->vl, j));
    if (x->masked && i == x->mv - 1)
        stmt_call(s, "@store_n", to, v, value_reg(s, "w"));
    else
        stmt_call(s, x->t->p->stream_d ? "@stream" : "@store", to, v);
}

/* The ops of the epilogue on a vector of sums. Those are of D's type, so that nothing is converted. */
static void store_direct(const Shape *x, int i, int j, bool reads_c)
{
    const Value *v = sum_of(x, 0, i, j, 0);
    for (const Op *o = x->t->p->epilogue; o; o = o->next) {
        if (o->kind == OP_SCALE_TILE) v = scale_vector(x, v);
        if (o->kind == OP_ADD_TILE && reads_c) v = add_c(x, i, j, v);
        if (o->kind == OP_STORE_TILE) store_vector(x, i, j, v);
    }
}

static void epilogue_direct(const Shape *x)
{
    Stmts *s = &x->t->s;
    static const char *const names[] = {"alpha", "beta"};
    for (int i = 0; i < 2; i++)
        stmt_define(s, "@V", names[i], value_call(s, "@set", value_at_i(s, value_reg(s, "ab"), i)));
    stmt_if(s, value_op(s, VALUE_EQ, value_at_i(s, value_reg(s, "ab"), 1), value_int(s, 0)));
    for (int reads_c = 0; reads_c < 2; reads_c++) {
        if (reads_c) stmt_else(s);
        for (int j = 0; j < x->nr; j++)
            for (int i = 0; i < x->mv; i++) store_direct(x, i, j, reads_c);
    }
    stmt_end(s);
}

/* Stores the sums of a staged tile to s, column by column (complex: the real parts of a column, then its
 * imaginary parts). */
static void store_staged(const Shape *x)
{
    HostText *t = x->t;
    Stmts *s = &t->s;
    const HostPlan *p = t->p;
    for (int j = 0; j < x->nr; j++)
        for (int part = 0; part < p->parts; part++)
            for (int i = 0; i < x->mv; i++) {
                const Expr *at = host_number(t, (j * p->parts + part) * p->mr + i * p->vl);
                const Value *c = sum_of(x, 0, i, j, part), *to = host_plus(t, "s", at);
                if (host_plan_keeps_sums(p))
                    c = value_select(s, value_reg(s, "more"),
                                     value_op(s, VALUE_ADD, c, value_call(s, "@load", to)), c);
                stmt_call(s, "@store", to, c);
            }
}

/* ---- functions ---- */

const char *host_tile_name(HostText *t, bool masked, int mv, int nr)
{
    return stmts_name(&t->s, "@tile%s_%d_%d", masked ? "_part" : "", mv, nr);
}

static void open_tile(const Shape *x)
{
    Stmts *s = &x->t->s;
    Function f = {.kind = FUNCTION_NOINLINE, .name = host_tile_name(x->t, x->masked, x->mv, x->nr)};
    static const StmtParam direct[] = {{"int64_t", "k"},     {"const @TC *", "a"}, {"int64_t", "lda"},
                                       {"const @TC *", "b"}, {"int64_t", "ldb"},   {"const @TC *", "ab"},
                                       {"const @TD *", "c"}, {"int64_t", "ldc"},   {"@TD *", "d"},
                                       {"int64_t", "ldd"},   {"int64_t", "w"}};
    static const StmtParam staged[] = {{"int64_t", "k"},     {"const @TC *", "a"}, {"int64_t", "lda"},
                                       {"const @TC *", "b"}, {"int64_t", "ldb"},   {"@TC *", "s"},
                                       {"int", "more"}};
    static const StmtParam of_rows[] = {{"const @Runs *", "runs"},
                                        {"const int32_t *", "slot"},
                                        {"const @TC *", "a"},
                                        {"const @TC *", "packed"},
                                        {"int64_t", "ldb"},
                                        {"@TC *", "s"},
                                        {"int", "more"}};
    const HostPlan *p = x->t->p;
    f.param = p->direct ? direct : p->runs ? of_rows : staged;
    f.n_params = p->direct ? 11 : 7;
    stmt_gap(s);
    stmt_function(s, f);
    if (p->runs) return;
    if (p->direct)
        HOST_UNUSED(x->t, "lda", "ldb", "ldc", "ldd", "w");
    else
        HOST_UNUSED(x->t, "lda", "ldb", "more");
}

static void tile(const Shape *x, bool prefetches_d)
{
    open_tile(x);
    init_tile(x);
    if (prefetches_d && x->t->p->direct) prefetch_d(x);
    k_loop(x);
    if (x->t->p->direct)
        epilogue_direct(x);
    else
        store_staged(x);
    stmt_end(&x->t->s);
}

/* Prints the table of masked tiles, which have i + 1 vectors and j + 1 columns. */
static void tile_table(HostText *t)
{
    enum { SIDE = 64 };
    const HostPlan *p = t->p;
    Stmts *s = &t->s;
    const Value *row[SIDE], *all[SIDE];
    for (int i = 0; i < p->mv; i++) {
        for (int j = 0; j < p->nr; j++) row[j] = value_reg(s, host_tile_name(t, true, i + 1, j + 1));
        all[i] = value_list_n(s, p->nr, row);
    }
    stmt_typedef(s, "__typeof__(@tile_part_1_1)", "*@Tile", NULL);
    stmt_var(s, "static const @Tile", stmts_name(s, "@tiles[%d][%d]", p->mv, p->nr),
             value_list_n(s, p->mv, all));
}

/* Prints the table of tiles of rows' pieces, which have j + 1 columns. */
static void row_table(HostText *t)
{
    enum { SIDE = 64 };
    const HostPlan *p = t->p;
    Stmts *s = &t->s;
    const Value *tile_of[SIDE];
    for (int j = 0; j < p->nr; j++) tile_of[j] = value_reg(s, host_tile_name(t, false, p->mv, j + 1));
    stmt_typedef(s, stmts_name(s, "__typeof__(@tile_%d_1)", p->mv), "*@Tile", NULL);
    stmt_var(s, "static const @Tile", stmts_name(s, "@tiles[%d]", p->nr), value_list_n(s, p->nr, tile_of));
}

Err host_check_tiles(HostText *t)
{
    enum { MOST_STEPS = 64 };
    const HostPlan *p = t->p;
    const Op *loop = t->loop = op_lane_loop(t->program->body);
    const int64_t most = p->target->n_vector_regs, tile = (int64_t)p->mv * p->nr;
    const int64_t bytes = (int64_t)p->vl * p->compute.bytes;
    if (!loop) FAIL(ERR_INPUT, "a host kernel needs a loop over k at lane");
    if ((int64_t)loop->split * loop->unroll > MOST_STEPS)
        FAIL(ERR_INPUT, "a loop over k of %d sums, unrolled %d times, has over %d steps", loop->split,
             loop->unroll, MOST_STEPS);
    if (tile > most || tile * loop->split * p->parts > most)
        FAIL(ERR_INPUT,
             "a register tile of %dx%d vectors, %d sums and %d parts is more than the %lld registers of %s",
             p->mv, p->nr, loop->split, p->parts, (long long)most, p->target->name);
    if ((bytes != 16 && bytes != 32 && bytes != 64) || 8 * bytes > p->target->vector_bits)
        FAIL(ERR_INPUT, "vectors of %d elements of %d bytes are none of %s", p->vl, p->compute.bytes,
             p->target->name);
    if (p->mr != p->mv * p->vl)
        FAIL(ERR_INPUT, "%d rows are not %d vectors of %d elements", p->mr, p->mv, p->vl);
    return ERR_OK;
}

void host_tiles(HostText *t)
{
    const HostPlan *p = t->p;
    const Op *loop = t->loop, *ahead = op_find(loop->body, OP_PREFETCH_TILE);
    Shape x = {.t = t,
               .mv = p->mv,
               .nr = p->nr,
               .split = loop->split,
               .unroll = loop->unroll,
               .distance = ahead ? ahead->distance : 0};
    if (p->runs) {
        for (x.nr = 1; x.nr <= p->nr; x.nr++) tile(&x, false);
        row_table(t);
        host_runs_finish(t);
        return;
    }
    tile(&x, p->prefetch_global > 0);
    if (!p->direct) {
        if (t->indices) {
            host_dims_finish(t);
            return;
        }
        stmt_constant(&t->s, "int", "@MR", p->mr);
        stmt_file(&t->s, fused_any(&p->fused) ? "host/finish_fused.h" : "host/finish.h");
        return;
    }
    if (!p->edges) return;
    x.masked = true;
    x.unroll = 1;
    x.distance = 0;
    for (x.mv = 1; x.mv <= p->mv; x.mv++)
        for (x.nr = 1; x.nr <= p->nr; x.nr++) tile(&x, false);
    tile_table(t);
}
