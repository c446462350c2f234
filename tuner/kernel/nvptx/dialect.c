/* What CUDA C++ on nvptx calls things (GpuDialect, kernel/gpu/gpu.h), and which modules a kernel gets there.
 */
#include "kernel/gpu/gpu.h"

static Err choose(GpuPlan *p, const GpuCompute **compute, const GpuCopy **copy)
{
    (void)compute, (void)copy;
    FAIL(ERR_INPUT, "kernels of %s (nvptx) cannot be generated yet", p->target->name);
}

const GpuDialect dialect_nvptx = {.language = "CUDA C++", .static_lds = 49152, .choose = choose};
