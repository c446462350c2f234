/* Problem types: the table of keys, derivation of the index fields, names. Reading is in problem_read.c.
 *
 * Derivation follows Tensile (ProblemType in Tensile/SolutionStructs.py): a GEMM's index assignments come
 * from its transposes; free indices are those of D that are in one of A and B, batch indices those in both,
 * the last summation index is unrolled, and the tensor whose tile index comes first in D is tensor 0.
 */
#include "problem/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static const PtKey keys[] = {
#define PT(kind, field, group) {#field, offsetof(ProblemType, field), PT_##kind, PT_##group},
#include "problem/problem.def"
#undef PT
};

const PtKey *problem_key_at(size_t i) { return i < sizeof keys / sizeof *keys ? &keys[i] : NULL; }

const PtKey *problem_key_find(Str name)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (str_eq_c(name, keys[i].name)) return &keys[i];
    return NULL;
}

bool problem_key_is_written(const PtKey *key, const ProblemType *pt)
{
    int32_t v; /* lists begin with their length */
    memcpy(&v, (const char *)pt + key->offset, sizeof v);
    return key->group != PT_FUSED || v != 0;
}

const char *scale_ab_name(ScaleAB s)
{
    static const char *const names[] = {"", "Scalar", "Vector"};
    return names[s];
}

Fused problem_fused(const ProblemType *pt)
{
    return (Fused){.bias = (Along)pt->UseBias,
                   .scale_alpha = (Along)pt->UseScaleAlphaVec,
                   .bias_type = pt->UseBias ? (DataType)pt->BiasDataTypeList.v[0] : TYPE_S,
                   .activation = (Activation)pt->ActivationType,
                   .scale_ab = (ScaleAB)pt->UseScaleAB,
                   .scale_cd = pt->UseScaleCD};
}

static const char *const operations[OP_COUNT] = {
    "GEMM",
    "TensorContraction",
    "ConvolutionForward",
    "ConvolutionBackwardData",
    "ConvolutionBackwardWeights",
};

const char *operation_name(OperationKind op) { return operations[op]; }

bool operation_find(Str name, OperationKind *out)
{
    for (int i = 0; i < OP_COUNT; i++) {
        if (!str_eq_c(name, operations[i])) continue;
        *out = (OperationKind)i;
        return true;
    }
    return false;
}

static const char *const conv_keys[CONV_KEY_COUNT] = {
    "TensorAFormat",   "TensorBFormat", "TensorDFormat",     "Spatial",
    "Filter",          "Stride",        "Dilation",          "PadStart",
    "PadEnd",          "GroupCount",    "PackedSpatialDims", "PackedFilterDims",
    "UnrollOnChannel",
};

const char *conv_key_name(ConvKey key) { return conv_keys[key]; }

/* (in, out, compute) types of the GEMMs that Tensile accepts; names of mixed ones have all three letters. */
static const struct {
    uint8_t in, out, compute;
    bool mixed;
} combinations[] = {
    {TYPE_D, TYPE_D, TYPE_D, false},    {TYPE_S, TYPE_S, TYPE_S, false},   {TYPE_Z, TYPE_Z, TYPE_Z, false},
    {TYPE_C, TYPE_C, TYPE_C, false},    {TYPE_H, TYPE_H, TYPE_H, false},   {TYPE_H, TYPE_H, TYPE_S, true},
    {TYPE_H, TYPE_S, TYPE_S, true},     {TYPE_B, TYPE_B, TYPE_S, true},    {TYPE_B, TYPE_S, TYPE_S, true},
    {TYPE_I8, TYPE_I, TYPE_I, true},    {TYPE_4XI8, TYPE_I, TYPE_I, true}, {TYPE_F8, TYPE_S, TYPE_S, true},
    {TYPE_B8, TYPE_S, TYPE_S, true},    {TYPE_F8B8, TYPE_S, TYPE_S, true}, {TYPE_B8F8, TYPE_S, TYPE_S, true},
    {TYPE_F8, TYPE_F8, TYPE_S, true},   {TYPE_B8, TYPE_B8, TYPE_S, true},  {TYPE_F8B8, TYPE_B8, TYPE_S, true},
    {TYPE_B8F8, TYPE_B8, TYPE_S, true}, {TYPE_F8, TYPE_H, TYPE_S, true},   {TYPE_B8, TYPE_H, TYPE_S, true},
    {TYPE_F8B8, TYPE_H, TYPE_S, true},  {TYPE_B8F8, TYPE_H, TYPE_S, true},
};

static bool combination_find(DataType in, DataType out, DataType compute, bool *mixed)
{
    for (size_t i = 0; i < sizeof combinations / sizeof *combinations; i++) {
        if (combinations[i].in != in || combinations[i].out != out || combinations[i].compute != compute)
            continue;
        *mixed = combinations[i].mixed;
        return true;
    }
    return false;
}

bool problem_types_valid(DataType in, DataType out, DataType compute)
{
    bool mixed;
    return combination_find(in, out, compute, &mixed);
}

bool problem_types_mixed(DataType in, DataType out, DataType compute)
{
    bool mixed;
    return combination_find(in, out, compute, &mixed) && mixed;
}

DataType problem_a_type(const ProblemType *pt)
{
    if (pt->DataType == TYPE_F8B8) return TYPE_F8;
    if (pt->DataType == TYPE_B8F8) return TYPE_B8;
    return (DataType)pt->DataType;
}

DataType problem_b_type(const ProblemType *pt)
{
    if (pt->DataType == TYPE_F8B8) return TYPE_B8;
    if (pt->DataType == TYPE_B8F8) return TYPE_F8;
    return (DataType)pt->DataType;
}

void problem_type_init(ProblemType *pt)
{
    memset(pt, 0, sizeof *pt);
    pt->OperationType = OP_GEMM;
    pt->UseBeta = pt->TransposeB = pt->StridedBatched = pt->Fp32toFp8SWClip = 1;
    pt->IndexAssignmentsA = (IndexList){2, {0, 2}};
    pt->IndexAssignmentsB = (IndexList){2, {1, 2}};
    pt->NumIndicesC = 2;
    pt->NumIndicesLD = 4;
    pt->IndexAssignmentsLD = (IndexList){4, {3, 4, 5, 6}};
}

static IndexList list_of(int32_t n, int32_t a, int32_t b, int32_t c)
{
    return (IndexList){n, {a, b, n > 2 ? c : 0}};
}

static void assign_gemm(ProblemType *pt)
{
    const int32_t sum = pt->Batched ? 3 : 2, n = pt->Batched ? 3 : 2;
    pt->IndexAssignmentsA = pt->TransposeA ? list_of(n, sum, 0, 2) : list_of(n, 0, sum, 2);
    pt->IndexAssignmentsB = pt->TransposeB ? list_of(n, 1, sum, 2) : list_of(n, sum, 1, 2);
    pt->NumIndicesC = n;
    pt->NumIndicesLD = 4;
    pt->IndexAssignmentsLD = (IndexList){4, {n + 1, n + 2, n + 3, n + 4}};
}

static int32_t list_max(const IndexList *l)
{
    int32_t max = -1;
    for (int32_t i = 0; i < l->n; i++)
        if (l->v[i] > max) max = l->v[i];
    return max;
}

static Err check_list(const IndexList *l, const char *name)
{
    if (l->n < 1) FAIL(ERR_INPUT, "%s is empty", name);
    for (int32_t i = 0; i < l->n; i++) {
        if (l->v[i] < 0 || l->v[i] >= INDEX_MAX)
            FAIL(ERR_INPUT, "%s: index %d is not in 0..%d", name, (int)l->v[i], INDEX_MAX - 1);
        for (int32_t j = 0; j < i; j++)
            if (l->v[i] == l->v[j]) FAIL(ERR_INPUT, "%s: index %d is there twice", name, (int)l->v[i]);
    }
    return 0;
}

static Err classify_indices(ProblemType *pt)
{
    const IndexList *a = &pt->IndexAssignmentsA, *b = &pt->IndexAssignmentsB;
    TRY(check_list(a, "IndexAssignmentsA"));
    TRY(check_list(b, "IndexAssignmentsB"));
    const int32_t max_a = list_max(a), max_b = list_max(b);
    pt->TotalIndices = (max_a > max_b ? max_a : max_b) + 1;
    pt->IndicesFree = pt->IndicesBatch = pt->IndicesSummation = (IndexList){0};
    if (pt->NumIndicesC < 1 || pt->NumIndicesC > INDEX_MAX)
        FAIL(ERR_INPUT, "NumIndicesC %d is not in 1..%d", (int)pt->NumIndicesC, INDEX_MAX);
    for (int32_t i = 0; i < pt->NumIndicesC; i++) {
        const bool in_a = index_list_has(a, i), in_b = index_list_has(b, i);
        if (!in_a && !in_b) FAIL(ERR_INPUT, "index %d is in D, but neither in A nor in B", (int)i);
        index_list_add(in_a && in_b ? &pt->IndicesBatch : &pt->IndicesFree, i);
    }
    for (int32_t i = pt->NumIndicesC; i < pt->TotalIndices; i++) {
        if (!index_list_has(a, i) || !index_list_has(b, i))
            FAIL(ERR_INPUT, "index %d is not in D, so both A and B must have it", (int)i);
        index_list_add(&pt->IndicesSummation, i);
    }
    pt->NumIndicesFree = pt->IndicesFree.n;
    pt->NumIndicesBatch = pt->IndicesBatch.n;
    pt->NumIndicesSummation = pt->IndicesSummation.n;
    if (!pt->AllowNoFreeDims && pt->NumIndicesFree < 2)
        FAIL(ERR_INPUT, "%d free indices, at least 2 are needed unless AllowNoFreeDims is set",
             (int)pt->NumIndicesFree);
    if (pt->NumIndicesSummation < 1)
        FAIL(ERR_INPUT, "no summation index: A and B share none that is not in D");
    return 0;
}

/* Position in l of its first free index (or batch index, when AllowNoFreeDims). */
static int32_t first_tile_index(const ProblemType *pt, const IndexList *l)
{
    for (int32_t i = 0; i < l->n; i++)
        if (index_list_has(&pt->IndicesFree, l->v[i]) ||
            (pt->AllowNoFreeDims && index_list_has(&pt->IndicesBatch, l->v[i])))
            return i;
    return -1;
}

static Err assign_tiles(ProblemType *pt)
{
    const IndexList *a = &pt->IndexAssignmentsA, *b = &pt->IndexAssignmentsB;
    pt->IndexUnroll = pt->IndicesSummation.v[pt->NumIndicesSummation - 1];
    pt->IndexUnrollA = index_list_find(a, pt->IndexUnroll);
    pt->IndexUnrollB = index_list_find(b, pt->IndexUnroll);
    const int32_t tile_a = first_tile_index(pt, a), tile_b = first_tile_index(pt, b);
    if (tile_a < 0 || tile_b < 0) FAIL(ERR_INPUT, "tensor %s has no free index", tile_a < 0 ? "A" : "B");
    pt->Index01A = a->v[tile_a];
    pt->Index01B = b->v[tile_b];
    const bool a_first = pt->Index01A < pt->Index01B;
    pt->Index0 = a_first ? pt->Index01A : pt->Index01B;
    pt->Index1 = a_first ? pt->Index01B : pt->Index01A;
    pt->Tensor0 = pt->TileA = !a_first;
    pt->Tensor1 = pt->TileB = a_first;
    pt->TLUA = tile_a < pt->IndexUnrollA;
    pt->TLUB = tile_b < pt->IndexUnrollB;
    return 0;
}

static Err check_pads(const ProblemType *pt, const TupleList *l, const IndexList *assigned,
                      const char *tensor)
{
    for (int32_t i = 0; i < l->n; i++) {
        const int32_t *z = l->v[i];
        if (!index_list_has(&pt->IndicesFree, z[0]))
            FAIL(ERR_INPUT, "ZeroPad%s: index %d is not a free index", tensor, (int)z[0]);
        if (!index_list_has(assigned, z[0]))
            FAIL(ERR_INPUT, "ZeroPad%s: index %d is not in IndexAssignments%s", tensor, (int)z[0], tensor);
        if (!index_list_has(&pt->IndicesSummation, z[1]))
            FAIL(ERR_INPUT, "ZeroPad%s: index %d is not a summation index", tensor, (int)z[1]);
        for (int32_t j = 0; j < i; j++) {
            if (l->v[j][0] == z[0])
                FAIL(ERR_INPUT, "ZeroPad%s: free index %d is there twice", tensor, (int)z[0]);
            if (l->v[j][1] == z[1])
                FAIL(ERR_INPUT, "ZeroPad%s: summation index %d is there twice", tensor, (int)z[1]);
        }
    }
    return 0;
}

static Err check_strides(const TupleList *l, const IndexList *assigned, const char *tensor)
{
    for (int32_t i = 0; i < l->n; i++)
        if (!index_list_has(assigned, l->v[i][0]))
            FAIL(ERR_INPUT, "SetConstStride%s: index %d is not in IndexAssignments%s", tensor,
                 (int)l->v[i][0], tensor);
    return 0;
}

/* Checks the fused operations. A bias is of D's type where none is given. */
static Err derive_fused(ProblemType *pt)
{
    if (pt->UseBias > ALONG_N || pt->UseScaleAlphaVec > ALONG_N)
        FAIL(ERR_INPUT, "%s %d: a kernel has a vector along M (1) or along N (2), not either of them",
             pt->UseBias > ALONG_N ? "UseBias" : "UseScaleAlphaVec",
             (int)(pt->UseBias > ALONG_N ? pt->UseBias : pt->UseScaleAlphaVec));
    if (!pt->UseBias) pt->BiasDataTypeList = (IndexList){0};
    if (pt->UseBias && pt->BiasDataTypeList.n == 0) pt->BiasDataTypeList = (IndexList){1, {pt->DestDataType}};
    if (pt->BiasDataTypeList.n > 1)
        FAIL(ERR_INPUT, "BiasDataTypeList has %d types: a kernel has a bias of one type",
             (int)pt->BiasDataTypeList.n);
    const Fused f = problem_fused(pt);
    if (!fused_any(&f)) return 0;
    const DataType compute = (DataType)pt->ComputeDataType;
    if (compute != TYPE_S && compute != TYPE_D)
        FAIL(ERR_INPUT, "fused operations compute in S or D, not in %s", type_letter(compute));
    if (f.bias && (int32_t)f.bias_type != pt->DestDataType && f.bias_type != compute)
        FAIL(ERR_INPUT, "BiasDataTypeList: a bias of type %s, expected %s or %s", type_letter(f.bias_type),
             type_letter((DataType)pt->DestDataType), type_letter(compute));
    return 0;
}

Err problem_type_derive(ProblemType *pt)
{
    pt->AssignedDerivedParameters = 0;
    if (problem_is_gemm(pt)) {
        const DataType in = (DataType)pt->DataType, out = (DataType)pt->DestDataType;
        const DataType compute = (DataType)pt->ComputeDataType;
        if (!problem_types_valid(in, out, compute))
            FAIL(ERR_INPUT,
                 "no GEMM has DataType %s, DestDataType %s, ComputeDataType %s (legal are SSS DDD CCC ZZZ "
                 "HHH HHS "
                 "HSS BBS BSS I8-I-I 4xi8-I-I and 8-bit floats to S, H or 8 bits with compute S)",
                 type_letter(in), type_letter(out), type_letter(compute));
        assign_gemm(pt);
    } else {
        pt->NumIndicesLD = 0;
    }
    TRY(derive_fused(pt));
    TRY(classify_indices(pt));
    TRY(assign_tiles(pt));
    TRY(check_pads(pt, &pt->ZeroPadA, &pt->IndexAssignmentsA, "A"));
    TRY(check_pads(pt, &pt->ZeroPadB, &pt->IndexAssignmentsB, "B"));
    TRY(check_strides(&pt->SetConstStrideA, &pt->IndexAssignmentsA, "A"));
    TRY(check_strides(&pt->SetConstStrideB, &pt->IndexAssignmentsB, "B"));
    pt->AssignedDerivedParameters = 1;
    return 0;
}

Err problem_type_gemm(ProblemType *pt, bool trans_a, bool trans_b, DataType in, DataType out,
                      DataType compute)
{
    problem_type_init(pt);
    pt->TransposeA = trans_a;
    pt->TransposeB = trans_b;
    pt->Batched = 1;
    pt->DataType = (int32_t)in;
    pt->DestDataType = (int32_t)out;
    pt->ComputeDataType = (int32_t)compute;
    pt->HighPrecisionAccumulate = problem_types_mixed(in, out, compute);
    return problem_type_derive(pt);
}

bool problem_type_equal(const ProblemType *a, const ProblemType *b) { return !memcmp(a, b, sizeof *a); }

uint64_t problem_type_hash(const ProblemType *pt) { return hash64((Str){(const char *)pt, sizeof *pt}); }

void problem_ab_types(const ProblemType *pt, DataType *a, DataType *b)
{
    *a = problem_a_type(pt);
    *b = problem_b_type(pt);
}
