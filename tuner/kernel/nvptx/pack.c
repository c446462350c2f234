/* Prints the helper kernels that copy operands into the workspace: their statements (pack_text.c; of windows
 * pack_window.c) and the kernel function. They may be dependent launches. */
#include "kernel/nvptx/pack.h"

#include "kernel/gpu/gpu.h"
#include "kernel/kernel.h"
#include "problem/pack.h"

_Static_assert((int)PACK_GROUP == (int)KERNEL_HELPER_GROUP, "the launch has blocks of the kernel's threads");

void nvptx_pack_types(Stmts *s)
{
    stmt_typedef(s, "unsigned", "u32", NULL);
    stmt_typedef(s, "unsigned long long", "u64", NULL);
    stmt_typedef(s, "unsigned char", "u8", NULL);
}

void nvptx_pack_struct(Stmts *s, const char *name, const StmtParam *field, int n)
{
    stmt_struct(s, name, 0);
    for (int i = 0; i < n; i++) stmt_var(s, field[i].type, field[i].name, NULL);
    stmt_end(s);
}

Err nvptx_pack(const ProblemType *pt, const Target *t, Str symbol, Buf *out)
{
    const int bytes = pack_kernel_bytes(symbol.s, symbol.n);
    if (!bytes) FAIL(ERR_INPUT, "'%.*s' is no kernel that copies operands", STR_ARG(symbol));
    const bool window = pack_name_is_window(symbol.s, symbol.n);
    GpuPlan p;
    Buf body, title;
    Stmts s;
    TRY(gpu_plan_types(&p, pt, t));
    buf_init(&body);
    buf_init(&title);
    stmts_init(&s, GPU_STMTS_BYTES);
    p.dialect->prelude(&p, &body);
    stmt_file(&s, p.dialect->dependent);
    Err e = ERR_OK;
    if (window)
        nvptx_pack_window_text(&s, bytes);
    else
        e = nvptx_pack_text(&s, bytes);
    gpu_put(&p, &s, &body);
    /* An occupancy of 6 work-groups per multiprocessor was the fastest on an H200 for 1,000 to 8,000 lines.
     */
    buf_printf(&body, "\nextern \"C\" __global__ void __launch_bounds__(%d%s)\n", KERNEL_HELPER_GROUP,
               bytes < 4 && !window ? ", 6" : "");
    buf_printf(&body, "%.*s(const %s a, const %s b)\n{\n    pack(a, b);\n}\n", STR_ARG(symbol),
               window ? "Pixels" : "Operand", window ? "Filter" : "Operand");
    buf_printf(&title, "%.*s for %s", STR_ARG(symbol), t->name);
    if (!e) e = buf_check(&body);
    if (!e) e = gpu_finish(&p, buf_view(&title), buf_view(&body), out);
    buf_fini(&title);
    buf_fini(&body);
    return e;
}
