/* Made libraries for the benchmarks: solutions with the predicates of a real assembly solution. */
#ifndef TEST_BENCH_MADE_H
#define TEST_BENCH_MADE_H

#include <stdio.h>
#include <stdlib.h>

#include "fmt/write.h"
#include "problem/datatype.h"
#include "problem/predicate.h"

static inline uint64_t rng(uint64_t *s)
{
    *s = *s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *s >> 33;
}

static inline void key_int(Emit *e, const char *key, int64_t v)
{
    emit_cstr(e, key);
    emit_int(e, v);
}

static inline void type_only(Emit *e, const char *key, const char *type)
{
    emit_cstr(e, key);
    emit_map(e, 1, true);
    emit_cstr(e, "type");
    emit_cstr(e, type);
    emit_end(e);
}

static inline void dims(Emit *e, const char *key, int64_t x, int64_t y, int64_t z)
{
    emit_cstr(e, key);
    emit_seq(e, 3, true);
    emit_int(e, x);
    emit_int(e, y);
    emit_int(e, z);
    emit_end(e);
}

/* The predicates of a real assembly solution. */
static inline const PredOp *predicate(Arena *a)
{
    PredList l = {.arena = a};
    const PredOp *p = NULL;
    Err e = pred_add(&l, PRED_STRIDE_A, 0, 1) || pred_add(&l, PRED_STRIDE_B, 0, 1) ||
            pred_add(&l, PRED_STRIDE_C, 0, 1) || pred_add(&l, PRED_STRIDE_D, 0, 1) ||
            pred_add_operation(&l, STR("Contraction_l_Ailk_Bljk_Cijk_Dijk")) ||
            pred_add(&l, PRED_STRIDED_BATCHED, 0, 1) ||
            pred_add(&l, PRED_TYPES, 0, types_pack(TYPE_S, TYPE_S, TYPE_S, TYPE_S)) ||
            pred_add(&l, PRED_HPA, 0, 0) || pred_add(&l, PRED_F32_XDL, 0, TYPE_S) ||
            pred_add(&l, PRED_STOCHASTIC, 0, 0) || pred_add(&l, PRED_LEADING_FREE0, 0, 4) ||
            pred_add(&l, PRED_LEADING_FREE1, 0, 1) || pred_add(&l, PRED_LANGUAGE, 0, LANGUAGE_ASSEMBLY) ||
            pred_add(&l, PRED_UNIT, 0, UNIT_VALU) || pred_add_limits(&l, 4, 0, 16, 64) ||
            pred_add(&l, PRED_STORE_LIMIT, 0, 64) || pred_finish(&l, &p);
    if (e) abort();
    return p;
}

static inline void emit_solution(Emit *e, const PredOp *pred, int i)
{
    char name[64];
    snprintf(name, sizeof name, "Cijk_Ailk_Bljk_SB_MT64x64x16_SN_K1_TT4_4_WG16_16_1_%d", i);
    emit_map(e, 7, false);
    emit_cstr(e, "name");
    emit_cstr(e, name);
    key_int(e, "index", i);
    type_only(e, "hardwarePredicate", "TruePred");
    emit_cstr(e, "problemPredicate");
    predicate_emit(e, pred);
    type_only(e, "taskPredicate", "TruePred");
    emit_cstr(e, "problemType");
    emit_map(e, 7, false);
    emit_cstr(e, "operationIdentifier");
    emit_cstr(e, "Contraction_l_Ailk_Bljk_Cijk_Dijk");
    static const char *const types[] = {"aType", "bType", "cType", "dType"};
    for (int t = 0; t < 4; t++) {
        emit_cstr(e, types[t]);
        emit_cstr(e, "Float");
    }
    emit_cstr(e, "useBeta");
    emit_bool(e, true);
    emit_cstr(e, "highPrecisionAccumulate");
    emit_bool(e, false);
    emit_end(e);
    emit_cstr(e, "sizeMapping");
    emit_map(e, 13, false);
    dims(e, "workGroup", 16, 16, 1);
    dims(e, "macroTile", 64, 64, 1);
    dims(e, "threadTile", 4, 4, 1);
    key_int(e, "depthU", 16);
    key_int(e, "staggerU", 32);
    key_int(e, "globalSplitU", 1);
    key_int(e, "staggerStrideShift", 2);
    key_int(e, "workGroupMapping", 8);
    key_int(e, "persistentKernel", 0);
    emit_cstr(e, "persistentKernelAlongBatch");
    emit_bool(e, false);
    emit_cstr(e, "sourceKernel");
    emit_bool(e, false);
    key_int(e, "globalAccumulation", 0);
    key_int(e, "workspaceSizePerElemC", 0);
    emit_end(e);
    emit_end(e);
}

/* pred NULL: for any problem. */
static inline void open_row(Emit *e, const PredOp *pred)
{
    emit_map(e, 2, false);
    emit_cstr(e, "type");
    emit_cstr(e, "Problem");
    emit_cstr(e, "rows");
    emit_seq(e, 1, false);
    emit_map(e, 2, false);
    if (pred) {
        emit_cstr(e, "predicate");
        predicate_emit(e, pred);
    } else {
        type_only(e, "predicate", "TruePred");
    }
    emit_cstr(e, "library");
}

static inline void close_row(Emit *e)
{
    for (int i = 0; i < 3; i++) emit_end(e);
}

static inline int key_compare(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    for (int i = 0; i < 3; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* Sorted, as the writer leaves them. */
static inline void make_keys(int64_t (*key)[3], int n, uint64_t *seed, bool gridded)
{
    for (int i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) {
            int64_t v = 1 + (int64_t)(rng(seed) % 8192);
            /* as tuned sets are: few values of M and N, many ties and equal M */
            key[i][d] = gridded && d < 2 ? 256 * (1 + v % 24) : v;
        }
    qsort(key, (size_t)n, sizeof *key, key_compare);
}

static inline void emit_table(Emit *e, int n_solutions, int n_sizes, uint64_t *seed, bool gridded)
{
    static const char *const props[] = {"FreeSizeA", "FreeSizeB", "BoundSize"};
    int64_t(*key)[3] = calloc((size_t)n_sizes, sizeof *key);
    if (!key) abort();
    make_keys(key, n_sizes, seed, gridded);
    emit_map(e, 4, false);
    emit_cstr(e, "type");
    emit_cstr(e, "Matching");
    emit_cstr(e, "distance");
    emit_cstr(e, "Euclidean");
    emit_cstr(e, "properties");
    emit_seq(e, 3, false);
    for (int i = 0; i < 3; i++) {
        emit_map(e, 2, true);
        emit_cstr(e, "type");
        emit_cstr(e, props[i]);
        key_int(e, "index", 0);
        emit_end(e);
    }
    emit_end(e);
    emit_cstr(e, "table");
    emit_seq(e, (size_t)n_sizes, false);
    for (int i = 0; i < n_sizes; i++) {
        emit_map(e, 3, false);
        dims(e, "key", key[i][0], key[i][1], key[i][2]);
        key_int(e, "index", (int64_t)(rng(seed) % (uint64_t)n_solutions));
        emit_cstr(e, "speed");
        emit_real(e, (double)(rng(seed) % 10000) + 0.5);
        emit_end(e);
    }
    emit_end(e);
    emit_end(e);
    free(key);
}

/* Sizes random, or gridded as tuned sets are. */
static inline void made_library(Buf *out, int n_solutions, int n_sizes, bool gridded)
{
    Arena a;
    uint64_t seed = 42;
    arena_init(&a, 0);
    buf_init(out);
    Emit *e = emit_msgpack(out);
    const PredOp *pred = predicate(&a);
    emit_map(e, 2, false);
    emit_cstr(e, "solutions");
    emit_seq(e, (size_t)n_solutions, false);
    for (int i = 0; i < n_solutions; i++) emit_solution(e, pred, i);
    emit_end(e);
    emit_cstr(e, "library");
    const PredOp types = {
        .id = PRED_TYPES, .span = 1, .v.i = {types_pack(TYPE_S, TYPE_S, TYPE_S, TYPE_S), 0}};
    const char *const nn = "Contraction_l_Ailk_Bljk_Cijk_Dijk";
    const PredOp operation = {.id = PRED_OPERATION, .span = 1, .v.op = {operation_code(str_from(nn)), nn}};
    open_row(e, NULL);
    open_row(e, &operation);
    open_row(e, NULL);
    open_row(e, &types);
    emit_table(e, n_solutions, n_sizes, &seed, gridded);
    for (int i = 0; i < 4; i++) close_row(e);
    emit_end(e);
    if (emit_finish(e)) abort();
    emit_free(e);
    arena_fini(&a);
}

#endif
