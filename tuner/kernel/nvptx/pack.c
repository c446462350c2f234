/* Prints the helper kernel that copies operands into the workspace: its statements (pack_text.c) and the
 * kernel function. It may be a dependent launch. */
#include "kernel/nvptx/pack.h"

#include "kernel/gpu/gpu.h"
#include "kernel/kernel.h"
#include "problem/pack.h"

Err nvptx_pack(const ProblemType *pt, const Target *t, Str symbol, Buf *out)
{
    const int bytes = pack_kernel_bytes(symbol.s, symbol.n);
    if (!bytes) FAIL(ERR_INPUT, "'%.*s' is no kernel that copies operands", STR_ARG(symbol));
    GpuPlan p;
    Buf body, title;
    Stmts s;
    TRY(gpu_plan_types(&p, pt, t));
    buf_init(&body);
    buf_init(&title);
    stmts_init(&s, GPU_STMTS_BYTES);
    p.dialect->prelude(&p, &body);
    stmt_file(&s, p.dialect->dependent);
    Err e = nvptx_pack_text(&s, bytes);
    gpu_put(&p, &s, &body);
    /* An occupancy of 6 work-groups per multiprocessor was the fastest on an H200 for 1,000 to 8,000 lines.
     */
    buf_printf(&body, "\nextern \"C\" __global__ void __launch_bounds__(%d%s)\n", KERNEL_HELPER_GROUP,
               bytes < 4 ? ", 6" : "");
    buf_printf(&body, "%.*s(const Operand a, const Operand b)\n{\n    pack(a, b);\n}\n", STR_ARG(symbol));
    buf_printf(&title, "%.*s for %s", STR_ARG(symbol), t->name);
    if (!e) e = buf_check(&body);
    if (!e) e = gpu_finish(&p, buf_view(&title), buf_view(&body), out);
    buf_fini(&title);
    buf_fini(&body);
    return e;
}
