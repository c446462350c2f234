/* Compute module "valu": every thread multiplies vectors of A and B from local memory with the machine's
 * ordinary multiply-add. Any element type, any target; matrix instructions are the families' own modules.
 *
 * As in Tensile's VALU kernels a thread has ThreadTile0 x ThreadTile1 elements of D, in pieces of VectorWidth
 * consecutive ones that are SubGroup * VectorWidth apart. A step is one element of K; with local split U the
 * steps are distributed round-robin over the parts.
 */
#include "kernel/gpu/gpu.h"

Err gpu_check_thread_tile(const GpuPlan *p)
{
    for (int i = 0; i < 2; i++)
        if (p->tt[i] < 1 || p->tt[i] % p->vw || p->sg[i] * p->tt[i] != p->mt[i])
            FAIL(ERR_INPUT, "ThreadTile %dx%d with VectorWidth %d and WorkGroup %dx%d does not tile %dx%d",
                 p->tt[0], p->tt[1], p->vw, p->sg[0], p->sg[1], p->mt[0], p->mt[1]);
    return ERR_OK;
}

Err gpu_thread_shape(GpuPlan *p)
{
    TRY(gpu_check_thread_tile(p));
    p->n_acc = p->tt[0] * p->tt[1];
    p->acc_run = p->vw;
    return ERR_OK;
}

static Err valu_plan(GpuPlan *p)
{
    if (p->depth_u % p->lsu)
        FAIL(ERR_INPUT, "DepthU %d is not a multiple of LocalSplitU %d", p->depth_u, p->lsu);
    p->k_step = 1;
    p->steps = p->depth_u / p->lsu;
    return gpu_thread_shape(p);
}

static Err valu_shape(GpuPlan *p)
{
    if (p->k_step != 1) FAIL(ERR_INPUT, "steps of %d elements of K, multiply-adds take one", p->k_step);
    return gpu_thread_shape(p);
}

/* Local memory is read 16 bytes at a time at most: pieces of a vector of VectorWidth elements. */
static int pieces_of(const GpuPlan *p)
{
    const int bytes = p->vw * gpu_type_bytes(&p->in);
    return bytes > 16 ? bytes / 16 : 1;
}

/* Parts of a piece. */
static int piece_parts(const GpuPlan *p) { return p->vw * p->in.parts / pieces_of(p); }

static void sums_struct(const GpuPlan *p, Stmts *s)
{
    stmt_struct(s, "@Acc", 0);
    stmt_array(s, "@PC", "v", DIMS(p->n_acc * p->acc.parts));
    stmt_end(s);
}

static void types(const GpuPlan *p, Stmts *s)
{
    sums_struct(p, s);
    const char *piece = stmts_name(s, "@VP%d", piece_parts(p));
    stmt_struct(s, "@Frag", 0);
    stmt_array(s, piece, "a", DIMS(p->tt[0] / p->vw * pieces_of(p)));
    stmt_array(s, piece, "b", DIMS(p->tt[1] / p->vw * pieces_of(p)));
    stmt_end(s);
    stmt_gap(s);
}

/* Element e of piece i of a thread's row or column, in the text's loops. */
static const Expr *free_of(ExprPool *pool, const GpuPlan *p, int i, const Expr *e)
{
    return gpu_thread_free(pool, p, i, gpu_counter(pool, "i", GPU_I, p->tt[i] / p->vw), e);
}

static const Expr *k_of_step(ExprPool *pool, const GpuPlan *p)
{
    const Expr *step = gpu_counter(pool, "step", GPU_STEP, p->steps);
    return expr_add(pool, expr_mul_i(pool, step, p->lsu), gpu_part_of_k(pool, p));
}

/* VectorWidth elements are side by side in local memory, and aligned where vectors of their number are. */
static bool reads_vectors(const GpuPlan *p, const GpuOperand *x)
{
    GpuIndex index;
    ExprPool *pool = &index.pool;
    gpu_index_init(&index);
    int bytes = p->vw * x->layout.bytes;
    if (p->vw == 1) return true;
    if (x->k_major) return false;
    if (p->vw & (p->vw - 1)) bytes = p->in.part_bytes;
    if (bytes > 16) bytes = 16;
    const Expr *k = k_of_step(pool, p), *free = free_of(pool, p, x->name == 'b', expr_const(pool, 0));
    return layout_is_run(pool, &x->layout, k, free, p->vw) &&
           gpu_lds_at(pool, x, k, free)->factor % bytes == 0;
}

bool gpu_valu_reads(const GpuPlan *p, const GpuOperand *x, int access, ExprPool *pool, GpuAccess *a)
{
    int element = x->layout.bytes, bytes = p->vw * element > 16 ? 16 : p->vw * element;
    if (access) return false;
    a->bytes = reads_vectors(p, x) && (p->vw & (p->vw - 1)) == 0 ? bytes : element < 16 ? element : 16;
    a->n_threads = p->n_threads;
    a->k = gpu_part_of_k(pool, p);
    a->free = gpu_thread_free(pool, p, x->name == 'b', expr_const(pool, 0), expr_const(pool, 0));
    return true;
}

/* The loads of one operand's vectors: from line k, SubGroup * VectorWidth elements apart. */
static void load_operand(const GpuPlan *p, Stmts *s, int n, const Expr *k)
{
    ExprPool *pool = &s->pool;
    const GpuOperand *x = &p->op[n];
    const int parts = p->in.parts, pieces = pieces_of(p), per = piece_parts(p);
    const Value *f = value_reg(s, n ? "f.b" : "f.a"), *lds = value_reg(s, n ? "lds_b" : "lds_a");
    const Expr *i = stmt_unrolled(s, "i", GPU_I, p->tt[n] / p->vw), *q;
    if (!reads_vectors(p, x)) {
        const Expr *e = stmt_unrolled(s, "e", GPU_E, p->vw);
        Access part = access_at(SPACE_LOCAL, "const @P", p->in.part_bytes, lds,
                                gpu_lds_at(pool, x, k, free_of(pool, p, n, e)));
        const Value *at = stmt_define(s, "const @P *", "at", value_place(s, part));
        q = stmt_unrolled(s, "q", GPU_Q, parts);
        const Expr *number = expr_add(pool, expr_mul_i(pool, e, parts), q);
        const Expr *piece = expr_add(pool, expr_mul_i(pool, i, pieces), expr_div_i(pool, number, per));
        stmt_set(s, value_at(s, value_at(s, f, piece), expr_mod_i(pool, number, per)),
                 value_load(s, access_element(SPACE_LOCAL, "@P", p->in.part_bytes, at, q)));
        stmt_end(s);
        stmt_end(s);
    } else {
        const char *type = stmts_name(s, "const @VP%d", per);
        const int bytes = per * p->in.part_bytes;
        const Expr *first = gpu_lds_at(pool, x, k, free_of(pool, p, n, expr_const(pool, 0)));
        const Value *at = stmt_define(s, stmts_name(s, "%s *", type), "at",
                                      value_place(s, access_at(SPACE_LOCAL, type, bytes, lds, first)));
        q = stmt_unrolled(s, "q", GPU_Q, pieces);
        stmt_set(s, value_at(s, f, expr_add(pool, expr_mul_i(pool, i, pieces), q)),
                 value_load(s, access_element(SPACE_LOCAL, type, bytes, at, q)));
        stmt_end(s);
    }
    stmt_end(s);
}

static void loads(const GpuPlan *p, Stmts *s)
{
    stmt_function(s,
                  (Function){.name = "@frag_load",
                             STMT_PARAMS({"@Frag &", "f"}, {"const char *", "lds_a"},
                                         {"const char *", "lds_b"}, {"unsigned", "tid"}, {"int", "step"})});
    const Expr *k = stmt_let(s, "k", k_of_step(&s->pool, p));
    for (int i = 0; i < 2; i++) load_operand(p, s, i, k);
    stmt_end(s);
    stmt_gap(s);
}

/* Part q of element i of a fragment: vectors are indexed by constants after unrolling. */
static const Value *part_of(const GpuPlan *p, Stmts *s, int n, const Expr *i, int q)
{
    ExprPool *pool = &s->pool;
    const DataType type = p->op[n].type.type;
    const int per = piece_parts(p);
    const Expr *part = expr_add_i(pool, expr_mul_i(pool, i, p->in.parts), q);
    const Value *x = value_at(s, value_reg(s, n ? "f.b" : "f.a"), expr_div_i(pool, part, per));
    x = value_at(s, x, expr_mod_i(pool, part, per));
    if (p->in.parts == 2) return x;
    if (type == TYPE_I8) return value_cast(s, "int", x);
    return *gpu_widen(type) ? value_call(s, gpu_widen(type), x) : x;
}

static const Value *negated(Stmts *s, bool is, const Value *x)
{
    return is ? value_op(s, VALUE_NEG, x, NULL) : x;
}

/* (ar + i ai)(br + i bi) by four products; conjugated operands have signs of their own. */
static void mac_complex(const GpuPlan *p, Stmts *s, const Expr *i, const Expr *j, const Expr *number)
{
    ExprPool *pool = &s->pool;
    const bool conj_a = p->op[0].conj, conj_b = p->op[1].conj;
    const Value *v = value_reg(s, "acc.v"), *re = value_at(s, v, expr_mul_i(pool, number, 2)),
                *im = value_at(s, v, expr_add_i(pool, expr_mul_i(pool, number, 2), 1));
    const Value *ar = stmt_define(s, "@PC", "ar", part_of(p, s, 0, i, 0)),
                *ai = stmt_define(s, "@PC", "ai", part_of(p, s, 0, i, 1)),
                *br = stmt_define(s, "@PC", "br", part_of(p, s, 1, j, 0)),
                *bi = stmt_define(s, "@PC", "bi", part_of(p, s, 1, j, 1));
    stmt_set(s, re,
             value_call(s, "@fma", negated(s, conj_a == conj_b, ai), bi, value_call(s, "@fma", ar, br, re)));
    stmt_set(s, im,
             value_call(s, "@fma", negated(s, conj_a, ai), br,
                        value_call(s, "@fma", ar, negated(s, conj_b, bi), im)));
}

static void mac(const GpuPlan *p, Stmts *s)
{
    ExprPool *pool = &s->pool;
    const char *f = p->acc.type != TYPE_I ? "@fma" : p->in.type == TYPE_4XI8 ? "@dot4" : "@mad24";
    stmt_function(s, (Function){.name = "@frag_mac", STMT_PARAMS({"@Acc &", "acc"}, {"const @Frag &", "f"})});
    const Expr *j = stmt_unrolled(s, "j", GPU_E, p->tt[1]), *i = stmt_unrolled(s, "i", GPU_I, p->tt[0]);
    const Expr *number = expr_add(pool, expr_mul_i(pool, j, p->tt[0]), i);
    const Value *sum = value_at(s, value_reg(s, "acc.v"), number);
    if (p->acc.parts == 2)
        mac_complex(p, s, i, j, number);
    else
        stmt_set(s, sum, value_call(s, f, part_of(p, s, 0, i, 0), part_of(p, s, 1, j, 0), sum));
    stmt_end(s);
    stmt_end(s);
    stmt_end(s);
    stmt_gap(s);
}

void gpu_thread_tile(const GpuPlan *p, Stmts *s)
{
    static const char *const name[] = {"@acc_row", "@acc_col"};
    ExprPool *pool = &s->pool;
    const Expr *number = gpu_counter(pool, "i", GPU_NUMBER, p->tt[0] * p->tt[1]);
    const Expr *in[] = {expr_mod_i(pool, number, p->tt[0]), expr_div_i(pool, number, p->tt[0])};
    for (int i = 0; i < 2; i++) {
        stmt_function(s, (Function){.result = "unsigned",
                                    .name = name[i],
                                    STMT_PARAMS({"unsigned", "tid"}, {"int", "i"})});
        const Expr *piece = expr_div_i(pool, in[i], p->vw), *e = expr_mod_i(pool, in[i], p->vw);
        stmt_return(s, value_expr(s, gpu_thread_free(pool, p, i, piece, e)));
        stmt_end(s);
    }
}

void gpu_thread_tile_places(const GpuPlan *p, Buf *out)
{
    Stmts s;
    stmts_init(&s, GPU_STMTS_BYTES);
    gpu_thread_tile(p, &s);
    gpu_put(p, &s, out);
}

/* Access to accumulators by number. */
static void access_sums(const GpuPlan *p, Stmts *s)
{
    ExprPool *pool = &s->pool;
    const Value *v = value_reg(s, "acc.v"), *x = value_reg(s, "x");
    const Expr *number = gpu_size(s, "i"), *twice = expr_mul_i(pool, number, 2);
    const Expr *part[] = {p->acc.parts == 2 ? twice : number, expr_add_i(pool, twice, 1)};
    stmt_function(s, (Function){.name = "@acc_zero", STMT_PARAMS({"@Acc &", "acc"})});
    const Expr *i = stmt_unrolled(s, "i", GPU_I, p->n_acc * p->acc.parts);
    stmt_set(s, value_at(s, v, i), value_int(s, 0));
    stmt_end(s);
    stmt_end(s);
    stmt_function(
        s,
        (Function){.result = "@TC", .name = "@acc_get", STMT_PARAMS({"const @Acc &", "acc"}, {"int", "i"})});
    if (p->acc.parts == 2)
        stmt_return(
            s, stmt_define(s, "@TC", "x", value_list(s, value_at(s, v, part[0]), value_at(s, v, part[1]))));
    else
        stmt_return(s, value_at(s, v, number));
    stmt_end(s);
    stmt_function(s,
                  (Function){.name = "@acc_set", STMT_PARAMS({"@Acc &", "acc"}, {"int", "i"}, {"@TC", "x"})});
    if (p->acc.parts == 2) {
        stmt_set(s, value_at(s, v, part[0]), value_field(s, x, "re"));
        stmt_set(s, value_at(s, v, part[1]), value_field(s, x, "im"));
    } else
        stmt_set(s, value_at(s, v, number), x);
    stmt_end(s);
}

void gpu_sums(const GpuPlan *p, Stmts *s)
{
    sums_struct(p, s);
    stmt_gap(s);
    access_sums(p, s);
}

static void valu_emit(const GpuPlan *p, Buf *out)
{
    Stmts s;
    stmts_init(&s, GPU_STMTS_BYTES);
    gpu_heading(&s, "---- compute: vectors from local memory, multiply-add ----");
    types(p, &s);
    access_sums(p, &s);
    gpu_thread_tile(p, &s);
    loads(p, &s);
    mac(p, &s);
    gpu_put(p, &s, out);
}

const GpuCompute gpu_valu = {"valu", false, valu_plan, valu_shape, valu_emit, NULL};
