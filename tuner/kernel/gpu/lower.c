/* GPU lowering: plans a kernel, puts the pieces of its text together, names it and hashes it. */
#include "kernel/gpu/gpu.h"

const GpuCompute gpu_valu = {.name = "valu"};
const GpuCopy gpu_copy_register = {.name = "register"};

static Err cannot(const Target *t)
{
    FAIL(ERR_INPUT, "kernels of %s (%s) cannot be generated yet", t->name, target_family_name(t->family));
}

Err gpu_lower(const Program *program, Str symbol, Buf *out)
{
    (void)symbol, (void)out;
    return cannot(program->target);
}

Err gpu_beta_only(const ProblemType *pt, const Target *t, bool ga, Str symbol, Buf *out)
{
    (void)pt, (void)ga, (void)symbol, (void)out;
    return cannot(t);
}

Err gpu_post_gsu(const ProblemType *pt, const Target *t, Str symbol, Buf *out)
{
    (void)pt, (void)symbol, (void)out;
    return cannot(t);
}
