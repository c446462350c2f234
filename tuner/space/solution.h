/* Solution: a full set of parameters, and the table of parameters (params.def).
 *
 * A Solution is flat and owns nothing: copy it by value. Its strings point to memory of the caller that
 * filled it in. Fields are named as in Tensile (s->DepthU, s->WorkGroup.v[0]) except `1LDSBuffer`
 * (LDSBuffer1) and names with a leading underscore, which lose it (_UseSgprForGRO is UseSgprForGROUsed,
 * _VectorStore is VectorStoreUsed). A GlobalLoadVectorWidth of 0 is the part of an element that fills 4 bytes
 * (0.5 of a double), as DirectToLds loads. See also derive.h (derivation), rules.h (rejections), naming.h and
 * space.h (enumeration).
 */
#ifndef MODEL_SOLUTION_H
#define MODEL_SOLUTION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/str.h"

typedef struct ProblemType ProblemType;
typedef struct Node Node;

enum { INTLIST_MAX = 9, INTMAP_MAX = 6 };

typedef struct {
    int32_t n;
    int32_t v[INTLIST_MAX]; /* 0 from n on */
} IntList;

/* Entries in the given order; 0 from n on. */
typedef struct {
    int32_t n;
    int32_t key[INTMAP_MAX];
    int32_t v[INTMAP_MAX];
} IntMap;

/* Values of ENUM rows: positions in the row's list of names. */
enum { EDGE_BRANCH, EDGE_SHIFTPTR, EDGE_NONE };
enum { LANG_SOURCE, LANG_ASSEMBLY };
enum { GSUA_SINGLE, GSUA_MULTIPLE, GSUA_SINGLE_KERNEL };
enum { WGMT_B, WGMT_Z };
enum { MAC_FMA, MAC_MAD };
enum { MMF_NONE, MMF_GLC, MMF_SC0 };
enum { SC1_FALSE, SC1_TRUE, SC1_AUTO };
enum { SCHEDULE_COOPERATIVE, SCHEDULE_PINGPONG };
enum { GACC_NONE, GACC_SINGLE, GACC_MULTIPLE, GACC_PARTIALS };

typedef enum {
#define P(group, field, name, kind, def, legal, scope, help) PARAM_##field,
#include "space/params.def"
#undef P
    PARAM_COUNT
} ParamId;

typedef enum {
    KIND_BOOL,
    KIND_INT,
    KIND_FLOAT,
    KIND_ENUM,
    KIND_LIST,
    KIND_MAP,
    KIND_CHARS,
    KIND_STR
} ParamKind;
typedef enum {
    GROUP_FORK,
    GROUP_EXTRA,
    GROUP_STATE,
    GROUP_OLD,
    GROUP_ORDER,
    GROUP_HOST,
    GROUP_NV
} ParamGroup;
/* Families on which a parameter has a meaning. */
enum { SCOPE_AMD = 1, SCOPE_NV = 2, SCOPE_CPU = 4, SCOPE_GPU = 3, SCOPE_ALL = 7 };

enum { PARAM_WORDS = (PARAM_COUNT + 63) / 64 };

#define CTYPE_BOOL int32_t
#define CTYPE_INT int32_t
#define CTYPE_FLOAT int32_t /* hundredths */
#define CTYPE_ENUM int32_t
#define CTYPE_LIST IntList
#define CTYPE_MAP IntMap
#define CTYPE_CHARS IntList /* index numbers: 0 is I */
#define CTYPE_STR Str

typedef struct Solution {
    const ProblemType *pt;
    const struct CustomKernel *custom; /* the kernel written by hand that CustomKernelName names; else NULL */
    uint64_t present[PARAM_WORDS];     /* bit per row: the state has this key (solution_has) */
#define P(group, field, name, kind, def, legal, scope, help) CTYPE_##kind field;
#include "space/params.def"
#undef P
} Solution;

typedef struct {
    const char *name;
    const char *legal;
    const char *help;
    uint16_t offset; /* of the field in Solution */
    uint16_t id;
    uint8_t kind, group, scope;
} Param;

/* ---- the table -------------------------------------------------------------------------------------------
 */

const Param *param_at(ParamId id);
/* The parameter with exactly this name of Tensile; NULL when unknown. */
const Param *param_find(Str name);
/* The parameter with the most similar name that a user may set; NULL when none is similar. */
const Param *param_nearest(Str name);
/* Value of an enum name, -1 when unknown; name of a value, NULL when out of range. */
int param_enum_value(const Param *p, Str name);
Str param_enum_name(const Param *p, int value);

/* Names of older Tensile versions. */
typedef struct {
    const char *old_name;
    const char *new_names[2]; /* [1] may be NULL; [0] NULL: the parameter is ignored */
    const char *notice;       /* "LdsBlockSizePerPad is now LdsBlockSizePerPadA and LdsBlockSizePerPadB" */
} ParamAlias;
const ParamAlias *param_alias_find(Str name);
/* Why the parameter of that name, which is asked for elsewhere, is unknown here; NULL: nothing is known of
 * the name. */
const char *param_foreign(Str name);

/* True when a truth value is given for a number (PrefetchGlobalRead: True), which is accepted as 1 or 0 with
 * a notice. */
bool param_is_bool_alias(const Param *p, const Node *n);

/* Reads a YAML or msgpack value into the field of p, by its kind: numbers, names of enums, form of lists.
 * Strings are not copied. The message has the value; the caller adds file and line. */
Err param_parse_value(const Param *p, const Node *n, Solution *s);
/* ERR_INPUT with the legal values when a user may not set the value of this field. */
Err param_legal(const Param *p, const Solution *s);
/* The legal values as words, for messages and help. */
void param_legal_print(const Param *p, Buf *out);
/* YAML text of the value: 'true', '4', '0.25', '[8, 8]', '{0: 1}', 'ShiftPtr'. */
void param_print(const Param *p, const Solution *s, Buf *out);
/* True for GlobalLoadVectorWidthA and B, for which 0 has a meaning (above). */
bool param_is_load_width(const Param *p);
/* Bytes of its field in Solution. */
size_t param_size(const Param *p);
bool param_equal(const Param *p, const Solution *a, const Solution *b);
void param_copy(const Param *p, const Solution *from, Solution *to);
/* Why p changes no kernel of a family (SCOPE_AMD, SCOPE_NV or SCOPE_CPU) that accepts it; NULL when it may.
 */
const char *param_no_effect(const Param *p, unsigned family);
/* Prints all rows for `--help-params`: meaning, and treatment by each family; markdown: as a page. */
void params_help(FILE *f, bool markdown);
/* Rows sorted by name in byte order, the order of files and names. */
void params_sorted(ParamId order[PARAM_COUNT]);

/* ---- fields by row ---- */

void *solution_field(Solution *s, const Param *p);
const void *solution_field_const(const Solution *s, const Param *p);

/* Defaults of the table for a problem type; FORK rows present. */
void solution_init(Solution *s, const ProblemType *pt);

/* Does a kernel with a ring of stages copy a sliding window along its outputs (Indices.outputs_first)?
 * Convolutions forward and backward data sum over taps. Operands of matrix instructions keep their order,
 * since fragments are read along K. */
bool ring_copies_outputs(const Solution *s);

static inline bool solution_has(const Solution *s, ParamId id)
{
    return s->present[(unsigned)id >> 6] >> ((unsigned)id & 63) & 1;
}
static inline void solution_mark(Solution *s, ParamId id)
{
    s->present[(unsigned)id >> 6] |= UINT64_C(1) << ((unsigned)id & 63);
}

/* ---- lists ---- */

static inline IntList intlist2(int32_t a, int32_t b) { return (IntList){2, {a, b}}; }
static inline IntList intlist3(int32_t a, int32_t b, int32_t c) { return (IntList){3, {a, b, c}}; }
/* NULL when there is no such key. */
const int32_t *intmap_get(const IntMap *m, int32_t key);
/* False when the map is full. */
bool intmap_set(IntMap *m, int32_t key, int32_t value);

#endif
