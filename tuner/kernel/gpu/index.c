/* Index expressions of GPU kernels: which elements of A, B and D a thread has, and where they stand in local
 * memory. Texts are printed from them, bank counting evaluates them. */
#include "kernel/gpu/gpu.h"

void gpu_index_init(GpuIndex *x) { expr_pool_fixed(&x->pool, x->node, GPU_INDEX_NODES); }

const Expr *gpu_tid(ExprPool *pool, const GpuPlan *p)
{
    return expr_var(pool, "tid", GPU_TID, 0, p->n_threads - 1);
}

const Expr *gpu_counter(ExprPool *pool, const char *name, GpuSlot slot, int n)
{
    return expr_var(pool, name, (int)slot, 0, n - 1);
}

const Expr *gpu_part_of_k(ExprPool *pool, const GpuPlan *p)
{
    return p->lsu > 1 ? expr_div_i(pool, gpu_tid(pool, p), p->n_threads / p->lsu) : expr_const(pool, 0);
}

const Expr *gpu_thread_free(ExprPool *pool, const GpuPlan *p, int i, const Expr *piece, const Expr *e)
{
    const Expr *tid = gpu_tid(pool, p);
    const Expr *thread =
        i ? expr_mod_i(pool, expr_div_i(pool, tid, p->sg[0]), p->sg[1]) : expr_mod_i(pool, tid, p->sg[0]);
    const Expr *vector = expr_add(pool, expr_mul_i(pool, piece, p->sg[i]), thread);
    return expr_add(pool, expr_mul_i(pool, vector, p->vw), e);
}

/* ---- global memory ---- */

bool gpu_contiguous_rows(const GpuPlan *p, int tensor)
{
    enum { NODES = 64 };
    Expr node[NODES];
    ExprPool pool;
    const Expr *length;
    int top[VIEW_MAX_DIMS];
    expr_pool_fixed(&pool, node, NODES);
    view_top(p->view[tensor], top);
    return view_contiguous(&pool, p->view[tensor], &length) == top[0];
}

bool gpu_contiguous_results(const GpuPlan *p)
{
    return gpu_contiguous_rows(p, 2) && gpu_contiguous_rows(p, 3);
}

const Expr *gpu_address(ExprPool *pool, const GpuPlan *p, int tensor, const Expr *row, const Expr *col,
                        const Expr *ld)
{
    const Expr *zero = expr_const(pool, 0), *term[2];
    const Expr *const only[2][2] = {{row, zero}, {zero, col}};
    const View *v = p->view[tensor];
    /* of a matrix: the sum of both coordinates' addresses, the one that is not contiguous first */
    for (int i = 0; i < 2; i++) term[i] = view_address_by(pool, v, only[i], ld);
    const bool rows = gpu_contiguous_rows(p, tensor);
    return expr_add(pool, term[rows ? 1 : 0], term[rows ? 0 : 1]);
}

const Expr *gpu_operand_address(ExprPool *pool, const GpuPlan *p, const GpuOperand *x, const Expr *free,
                                const Expr *k, const Expr *ld)
{
    const bool b = x->name == 'b';
    return gpu_address(pool, p, b, b ? k : free, b ? free : k, ld);
}

/* ---- loads from global memory ---- */

const Expr *gpu_load_thread(ExprPool *pool, const GpuPlan *p, const GpuOperand *x)
{
    const Expr *tid = gpu_tid(pool, p);
    if (x->groups == 1) return tid;
    int part = p->wave / x->groups, share = x->lvc / x->groups;
    const Expr *wave = expr_mul_i(pool, expr_div_i(pool, tid, p->wave), p->wave);
    const Expr *line = expr_mul_i(pool, expr_div_i(pool, expr_mod_i(pool, tid, part), share), x->lvc);
    const Expr *group = expr_mul_i(pool, expr_div_i(pool, expr_mod_i(pool, tid, p->wave), part), share);
    const Expr *at = expr_add(pool, expr_add(pool, wave, line), group);
    at = expr_add(pool, at, expr_mod_i(pool, tid, share));
    at = expr_within(pool, at, 0, p->n_threads - 1);
    return expr_name(pool, x->name == 'a' ? "lane_a" : "lane_b", at);
}

GpuPlace gpu_load_place(ExprPool *pool, const GpuPlan *p, const GpuOperand *x)
{
    int threads = p->n_threads / x->n_waves, outside = x->tlu ? x->tile : p->depth_u;
    const Expr *lane = gpu_load_thread(pool, p, x), *in = expr_mod_i(pool, lane, threads);
    const Expr *vector = x->grouped ? expr_mod_i(pool, in, x->lvc) : expr_div_i(pool, in, x->lsp);
    const Expr *line = x->grouped ? expr_div_i(pool, in, x->lvc) : expr_mod_i(pool, in, x->lsp);
    const Expr *first = expr_mul_i(pool, expr_div_i(pool, lane, threads), x->nlp * x->lsp);
    GpuPlace at = {expr_mul_i(pool, vector, x->width), expr_add(pool, first, line)};
    if (x->fractional) {
        const Expr *loads = expr_op(pool, EXPR_LT, in, expr_const(pool, x->lvc * x->lsp));
        at.along = expr_select(pool, loads, at.along, expr_const(pool, outside));
    }
    return at;
}

/* ---- local memory ---- */

const Expr *gpu_lds_at(ExprPool *pool, const GpuOperand *x, const Expr *k, const Expr *free)
{
    return x->k_major ? layout_at(pool, &x->layout, free, k) : layout_at(pool, &x->layout, k, free);
}

const Expr *gpu_lds_place(ExprPool *pool, const GpuOperand *x, GpuPlace at)
{
    return gpu_lds_at(pool, x, x->tlu ? at.across : at.along, x->tlu ? at.along : at.across);
}
