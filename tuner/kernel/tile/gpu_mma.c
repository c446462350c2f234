/* Products of programs written by hand on GPUs: vectors of both operands from local memory, multiply-add; or
 * matrix instructions, whose lane maps say what a lane reads. See gpu.h. */
#include "base/integer.h"
#include "index/matrix_lanes.h"
#include "kernel/amdgcn/amdgcn.h"
#include "kernel/nvptx/ring.h"
#include "kernel/tile/gpu.h"

/* Products of a work-item in steps that are written out: of all steps, or else of an iteration of a loop over
 * them; of the loop of tiles that hang over an edge. */
enum { PRODUCTS = 2048, PRODUCTS_OF_LONG_LOOPS = 512, PRODUCTS_OF_SHORT_LOOPS = 128 };

/* An operand of the steps that are written out. */
typedef struct {
    int operand;
    TilePointer pointer;
} Reader;

static const Expr *address(TileLowering *t, int operand, const Expr *k, const Expr *free)
{
    const TilePlace *x = &t->plan->tile[t->o->tile[1 + operand]];
    return tile_local(&t->s->pool, x, operand ? k : free, operand ? free : k);
}

static Access local(TileLowering *t, Reader *r, const char *type, int bytes, const Expr *k, const Expr *free)
{
    return tile_gpu_local(t, &r->pointer, type, bytes, address(t, r->operand, k, free));
}

/* n elements from there on along a side of the operand's tile are a vector. */
static bool is_vector(TileLowering *t, int operand, const Expr *k, const Expr *free, bool along_k, int n)
{
    const TilePlace *x = &t->plan->tile[t->o->tile[1 + operand]];
    return tile_local_is_vector(&t->s->pool, x, operand ? k : free, operand ? free : k,
                                along_k ? 1 - operand : operand, n);
}

/* ---- multiply-add ---- */

static const Value *widened(TileLowering *t, DataType type, const Value *x)
{
    const char *widen = gpu_widen(type);
    return *widen ? value_call(t->s, widen, x) : value_cast(t->s, "@TC", x);
}

/* This work-item's rows of the first operand, or columns of the second, at K. */
static void read_elements(TileLowering *t, Reader *reader, const Value *to, const Expr *k)
{
    const int operand = reader->operand;
    Stmts *s = t->s;
    ExprPool *pool = &s->pool;
    const int acc = t->o->tile[0];
    const DataType type = t->p->tile[t->o->tile[1 + operand]].type;
    const TilePlace *x = &t->plan->tile[acc];
    const int bytes = type_bytes(type), n = int_pow2_in(x->sg.data[operand], 16 / bytes);
    const Expr *i = stmt_unrolled(s, "i", TILE_SLOT_I, x->per[operand] / n), *first = expr_mul_i(pool, i, n);
    const Expr *free = tile_element(pool, t->p, t->plan, acc, operand, tile_gpu_tid(t), first);
    const Value *v = NULL;
    if (is_vector(t, operand, k, free, false, n)) {
        const char *vector = stmts_name(s, "@VP%d", n);
        v = stmt_define(s, vector, "v", value_load(s, local(t, reader, vector, n * bytes, k, free)));
    }
    const Expr *q = stmt_unrolled(s, "q", TILE_SLOT_U, n), *number = expr_add(pool, first, q);
    free = tile_element(pool, t->p, t->plan, acc, operand, tile_gpu_tid(t), number);
    const Value *e = v ? value_at(s, v, q) : value_load(s, local(t, reader, "@T", bytes, k, free));
    stmt_set(s, value_at(s, to, number), widened(t, type, e));
    stmt_end(s);
    stmt_end(s);
}

static void multiply_elements(TileLowering *t, const Value *const x[2])
{
    Stmts *s = t->s;
    const TilePlace *acc = &t->plan->tile[t->o->tile[0]];
    const Expr *i = stmt_unrolled(s, "i", TILE_SLOT_I, acc->per[0]);
    const Expr *j = stmt_unrolled(s, "j", TILE_SLOT_J, acc->per[1]);
    const Expr *e = expr_add(&s->pool, expr_mul_i(&s->pool, i, acc->per[1]), j);
    const Value *sum = tile_gpu_register(t, t->o->tile[0], e);
    stmt_set(s, sum, value_call(s, "@madd", value_at(s, x[0], i), value_at(s, x[1], j), sum));
    stmt_end(s);
    stmt_end(s);
}

/* ---- matrix instructions ---- */

static bool is_mma(const MatrixInst *in) { return matrix_unit(in) == MATRIX_UNIT_MMA; }

/* ldmatrix reads four blocks of 8 rows of 16 bytes along K: an operand of 16 rows, or those of 8 columns of
 * two instructions. Lane l has the address of row l % 8 of block l / 8. Blocks are in the order of registers
 * (matrix_lanes.h): rows first in the first operand, K first in the second. */
enum { BLOCK_ROWS = 8, BLOCK_BYTES = 16, BLOCKS = 4 };

/* What the lane reads of instruction, or pair of instructions, number i. */
static const Expr *block_address(TileLowering *t, int operand, const Expr *k, const Expr *i)
{
    ExprPool *pool = &t->s->pool;
    const int acc = t->o->tile[0], length = BLOCK_BYTES / type_bytes(t->plan->tile[acc].inst->a);
    const Expr *lane = expr_mod_i(pool, tile_gpu_tid(t), t->plan->n_lanes);
    const Expr *block = expr_div_i(pool, lane, BLOCK_ROWS), *row = expr_mod_i(pool, lane, BLOCK_ROWS);
    const Expr *second = expr_div_i(pool, block, 2), *odd = expr_mod_i(pool, block, 2);
    if (operand)
        i = expr_add(pool, expr_mul_i(pool, i, 2), second);
    else
        row = expr_add(pool, row, expr_mul_i(pool, odd, BLOCK_ROWS));
    const Expr *free =
        expr_add(pool, tile_instruction(pool, t->p, t->plan, acc, operand, tile_gpu_tid(t), i), row);
    return address(t, operand, expr_add(pool, k, expr_mul_i(pool, operand ? odd : second, length)), free);
}

/* Instructions that one ldmatrix serves; 0: it cannot read this operand. */
static int per_ldmatrix(TileLowering *t, int operand)
{
    ExprPool *pool = &t->s->pool;
    const int acc = t->o->tile[0], n = tile_instructions(t->plan, acc, operand), each = operand ? 2 : 1;
    const MatrixInst *in = t->plan->tile[acc].inst;
    const int bytes = in ? type_bytes(in->a) : 0, rows = in && operand ? in->n : in ? in->m : 0;
    if (!in || !is_mma(in) || bytes > 2 || in->k * bytes != 2 * BLOCK_BYTES || n % each) return 0;
    if (rows * each != 2 * BLOCK_ROWS) return 0;
    const Expr *i = expr_var(pool, "i", TILE_SLOT_I, 0, n / each - 1);
    const Expr *k = expr_mul_i(pool, expr_var(pool, "u", TILE_SLOT_L, 0, HAND_MAX_SIDE / in->k), in->k);
    return block_address(t, operand, k, i)->factor % BLOCK_BYTES ? 0 : each;
}

static void read_blocks(TileLowering *t, Reader *reader, const Value *to, const Expr *k, int each)
{
    Stmts *s = t->s;
    ExprPool *pool = &s->pool;
    const int registers = BLOCKS / each,
              n = tile_instructions(t->plan, t->o->tile[0], reader->operand) / each;
    const Expr *i = stmt_unrolled(s, "i", TILE_SLOT_I, n);
    const Value *all = stmt_array(s, "@F", "all", DIMS(BLOCKS));
    const Access from =
        tile_gpu_local(t, &reader->pointer, "@F", BLOCK_BYTES, block_address(t, reader->operand, k, i));
    stmt_call(s, "@ldsm", all, value_call(s, "@shared", value_reg(s, "lds"), value_place(s, from)));
    const Expr *r = stmt_unrolled(s, "r", TILE_SLOT_J, BLOCKS);
    const Expr *number = expr_add(pool, expr_mul_i(pool, i, each), expr_div_i(pool, r, registers));
    stmt_set(s, value_at(s, value_at(s, to, number), expr_mod_i(pool, r, registers)), value_at(s, all, r));
    stmt_end(s);
    stmt_end(s);
}

/* What a lane of an mma.sync holds: registers of 4 bytes, or doubles. */
static void read_registers(TileLowering *t, Reader *reader, const Value *to, const Expr *k)
{
    const int operand = reader->operand, each = per_ldmatrix(t, operand);
    Stmts *s = t->s;
    if (each) {
        read_blocks(t, reader, to, k, each);
        return;
    }
    ExprPool *pool = &s->pool;
    const int acc = t->o->tile[0];
    const MatrixInst *in = t->plan->tile[acc].inst;
    const int bytes = type_bytes(in->a), run = bytes < 4 ? 4 / bytes : 1;
    const Expr *i = stmt_unrolled(s, "i", TILE_SLOT_I, tile_instructions(t->plan, acc, operand));
    const Expr *r = stmt_unrolled(s, "r", TILE_SLOT_J, (operand ? in->n_b : in->n_a) / run);
    const Expr *lane = expr_mod_i(pool, tile_gpu_tid(t), t->plan->n_lanes);
    MatrixElement e = matrix_operand_element(pool, in, operand, lane, expr_mul_i(pool, r, run));
    const Expr *first = tile_instruction(pool, t->p, t->plan, acc, operand, tile_gpu_tid(t), i);
    const Access from =
        local(t, reader, "@F", run * bytes, expr_add(pool, k, e.k), expr_add(pool, first, e.free));
    stmt_set(s, value_at(s, value_at(s, to, i), r), value_load(s, from));
    stmt_end(s);
    stmt_end(s);
}

/* What a lane of an MFMA or WMMA holds: runs of K, as one operand. */
static void read_operands(TileLowering *t, Reader *reader, const Value *to, const Expr *k)
{
    const int operand = reader->operand;
    Stmts *s = t->s;
    ExprPool *pool = &s->pool;
    const int acc = t->o->tile[0];
    const MatrixInst *in = t->plan->tile[acc].inst;
    const Expr *i = stmt_unrolled(s, "i", TILE_SLOT_I, tile_instructions(t->plan, acc, operand));
    const Expr *lane = expr_mod_i(pool, tile_gpu_tid(t), t->plan->n_lanes);
    const Expr *first = tile_instruction(pool, t->p, t->plan, acc, operand, tile_gpu_tid(t), i);
    MatrixElement e = matrix_operand_element(pool, in, operand, lane, expr_const(pool, 0));
    int n = tile_fragment_run(in, operand), bytes = type_bytes(t->p->tile[t->o->tile[1 + operand]].type);
    if (!is_vector(t, operand, expr_add(pool, k, e.k), expr_add(pool, first, e.free), true, n)) n = 1;
    const int runs = (operand ? in->n_b : in->n_a) / n;
    const char *type = stmts_name(s, "@VP%d", n);
    const Value *run = stmt_array(s, type, "run", DIMS(runs));
    const Expr *r = stmt_unrolled(s, "r", TILE_SLOT_J, runs);
    e = matrix_operand_element(pool, in, operand, lane, expr_mul_i(pool, r, n));
    const Access from =
        local(t, reader, type, n * bytes, expr_add(pool, k, e.k), expr_add(pool, first, e.free));
    stmt_set(s, value_at(s, run, r), value_load(s, from));
    stmt_end(s);
    stmt_set(s, value_at(s, to, i), value_call(s, "@operand<@Op>", run));
    stmt_end(s);
}

static void multiply_matrices(TileLowering *t, const Value *const x[2])
{
    Stmts *s = t->s;
    ExprPool *pool = &s->pool;
    const int acc = t->o->tile[0], along = tile_instructions(t->plan, acc, 1);
    const MatrixInst *in = t->plan->tile[acc].inst;
    const Expr *i = stmt_unrolled(s, "i", TILE_SLOT_I, tile_instructions(t->plan, acc, 0));
    const Expr *j = stmt_unrolled(s, "j", TILE_SLOT_J, along);
    const Expr *number = expr_add(pool, expr_mul_i(pool, i, along), j);
    const Value *a = value_at(s, x[0], i), *b = value_at(s, x[1], j);
    if (is_mma(in)) {
        const Value *sums = value_expr(s, expr_mul_i(pool, number, in->n_acc));
        stmt_call(s, "@mma", value_op(s, VALUE_ADD, tile_array(t, acc), sums), a, b);
    } else {
        const Value *sum = value_at(s, tile_array(t, acc), number);
        stmt_set(s, sum, value_call(s, "@inst", a, b, sum));
    }
    stmt_end(s);
    stmt_end(s);
}

void tile_gpu_mma_functions(TileLowering *t)
{
    static void (*const make[])(const MatrixInst *in, Stmts *s) = {[MATRIX_UNIT_MFMA] = amdgcn_instruction,
                                                                   [MATRIX_UNIT_WMMA] = amdgcn_instruction,
                                                                   [MATRIX_UNIT_MMA] = nvptx_instruction};
    const MatrixInst *in = t->plan->inst;
    if (!in) return;
    make[matrix_unit(in)](in, t->s);
    if (!is_mma(in)) stmt_file(t->s, "amdgcn/tile_operand.hip");
}

/* ---- steps ---- */

/* Registers of an operand for one step, twice. */
static const Value *registers(TileLowering *t, int operand)
{
    const char *name = operand ? "y" : "x";
    const TilePlace *acc = &t->plan->tile[t->o->tile[0]];
    const MatrixInst *in = acc->inst;
    if (!in) return stmt_array(t->s, "@TC", name, DIMS(2, acc->per[operand]));
    const int n = tile_instructions(t->plan, t->o->tile[0], operand), bytes = type_bytes(in->a);
    if (!is_mma(in)) return stmt_array(t->s, "@Op", name, DIMS(2, n));
    return stmt_array(t->s, "@F", name,
                      DIMS(2, n, (operand ? in->n_b : in->n_a) / (bytes < 4 ? 4 / bytes : 1)));
}

/* Row of the first operand, or column of the second, that this work-item reads first, and its K. */
static const Expr *first_address(TileLowering *t, int operand, const Expr *k)
{
    ExprPool *pool = &t->s->pool;
    const int acc = t->o->tile[0];
    const MatrixInst *in = t->plan->tile[acc].inst;
    const Expr *tid = tile_gpu_tid(t), *zero = expr_const(pool, 0);
    if (!in) return address(t, operand, k, tile_element(pool, t->p, t->plan, acc, operand, tid, zero));
    if (per_ldmatrix(t, operand)) return block_address(t, operand, k, zero);
    MatrixElement e =
        matrix_operand_element(pool, in, operand, expr_mod_i(pool, tid, t->plan->n_lanes), zero);
    const Expr *free = tile_instruction(pool, t->p, t->plan, acc, operand, tid, zero);
    return address(t, operand, expr_add(pool, k, e.k), expr_add(pool, free, e.free));
}

static Reader reader_new(TileLowering *t, int operand, const Expr *k)
{
    const char *name = operand ? "from_y" : "from_x";
    return (Reader){operand,
                    tile_gpu_pointer(t, t->o->tile[1 + operand], name, first_address(t, operand, k))};
}

static void read_step(TileLowering *t, Reader r[2], const Value *const x[2], const Expr *set, const Expr *k)
{
    const MatrixInst *in = t->plan->tile[t->o->tile[0]].inst;
    for (int i = 0; i < 2; i++)
        (!in          ? read_elements
         : is_mma(in) ? read_registers
                      : read_operands)(t, &r[i], value_at(t->s, x[i], set), k);
}

/* n steps from K element `from` on, written out; operands are read while the step before multiplies. */
static void steps(TileLowering *t, const Expr *from, int n, int depth)
{
    Stmts *s = t->s;
    ExprPool *pool = &s->pool;
    const int fence = tile_gpu_plan(t)->dialect->steps_per_fence;
    const Value *x[] = {registers(t, 0), registers(t, 1)};
    Reader r[] = {reader_new(t, 0, from), reader_new(t, 1, from)};
    read_step(t, r, x, expr_const(pool, 0), from);
    const Expr *u = stmt_unrolled(s, "u", TILE_SLOT_L, n), *next = expr_add_i(pool, u, 1);
    if (n > 1) {
        stmt_if_expr(s, expr_op(pool, EXPR_LT, next, expr_const(pool, n)));
        const Expr *k = expr_within(pool, expr_mul_i(pool, next, depth), 0, (n - 1) * depth);
        read_step(t, r, x, expr_and_i(pool, next, 1), expr_add(pool, from, k));
        stmt_end(s);
    }
    const Expr *set = expr_and_i(pool, u, 1);
    const Value *now[] = {value_at(s, x[0], set), value_at(s, x[1], set)};
    (t->plan->tile[t->o->tile[0]].inst ? multiply_matrices : multiply_elements)(t, now);
    if (fence && n > 2 * fence) {
        stmt_if_expr(s, expr_op(pool, EXPR_EQ, expr_mod_i(pool, u, fence), expr_const(pool, fence - 1)));
        stmt_fence(s);
        stmt_end(s);
    }
    stmt_end(s);
}

void tile_gpu_mma(TileLowering *t)
{
    ExprPool *pool = &t->s->pool;
    const TilePlace *acc = &t->plan->tile[t->o->tile[0]];
    const int depth = acc->inst ? acc->inst->k : 1, all = t->p->tile[t->o->tile[1]].size[1] / depth;
    const int each = acc->inst ? acc->count : acc->per[0] * acc->per[1];
    int n = all;
    const int most = t->is_short ? PRODUCTS_OF_SHORT_LOOPS : PRODUCTS_OF_LONG_LOOPS;
    if (t->is_short || all * each > PRODUCTS)
        while (n > 1 && (all % n || n * each > most)) n--;
    if (!t->o->set) tile_gpu_clear(t, t->o->tile[0]);
    if (n == all) {
        stmt_block(t->s);
        steps(t, expr_const(pool, 0), n, depth);
        stmt_end(t->s);
        return;
    }
    const Expr *l = stmt_loop(t->s, (Loop){.var = "l",
                                           .type = "int",
                                           .start = expr_const(pool, 0),
                                           .limit = expr_const(pool, all * depth),
                                           .step = n * depth,
                                           .slot = TILE_SLOT_POSITION,
                                           .unroll = UNROLL_NONE});
    l = expr_multiple(pool, expr_within(pool, l, 0, (all - n) * depth), n * depth);
    steps(t, l, n, depth);
    stmt_end(t->s);
}
