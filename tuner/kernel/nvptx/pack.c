/* Prints the helper kernels that copy operands into the workspace: the element size, the text nvptx/pack.cuh,
 * of windows nvptx/pack_window.cuh, and the kernel function. They may be dependent launches. */
#include "kernel/nvptx/pack.h"

#include "kernel/gpu/gpu.h"
#include "kernel/kernel.h"
#include "problem/pack.h"

_Static_assert(PACK_TILE_LINES == 64 && PACK_TILE_BYTES == 256, "pack.cuh has tiles of these sizes");
_Static_assert(PACK_PIECE_BYTES == 8, "pack_window.cuh has pieces of this size");
_Static_assert((int)PACK_GROUP == (int)KERNEL_HELPER_GROUP, "the launch has blocks of the kernel's threads");

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
    stmt_constant(&s, "int", "T_BYTES", bytes);
    stmt_file(&s, p.dialect->dependent);
    stmt_file(&s, window ? "nvptx/pack_window.cuh" : "nvptx/pack.cuh");
    gpu_put(&p, &s, &body);
    /* An occupancy of 6 work-groups per multiprocessor was the fastest on an H200 for 1,000 to 8,000 lines.
     */
    buf_printf(&body, "\nextern \"C\" __global__ void __launch_bounds__(%d%s)\n", KERNEL_HELPER_GROUP,
               bytes < 4 && !window ? ", 6" : "");
    buf_printf(&body, "%.*s(const %s a, const %s b)\n{\n    pack(a, b);\n}\n", STR_ARG(symbol),
               window ? "Pixels" : "Operand", window ? "Filter" : "Operand");
    buf_printf(&title, "%.*s for %s", STR_ARG(symbol), t->name);
    Err e = buf_check(&body);
    if (!e) e = gpu_finish(&p, buf_view(&title), buf_view(&body), out);
    buf_fini(&title);
    buf_fini(&body);
    return e;
}
