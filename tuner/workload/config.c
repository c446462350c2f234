/* A config for the sizes of a workload. See write.h. */
#include <inttypes.h>
#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "fmt/write.h"
#include "problem/conv.h"
#include "logic/logic.h"
#include "workload/write.h"

/* A size-group of a base config and how well it fits a problem type. */
typedef struct {
    const WorkloadBase *base;
    const Node *group;
    int fit; /* 0: not at all */
} Choice;

enum { FIT_TYPES = 1, FIT_TRANSPOSES = 2, FIT_WHOLE = 4, FIT_OPERATION = 8 };

static int fit_of(const ProblemType *have, const ProblemType *want)
{
    if (have->DataType != want->DataType || have->F32XdlMathOp != want->F32XdlMathOp) return 0;
    const bool operation = have->OperationType == want->OperationType;
    if (!operation && !problem_is_gemm(have)) return 0;
    bool types = have->DestDataType == want->DestDataType && have->ComputeDataType == want->ComputeDataType;
    bool transposes = have->TransposeA == want->TransposeA && have->TransposeB == want->TransposeB;
    return FIT_TYPES + (transposes ? FIT_TRANSPOSES : 0) + (types ? FIT_WHOLE : 0) +
           (operation ? FIT_OPERATION : 0);
}

static Err choose_in(Arena *a, const WorkloadBase *b, const ProblemType *want, Choice *best)
{
    const Node *problems = node_get(b->root, "BenchmarkProblems");
    for (size_t i = 0; problems && problems->kind == NODE_SEQ && i < problems->n; i++) {
        const Node *problem = node_at(problems, i);
        ProblemType have;
        if (problem->kind != NODE_SEQ || problem->n < 2) continue;
        TRY(problem_type_from_node(a, b->path, node_at(problem, 0), &have));
        int fit = fit_of(&have, want);
        if (fit > best->fit) *best = (Choice){b, node_at(problem, 1), fit};
    }
    return ERR_OK;
}

/* Types and transposes always, other settings where they are not the usual ones. */
static void problem_emit(const ProblemType *pt, Buf *out)
{
    static const struct {
        const char *name;
        bool always;
    } shown[] = {{"ComplexConjugateA", false},
                 {"ComplexConjugateB", false},
                 {"ComputeDataType", true},
                 {"DataType", true},
                 {"DestDataType", true},
                 {"F32XdlMathOp", false},
                 {"HighPrecisionAccumulate", false},
                 {"StridedBatched", false},
                 {"TransposeA", true},
                 {"TransposeB", true}};
    ProblemType usual;
    problem_type_init(&usual);
    const bool gemm = problem_is_gemm(pt);
    buf_printf(out, "    - {OperationType: %s", operation_name((OperationKind)pt->OperationType));
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const PtKey *key = problem_key_find(str_from(shown[i].name));
        const int32_t *mine = (const void *)((const char *)pt + key->offset);
        const int32_t *other = (const void *)((const char *)&usual + key->offset);
        if (!shown[i].always && *mine == *other) continue;
        if (!gemm && str_starts(str_from(key->name), "Transpose")) continue;
        buf_printf(out, ", %s: %s", key->name,
                   key->kind == PT_TYPE ? type_letter((DataType)*mine)
                   : *mine              ? "True"
                                        : "False");
    }
    if (!gemm) {
        buf_puts(out, ", UseBeta: False, Batched: True,\n       ConvolutionConfig: ");
        problem_key_print(problem_key_find(STR("ConvolutionConfig")), pt, out);
        buf_puts(out, "}\n");
        return;
    }
    buf_puts(out, ", UseBeta: True, Batched: True}\n");
}

/* One node as indented YAML of a config. */
static Err node_text(const Node *n, const char *key, int indent, Buf *out)
{
    Buf text;
    buf_init(&text);
    Emit *e = emit_yaml(&text);
    if (!e) FAIL(ERR_FAILED, "out of memory");
    emit_map(e, 1, false);
    emit_cstr(e, key);
    logic_node_emit(n, e);
    emit_end(e);
    Err err = emit_finish(e);
    emit_free(e);
    Str rest = buf_view(&text), line;
    while (!err && str_split(&rest, '\n', &line))
        if (line.n) buf_printf(out, "%*s%.*s\n", indent, "", STR_ARG(line));
    buf_fini(&text);
    return err;
}

static void gemm_emit(const WorkloadCall *c, Buf *out)
{
    const GemmCall *g = &c->call;
    bool ta = g->op[0] != 'N', tb = g->op[1] != 'N';
    const int64_t rows[4] = {ta ? g->k : g->m, tb ? g->n : g->k, g->m, g->m};
    const int64_t columns[4] = {ta ? g->m : g->k, tb ? g->k : g->n, g->n, g->n};
    bool packed = true, dense = true;
    for (int i = 0; i < 4; i++) {
        packed &= g->ld[i] == rows[i];
        dense &= g->batch == 1 || g->batched || g->stride[i] == g->ld[i] * columns[i];
    }
    buf_printf(out, "          - Exact: {sizes: [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64, g->m, g->n,
               g->batch, g->k);
    if (!packed)
        buf_printf(out, ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64, g->ld[CALL_D], g->ld[CALL_C],
                   g->ld[CALL_A], g->ld[CALL_B]);
    buf_puts(out, "]");
    if (!dense) {
        static const char names[] = "ABCD";
        for (int i = 0; i < 4; i++)
            buf_printf(out, ", strides%c: [-1, %" PRId64 ", %" PRId64 "]", names[i], g->ld[i], g->stride[i]);
    }
}

void workload_conv_size(const ConvDesc *c, Buf *out)
{
    static const struct {
        const char *letter[CONV_SPATIAL];
        size_t offset;
    } fields[] = {
        {{"w", "h", "d"}, offsetof(ConvSize, in)},       {{"x", "y", "z"}, offsetof(ConvSize, filter)},
        {{"v", "u", "'#'"}, offsetof(ConvSize, stride)}, {{"j", "l", "^"}, offsetof(ConvSize, dilation)},
        {{"q", "p", "$"}, offsetof(ConvSize, pad)},      {{"q_", "p_", "$_"}, offsetof(ConvSize, pad_end)}};
    const ConvSize *s = &c->size;
    buf_printf(out, "          - Conv: {n: %" PRId64 ", c: %" PRId64 ", k: %" PRId64, s->n, s->c, s->k);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const int64_t *v = (const void *)((const char *)s + fields[i].offset);
        for (int d = c->n_spatial - 1; d >= 0; d--)
            buf_printf(out, ", %s: %" PRId64, fields[i].letter[d], v[d]);
    }
    buf_printf(out, ", g: %" PRId64, s->groups);
}

/* Whether the sizes of a config can have it; if not, the message says why. */
static bool size_is_legal(const WorkloadType *x, const WorkloadCall *c)
{
    int64_t n;
    ConvPart part;
    return !c->conv ||
           (!conv_n_parts(&x->pt, &c->conv->size, &n) && !conv_part(&x->pt, &c->conv->size, 0, &part));
}

static void size_emit(const WorkloadType *x, const WorkloadCall *c, double share, Buf *out)
{
    if (!size_is_legal(x, c)) {
        buf_puts(out, "          # left out: ");
        conv_desc_print(c->conv, out);
        buf_printf(out, ": %s\n", err_message());
        err_clear();
        return;
    }
    if (c->conv)
        workload_conv_size(c->conv, out);
    else
        gemm_emit(c, out);
    buf_printf(out, ", count: %" PRId64 "} # %.2g %%\n", c->count, 100 * share);
}

/* Warns of sizes that the config cannot have. Returns whether there are others. */
static bool any_legal(const WorkloadType *x, const char *name)
{
    char why[512] = "";
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++) {
        if (size_is_legal(x, x->call[i])) continue;
        if (n++ == 0) snprintf(why, sizeof why, "%s", err_message());
        err_clear();
    }
    if (n) warning("%s: %zu of its %zu sizes are left out: %s", name, n, x->n, why);
    return n < x->n;
}

static Err group_emit(const WorkloadTypes *w, const WorkloadType *x, const Choice *choice, const char *name,
                      Buf *out)
{
    static const char *const sections[] = {"InitialSolutionParameters", "BenchmarkCommonParameters",
                                           "ForkParameters"};
    Str base = path_base(str_from(choice->base->path));
    buf_printf(out, "  - # %s: %" PRId64 " call%s, %.3g %% of the time; search ranges of %.*s%s\n", name,
               x->n_calls, x->n_calls == 1 ? "" : "s", 100 * x->total / w->total, STR_ARG(base),
               choice->fit == FIT_TYPES + FIT_TRANSPOSES + FIT_WHOLE + FIT_OPERATION
                   ? ""
                   : ", which has similar types");
    problem_emit(&x->pt, out);
    bool first = true;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        const Node *n = node_get(choice->group, sections[i]);
        if (!n || n->kind == NODE_NULL) continue;
        size_t at = out->n;
        TRY(node_text(n, sections[i], 6, out));
        if (first && !out->failed) out->s[at + 4] = '-';
        first = false;
    }
    buf_printf(out, "    %c BenchmarkFinalParameters:\n        - ProblemSizes:\n", first ? '-' : ' ');
    for (size_t i = 0; i < x->n; i++) size_emit(x, x->call[i], x->seconds[i] / w->total, out);
    return ERR_OK;
}

/* Appends the group of a problem type to out, or counts it as left out. *root: the first base in use. */
static Err type_emit(const WorkloadTypes *w, const WorkloadType *x, const WorkloadBase *base, size_t n_base,
                     Arena *a, const Node **root, size_t *n_left, Buf *out)
{
    Choice best = {0};
    Buf name;
    Err e = ERR_OK;
    for (size_t b = 0; b < n_base; b++) TRY(choose_in(a, &base[b], &x->pt, &best));
    buf_init(&name);
    problem_type_name(&x->pt, &name);
    if (best.fit && any_legal(x, buf_cstr(&name))) {
        if (!*root) *root = best.base->root;
        e = group_emit(w, x, &best, buf_cstr(&name), out);
    } else {
        if (!best.fit)
            warning("no config has search ranges for %s: its %zu sizes are left out (name a config with "
                    "--base)",
                    buf_cstr(&name), x->n);
        ++*n_left;
    }
    buf_fini(&name);
    return e;
}

static Err section_emit(const Node *root, const char *name, Buf *out)
{
    const Node *n = node_get(root, name);
    return n && n->kind == NODE_MAP ? node_text(n, name, 0, out) : ERR_OK;
}

Err workload_config(const WorkloadTypes *w, const char *source, const WorkloadBase *base, size_t n_base,
                    Arena *a, Buf *out, size_t *n_left)
{
    const Node *root = NULL;
    Buf groups;
    Err e = ERR_OK;
    *n_left = 0;
    buf_init(&groups);
    for (size_t i = 0; i < w->n && !e; i++)
        e = type_emit(w, &w->type[i], base, n_base, a, &root, n_left, &groups);
    if (!e && !root) e = err_set(ERR_INPUT, "no config has search ranges for these problem types (--base)");
    buf_printf(out,
               "# Sizes of %s, with the number of their calls and their share of the time.\n"
               "# The most expensive ones come first; together they take %.4g %% of it.\n",
               source, 100 * w->share);
    if (!e) e = section_emit(root, "GlobalParameters", out);
    buf_puts(out, "BenchmarkProblems:\n");
    buf_str(out, buf_view(&groups));
    if (!e) e = section_emit(root, "LibraryLogic", out);
    buf_puts(out, "LibraryClient:\n");
    if (!e) e = groups.failed ? err_set(ERR_FAILED, "out of memory") : buf_check(out);
    buf_fini(&groups);
    return e;
}
