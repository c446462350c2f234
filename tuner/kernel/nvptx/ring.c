/* Kernels with a ring of stages: plan, constants, the kernel function around the texts in text/. */
#include <inttypes.h>

#include "kernel/contract.h"
#include "kernel/gpu/gather.h"
#include "kernel/gpu/walk.h"
#include "kernel/nvptx/hopper.h"
#include "kernel/nvptx/ring_copy.h"
#include "kernel/nvptx/ring_store.h"

/* Operands of bytes whose free dimension is contiguous are transposed in registers in blocks of 4x4, so that
 * four of the instruction's tiles of 8 are interleaved (mma_read.c). MMA_RUN: adjacent accumulators of a
 * lane. */
enum { INTERLEAVED = 4, MMA_RUN = 2 };
static bool interleaves(const GpuPlan *p, int i) { return gpu_type_bytes(&p->in) == 1 && p->op[i].tlu; }

static Err shape(GpuPlan *p)
{
    const int bytes = gpu_type_bytes(&p->in), step = p->ring.k_vectors ? 16 / bytes : 1;
    if (p->matrix.used) TRY(ring_mma_check(p));
    if (!p->matrix.used && p->vw * bytes != 16)
        FAIL(ERR_INPUT, "runs of %d elements of %d bytes, threads have runs of 16 bytes", p->vw, bytes);
    if (p->k_step != (p->matrix.used ? p->matrix.k : step))
        FAIL(ERR_INPUT, "steps of %d elements of K, expected %d", p->k_step,
             p->matrix.used ? p->matrix.k : step);
    if (p->ring.read_ahead && p->steps % 2)
        FAIL(ERR_INPUT, "%d steps of a stage: fragments are read ahead into two sets in turn", p->steps);
    p->n_acc = p->mt[0] * p->mt[1] / (p->n_threads / p->lsu);
    p->acc_run = p->matrix.used ? MMA_RUN : p->vw;
    return ERR_OK;
}

static Err compute_plan(GpuPlan *p)
{
    const GpuRing *r = &p->ring;
    for (int i = 0; i < 2; i++) p->op[i].k_major = r->k_major[i] && !p->op[i].tlu, p->op[i].pad = 0;
    p->k_step = p->matrix.used ? p->matrix.k : r->k_vectors ? 16 / gpu_type_bytes(&p->in) : 1;
    p->steps = p->depth_u / p->k_step / p->lsu;
    p->prefetch_local = r->read_ahead;
    p->matrix.vk = p->k_step;
    for (int i = 0; i < 2; i++) p->matrix.vec[i] = interleaves(p, i) ? INTERLEAVED : 1;
    return shape(p);
}

RingTile ring_tile_of(const GpuPlan *p, int i)
{
    const GpuOperand *x = &p->op[i];
    return ring_tile(&(RingOperand){.first = i == 0,
                                    .matrix = p->matrix.used,
                                    .tlu = x->tlu,
                                    .vectors = !p->matrix.used && x->k_major,
                                    .shifts = p->ring.shifts,
                                    .tile = x->tile,
                                    .depth = p->depth_u,
                                    .bytes = gpu_type_bytes(&p->in)});
}

static RingResults results_of(const GpuPlan *p)
{
    int run = p->acc_run, parts = p->matrix.used ? p->matrix.tiles[1] * p->matrix.n / 16 : p->tt[1] / run;
    return ring_results(p->mt, parts, run, gpu_type_bytes(&p->acc), p->lsu);
}

static Err copy_check(const GpuPlan *p)
{
    if (p->ring.window_bytes) return ring_window_check(p);
    const int64_t stage = ring_tile_of(p, 0).bytes + ring_tile_of(p, 1).bytes, results = results_of(p).bytes,
                  table = p->indices ? ring_table_of(p).bytes : 0;
    if (p->n_stages < 2 || p->stage_bytes < 1 || p->ring.blocks < 1)
        FAIL(ERR_INPUT, "a ring of %d stages with %d bytes each is empty", p->n_stages, p->stage_bytes);
    if (p->stage_bytes != stage ||
        p->lds_bytes < ring_local_bytes(stage * p->n_stages + table, results, ring_fills_ahead(p)))
        FAIL(ERR_INPUT,
             "%d bytes of local memory, %d of a stage: %d stages have %" PRId64
             " bytes each, results %" PRId64,
             p->lds_bytes, p->stage_bytes, p->n_stages, stage, results);
    return ERR_OK;
}

static Err copy_plan(GpuPlan *p)
{
    p->n_stages = p->prefetch + 1;
    p->lds_bytes = p->ring.lds_bytes;
    p->stage_bytes = p->ring.stage_bytes;
    return copy_check(p);
}

/* Prints a function that returns the distance, in elements of global memory, from a tensor's first element to
 * coordinate x of one dimension, as the program's view maps it. The distances of both dimensions add up. */
static void address(Stmts *s, const char *result, const char *name, const char *type, const Expr *e)
{
    stmt_function(
        s,
        (Function){.result = result, .name = name, STMT_PARAMS({type, "x"}, {"unsigned long long", "ld"})});
    stmt_return(s, value_expr(s, e));
    stmt_end(s);
}

void nvptx_addresses(const GpuPlan *p, Stmts *s)
{
    ExprPool *pool = &s->pool;
    const Expr *zero = expr_const(pool, 0), *x = gpu_size(s, "x"), *ld = gpu_stride(s, "ld");
    for (int i = 2; i < 4; i++) {
        const char n = "abcd"[i], *type = "unsigned long long";
        address(s, type, stmts_name(s, "@%c_at_m", n), "int", gpu_address(pool, p, i, x, zero, ld));
        address(s, type, stmts_name(s, "@%c_at_n", n), "int", gpu_address(pool, p, i, zero, x, ld));
    }
}

/* The same of contractions: elements from the first one of C or D to a row or column of the tensor. */
static void places(const GpuPlan *p, Stmts *s)
{
    const Expr *zero = expr_const(&s->pool, 0), *x = expr_var(&s->pool, "x", 0, 0, UINT32_MAX);
    for (int i = 2; i < 4; i++)
        for (int column = 0; column < 2; column++) {
            stmt_function(s, (Function){.result = "unsigned long long",
                                        .name = stmts_name(s, "@%c_at_%c", "abcd"[i], "mn"[column]),
                                        STMT_PARAMS({"const @Dims &", "dims"}, {"unsigned", "x"})});
            stmt_return(
                s, value_expr(s, gpu_dims_offset(p, s, i, "dims.", column ? zero : x, column ? x : zero)));
            stmt_end(s);
        }
}

/* Prints the distances of elements of A or B in global memory along both dimensions. */
static void operand_addresses(const GpuPlan *p, Stmts *s, int i)
{
    const Expr *zero = expr_const(&s->pool, 0), *ld = gpu_stride(s, "ld"), *x = gpu_stride(s, "x");
    const GpuOperand *op = &p->op[i];
    if (p->indices) return;
    address(s, "@u64", stmts_name(s, "@free_at_%c", op->name), "@u64",
            gpu_operand_address(&s->pool, p, op, x, zero, ld));
    address(s, "@u64", stmts_name(s, "@k_at_%c", op->name), "@u64",
            gpu_operand_address(&s->pool, p, op, zero, x, ld));
}

static void constants(const GpuPlan *p, Stmts *s)
{
    const RingResults r = results_of(p);
    const struct {
        const char *name;
        int value;
    } all[] = {{"@MT0", p->mt[0]},
               {"@MT1", p->mt[1]},
               {"@DU", p->depth_u},
               {"@NT", p->n_threads},
               {"@LDS", p->lds_bytes},
               {"@LINE", r.line},
               {"@SLOTS", r.slots},
               {"@LSU", p->lsu},
               {"@ADDS", gpu_adds(p)},
               {"@READS", gpu_reads_c(p)},
               {"@FUSED", fused_any(&p->fused)},
               {"@M_CONTIGUOUS", gpu_contiguous_results(p)}};
    gpu_heading(s, "---- numbers ----");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) stmt_constant(s, "int", all[i].name, all[i].value);
}

static void copies(const GpuPlan *p, Buf *out)
{
    Stmts s;
    stmts_init(&s, GPU_STMTS_BYTES);
    stmt_file(&s, "nvptx/ring_types.cuh");
    stmt_file(&s, "nvptx/async.cuh");
    stmt_file(&s, "nvptx/shared.cuh");
    if (p->indices) gpu_dims_struct(p, &s);
    for (int i = 0; i < 2; i++) operand_addresses(p, &s, i);
    gpu_put(p, &s, out);
}

const GpuCompute ring_simt = {"ring-simt", false, compute_plan, shape, ring_simt_emit, NULL},
                 ring_mma = {"ring-mma", false, compute_plan, shape, ring_mma_emit, NULL};
const GpuCopy ring_copy = {
    .name = "ring", .async = true, .plan = copy_plan, .check = copy_check, .emit = copies};

/* ---- the kernel function ---- */

/* A tile that overhangs the edge of D is moved back inside, unless that misaligns its pieces. It then
 * overlaps the neighbouring tile, which stores the rows or columns that both have. */
static void shift_back(const GpuPlan *p, Stmts *s, int i, const Value *at, const char *side)
{
    const GpuOperand *x = &p->op[i];
    const Value *tile = value_int(s, x->tile), *zero = value_int(s, 0);
    const Value *size = value_cast(s, "int", value_reg(s, side));
    const Value *over = stmt_define(s, "int", stmts_name(s, "over_%c", x->name),
                                    value_difference(s, value_sum(s, at, tile), size));
    const Value *moves =
        value_op(s, VALUE_BOTH, value_op(s, VALUE_GT, over, zero), value_op(s, VALUE_GE, size, tile));
    if (x->tlu && !p->ring.via_registers && !p->ring.shifts) {
        const Value *rest = value_op(s, VALUE_MOD, over, value_int(s, x->width));
        moves = value_op(s, VALUE_BOTH, moves, value_op(s, VALUE_EQ, rest, zero));
    }
    stmt_if(s, moves);
    stmt_update(s, VALUE_SUB, at, over);
    stmt_end(s);
}

/* Prints @overlap, which returns how many rows or columns from `at` on the neighbouring tile has, too. */
static void overlap(const GpuPlan *p, Stmts *s)
{
    const Value *tile = value_reg(s, "tile"), *size = value_reg(s, "size"), *zero = value_int(s, 0);
    stmt_function(s, (Function){.result = "int",
                                .name = "@overlap",
                                STMT_PARAMS({"int", "at"}, {"int", "tile"}, {"int", "size"})});
    if (p->ring.shift_ptr) {
        const Value *rest = stmt_define(s, "int", "rest", value_op(s, VALUE_MOD, size, tile));
        const Value *last = value_op(s, VALUE_EQ, value_sum(s, value_reg(s, "at"), tile), size);
        const Value *shares = value_op(s, VALUE_BOTH, last, rest);
        stmt_return(s, value_select(s, shares, value_difference(s, tile, rest), zero));
    } else
        stmt_return(s, zero);
    stmt_end(s);
}

/* Declares the tile's first row and column. Tiles that overhang the edge of D may be shifted back inside
 * (EdgeType ShiftPtr). */
static void origins(const GpuPlan *p, Stmts *s)
{
    const Value *mt[] = {value_int(s, p->mt[0]), value_int(s, p->mt[1])};
    const Value *m0 = stmt_var(s, "int", "m0", value_product(s, value_reg(s, "wg0"), mt[0]));
    const Value *n0 = stmt_var(s, "int", "n0", value_product(s, value_reg(s, "wg1"), mt[1]));
    if (p->ring.shift_ptr) shift_back(p, s, 0, m0, "size_m"), shift_back(p, s, 1, n0, "size_n");
}

/* Calls a function of the tile's copies and its ring; of the sums, too, where there is `acc`. */
static void call_on_ring(Stmts *s, const char *function, const Value *acc)
{
    const Value *a = value_reg(s, "copy_a"), *b = value_reg(s, "copy_b"), *ring = value_reg(s, "ring");
    if (acc)
        stmt_call(s, function, acc, a, b, ring);
    else
        stmt_call(s, function, a, b, ring);
}

/* The tile's place, its operands, and the copies at its first chunk. */
static void start(const GpuPlan *p, Stmts *s)
{
    const Value *late = p->walk.staggers ? value_reg(s, "late") : value_int(s, 0),
                *step = value_reg(s, "step");
    const Value *tid = value_reg(s, "tid"), *lda = value_reg(s, "lda"), *ldb = value_reg(s, "ldb");
    const Value *m = value_reg(s, "size_m"), *n = value_reg(s, "size_n"), *m0 = value_reg(s, "m0"),
                *n0 = value_reg(s, "n0");
    origins(p, s);
    const Value *a = stmt_define(s, "const @T *", "from_a", gpu_tensor_value(p, s, 'a', p->strided));
    const Value *b = stmt_define(s, "const @T *", "from_b", gpu_tensor_value(p, s, 'b', p->strided));
    const Value *copy_a = stmt_var(s, "@CopyA", "copy_a", NULL),
                *copy_b = stmt_var(s, "@CopyB", "copy_b", NULL);
    const Value *ring = stmt_var(s, "@Ring", "ring", NULL);
    if (!p->walk.prefetches) stmt_var(s, "@Acc", "acc", NULL);
    const Value *lds = value_call(s, "__cvta_generic_to_shared", value_reg(s, "lds"));
    stmt_set_reg(s, "ring.smem", value_cast(s, "@u32", lds));
    stmt_set_reg(s, "ring.chunks", value_reg(s, "count"));
    stmt_set_reg(s, "ring.whole", value_reg(s, "whole"));
    stmt_set_reg(s, "ring.wrap", value_difference(s, value_reg(s, "whole"), late));
    stmt_set_reg(s, "ring.tail", value_op(s, VALUE_MOD, value_reg(s, "k"), value_reg(s, "@DU")));
    if (p->indices) {
        stmt_set_reg(s, "ring.x", value_reg(s, "dims"));
        stmt_set_reg(s, "ring.first", value_reg(s, "first"));
        stmt_set_reg(s, "ring.step", step);
        if (p->ring.window_bytes) ring_window_args(s);
        stmt_call(s, "@begin", copy_a, copy_b, ring, a, b, value_cast(s, "int", m), value_cast(s, "int", n),
                  m0, n0, tid);
    } else
        stmt_call(s, "@begin", copy_a, copy_b, ring, a, b, lda, ldb, m, n, m0, n0, tid,
                  value_sum(s, value_reg(s, "first"), value_product(s, late, step)), step);
}

static void products(const GpuPlan *p, Stmts *s)
{
    const Value *tid = value_reg(s, "tid");
    stmt_call(s, "acc.init", tid);
    if (p->ring.shifts) {
        const Value *lane = value_op(s, VALUE_AND, tid, value_int(s, 31));
        stmt_call(s, "acc.a.shift", value_reg(s, "from_a"), value_reg(s, "lda"), value_reg(s, "m0"), lane);
        stmt_call(s, "acc.b.shift", value_reg(s, "from_b"), value_reg(s, "ldb"), value_reg(s, "n0"), lane);
    }
    if (p->ring.window_bytes) stmt_call(s, "@keep", value_reg(s, "ring"), value_reg(s, "lds"), tid);
    call_on_ring(s, "@main_loop", value_reg(s, "acc"));
    if (p->ring.window_bytes && ring_window_mends(p)) {
        stmt_if(s, value_reg(s, "ring.steps"));
        stmt_call(s, "@mend", value_reg(s, "acc"), value_reg(s, "lds"));
        stmt_end(s);
    }
}

/* Returns the address of the tile's first element of C ('c') or D. */
static const Value *tile_of(Stmts *s, const Value *tensor, char n)
{
    const Value *ld = value_named(s, "ld%c", n);
    const Value *column = value_call(s, stmts_name(s, "@%c_at_n", n), value_reg(s, "n0"), ld);
    const Value *row = value_call(s, stmts_name(s, "@%c_at_m", n), value_reg(s, "m0"), ld);
    return value_sum(s, value_sum(s, tensor, column), row);
}

/* Where the tile's results go, and what they are made of: struct o. */
static void output(const GpuPlan *p, Stmts *s)
{
    const bool strided = p->strided || p->workspace;
    const Value *d = gpu_tensor_value(p, s, 'd', strided);
    if (p->gsu_multiple) d = value_sum(s, d, gpu_workspace_part(p, s));
    stmt_set_reg(s, "o.d", p->indices ? d : tile_of(s, d, 'd'));
    if (!p->indices) stmt_set_reg(s, "o.ldd", value_reg(s, "ldd"));
    if (gpu_reads_c(p)) {
        const Value *c = gpu_tensor_value(p, s, 'c', strided);
        stmt_set_reg(s, "o.c", p->indices ? c : tile_of(s, c, 'c'));
        if (!p->indices) stmt_set_reg(s, "o.ldc", value_reg(s, "ldc"));
    }
    gpu_load_ops(p, s, "o.ops");
    const Value *m = value_reg(s, "size_m"), *n = value_reg(s, "size_n"), *m0 = value_reg(s, "m0"),
                *n0 = value_reg(s, "n0");
    if (fused_any(&p->fused) || p->indices) {
        stmt_set_reg(s, "o.m0", m0);
        stmt_set_reg(s, "o.n0", n0);
    }
    if (p->indices) {
        stmt_set_reg(s, "o.x", value_reg(s, "dims"));
        const Value *aligned = gpu_dims_vectors(p, s, ring_store_wide(p), NULL);
        stmt_set_reg(s, "o.wide", gpu_adds(p) ? value_literal(s, "false") : aligned);
    }
    stmt_set_reg(s, "o.m_left", value_difference(s, m, m0));
    stmt_set_reg(s, "o.n_left", value_difference(s, n, n0));
    if (!p->indices) {
        stmt_set_reg(s, "o.m_skip", value_call(s, "@overlap", m0, value_reg(s, "@MT0"), m));
        stmt_set_reg(s, "o.n_skip", value_call(s, "@overlap", n0, value_reg(s, "@MT1"), n));
    }
}

static void store_results(const GpuPlan *p, Stmts *s)
{
    const Value *lds = value_reg(s, "lds");
    const int table = p->indices ? (int)ring_table_of(p).bytes : 0;
    if (ring_fills_ahead(p)) lds = value_sum(s, lds, value_int(s, p->n_stages * p->stage_bytes + table));
    if (p->partial_sums) stmt_if(s, gpu_joined(p, s, lds));
    const Value *tid = value_cast(s, "int", value_reg(s, "tid"));
    const bool kept = ring_window_stores(p);
    if (kept) {
        stmt_if(s, value_op(s, VALUE_BOTH, value_reg(s, "o.wide"), value_reg(s, "ring.steps")));
        stmt_call(s, "@store_kept", value_reg(s, "o"), value_reg(s, "acc"), lds, tid);
        stmt_else(s);
    }
    stmt_call(s, "@store", value_reg(s, "o"), value_reg(s, "acc"), lds, tid);
    if (kept) stmt_end(s);
    if (p->partial_sums) stmt_end(s);
    /* the stages that the next tile fills have had results, unless these have memory of their own */
    if (p->walk.persistent && !ring_fills_ahead(p)) stmt_barrier(s);
}

static void one_tile(const GpuPlan *p, Stmts *s)
{
    start(p, s);
    products(p, s);
    stmt_var(s, "@Out", "o", NULL);
    output(p, s);
    store_results(p, s);
}

/* The tile of a walk that prefetches: its first chunks, the results of the tile before it, its products. A
 * iteration behind the last tile only stores. */
static void prefetching_iteration(const GpuPlan *p, Stmts *s)
{
    start(p, s);
    stmt_if(s, value_reg(s, "has_tile"));
    call_on_ring(s, "@first_chunks", NULL);
    stmt_end(s);
    stmt_if(s, value_reg(s, "stores"));
    store_results(p, s);
    stmt_end(s);
    stmt_set_reg(s, "stores", value_reg(s, "has_tile"));
    stmt_if(s, value_reg(s, "has_tile"));
    products(p, s);
    output(p, s);
    gpu_next_tile(p, s);
    stmt_end(s);
}

/* Prints the statements in s, and empties s, so that its memory is used again. */
static Err put_text(const GpuPlan *p, Stmts *s, int indent, Buf *out)
{
    Err e = stmt_print(s, p->dialect->words, indent, out);
    stmts_fini(s);
    stmts_init(s, GPU_STMTS_BYTES);
    return e;
}

static Err kernel(const GpuPlan *p, Stmts *s, Buf *out)
{
    GpuWalk walk;
    stmt_define(s, "unsigned", "tid", value_call_0(s, "@tid"));
    if (p->indices) {
        gpu_dims_sizes(p, s);
        stmt_var(s, "@Dims", "dims", NULL);
        gpu_dims_set(p, s, "dims.");
    }
    TRY(put_text(p, s, 1, out));
    gpu_walk_place(&walk, p, out);
    stmt_comment(s, "where alpha is 0, A and B are not read");
    const Value *zero = value_call(s, "@is_zero", value_call(s, "@from_s", value_reg(s, "alpha")));
    stmt_define(s, "unsigned", "k", value_select(s, zero, value_int(s, 0), value_reg(s, "size_k")));
    TRY(put_text(p, s, 1, out));
    gpu_walk_chunks(&walk, "k", NULL);
    if (p->walk.staggers) gpu_walk_stagger(&walk);
    TRY(gpu_walk_check(&walk));
    p->walk.prefetches ? prefetching_iteration(p, s) : one_tile(p, s);
    TRY(put_text(p, s, 1, out));
    buf_puts(out, p->walk.persistent ? "    }\n}\n" : "}\n");
    return buf_check(out);
}

/* Prints the functions that follow those of the modules. */
static Err functions(const GpuPlan *p, Stmts *s, Buf *out)
{
    TRY(p->ring.window_bytes ? ring_window_put(p, s) : ring_loop_put(p, s));
    TRY(put_text(p, s, 0, out));
    const Value *d = value_reg(s, "d"), *v = value_reg(s, "v");
    if (p->indices)
        places(p, s);
    else {
        overlap(p, s);
        nvptx_addresses(p, s);
    }
    gpu_ops(p, s);
    stmt_function(s, (Function){.name = "@put", STMT_PARAMS({"@TD *", "d"}, {"@TC", "v"})});
    if (gpu_adds(p))
        stmt_call(s, "@atomic_add", d, v);
    else
        stmt_store(s, access_element(SPACE_GLOBAL, "@TD", gpu_type_bytes(&p->out), d, NULL),
                   value_call(s, "@from_c", v));
    stmt_end(s);
    TRY(ring_store(p, results_of(p), s));
    if (ring_window_stores(p)) stmt_file(s, "nvptx/ring_window_store.cuh");
    if (p->partial_sums) {
        ring_store_elements(p, s);
        gpu_parts(p, s);
    }
    return ERR_OK;
}

static Err ring_lower(const Program *program, Str symbol, Buf *out)
{
    const GpuPlan *p = program->gpu;
    Buf body;
    Stmts s;
    buf_init(&body);
    stmts_init(&s, GPU_STMTS_BYTES);
    p->dialect->prelude(p, &body);
    gpu_types(p, &body);
    constants(p, &s);
    gpu_put(p, &s, &body);
    p->copy->emit(p, &body);
    p->compute->emit(p, &body);
    stmts_init(&s, GPU_STMTS_BYTES);
    Err e = functions(p, &s, &body);
    gpu_put(p, &s, &body);
    gpu_signature(p, symbol, &body);
    p->dialect->lds_body(p, &body);
    stmts_init(&s, GPU_STMTS_BYTES);
    if (!e) e = kernel(p, &s, &body);
    stmts_fini(&s);
    if (!e) e = gpu_finish_program(program, symbol, buf_view(&body), out);
    buf_fini(&body);
    return e;
}

Err nvptx_lower(const Program *program, Str symbol, Buf *out)
{
    if (program->gpu->groups.used) return hopper_lower(program, symbol, out);
    bool ring = program->gpu->ring.used;
    return ring ? ring_lower(program, symbol, out) : gpu_lower(program, symbol, out);
}
