/* The HIP C++ dialect of GPU kernels (GpuDialect, kernel/gpu/gpu.h), and the choice of a kernel's modules. */
#include "kernel/amdgcn/amdgcn.h"
#include "kernel/gpu/gather.h"
#include "kernel/gpu/loads.h"
#include "kernel/text.h"

void amdgcn_print(const GpuPlan *p, void (*make)(const GpuPlan *p, Stmts *s), Buf *out)
{
    Stmts s;
    stmts_init(&s, GPU_STMTS_BYTES);
    make(p, &s);
    gpu_put(p, &s, out);
}

/* Returns the text of the dot product of signed bytes, which gfx906 and later have under two names. */
static const char *dot4(const Target *t)
{
    const int major = t->isa[0], minor = t->isa[1], step = t->isa[2];
    if (major >= 11) return "amdgcn/dot4_sudot.hip";
    if ((major == 9 && (minor > 0 || step >= 6)) ||
        (major == 10 && (minor == 3 || (minor == 1 && step >= 1))))
        return "amdgcn/dot4_sdot.hip";
    return "amdgcn/dot4_products.hip";
}

/* Prints a comment with the layout of local memory and its bank conflicts. */
static void layout_remark(const GpuPlan *p, Buf *out)
{
    for (int i = 0; i < 2; i++) {
        const GpuOperand *x = &p->op[i];
        const char operand = i ? 'B' : 'A', *free = i ? "N" : "M";
        const Layout *l = &x->layout;
        if (x->in_registers) {
            buf_printf(out, "/* %c is loaded into the fragments of a chunk, not through local memory */\n",
                       operand);
            continue;
        }
        buf_printf(out, "/* %c in local memory: lines of %d elements along %s, %d bytes apart", operand,
                   gpu_line_length(p, x), x->k_major ? "K" : free, l->line * l->bytes);
        if (l->xor_mask)
            buf_printf(out, ", piece c of line l at c ^ (l / %d & %d)", l->xor_lines, l->xor_mask);
        else if (l->block)
            buf_printf(out, ", %d bytes more after %d lines", l->pad * l->bytes, l->block / l->line);
        buf_printf(out, "; bank conflicts: reads %d, writes %d */\n", amdgcn_conflicts(p, i, false),
                   amdgcn_conflicts(p, i, true));
    }
}

static void prelude_head(const GpuPlan *p, Stmts *s)
{
    /* the compiler gets more options for texts with this comment (build/toolchain_rows.c) */
    if (amdgcn_sums_in_agprs(p)) stmt_comment(s, "sums fill the accumulation registers");
    stmt_constant(s, "unsigned", "@THREADS", p->n_threads > 0 ? p->n_threads : 256);
    stmt_file(s, "amdgcn/prelude.hip");
    stmt_file(s, p->target->isa[0] >= 12 ? "amdgcn/barrier_split.hip" : "amdgcn/barrier.hip");
    stmt_file(s, "amdgcn/floats.hip");
    stmt_file(s, dot4(p->target));
}

static void prelude(const GpuPlan *p, Buf *out)
{
    amdgcn_print(p, prelude_head, out);
    gpu_small_floats(p, out);
    kernel_text_put("amdgcn/memory.hip", out);
    if (p->main) amdgcn_print(p, amdgcn_raw_buffers, out);
    if (p->main) layout_remark(p, out);
}

static void vector(const char *name, const char *part, int part_bytes, int n, Buf *out)
{
    Stmts s;
    stmts_init(&s, GPU_STMTS_BYTES);
    const char *packed = stmts_name(&s, "%su", name);
    if (n > 1 && (n & (n - 1)) == 0) {
        stmt_typedef(&s, part, name, stmts_name(&s, "__attribute__((ext_vector_type(%d)))", n));
        stmt_typedef(&s, name, packed, stmts_name(&s, "__attribute__((aligned(%d)))", part_bytes));
    } else {
        stmt_typedef(&s, stmts_name(&s, "@VectorOf<%s, %d, %d>", part, n, part_bytes), name, NULL);
        stmt_typedef(&s, name, packed, NULL);
    }
    if (stmt_print(&s, dialect_amdgcn.words, 0, out)) out->failed = true;
    stmts_fini(&s);
}

static void kernel_head(const GpuPlan *p, Str symbol, int threads, Buf *out)
{
    buf_printf(out, "extern \"C\" __attribute__((global, amdgpu_flat_work_group_size(%d, %d)", threads,
               threads);
    if (p->compute == &amdgcn_matrix && matrix_fits_half(p)) buf_puts(out, ", amdgpu_waves_per_eu(2, 2)");
    buf_printf(out, "))\nvoid %.*s(", STR_ARG(symbol));
}

static void lds_file(const GpuPlan *p, Str symbol, Buf *out) { (void)p, (void)symbol, (void)out; }

static void lds_body(const GpuPlan *p, Buf *out)
{
    buf_printf(out, "    __attribute__((shared, aligned(16))) static char lds[%d];\n", p->lds_bytes);
}

static Err choose(GpuPlan *p, const GpuCompute **compute, const GpuCopy **copy)
{
    bool across = false; /* loads leave an operand in local memory as it is in memory, across K */
    for (int i = 0; i < 2; i++) across |= p->op[i].to_local && p->op[i].tlu;
    *compute = p->matrix.used ? &amdgcn_matrix : dot_applies(p) && !across ? &amdgcn_dot : &gpu_valu;
    bool whole = true; /* each thread loads elements of the tile alone */
    for (int i = 0; i < 2; i++)
        whole &= !p->op[i].fractional || p->op[i].parts > 1 || p->op[i].in_registers;
    *copy = (p->buffer_load || gpu_any_in_registers(p)) && whole ? &amdgcn_buffer : &gpu_copy_register;
    if (p->indices) *copy = &gpu_copy_gather;
    if (gpu_any_to_local(p) && (*copy != &amdgcn_buffer || !p->buffer_load))
        FAIL(ERR_INPUT, "DirectToLds of %c needs BufferLoad, and loads of whole tiles",
             p->op[0].to_local ? 'A' : 'B');
    return ERR_OK;
}

const GpuDialect dialect_amdgcn = {.language = "HIP C++",
                                   .separates_threads = true,
                                   .divides_chunks = true,
                                   .words = &stmt_words_hip,
                                   .static_lds = 65536,
                                   .as_float = "__builtin_bit_cast(float, ",
                                   .as_bits = "__builtin_bit_cast(unsigned, ",
                                   .exp = {"__builtin_expf", "__builtin_exp"},
                                   .aligned_loads = false,
                                   .steps_per_fence = 16,
                                   .prelude = prelude,
                                   .vector = vector,
                                   .kernel_head = kernel_head,
                                   .lds_file = lds_file,
                                   .lds_body = lds_body,
                                   .finish = amdgcn_finish,
                                   .parts = "amdgcn/parts.hip",
                                   .pads = amdgcn_valu_pads,
                                   .choose = choose};
