/* Epilogues of GPU kernels: the ops of a plan's numbers, and what they do to one element. How elements are
 * stored (by pointers, raw buffers, through local memory, by TMA) is decided by the store modules, which walk
 * the same ops or call the functions of gpu_element_functions. */
#include "kernel/epilogue.h"

#include <string.h>

#include "kernel/gpu/gpu.h"
#include "kernel/lower/activation.h"

/* ---- from numbers to ops and back ---- */

Epilogue gpu_epilogue(const GpuPlan *p)
{
    const bool cluster = p->walk.members > 1;
    const bool adds = p->adds_shares || (p->gsu > 1 && !p->gsu_multiple && !p->partial_sums);
    return (Epilogue){.across = cluster      ? ACROSS_CLUSTER
                                : p->lsu > 1 ? ACROSS_GROUP
                                             : ACROSS_NONE,
                      .grid = p->partial_sums,
                      .scales = !p->gsu_multiple,
                      .reads_c = p->use_beta && !adds && !p->gsu_multiple,
                      .adds = adds,
                      .parts = p->gsu_multiple,
                      .staged = p->groups.engine_store,
                      .role = p->groups.used ? ROLE_CONSUMER : ROLE_ALL,
                      .fused = p->fused,
                      .written = p->out.type};
}

Err gpu_epilogue_read(Program *p, const char *name)
{
    Epilogue e;
    const Op *ops = op_behind_loops(p->body);
    TRY(epilogue_read(p, ops, name, &e));
    GpuPlan *plan = ARENA_NEW(p->arena, GpuPlan);
    TRY_ALLOC(plan);
    *plan = *p->gpu;
    plan->epilogue = ops, plan->tile = p->tile;
    plan->gsu = p->walk.split;
    plan->gsu_multiple = e.parts;
    plan->partial_sums = e.grid;
    plan->adds_shares = e.adds && p->walk.stream_k;
    plan->groups.engine_store = e.staged;
    plan->fused = e.fused;
    plan->out = gpu_type(e.written);
    p->gpu = plan;
    if (!plan->out.part) FAIL(ERR_INPUT, "GPU kernels write no elements of type %s", type_letter(e.written));
    if (fused_any(&e.fused) && (plan->ring.used || plan->groups.used))
        FAIL(ERR_INPUT, "%s%skernels with a ring of stages have no bias, activation and scale factors",
             name ? name : "", name ? ": " : "");
    return ERR_OK;
}

static const Op *find(const GpuPlan *p, OpKind kind)
{
    const Op *o = p->epilogue;
    while (o && o->kind != kind) o = o->next;
    return o;
}

bool gpu_adds(const GpuPlan *p) { return find(p, OP_ATOMIC_ADD_TILE); }
bool gpu_scales(const GpuPlan *p)
{
    const Op *o = p->epilogue;
    while (o && !(o->kind == OP_SCALE_TILE && o->scalar)) o = o->next;
    return o;
}

bool gpu_reads_c(const GpuPlan *p) { return find(p, OP_LOAD_TILE); }

/* ---- one element ---- */

/* Returns the element of a fused operation's vector for that row and column, or its single number. */
static const Value *of_vector(const GpuPlan *p, Stmts *s, const Tile *t, const GpuPoint *at)
{
    const bool bias = !strcmp(t->name, fused_name(FUSED_BIAS));
    const Expr *zero = expr_const(&s->pool, 0);
    const Expr *i = t->dim[0] == DIM_M ? at->row : t->dim[1] == DIM_N ? at->col : zero;
    const Value *base = value_named(s, "o.%s", t->name);
    const int bytes = type_bytes(t->type);
    const Value *x = value_load(s, access_element(SPACE_GLOBAL, bias ? "@TB" : "@TC", bytes, base, i));
    return t->type == p->scalar.type ? x : value_call(s, "@to_c", x);
}

static bool of_c(const GpuPlan *p, const Op *o)
{
    return o->kind == OP_SCALE_TILE && !o->scalar && p->tile[o->tile[0]].operand != 'P';
}

/* alpha * x. */
static const Value *scaled(Stmts *s, const Value *x)
{
    return value_call(s, "@mul", value_reg(s, "o.alpha"), x);
}

/* beta * c + x. */
static const Value *plus_c(const GpuPlan *p, Stmts *s, const GpuPoint *at, const Value *x)
{
    const Value *beta = value_reg(s, "o.beta");
    for (const Op *o = p->epilogue; o; o = o->next)
        if (of_c(p, o)) beta = value_call(s, "@mul", of_vector(p, s, &p->tile[o->tile[1]], at), beta);
    return value_call(s, "@madd", beta, value_call(s, "@to_c", at->c), x);
}

const Value *gpu_element_op(const GpuPlan *p, Stmts *s, const Op *o, const GpuPoint *at, const Value *x)
{
    switch (o->kind) {
    case OP_SCALE_TILE:
        if (o->scalar) return scaled(s, x);
        return of_c(p, o) ? x : value_call(s, "@mul", of_vector(p, s, &p->tile[o->tile[1]], at), x);
    case OP_ADD_TILE:
        if (!o->scalar) return value_call(s, "@add", x, of_vector(p, s, &p->tile[o->tile[2]], at));
        return at->c ? plus_c(p, s, at, x) : x;
    case OP_ACTIVATE_TILE:
        return value_activated(s, o->activation, x,
                               (const Value *[]){value_reg(s, "o.number_0"), value_reg(s, "o.number_1")});
    case OP_CONVERT_TILE:
        return value_call(s, "@from_c", x);
    default: /* what moves whole tiles */
        return x;
    }
}

/* ---- activations ---- */

void gpu_activation(const GpuPlan *p, Stmts *s)
{
    if (!p->fused.activation) return;
    if (activation_has_exp(p->fused.activation)) {
        const Value *x = value_reg(s, "x");
        stmt_function(s, (Function){.result = "@TC", .name = "@exp", STMT_PARAMS({"@TC", "x"})});
        stmt_return(s, value_call(s, p->dialect->exp[p->scalar.type == TYPE_D], x));
        stmt_end(s);
        stmt_file(s, "gpu/tanh.h");
    }
    stmt_activation(s, p->fused.activation);
    stmt_gap(s);
}

void gpu_element_function(const GpuPlan *p, Stmts *s)
{
    const Value *const x = value_reg(s, "x");
    const GpuPoint at = {expr_var(&s->pool, "row", 0, 0, UINT32_MAX),
                         expr_var(&s->pool, "col", 0, 0, UINT32_MAX), value_reg(s, "c")};
    stmt_function(s, (Function){.result = "@TC",
                                .name = "@element",
                                STMT_PARAMS({"const @Out &", "o"}, {"@TC", "x"}, {"@TD", "c"},
                                            {"bool", "with_c"}, {"unsigned", "row"}, {"unsigned", "col"})});
    for (const Op *o = p->epilogue; o && o->kind != OP_CONVERT_TILE; o = o->next) {
        const Value *y = gpu_element_op(p, s, o, &at, x);
        const bool adds_c = o->kind == OP_ADD_TILE && o->scalar;
        if (y == x) continue;
        if (adds_c) stmt_if(s, value_reg(s, "with_c"));
        stmt_set(s, x, y);
        if (adds_c) stmt_end(s);
    }
    stmt_return(s, x);
    stmt_end(s);
    stmt_gap(s);
}
