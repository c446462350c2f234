/* What HIP C++ on amdgcn calls things (GpuDialect, kernel/gpu/gpu.h), and which modules a kernel gets there.
 */
#include "kernel/amdgcn/amdgcn.h"
#include "kernel/text.h"

void amdgcn_print(const GpuPlan *p, void (*make)(const GpuPlan *p, Stmts *s), Buf *out)
{
    Stmts s;
    stmts_init(&s, GPU_STMTS_BYTES);
    make(p, &s);
    if (stmt_print(&s, p->dialect->words, 0, out)) out->failed = true;
    stmts_fini(&s);
}

/* Local memory is waited for, global loads stay in flight; the clobber keeps the compiler's order. */
static const char *barrier_text(const Target *t)
{
    if (t->isa[0] >= 12)
        return "asm volatile(\"s_wait_dscnt 0x0\\n\\ts_barrier_signal -1\\n\\ts_barrier_wait -1\" ::: "
               "\"memory\");";
    return "asm volatile(\"s_waitcnt lgkmcnt(0)\\n\\ts_barrier\" ::: \"memory\");";
}

/* gfx906 and later have dot products of signed bytes, under two names. */
static void dot4(const Target *t, Buf *out)
{
    buf_puts(out, "@DEV int @dot4(int x, int y, int z)\n{\n");
    if (t->isa[0] >= 11)
        buf_puts(out, "    return __builtin_amdgcn_sudot4(true, x, true, y, z, false);\n}\n");
    else if ((t->isa[0] == 9 && (t->isa[1] > 0 || t->isa[2] >= 6)) || (t->isa[0] == 10 && t->isa[1] == 3) ||
             (t->isa[0] == 10 && t->isa[1] == 1 && t->isa[2] >= 1))
        buf_puts(out, "    return __builtin_amdgcn_sdot4(x, y, z, false);\n}\n");
    else
        buf_puts(out, "    for (int i = 0; i < 4; i++) z += __builtin_amdgcn_sbfe(x, i * 8, 8) * "
                      "__builtin_amdgcn_sbfe(y, i * 8, 8);\n"
                      "    asm(\"\" : \"+v\"(z)); /* sums of hundreds of products take compilers minutes to "
                      "reorder */\n"
                      "    return z;\n}\n");
}

/* How local memory is laid out, for readers and for counts over many kernels. */
static void layout_remark(const GpuPlan *p, Buf *out)
{
    for (int i = 0; i < 2; i++) {
        const GpuOperand *x = &p->op[i];
        const char operand = i ? 'B' : 'A', *free = i ? "N" : "M";
        const Layout *l = &x->layout;
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

static void prelude(const GpuPlan *p, Buf *out)
{
    buf_printf(
        out,
        "#define @DEV static inline __attribute__((device, always_inline))\n"
        "#define @UNROLL _Pragma(\"unroll\")\n"
        "#define @NOUNROLL _Pragma(\"nounroll\")\n"
        "@DEV unsigned @tid() { return __builtin_amdgcn_workitem_id_x(); }\n"
        "@DEV unsigned @group_x() { return __builtin_amdgcn_workgroup_id_x(); }\n"
        "@DEV unsigned @group_y() { return __builtin_amdgcn_workgroup_id_y(); }\n"
        "@DEV unsigned @group_z() { return __builtin_amdgcn_workgroup_id_z(); }\n"
        "@DEV unsigned @grid_x()\n{\n"
        "    return __builtin_amdgcn_grid_size_x() / %d;\n}\n"
        "@DEV unsigned @uniform(unsigned x)\n{\n"
        "    return (unsigned)__builtin_amdgcn_readfirstlane((int)x);\n}\n"
        "@DEV unsigned long long @uniform64(unsigned long long x)\n{\n"
        "    return (unsigned long long)@uniform((unsigned)(x >> 32)) << 32 | @uniform((unsigned)x);\n}\n",
        p->n_threads > 0 ? p->n_threads : 256);
    buf_printf(out, "@DEV void @barrier() { %s }\n", barrier_text(p->target));
    /* compilers do not move instructions over it; no instruction itself */
    buf_puts(out, "#if __has_builtin(__builtin_amdgcn_sched_barrier)\n"
                  "@DEV void @keep_order() { __builtin_amdgcn_sched_barrier(0); }\n#else\n"
                  "@DEV void @keep_order() {}\n#endif\n");
    kernel_text_put("amdgcn/floats.hip", out);
    dot4(p->target, out);
    gpu_small_floats(p, out);
    kernel_text_put("amdgcn/memory.hip", out);
    if (p->main) amdgcn_print(p, amdgcn_raw_buffers, out);
    if (p->main) layout_remark(p, out);
}

/* Vectors that the language has no type for, and those of one part, are structs. */
static void vector_struct(const char *name, const char *part, int part_bytes, int n, Buf *out)
{
    buf_printf(out,
               "struct __attribute__((aligned(%d))) %s {\n    %s v[%d];\n"
               "    __attribute__((device)) %s &operator[](int i) { return v[i]; }\n"
               "    __attribute__((device)) const %s &operator[](int i) const { return v[i]; }\n};\n"
               "typedef %s %su;\n",
               part_bytes, name, part, n, part, part, name, name);
    buf_printf(out,
               "@DEV %s @load_nt(const %s *p)\n{\n    %s r;\n"
               "    @UNROLL for (int i = 0; i < %d; i++) r.v[i] = __builtin_nontemporal_load(&p->v[i]);\n"
               "    return r;\n}\n"
               "@DEV void @store_nt(%s *p, %s x)\n{\n"
               "    @UNROLL for (int i = 0; i < %d; i++) __builtin_nontemporal_store(x.v[i], &p->v[i]);\n}\n",
               name, name, name, n, name, name, n);
}

static void vector(const char *name, const char *part, int part_bytes, int n, Buf *out)
{
    if (n > 1 && (n & (n - 1)) == 0)
        buf_printf(out,
                   "typedef %s %s __attribute__((ext_vector_type(%d)));\n"
                   "typedef %s %su __attribute__((aligned(%d)));\n",
                   part, name, n, name, name, part_bytes);
    else
        vector_struct(name, part, part_bytes, n, out);
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
    *compute = p->matrix.used ? &amdgcn_matrix : dot_applies(p) ? &amdgcn_dot : &gpu_valu;
    *copy =
        p->buffer_load && !p->op[0].fractional && !p->op[1].fractional ? &amdgcn_buffer : &gpu_copy_register;
    return ERR_OK;
}

const GpuDialect dialect_amdgcn = {.language = "HIP C++",
                                   .words = &stmt_words_hip,
                                   .static_lds = 65536,
                                   .as_float = "__builtin_bit_cast(float, ",
                                   .as_bits = "__builtin_bit_cast(unsigned, ",
                                   .aligned_loads = false,
                                   .mixed_steps = 16,
                                   .prelude = prelude,
                                   .vector = vector,
                                   .kernel_head = kernel_head,
                                   .lds_file = lds_file,
                                   .lds_body = lds_body,
                                   .finish = amdgcn_finish,
                                   .pads = amdgcn_valu_pads,
                                   .choose = choose};
