/* ProblemType: what is computed: operation, index assignments, transposes, data types. One problem type has
 * many sizes (sizes.h). Fields are named as in Tensile's files; problem.def lists them sorted.
 *
 * A ProblemType is flat and holds only 32-bit ints: copy it by value; unused list entries are 0, so equal
 * problem types have equal bytes. Indices of D (free and batch) are 0..NumIndicesC-1, summation indices
 * follow; a GEMM is i=0 (M), j=1 (N), [k=2 batch,] then the summation index (K).
 */
#ifndef MODEL_PROBLEM_H
#define MODEL_PROBLEM_H

#include "base/arena.h"
#include "fmt/node.h"
#include "problem/datatype.h"
#include "problem/fused.h"

enum { INDEX_MAX = 12, TUPLE_MAX = 6 };

typedef enum {
    OP_GEMM,
    OP_TENSOR_CONTRACTION,
    OP_CONV_FORWARD,
    OP_CONV_BACKWARD_DATA,
    OP_CONV_BACKWARD_WEIGHTS,
    OP_COUNT
} OperationKind;

typedef struct {
    int32_t n;
    int32_t v[INDEX_MAX];
} IndexList;

/* ZeroPad: [free index, summation index, leading, trailing] each, width 4; SetConstStride: [index, stride],
 * width 2. */
typedef struct {
    int32_t n, width;
    int32_t v[TUPLE_MAX][4];
} TupleList;

/* A convolution's settings as text ("NCHW", "3x3", "1"), in the order they were given. Empty for other
 * operations. */
typedef enum {
    CONV_TensorAFormat,
    CONV_TensorBFormat,
    CONV_TensorDFormat,
    CONV_Spatial,
    CONV_Filter,
    CONV_Stride,
    CONV_Dilation,
    CONV_PadStart,
    CONV_PadEnd,
    CONV_GroupCount,
    CONV_PackedSpatialDims,
    CONV_PackedFilterDims,
    CONV_UnrollOnChannel,
    CONV_KEY_COUNT
} ConvKey;
enum { CONV_TEXT = 12 };
typedef struct {
    int32_t n;
    int32_t key[CONV_KEY_COUNT];
    char value[CONV_KEY_COUNT][CONV_TEXT];
} ConvConfig;

#define PTYPE_BOOL int32_t
#define PTYPE_INT int32_t
#define PTYPE_TYPE int32_t /* DataType */
#define PTYPE_INDICES IndexList
#define PTYPE_TUPLES TupleList
#define PTYPE_OPERATION int32_t /* OperationKind */
#define PTYPE_CONV ConvConfig
#define PTYPE_TYPES IndexList    /* DataTypes */
#define PTYPE_ACTIVATION int32_t /* Activation */
#define PTYPE_SCALE_AB int32_t   /* ScaleAB */

typedef struct ProblemType {
#define PT(kind, field, group) PTYPE_##kind field;
#include "problem/problem.def"
#undef PT
} ProblemType;

typedef enum {
    PT_BOOL,
    PT_INT,
    PT_TYPE,
    PT_ACTIVATION,
    PT_SCALE_AB,
    PT_TYPES,
    PT_INDICES,
    PT_TUPLES,
    PT_OPERATION,
    PT_CONV
} PtKind;
typedef enum { PT_GIVEN, PT_DERIVED, PT_FUSED } PtGroup;

/* A key of the table, for writers: keys come sorted by name. */
typedef struct {
    const char *name;
    uint16_t offset; /* of the field in ProblemType */
    uint8_t kind, group;
} PtKey;
/* The keys in order; NULL after the last. */
const PtKey *problem_key_at(size_t i);
const PtKey *problem_key_find(Str name);
/* Whether files of that problem type have the key: those of fused operations are written only where they are
 * set. */
bool problem_key_is_written(const PtKey *key, const ProblemType *pt);
/* The fused operations of a derived problem type. */
Fused problem_fused(const ProblemType *pt);
/* "", "Scalar", "Vector". */
const char *scale_ab_name(ScaleAB s);

/* One-line remarks ("config.yaml:12: ..."), collected by readers, printed once by programs. */
typedef struct {
    Arena *arena;
    Str *line;
    size_t n;
    size_t dropped; /* notices beyond NOTICES_MAX */
} Notices;
enum { NOTICES_MAX = 200 };
void notices_init(Notices *n, Arena *a);
/* Adds a notice unless the same text is there already. n may be NULL. */
void notices_add(Notices *n, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* ---- reading ---- */

/* Reads a map of a config, a logic file or a solutions file. Types are letters, names or ints; derived keys
 * may be given and must then agree with the derivation. Checks the combination of types. a: temporary texts
 * of messages. Errors are ERR_INPUT and start with 'file:line: '. */
Err problem_type_from_node(Arena *a, const char *file, const Node *node, ProblemType *pt);

typedef struct {
    bool strict;      /* refuse unknown keys (configs); logic files of other versions have other keys */
    Notices *notices; /* may be NULL */
} ProblemReadOptions;
Err problem_type_read(const char *file, const Node *node, const ProblemReadOptions *options, ProblemType *pt);

/* Tensile's defaults, a NT GEMM of S; nothing is derived. */
void problem_type_init(ProblemType *pt);
/* Derives fields from the given ones (for a GEMM also the index assignments) and checks all. Idempotent. */
Err problem_type_derive(ProblemType *pt);
/* A strided batched GEMM with beta, for tests and benchmarks. */
Err problem_type_gemm(ProblemType *pt, bool trans_a, bool trans_b, DataType in, DataType out,
                      DataType compute);

/* ---- names ---- */

/* Appends "Cijk_Ailk_Bljk_SB": the prefix of kernel, directory and logic file names. */
void problem_type_name(const ProblemType *pt, Buf *out);
/* Types of A and of B: F8B8 and B8F8 denote two types. */
void problem_ab_types(const ProblemType *pt, DataType *a, DataType *b);
/* Appends "Contraction_l_Ailk_Bljk_Cijk_Dijk". */
void problem_operation_identifier(const ProblemType *pt, Buf *out);
/* Writes a value as YAML flow text ('[3, 0, 2]', 'true', 'GEMM', type as int). For messages and --help. */
void problem_key_print(const PtKey *key, const ProblemType *pt, Buf *out);
const char *operation_name(OperationKind op);
bool operation_find(Str name, OperationKind *out);
const char *conv_key_name(ConvKey key);

bool problem_type_equal(const ProblemType *a, const ProblemType *b);
uint64_t problem_type_hash(const ProblemType *pt);

/* ---- properties ---- */

/* True when Tensile accepts (in, out, compute) for a GEMM. */
bool problem_types_valid(DataType in, DataType out, DataType compute);
/* True for the mixed combinations, whose names have all three letters. */
bool problem_types_mixed(DataType in, DataType out, DataType compute);
static inline bool problem_is_gemm(const ProblemType *pt) { return pt->OperationType == OP_GEMM; }
/* Types of the elements of A and B, which differ only for F8B8 and B8F8. */
DataType problem_a_type(const ProblemType *pt);
DataType problem_b_type(const ProblemType *pt);
/* The list has room for all indices of a problem. */
static inline void index_list_add(IndexList *l, int32_t index) { l->v[l->n++] = index; }
/* Position of index in the list, -1 when absent. */
static inline int32_t index_list_find(const IndexList *l, int32_t index)
{
    for (int32_t i = 0; i < l->n; i++)
        if (l->v[i] == index) return i;
    return -1;
}
static inline bool index_list_has(const IndexList *l, int32_t index)
{
    return index_list_find(l, index) >= 0;
}

#endif
