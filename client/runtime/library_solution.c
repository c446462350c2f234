/* Library: one entry of `solutions`. It is checked in the file's bytes when that is opened and read when the
 * solution is first needed. Also decides whether a solution can run a problem. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "client/runtime/launch.h"
#include "client/runtime/library_fields.h"
#include "client/runtime/library_priv.h"
#include "problem/datatype.h"

#define N_FIELDS(table) (sizeof(table) / sizeof *(table))

enum { TILE_MAX = 1 << 20, COUNT_MAX = 1 << 20, CLUSTER_MAX = 8 };

/* ---- problemType ---- */

typedef struct {
    int32_t a, b, c, d, xdl;
    bool use_beta, high_precision, initial_strides_ab, initial_strides_cd, strided, stochastic;
    bool fp16_alt, fp16_alt_round;
    Str operation;
} TypeFields;

#define AT(member) offsetof(TypeFields, member)
static const Field type_fields[] = {
    FIELD("aType", TYPE, true, 0, AT(a), 0, 0),
    FIELD("bType", TYPE, true, 0, AT(b), 0, 0),
    FIELD("cType", TYPE, true, 0, AT(c), 0, 0),
    FIELD("dType", TYPE, true, 0, AT(d), 0, 0),
    FIELD("f32XdlMathOp", TYPE, false, 0, AT(xdl), 0, 0),
    FIELD("fp16AltImpl", BOOL, false, 0, AT(fp16_alt), 0, 0),
    FIELD("fp16AltImplRound", BOOL, false, 0, AT(fp16_alt_round), 0, 0),
    FIELD("highPrecisionAccumulate", BOOL, true, 0, AT(high_precision), 0, 0),
    FIELD("operationIdentifier", TEXT, true, 0, AT(operation), 0, 4096),
    FIELD("stochasticRounding", BOOL, false, 0, AT(stochastic), 0, 0),
    FIELD("stridedBatched", BOOL, false, 0, AT(strided), 0, 0),
    FIELD("useBeta", BOOL, true, 0, AT(use_beta), 0, 0),
    FIELD("useInitialStridesAB", BOOL, false, 0, AT(initial_strides_ab), 0, 0),
    FIELD("useInitialStridesCD", BOOL, false, 0, AT(initial_strides_cd), 0, 0),
};
#undef AT

/* Of alpha, beta and the sums: the file names it by highPrecisionAccumulate alone, which changes nothing for
 * types that are not narrower than f32_r. */
static DataType compute_type(const TypeFields *t)
{
    bool integral = type_info((DataType)t->a)->integral;
    bool narrow = integral || type_bytes((DataType)t->a) < type_bytes(TYPE_S);
    if (t->high_precision && narrow) return integral ? TYPE_I : TYPE_S;
    return (DataType)(integral ? t->d : t->a);
}

static Err read_problem_type(FileReader *r, const Node *n, LibSolution *s)
{
    TypeFields t = {.xdl = TYPE_S, .strided = true};
    TRY(fields_read(r->name, "problemType", n, type_fields, N_FIELDS(type_fields), &t));
    t.operation = arena_dup(r->arena, t.operation);
    TRY_ALLOC(t.operation.s);
    s->operation_text = t.operation.s;
    s->operation = operation_code(t.operation);
    Str indices = t.operation; /* a suffix that is none of ours is of no problem */
    if (!fused_of_identifier(&indices, &s->fused)) s->fused = (Fused){0};
    s->types = types_pack((unsigned)t.a, (unsigned)t.b, (unsigned)t.c, (unsigned)t.d);
    s->f32_xdl = (uint8_t)t.xdl;
    s->compute_type = (uint8_t)compute_type(&t);
    s->use_beta = t.use_beta;
    s->high_precision_accumulate = t.high_precision;
    s->use_initial_strides_ab = t.initial_strides_ab;
    s->use_initial_strides_cd = t.initial_strides_cd;
    s->strided_batched = t.strided;
    s->stochastic_rounding = t.stochastic;
    s->fp16_alt = t.fp16_alt;
    s->fp16_alt_round = t.fp16_alt_round;
    return ERR_OK;
}

/* "Cijk" of "Contraction_l_Ailk_Bljk_Cijk_Dijk". */
static Str c_indices(Str operation)
{
    Str rest = operation, part = STR("C");
    for (int i = 0; i < 5; i++)
        if (!str_split(&rest, '_', &part)) return STR("C");
    return part;
}

static bool scan_problem_type(Scan *s)
{
    TypeFields t = {.operation = STR_NULL};
    return fields_scan(s, type_fields, N_FIELDS(type_fields), NULL, NULL, &t) &&
           c_indices(t.operation).n <= HELPER_INDICES_MAX;
}

/* ---- sizeMapping ---- */

/* {tensor: A, box: [64, 128], swizzle: 128, l2: 128} */
typedef struct {
    Str tensor;
    int32_t box[3], swizzle, l2;
} MapFields;

#define AT(member) offsetof(MapFields, member)
static const Field map_fields[] = {
    FIELD("box", DIMS, true, 2, AT(box), 1, 256), /* the copy engine's limit */
    FIELD("l2", I32, false, 0, AT(l2), 0, 256),
    FIELD("swizzle", I32, false, 0, AT(swizzle), 0, 128),
    FIELD("tensor", TEXT, true, 0, AT(tensor), 0, 64),
};
#undef AT

static Err read_tensor_map(FileReader *r, const Node *n, TensorMapSpec *out)
{
    static const char letters[] = "ABCD";
    MapFields m = {.l2 = 128};
    TRY(fields_read(r->name, "tensorMaps", n, map_fields, N_FIELDS(map_fields), &m));
    const char *at = m.tensor.n == 1 ? strchr(letters, m.tensor.s[0]) : NULL;
    if (!at) FAIL(ERR_INPUT, "%s:%d: tensor '%.*s' is not A, B, C or D", r->name, n->line, STR_ARG(m.tensor));
    if ((m.swizzle & (m.swizzle - 1)) || (m.l2 & (m.l2 - 1)) || (m.swizzle && m.swizzle < 32) ||
        (m.l2 && m.l2 < 64))
        FAIL(ERR_INPUT, "%s:%d: swizzle %d, l2 %d: expected 0, 32, 64 or 128 and 0, 64, 128 or 256", r->name,
             n->line, m.swizzle, m.l2);
    *out = (TensorMapSpec){.tensor = (uint8_t)(at - letters),
                           .swizzle = (uint16_t)m.swizzle,
                           .l2 = (uint16_t)m.l2,
                           .box = {(uint16_t)m.box[0], (uint16_t)m.box[1]}};
    return ERR_OK;
}

static Err read_tensor_maps(FileReader *r, const Node *mapping, SizeMapping *m)
{
    const Node *n = node_get(mapping, "tensorMaps");
    if (!n) return ERR_OK;
    TRY(node_seq(n, r->name, "tensorMaps", 0, TENSOR_MAPS_MAX));
    TensorMapSpec *spec = ARENA_ARRAY(r->arena, TENSOR_MAPS_MAX, TensorMapSpec);
    TRY_ALLOC(spec);
    for (size_t i = 0; i < n->n; i++) TRY(read_tensor_map(r, node_at(n, i), &spec[i]));
    m->tensor_map = spec;
    m->n_tensor_maps = (uint8_t)n->n;
    return ERR_OK;
}

/* [tensor, free index, summation index] */
static Err read_zero_pad(FileReader *r, const Node *n, ZeroPadSpec *out)
{
    int64_t v[3] = {0};
    TRY(node_seq(n, r->name, "zero pad", 3, 3));
    for (size_t i = 0; i < 3; i++)
        TRY(node_int(node_at(n, i), r->name, "zero pad", 0, i ? INDEX_MAX - 1 : 1, &v[i]));
    *out = (ZeroPadSpec){(uint8_t)v[0], (uint8_t)v[1], (uint8_t)v[2]};
    return ERR_OK;
}

static Err read_zero_pads(FileReader *r, const Node *mapping, SizeMapping *m)
{
    const Node *n = node_get(mapping, "zeroPads");
    if (!n) return ERR_OK;
    TRY(node_seq(n, r->name, "zeroPads", 0, 2 * TUPLE_MAX));
    ZeroPadSpec *pad = ARENA_ARRAY(r->arena, 2 * TUPLE_MAX, ZeroPadSpec);
    TRY_ALLOC(pad);
    for (size_t i = 0; i < n->n; i++) TRY(read_zero_pad(r, node_at(n, i), &pad[i]));
    m->zero_pad = pad;
    m->n_zero_pads = (uint8_t)n->n;
    return ERR_OK;
}

/* A FLAG is read as a BOOL; lists of lists are read by read_tensor_maps and read_zero_pads. */
#define FIELD_FLAG FIELD_BOOL
static const Field size_fields[] = {
#define KEY(key, kind, required, n, member, min, max, value)                                                 \
    FIELD(#key, kind, required, n, offsetof(SizeMapping, member), min, max),
#define EXT(key, kind, n, member, min, max, value, written)                                                  \
    FIELD(#key, kind, false, n, offsetof(SizeMapping, member), min, max),
#include "problem/size_mapping.def"
#undef KEY
#undef EXT
};

static Err read_size_mapping(FileReader *r, const Node *n, SizeMapping *m)
{
    *m = (SizeMapping){.macro_tile = {1, 1, 1},
                       .work_group = {1, 1, 1},
                       .magic_div_alg = 1,
                       .cluster = {1, 1, 1},
                       .mapping_dim = -1,
                       .mapping_xcc = 1};
    TRY(fields_read(r->name, "sizeMapping", n, size_fields, N_FIELDS(size_fields), m));
    /* only persistent kernels may have clusters, because their tiles do not depend on the grid */
    const int32_t *c = m->cluster;
    const int32_t groups = c[0] * c[1] * c[2];
    if (groups > CLUSTER_MAX || (groups > 1 && !m->persistent_kernel && !m->stream_k))
        FAIL(ERR_INPUT,
             "%s:%d: a cluster of %d x %d x %d work-groups and persistentKernel %d, expected up to %d in "
             "all, and a persistent or stream-K kernel",
             r->name, n->line, c[0], c[1], c[2], m->persistent_kernel, CLUSTER_MAX);
    TRY(read_tensor_maps(r, n, m));
    return read_zero_pads(r, n, m);
}

/* ---- the solution ---- */

typedef struct {
    Str name, kernel;
    int64_t index, logic_index;
} SolutionFields;

typedef enum { PART_TASK, PART_HARDWARE, PART_PROBLEM, PART_TYPE, PART_SIZES, PART_NO_MATTER } Part;

/* For kind OTHER the row's min is the Part. */
#define AT(member) offsetof(SolutionFields, member)
static const Field solution_fields[] = {
    FIELD("debugKernel", OTHER, false, 0, 0, PART_NO_MATTER, 0),
    FIELD("hardwarePredicate", OTHER, true, 0, 0, PART_HARDWARE, 0),
    FIELD("ideals", OTHER, false, 0, 0, PART_NO_MATTER, 0),
    FIELD("index", I64, true, 0, AT(index), 0, INT64_MAX - 1),
    FIELD("info", OTHER, false, 0, 0, PART_NO_MATTER, 0),
    FIELD("kernelName", TEXT, false, 0, AT(kernel), 0, 4096),
    FIELD("libraryLogicIndex", I64, false, 0, AT(logic_index), -1, INT64_MAX),
    FIELD("linearModel", OTHER, false, 0, 0, PART_NO_MATTER, 0),
    FIELD("name", TEXT, true, 0, AT(name), 0, 4096),
    FIELD("problemPredicate", OTHER, true, 0, 0, PART_PROBLEM, 0),
    FIELD("problemType", OTHER, true, 0, 0, PART_TYPE, 0),
    FIELD("sizeMapping", OTHER, true, 0, 0, PART_SIZES, 0),
    FIELD("taskPredicate", OTHER, true, 0, 0, PART_TASK, 0),
};
#undef AT

/* Arguments that other hosts do not pass: those see hardwarePredicate FalsePred (createlib/library_write.c).
 * Of the work-group order the numbers on this hardware decide: where its dies or compute units do not go with
 * them the solution is not used. */
static void read_own_arguments(const Library *lib, LibSolution *s)
{
    const SizeMapping *map = &s->map;
    if (fused_any(&s->fused) || (map->global_accumulation == GLOBAL_ACC_PARTIALS && map->global_split_u > 1))
        s->hardware_ok = true;
    if (map->mapping_dim < 0) return;
    Mapping m = {.wgm = map->work_group_mapping,
                 .dies = map->mapping_xcc < 0 ? lib->device.dies : map->mapping_xcc,
                 .group = map->mapping_group < 0 ? lib->device.cus : map->mapping_group,
                 .chunk = map->mapping_chunk};
    s->mapping = m;
    if (m.wgm == 0) m.wgm = 1; /* the size that the model will choose is valid */
    s->hardware_ok = mapping_fault(&m) == NULL;
}

static void name_helpers(LibSolution *s)
{
    const Str c = c_indices(str_from(s->operation_text));
    const DataType dest = (DataType)(s->types >> 24);
    helper_beta_only_name(c, dest, s->strided_batched, s->map.global_accumulation != GLOBAL_ACC_NONE,
                          s->beta_only);
    helper_post_gsu_name(c, dest, s->strided_batched, &s->fused, s->post_gsu);
}

static Err read_predicates(FileReader *r, const Node *n, LibSolution *s)
{
    const Node *node = node_get(n, "taskPredicate");
    const PredOp *task;
    TRY(hardware_pred_holds(r->name, node_get(n, "hardwarePredicate"), &r->lib->hw, &s->hardware_ok, NULL));
    TRY(pred_parse(r->arena, r->name, node_get(n, "problemPredicate"), &s->problem_pred));
    TRY(pred_parse(r->arena, r->name, node, &task));
    if (task->id != PRED_TRUE && task->id != PRED_WORKSPACE)
        FAIL(ERR_INPUT, "%s:%d: task predicate %s is unknown", r->name, node->line,
             pred_name((PredId)task->id));
    s->task_workspace = task->id == PRED_WORKSPACE;
    return ERR_OK;
}

Err solution_read(FileReader *r, const Node *n, LibSolution *s)
{
    SolutionFields f = {.logic_index = -1};
    TRY(fields_read(r->name, "solution", n, solution_fields, N_FIELDS(solution_fields), &f));
    f.name = arena_dup(r->arena, f.name);
    TRY_ALLOC(f.name.s);
    f.kernel = f.kernel.n ? arena_dup(r->arena, f.kernel) : f.name;
    TRY_ALLOC(f.kernel.s);
    *s = (LibSolution){.name = f.name.s,
                       .symbol = f.kernel.s,
                       .index = f.index,
                       .logic_index = f.logic_index,
                       .n_cu = r->lib->hw.n_cu,
                       .device = &r->lib->device,
                       .code_object = r->chunk->code_object};
    TRY(read_problem_type(r, node_get(n, "problemType"), s));
    TRY(read_size_mapping(r, node_get(n, "sizeMapping"), &s->map));
    TRY(read_predicates(r, n, s));
    if (c_indices(str_from(s->operation_text)).n > HELPER_INDICES_MAX)
        FAIL(ERR_INPUT, "%s: operation identifier '%s' has too many indices", r->name, s->operation_text);
    read_own_arguments(r->lib, s);
    name_helpers(s);
    return ERR_OK;
}

/* ---- checking ---- */

/* Reads an object as a Node: for parts that are rare. */
static bool scan_node(SolutionScan *c, Scan *s, Node **n)
{
    Str rest = {(const char *)s->at, scan_left(s)};
    arena_reset(c->scratch);
    if (msgpack_item(c->scratch, c->r->name, &rest, NULL, n)) return false;
    s->at = s->end - rest.n;
    return true;
}

static bool scan_hardware(SolutionScan *c, Scan *s)
{
    Node *n;
    bool holds;
    return scan_node(c, s, &n) && !hardware_pred_holds(c->r->name, n, &c->r->lib->hw, &holds, NULL);
}

static bool scan_lists(void *ctx, const Field *f, Scan *s)
{
    SolutionScan *c = ctx;
    const bool maps = !strcmp(f->key, "tensorMaps");
    TensorMapSpec map;
    ZeroPadSpec pad;
    size_t n;
    Node *node;
    if (!scan_list(s, &n) || n > (maps ? TENSOR_MAPS_MAX : 2 * TUPLE_MAX)) return false;
    for (; n > 0; n--)
        if (!scan_node(c, s, &node) ||
            (maps ? read_tensor_map(c->r, node, &map) : read_zero_pad(c->r, node, &pad)))
            return false;
    return true;
}

static bool scan_size_mapping(SolutionScan *c, Scan *s)
{
    return fields_scan(s, size_fields, N_FIELDS(size_fields), scan_lists, c, NULL);
}

static bool scan_task(Scan *s)
{
    PredId id;
    return pred_scan(s, NULL, &id) && (id == PRED_TRUE || id == PRED_WORKSPACE);
}

/* Consecutive solutions have most parts in common: a part with the same bytes as in the previous solution was
 * checked there. */
static bool scan_part(void *ctx, const Field *f, Scan *s)
{
    SolutionScan *c = ctx;
    const Part part = (Part)f->min;
    const Scan from = *s;
    PredId id;
    bool ok = false;
    if (part == PART_NO_MATTER) return scan_skip(s, 8);
    if (part == PART_PROBLEM) return pred_scan(s, &c->preds, &id);
    if (scan_same(s, c->last[part])) return true;
    if (part == PART_TASK) ok = scan_task(s);
    if (part == PART_HARDWARE) ok = scan_hardware(c, s);
    if (part == PART_TYPE) ok = scan_problem_type(s);
    if (part == PART_SIZES) ok = scan_size_mapping(c, s);
    c->last[part] = ok ? scan_between(&from, s) : STR_NULL;
    return ok;
}

_Static_assert((int)PART_NO_MATTER <= (int)SOLUTION_PARTS, "an entry for each part");

bool solution_scan(SolutionScan *c, Scan *s, int64_t *index)
{
    SolutionFields f;
    if (!fields_scan(s, solution_fields, N_FIELDS(solution_fields), scan_part, c, &f)) return false;
    *index = f.index;
    return true;
}

bool solution_can_solve(const LibSolution *s, const Contraction *p)
{
    if (!s->hardware_ok || !pred_holds(s->problem_pred, p) || !tensor_maps_fit(s, p) || !zero_pads_fit(s, p))
        return false;
    if (!s->task_workspace) return true;
    LaunchHardware hw = {.n_cu = s->n_cu};
    return launch_workspace_bytes(p, s, &hw) <= p->workspace_bytes;
}
