/* Arguments of a kernel, in the order and with the types of client/runtime/launch.c (tensile-formats 8.3):
 * the Source form, the Assembly form and the Assembly form with preloaded arguments. */
#include "kernel/gpu/gpu.h"

#include "kernel/contract.h"
#include "problem/keep.h"
#include "problem/lines.h"
#include "problem/window.h"

static Err add(GpuPlan *p, const char *type, const char *name, int bytes, int align)
{
    if (p->n_args == GPU_ARGS_MAX) FAIL(ERR_FAILED, "more than %d kernel arguments", GPU_ARGS_MAX);
    int at = (p->arg_bytes + align - 1) / align * align;
    p->arg[p->n_args++] = (GpuArg){type, name, bytes, align, at};
    p->arg_bytes = at + bytes;
    return ERR_OK;
}

static Err words(GpuPlan *p, const char *const *names, int n)
{
    for (int i = 0; i < n; i++) TRY(add(p, "unsigned", names[i], 4, 4));
    return ERR_OK;
}

static Err tensor_sizes(GpuPlan *p)
{
    TRY(add(p, "unsigned long long", "tensor_size_a", 8, 8));
    return add(p, "unsigned long long", "tensor_size_b", 8, 8);
}

static Err pointers(GpuPlan *p, const char *first, const char *second, bool results)
{
    bool tensor = p->strided || (results && p->workspace);
    const char *type = results  ? (tensor ? "@TD *" : "@TD *const *")
                       : tensor ? "const @T *"
                                : "const @T *const *";
    TRY(add(p, type, first, 8, 8));
    if (results) type = tensor ? "const @TD *" : "const @TD *const *";
    return add(p, type, second, 8, 8);
}

static Err offsets(GpuPlan *p)
{
    static const char *const names[] = {"offset_d", "offset_c", "offset_a", "offset_b"};
    for (int i = 0; i < 4 && !p->strided; i++) TRY(add(p, "unsigned long long", names[i], 8, 8));
    return ERR_OK;
}

/* Assembly kernels take half scalars twice, as both halves of a register. */
static Err scalar(GpuPlan *p, const char *name, const char *again)
{
    int bytes = gpu_type_bytes(&p->scalar);
    TRY(add(p, "@TS", name, bytes, p->scalar.part_bytes));
    if (p->scalar.type == TYPE_H && p->assembly) return add(p, "@TS", again, bytes, p->scalar.part_bytes);
    return ERR_OK;
}

static Err strides(GpuPlan *p, const char *ld, const char *batch)
{
    TRY(words(p, &ld, 1));
    return p->batched ? words(p, &batch, 1) : ERR_OK;
}

static Err sizes(GpuPlan *p)
{
    static const char *const mn[] = {"size_m", "size_n"}, *const batch = "size_batch";
    TRY(words(p, mn, 2));
    return p->batched ? words(p, &batch, 1) : ERR_OK;
}

/* Strides, sizes and pads of a contraction. */
static Err dims(GpuPlan *p)
{
    ContractArg arg[CONTRACT_ARGS_MAX];
    const int n = contract_args(p->indices, p->gsu > 1, arg);
    for (int i = 0; i < n; i++) TRY(add(p, arg[i].is_signed ? "int" : "unsigned", arg[i].name, 4, 4));
    return ERR_OK;
}

/* The work-group order (problem/mapping.h). */
static Err mapping(GpuPlan *p)
{
    static const char *const names[] = {"mapping", "mapping_chunk"};
    return p->walk.mapping_words ? words(p, names, 2) : ERR_OK;
}

/* The arguments after the sizes. */
static Err tail(GpuPlan *p)
{
    static const char *const stagger = "stagger_mask", *const tiles[] = {"tiles_m", "tiles_n"};
    static const char *const magic[] = {"magic_tiles_m", "shift_tiles_m", "n_groups"};
    static const char *const along[] = {"tiles_batch", "magic_tiles", "shift_tiles"};
    static const char *const stream[] = {"tile_chunks", "magic_chunks", "shift_chunks", "magic_tiles",
                                         "shift_tiles", "total_chunks", "share_chunks", "share_groups",
                                         "share_tiles", "longer_groups"};
    static const char *const wgm[] = {"full_blocks", "last_block", "magic_last_block"}, *const pad = "pad";
    if (p->walk.staggers) TRY(words(p, &stagger, 1));
    TRY(words(p, tiles, 2));
    if (!p->assembly) return mapping(p);
    if (p->walk.persistent) TRY(words(p, magic, p->walk.stream_k ? 2 : 3));
    if (p->walk.stream_k)
        TRY(words(p, stream, p->walk.stream_k > 1 ? 10 : 7));
    else if (p->walk.batch_in_id)
        TRY(words(p, along, 3));
    if (p->walk.mapping > 1 || p->walk.mapping < -1) TRY(words(p, wgm, 3));
    TRY(words(p, &pad, 1));
    return mapping(p);
}

static Err partial_sums(GpuPlan *p)
{
    if (!p->partial_sums) return ERR_OK;
    TRY(add(p, "@TC *", "sums", 8, 8));
    return add(p, "unsigned *", "flags", 8, 8);
}

static Err preloaded(GpuPlan *p)
{
    static const char *const k = "size_k";
    TRY(tensor_sizes(p));
    TRY(pointers(p, "a", "b", false));
    TRY(scalar(p, "alpha", "alpha_2"));
    TRY(strides(p, "lda", "batch_a"));
    TRY(strides(p, "ldb", "batch_b"));
    TRY(words(p, &k, 1));
    TRY(pointers(p, "d", "c", true));
    TRY(partial_sums(p));
    TRY(offsets(p));
    if (p->use_beta) TRY(scalar(p, "beta", "beta_2"));
    TRY(strides(p, "ldd", "batch_d"));
    TRY(strides(p, "ldc", "batch_c"));
    TRY(sizes(p));
    return tail(p);
}

Err gpu_fused_args(GpuPlan *p)
{
    static const char *const batch = "bias_batch", *const number[] = {"number_0", "number_1"};
    const char *const bias = p->fused.bias_type == p->scalar.type ? "const @TS *" : "const @TD *";
    for (int i = 0; i < FUSED_OPERANDS; i++)
        if (fused_has(&p->fused, (FusedOperand)i))
            TRY(add(p, i == FUSED_BIAS ? bias : "const @TS *", fused_name((FusedOperand)i), 8, 8));
    if (p->fused.bias && p->batched) TRY(words(p, &batch, 1));
    for (int i = 0; i < activation_numbers(p->fused.activation); i++)
        TRY(add(p, "@TS", number[i], gpu_type_bytes(&p->scalar), p->scalar.part_bytes));
    return ERR_OK;
}

static Err tensile(GpuPlan *p)
{
    static const char *const k = "size_k";
    if (p->assembly && p->preloads_args) return preloaded(p);
    if (p->assembly) TRY(tensor_sizes(p));
    TRY(pointers(p, "d", "c", true));
    const bool exchanged = p->indices && p->indices->exchanged;
    TRY(pointers(p, exchanged ? "b" : "a", exchanged ? "a" : "b", false));
    TRY(partial_sums(p));
    TRY(offsets(p));
    TRY(scalar(p, "alpha", "alpha_2"));
    if (p->use_beta) TRY(scalar(p, "beta", "beta_2"));
    if (p->indices) {
        TRY(dims(p));
        return tail(p);
    }
    TRY(strides(p, "ldd", "batch_d"));
    TRY(strides(p, "ldc", "batch_c"));
    TRY(strides(p, "lda", "batch_a"));
    TRY(strides(p, "ldb", "batch_b"));
    TRY(sizes(p));
    TRY(words(p, &k, 1));
    return tail(p);
}

/* The numbers of windows along W and H, and where their results belong (problem/window.h). */
static Err window(GpuPlan *p)
{
    static const char *const line_outs = "line_outs"; /* outputs of a line that there are (WindowTaps) */
    static const char *const along[] = {"step_w", "lower_w", "dilation_w", "step_h", "lower_h", "dilation_h"};
    Window w;
    const char *const *place;
    if (!p->indices || !p->groups.used || window_of(p->indices, &w)) return ERR_OK;
    for (size_t i = 0; i < sizeof along / sizeof *along; i++) TRY(add(p, "int", along[i], 4, 4));
    const int n = window_place_names(&w, gpu_stores_elements(p), &place);
    TRY(words(p, place, n));
    if (p->groups.window_taps > 1 && !w.per_tap) TRY(words(p, &line_outs, 1));
    return p->groups.line_pixels ? words(p, line_arg_names, LINE_ARGS) : ERR_OK;
}

Err gpu_args(GpuPlan *p)
{
    p->n_args = p->arg_bytes = 0;
    TRY(tensile(p));
    TRY(gpu_fused_args(p));
    if (p->ring.window_bytes) TRY(words(p, keep_arg_names, KEEP_ARGS));
    return window(p);
}
