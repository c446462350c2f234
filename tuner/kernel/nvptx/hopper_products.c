/* The products of a tile in wgmma kernels, as statements: what the consumer warp groups do with every stage
 * of the ring, from the wait for its copies to its release. Waits for products are derived
 * (lower/consumer.h). */
#include "kernel/lower/build.h"
#include "kernel/nvptx/hopper.h"
#include "kernel/nvptx/lanes.h"

enum {
    ROW_BYTES = 128, /* of a swizzled block */
    STEP_BYTES = 32, /* of K of an instruction */
    BATCH_STEPS = 2, /* instructions along K of a group of products, with X in registers */
    FRAGMENT_WORDS = 4
};

/* The operand with the instruction's 64 rows (X), or that with its columns (Y), in shared memory. */
typedef struct {
    bool k_major;
    int tile;    /* elements along the free dimension */
    int rows;    /* of the tile in shared memory, where K is contiguous */
    int depth;   /* elements along K there */
    bool pixels; /* of several taps, whose rows are behind one another; else each tap has a tile */
} Side;

typedef struct {
    const GpuPlan *p;
    Stmts *s;
    Side x, y;
    int bytes, row, depth,
        steps;  /* of an element; elements of a block's row; DepthU; instructions along it */
    int n_rows; /* instructions of a warp group along X */
    const StageRing *ring;
} Consume;

static Side side_of(const GpuPlan *p, int operand)
{
    return (Side){!p->op[operand].tlu, p->mt[operand], hopper_side(p, operand), hopper_depth(p, operand),
                  operand && hopper_taps_slide(p)};
}

HopperRows hopper_rows(const GpuPlan *p, Stmts *s, const Expr *block)
{
    ExprPool *pool = &s->pool;
    const int taps = hopper_taps(p), n = p->matrix.tiles[0], own = n / taps;
    if (p->matrix.swap) return (HopperRows){block, expr_const(pool, 0)};
    if (n % taps) return (HopperRows){expr_div_i(pool, block, n), expr_mod_i(pool, block, n)};
    const Expr *group = expr_div_i(pool, block, n), *r = expr_mod_i(pool, block, n);
    return (HopperRows){expr_div_i(pool, r, own),
                        expr_add(pool, expr_mul_i(pool, group, own), expr_mod_i(pool, r, own))};
}

static Consume consume_of(const GpuPlan *p, const StageRing *ring, Stmts *s)
{
    const bool swap = p->matrix.swap;
    const int bytes = gpu_type_bytes(&p->in);
    return (Consume){.p = p,
                     .s = s,
                     .x = side_of(p, swap),
                     .y = side_of(p, !swap),
                     .bytes = bytes,
                     .row = ROW_BYTES / bytes,
                     .depth = p->depth_u,
                     .steps = p->depth_u * bytes / STEP_BYTES,
                     .n_rows = p->matrix.tiles[swap],
                     .ring = ring};
}

/* ---- places in shared memory ---- */

/* Bytes from an operand's tile to step `s` of DepthU. */
static const Expr *step_at(const Consume *c, const Side *side, const Expr *s)
{
    ExprPool *p = &c->s->pool;
    const int per = ROW_BYTES / STEP_BYTES; /* steps of a block, where K is contiguous */
    if (!side->k_major) return expr_mul_i(p, s, STEP_BYTES / c->bytes * ROW_BYTES);
    return expr_add(p, expr_mul_i(p, expr_div_i(p, s, per), (int64_t)side->rows * ROW_BYTES),
                    expr_mul_i(p, expr_mod_i(p, s, per), STEP_BYTES));
}

/* Bytes from X's tile to row number 64 * r. */
static const Expr *row_at(const Consume *c, const Expr *r)
{
    const int lines = c->x.k_major ? WGMMA_ROWS : WGMMA_ROWS / c->row * c->x.depth;
    return expr_mul_i(&c->s->pool, r, (int64_t)lines * ROW_BYTES);
}

const Value *hopper_group_at(const GpuPlan *p, Stmts *s, const Expr *group)
{
    const Consume c = consume_of(p, NULL, s);
    if (p->groups.pingpong) return value_int(s, 0);
    const Expr *first = expr_mul_i(&s->pool, group, c.n_rows);
    if (!hopper_taps_are_rows(p) || p->matrix.swap) return value_expr(s, row_at(&c, first));
    const HopperRows rows = hopper_rows(p, s, first);
    const Value *tap = value_op(s, VALUE_MUL, value_expr(s, rows.tap),
                                value_op(s, VALUE_MUL, reg(&c, "apart"), value_int(s, 16)));
    return sum(&c, value_expr(s, row_at(&c, rows.channels)), tap);
}

/* The matrix descriptor of what lies `at` bytes behind an operand's address. */
static const Value *descriptor(const Consume *c, const char *desc, const char *address, const Expr *at)
{
    const Value *first = value_call(c->s, "with_address", reg(c, desc), reg(c, address));
    const Expr *by = expr_div_i(&c->s->pool, at, 16); /* descriptors count in 16 bytes */
    return expr_is(by, 0) ? first : sum(c, first, value_expr(c->s, by));
}

static const Value *address_of_x(const Consume *c)
{
    return sum(c, value_call(c->s, "shared.x", field_of(c, "ring", "stage")), reg(c, "x_offset"));
}
static const Value *address_of_y(const Consume *c)
{
    return value_call(c->s, "shared.y", field_of(c, "ring", "stage"));
}

/* ---- steps of a consumer ---- */

static void wait_for_stage(const Consume *c)
{
    const Value *full = value_call(c->s, "shared.full", field_of(c, "ring", "stage"));
    stmt_phase(c->s, full, field_of(c, "ring", "phase"));
}

static void release(const Consume *c, const char *stage)
{
    stmt_call(c->s, "release", reg(c, "shared"), reg(c, stage), reg(c, "rank"), reg(c, "thread"));
}

static void await(const Consume *c, const char *what) { stmt_product_await(c->s, reg(c, what)); }
static void keep(const Consume *c, const char *what) { stmt_call(c->s, "keep", reg(c, what)); }
static void advance(const Consume *c) { stmt_advance(c->s, c->ring, reg(c, "ring")); }
/* The ring's stage is now the last one, which is to be released. */
static void keep_last(const Consume *c) { stmt_set(c->s, reg(c, "last"), field_of(c, "ring", "stage")); }

static void set_zero(const Consume *c, const char *const *name, int n)
{
    Stmts *s = c->s;
    const Expr *r = stmt_unrolled(s, "r", 0, c->n_rows), *i = stmt_unrolled(s, "i", 0, c->y.tile / 2);
    for (int k = 0; k < n; k++) stmt_set(s, value_at(s, value_at(s, reg(c, name[k]), r), i), value_int(s, 0));
    stmt_end(s);
    stmt_end(s);
}

/* The other consumer's turn to multiply. */
static void give_turn(const Consume *c)
{
    if (c->p->groups.pingpong)
        stmt_call(c->s, "turn_arrive", value_op(c->s, VALUE_SUB, value_int(c->s, 1), reg(c, "wg")));
}

/* ---- ConsumerLag ----
 *
 * The tensor cores work on the products of both consumers in turns, so that both would end a tile at the same
 * time and store it while nothing multiplies. Consumer 1 therefore stops before its last stages until
 * consumer 0 has started all of its own; then one stores while the other multiplies. Consumer 0 gives no
 * second turn before consumer 1 has taken the first one. */

static const Expr *group_is(const Consume *c, int wg)
{
    const Expr *group = expr_var(&c->s->pool, "wg", 1, 0, 1);
    return expr_op(&c->s->pool, EXPR_EQ, group, expr_const(&c->s->pool, wg));
}

void hopper_first_turn(const GpuPlan *p, Stmts *s)
{
    const Consume c = consume_of(p, NULL, s);
    if (p->groups.lag < 1) return;
    stmt_if_expr(s, group_is(&c, 1));
    stmt_call(s, "turn_arrive", value_int(s, 0));
    stmt_end(s);
}

/* At the beginning of stage number i of a tile. */
static void take_turn(const Consume *c, const Expr *i, const Expr *chunks)
{
    Stmts *s = c->s;
    ExprPool *p = &s->pool;
    const int lag = c->p->groups.lag;
    if (lag < 1) return;
    const Expr *early = expr_op(p, EXPR_LT, expr_const(p, lag), chunks);
    const Expr *first = expr_select(p, early, expr_sub(p, chunks, expr_const(p, lag)), expr_const(p, 0));
    stmt_if_expr(s, expr_op(p, EXPR_BOTH, group_is(c, 1), expr_op(p, EXPR_EQ, i, first)));
    stmt_call(s, "turn_wait", reg(c, "wg"));
    stmt_call(s, "turn_arrive", value_int(s, 0));
    stmt_end(s);
}

/* Behind the last stage of a tile. */
static void give_last_turn(const Consume *c)
{
    Stmts *s = c->s;
    if (c->p->groups.lag < 1) return;
    stmt_if_expr(s, group_is(c, 0));
    stmt_call(s, "turn_wait", reg(c, "wg"));
    stmt_call(s, "turn_arrive", value_int(s, 1));
    stmt_end(s);
}

static const Value *next_tile(const Consume *c)
{
    stmt_call(c->s, "walk_next", reg(c, "walk"));
    return value_call(c->s, "work_tile", reg(c, "walk"), reg(c, "args"), reg(c, "rank"));
}

/* Takes the next tile while products are under way, so that its divisions cost no time. In ping-pong the
 * other warp group multiplies meanwhile anyway. In front of a wait for the last products, keep() stops the
 * compiler from computing it later. */
static void take_next(const Consume *c)
{
    static const char *const place[] = {"m", "n", "batch"};
    Stmts *s = c->s;
    if (c->p->groups.pingpong) return;
    const Value *next = stmt_var(s, "WorkTile", "next", next_tile(c));
    for (int i = 0; i < 3; i++) stmt_call(s, "keep", value_field(s, next, place[i]));
}

/* The same in a branch of the loop over stages, which only the first one takes: ptxas moves no instructions
 * out of it, but behind a wait (keep() is nothing to it) it does. */
static void take_next_early(const Consume *c)
{
    if (c->p->groups.pingpong) return;
    stmt_else(c->s);
    stmt_set(c->s, reg(c, "next"), next_tile(c));
}

static void end_accumulate(const Consume *c)
{
    if (!c->p->groups.pingpong) stmt_return(c->s, reg(c, "next"));
    stmt_end(c->s);
}

/* Behind the last chunk: all products are complete, and the last stage is released. fragments: registers of
 * X that they may have used; or NULL. */
static void close_accumulate(const Consume *c, const char *fragments)
{
    give_turn(c);
    if (fragments) take_next(c);
    await(c, "acc");
    if (fragments) keep(c, fragments);
    keep(c, "acc");
    release(c, "last");
    end_accumulate(c);
}

/* Opens accumulate(), which adds up a tile's products and, but for ping-pong, returns the next tile. Returns
 * the number of chunks. */
static const Expr *open_accumulate(const Consume *c)
{
    StmtParam x[11] = {{"Sums &", "acc"},   {"const Shared &", "shared"},
                       {"Ring &", "ring"},  {"u32", "chunks"},
                       {"u32", "x_offset"}, {"u32", "rank"},
                       {"int", "wg"},       {"int", "thread"}};
    int n = 8;
    if (hopper_taps(c->p) > 1) x[n++] = (StmtParam){"u32", "apart"};
    if (!c->p->groups.pingpong)
        x[n++] = (StmtParam){"Walk &", "walk"}, x[n++] = (StmtParam){"const Args &", "args"};
    stmt_function(c->s, (Function){.result = c->p->groups.pingpong ? NULL : "WorkTile",
                                   .name = "accumulate",
                                   .param = x,
                                   .n_params = n});
    return expr_var(&c->s->pool, "chunks", 0, 1, INT32_MAX);
}

/* ---- both operands in shared memory ---- */

/* Bytes of an operand's tile of one tap. */
static int64_t tap_bytes(const Consume *c, const Side *side)
{
    const int rows = side->k_major ? side->tile : (side->tile + c->row - 1) / c->row * c->row;
    return (int64_t)rows * c->depth * c->bytes;
}

/* From the pixels of the first tap to those of another one, in the 16 bytes that descriptors count in. */
static const Value *pixels_of(const Consume *c, const Expr *tap)
{
    return value_op(c->s, VALUE_MUL, value_expr(c->s, tap), reg(c, "apart"));
}

/* A descriptor of what belongs to tap number `tap` of the stage: of pixels the rows from the tap's first one
 * on, "apart" 16-byte units from one tap to the next. */
static const Value *of_tap(const Consume *c, const Side *side, const Value *desc, const Expr *tap)
{
    Stmts *s = c->s;
    if (!tap) return desc;
    if (!side->pixels) return sum(c, desc, value_expr(s, expr_mul_i(&s->pool, tap, tap_bytes(c, side) / 16)));
    return sum(c, desc, pixels_of(c, tap));
}

/* Where taps are the instruction's columns, 64 channels of each: the distance of blocks of 64 columns is that
 * of the pixels of two taps. */
static const Value *columns_of_taps(const Consume *c, const Value *desc)
{
    Stmts *s = c->s;
    if (!hopper_taps_are_rows(c->p) || !c->p->matrix.swap) return desc;
    const Value *leading = value_op(s, VALUE_SHL, value_cast(s, "u64", reg(c, "apart")), value_int(s, 16));
    return sum(c, desc, leading);
}

static void multiply(const Consume *c)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const int taps = hopper_taps_slide(c->p) ? hopper_taps(c->p) : 1;
    Function f = {
        .name = "multiply",
        STMT_PARAMS({"Sums &", "acc"}, {"u32", "x"}, {"u32", "y"}, {"int", "add"}, {"u32", "apart"})};
    if (hopper_taps(c->p) == 1) f.n_params--;
    stmt_function(s, f);
    const Expr *tap = taps > 1 ? stmt_unrolled(s, "t", 1, taps) : NULL;
    const Expr *step = stmt_unrolled(s, "s", 0, c->steps);
    const Value *y = descriptor(c, "Y_DESC", "y", step_at(c, &c->y, step));
    y = stmt_define(s, "u64", "of_y", columns_of_taps(c, of_tap(c, &c->y, y, tap)));
    const Expr *r = stmt_unrolled(s, "r", 0, c->n_rows);
    const bool are_rows = hopper_taps_are_rows(c->p) && !c->p->matrix.swap;
    const HopperRows rows = are_rows ? hopper_rows(c->p, s, r) : (HopperRows){NULL, r};
    const bool same = !are_rows || c->n_rows % hopper_taps(c->p); /* a warp group's rows are of one tap */
    const Expr *x = expr_add(pool, step_at(c, &c->x, step), row_at(c, rows.channels));
    const Value *of_x = descriptor(c, "X_DESC", "x", x);
    of_x = same ? of_tap(c, &c->x, of_x, tap) : sum(c, of_x, pixels_of(c, rows.tap));
    const Expr *later = tap ? expr_add(pool, expr_mul_i(pool, tap, c->steps), step) : step;
    stmt_product(s, (Product){value_at(s, reg(c, "acc"), r), of_x, y,
                              value_select(s, value_expr(s, later), value_int(s, 1), reg(c, "add"))});
    for (int i = 0; i < (tap ? 4 : 3); i++) stmt_end(s);
}

/* Calls multiply() for the ring's stage. */
static void multiply_stage(const Consume *c, const char *to, const Value *add)
{
    const Value *acc = reg(c, to), *x = address_of_x(c), *y = address_of_y(c);
    if (hopper_taps(c->p) > 1)
        stmt_call(c->s, "multiply", acc, x, y, add, reg(c, "apart"));
    else
        stmt_call(c->s, "multiply", acc, x, y, add);
}

static void accumulate(const Consume *c)
{
    Stmts *s = c->s;
    const Expr *chunks = open_accumulate(c), *zero = expr_const(&s->pool, 0);
    if (!c->p->groups.pingpong) stmt_var(s, "WorkTile", "next", NULL);
    stmt_var(s, "u32", "last", value_int(s, 0));
    keep(c, "acc");
    const Expr *i = stmt_loop(s, (Loop){.var = "i", .type = "u32", .start = zero, .limit = chunks});
    const Expr *later = expr_op(&s->pool, EXPR_LT, zero, i);
    take_turn(c, i, chunks);
    wait_for_stage(c);
    stmt_product_fence(s);
    multiply_stage(c, "acc", value_expr(s, later));
    stmt_product_commit(s);
    stmt_if_expr(s, later);
    await(c, "last");
    release(c, "last");
    take_next_early(c);
    stmt_end(s);
    keep_last(c);
    advance(c);
    stmt_end(s);
    give_last_turn(c);
    close_accumulate(c, NULL);
}

/* ---- promotion ----
 *
 * Products of 8-bit floats are accumulated for each stage separately, and then added in f32: the accumulators
 * of wgmma have fewer bits than f32 for them (CUTLASS promotes them likewise, GmmaFP8Accumulation). Of two
 * sets of products one is added while wgmma makes the other one. */

static void add_products(const Consume *c)
{
    Stmts *s = c->s;
    stmt_function(s, (Function){.name = "add_products", STMT_PARAMS({"Sums &", "acc"}, {"Sums &", "part"})});
    keep(c, "part");
    const Expr *r = stmt_unrolled(s, "r", 0, c->n_rows), *i = stmt_unrolled(s, "i", 0, c->y.tile / 2);
    stmt_update(s, VALUE_ADD, value_at(s, value_at(s, reg(c, "acc"), r), i),
                value_at(s, value_at(s, reg(c, "part"), r), i));
    stmt_end(s);
    stmt_end(s);
    stmt_end(s);
}

/* Starts the products of the ring's stage. */
static void start_products(const Consume *c, const char *part)
{
    Stmts *s = c->s;
    wait_for_stage(c);
    keep(c, part);
    stmt_product_fence(s);
    multiply_stage(c, part, value_int(s, 0));
    stmt_product_commit(s);
}

/* Ends those of stage number `stage`. */
static void end_products(const Consume *c, const char *part, const char *stage)
{
    await(c, part);
    release(c, stage);
    stmt_call(c->s, "add_products", reg(c, "acc"), reg(c, part));
}

/* Starts the products `next` of the stage behind the ring's, and ends `part` of the ring's. */
static void turn_products(const Consume *c, const char *next, const char *part)
{
    keep_last(c);
    advance(c);
    start_products(c, next);
    end_products(c, part, "last");
}

static void accumulate_in_one_set(const Consume *c, const Expr *chunks)
{
    Stmts *s = c->s;
    stmt_loop(s, (Loop){.var = "i", .type = "u32", .start = expr_const(&s->pool, 0), .limit = chunks});
    start_products(c, "one");
    keep_last(c);
    end_products(c, "one", "last");
    advance(c);
    stmt_end(s);
}

static void accumulate_in_two_sets(const Consume *c, const Expr *chunks)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const Expr *i = expr_var(pool, "i", 0, 1, INT32_MAX - 1);
    stmt_var(s, "u32", "i", value_int(s, 1));
    start_products(c, "one");
    const Expr *two_left = expr_op(pool, EXPR_LT, expr_add_i(pool, i, 1), chunks);
    stmt_loop(s, (Loop){.var = "i", .condition = value_expr(s, two_left), .step = 2});
    turn_products(c, "other", "one");
    turn_products(c, "one", "other");
    stmt_end(s);
    stmt_if_expr(s, expr_op(pool, EXPR_LT, i, chunks));
    turn_products(c, "other", "one");
    keep_last(c);
    end_products(c, "other", "last");
    stmt_else(s);
    keep_last(c);
    end_products(c, "one", "last");
    stmt_end(s);
    advance(c);
}

static void accumulate_promoted(const Consume *c)
{
    static const char *const zero[] = {"acc", "one"};
    Stmts *s = c->s;
    const bool two = c->p->groups.promotion_sets > 1;
    const Expr *chunks = open_accumulate(c);
    stmt_array(s, "g_TC", "one", DIMS(c->n_rows, c->y.tile / 2));
    if (two) stmt_array(s, "g_TC", "other", DIMS(c->n_rows, c->y.tile / 2));
    stmt_var(s, "u32", "last", value_int(s, 0));
    set_zero(c, zero, 2);
    if (two)
        accumulate_in_two_sets(c, chunks);
    else
        accumulate_in_one_set(c, chunks);
    give_turn(c);
    take_next(c);
    end_accumulate(c);
}

/* ---- X from registers ----
 *
 * While a group of BATCH_STEPS steps of DepthU multiplies, the fragments of the next one are loaded into the
 * other one of two sets. Shared memory has a line of 32 words for each k, of which the swizzle exchanges the
 * 16-byte chunks by k. A thread loads two neighbouring rows at once. nvptx_spread_row spreads the rows of a
 * fragment so that the 16 lanes that are served together, with 4 values of k each, read all banks once. */

static const Value *fragment(const Consume *c, const Expr *step, const Expr *r)
{
    return value_at(c->s, value_at(c->s, reg(c, "f"), step), r);
}

/* The address of a thread's first word, of its row and k. half: of the words of a fragment, which has k and
 * k + 4 (PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk8"). */
static const Value *word_at(const Consume *c, const MatrixInst *in, const Expr *half)
{
    ExprPool *p = &c->s->pool;
    const Expr *thread = expr_var(p, "thread", 0, 0, WGMMA_LANES - 1);
    const Expr *first = matrix_acc_lane(p, in, thread, expr_const(p, 0)).row;
    const Expr *row = stmt_let(c->s, "row", nvptx_spread_row(p, first));
    const Expr *k = stmt_let(c->s, "k", expr_add(p, expr_mod_i(p, thread, 4), expr_mul_i(p, half, 4)));
    const Expr *line = expr_add(p, expr_mul_i(p, expr_div_i(p, row, c->row), c->depth), k);
    const Expr *byte = expr_mul_i(p, expr_mod_i(p, row, c->row), c->bytes);
    const Expr *swizzled = expr_op(p, EXPR_XOR, byte, expr_mul_i(p, k, 16));
    const Value *at = sum(c, reg(c, "x"), value_expr(c->s, expr_mul_i(p, line, ROW_BYTES)));
    return sum(c, at, value_expr(c->s, swizzled));
}

/* Loads the fragments of BATCH_STEPS steps from step number `first` on. x: of this warp group's rows. */
static void load_fragments(const Consume *c, const MatrixInst *in)
{
    Stmts *s = c->s;
    ExprPool *p = &s->pool;
    stmt_typedef(s, "u32", "Fragments",
                 stmts_name(s, "[%d][%d][%d]", BATCH_STEPS, c->n_rows, FRAGMENT_WORDS));
    stmt_function(
        s, (Function){.name = "load_fragments",
                      STMT_PARAMS({"Fragments &", "f"}, {"u32", "x"}, {"int", "first"}, {"u32", "thread"})});
    const Expr *first = expr_var(p, "first", 0, 0, c->steps), *half = stmt_unrolled(s, "half", 0, 2);
    stmt_define(s, "u32", "at", word_at(c, in, half));
    const Expr *step = stmt_unrolled(s, "s", 0, BATCH_STEPS), *r = stmt_unrolled(s, "r", 0, c->n_rows);
    const Expr *by = expr_add(p, row_at(c, r), step_at(c, &c->x, expr_add(p, first, step)));
    const Expr *word = expr_mul_i(p, half, 2);
    const Value *of = fragment(c, step, r);
    stmt_call(s, "load_pair", sum(c, reg(c, "at"), value_expr(s, by)), value_at(s, of, word),
              value_at(s, of, expr_add_i(p, word, 1)));
    for (int i = 0; i < 4; i++) stmt_end(s);
}

static void multiply_fragments(const Consume *c)
{
    Stmts *s = c->s;
    ExprPool *p = &s->pool;
    stmt_function(s, (Function){.name = "multiply_fragments",
                                STMT_PARAMS({"Sums &", "acc"}, {"Fragments &", "f"}, {"u32", "y"},
                                            {"int", "first"}, {"int", "add"})});
    const Expr *first = expr_var(p, "first", 0, 0, c->steps);
    const Expr *step = stmt_unrolled(s, "s", 0, BATCH_STEPS), *r = stmt_unrolled(s, "r", 0, c->n_rows);
    const Expr *at = step_at(c, &c->y, expr_add(p, first, step));
    stmt_product(s, (Product){value_at(s, reg(c, "acc"), r), fragment(c, step, r),
                              descriptor(c, "Y_DESC", "y", at),
                              value_select(s, value_expr(s, step), value_int(s, 1), reg(c, "add"))});
    for (int i = 0; i < 3; i++) stmt_end(s);
}

/* Multiplies a batch of fragments, then waits for the one before, whose registers are loaded next. */
static void batch(const Consume *c, const char *now, const char *other, const Expr *first, const Expr *add)
{
    Stmts *s = c->s;
    stmt_call(s, "load_fragments", reg(c, now), address_of_x(c), value_expr(s, first), reg(c, "thread"));
    stmt_product_fence(s);
    stmt_call(s, "multiply_fragments", reg(c, "acc"), reg(c, now), address_of_y(c), value_expr(s, first),
              value_expr(s, add));
    stmt_product_commit(s);
    await(c, other);
    keep(c, other);
}

static void accumulate_from_registers(const Consume *c)
{
    Stmts *s = c->s;
    ExprPool *p = &s->pool;
    const Expr *chunks = open_accumulate(c), *zero = expr_const(p, 0);
    const int *dims = DIMS(BATCH_STEPS, c->n_rows, FRAGMENT_WORDS);
    stmt_array(s, "u32", "even", dims);
    stmt_array(s, "u32", "odd", dims);
    stmt_var(s, "u32", "last", value_int(s, 0));
    keep(c, "acc");
    const Expr *i = stmt_loop(s, (Loop){.var = "i", .type = "u32", .start = zero, .limit = chunks});
    wait_for_stage(c);
    const Expr *step = stmt_loop(s, (Loop){.var = "s",
                                           .start = zero,
                                           .limit = expr_const(p, c->steps),
                                           .step = 2 * BATCH_STEPS,
                                           .unroll = UNROLL_FULL});
    const Expr *later = expr_op(p, EXPR_LT, zero, i), *first = expr_op(p, EXPR_EQ, step, zero);
    batch(c, "even", "odd", step, expr_op(p, EXPR_EITHER, expr_op(p, EXPR_LT, zero, step), later));
    stmt_if_expr(s, expr_op(p, EXPR_BOTH, first, later));
    release(c, "last");
    stmt_end(s);
    batch(c, "odd", "even", expr_add_i(p, step, BATCH_STEPS), expr_const(p, 1));
    stmt_end(s);
    keep_last(c);
    advance(c);
    stmt_end(s);
    close_accumulate(c, "odd");
}

/* ---- the whole ---- */

void hopper_products(const GpuPlan *p, const MatrixInst *in, const StageRing *ring, Stmts *s)
{
    const Consume c = consume_of(p, ring, s);
    stmt_gap(s);
    stmt_typedef(s, "g_TC", "Sums", stmts_name(s, "[%d][%d]", c.n_rows, p->mt[!p->matrix.swap] / 2));
    if (p->groups.rows_from_registers) {
        stmt_file(s, "nvptx/hopper_rows.cuh");
        load_fragments(&c, in);
        multiply_fragments(&c);
        accumulate_from_registers(&c);
        return;
    }
    multiply(&c);
    if (!p->groups.promotes) {
        accumulate(&c);
        return;
    }
    add_products(&c);
    accumulate_promoted(&c);
}
