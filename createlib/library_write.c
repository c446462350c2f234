/* Solution objects of a master solution library, and the benchmark library. Keys are written in byte order:
 * readers look them up by name, and the YAML form is sorted. */
#include "createlib/library_write.h"

#include <string.h>

#include "base/fs.h"
#include "createlib/library_internal.h"
#include "problem/predicate.h"
#include "space/keep.h"
#include "space/stream.h"
#include "space/wgmma.h"

const char *library_suffix(LibraryFormat f) { return f == LIBRARY_YAML ? ".yaml" : ".dat"; }

Err library_operation(const ProblemType *pt, Buf *out)
{
    problem_operation_identifier(pt, out);
    return buf_check(out);
}

void emit_key_int(Emit *e, const char *key, int64_t v)
{
    emit_cstr(e, key);
    emit_int(e, v);
}

void emit_key_bool(Emit *e, const char *key, bool v)
{
    emit_cstr(e, key);
    emit_bool(e, v);
}

void emit_key_str(Emit *e, const char *key, Str v)
{
    emit_cstr(e, key);
    emit_str(e, v);
}

void emit_type_only(Emit *e, const char *type)
{
    emit_map(e, 1, true);
    emit_cstr(e, "type");
    emit_cstr(e, type);
    emit_end(e);
}

static void emit_key_list(Emit *e, const char *key, const int32_t *v, size_t n)
{
    emit_cstr(e, key);
    emit_seq(e, n, true);
    for (size_t i = 0; i < n; i++) emit_int(e, v[i]);
    emit_end(e);
}

static void emit_problem_type(Emit *e, const ProblemType *pt, Str operation)
{
    DataType a, b;
    problem_ab_types(pt, &a, &b);
    Str c = str_from(type_enum_name((DataType)pt->DestDataType));
    emit_map(e, 12, true);
    emit_key_str(e, "aType", str_from(type_enum_name(a)));
    emit_key_str(e, "bType", str_from(type_enum_name(b)));
    emit_key_str(e, "cType", c);
    emit_key_str(e, "dType", c);
    emit_key_str(e, "f32XdlMathOp", str_from(type_enum_name((DataType)pt->F32XdlMathOp)));
    emit_key_bool(e, "highPrecisionAccumulate", pt->HighPrecisionAccumulate);
    emit_key_str(e, "operationIdentifier", operation);
    emit_key_bool(e, "stochasticRounding", pt->StochasticRounding);
    emit_key_bool(e, "stridedBatched", pt->StridedBatched);
    emit_key_bool(e, "useBeta", pt->UseBeta);
    emit_key_bool(e, "useInitialStridesAB", pt->UseInitialStridesAB);
    emit_key_bool(e, "useInitialStridesCD", pt->UseInitialStridesCD);
    emit_end(e);
}

/* {tensor: A, box: [64, 128], swizzle: 128, l2: 128}. A promotion to 256 bytes reads lines that no box needs
 * where rows do not begin with a line (H200, f16 1336x1440x3000: 31.4 us instead of 27.7), and gains 1 % at
 * most elsewhere. */
static void emit_tensor_map(Emit *e, char tensor, const int32_t box[2], int32_t swizzle)
{
    emit_map(e, 4, true);
    emit_key_list(e, "box", box, 2);
    emit_key_int(e, "l2", 128);
    emit_key_int(e, "swizzle", swizzle);
    emit_key_str(e, "tensor", (Str){&tensor, 1});
    emit_end(e);
}

/* Kernels of the copy engine take tensor maps, and clusters of work-groups. */
static bool has_tensor_maps(const Solution *s) { return s->NvRing == 1 && wgmma_is(s); }

static bool has_cluster(const Solution *s)
{
    return has_tensor_maps(s) && s->ClusterM * s->ClusterN * s->ClusterK > 1;
}

static void emit_tensor_maps(Emit *e, const Solution *s)
{
    WgmmaPlan p;
    wgmma_plan(s, &p);
    unsigned n = s->EngineStore ? 4 : 2;
    emit_seq(e, n, false);
    for (unsigned i = 0; i < n; i++)
        emit_tensor_map(e, "ABCD"[i < 2 ? wgmma_operand(s, (int)i) : (int)i], p.box[i], p.swizzle[i]);
    emit_end(e);
}

static void emit_zero_pads(Emit *e, const Solution *s)
{
    const TupleList *const of[2] = {&s->pt->ZeroPadA, &s->pt->ZeroPadB};
    emit_seq(e, (size_t)(of[0]->n + of[1]->n), false);
    for (int t = 0; t < 2; t++)
        for (int32_t i = 0; i < of[t]->n; i++) {
            emit_seq(e, 3, true);
            emit_int(e, t);
            for (int j = 0; j < 2; j++) emit_int(e, of[t]->v[i][j]);
            emit_end(e);
        }
    emit_end(e);
}

static unsigned size_mapping_keys(const Solution *s)
{
    unsigned n = 0;
#define KEY(key, kind, required, n_dims, member, min, max, value) n++;
#define EXT(key, kind, n_dims, member, min, max, value, written) n += (written) ? 1 : 0;
#include "problem/size_mapping.def"
#undef KEY
#undef EXT
    return n;
}

/* One macro per kind of problem/size_mapping.def; a value of DIMS is a list in brackets. */
#define LIST(...) (const int32_t[]){__VA_ARGS__}, sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t)
#define WRITE_I32(e, key, value) emit_key_int(e, key, value)
#define WRITE_FLAG(e, key, value) emit_key_int(e, key, value)
#define WRITE_BOOL(e, key, value) emit_key_bool(e, key, value)
#define WRITE_DIMS(e, key, value) emit_key_list(e, key, LIST value)
#define WRITE_OTHER(e, key, value) (emit_cstr(e, key), value(e, s))

static void emit_size_mapping(Emit *e, const Solution *s)
{
    emit_map(e, size_mapping_keys(s), false);
#define KEY(key, kind, required, n, member, min, max, value) WRITE_##kind(e, #key, value);
#define EXT(key, kind, n, member, min, max, value, written)                                                  \
    if (written) WRITE_##kind(e, #key, value);
#include "problem/size_mapping.def"
#undef KEY
#undef EXT
    emit_end(e);
}

static void emit_key_map(Emit *e, const char *key, const Node *map)
{
    emit_cstr(e, key);
    if (map) {
        logic_node_emit(map, e);
        return;
    }
    emit_map(e, 0, true);
    emit_end(e);
}

/* Does the kernel have arguments that other hosts do not pass: the words of the work-group order, operands of
 * fused operations, the workspace of parts that it adds up itself? They must not launch it; our host knows
 * such solutions by keys of sizeMapping and problemType instead. */
static bool is_for_our_host(const Solution *s)
{
    const Fused fused = problem_fused(s->pt);
    const bool joins = s->GlobalAccumulation == GACC_PARTIALS && s->GlobalSplitU > 1;
    return s->WorkGroupMappingDim >= 0 || fused_any(&fused) || joins;
}

static Err emit_solution_with(Emit *e, const LibrarySolution *s, Str operation, Arena *scratch)
{
    const PredOp *pred = NULL;
    TRY(pred_from_solution(scratch, s->s, s->checks_k, operation, &pred));
    const bool shares = s->kernel.s && !str_eq(s->kernel, s->name);
    emit_map(e, shares ? 12 : 11, false);
    emit_key_bool(e, "debugKernel", false);
    emit_cstr(e, "hardwarePredicate");
    emit_type_only(e, is_for_our_host(s->s) ? "FalsePred" : "TruePred");
    emit_key_map(e, "ideals", s->ideals);
    emit_key_int(e, "index", s->index);
    if (shares) emit_key_str(e, "kernelName", s->kernel);
    emit_key_int(e, "libraryLogicIndex", s->logic_index);
    emit_key_map(e, "linearModel", s->linear_model);
    emit_key_str(e, "name", s->name);
    emit_cstr(e, "problemPredicate");
    predicate_emit(e, pred);
    emit_cstr(e, "problemType");
    emit_problem_type(e, s->s->pt, operation);
    emit_cstr(e, "sizeMapping");
    emit_size_mapping(e, s->s);
    emit_cstr(e, "taskPredicate");
    const bool workspace = s->s->WorkspaceSizePerElemC > 0 || s->s->PackOperands;
    emit_type_only(e, workspace ? "WorkspaceCheck" : "TruePred");
    emit_end(e);
    return ERR_OK;
}

Err library_emit_solution(Emit *e, const LibrarySolution *s)
{
    Arena scratch;
    Buf operation;
    arena_init(&scratch, 0);
    buf_init(&operation);
    Err err = library_operation(s->s->pt, &operation);
    if (!err) err = emit_solution_with(e, s, buf_view(&operation), &scratch);
    buf_fini(&operation);
    arena_fini(&scratch);
    return err;
}

void library_begin(Buf *out, LibraryFormat f)
{
    if (f == LIBRARY_YAML) buf_puts(out, "---\n");
}

Err library_finish(const char *path, LibraryFormat f, Buf *out)
{
    if (f == LIBRARY_YAML) buf_puts(out, "...\n");
    TRY(buf_check(out));
    return file_write(path, buf_view(out));
}

/* ---- the benchmark library ---- */

static Err emit_benchmark_rows(Emit *e, const Solution *const *solutions, size_t n, Str operation,
                               Arena *scratch)
{
    emit_map(e, 2, false);
    emit_cstr(e, "rows");
    emit_seq(e, n, n == 0);
    for (size_t i = 0; i < n; i++) {
        const PredOp *pred = NULL;
        arena_reset(scratch);
        TRY(pred_from_solution(scratch, solutions[i], false, operation, &pred));
        emit_map(e, 2, false);
        emit_cstr(e, "library");
        emit_map(e, 2, true);
        emit_key_int(e, "index", (int64_t)i);
        emit_key_str(e, "type", STR("Single"));
        emit_end(e);
        emit_cstr(e, "predicate");
        predicate_emit(e, pred);
        emit_end(e);
    }
    emit_end(e);
    emit_key_str(e, "type", STR("Problem"));
    emit_end(e);
    return ERR_OK;
}

static Err emit_benchmark(Emit *e, const Solution *const *solutions, const Str *names, const Str *kernels,
                          size_t n, Str operation, Arena *scratch)
{
    emit_map(e, 2, false);
    emit_cstr(e, "library");
    TRY(emit_benchmark_rows(e, solutions, n, operation, scratch));
    emit_cstr(e, "solutions");
    emit_seq(e, n, n == 0);
    for (size_t i = 0; i < n; i++) {
        LibrarySolution s = {.s = solutions[i],
                             .name = names[i],
                             .kernel = kernels[i],
                             .logic_index = (int32_t)i,
                             .index = (int64_t)i};
        arena_reset(scratch);
        TRY(emit_solution_with(e, &s, operation, scratch));
    }
    emit_end(e);
    emit_end(e);
    return emit_finish(e);
}

Err library_write_benchmark(const char *path, LibraryFormat f, const Solution *const *solutions,
                            const Str *names, const Str *kernels, size_t n)
{
    Arena scratch;
    Buf out, operation;
    if (n == 0) FAIL(ERR_INPUT, "%s: a library needs a solution", path);
    for (size_t i = 1; i < n; i++)
        if (solutions[i]->pt != solutions[0]->pt && !problem_type_equal(solutions[i]->pt, solutions[0]->pt))
            FAIL(ERR_INPUT, "%s: solution %zu has another problem type than the first", path, i);
    arena_init(&scratch, 0);
    buf_init(&out);
    buf_init(&operation);
    library_begin(&out, f);
    Emit *e = f == LIBRARY_YAML ? emit_yaml(&out) : emit_msgpack(&out);
    Err err = e ? library_operation(solutions[0]->pt, &operation)
                : err_set(ERR_FAILED, "out of memory for '%s'", path);
    if (!err) err = emit_benchmark(e, solutions, names, kernels, n, buf_view(&operation), &scratch);
    if (!err) err = library_finish(path, f, &out);
    emit_free(e);
    buf_fini(&operation);
    buf_fini(&out);
    arena_fini(&scratch);
    return err;
}
