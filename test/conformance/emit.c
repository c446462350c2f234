/* emit: writes the text of GPU kernels and the facts of their launches, for conformance tests that compile
 * and run them elsewhere (an emulator, a device).
 *
 *     emit LIST.yaml OUTDIR
 *
 * LIST.yaml: a list of maps. Either one solution:
 *     {name: k0, arch: gfx906, problem: {DataType: s, TransposeA: false}, solution: {DepthU: 16, ...},
 *      sizes: [[m, n, batch, k], [m, n, batch, k, ldd, ldc, lda, ldb]], scalars: [[1, 0], [2, [0.5, 2]]],
 *      cus: 4, full_tiles: 1}
 * (a size of a contraction is {sizes: [..], a: [strides], b: .., c: .., d: .., pads: [..]}, one of a
 * convolution {n: 2, c: 8, .., part: 0} with the letters of a Conv;
 * programs: DIR: where the solution's CustomKernelName is a file NAME.tile),
 * or solutions of a logic file: logic: FILE and, if not all, index: [positions], in place of problem and
 * solution; kernels are then NAME_<position>. scalars: alpha and beta of each size, a complex one as
 * [re, im].
 * Writes OUTDIR/NAME.hip or .cu (the main kernel and the helper kernels it needs; with apart: true those are
 * in files of their own, OUTDIR/ARCH_TYPES_SYMBOL.hip) and prints a line of JSON for each: name, arch, file,
 * symbol, tile, or why there is none (rule: the name of the one that rejected it); and per size the calls
 * with grid, group and argument bytes. Pointers in them are 0x7e50000000000000 + (0 d, 1 c, 2 a, 3 b, 4
 * workspace, from 5 on the operands of fused operations) << 40. The numbers of an activation are 1/4
 * and 3/2. Where pointers of a batch stand in an array, matrices begin 8, 16, 24 and 32 elements of D, C, A
 * and B behind them. Tensor maps are plain structures of the matrix that they describe (plain_map); a
 * size of which there can be none is "refused".
 */
#include <stdio.h>
#include <string.h>

#include "base/fs.h"
#include "base/vec.h"
#include "client/runtime/launch.h"
#include "client/worker/number.h"
#include "fmt/node.h"
#include "kernel/custom.h"
#include "kernel/helper.h"
#include "kernel/kernel.h"
#include "logic/derive.h"
#include "problem/conv.h"
#include "space/derive.h"
#include "space/naming.h"
#include "test/lib_solution.h"

enum { SIZES_MAX = 1000000 };

typedef struct {
    Arena a;
    const char *list, *dir;
    size_t n, n_failed;
} Emitter;

typedef struct {
    const Node *entry;
    const Target *target;
    Str name, symbol;
    const Solution *s;
    HelperKernel helper[HELPERS_MAX];
    size_t n_helpers;
    bool apart;
} Item;

/* ---- launches ---- */

static void lib_solution(const Item *it, LibSolution *out)
{
    lib_solution_of(it->s, it->symbol.s, out);
    for (size_t i = 0; i < it->n_helpers; i++) {
        const HelperKernel *h = &it->helper[i];
        if (h->kind == HELPER_BETA_ONLY)
            snprintf(out->beta_only, sizeof out->beta_only, "%.*s", STR_ARG(h->symbol));
        const char *suffix = h->kind == HELPER_POST_GSU ? strstr(h->symbol.s, "_PostGSU") : NULL;
        if (suffix)
            snprintf(out->post_gsu, sizeof out->post_gsu, "%.*s_PostGSU", (int)(suffix - h->symbol.s),
                     h->symbol.s);
    }
}

/* A number, or [re, im], as one value of type t. */
static void scalar(const Node *n, double otherwise, DataType t, unsigned char out[16])
{
    double v[2] = {otherwise, 0};
    const Node *part[2] = {n && n->kind == NODE_SEQ ? node_at(n, 0) : n,
                           n && n->kind == NODE_SEQ ? node_at(n, 1) : NULL};
    for (int i = 0; i < 2; i++)
        if (part[i]) (void)node_real(part[i], "emit", "scalar", &v[i]);
    memset(out, 0, 16);
    number_store(t == TYPE_B ? TYPE_S : t, out, 0, v[0], v[1]);
}

/* The list `key` of a size that is a map, at most n numbers. */
static Err numbers(const Emitter *e, const Node *size, const char *key, size_t n, int64_t *out)
{
    const Node *list = node_get(size, key);
    if (!list) return ERR_OK;
    TRY(node_seq(list, e->list, key, 0, n));
    for (size_t i = 0; i < list->n; i++) TRY(node_int(node_at(list, i), e->list, key, 0, INT32_MAX, &out[i]));
    return ERR_OK;
}

/* A contraction: {sizes: [..], a: [strides], b: .., c: .., d: .., pads: [start, end of A's pads ..]}. */
static Err general(Emitter *e, const Item *it, const Node *size, Contraction *p)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    int64_t pads[2 * TUPLE_MAX] = {0};
    IndexSizes *x = ARENA_NEW(&e->a, IndexSizes);
    TRY_ALLOC(x);
    *x = (IndexSizes){.size = {0}};
    TRY(indices_of_type(it->s->pt, 0, &x->indices));
    TRY(numbers(e, size, "sizes", INDEX_MAX, x->size));
    for (int t = 0; t < INDICES_TENSORS; t++) TRY(numbers(e, size, names[t], INDEX_MAX, x->stride[t]));
    TRY(numbers(e, size, "pads", 2 * TUPLE_MAX, pads));
    for (int i = 0; i < TUPLE_MAX; i++) x->pad_start[0][i] = pads[2 * i], x->pad_end[0][i] = pads[2 * i + 1];
    contraction_gemm(p, false, false, index_group_size(x, INDICES_M), index_group_size(x, INDICES_N),
                     index_group_size(x, INDICES_K), index_group_size(x, INDICES_BATCH));
    p->dims = x;
    return ERR_OK;
}

/* Part `part` of a convolution: what the launch needs, and as JSON the sizes, strides, pads and offsets. */
static Err convolution(Emitter *e, const Item *it, const Node *size, Contraction *p, Buf *out)
{
    static const int tensors[] = {LD_A, LD_B, LD_C, LD_D};
    static const char *const names[] = {"a", "b", "c", "d"};
    const ProblemType *pt = it->s->pt;
    ConvSize s;
    ConvPart *part = ARENA_NEW(&e->a, ConvPart);
    IndexSizes *x = ARENA_NEW(&e->a, IndexSizes);
    int64_t number = 0, n_parts;
    TRY_ALLOC(part && x);
    conv_size_init(&s);
    for (size_t i = 0; i < size->n; i++) {
        Str key;
        TRY(node_str(&size->item[2 * i], e->list, "size", &key));
        int64_t *field = str_eq_c(key, "part") ? &number : conv_size_field(&s, key);
        if (!field) FAIL(ERR_INPUT, "%s: unknown key '%.*s' of a convolution", e->list, STR_ARG(key));
        TRY(node_int(&size->item[2 * i + 1], e->list, "size", -1, INT32_MAX, field));
    }
    TRY(conv_n_parts(pt, &s, &n_parts));
    TRY(conv_part(pt, &s, number, part));
    part->size.extra = &part->extra;
    *x = (IndexSizes){.size = {0}};
    TRY(indices_of_type(pt, 0, &x->indices));
    memcpy(x->size, part->size.v, sizeof x->size);
    memcpy(x->pad_start, part->extra.pad_start, sizeof x->pad_start);
    memcpy(x->pad_end, part->extra.pad_end, sizeof x->pad_end);
    buf_printf(out, "\"parts\":%lld,\"zero\":%d,\"offset\":{", (long long)n_parts, part->zero);
    for (int t = 0; t < INDICES_TENSORS; t++) {
        (void)size_strides(pt, &part->size, tensors[t], x->stride[t]);
        buf_printf(out, "%s\"%s\":%lld", t ? "," : "", names[t], (long long)part->offset[tensors[t]]);
    }
    buf_putc(out, '}');
    contraction_gemm(p, false, false, index_group_size(x, INDICES_M), index_group_size(x, INDICES_N),
                     index_group_size(x, INDICES_K), index_group_size(x, INDICES_BATCH));
    p->dims = x;
    for (int t = 0; t < INDICES_TENSORS; t++) {
        const int64_t bytes =
            part->offset[tensors[t]] * type_bytes((DataType)(t < 2 ? pt->DataType : pt->DestDataType));
        p->unaligned |= (uint8_t)((bytes % 16 != 0) << t);
    }
    return ERR_OK;
}

static Err problem(Emitter *e, const Item *it, const Node *size, Contraction *p, Buf *out)
{
    const ProblemType *pt = it->s->pt;
    int64_t v[8];
    if (size->kind == NODE_MAP) {
        TRY(node_get(size, "n") ? convolution(e, it, size, p, out) : general(e, it, size, p));
        contraction_types(p, (unsigned)pt->DataType, (unsigned)pt->DataType, (unsigned)pt->DestDataType,
                          (unsigned)pt->DestDataType, (unsigned)pt->ComputeDataType);
        return ERR_OK;
    }
    TRY(node_seq(size, e->list, "size", 4, 8));
    for (size_t i = 0; i < size->n; i++)
        TRY(node_int(node_at(size, i), e->list, "size", 0, INT32_MAX, &v[i]));
    contraction_gemm(p, pt->TransposeA, pt->TransposeB, v[0], v[1], v[3], v[2]);
    int64_t wide_a = pt->TransposeA ? v[0] : v[3], wide_b = pt->TransposeB ? v[3] : v[1];
    if (size->n == 8)
        contraction_strides(p, v[6], v[7], v[5], v[4], v[6] * wide_a, v[7] * wide_b, v[5] * v[1],
                            v[4] * v[1]);
    p->batched = pt->NumIndicesC > 2;
    p->strided_batched = pt->StridedBatched;
    if (!pt->StridedBatched) p->a[2] = p->b[2] = p->c[2] = p->d[2] = 0;
    contraction_types(p, (unsigned)pt->DataType, (unsigned)pt->DataType, (unsigned)pt->DestDataType,
                      (unsigned)pt->DestDataType, (unsigned)pt->ComputeDataType);
    return ERR_OK;
}

static void *fake(unsigned which)
{
    return (void *)(uintptr_t)(UINT64_C(0x7e50000000000000) + ((uint64_t)which << 40));
}

/* Operands of fused operations; a bias has no gaps between the matrices of a batch. M are the rows of D. */
static void fused_inputs(const Item *it, const Contraction *p, LaunchInputs *in, unsigned char number[16])
{
    const Fused f = problem_fused(it->s->pt);
    const double numbers[] = {0.25, 1.5};
    for (int o = 0; o < FUSED_OPERANDS; o++) in->fused[o] = fake(5 + (unsigned)o);
    const bool exchanged = p->dims && indices_rows_of_b(&p->dims->indices);
    in->bias_batch = (f.bias == ALONG_N) != exchanged ? p->n : p->m;
    for (int i = 0; i < 2 && fused_any(&f); i++)
        number_store((DataType)it->s->pt->ComputeDataType, number, i, numbers[i], 0);
    in->activation = number;
}

/* Instead of a CUtensorMap: what it says, for tests that have no copy engine (nvptx/hopper.hpp reads it). */
static Err plain_map(void *ctx, const TensorMap *map, unsigned char out[TENSOR_MAP_BYTES])
{
    struct {
        uint64_t address, stride[MAP_DIMS - 1];
        uint32_t magic, size[MAP_DIMS];
        uint16_t box[MAP_DIMS], step[2], bytes, swizzle, rank, pixels;
        int16_t lower[2], upper[2];
    } m = {.address = map->address,
           .magic = 0x70616d74,
           .bytes = (uint16_t)type_bytes((DataType)map->type),
           .swizzle = (uint16_t)map->swizzle,
           .rank = (uint16_t)map->rank,
           .pixels = map->pixels};
    (void)ctx;
    _Static_assert(sizeof m <= TENSOR_MAP_BYTES, "a map's bytes");
    for (int d = 0; d < map->rank; d++) {
        m.size[d] = (uint32_t)map->size[d], m.box[d] = (uint16_t)map->box[d];
        if (d) m.stride[d - 1] = map->stride[d - 1];
    }
    for (int d = 0; d < 2; d++) {
        m.lower[d] = (int16_t)map->lower[d], m.upper[d] = (int16_t)map->upper[d];
        m.step[d] = (uint16_t)map->step[d];
    }
    memset(out, 0, TENSOR_MAP_BYTES);
    memcpy(out, &m, sizeof m);
    return ERR_OK;
}

static void strides_json(const char *name, const int64_t s[3], Buf *out)
{
    buf_printf(out, ",\"%s\":[%lld,%lld,%lld]", name, (long long)s[0], (long long)s[1], (long long)s[2]);
}

static void call_json(const KernelCall *call, Buf *out)
{
    static const char *const roles[] = {"main", "beta_only", "post_gsu", "streamk_init", "pack"};
    buf_printf(out, "{\"symbol\":\"%s\",\"role\":\"%s\",\"group\":%u,\"grid\":[%u,%u,%u],\"args\":\"",
               call->symbol, roles[call->role], call->work_group[0], call->num_work_groups[0],
               call->num_work_groups[1], call->num_work_groups[2]);
    for (uint32_t i = 0; i < call->n_arg_bytes; i++) buf_printf(out, "%02x", call->args[i]);
    buf_puts(out, "\"}");
}

static Err launch_json(Emitter *e, const Item *it, const Node *size, const Node *scalars, Buf *out)
{
    LibSolution lib;
    Contraction p;
    LaunchList list;
    int64_t cus = 4;
    unsigned char alpha[16], beta[16];
    DataType compute = (DataType)it->s->pt->ComputeDataType;
    lib_solution(it, &lib);
    const size_t opens = out->n;
    buf_putc(out, '{');
    TRY(problem(e, it, size, &p, out));
    if (node_get(it->entry, "cus")) TRY(node_int(node_get(it->entry, "cus"), e->list, "cus", 1, 4096, &cus));
    if (scalars) TRY(node_seq(scalars, e->list, "scalars", 2, 2));
    scalar(scalars ? node_at(scalars, 0) : NULL, 1, compute, alpha);
    scalar(scalars ? node_at(scalars, 1) : NULL, 0, compute, beta);
    LaunchInputs in = {.d = fake(0), .c = fake(1), .a = fake(2), .b = fake(3), .workspace = fake(4)};
    static const TensorMapEncoder maps = {plain_map, NULL};
    unsigned char number[16] = {0};
    fused_inputs(it, &p, &in, number);
    in.alpha = alpha, in.beta = beta, in.maps = &maps;
    static const unsigned char zeros[sizeof alpha];
    if (!memcmp(alpha, zeros, sizeof alpha)) p.alpha = SCALAR_ZERO;
    /* as applications' hosts do. Not for others, some of which divide by K's sizes before they look at K: on
     * a GPU a quotient without a meaning, which nothing uses, on a CPU a fault. */
    if (p.alpha == SCALAR_ZERO && lib.map.n_tensor_maps) p.k = 0;
    bool offsets = !it->s->pt->StridedBatched;
    if (offsets) in.offset_d = 8, in.offset_c = 16, in.offset_a = 24, in.offset_b = 32;
    LaunchHardware hw = {.n_cu = cus, .streamk_full_tiles_set = node_get(it->entry, "full_tiles") != NULL};
    if (hw.streamk_full_tiles_set)
        TRY(node_int(node_get(it->entry, "full_tiles"), e->list, "full_tiles", 0, 4096,
                     &hw.streamk_full_tiles));
    bool fits = tensor_maps_fit(&lib, &p);
    buf_printf(out, "%s\"size\":[%lld,%lld,%lld,%lld]", out->n > opens + 1 ? "," : "", (long long)p.m,
               (long long)p.n, (long long)p.batch, (long long)p.k);
    if (!fits) {
        buf_puts(out, ",\"refused\":\"tensor maps\",\"calls\":[]}");
        return ERR_OK;
    }
    TRY(launch_build(&p, &lib, &in, &hw, &list));
    if (offsets) buf_puts(out, ",\"offsets\":{\"d\":8,\"c\":16,\"a\":24,\"b\":32}");
    strides_json("a", p.a, out);
    strides_json("b", p.b, out);
    strides_json("c", p.c, out);
    strides_json("d", p.d, out);
    buf_printf(out, ",\"workspace\":%llu,\"calls\":[",
               (unsigned long long)launch_workspace_bytes(&p, &lib, &hw));
    for (uint32_t i = 0; i < list.n; i++) {
        if (i) buf_putc(out, ',');
        call_json(&list.call[i], out);
    }
    buf_puts(out, "]}");
    return ERR_OK;
}

/* ---- kernels ---- */

/* Replaces all of `from` by `to`, which is as long. */
static void exchange(Buf *text, const char *from, const char *to)
{
    for (char *at = text->n ? strstr(text->s, from) : NULL; at; at = strstr(at, from))
        memcpy(at, to, strlen(to));
}

/* The kernel of the solution's program with views of C and D that run along N. */
static Err text_along_n(Item *it, Buf *out)
{
    Buf program;
    buf_init(&program);
    Err e = kernel_dump(it->s, it->target, STR_NULL, &program);
    (void)buf_cstr(&program);
    exchange(&program, "m:size_m*1 n:size_n*stride_c1", "m:size_m*stride_c1 n:size_n*1");
    exchange(&program, "m:size_m*1 n:size_n*stride_d1", "m:size_m*stride_d1 n:size_n*1");
    if (!e) e = kernel_emit_text(buf_view(&program), "program", it->symbol, out);
    buf_fini(&program);
    return e;
}

static Err texts(Emitter *e, Item *it, Buf *out)
{
    const bool along_n = node_get(it->entry, "results_along_n") != NULL;
    TRY(along_n ? text_along_n(it, out) : kernel_emit(it->s, it->target, it->symbol, out));
    Buf same;
    buf_init(&same);
    Err err = kernel_dump(it->s, it->target, STR("check"), &same);
    buf_fini(&same);
    TRY(err);
    TRY(kernel_helpers(&e->a, it->s, it->helper, &it->n_helpers));
    for (size_t i = 0; i < it->n_helpers && !it->apart; i++) {
        buf_putc(out, '\n');
        TRY(kernel_emit_helper(it->s->pt, it->target, &it->helper[i], out));
    }
    return buf_check(out);
}

/* Files of the helper kernels, as a map from symbols. */
static Err helper_files(Emitter *e, Item *it, Buf *out)
{
    Buf text;
    Err err = ERR_OK;
    buf_init(&text);
    buf_puts(out, ",\"helpers\":{");
    for (size_t i = 0; i < it->n_helpers && it->apart && !err; i++) {
        Str symbol = it->helper[i].symbol;
        const ProblemType *pt = it->s->pt; /* symbols of H and HHS are equal, and with first strides */
        Str path = arena_printf(&e->a, "%s/%s_%s%s%s%s_%.*s.hip", e->dir, it->target->name,
                                type_letter((DataType)pt->DataType), type_letter((DataType)pt->DestDataType),
                                type_letter((DataType)pt->ComputeDataType),
                                pt->UseInitialStridesCD ? "_I" : "", STR_ARG(symbol));
        buf_reset(&text);
        err = kernel_emit_helper(it->s->pt, it->target, &it->helper[i], &text);
        if (!err) err = file_write(path.s, buf_view(&text));
        buf_printf(out, "%s\"%.*s\":\"%.*s\"", i ? "," : "", STR_ARG(symbol), STR_ARG(path));
    }
    buf_puts(out, "}");
    buf_fini(&text);
    return err;
}

static Err facts(Emitter *e, Item *it, Buf *out)
{
    const ProblemType *pt = it->s->pt;
    buf_printf(out,
               ",\"symbol\":\"%.*s\",\"trans\":[%d,%d],\"conj\":[%d,%d],\"strided\":%d,\"types\":[\"%s\",\"%"
               "s\",\"%s\"]",
               STR_ARG(it->symbol), pt->TransposeA, pt->TransposeB, pt->ComplexConjugateA,
               pt->ComplexConjugateB, pt->StridedBatched, type_letter((DataType)pt->DataType),
               type_letter((DataType)pt->DestDataType), type_letter((DataType)pt->ComputeDataType));
    buf_printf(out, ",\"tile\":[%d,%d,%d]", it->s->MacroTile0, it->s->MacroTile1, it->s->DepthU);
    TRY(helper_files(e, it, out));
    const Node *sizes = node_get(it->entry, "sizes"), *scalars = node_get(it->entry, "scalars");
    if (scalars) TRY(node_seq(scalars, e->list, "scalars", sizes ? sizes->n : 0, SIZES_MAX));
    buf_puts(out, ",\"launches\":[");
    for (size_t i = 0; sizes && i < sizes->n; i++) {
        if (i) buf_putc(out, ',');
        TRY(launch_json(e, it, node_at(sizes, i), scalars ? node_at(scalars, i) : NULL, out));
    }
    buf_puts(out, "]");
    return ERR_OK;
}

static void json_text(const char *s, Buf *out)
{
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') buf_putc(out, '\\');
        buf_putc(out, *s == '\n' ? ' ' : *s);
    }
}

/* why: the reason that rejected the solution, or NULL; rule: its name, if it is a rule. */
static Err emit_item(Emitter *e, Item *it, const char *why, const char *rule)
{
    Buf text, json;
    buf_init(&text);
    buf_init(&json);
    it->symbol = it->name;
    Err err = why ? err_set(ERR_INPUT, "%s", why) : texts(e, it, &text);
    Str path = arena_printf(&e->a, "%s/%.*s.%s", e->dir, STR_ARG(it->name),
                            it->target->family == TARGET_NVPTX ? "cu" : "hip");
    if (!err) err = file_write(path.s, buf_view(&text));
    if (!err) err = facts(e, it, &json);
    printf("{\"name\":\"%.*s\",\"arch\":\"%s\"", STR_ARG(it->name), it->target->name);
    if (err) {
        buf_reset(&json);
        json_text(err_message(), &json);
        if (why && rule) printf(",\"rule\":\"%s\"", rule);
        printf(",\"error\":\"%s\"}\n", buf_cstr(&json));
        e->n_failed++;
    } else
        printf(",\"file\":\"%s\"%s}\n", path.s, buf_cstr(&json));
    buf_fini(&text);
    buf_fini(&json);
    e->n++;
    return ERR_OK;
}

static Err one_solution(Emitter *e, Item *it)
{
    const Node *given = node_get(it->entry, "solution"), *type = node_get(it->entry, "problem");
    ProblemType *pt = ARENA_NEW(&e->a, ProblemType);
    Solution *s = ARENA_NEW(&e->a, Solution);
    Deriver *d = ARENA_NEW(&e->a, Deriver);
    if (!pt || !s || !d) FAIL(ERR_FAILED, "out of memory for a solution");
    ProblemReadOptions o = {.strict = true};
    TRY(problem_type_read(e->list, type, &o, pt));
    DeriveLimits limits = {.source_matrix = true, .writer = true};
    CustomFolder folder;
    if (node_get(it->entry, "programs")) {
        Str dir;
        TRY(node_str(node_get(it->entry, "programs"), e->list, "programs", &dir));
        custom_folder_init(&folder, &e->a, it->target, dir);
        limits.custom = &folder.kernels;
    }
    TRY(deriver_init(d, pt, it->target, &limits));
    solution_init(s, pt);
    TRY(node_map(given, e->list, "solution"));
    for (size_t i = 0; i < given->n; i++) {
        const Param *p = param_find(given->item[2 * i].text);
        if (!p) FAIL(ERR_INPUT, "%s: unknown parameter '%.*s'", e->list, STR_ARG(given->item[2 * i].text));
        TRY(param_parse_value(p, &given->item[2 * i + 1], s));
        TRY(param_legal(p, s));
        solution_mark(s, (ParamId)p->id);
    }
    Verdict v;
    Buf why;
    buf_init(&why);
    bool valid = solution_derive(d, s, &v);
    if (limits.custom) TRY(custom_folder_check(&folder));
    if (!valid) verdict_text(&v, &why);
    it->s = s;
    Err err = emit_item(e, it, valid ? NULL : buf_cstr(&why), rule_name(v.rule));
    buf_fini(&why);
    return err;
}

static bool wanted(const Node *index, size_t i)
{
    for (size_t j = 0; index && j < index->n; j++)
        if (node_at(index, j)->kind == NODE_INT && node_at(index, j)->integer == (int64_t)i) return true;
    return !index;
}

static Err logic_solutions(Emitter *e, Item *it, Str path)
{
    Logic logic;
    LogicKeys keys;
    Deriver *d = ARENA_NEW(&e->a, Deriver);
    if (!d) FAIL(ERR_FAILED, "out of memory for a logic file");
    logic_keys_init(&keys);
    TRY(logic_read(&e->a, path.s, NULL, &logic));
    TRY(deriver_init(d, logic.pt, it->target, NULL));
    Str base = it->name;
    for (size_t i = 0; i < logic.n_solutions; i++) {
        if (!wanted(node_get(it->entry, "index"), i)) continue;
        Solution *s = ARENA_NEW(&e->a, Solution);
        if (!s) FAIL(ERR_FAILED, "out of memory for a solution");
        Buf why;
        buf_init(&why);
        /* as createlib: what Tensile rejects today but its tuning once found valid has a kernel */
        RuleId rule;
        bool valid = logic_solution_derived(&keys, &logic.solution[i], d, s, &why, &rule) != DERIVED_PARTLY;
        it->s = s;
        it->name = arena_printf(&e->a, "%.*s_%zu", STR_ARG(base), i);
        Err err = emit_item(e, it, valid ? NULL : buf_cstr(&why), NULL);
        buf_fini(&why);
        TRY(err);
    }
    return ERR_OK;
}

static Err run(Emitter *e)
{
    Node *list;
    TRY(yaml_read(&e->a, e->list, NULL, &list));
    TRY(node_seq(list, e->list, "list", 1, SIZES_MAX));
    TRY(dir_make(e->dir));
    for (size_t i = 0; i < list->n; i++) {
        const Node *entry = node_at(list, i);
        Item it = {.entry = entry};
        Str arch, logic;
        TRY(node_map(entry, e->list, "entry"));
        if (!node_get(entry, "arch") || !node_get(entry, "name"))
            FAIL(ERR_INPUT, "%s:%d: an entry needs arch and name", e->list, entry->line);
        TRY(node_str(node_get(entry, "arch"), e->list, "arch", &arch));
        TRY(node_str(node_get(entry, "name"), e->list, "name", &it.name));
        it.name = arena_dup(&e->a, it.name);
        if (node_get(entry, "apart")) TRY(node_bool(node_get(entry, "apart"), e->list, "apart", &it.apart));
        it.target = target_find(arch);
        if (!it.target)
            FAIL(ERR_INPUT, "%s:%d: unknown architecture '%.*s'", e->list, entry->line, STR_ARG(arch));
        if (node_get(entry, "logic")) {
            TRY(node_str(node_get(entry, "logic"), e->list, "logic", &logic));
            TRY(logic_solutions(e, &it, arena_dup(&e->a, logic)));
        } else
            TRY(one_solution(e, &it));
    }
    return ERR_OK;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: emit LIST.yaml OUTDIR\n");
        return ERR_INPUT;
    }
    Emitter e = {.list = argv[1], .dir = argv[2]};
    arena_init(&e.a, 0);
    Err err = run(&e);
    if (err) fprintf(stderr, "emit: %s\n", err_message());
    fprintf(stderr, "emit: %zu kernels, %zu without text\n", e.n, e.n_failed);
    arena_fini(&e.a);
    return err;
}
