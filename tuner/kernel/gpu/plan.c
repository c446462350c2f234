/* The rest of a GpuPlan, from its numbers: modules, layouts of local memory, arguments. The numbers come from
 * kernel/plan_gpu.c.
 */
#include "base/integer.h"
#include "kernel/gpu/gpu.h"
#include "kernel/gpu/loads.h"

GpuType gpu_type(DataType type)
{
    switch (type) {
    case TYPE_S:
        return (GpuType){type, "float", 4, 1};
    case TYPE_D:
        return (GpuType){type, "double", 8, 1};
    case TYPE_C:
        return (GpuType){type, "float", 4, 2};
    case TYPE_Z:
        return (GpuType){type, "double", 8, 2};
    case TYPE_H:
    case TYPE_B:
        return (GpuType){type, "unsigned short", 2, 1};
    case TYPE_I8:
        return (GpuType){type, "signed char", 1, 1};
    case TYPE_F8:
    case TYPE_B8:
    case TYPE_F8B8: /* A's and B's own types: GpuOperand.type */
    case TYPE_B8F8:
        return (GpuType){type, "unsigned char", 1, 1};
    case TYPE_4XI8:
    case TYPE_I:
        return (GpuType){type, "int", 4, 1};
    default:
        return (GpuType){type, NULL, 0, 0};
    }
}

/* Padding as the parameters say, where no module has chosen a layout. */
static void layout_as_asked(const GpuPlan *p, GpuOperand *x)
{
    if (x->layout.line || x->in_registers) return;
    x->layout = (Layout){.bytes = gpu_type_bytes(&x->type), .line = gpu_line_length(p, x)};
    if (x->pad_block)
        x->layout.block = x->pad_block, x->layout.pad = x->pad;
    else
        x->layout.line += x->pad;
}

/* Loads that write local memory themselves need a stage for each chunk under way, and one that is read. Of
 * two operands the one that goes through registers has one set of them. */
static Err stages_to_local(GpuPlan *p)
{
    enum { ALONE_MOST = 2 };
    if (!gpu_any_to_local(p) || p->ring.used) return ERR_OK;
    if (!gpu_all_to_local(p) && p->prefetch > ALONE_MOST)
        FAIL(ERR_INPUT, "DirectToLds of %c alone loads up to %d chunks ahead, not %d",
             p->op[0].to_local ? 'A' : 'B', ALONE_MOST, p->prefetch);
    p->n_stages = p->prefetch + 1, p->n_sets = 1;
    return ERR_OK;
}

/* Chooses the modules; which operands loads write to local memory themselves. */
static Err choose(GpuPlan *p)
{
    TRY(p->dialect->choose(p, &p->compute, &p->copy));
    if (gpu_any_in_registers(p) && !p->copy->to_registers)
        FAIL(ERR_INPUT, "DirectToVgpr of %c needs a matrix instruction, loads of whole tiles and a GEMM",
             p->op[0].in_registers ? 'A' : 'B');
    for (int i = 0; i < 2; i++) {
        p->op[i].to_local |= p->copy->async;
        p->op[i].layout.in_elements = p->compute->in_elements;
    }
    return ERR_OK;
}

/* Where A and B are in a stage, and how large all of it is. */
static void lay_out(GpuPlan *p)
{
    int at = 0;
    for (int i = 0; i < 2; i++) {
        GpuOperand *x = &p->op[i];
        if (x->in_registers) continue;
        x->lds_offset = at;
        x->lds_bytes = (int)layout_bytes(&x->layout, gpu_lines(p, x));
        at += (int)int_round_up(x->lds_bytes, 16);
    }
    p->stage_bytes = at;
    p->lds_bytes = at * p->n_stages;
    int sums = p->lsu > 1 ? p->mt[0] * p->mt[1] * p->lsu * gpu_type_bytes(&p->acc) : 0;
    if (sums > p->lds_bytes) p->lds_bytes = sums;
    if (p->lds_reserve > p->lds_bytes) p->lds_bytes = p->lds_reserve;
    if (p->lds_bytes < 16) p->lds_bytes = 16; /* the text has a name for it */
}

void gpu_plan_init(GpuPlan *p, const Target *t)
{
    static const GpuDialect *const dialects[] = {
        [TARGET_AMDGCN] = &dialect_amdgcn, [TARGET_NVPTX] = &dialect_nvptx};
    *p = (GpuPlan){.target = t, .dialect = dialects[t->family], .op = {{.name = 'a'}, {.name = 'b'}}};
}

Err gpu_plan_modules(GpuPlan *p)
{
    for (int i = 0; i < 2; i++) p->op[i].layout.bytes = gpu_type_bytes(&p->op[i].type);
    p->main = true;
    if (!p->groups.used && !p->direct) TRY(choose(p));
    return gpu_args(p);
}

bool gpu_can_prefetch(const GpuPlan *p)
{
    const bool shares_memory = p->partial_sums && gpu_any_to_local(p) && !p->ring.used;
    return p->walk.persistent && !p->walk.stream_k && p->prefetch > 0 && !shares_memory && !p->groups.used;
}

Err gpu_plan_finish(GpuPlan *p)
{
    TRY(choose(p));
    TRY(stages_to_local(p));
    if (gpu_all_in_registers(p)) p->n_stages = 1;
    TRY(p->compute->plan(p));
    TRY(p->copy->plan(p));
    if (p->store_width > p->acc_run) p->store_width = p->acc_run;
    while (p->acc_run % p->store_width) p->store_width--;
    for (int i = 0; i < 2 && !p->ring.used; i++) layout_as_asked(p, &p->op[i]);
    if (p->dialect->pads) p->dialect->pads(p);
    for (int i = 0; i < 2; i++) p->op[i].layout.in_elements = p->compute->in_elements;
    if (!p->ring.used) {
        lay_out(p);
        if (p->copy->check) TRY(p->copy->check(p));
    }
    if (p->lds_bytes > p->target->lds_bytes && p->lds_bytes > p->dialect->static_lds &&
        !p->dialect->dynamic_lds)
        FAIL(ERR_INPUT, "local memory of %d bytes is more than the %d of %s", p->lds_bytes,
             p->target->lds_bytes, p->target->name);
    return gpu_args(p);
}
