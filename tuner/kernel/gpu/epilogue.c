/* Epilogues of GPU kernels: the ops of a plan's numbers, and what they do to one element. How elements leave
 * (by pointers, raw buffers, through local memory, by the copy engine) is the stores' matter: they walk the
 * same ops, or call the functions of gpu_element_functions. */
#include "kernel/epilogue.h"

#include "kernel/gpu/gpu.h"

/* ---- from numbers to ops and back ---- */

Epilogue gpu_epilogue(const GpuPlan *p)
{
    const bool cluster = p->walk.members > 1, adds = p->gsu > 1 && !p->gsu_multiple && !p->partial_sums;
    return (Epilogue){.across = p->partial_sums ? ACROSS_GRID
                                : cluster       ? ACROSS_CLUSTER
                                : p->lsu > 1    ? ACROSS_GROUP
                                                : ACROSS_NONE,
                      .scales = !p->gsu_multiple,
                      .reads_c = p->use_beta && !adds && !p->gsu_multiple,
                      .adds = adds,
                      .parts = p->gsu_multiple,
                      .staged = p->groups.engine_store,
                      .role = p->groups.used ? ROLE_CONSUMER : ROLE_ALL,
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
    plan->epilogue = ops;
    plan->gsu = p->walk.split;
    plan->gsu_multiple = e.parts;
    plan->partial_sums = e.across == ACROSS_GRID;
    plan->groups.engine_store = e.staged;
    plan->out = gpu_type(e.written);
    p->gpu = plan;
    if (!plan->out.part) FAIL(ERR_INPUT, "GPU kernels write no elements of type %s", type_letter(e.written));
    return ERR_OK;
}

static const Op *find(const GpuPlan *p, OpKind kind)
{
    const Op *o = p->epilogue;
    while (o && o->kind != kind) o = o->next;
    return o;
}

bool gpu_adds(const GpuPlan *p) { return find(p, OP_ATOMIC_ADD_TILE); }
bool gpu_scales(const GpuPlan *p) { return find(p, OP_SCALE_TILE); }
bool gpu_reads_c(const GpuPlan *p) { return find(p, OP_LOAD_TILE); }

/* ---- one element ---- */

/* alpha * x. */
static const Value *scaled(Stmts *s, const Value *x)
{
    return value_call(s, "@mul", value_reg(s, "o.alpha"), x);
}

/* beta * c + x. */
static const Value *plus_c(Stmts *s, const Value *c, const Value *x)
{
    return value_call(s, "@madd", value_reg(s, "o.beta"), value_call(s, "@to_c", c), x);
}

const Value *gpu_element_op(const GpuPlan *p, Stmts *s, const Op *o, const Value *c, const Value *x)
{
    (void)p;
    switch (o->kind) {
    case OP_SCALE_TILE:
        return scaled(s, x);
    case OP_ADD_TILE:
        return c ? plus_c(s, c, x) : x;
    case OP_CONVERT_TILE:
        return value_call(s, "@from_c", x);
    default: /* what moves whole tiles */
        return x;
    }
}
