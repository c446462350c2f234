/* ProblemType: what is computed: operation, index assignments, transposes, data types. One problem type has
 * many sizes (sizes.h). Fields are named as in Tensile's files; problem.def lists them sorted.
 *
 * A ProblemType is flat and holds only 32-bit ints: copy it by value; unused list entries are 0, so equal
 * problem types have equal bytes. Indices of D (free and batch) are 0..NumIndicesC-1, summation indices
 * follow; a GEMM is i=0 (M), j=1 (N), [k=2 batch,] then the summation index (K). Used by config, sizes,
 * solution, kernel, logic, createlib, client.
 */
#ifndef MODEL_PROBLEM_H
#define MODEL_PROBLEM_H

#include "base/arena.h"
#include "fmt/node.h"
#include "problem/datatype.h"

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

typedef struct ProblemType {
#define PT(kind, field, group) PTYPE_##kind field;
#include "problem/problem.def"
#undef PT
} ProblemType;

typedef enum { PT_BOOL, PT_INT, PT_TYPE, PT_INDICES, PT_TUPLES, PT_OPERATION, PT_CONV } PtKind;
typedef enum { PT_GIVEN, PT_DERIVED } PtGroup;

/* A key of the table, for writers: keys come sorted by name. */
typedef struct {
    const char *name;
    uint16_t offset; /* of the field in ProblemType */
    uint8_t kind, group;
} PtKey;
/* NULL behind the last. */
const PtKey *problem_key_at(size_t i);
const PtKey *problem_key_find(Str name);

/* One-line remarks ("config.yaml:12: ..."), collected by readers, printed once by programs. */
typedef struct {
    Arena *arena;
    Str *line;
    size_t n, cap;
    size_t dropped; /* beyond NOTICES_MAX */
} Notices;
enum { NOTICES_MAX = 200 };
void notices_init(Notices *n, Arena *a);
/* The same text is kept once. n may be NULL. */
void notices_add(Notices *n, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* ---- reading ---- */

/* Reads a map of a config or of a logic or solutions file (types as letters, names or ints; derived keys may
 * be there and must then agree with what is derived). Checks the combination of types. a is for messages'
 * temporaries alone. Errors are ERR_INPUT and start with 'file:line: '. */
Err problem_type_from_node(Arena *a, const char *file, const Node *node, ProblemType *pt);

typedef struct {
    bool strict; /* a config: unknown keys are refused; else ignored, as other versions' files have other keys
                  */
    Notices *notices; /* may be NULL */
} ProblemReadOptions;
Err problem_type_read(const char *file, const Node *node, const ProblemReadOptions *options, ProblemType *pt);

/* Tensile's defaults, without types' derivation: a NT GEMM of S. */
void problem_type_init(ProblemType *pt);
/* Fills in the derived fields from the given ones (for a GEMM the index assignments too) and checks all.
 * Idempotent. */
Err problem_type_derive(ProblemType *pt);
/* For tests and benchmark programs: a batched strided GEMM with beta. */
Err problem_type_gemm(ProblemType *pt, bool trans_a, bool trans_b, DataType in, DataType out,
                      DataType compute);

/* ---- names ---- */

/* "Cijk_Ailk_Bljk_SB": prefix of kernel names, directory and logic file names. Appends. */
void problem_type_name(const ProblemType *pt, Buf *out);
/* Of A and of B: the mixed 8-bit types stand for two. */
void problem_ab_types(const ProblemType *pt, DataType *a, DataType *b);
/* "Contraction_l_Ailk_Bljk_Cijk_Dijk". Appends. */
void problem_operation_identifier(const ProblemType *pt, Buf *out);
/* Writes a value as YAML flow text ('[3, 0, 2]', 'true', 'GEMM', type as int). For messages and --help; the
 * writers of files use the fields. */
void problem_key_print(const PtKey *key, const ProblemType *pt, Buf *out);
const char *operation_name(OperationKind op);
bool operation_find(Str name, OperationKind *out);
const char *conv_key_name(ConvKey key);

bool problem_type_equal(const ProblemType *a, const ProblemType *b);
uint64_t problem_type_hash(const ProblemType *pt);

/* ---- questions ---- */

/* Is (in, out, compute) one that Tensile accepts for a GEMM? */
bool problem_types_valid(DataType in, DataType out, DataType compute);
/* Is it one of the mixed combinations whose name shows all three letters? */
bool problem_types_mixed(DataType in, DataType out, DataType compute);
static inline bool problem_is_gemm(const ProblemType *pt) { return pt->OperationType == OP_GEMM; }
/* Types of A's and B's elements: they differ for F8B8 and B8F8 alone. */
DataType problem_a_type(const ProblemType *pt);
DataType problem_b_type(const ProblemType *pt);
bool index_list_has(const IndexList *l, int32_t index);
/* Position of index in the list, -1 when absent. */
int32_t index_list_find(const IndexList *l, int32_t index);

#endif
