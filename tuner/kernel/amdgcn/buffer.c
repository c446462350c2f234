/* Copy module "buffer": raw buffer loads to registers to local memory (BufferLoad).
 *
 * The base of the descriptor moves along K in scalar registers, and a thread's vector offsets never change.
 * The loads of a thread differ by a scalar offset or an immediate. Where the free dimension is contiguous in
 * memory, a vector that straddles M or N is shifted back to end at the edge (GpuOperand.shift): the range
 * check must not cut a vector, because processors differ in which of its bytes they then return. Where K is
 * contiguous, the range check drops lines past M or N on gfx9. Later processors may or may not include the
 * scalar offset in the check, so lines are clamped there, and each has its own offset.
 * Where the free dimension is contiguous in memory and K in local memory (types below 4 bytes,
 * UnrollMajorLDS), a thread loads consecutive lines of K, transposes them in registers, and writes runs of
 * `run` elements of K.
 * BufferLoad False, in kernels with DirectToVgpr: the same loads through pointers. Lines are clamped then, so
 * that all that is read is inside the operand.
 * DirectToLds: loads write local memory themselves, the lanes of a wave one behind the other. The layout of
 * local memory follows from that (amdgcn_layout_to_local); edges are handled as above. These loads are inline
 * assembly: where the compiler makes them, it waits for all of them before each read of local memory.
 */
#include "base/integer.h"
#include "kernel/amdgcn/buffer.h"
#include "kernel/gpu/loads.h"

/* Limits of the registers of a load, and of a transposed run of K. */
enum { LOAD_WORDS = 16, RUN_WORDS = 16 };

static Loads loads_of(const GpuPlan *p, int i)
{
    const GpuOperand *x = &p->op[i];
    Loads l = {.x = x, .i = i, .bytes = gpu_type_bytes(&x->type) / x->parts, .n = x->nlc * x->nlp};
    l.words = (x->width * l.bytes + 3) / 4;
    l.limited = !x->tlu && (p->target->isa[0] >= 10 || !p->buffer_load);
    if (x->in_registers) {
        const AmdgcnFragments f = amdgcn_fragments(p, i);
        l.n = p->steps * f.vectors * f.runs;
        l.lanes = l.run = 1;
        l.n_offsets = x->tlu || l.limited ? f.vectors : 1;
        return l;
    }
    l.transpose = x->tlu && x->k_major;
    l.lsp = (x->tlu ? p->depth_u : x->tile) / x->nlp;
    l.lanes = x->lanes * x->parts, l.run = x->run;
    l.n_offsets = x->tlu ? x->nlc : l.limited ? x->nlp : 1;
    return l;
}

void amdgcn_deal_loads(GpuPlan *p, int i)
{
    GpuOperand *x = &p->op[i];
    const int bytes = gpu_type_bytes(&x->type);
    x->lanes = x->lvc, x->run = 1;
    if (!x->tlu || !x->k_major) return;
    x->run = int_pow2_in(x->nlp, 16 / bytes);
    /* a wave's writes are spread over lines and K: 64 bytes of a memory line per run suffice */
    while (x->lanes % 2 == 0 && x->lanes > 4 && x->lanes * x->width * bytes > 64) x->lanes /= 2;
}

/* ---- places ---- */

/* Returns the first element of load 0 of a thread. */
static GpuPlace thread_place(ExprPool *pool, const GpuPlan *p, const Loads *l)
{
    if (l->x->in_registers) {
        const AmdgcnPlace at = amdgcn_fragment_first(pool, p, l->i);
        return l->x->tlu ? (GpuPlace){at.free, at.k} : (GpuPlace){at.k, at.free};
    }
    const Expr *tid = gpu_load_thread(pool, p, l->x);
    const Expr *behind = expr_mul_i(pool, expr_div_i(pool, tid, l->lanes * l->lsp), l->lanes);
    const Expr *vector = expr_add(pool, expr_mod_i(pool, tid, l->lanes), behind);
    const Expr *line = expr_mod_i(pool, expr_div_i(pool, tid, l->lanes), l->lsp);
    return (GpuPlace){expr_mul_i(pool, vector, l->x->width), expr_mul_i(pool, line, l->run)};
}

/* Distance of load j (of nlc * nlp) from load 0. The contiguous dimension is the fastest. */
typedef struct {
    int along, across;
} Distance;

static Distance load_distance(const Loads *l, int j)
{
    int c = j % l->x->nlc, q = j / l->x->nlc;
    return (Distance){c * l->x->lsc * l->x->parts, q % l->run + q / l->run * l->run * l->lsp};
}

/* Returns the byte offset of element e of load j in the operand's tile. */
static const Expr *lds_at(ExprPool *pool, const Loads *l, GpuPlace first, int j, int e)
{
    Distance d = load_distance(l, j);
    GpuPlace at = {expr_add_i(pool, first.along, d.along + e), expr_add_i(pool, first.across, d.across)};
    if (l->x->parts == 1) return gpu_lds_place(pool, l->x, at);
    const Expr *part = expr_mul_i(pool, expr_mod_i(pool, at.along, l->x->parts), l->bytes);
    at.along = expr_div_i(pool, at.along, l->x->parts);
    return expr_add(pool, gpu_lds_place(pool, l->x, at), part);
}

bool amdgcn_buffer_writes(const GpuPlan *p, const GpuOperand *x, int access, ExprPool *pool, GpuAccess *a)
{
    Loads l = loads_of(p, x->name == 'b');
    bool vector = x->tlu != x->k_major;
    if (access >= (vector ? 1 : x->width) || access >= 4) return false;
    GpuPlace at = thread_place(pool, p, &l);
    if (x->parts > 1) at.along = expr_div_i(pool, at.along, x->parts);
    at.along = expr_add_i(pool, at.along, vector ? 0 : access);
    a->n_threads = p->n_threads;
    a->bytes = (vector ? x->width : l.run) * l.bytes;
    a->k = x->tlu ? at.across : at.along, a->free = x->tlu ? at.along : at.across;
    return true;
}

bool amdgcn_copy_exchanges(const GpuPlan *p, const GpuOperand *x)
{
    Loads l = loads_of(p, x->name == 'b');
    return l.transpose ? p->copy == &amdgcn_buffer || x->width == 1 : x->width * l.bytes <= 16;
}

/* Finds whether the addresses of all writes differ by constants, and their common alignment. */
static void compare_addresses(const GpuPlan *p, Loads *l)
{
    GpuIndex index;
    ExprPool *pool = &index.pool;
    const GpuOperand *x = l->x;
    int elements = x->tlu != x->k_major ? 1 : x->width;
    int64_t c, all = l->x->lds_offset | p->stage_bytes | 16;
    gpu_index_init(&index);
    GpuPlace first = thread_place(pool, p, l);
    first.along = expr_kept(pool, "along", first.along),
    first.across = expr_kept(pool, "across", first.across);
    const Expr *base = expr_base(pool, lds_at(pool, l, first, 0, 0), &c);
    for (int j = 0, mark = pool->n_used; j < l->n; j++)
        for (int e = 0; e < elements && j / x->nlc % l->run == 0; e++) {
            const Expr *at = lds_at(pool, l, first, j, e);
            all |= at->factor;
            if (!l->exchanged && !expr_same(base, expr_base(pool, at, &c))) l->exchanged = true;
            expr_pool_back(pool, mark);
        }
    l->align = (int)(all & -all);
}

/* ---- statements ---- */

/* Declares the parts of the descriptor and the registers of an operand (text/buffer_copy.hip). */
static void state(const GpuPlan *p, const Loads loads[2], Stmts *s)
{
    static const char *const type[] = {"@CopyA", "@CopyB"}, *const name[] = {"a", "b"};
    stmt_file(s, "amdgcn/buffer_copy.hip");
    stmt_file(s, p->buffer_load ? "amdgcn/buffer_load_from.hip" : "amdgcn/pointer_load_from.hip");
    stmt_file(s, "amdgcn/buffer_copy_rest.hip");
    for (int i = 0; i < 2; i++) {
        const Loads *l = &loads[i];
        const GpuOperand *x = l->x;
        const char *of = stmts_name(s, "@CopyOf<%d, %d, %d, %d, %d, %d, %d, %d>", x->tlu, l->bytes, x->width,
                                    l->n, l->n_offsets, (x->tlu ? p->depth_u : x->tile) * x->parts,
                                    gpu_sets(p, x), amdgcn_policy(p, x->hint));
        stmt_typedef(s, of, type[i], NULL);
    }
    stmt_struct(s, "@Copy", 0);
    for (int i = 0; i < 2; i++) stmt_var(s, type[i], name[i], NULL);
    stmt_end(s);
}

static void init_operand(const GpuPlan *p, const Loads *l, Stmts *s)
{
    const GpuOperand *x = l->x;
    stmt_block(s);
    GpuPlace first = thread_place(&s->pool, p, l);
    first.along = stmt_let(s, "along", first.along);
    first.across = stmt_let(s, "across", first.across);
    buffer_start(s, p, l, first);
    stmt_set(s, value_field(s, operand(l, s), "along"), value_expr(s, first.along));
    stmt_set(s, value_field(s, operand(l, s), "across"), value_expr(s, first.across));
    if (!l->exchanged && !x->in_registers) {
        const Expr *at = expr_add_i(&s->pool, lds_at(&s->pool, l, first, 0, 0), x->lds_offset);
        const Value *lds = value_expr(s, at);
        if (x->to_local) lds = value_call(s, "@uniform", lds); /* lane 0's */
        stmt_set(s, value_field(s, operand(l, s), "lds"), lds);
    }
    stmt_end(s);
}

static void init(const GpuPlan *p, const Loads loads[2], Stmts *s)
{
    stmt_function(s, (Function){.name = "@copy_init",
                                STMT_PARAMS({"@Copy &", "c"}, {"const @Tile &", "t"}, {"unsigned", "tid"})});
    for (int i = 0; i < 2; i++) init_operand(p, &loads[i], s);
    stmt_end(s);
}

/* ---- registers to local memory ---- */

/* The writes of one operand. */
typedef struct {
    const Loads *l;
    Stmts *s;
    GpuPlace first;
    AmdgcnPointers pointers;
} Writes;

static void writes_init(Writes *w, const GpuPlan *p, const Loads *l, Stmts *s)
{
    ExprPool *pool = &s->pool;
    const bool a = l->x->name == 'a';
    *w = (Writes){.l = l, .s = s, .first = thread_place(pool, p, l)};
    w->pointers = (AmdgcnPointers){.s = s, .name = "to", .from = "stage"};
    if (!l->exchanged) { /* the register has the address of load 0 */
        int64_t c;
        w->pointers.base[0] = expr_base(pool, lds_at(pool, l, w->first, 0, 0), &c);
        const Value *by = value_field(s, operand(l, s), "lds");
        w->pointers.pointer[0] =
            stmt_define(s, "char *", "to", value_op(s, VALUE_ADD, value_reg(s, "stage"), by));
        w->pointers.n = 1;
        return;
    }
    w->first.along = expr_kept(pool, a ? "c.a.along" : "c.b.along", w->first.along);
    w->first.across = expr_kept(pool, a ? "c.a.across" : "c.b.across", w->first.across);
    stmt_known(s, w->first.along);
    stmt_known(s, w->first.across);
}

/* Returns the access of `bytes` bytes where element e of load j is written. */
static Access place_of(Writes *w, int j, int e, int bytes)
{
    const Expr *at = lds_at(&w->s->pool, w->l, w->first, j, e);
    if (w->l->exchanged) at = expr_add_i(&w->s->pool, at, w->l->x->lds_offset);
    return amdgcn_access(&w->pointers, NULL, bytes, at);
}

static int alignment(const Loads *l, int bytes)
{
    return bytes & -bytes & (l->align - 1) ? bytes & -bytes : l->align;
}

/* Returns register i of load j. */
static const Value *loaded(Writes *w, int j, int i)
{
    Stmts *s = w->s;
    const Value *set =
        value_at(s, value_field(s, operand(w->l, s), "data"), expr_var(&s->pool, "set", 0, 0, 1));
    return value_at_i(s, value_at_i(s, set, j), i);
}

/* Writes 1 or 2 bytes of a register, from byte `at` on. */
static void write_piece(Stmts *s, Access to, const Value *word, int at)
{
    to.type = to.bytes == 2 ? "short" : "signed char";
    stmt_store(s, to, value_cast(s, to.type, value_op(s, VALUE_SHR, word, value_int(s, at * 8))));
}

/* Returns the width of the widest write of at most n bytes. */
static int piece_of(int n) { return n >= 16 ? 16 : n >= 8 ? 8 : n >= 4 ? 4 : n >= 2 ? 2 : 1; }

/* Writes `bytes` bytes of registers in pieces of `align`. */
static void write_words(Stmts *s, const Access *to, const Value *const *word, int bytes, int align)
{
    for (int b = 0; b < bytes;) {
        const int n = piece_of(bytes - b < align ? bytes - b : align);
        Access piece = *to;
        piece.bytes = n;
        piece.offset = expr_add_i(&s->pool, to->offset, b);
        piece.type = n == 16 ? "@w4" : n == 8 ? "@w2" : "int";
        if (n > 4)
            stmt_store(s, piece, value_cast(s, piece.type, value_list_n(s, n / 4, &word[b / 4])));
        else if (n == 4)
            stmt_store(s, piece, word[b / 4]);
        else
            write_piece(s, piece, word[b / 4], b % 4);
        b += n;
    }
}

static const Value *permuted(Stmts *s, const Value *x, const Value *y, unsigned bytes)
{
    return value_call(s, "__builtin_amdgcn_perm", x, y, value_literal(s, stmts_name(s, "0x%xu", bytes)));
}

/* Elements e, 1 or 2 bytes wide, of four loads at most, packed into a register. */
static const Value *packed(Stmts *s, const Loads *l, const Value *const d[4], int e)
{
    if (l->bytes == 2) return permuted(s, d[1], d[0], e % 2 ? 0x07060302 : 0x05040100);
    if (l->run == 2) return permuted(s, d[1], d[0], 0x0c0c0400 + 0x0101 * (unsigned)(e % 4));
    const unsigned pair = e % 4 < 2 ? 0x05010400 : 0x07030602;
    return permuted(s, permuted(s, d[3], d[2], pair), permuted(s, d[1], d[0], pair),
                    e % 2 ? 0x07060302 : 0x05040100);
}

/* Returns register i of the run that begins with element e of load j and goes on along K. */
static const Value *run_word(Writes *w, int j, int e, int i)
{
    const Loads *l = w->l;
    const int nlc = l->x->nlc, words = l->bytes / 4, per = l->bytes < 4 ? 4 / l->bytes : 1;
    const Value *d[4];
    if (words > 0) return loaded(w, j + i / words * nlc, e * words + i % words);
    for (int q = 0; q < 4; q++) {
        const int r = i * per + (q < l->run ? q : 0);
        d[q] = loaded(w, j + r % l->run * nlc, e / per);
    }
    return value_cast(w->s, "int", packed(w->s, l, d, e));
}

/* Writes the run that begins with element e of load j and goes on along K. */
static void write_run(Writes *w, int j, int e)
{
    const Loads *l = w->l;
    Stmts *s = w->s;
    const int bytes = l->run * l->bytes, n = (bytes + 3) / 4, per = l->bytes < 4 ? 4 / l->bytes : 1;
    const Access to = place_of(w, j, e, bytes);
    if (l->run == 1 && l->bytes < 4) {
        write_piece(s, to, loaded(w, j, e / per), e % per * l->bytes);
        return;
    }
    const Value *word[RUN_WORDS];
    stmt_block(s);
    const Value *v = stmt_array(s, "int", "w", DIMS(n));
    for (int i = 0; i < n; i++) {
        word[i] = value_at_i(s, v, i);
        stmt_set(s, word[i], run_word(w, j, e, i));
    }
    write_words(s, &to, word, bytes, alignment(l, bytes));
    stmt_end(s);
}

/* Writes a transposed operand: a run along K for each element of the vector. */
static void store_transposed(Writes *w)
{
    const GpuOperand *x = w->l->x;
    for (int q = 0; q < x->nlp; q += w->l->run)
        for (int c = 0; c < x->nlc; c++)
            for (int e = 0; e < x->width; e++) write_run(w, q * x->nlc + c, e);
}

static void store_load(Writes *w, int j)
{
    const Loads *l = w->l;
    const GpuOperand *x = l->x;
    const Value *word[LOAD_WORDS];
    for (int i = 0; i < l->words; i++) word[i] = loaded(w, j, i);
    if (x->tlu != x->k_major) {
        const int bytes = x->width * l->bytes;
        const Access to = place_of(w, j, 0, bytes);
        write_words(w->s, &to, word, bytes, alignment(l, bytes));
        return;
    }
    for (int e = 0; e < x->width; e++) { /* K contiguous in memory, free in local memory */
        const Access to = place_of(w, j, e, l->bytes);
        if (l->bytes < 4)
            write_piece(w->s, to, word[e * l->bytes / 4], e * l->bytes % 4);
        else
            write_words(w->s, &to, word + e * l->bytes / 4, l->bytes, alignment(l, l->bytes));
    }
}

static void store_operand(const GpuPlan *p, const Loads *l, Stmts *s)
{
    Writes w;
    stmt_block(s);
    if (p->to_bf16) stmt_call(s, "@copy_to_bf16", operand(l, s), value_reg(s, "set"));
    writes_init(&w, p, l, s);
    if (l->transpose)
        store_transposed(&w);
    else
        for (int j = 0; j < l->n; j++) store_load(&w, j);
    stmt_end(s);
}

static void store(const GpuPlan *p, const Loads loads[2], Stmts *s)
{
    stmt_function(s, (Function){.name = "@copy_store",
                                STMT_PARAMS({"@Copy &", "c"}, {"int", "set"}, {"char *", "stage"})});
    for (int i = 0; i < 2; i++)
        if (gpu_is_fetched(&p->op[i])) store_operand(p, &loads[i], s);
    stmt_end(s);
}

/* ---- loads ---- */

static const Value *descriptor(const Loads *l, Stmts *s)
{
    const Value *c = operand(l, s);
    return stmt_define(s, "const @w4", "d",
                       value_call(s, "@descriptor", value_field(s, c, "base"), value_field(s, c, "bytes")));
}

/* Issues all loads of one operand into registers. */
static void load_registers(const GpuPlan *p, const Loads *l, Stmts *s)
{
    stmt_block(s);
    const Value *d = p->buffer_load ? descriptor(l, s) : value_field(s, operand(l, s), "base");
    const Expr *j = stmt_unrolled(s, "j", GPU_I, l->n);
    const LoadOffset at = buffer_load_offset(p, l, s, j);
    const Value *sets = value_field(s, operand(l, s), "data");
    const Expr *set = expr_var(&s->pool, l->x->in_registers ? "ahead" : "set", 0, 0, gpu_sets(p, l->x) - 1);
    const Value *data = value_at(s, value_at(s, sets, set), j);
    const Value *vector =
        value_op(s, VALUE_ADD, value_cast(s, "int", at.vector), value_expr(s, at.immediate));
    stmt_call(s, l->i ? "@copy_load_from<@CopyB, 0>" : "@copy_load_from<@CopyA, 0>", d, data, vector,
              value_cast(s, "int", value_expr(s, at.scalar)));
    stmt_end(s);
    stmt_end(s);
}

/* Issues all loads of one operand into local memory. */
static void load_to_local(const GpuPlan *p, const Loads *l, Stmts *s)
{
    const GpuOperand *x = l->x;
    const int bytes = x->width * l->bytes;
    Writes w;
    stmt_block(s);
    writes_init(&w, p, l, s);
    const Value *d = descriptor(l, s);
    for (int j = 0; j < l->n; j++) {
        const LoadOffset by = buffer_load_offset(p, l, s, expr_const(&s->pool, j));
        Access to = place_of(&w, j, 0, bytes);
        const bool fixed = !to.offset || expr_is_const(to.offset);
        const int64_t at = to.offset && fixed ? to.offset->lo : 0;
        to.type = "char";
        if (fixed) to.offset = NULL;
        stmt_call(s, stmts_name(s, "@load_to_local<%d, %d, %d>", bytes, amdgcn_policy(p, x->hint), (int)at),
                  d, by.vector, value_expr(s, by.scalar), value_place(s, to));
    }
    stmt_end(s);
}

/* Prints @copy_load. */
static void load(const GpuPlan *p, const Loads loads[2], Stmts *s)
{
    static const StmtParam params[] = {
        {"@Copy &", "c"}, {"int", "set"}, {"char *", "stage"}, {"int", "ahead"}};
    stmt_function(
        s, (Function){.name = "@copy_load", .param = params, .n_params = gpu_any_in_registers(p) ? 4 : 3});
    for (int i = 0; i < 2; i++) {
        if (p->op[i].to_local)
            load_to_local(p, &loads[i], s);
        else
            load_registers(p, &loads[i], s);
    }
    stmt_end(s);
}

/* The numbers of @copy_wait in kernels with DirectToLds. */
static void loads_to_local(const GpuPlan *p, const Loads loads[2], Stmts *s)
{
    /* Loads arrive in order. Those of the other operand into registers, whose number the compiler
     * decides, are not counted: a wait then ends when more loads have arrived than are needed, never when
     * fewer have. */
    int n = 0;
    for (int i = 0; i < 2; i++) n += p->op[i].to_local ? loads[i].n : 0;
    stmt_constant(s, "int", "@LOADS_TO_LOCAL", n);
    stmt_constant(s, "int", "@LOADS_MOST", p->target->isa[0] >= 9 ? 63 : 15);
}

/* With PrefetchGlobalRead 2 and two stages, an iteration begins by writing the loaded chunk to local memory.
 * Its registers are then the destination of the next loads, as in Tensile, so no second register set is
 * needed. */
static Err buffer_plan(GpuPlan *p)
{
    for (int i = 0; i < 2; i++)
        if (!p->op[i].in_registers) amdgcn_deal_loads(p, i);
    if (p->prefetch == 2 && p->n_stages == 2) p->n_sets = 1;
    return ERR_OK;
}

/* Checks that all loads of a wave write local memory lane behind lane. */
static Err check_lanes(const GpuPlan *p, const Loads *l)
{
    GpuIndex index;
    int64_t tid[EXPR_LANES_MAX], at[EXPR_LANES_MAX];
    const int64_t *const values[GPU_SLOTS] = {[GPU_TID] = tid};
    const int bytes = l->x->width * l->bytes;
    gpu_index_init(&index);
    const GpuPlace first = thread_place(&index.pool, p, l);
    const int mark = index.pool.n_used;
    for (int j = 0; j < l->n; j++, expr_pool_back(&index.pool, mark)) {
        const Expr *to = lds_at(&index.pool, l, first, j, 0);
        for (int wave = 0; wave < p->n_threads; wave += p->wave) {
            for (int i = 0; i < p->wave; i++) tid[i] = wave + i;
            TRY(expr_pool_check(&index.pool));
            expr_eval_lanes(to, p->wave, values, at);
            for (int i = 0; i < p->wave; i++)
                if (at[i] != at[0] + (int64_t)i * bytes || at[0] % (bytes == 4 ? 4 : 16))
                    FAIL(ERR_INPUT,
                         "DirectToLds of %c: load %d of thread %d goes to byte %lld of local memory, lane %d "
                         "writes byte %lld",
                         l->x->name - 'a' + 'A', j, wave + i, (long long)at[i], i,
                         (long long)(at[0] + (int64_t)i * bytes));
        }
    }
    return ERR_OK;
}

/* Checks that the elements of a read lie together in the layout that the loads make. */
static Err check_reads(const GpuPlan *p, const GpuOperand *x)
{
    GpuIndex index;
    GpuAccess a = {0};
    gpu_index_init(&index);
    const GpuAccesses reads = amdgcn_reads(p);
    if (!reads(p, x, 0, &index.pool, &a)) return ERR_OK;
    const int n = a.bytes / gpu_type_bytes(&x->type) > 0 ? a.bytes / gpu_type_bytes(&x->type) : 1;
    if (x->layout.panel % n || x->layout.block % n || x->layout.pad % n)
        FAIL(ERR_INPUT, "DirectToLds of %c: reads of %d elements, of which %d lie together in local memory",
             x->name - 'a' + 'A', n, x->layout.panel ? x->layout.panel : x->layout.block);
    return ERR_OK;
}

/* Checks the operands whose loads write local memory. */
static Err buffer_check(const GpuPlan *p)
{
    for (int i = 0; i < 2; i++) {
        const GpuOperand *x = &p->op[i];
        const Loads l = loads_of(p, i);
        const int bytes = x->width * l.bytes;
        if (!x->to_local) continue;
        if (!target_loads_to_local(p->target, bytes))
            FAIL(ERR_INPUT, "%s has no loads of %d bytes into local memory", p->target->name, bytes);
        if (x->tlu == x->k_major || p->to_bf16 || p->n_threads % p->wave)
            FAIL(ERR_INPUT, "DirectToLds of %c: what is loaded cannot be %s on its way", "AB"[i],
                 p -> to_bf16                ? "converted"
                      : x->tlu == x->k_major ? "transposed"
                                             : "masked");
        if (!p->sketch) TRY(check_lanes(p, &l));
        if (!p->sketch) TRY(check_reads(p, x));
    }
    return ERR_OK;
}

/* Prints the function that moves the register sets of operands whose loads are fragments, or of others. */
static void shift(const GpuPlan *p, const char *name, bool of_fragments, Stmts *s)
{
    stmt_function(s, (Function){.name = name, STMT_PARAMS({"@Copy &", "c"})});
    for (int i = 0; i < 2; i++)
        if (p->op[i].in_registers == of_fragments)
            stmt_call(s, "@copy_shift_sets", value_named(s, "c.%c", p->op[i].name));
    stmt_end(s);
}

static void make(const GpuPlan *p, Stmts *s)
{
    Loads l[2] = {loads_of(p, 0), loads_of(p, 1)};
    for (int i = 0; i < 2; i++)
        if (!p->op[i].in_registers) compare_addresses(p, &l[i]);
    if (gpu_any_to_local(p)) stmt_file(s, "amdgcn/buffer_to_local.hip");
    state(p, l, s);
    init(p, l, s);
    store(p, l, s);
    stmt_file(s, "amdgcn/buffer_move.hip");
    load(p, l, s);
    const bool turns = gpu_any_in_registers(p) && p->prefetch > 0;
    const bool shifts = p->n_sets > 1 && gpu_chunk_parts(p) == 1;
    if (shifts || turns) stmt_file(s, "amdgcn/buffer_shift.hip");
    if (shifts) shift(p, "@copy_shift", false, s);
    if (turns) shift(p, "@copy_turn", true, s);
    stmt_file(s, "amdgcn/buffer_slow.hip");
    if (gpu_any_in_registers(p)) amdgcn_fragment_functions(p, s);
    if (gpu_any_to_local(p)) loads_to_local(p, l, s);
    stmt_file(s, gpu_any_to_local(p) ? "amdgcn/buffer_arrived_to_local.hip" : "amdgcn/buffer_arrived.hip");
}

static void buffer_emit(const GpuPlan *p, Buf *out)
{
    amdgcn_print(p, make, out);
    gpu_copy_tail(p, out);
}

const GpuCopy amdgcn_buffer = {.name = "buffer",
                               .direct = true,
                               .to_registers = true,
                               .in_runs = true,
                               .plan = buffer_plan,
                               .check = buffer_check,
                               .emit = buffer_emit};
