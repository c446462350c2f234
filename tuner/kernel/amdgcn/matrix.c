/* Compute module for matrix instructions: MFMA of gfx908, gfx90a, gfx94x and WMMA of gfx11, gfx12.
 *
 * A wave has MIWaveTile tiles of M x N (x blocks) accumulators. Where K is contiguous in local memory, a lane
 * reads runs of 16 bytes along K. Where the free dimension is contiguous (types of 4 bytes and more), it
 * reads runs along that dimension, whose elements belong to different tiles: the tiles are interleaved. The
 * assignment of K to the instruction's operands is free as long as A and B agree: part g of K (lane / side)
 * takes elements g * vk to g * vk + vk - 1 of each step. A complex product is four real ones. Local memory is
 * filled by buffer.c. */
#include "base/integer.h"
#include "index/matrix_lanes.h"
#include "kernel/amdgcn/amdgcn.h"
#include "kernel/gpu/loads.h"

/* The numbers that the text needs beside the GpuPlan; each function computes them from it. */
typedef struct {
    const GpuPlan *p;
    const MatrixInst *in;
    bool swap; /* B is the instruction's first operand: rows of D lie along lanes */
    int parts; /* of K among the lanes */
    int kpl;   /* elements of K per lane and instruction */
    int vk;    /* and per step */
    int bytes; /* of an element */
    int tiles[2], vec[2], blocks[2], waves[2];
    int raw; /* bytes per local read along K */
} Matrix;

static bool is_wmma(const Matrix *m) { return matrix_unit(m->in) == MATRIX_UNIT_WMMA; }

/* Returns the type of A (i 0) or B that the instruction multiplies; of complex numbers, the type of a
 * part. */
static DataType operand_type(const GpuPlan *p, int i)
{
    if (p->in.type == TYPE_S && p->math == TYPE_X) return TYPE_X;
    return p->in.parts == 2 ? matrix_type(p->in.type) : p->op[i].type.type;
}

static const MatrixInst *instruction_of(const GpuPlan *p)
{
    const GpuMatrix *mi = &p->matrix;
    const int32_t shape[] = {mi->m, mi->n, mi->k, mi->b};
    return matrix_inst(p->target, operand_type(p, mi->swap), operand_type(p, !mi->swap), shape);
}

static Matrix matrix_of(const GpuPlan *p)
{
    const GpuMatrix *mi = &p->matrix;
    Matrix m = {.p = p, .bytes = gpu_type_bytes(&p->in)};
    m.in = instruction_of(p);
    if (!m.in) return m;
    m.swap = mi->swap || m.in->layout == LANES_MFMA_F64 || m.in->layout == LANES_WMMA_R3;
    m.kpl = m.in->n_a;
    m.parts = m.in->k / m.kpl;
    m.vk = mi->vk;
    m.raw = m.vk * m.bytes > 16 ? 16 : m.vk * m.bytes;
    for (int i = 0; i < 2; i++) {
        m.tiles[i] = mi->tiles[i];
        m.waves[i] = mi->waves[i];
        m.blocks[i] = mi->blocks[i];
        m.vec[i] = mi->vec[i];
    }
    return m;
}

/* ---- reads of a lane ---- */

static int tile_stride(const Matrix *m, int i) { return m->blocks[i] * m->in->m * m->vec[i]; }

typedef struct {
    const Expr *lane, *wave;
} Thread;

static Thread thread_of(ExprPool *pool, const Matrix *m)
{
    const Expr *tid = gpu_tid(pool, m->p);
    return (Thread){expr_name(pool, "lane", expr_mod_i(pool, tid, m->p->wave)),
                    expr_name(pool, "wave", expr_div_i(pool, tid, m->p->wave))};
}

/* Returns the first row (i 0) or column of a wave. */
static const Expr *wave_free(ExprPool *pool, const Matrix *m, int i, const Expr *wave)
{
    const Expr *w = i ? expr_mod_i(pool, expr_div_i(pool, wave, m->waves[0]), m->waves[1])
                      : expr_mod_i(pool, wave, m->waves[0]);
    return expr_mul_i(pool, w, m->tiles[i] * m->blocks[i] * m->in->m);
}

/* Returns the row or column of element `in_block` of the instruction's block `block`, in tile 0 of a wave. */
static const Expr *block_free(ExprPool *pool, const Matrix *m, int i, const Expr *block, const Expr *in_block)
{
    const Expr *b = i ? expr_div_i(pool, block, m->blocks[0]) : expr_mod_i(pool, block, m->blocks[0]);
    return expr_mul_i(pool, expr_add(pool, expr_mul_i(pool, b, m->in->m), in_block), m->vec[i]);
}

/* Returns the distance of tile t from tile 0; `vec` tiles are interleaved. */
static const Expr *tile_free(ExprPool *pool, const Matrix *m, int i, const Expr *t)
{
    const Expr *outer = expr_mul_i(pool, expr_div_i(pool, t, m->vec[i]), tile_stride(m, i));
    return expr_add(pool, outer, expr_mod_i(pool, t, m->vec[i]));
}

/* Returns the first row or column of tile 0 that this thread reads. */
static const Expr *first_free(ExprPool *pool, const Matrix *m, int i)
{
    Thread t = thread_of(pool, m);
    MatrixOperandLane l = matrix_operand_lane(pool, m->in, t.lane);
    const Expr *e = expr_add(pool, wave_free(pool, m, i, t.wave), block_free(pool, m, i, l.block, l.row));
    return expr_name(pool, i ? "n0" : "m0", e);
}

/* Returns the first element of K that this thread reads in its part's first step. */
static const Expr *first_k(ExprPool *pool, const Matrix *m)
{
    MatrixOperandLane l = matrix_operand_lane(pool, m->in, thread_of(pool, m).lane);
    return expr_mul_i(pool, expr_name(pool, "part", l.part), m->vk);
}

AmdgcnFragments amdgcn_fragments(const GpuPlan *p, int i)
{
    const Matrix m = matrix_of(p);
    const int run = m.raw / m.bytes;
    if (p->op[i].k_major) return (AmdgcnFragments){m.tiles[i], m.vk / run, 1, run};
    return (AmdgcnFragments){m.tiles[i] / m.vec[i], m.vk, m.vec[i], 1};
}

AmdgcnPlace amdgcn_fragment_first(ExprPool *pool, const GpuPlan *p, int i)
{
    const Matrix m = matrix_of(p);
    const Expr *part = expr_mul_i(pool, expr_name(pool, "z", gpu_part_of_k(pool, p)), p->k_step);
    return (AmdgcnPlace){first_free(pool, &m, i), expr_add(pool, first_k(pool, &m), part)};
}

AmdgcnPlace amdgcn_fragment(ExprPool *pool, const GpuPlan *p, int i, const Expr *step, const Expr *v,
                            const Expr *r)
{
    const Matrix m = matrix_of(p);
    const AmdgcnFragments f = amdgcn_fragments(p, i);
    const Expr *k = expr_mul_i(pool, step, p->k_step * p->lsu);
    return (AmdgcnPlace){tile_free(pool, &m, i, expr_mul_i(pool, v, f.tiles)),
                         expr_add(pool, k, expr_mul_i(pool, r, f.elements))};
}

bool amdgcn_matrix_reads(const GpuPlan *p, const GpuOperand *x, int access, ExprPool *pool, GpuAccess *a)
{
    Matrix m = matrix_of(p);
    int i = x->name == 'b';
    if (access) return false;
    a->n_threads = p->wave;
    a->bytes = x->k_major ? m.raw : m.vec[i] * m.bytes;
    a->is_mfma_read = !is_wmma(&m);
    a->k = first_k(pool, &m);
    a->free = first_free(pool, &m, i);
    return true;
}

/* One address register serves all tiles of a lane, because the same swizzle applies to all their lines. */
static bool exchanges(const GpuPlan *p, const GpuOperand *x)
{
    Matrix m = matrix_of(p);
    GpuIndex index;
    ExprPool *pool = &index.pool;
    int i = x->name == 'b';
    int64_t c;
    gpu_index_init(&index);
    const Expr *k = first_k(pool, &m), *free = first_free(pool, &m, i);
    const Expr *base = expr_base(pool, gpu_lds_at(pool, x, k, free), &c);
    bool alike = true;
    for (int t = 1, mark = pool->n_used; alike && t < m.tiles[i]; t++) {
        const Expr *at = expr_add(pool, free, tile_free(pool, &m, i, expr_const(pool, t)));
        alike = expr_same(base, expr_base(pool, gpu_lds_at(pool, x, k, at), &c));
        expr_pool_back(pool, mark);
    }
    return alike && amdgcn_copy_exchanges(p, x);
}

/* ---- plan ---- */

/* K elements that a lane takes per step: 16 bytes of a K run, or what one instruction needs. */
static int k_run(const GpuPlan *p, const Matrix *m)
{
    bool runs = p->op[0].k_major || p->op[1].k_major;
    int vk = m->kpl, part = p->depth_u / p->lsu, together = amdgcn_k_together(p);
    while (runs && vk * 2 * m->bytes <= 16 && part % (vk * 2 * m->parts) == 0 && vk * 2 <= together) vk *= 2;
    return vk;
}

/* Returns the number of interleaved tiles: those of one read along the free dimension, or of one store. */
static int interleaved(const GpuPlan *p, const Matrix *m, int i)
{
    bool rows_in_lane = i == 0 && m->swap && p->out.parts == 1;
    if (!p->op[i].k_major) return int_pow2_in(m->tiles[i], 16 / m->bytes);
    return rows_in_lane ? int_pow2_in(m->tiles[i], 16 / gpu_type_bytes(&p->out)) : 1;
}

/* Checks that reads and stores exist for the numbers of elements that the maps give to a lane. */
static Err check_lanes(const GpuPlan *p, const Matrix *m)
{
    const int depth = p->depth_u / p->lsu, step = m->parts * m->vk;
    if (m->vk < 1 || m->vk % m->kpl || (m->vk != m->kpl && m->vk * m->bytes > 16) || p->k_step != step)
        FAIL(ERR_INPUT, "steps of %d elements of K, %d of a lane: the instruction takes %d in %d parts",
             p->k_step, m->vk, m->in->k, m->parts);
    if (depth % step)
        FAIL(ERR_INPUT, "DepthU %d / LocalSplitU %d is no multiple of the matrix instruction's K %d",
             p->depth_u, p->lsu, step);
    for (int i = 0; i < 2; i++) {
        const int v = m->vec[i], most = 16 / (p->op[i].k_major ? 1 : m->bytes);
        if (v < 1 || (v & (v - 1)) || v > (most > 1 ? most : 1) || m->tiles[i] % v)
            FAIL(ERR_INPUT, "%d tiles of %d cannot be interleaved", v, m->tiles[i]);
        if (m->tiles[i] * m->waves[i] * m->blocks[i] * m->in->m != p->mt[i])
            FAIL(ERR_INPUT, "MIWaveTile %d x MIWaveGroup %d x %d blocks of %d is not macro tile %d",
                 m->tiles[i], m->waves[i], m->blocks[i], m->in->m, p->mt[i]);
    }
    if (m->blocks[0] * m->blocks[1] != m->in->blocks)
        FAIL(ERR_INPUT, "%d x %d blocks of an instruction that has %d", m->blocks[0], m->blocks[1],
             m->in->blocks);
    return ERR_OK;
}

static Err check_instruction(const GpuPlan *p, const Matrix *m)
{
    const GpuMatrix *mi = &p->matrix;
    if (!m->in)
        FAIL(ERR_INPUT, "%s has no matrix instruction %dx%dx%dx%d for type '%s'", p->target->name, mi->m,
             mi->n, mi->k, mi->b, type_letter(operand_type(p, 0)));
    if (is_wmma(m) && p->wave != 32)
        FAIL(ERR_INPUT, "WavefrontSize %d: WMMA kernels of %s have waves of 32 lanes", p->wave,
             p->target->name);
    return ERR_OK;
}

/* The loads of an operand whose fragments are in registers are runs of what is contiguous in memory. */
static Err fragments_shape(GpuPlan *p, const Matrix *m, int i)
{
    GpuOperand *x = &p->op[i];
    if (!x->in_registers) return ERR_OK;
    if (x->k_major == x->tlu) {
        const char along = x->k_major ? 'K' : i ? 'N' : 'M';
        FAIL(ERR_INPUT, "fragments of %c without local memory lie as in memory, not along %c", "AB"[i],
             along);
    }
    x->width = x->k_major ? m->raw / m->bytes : m->vec[i];
    return ERR_OK;
}

static Err lanes_shape(GpuPlan *p)
{
    Matrix m = matrix_of(p);
    TRY(check_instruction(p, &m));
    TRY(check_lanes(p, &m));
    p->n_acc = m.tiles[0] * m.tiles[1] * m.in->n_acc;
    p->acc_run = m.vec[0];
    for (int i = 0; i < 2; i++) TRY(fragments_shape(p, &m, i));
    if (!m.swap && m.in->layout == LANES_MFMA) p->acc_run *= 4;
    if (!m.swap && m.in->layout == LANES_WMMA_R4) p->acc_run *= 8;
    return ERR_OK;
}

/* Estimates the vector registers of the main loop beside the sums: fragments, loads under way, addresses. */
static int vector_registers(const Matrix *m)
{
    const GpuPlan *p = m->p;
    int n = 24; /* addresses, sizes */
    for (int i = 0; i < 2; i++) {
        const GpuOperand *x = &p->op[i];
        if (x->in_registers) {
            n += m->tiles[i] * m->vk * p->steps * m->bytes / 4 * gpu_sets(p, x);
            continue;
        }
        n += m->tiles[i] * m->vk * m->bytes / 4 * (p->prefetch_local ? 2 : 1);
        n += x->nlc * x->nlp * ((x->width * m->bytes + 3) / 4) * p->n_sets;
    }
    return n;
}

/* The same with what transposing a run of K in registers takes: the run and its address. */
static int vector_registers_transposing(const Matrix *m)
{
    int n = vector_registers(m);
    for (int i = 0; i < 2; i++)
        if (m->p->op[i].tlu && m->p->op[i].k_major && !m->p->op[i].in_registers) n += 8;
    return n;
}

static Err matrix_plan(GpuPlan *p)
{
    for (int i = 0; i < 2; i++) /* operands are packed along K, those that come transposed by the reads */
        if (gpu_type_bytes(&p->in) < 4 || p->op[i].in_registers)
            p->op[i].k_major = !((p->op[i].to_local || p->op[i].in_registers) && p->op[i].tlu);
    Matrix m = matrix_of(p);
    TRY(check_instruction(p, &m));
    p->matrix.vk = k_run(p, &m);
    p->k_step = m.parts * p->matrix.vk;
    p->steps = p->depth_u / p->lsu / p->k_step;
    for (int i = 0; i < 2; i++) {
        GpuOperand *x = &p->op[i];
        const int vec = p->matrix.vec[i] = interleaved(p, &m, i);
        /* the solution's loads need no shift where M or N is a multiple of them */
        const bool multiple = x->shift < 2 && x->width % vec == 0;
        if (x->in_registers && x->tlu) x->shift = multiple ? 1 : vec;
    }
    TRY(lanes_shape(p));
    m = matrix_of(p);
    const int lines_unit[2] = {tile_stride(&m, 0), tile_stride(&m, 1)};
    lds_choose_pads(p, amdgcn_matrix_reads, exchanges, lines_unit);
    if (amdgcn_sums_in_agprs(p) && vector_registers_transposing(&m) > 256) p->prefetch_local = 0;
    return ERR_OK;
}

/* Do work-groups that are on a compute unit together give each of its SIMDs two waves? */
static bool local_memory_for_two(const GpuPlan *p)
{
    enum { SIMDS = 4 };
    const int waves = p->n_threads / p->wave, groups = (2 * SIMDS + waves - 1) / waves;
    return groups * p->lds_bytes <= p->target->lds_bytes;
}

bool matrix_fits_half(const GpuPlan *p)
{
    enum { HALF = 256 };
    Matrix m = matrix_of(p);
    if (!(p->target->matrix & AMDGCN_ONE_FILE)) return false;
    if (m.in->m > 16) return false; /* accumulators of 16 registers fragment the register file */
    const int n = p->n_acc * gpu_type_bytes(&p->acc) / 4 + vector_registers(&m);
    if (gpu_any_in_registers(p) && n > HALF / 2) return false; /* fragments of a chunk are live at once */
    /* Where two waves do not fit anyhow there is nothing to save registers for. Sums of doubles, however,
     * LLVM moves between both halves in the loop (LLVM 19: 425 instructions, not 182). */
    if (n > HALF && gpu_type_bytes(&p->acc) <= 4 && !local_memory_for_two(p)) return false;
    return n <= (p->n_stages > 1 ? 300 : 270); /* not all are live at once */
}

/* ---- statements ---- */

static const char *acc_type(const MatrixInst *in)
{
    return in->sum == TYPE_I ? "int" : in->sum == TYPE_D ? "double" : "float";
}

/* C type of a lane's part of an operand in the builtin's signature: a vector of the elements, or the words
 * that bytes fill. */
static const char *operand_type_name(const MatrixInst *in, Stmts *s)
{
    const int words = in->n_a / 4;
    switch (in->a) {
    case TYPE_S:
    case TYPE_D:
        return acc_type(in);
    case TYPE_H:
    case TYPE_B:
    case TYPE_X:
        return stmts_name(s, "@%c%d", in->a == TYPE_H ? 'h' : in->a == TYPE_B ? 's' : 'f', in->n_a);
    default:
        if (matrix_unit(in) == MATRIX_UNIT_MFMA && words < 4) return words == 1 ? "int" : "long";
        return stmts_name(s, "@i%d", words);
    }
}

/* Does the text need a scheduling fence between k-steps? When 4-register accumulators fill the AGPRs, the
 * MFMA must update them in place. If LLVM interleaves k-steps, it runs out of AGPRs and inserts hundreds of
 * copies; a fence between k-steps prevents it. */
static bool needs_step_fences(const Matrix *m)
{
    return (m->p->target->matrix & AMDGCN_ONE_FILE) && amdgcn_fills_file(m->p) &&
           m->in->n_acc * gpu_type_bytes(&m->p->acc) == 16;
}

/* MFMA of gfx950 whose operands are 32 bytes of each lane: they take 8-bit, 6-bit and 4-bit floats in any
 * combination, and a scale factor for each block of 32 elements. */
static bool is_f8f6f4(const MatrixInst *in) { return in->n_a == 32; }

/* The types of an operand and of the accumulators of an instruction. */
static void instruction_types(const MatrixInst *in, Stmts *s)
{
    if (in->a == TYPE_B && in->n_a == 8 && matrix_unit(in) == MATRIX_UNIT_MFMA)
        stmt_typedef(s, "__bf16", "@Op", "__attribute__((ext_vector_type(8)))");
    else if (is_f8f6f4(in))
        stmt_typedef(s, "int", "@Op", "__attribute__((ext_vector_type(8)))");
    else
        stmt_typedef(s, operand_type_name(in, s), "@Op", NULL);
    const char *vector = stmts_name(s, "__attribute__((ext_vector_type(%d)))", in->n_acc);
    stmt_typedef(s, acc_type(in), "@AccV", in->n_acc > 1 ? vector : NULL);
}

/* The number by which is_f8f6f4 instructions know a format. */
static int format_number(DataType type) { return type == TYPE_B8 ? 1 : 0; }

/* Prints @inst, the function of the instruction, which takes B first with SourceSwap. */
static void instruction(const MatrixInst *in, bool swap, Stmts *s)
{
    const Value *x = value_reg(s, swap ? "b" : "a"), *y = value_reg(s, swap ? "a" : "b");
    const Value *c = value_reg(s, "c"), *zero = value_int(s, 0), *product;
    const Value *is_signed = value_literal(s, "true"), *clamp = value_literal(s, "false");
    const char *name = stmts_name(s, "__builtin_amdgcn_%s", in->name);
    stmt_function(s, (Function){.result = "@AccV",
                                .name = "@inst",
                                STMT_PARAMS({"@Op", "a"}, {"@Op", "b"}, {"@AccV", "c"})});
    if (is_f8f6f4(in)) /* constant scales of 0 choose the instruction without scales */
        product = value_call(s, name, x, y, c, value_int(s, format_number(in->a)),
                             value_int(s, format_number(in->b)), zero, zero, zero, zero);
    else if (matrix_unit(in) != MATRIX_UNIT_WMMA)
        product = value_call(s, name, x, y, c, zero, zero, zero);
    else if (in->a == TYPE_I8)
        product = value_call(s, name, is_signed, x, is_signed, y, c, clamp);
    else
        product = value_call(s, name, x, y, c);
    stmt_return(s, product);
    stmt_end(s);
}

void amdgcn_instruction(const MatrixInst *in, Stmts *s)
{
    stmt_file(s, "amdgcn/matrix_types.hip");
    instruction_types(in, s);
    instruction(in, false, s);
}

static void load_operand(const Matrix *m, int i, const Expr *k, Stmts *s)
{
    const GpuOperand *x = &m->p->op[i];
    ExprPool *pool = &s->pool;
    AmdgcnPointers pointers = {
        .s = s, .name = i ? "b" : "a", .from = i ? "lds_b" : "lds_a", .is_const = true, .steps_apart = true};
    const Expr *free = first_free(pool, m, i);
    const char *type = i ? "@RunB" : "@RunA";
    const int vectors = x->k_major ? m->tiles[i] : m->tiles[i] / m->vec[i];
    const int runs = x->k_major ? m->vk * m->bytes / m->raw : m->vk;
    const int run = x->k_major ? m->raw / m->bytes : 1, tiles = x->k_major ? 1 : m->vec[i];
    for (int t = 0; t < vectors; t++)
        for (int r = 0; r < runs; r++) {
            const Expr *tile = tile_free(pool, m, i, expr_const(pool, t * tiles));
            const Expr *at = gpu_lds_at(pool, x, expr_add_i(pool, k, r * run), expr_add(pool, free, tile));
            const Value *to = value_at_i(s, value_at_i(s, value_named(s, "f.%c.r", x->name), t), r);
            const int bytes = x->k_major ? m->raw : m->vec[i] * m->bytes;
            stmt_set(s, to, value_load(s, amdgcn_access(&pointers, type, bytes, at)));
        }
}

static void load(const Matrix *m, Stmts *s)
{
    const GpuPlan *p = m->p;
    ExprPool *pool = &s->pool;
    stmt_function(s,
                  (Function){.name = "@frag_load",
                             STMT_PARAMS({"@Frag &", "f"}, {"const char *", "lds_a"},
                                         {"const char *", "lds_b"}, {"unsigned", "tid"}, {"int", "step"})});
    /* the parts of LocalSplitU are interleaved along K: together their first steps are the first elements of
     * K */
    const Expr *part = expr_mul_i(pool, expr_name(pool, "z", gpu_part_of_k(pool, p)), p->k_step);
    const Expr *step = expr_mul_i(pool, gpu_counter(pool, "step", GPU_STEP, p->steps), p->k_step * p->lsu);
    const Expr *k = expr_add(pool, expr_add(pool, first_k(pool, m), part), step);
    for (int i = 0; i < 2; i++)
        if (!p->op[i].in_registers) load_operand(m, i, k, s);
    stmt_end(s);
}

/* Accumulator i is element v of tile (t0, t1): t0 % vec fastest, then v, then t0 / vec, then t1. */
static void place(const Matrix *m, Stmts *s)
{
    ExprPool *pool = &s->pool;
    const int vec = m->vec[0], n = m->in->n_acc, outer = m->tiles[0] / vec;
    stmt_function(s, (Function){.result = "@Place", .name = "@place", STMT_PARAMS({"int", "i"})});
    const Expr *i = gpu_counter(pool, "i", GPU_NUMBER, m->p->n_acc), *vectors = expr_div_i(pool, i, vec * n);
    const Expr *t0 =
        expr_add(pool, expr_mod_i(pool, i, vec), expr_mul_i(pool, expr_mod_i(pool, vectors, outer), vec));
    const Expr *part[] = {t0, expr_div_i(pool, vectors, outer),
                          expr_mod_i(pool, expr_div_i(pool, i, vec), n)};
    const Value *number[3];
    for (int q = 0; q < 3; q++) number[q] = value_cast(s, "int", value_expr(s, part[q]));
    stmt_return(s, value_list_n(s, 3, number));
    stmt_end(s);
}

/* Prints the function of the row (i 0) or column of an accumulator in the work-group's tile. */
static void place_in_tile(const Matrix *m, int i, Stmts *s)
{
    ExprPool *pool = &s->pool;
    stmt_function(s, (Function){.result = "unsigned",
                                .name = i ? "@acc_col" : "@acc_row",
                                STMT_PARAMS({"unsigned", "tid"}, {"int", "i"})});
    stmt_define(s, "@Place", "q", value_call(s, "@place", value_reg(s, "i")));
    Thread t = thread_of(pool, m);
    MatrixAccLane a = matrix_acc_lane(pool, m->in, t.lane, gpu_counter(pool, "q.v", GPU_E, m->in->n_acc));
    const Expr *tile = gpu_counter(pool, i ? "q.t1" : "q.t0", GPU_I, m->tiles[i]);
    const Expr *in_tile = block_free(pool, m, i, a.block, (i == 0) == m->swap ? a.col : a.row);
    const Expr *first = expr_add(pool, wave_free(pool, m, i, t.wave), tile_free(pool, m, i, tile));
    stmt_return(s, value_expr(s, expr_add(pool, first, in_tile)));
    stmt_end(s);
}

static void make(const GpuPlan *p, Stmts *s)
{
    Matrix m = matrix_of(p);
    AmdgcnSums sums = {.parts = p->in.parts,
                       .tiles = {m.tiles[0], m.tiles[1]},
                       .kpl = m.kpl,
                       .instructions = m.vk / m.kpl,
                       .n_acc = m.in->n_acc,
                       .fences = needs_step_fences(&m),
                       .pins = amdgcn_sums_in_agprs(p)};
    for (int i = 0; i < 2; i++)
        sums.of[i] = (AmdgcnSumsOperand){.loads = amdgcn_fragments(p, i),
                                         .k_major = p->op[i].k_major,
                                         .conjugate = p->op[i].conj,
                                         .vec = m.vec[i],
                                         .run = m.raw / m.bytes,
                                         .align_bytes = p->op[i].k_major ? m.raw : m.vec[i] * m.bytes};
    stmt_file(s, "amdgcn/matrix_types.hip");
    instruction_types(m.in, s);
    amdgcn_matrix_types(&sums, s);
    instruction(m.in, m.swap, s);
    place(&m, s);
    amdgcn_matrix_sums(&sums, s);
    load(&m, s);
    for (int i = 0; i < 2; i++) place_in_tile(&m, i, s);
}

static void matrix_emit(const GpuPlan *p, Buf *out) { amdgcn_print(p, make, out); }

const GpuCompute amdgcn_matrix = {"matrix",    false,       matrix_plan,
                                  lanes_shape, matrix_emit, amdgcn_sums_in_agprs};
