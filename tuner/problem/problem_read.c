/* Reads problem types from document trees: configs (strict) and the full maps of logic and solutions files,
 * whose derived keys must agree with the derivation. Also collects notices. */
#include "problem/conv.h"
#include "problem/problem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void notices_init(Notices *n, Arena *a) { *n = (Notices){.arena = a}; }

void notices_add(Notices *n, const char *fmt, ...)
{
    if (!n) return;
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const Str s = str_from(text);
    for (size_t i = 0; i < n->n; i++)
        if (str_eq(n->line[i], s)) return;
    Str *line = n->n < NOTICES_MAX ? arena_grow(n->arena, n->line, n->n, sizeof *line) : NULL;
    if (!line) {
        n->dropped++;
        return;
    }
    n->line = line;
    n->line[n->n] = arena_dup(n->arena, s);
    if (n->line[n->n].s) n->n++;
}

/* The map that is being read, for messages. */
typedef struct {
    const char *file;
    bool strict;
    Notices *notices;
    bool given[96]; /* by position in the table */
} Reader;

static Err read_type(const Reader *r, const Node *n, const char *what, int32_t *out)
{
    DataType t;
    if (n->kind == NODE_INT) {
        if (!type_from_int(n->integer, &t))
            FAIL(ERR_INPUT, "%s:%d: %s: data type number %lld is not in 0..%d", r->file, n->line, what,
                 (long long)n->integer, TYPE_COUNT - 1);
    } else {
        Str text;
        TRY(node_str(n, r->file, what, &text));
        if (!type_find(text, &t))
            return err_context(type_unknown(text), "%s:%d: %s: ", r->file, n->line, what);
    }
    *out = (int32_t)t;
    return 0;
}

static Err read_indices(const Reader *r, const Node *n, const char *what, IndexList *out)
{
    TRY(node_seq(n, r->file, what, 0, INDEX_MAX));
    *out = (IndexList){0};
    for (size_t i = 0; i < n->n; i++) {
        int64_t v;
        TRY(node_int(&n->item[i], r->file, what, 0, INDEX_MAX + 4, &v));
        out->v[out->n++] = (int32_t)v;
    }
    return 0;
}

static Err read_types(const Reader *r, const Node *n, const char *what, IndexList *out)
{
    TRY(node_seq(n, r->file, what, 0, INDEX_MAX));
    *out = (IndexList){0};
    for (size_t i = 0; i < n->n; i++) TRY(read_type(r, &n->item[i], what, &out->v[out->n++]));
    return 0;
}

static Err read_activation(const Reader *r, const Node *n, int32_t *out)
{
    Str text;
    Activation a;
    TRY(node_str(n, r->file, "ActivationType", &text));
    if (!activation_find(text, &a))
        FAIL(ERR_INPUT,
             "%s:%d: ActivationType '%.*s', expected none, abs, clippedrelu, gelu, leakyrelu, relu, sigmoid, "
             "tanh, silu or clamp (a kernel has one, not all that are chosen from at run time)",
             r->file, n->line, (int)(text.n < 64 ? text.n : 64), text.s);
    *out = (int32_t)a;
    return 0;
}

static Err read_scale_ab(const Reader *r, const Node *n, int32_t *out)
{
    Str text = STR("");
    if (n->kind != NODE_NULL) TRY(node_str(n, r->file, "UseScaleAB", &text));
    for (int i = SCALE_AB_NONE; i <= SCALE_AB_VECTOR; i++)
        if (str_eq_c(text, scale_ab_name((ScaleAB)i))) {
            *out = i;
            return 0;
        }
    FAIL(ERR_INPUT, "%s:%d: UseScaleAB '%.*s', expected '', Scalar or Vector", r->file, n->line,
         (int)(text.n < 64 ? text.n : 64), text.s);
}

static Err read_tuples(const Reader *r, const Node *n, const char *what, int32_t width, TupleList *out)
{
    TRY(node_seq(n, r->file, what, 0, TUPLE_MAX));
    *out = (TupleList){.width = n->n ? width : 0};
    for (size_t i = 0; i < n->n; i++) {
        const Node *t = &n->item[i];
        TRY(node_seq(t, r->file, what, (size_t)width, (size_t)width));
        for (int32_t j = 0; j < width; j++) {
            int64_t v;
            TRY(node_int(&t->item[j], r->file, what, -1, INT32_MAX, &v));
            out->v[i][j] = (int32_t)v;
        }
        out->n++;
    }
    return 0;
}

static Err read_conv_pair(const Reader *r, const Node *key, const Node *value, ConvConfig *out)
{
    Str k, v;
    TRY(node_str(key, r->file, "ConvolutionConfig", &k));
    for (int i = 0; i < CONV_KEY_COUNT; i++) {
        if (!str_eq_c(k, conv_key_name((ConvKey)i))) continue;
        TRY(node_str(value, r->file, conv_key_name((ConvKey)i), &v));
        if (v.n >= CONV_TEXT)
            FAIL(ERR_INPUT, "%s:%d: %s: '%.40s...' is too long", r->file, value->line,
                 conv_key_name((ConvKey)i), v.s);
        for (int j = 0; j < out->n; j++)
            if (out->key[j] == i)
                FAIL(ERR_INPUT, "%s:%d: ConvolutionConfig: %s is there twice", r->file, key->line,
                     conv_key_name((ConvKey)i));
        out->key[out->n] = i;
        memcpy(out->value[out->n++], v.s, v.n);
        return 0;
    }
    FAIL(ERR_INPUT, "%s:%d: unknown key '%.*s' in ConvolutionConfig", r->file, key->line,
         (int)(k.n < 64 ? k.n : 64), k.s);
}

static Err read_conv(const Reader *r, const Node *n, ConvConfig *out)
{
    memset(out, 0, sizeof *out);
    if (n->kind == NODE_NULL) return 0;
    TRY(node_seq(n, r->file, "ConvolutionConfig", 0, CONV_KEY_COUNT));
    for (size_t i = 0; i < n->n; i++) {
        const Node *m = &n->item[i];
        TRY(node_map(m, r->file, "ConvolutionConfig"));
        for (size_t j = 0; j < m->n; j++) TRY(read_conv_pair(r, &m->item[2 * j], &m->item[2 * j + 1], out));
    }
    return 0;
}

static Err read_operation(const Reader *r, const Node *n, int32_t *out)
{
    Str text;
    OperationKind op;
    TRY(node_str(n, r->file, "OperationType", &text));
    if (!operation_find(text, &op))
        FAIL(ERR_INPUT,
             "%s:%d: unknown OperationType '%.*s' (legal: GEMM, TensorContraction, ConvolutionForward, "
             "ConvolutionBackwardData, ConvolutionBackwardWeights)",
             r->file, n->line, (int)(text.n < 64 ? text.n : 64), text.s);
    *out = (int32_t)op;
    return 0;
}

/* Three files of rocBLAS have a comma after the value, which makes it a text; Python treats any text as
 * true. */
static bool is_comma_text(const Node *n)
{
    static const char *const texts[] = {"True,", "true,", "False,", "false,"};
    for (int i = 0; n->kind == NODE_STR && i < 4; i++)
        if (str_eq_c(n->text, texts[i])) return true;
    return false;
}

static Err read_value(const Reader *r, const PtKey *key, const Node *n, ProblemType *pt)
{
    void *field = (char *)pt + key->offset;
    int32_t *word = field;
    bool b;
    int64_t v;
    switch ((PtKind)key->kind) {
    case PT_BOOL:
        b = is_comma_text(n);
        if (!b) TRY(node_bool(n, r->file, key->name, &b));
        *word = b;
        return 0;
    case PT_INT:
        TRY(node_int(n, r->file, key->name, 0, INDEX_MAX + 4, &v));
        *word = (int32_t)v;
        return 0;
    case PT_TYPE:
        return read_type(r, n, key->name, word);
    case PT_ACTIVATION:
        return read_activation(r, n, word);
    case PT_SCALE_AB:
        return read_scale_ab(r, n, word);
    case PT_TYPES:
        return read_types(r, n, key->name, field);
    case PT_OPERATION:
        return read_operation(r, n, word);
    case PT_INDICES:
        return read_indices(r, n, key->name, field);
    case PT_TUPLES:
        return read_tuples(r, n, key->name, str_starts(str_from(key->name), "Zero") ? 4 : 2, field);
    case PT_CONV:
        return read_conv(r, n, field);
    }
    return 0;
}

static const char *nearest_key(Str name)
{
    const char *best = NULL;
    unsigned least = (unsigned)(name.n / 2 + 2);
    const PtKey *k;
    for (size_t i = 0; (k = problem_key_at(i)); i++) {
        const unsigned d = str_distance(name, str_from(k->name));
        if (k->group != PT_DERIVED && d < least) {
            least = d;
            best = k->name;
        }
    }
    return best;
}

/* UseInitialStrides of Tensile before 4.9 became UseInitialStridesAB and UseInitialStridesCD. */
static Err read_unknown(Reader *r, const Node *key, const Node *value, Str name, ProblemType *pt)
{
    if (str_eq_c(name, "UseInitialStrides")) {
        bool on;
        TRY(node_bool(value, r->file, "UseInitialStrides", &on));
        if (on) pt->UseInitialStridesAB = pt->UseInitialStridesCD = 1;
        if (r->strict)
            notices_add(r->notices,
                        "%s:%d: UseInitialStrides is now UseInitialStridesAB and UseInitialStridesCD",
                        r->file, key->line);
        return 0;
    }
    if (!r->strict) return 0;
    const char *near = nearest_key(name);
    FAIL(ERR_INPUT, "%s:%d: unknown key '%.*s' in ProblemType%s%s%s", r->file, key->line,
         (int)(name.n < 64 ? name.n : 64), name.s, near ? " (did you mean '" : "", near ? near : "",
         near ? "'?)" : "");
}

static Err read_keys(Reader *r, const Node *node, ProblemType *pt)
{
    for (size_t i = 0; i < node->n; i++) {
        const Node *key = &node->item[2 * i], *value = &node->item[2 * i + 1];
        Str name;
        TRY(node_str(key, r->file, "ProblemType", &name));
        const PtKey *k = problem_key_find(name);
        if (!k) {
            TRY(read_unknown(r, key, value, name, pt));
            continue;
        }
        TRY(read_value(r, k, value, pt));
        r->given[k - problem_key_at(0)] = true;
    }
    return 0;
}

static bool is_given(const Reader *r, const char *name)
{
    return r->given[problem_key_find(str_from(name)) - problem_key_at(0)];
}

/* Derives types that are not given: half and bfloat16 with HighPrecisionAccumulate compute in single. */
static Err derive_types(const Reader *r, const Node *node, ProblemType *pt)
{
    if (!is_given(r, "DataType")) FAIL(ERR_INPUT, "%s:%d: ProblemType has no DataType", r->file, node->line);
    if (!is_given(r, "DestDataType")) pt->DestDataType = pt->DataType;
    if (!is_given(r, "ComputeDataType")) pt->ComputeDataType = pt->DestDataType;
    const bool narrow = pt->DataType == TYPE_H || pt->DataType == TYPE_B;
    if (narrow && pt->ComputeDataType == pt->DataType && pt->HighPrecisionAccumulate) {
        const char *t = type_letter((DataType)pt->DataType);
        pt->ComputeDataType = TYPE_S;
        if (r->strict)
            notices_add(
                r->notices,
                "%s:%d: HighPrecisionAccumulate with ComputeDataType %s: ComputeDataType S is meant (%s%sS)",
                r->file, node->line, t, t, type_letter((DataType)pt->DestDataType));
    }
    return 0;
}

/* Activation False: there is none, whatever ActivationType says (as in TensileLite). An ActivationType alone
 * sets Activation. */
static Err derive_activation(const Reader *r, const Node *node, ProblemType *pt)
{
    if (is_given(r, "Activation") && pt->Activation && !pt->ActivationType)
        FAIL(ERR_INPUT, "%s:%d: Activation without an ActivationType", r->file, node->line);
    if (is_given(r, "Activation") && !pt->Activation) pt->ActivationType = ACTIVATION_NONE;
    pt->Activation = pt->ActivationType != ACTIVATION_NONE;
    return 0;
}

/* Derived keys of the file must equal the derivation; index assignments of a GEMM in a config are replaced.
 */
static Err check_agreement(const Reader *r, const Node *node, const ProblemType *pt, const ProblemType *read)
{
    const PtKey *k;
    Err err = 0;
    Buf have, want;
    buf_init(&have);
    buf_init(&want);
    for (size_t i = 0; !err && (k = problem_key_at(i)); i++) {
        const bool indices =
            str_starts(str_from(k->name), "Index") || str_starts(str_from(k->name), "NumInd");
        if (!r->given[i] || (k->group != PT_DERIVED && !indices) ||
            str_eq_c(STR("AssignedDerivedParameters"), k->name))
            continue;
        buf_reset(&have);
        buf_reset(&want);
        problem_key_print(k, read, &have);
        problem_key_print(k, pt, &want);
        if (str_eq(buf_view(&have), buf_view(&want))) continue;
        const int line = node_get(node, k->name)->line;
        if (r->strict)
            notices_add(r->notices, "%s:%d: %s %s is not used: for this operation it is %s", r->file, line,
                        k->name, buf_cstr(&have), buf_cstr(&want));
        else
            err = err_set(ERR_INPUT, "%s:%d: %s is %s, but the other keys make it %s", r->file, line, k->name,
                          buf_cstr(&have), buf_cstr(&want));
    }
    buf_fini(&have);
    buf_fini(&want);
    return err;
}

/* Index assignments of a convolution, where the file does not have them as logic files do. */
static Err derive_convolution(const Reader *r, const Node *node, ProblemType *pt)
{
    if (pt->OperationType < OP_CONV_FORWARD || is_given(r, "IndexAssignmentsA")) return 0;
    if (!is_given(r, "ConvolutionConfig"))
        FAIL(ERR_INPUT, "%s:%d: %s needs a ConvolutionConfig", r->file, node->line,
             operation_name((OperationKind)pt->OperationType));
    if (!is_given(r, "UseBeta")) pt->UseBeta = 0;
    const Err err = conv_derive(pt);
    return err ? err_context(err, "%s:%d: ConvolutionConfig: ", r->file,
                             node_get(node, "ConvolutionConfig")->line)
               : 0;
}

Err problem_type_read(const char *file, const Node *node, const ProblemReadOptions *options, ProblemType *pt)
{
    Reader r = {.file = file, .strict = options->strict, .notices = options->notices};
    problem_type_init(pt);
    TRY(node_map(node, file, "ProblemType"));
    TRY(read_keys(&r, node, pt));
    TRY(derive_types(&r, node, pt));
    TRY(derive_convolution(&r, node, pt));
    TRY(derive_activation(&r, node, pt));
    const ProblemType read = *pt;
    const Err err = problem_type_derive(pt);
    if (err) return err_context(err, "%s:%d: ProblemType: ", file, node->line);
    return check_agreement(&r, node, pt, &read);
}

Err problem_type_from_node(Arena *a, const char *file, const Node *node, ProblemType *pt)
{
    (void)a;
    return problem_type_read(file, node, &(ProblemReadOptions){0}, pt);
}
