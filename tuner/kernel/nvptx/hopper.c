/* Lowers kernels that multiply by wgmma. It prints the constants, the instruction and the walk, which it
 * reads from the program that hopper_program.c's passes made, then the texts nvptx/text/hopper*.cuh, then the
 * kernel function. The arguments are Tensile's in the Source form, followed by tensor maps of A and B and,
 * with EngineStore, of C and D. */
#include "kernel/nvptx/hopper.h"

#include <string.h>

#include "kernel/nvptx/ring.h"
#include "problem/lines.h"
#include "problem/matrix_inst.h"

/* ---- numbers ---- */

/* Those of the instructions' texts. */
static void numbers(const GpuPlan *p, Stmts *s)
{
    gpu_heading(s, "---- numbers ----");
    stmt_constant(s, "int", "CONSUMERS", p->groups.consumers);
    stmt_constant(s, "int", "MULTICAST_WGS", hopper_sharing(p));
    stmt_constant(s, "int", "CLUSTER", hopper_sharing(p) * hopper_members(p));
    stmt_constant(s, "bool", "SWAP", p->matrix.swap);
    stmt_constant(s, "bool", "PAIR_BF16", p->dest.type == TYPE_B);
}

/* ---- the instruction ---- */

/* Words of X of a thread: 64 rows and 32 bytes of K. */
enum { ROW_WORDS = WGMMA_ROWS * 32 / 4 / WGMMA_LANES };

/* Appends the text of a wgmma.mma_async (PTX ISA 9.7.15.5). Its operands are the accumulators, X, the matrix
 * descriptor of Y, and scale-d, which is 0 to overwrite the accumulators; for floats imm-scale-a and
 * imm-scale-b; for 16-bit types tnsp-a and tnsp-b, 1 where K is strided. X is a matrix descriptor, or with
 * `rows` a list of registers. */
static void instruction_text(const GpuPlan *plan, const MatrixInst *in, int columns, int n, bool rows,
                             Buf *text)
{
    const GpuMatrix *mi = &plan->matrix;
    const bool x_k = !plan->op[mi->swap].tlu, y_k = !plan->op[!mi->swap].tlu;
    const int n_x = rows ? ROW_WORDS : 1;
    buf_printf(text, "{\\n\\t.reg .pred p;\\n\\tsetp.ne.b32 p, %%%d, 0;\\n\\t", n + n_x + 1);
    buf_printf(text, "wgmma.mma_async.sync.aligned.m%dn%dk%d.%s ", in->m, columns, mi->k, in->name);
    for (int i = 0; i < n; i++) buf_printf(text, "%s%%%d", i ? ", " : "{", i);
    buf_puts(text, "}, ");
    for (int i = 0; i < n_x; i++) buf_printf(text, "%s%%%d", !rows ? "" : i ? ", " : "{", n + i);
    buf_printf(text, "%s, %%%d, p", rows ? "}" : "", n + n_x);
    if (plan->acc.type != TYPE_I) buf_puts(text, ", 1, 1");
    if (plan->in.part_bytes == 2) buf_printf(text, ", %d, %d", !x_k, !y_k);
    buf_puts(text, ";\\n\\t}");
}

/* Adds the asm statement of that text, with n accumulators. */
static void instruction_asm(const GpuPlan *plan, const char *text, int n, bool rows, Stmts *s)
{
    enum { OPERANDS_MAX = WGMMA_ROWS * 256 / WGMMA_LANES + ROW_WORDS + 2 }; /* X, Y's descriptor, scale-d */
    const int n_x = rows ? ROW_WORDS : 1;
    AsmOperand operand[OPERANDS_MAX];
    for (int i = 0; i < n; i++)
        operand[i] =
            (AsmOperand){plan->acc.type == TYPE_I ? "+r" : "+f", value_at_i(s, value_reg(s, "d"), i)};
    for (int i = 0; i < n_x; i++)
        operand[n + i] = rows ? (AsmOperand){"r", value_at_i(s, value_reg(s, "x"), i)}
                              : (AsmOperand){"l", value_reg(s, "x")};
    operand[n + n_x] = (AsmOperand){"l", value_reg(s, "y")};
    operand[n + n_x + 1] = (AsmOperand){"r", value_reg(s, "add")};
    stmt_asm(
        s, (Asm){.text = text, .operand = operand, .n_outputs = n, .n_inputs = n_x + 2, .is_volatile = true});
}

/* Adds the function wgmma(). */
static void instruction_function(const GpuPlan *plan, const MatrixInst *in, int columns, bool rows, Stmts *s)
{
    const int n = WGMMA_ROWS * columns / WGMMA_LANES;
    Buf text;
    stmt_function(s, (Function){.name = "wgmma",
                                STMT_PARAMS({stmts_name(s, "g_TC (&d)[%d]", n), NULL},
                                            {rows ? stmts_name(s, "const unsigned (&x)[%d]", ROW_WORDS)
                                                  : "unsigned long long",
                                             rows ? NULL : "x"},
                                            {"unsigned long long", "y"}, {"int", "add"})});
    buf_init(&text);
    instruction_text(plan, in, columns, n, rows, &text);
    instruction_asm(plan, stmts_name(s, "%s", buf_cstr(&text)), n, rows, s);
    buf_fini(&text);
    stmt_end(s);
}

static int columns_of(const GpuPlan *plan) { return plan->matrix.swap ? plan->matrix.m : plan->matrix.n; }

static Err find_instruction(const GpuPlan *plan, const MatrixInst **in)
{
    const GpuMatrix *mi = &plan->matrix;
    const bool tf32 = plan->math == TYPE_X;
    const DataType x = tf32 ? TYPE_X : plan->op[mi->swap].type.type,
                   y = tf32 ? TYPE_X : plan->op[!mi->swap].type.type;
    *in = matrix_inst(plan->target, x, y, (const int32_t[]){mi->m, mi->n, mi->k, mi->b});
    if (!*in)
        FAIL(ERR_INPUT, "wgmma has no data types %s, %s", type_letter(plan->op[0].type.type),
             type_letter(plan->op[1].type.type));
    if (columns_of(plan) > 256) FAIL(ERR_INPUT, "wgmma has no %d columns, 256 at most", columns_of(plan));
    return ERR_OK;
}

/* ---- the kernel ---- */

static void kernel_head(const GpuPlan *plan, Str symbol, Buf *out)
{
    const GpuWarpGroups *g = &plan->groups;
    int parts = plan->walk.members > 1 ? plan->walk.members : 1;
    int cluster = g->cluster[0] * g->cluster[1] * parts, n_maps = g->engine_store ? 4 : 2;
    plan->dialect->lds_file(plan, symbol, out);
    /* One block per multiprocessor: the compiler may use all registers, which setmaxnreg then divides among
     * the warp groups. */
    buf_printf(out, "extern \"C\" __global__ void __launch_bounds__(%d, 1) ", plan->n_threads);
    if (cluster > 1) buf_printf(out, "__cluster_dims__(%d, 1, 1) ", cluster);
    buf_printf(out, "%.*s(", STR_ARG(symbol));
    for (int i = 0; i < plan->n_args; i++) buf_printf(out, "%s %s, ", plan->arg[i].type, plan->arg[i].name);
    for (int i = 0; i < n_maps; i++)
        buf_printf(out, "%sconst __grid_constant__ Map map_%c", i ? ", " : "\n    ", 'a' + i);
    buf_puts(out, ")\n{\n");
    plan->dialect->lds_body(plan, out);
}

static const Value *or_number(Stmts *s, bool is, const char *name, const char *number)
{
    return value_reg(s, is ? name : number);
}

/* Names of the strides of D and C: between columns, and between matrices of the batch. */
typedef struct {
    const char *ld[2], *batch[2];
} ResultStrides;

static const Value *args_of(const GpuPlan *p, Stmts *s, const ResultStrides *to, const char *k)
{
    const Value *alpha = value_call(s, "g_from_s", value_reg(s, "alpha"));
    const Value *beta = value_call(s, "g_from_s", value_reg(s, "beta"));
    return value_list(s, value_reg(s, "d"), value_reg(s, "c"), alpha, p->use_beta ? beta : value_int(s, 0),
                      value_reg(s, to->ld[0]), or_number(s, p->batched, to->batch[0], "0"),
                      value_reg(s, to->ld[1]), or_number(s, p->batched, to->batch[1], "0"),
                      value_reg(s, "size_m"), value_reg(s, "size_n"),
                      or_number(s, p->batched, "size_batch", "1"), value_reg(s, k), value_reg(s, "tiles_m"),
                      value_reg(s, "tiles_n"), or_number(s, p->walk.staggers, "stagger_mask", "0"),
                      or_number(s, p->partial_sums, "sums", "0"), or_number(s, p->partial_sums, "flags", "0"),
                      or_number(s, p->walk.mapping_words, "mapping", "0"),
                      or_number(s, p->walk.mapping_words, "mapping_chunk", "0"));
}

static const Value *size_of(Stmts *s, int32_t index) { return value_named(s, "size_%d", index); }

static const Value *product(Stmts *s, const Value *x, const int32_t index[WINDOW_SPATIAL])
{
    for (int d = 0; d < WINDOW_SPATIAL; d++) {
        const Value *size = size_of(s, index[d]);
        x = x ? value_op(s, VALUE_MUL, x, size) : size;
    }
    return x;
}

/* Taps, counted in those of a stage or of a tile. */
static const Value *tiles_of_taps(const GpuPlan *p, Stmts *s, const Value *taps)
{
    return hopper_taps(p) > 1 ? value_op(s, VALUE_DIV, taps, value_int(s, hopper_taps(p))) : taps;
}

static const Value *stages_of(const GpuPlan *p, const Window *w, Stmts *s, const Value *chunks)
{
    return value_op(s, VALUE_MUL, chunks, tiles_of_taps(p, s, product(s, NULL, w->tap)));
}

/* Rows of D, in whole tiles where those of several taps follow one another. */
static const Value *rows_of_taps(const GpuPlan *p, Stmts *s, const Value *channels)
{
    const int of_tile = hopper_side(p, 0);
    if (!hopper_taps_are_rows(p)) return channels;
    const Value *past = value_op(s, VALUE_ADD, channels, value_int(s, of_tile - 1));
    return value_op(s, VALUE_MUL, value_op(s, VALUE_DIV, past, value_int(s, of_tile)),
                    value_int(s, p->mt[0]));
}

/* The sizes of the matrices that are multiplied. Sliding windows sum over whole chunks of channels for each
 * tap. */
static void window_sizes(const GpuPlan *p, const Window *w, Stmts *s)
{
    const Value *depth = value_int(s, p->depth_u), *channels = size_of(s, w->channel),
                *row = size_of(s, w->row);
    const Value *past = value_op(s, VALUE_SUB, value_op(s, VALUE_ADD, channels, depth), value_int(s, 1));
    const Value *chunks = stmt_define(s, "unsigned", "chunks", value_op(s, VALUE_DIV, past, depth));
    const Value *taps = product(s, NULL, w->tap), *outs = product(s, NULL, w->out);
    const Value *image = w->image < 0 ? NULL : size_of(s, w->image);
    const Value *all = image && !w->image_in_batch ? product(s, image, w->out) : outs;
    const Value *one = w->group < 0 ? value_int(s, 1) : size_of(s, w->group);
    stmt_define(s, "unsigned", "size_m", w->per_tap ? rows_of_taps(p, s, channels) : row);
    stmt_define(s, "unsigned", "size_n", w->per_tap ? row : all);
    if (w->per_tap)
        one = w->group < 0 ? tiles_of_taps(p, s, taps) : value_op(s, VALUE_MUL, taps, one);
    else if (w->image_in_batch)
        one = image;
    stmt_define(s, "unsigned", "size_batch", one);
    stmt_define(s, "unsigned", "size_k",
                w->per_tap ? all : value_op(s, VALUE_MUL, stages_of(p, w, s, chunks), depth));
}

/* The arguments of windows (hopper_produce.c). Rows, columns and the batch of D have one stride each, which
 * the launch has checked, unless results are placed. */
static Err window_args(const GpuPlan *p, Stmts *s)
{
    static const ResultStrides sliding = {{"stride_d1", "stride_c1"}, {"0", "0"}},
                               images = {{"stride_d1", "stride_c1"}, {"stride_d3", "stride_c3"}},
                               groups = {{"stride_d2", "stride_c2"}, {"stride_d1", "stride_c1"}},
                               per_tap = {{"stride_d3", "stride_c3"}, {"stride_d1", "stride_c1"}};
    static const char *const along[] = {"step", "lower", "dilation"};
    enum { ARGS_MAX = 96 };
    Window w;
    const Value *x[ARGS_MAX];
    const char *const *place;
    int n = 0;
    TRY(hopper_window(p, &w));
    window_sizes(p, &w, s);
    const ResultStrides *strides = w.per_tap          ? &per_tap
                                   : w.group >= 0     ? &groups
                                   : w.image_in_batch ? &images
                                                      : &sliding;
    x[n++] = args_of(p, s, strides, "size_k");
    for (int32_t i = 0; i < p->indices->n; i++) x[n++] = size_of(s, i);
    for (int t = 2; t < 4; t++)
        for (int32_t i = 1; i < p->indices->tensor[t].n; i++)
            x[n++] = value_named(s, "stride_%c%d", "abcd"[t], (int)i);
    for (int d = 0; d < WINDOW_SPATIAL; d++)
        for (int i = 0; i < 3; i++) x[n++] = value_named(s, "%s_%c", along[i], "wh"[d]);
    x[n++] = value_reg(s, "chunks");
    const int n_place = window_place_names(&w, gpu_stores_elements(p), &place);
    for (int i = 0; i < n_place; i++) x[n++] = value_reg(s, place[i]);
    if (hopper_taps_slide(p)) x[n++] = value_reg(s, "line_outs");
    if (p->groups.line_pixels) {
        x[n++] = value_named(s, "%c", "ab"[w.pixels]);
        for (int i = 0; i < LINE_ARGS; i++) x[n++] = value_reg(s, line_arg_names[i]);
    }
    for (int t = 0; t < 2 && p->groups.mends; t++) {
        x[n++] = value_named(s, "%c", "ab"[t]);
        for (int32_t i = 1; i < p->indices->tensor[t].n; i++)
            x[n++] = value_named(s, "stride_%c%d", "ab"[t], (int)i);
        for (int32_t i = 0; i < 2 * p->indices->n_pads[t]; i++)
            x[n++] = value_named(s, "pad_%s_%c%d", i % 2 ? "end" : "start", "ab"[t], (int)i / 2);
    }
    stmt_var(s, "WindowArgs", "args", value_list_n(s, n, x));
    return ERR_OK;
}

static Err kernel(const GpuPlan *p, Stmts *s)
{
    static const char *const map[] = {"map_a", "map_b", "map_c", "map_d"};
    static const ResultStrides matrices = {{"ldd", "ldc"}, {"batch_d", "batch_c"}};
    const int from =
        p->groups.engine_store
            ? 2
            : 0; /* without EngineStore the maps of C and D are unused, and A's and B's take their places */
    if (p->indices)
        TRY(window_args(p, s));
    else
        stmt_var(s, "Args", "args", args_of(p, s, &matrices, "size_k"));
    gpu_set_ops(p, s, "args.ops");
    stmt_call(s, "gemm", value_reg(s, "lds"), value_reg(s, "args"), value_reg(s, map[0]),
              value_reg(s, map[1]), value_reg(s, map[from]), value_reg(s, map[from + 1]));
    return ERR_OK;
}

/* Addresses of C and D, which are matrices in any case. */
static void addresses(const GpuPlan *p, Stmts *s)
{
    View view[2];
    GpuPlan of_matrices = *p;
    for (int i = 0; i < 2 && p->indices; i++) {
        program_view(&view[i], 2 + i, false);
        of_matrices.view[2 + i] = &view[i];
    }
    nvptx_addresses(&of_matrices, s);
}

Err hopper_lower(const Program *program, Str symbol, Buf *out)
{
    const GpuPlan *p = program->gpu;
    const StageRing ring = {.n_stages = p->groups.stages, .has_phase = true};
    const MatrixInst *in;
    Produced produced;
    int arrivals = 0;
    Buf body;
    Stmts s;
    TRY(find_instruction(p, &in));
    TRY(hopper_memory_check(p));
    buf_init(&body);
    stmts_init(&s, GPU_STMTS_BYTES);
    p->dialect->prelude(p, &body);
    gpu_types(p, &body);
    numbers(p, &s);
    stmt_gap(&s);
    instruction_function(p, in, columns_of(p), p->groups.rows_from_registers, &s);
    hopper_walk(p, &s);
    gpu_heading(&s, "---- the epilogue ----");
    addresses(p, &s);
    gpu_ops(p, &s);
    stmt_file(&s, "nvptx/hopper.cuh");
    hopper_memory_put(p, &ring, &s);
    hopper_tiles(p, &s);
    Err e = hopper_produce(p, &ring, &s, &produced);
    if (!e) e = hopper_consume(p, in, &ring, &produced, &s, &arrivals);
    if (!e) e = hopper_roles(p, arrivals, &s);
    gpu_put(p, &s, &body);
    kernel_head(p, symbol, &body);
    stmts_init(&s, GPU_STMTS_BYTES);
    if (!e) e = kernel(p, &s);
    if (!e) e = stmt_print(&s, p->dialect->words, 1, &body);
    stmts_fini(&s);
    buf_puts(&body, "}\n");
    if (!e) e = gpu_finish_program(program, symbol, buf_view(&body), out);
    buf_fini(&body);
    return e;
}
