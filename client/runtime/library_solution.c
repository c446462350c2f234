/* Library: one entry of `solutions` (tensile-formats 7.3), and whether a solution can run a problem. */
#include <stdio.h>
#include <string.h>

#include "client/runtime/launch.h"
#include "client/runtime/library_priv.h"
#include "problem/datatype.h"

typedef struct {
    FileReader *r;
    const Node *map;
    const char *what;
} Fields;

static Err need(const Fields *f, const char *key, const Node **out)
{
    *out = node_get(f->map, key);
    if (!*out) FAIL(ERR_INPUT, "%s:%d: %s has no '%s'", f->r->name, f->map->line, f->what, key);
    return ERR_OK;
}

static Err read_i32(const Fields *f, const char *key, int64_t min, int64_t max, bool required, int32_t *out)
{
    const Node *n = node_get(f->map, key);
    int64_t v;
    if (!n && !required) return ERR_OK;
    TRY(need(f, key, &n));
    TRY(node_int(n, f->r->name, key, min, max, &v));
    *out = (int32_t)v;
    return ERR_OK;
}

static Err read_bool(const Fields *f, const char *key, bool required, bool *out)
{
    const Node *n = node_get(f->map, key);
    if (!n && !required) return ERR_OK;
    TRY(need(f, key, &n));
    return node_bool(n, f->r->name, key, out);
}

static Err read_dims(const Fields *f, const char *key, size_t min_n, int32_t min, int32_t max, int32_t out[3])
{
    const Node *n;
    TRY(need(f, key, &n));
    TRY(node_seq(n, f->r->name, key, min_n, 3));
    for (size_t i = 0; i < n->n; i++) {
        int64_t v;
        TRY(node_int(node_at(n, i), f->r->name, key, min, max, &v));
        out[i] = (int32_t)v;
    }
    return ERR_OK;
}

static Err read_type(const Fields *f, const char *key, DataType *out)
{
    const Node *n;
    Str text;
    TRY(need(f, key, &n));
    TRY(node_str(n, f->r->name, key, &text));
    if (!type_find(text, out))
        FAIL(ERR_INPUT, "%s:%d: %s: data type '%.*s' is unknown", f->r->name, n->line, key, STR_ARG(text));
    return ERR_OK;
}

static Err read_problem_type(FileReader *r, const Node *n, LibSolution *s)
{
    Fields f = {r, n, "problemType"};
    DataType t[4], xdl = TYPE_S;
    static const char *const keys[] = {"aType", "bType", "cType", "dType"};
    const Node *id;
    Str text;
    TRY(node_map(n, r->name, "problemType"));
    TRY(need(&f, "operationIdentifier", &id));
    TRY(node_str(id, r->name, "operationIdentifier", &text));
    text = arena_dup(&r->lib->arena, text);
    TRY_ALLOC(text.s);
    s->operation_text = text.s;
    s->operation = operation_code(text);
    for (size_t i = 0; i < 4; i++) TRY(read_type(&f, keys[i], &t[i]));
    s->types = types_pack(t[0], t[1], t[2], t[3]);
    if (node_get(n, "f32XdlMathOp")) TRY(read_type(&f, "f32XdlMathOp", &xdl));
    s->f32_xdl = (uint8_t)xdl;
    s->strided_batched = true;
    TRY(read_bool(&f, "useBeta", true, &s->use_beta));
    TRY(read_bool(&f, "highPrecisionAccumulate", true, &s->high_precision_accumulate));
    TRY(read_bool(&f, "useInitialStridesAB", false, &s->use_initial_strides_ab));
    TRY(read_bool(&f, "useInitialStridesCD", false, &s->use_initial_strides_cd));
    TRY(read_bool(&f, "stridedBatched", false, &s->strided_batched));
    TRY(read_bool(&f, "stochasticRounding", false, &s->stochastic_rounding));
    TRY(read_bool(&f, "fp16AltImpl", false, &s->fp16_alt));
    return read_bool(&f, "fp16AltImplRound", false, &s->fp16_alt_round);
}

enum { TILE_MAX = 1 << 20, COUNT_MAX = 1 << 20 };

/* {tensor: A, box: [64, 128], swizzle: 128, l2: 128} */
static Err read_tensor_map(FileReader *r, const Node *n, TensorMapSpec *out)
{
    Fields f = {r, n, "tensorMaps"};
    static const char letters[] = "ABCD";
    const Node *field;
    int32_t box[3] = {0}, swizzle = 0, l2 = 128;
    Str tensor;
    TRY(node_map(n, r->name, "tensorMaps"));
    TRY(need(&f, "tensor", &field));
    TRY(node_str(field, r->name, "tensor", &tensor));
    const char *at = tensor.n == 1 && tensor.s[0] ? strchr(letters, tensor.s[0]) : NULL;
    if (!at)
        FAIL(ERR_INPUT, "%s:%d: tensor '%.*s' is not A, B, C or D", r->name, field->line, STR_ARG(tensor));
    TRY(read_dims(&f, "box", 2, 1, 256, box)); /* the copy engine's limit */
    TRY(read_i32(&f, "swizzle", 0, 128, false, &swizzle));
    TRY(read_i32(&f, "l2", 0, 256, false, &l2));
    if ((swizzle & (swizzle - 1)) || (l2 & (l2 - 1)) || swizzle == 16 || (swizzle && swizzle < 32) ||
        (l2 && l2 < 64))
        FAIL(ERR_INPUT, "%s:%d: swizzle %d, l2 %d: expected 0, 32, 64 or 128 and 0, 64, 128 or 256", r->name,
             n->line, swizzle, l2);
    *out = (TensorMapSpec){.tensor = (uint8_t)(at - letters),
                           .swizzle = (uint16_t)swizzle,
                           .l2 = (uint16_t)l2,
                           .box = {(uint16_t)box[0], (uint16_t)box[1]}};
    return ERR_OK;
}

static Err read_tensor_maps(FileReader *r, const Node *mapping, SizeMapping *m)
{
    const Node *n = node_get(mapping, "tensorMaps");
    if (!n) return ERR_OK;
    TRY(node_seq(n, r->name, "tensorMaps", 0, TENSOR_MAPS_MAX));
    TensorMapSpec *spec = ARENA_ARRAY(&r->lib->arena, TENSOR_MAPS_MAX, TensorMapSpec);
    TRY_ALLOC(spec);
    for (size_t i = 0; i < n->n; i++) TRY(read_tensor_map(r, node_at(n, i), &spec[i]));
    m->tensor_map = spec;
    m->n_tensor_maps = (uint8_t)n->n;
    return ERR_OK;
}

static Err read_size_mapping(FileReader *r, const Node *n, SizeMapping *m)
{
    Fields f = {r, n, "sizeMapping"};
    TRY(node_map(n, r->name, "sizeMapping"));
    *m = (SizeMapping){.macro_tile = {1, 1, 1}, .work_group = {1, 1, 1}, .magic_div_alg = 1};
    TRY(read_dims(&f, "workGroup", 3, 1, 4096, m->work_group));
    TRY(read_dims(&f, "macroTile", 2, 1, TILE_MAX, m->macro_tile));
    TRY(read_dims(&f, "threadTile", 2, 0, TILE_MAX, m->thread_tile));
    TRY(read_i32(&f, "depthU", 1, COUNT_MAX, true, &m->depth_u));
    TRY(read_i32(&f, "staggerU", 0, COUNT_MAX, true, &m->stagger_u));
    TRY(read_i32(&f, "globalSplitU", 1, 1 << 16, true, &m->global_split_u));
    TRY(read_i32(&f, "staggerStrideShift", 0, 30, true, &m->stagger_stride_shift));
    TRY(read_i32(&f, "workGroupMapping", -COUNT_MAX, COUNT_MAX, true, &m->work_group_mapping));
    TRY(read_i32(&f, "persistentKernel", -1, COUNT_MAX, true, &m->persistent_kernel));
    TRY(read_bool(&f, "persistentKernelAlongBatch", true, &m->persistent_along_batch));
    TRY(read_bool(&f, "sourceKernel", true, &m->source_kernel));
    TRY(read_i32(&f, "globalAccumulation", 0, 3, true, &m->global_accumulation));
    TRY(read_i32(&f, "workspaceSizePerElemC", 0, 1 << 24, true, &m->workspace_bytes_per_c));
    TRY(read_i32(&f, "packSummationDims", 0, 3, false, &m->pack_summation_dims));
    TRY(read_i32(&f, "packBatchDims", 0, 3, false, &m->pack_batch_dims));
    TRY(read_i32(&f, "magicDivAlg", 1, 2, false, &m->magic_div_alg));
    TRY(read_i32(&f, "streamK", 0, 3, false, &m->stream_k));
    TRY(read_bool(&f, "streamKAtomic", false, &m->stream_k_atomic));
    TRY(read_bool(&f, "preloadKernargs", false, &m->preload_kernargs));
    TRY(read_bool(&f, "globalSplitUWorkGroupMappingRoundRobin", false, &m->gsu_round_robin));
    return read_tensor_maps(r, n, m);
}

/* "Cijk" of "Contraction_l_Ailk_Bljk_Cijk_Dijk". */
static Str c_indices(const char *operation)
{
    Str rest = str_from(operation), part = STR("C");
    for (int i = 0; i < 5; i++)
        if (!str_split(&rest, '_', &part)) return STR("C");
    return part;
}

static Err name_helpers(FileReader *r, LibSolution *s)
{
    Str c = c_indices(s->operation_text);
    const char *dest = type_letter((DataType)(s->types >> 24));
    const char *batch = s->strided_batched ? "" : "_GB";
    if (c.n > 16)
        FAIL(ERR_INPUT, "%s: operation identifier '%s' has too many indices", r->name, s->operation_text);
    snprintf(s->beta_only, sizeof s->beta_only, "%.*s_%s%s%s", STR_ARG(c), dest, batch,
             s->map.global_accumulation ? "_GA" : "");
    snprintf(s->post_gsu, sizeof s->post_gsu, "%.*s_%s%s_PostGSU", STR_ARG(c), dest, batch);
    return ERR_OK;
}

static Err read_predicates(FileReader *r, const Fields *f, LibSolution *s)
{
    const Node *n;
    const PredOp *task;
    TRY(need(f, "hardwarePredicate", &n));
    TRY(hardware_pred_holds(r->name, n, &r->lib->hw, &s->hardware_ok, NULL));
    TRY(need(f, "problemPredicate", &n));
    TRY(pred_parse(&r->lib->arena, r->name, n, &s->problem_pred));
    TRY(need(f, "taskPredicate", &n));
    TRY(pred_parse(&r->lib->arena, r->name, n, &task));
    if (task->id != PRED_TRUE && task->id != PRED_WORKSPACE)
        FAIL(ERR_INPUT, "%s:%d: task predicate %s is unknown", r->name, n->line, pred_name((PredId)task->id));
    s->task_workspace = task->id == PRED_WORKSPACE;
    return ERR_OK;
}

Err solution_read(FileReader *r, const Node *n, LibSolution *s)
{
    Fields f = {r, n, "solution"};
    const Node *field;
    Str name;
    TRY(node_map(n, r->name, "solution"));
    TRY(need(&f, "name", &field));
    TRY(node_str(field, r->name, "name", &name));
    if (name.n == 0 || name.n > 4096 || memchr(name.s, 0, name.n))
        FAIL(ERR_INPUT, "%s:%d: a kernel name of %zu bytes", r->name, field->line, name.n);
    name = arena_dup(&r->lib->arena, name);
    TRY_ALLOC(name.s);
    *s = (LibSolution){
        .name = name.s, .logic_index = -1, .n_cu = r->lib->hw.n_cu, .code_object = r->code_object};
    TRY(need(&f, "index", &field));
    TRY(node_int(field, r->name, "index", 0, INT64_MAX - 1, &s->index));
    if ((field = node_get(n, "libraryLogicIndex")))
        TRY(node_int(field, r->name, "libraryLogicIndex", -1, INT64_MAX, &s->logic_index));
    TRY(need(&f, "problemType", &field));
    TRY(read_problem_type(r, field, s));
    TRY(need(&f, "sizeMapping", &field));
    TRY(read_size_mapping(r, field, &s->map));
    TRY(read_predicates(r, &f, s));
    return name_helpers(r, s);
}

bool solution_can_solve(const LibSolution *s, const Contraction *p)
{
    if (!s->hardware_ok || !pred_holds(s->problem_pred, p)) return false;
    if (!s->task_workspace) return true;
    LaunchHardware hw = {.n_cu = s->n_cu};
    return launch_workspace_bytes(p, s, &hw) <= p->workspace_bytes;
}
