/* The CUDA C++ dialect of GPU kernels (GpuDialect, kernel/gpu/gpu.h), and the choice of a kernel's compute
 * and copy modules. */
#include "kernel/nvptx/hint.h"
#include "kernel/gpu/gather.h"
#include "kernel/nvptx/ring.h"
#include "kernel/text.h"

static void prelude(const GpuPlan *p, Buf *out)
{
    Stmts s;
    kernel_text_put("nvptx/prelude.cuh", out);
    gpu_small_floats(p, out);
    stmts_init(&s, GPU_STMTS_BYTES);
    nvptx_hints(p, &s);
    gpu_put(p, &s, out);
}

/* Adds operator[] of a vector, for constant or for modifiable vectors. */
static void element(Stmts *s, const char *part, bool is_const)
{
    const char *result = stmts_name(s, is_const ? "__device__ const %s &" : "__device__ %s &", part);
    stmt_function(s, (Function){.kind = FUNCTION_EXPORTED,
                                .result = result,
                                .name = "operator[]",
                                .qualifier = is_const ? "const" : NULL,
                                STMT_PARAMS({"int", "i"})});
    stmt_return(s, value_reg(s, "v[i]"));
    stmt_end(s);
}

static void vector(const char *name, const char *part, int part_bytes, int n, Buf *out)
{
    int align = (n & (n - 1)) == 0 ? part_bytes * n : part_bytes;
    if (align > 16) align = 16;
    Stmts s;
    stmts_init(&s, GPU_STMTS_BYTES);
    stmt_struct(&s, name, align);
    stmt_array(&s, part, "v", DIMS(n));
    element(&s, part, false);
    element(&s, part, true);
    stmt_end(&s);
    stmt_typedef(&s, name, stmts_name(&s, "%su", name), NULL);
    if (stmt_print(&s, &stmt_words_cuda, 0, out)) out->failed = true;
    stmts_fini(&s);
}

static void kernel_head(const GpuPlan *p, Str symbol, int threads, Buf *out)
{
    int blocks = p->ring.used ? p->ring.blocks : 0;
    buf_printf(out, "extern \"C\" __global__ void __launch_bounds__(%d", threads);
    if (blocks > 1) buf_printf(out, ", %d", blocks);
    buf_printf(out, ")\n%.*s(", STR_ARG(symbol));
}

static void lds_file(const GpuPlan *p, Str symbol, Buf *out)
{
    if (p->lds_bytes <= p->dialect->static_lds) return;
    buf_printf(out, "extern \"C\" __device__ const unsigned %.*s_dynamic_lds = %d;\n", STR_ARG(symbol),
               p->lds_bytes);
    buf_puts(out, "extern __shared__ __align__(16) char @dynamic_lds[];\n");
}

static void lds_body(const GpuPlan *p, Buf *out)
{
    if (p->lds_bytes <= p->dialect->static_lds)
        buf_printf(out, "    __shared__ __align__(16) char lds[%d];\n", p->lds_bytes);
    else
        buf_puts(out, "    char *lds = @dynamic_lds;\n");
}

static Err choose(GpuPlan *p, const GpuCompute **compute, const GpuCopy **copy)
{
    if (p->ring.used) {
        *compute = p->matrix.used ? &ring_mma : &ring_simt;
        *copy = &ring_copy;
        return ERR_OK;
    }
    if (p->matrix.used) FAIL(ERR_INPUT, "matrix instructions of %s cannot be generated yet", p->target->name);
    *compute = &gpu_valu;
    *copy = p->indices ? &gpu_copy_gather : &gpu_copy_register;
    return ERR_OK;
}

/* e4m3.cuh converts exactly, because f16 contains all values of e4m3. The conversion to e4m3 does not use
 * cvt, whose mandatory .satfinite converts infinities to the largest number (PTX ISA, cvt); the result must
 * be NaN. */
const GpuDialect dialect_nvptx = {.language = "CUDA C++",
                                  .words = &stmt_words_cuda,
                                  .static_lds = 49152,
                                  .dynamic_lds = true,
                                  .aligned_loads = true,
                                  .hint_levels = true,
                                  .as_float = "__uint_as_float(",
                                  .as_bits = "__float_as_uint(",
                                  .exp = {"expf", "exp"},
                                  .fast_tanh = "nvptx/tanh.cuh",
                                  .e4m3_to_f = "nvptx/e4m3.cuh",
                                  .prelude = prelude,
                                  .parts = "nvptx/parts.cuh",
                                  .dependent = "nvptx/dependent.cuh",
                                  .parts_ahead = 8,
                                  .vector = vector,
                                  .kernel_head = kernel_head,
                                  .lds_file = lds_file,
                                  .lds_body = lds_body,
                                  .choose = choose};
