/* The levels of the hierarchy above the tables: grouping, order of rows, predicates. See library_tree.h. */
#include "createlib/library_tree.h"

#include <stdlib.h>
#include <string.h>

#include "createlib/library_internal.h"
#include "createlib/library_table.h"
#include "problem/predicate.h"

void library_placeholder(const Logic *l, Str operation, Buf *out)
{
    DataType a, b;
    Str metric = logic_metric(l);
    problem_ab_types(l->pt, &a, &b);
    buf_printf(out, "TensileLibrary_Type_%s%s", type_letter(a), type_letter((DataType)l->pt->DestDataType));
    if (l->pt->HighPrecisionAccumulate) buf_puts(out, "_HPA");
    if (l->fp16_alt_round.s) buf_puts(out, "_Fp16AltRnz");
    if (l->fp16_alt.s) buf_puts(out, "_Fp16Alt");
    if (!str_eq_c(metric, "DeviceEfficiency")) buf_printf(out, "_%.*s", STR_ARG(metric));
    buf_printf(out, "_%.*s", STR_ARG(operation));
    if (l->cu_count) buf_printf(out, "_CU%d", l->cu_count);
    if (l->is_apu >= 0) buf_puts(out, l->is_apu ? "_APU" : "_XPU");
    buf_printf(out, "_%.*s", STR_ARG(l->arch));
}

/* ---- levels ---- */

typedef enum {
    LEVEL_HARDWARE,
    LEVEL_OPERATION,
    LEVEL_METRIC,
    LEVEL_FP16,
    LEVEL_FP16_ROUND,
    LEVEL_TYPES,
    LEVELS
} Level;

static bool is_fallback(const Logic *l) { return str_eq_c(l->arch, "fallback"); }
static bool is_device_metric(const Logic *l) { return str_eq_c(logic_metric(l), "DeviceEfficiency"); }

static int cmp_int(int64_t a, int64_t b) { return (a > b) - (a < b); }

/* Order of hardware rows: fallback last; APU before XPU before any; more CUs first; then by name. */
static int cmp_hardware(const Logic *a, const Logic *b)
{
    if (is_fallback(a) || is_fallback(b)) return cmp_int(is_fallback(a), is_fallback(b));
    if (a->is_apu != b->is_apu) return cmp_int(b->is_apu, a->is_apu);
    if (a->cu_count != b->cu_count) return cmp_int(b->cu_count, a->cu_count);
    return str_cmp(a->arch, b->arch);
}

static int cmp_metric(const Logic *a, const Logic *b)
{
    if (is_device_metric(a) || is_device_metric(b)) return cmp_int(is_device_metric(a), is_device_metric(b));
    return str_cmp(logic_metric(a), logic_metric(b));
}

static int cmp_types(const ProblemType *a, const ProblemType *b)
{
    int c = cmp_int(a->DataType, b->DataType);
    if (!c) c = cmp_int(a->DestDataType, b->DestDataType);
    if (!c) c = cmp_int(a->HighPrecisionAccumulate, b->HighPrecisionAccumulate);
    if (!c) c = cmp_int(a->F32XdlMathOp, b->F32XdlMathOp);
    return c ? c : cmp_int(a->StochasticRounding, b->StochasticRounding);
}

static int cmp_level(Level level, const LibraryPart *x, const LibraryPart *y)
{
    const Logic *a = x->logic, *b = y->logic;
    switch (level) {
    case LEVEL_HARDWARE:
        return cmp_hardware(a, b);
    case LEVEL_OPERATION:
        return str_cmp(x->operation, y->operation);
    case LEVEL_METRIC:
        return cmp_metric(a, b);
    case LEVEL_FP16:
        return cmp_int(!a->fp16_alt.s, !b->fp16_alt.s);
    case LEVEL_FP16_ROUND:
        return cmp_int(!a->fp16_alt_round.s, !b->fp16_alt_round.s);
    case LEVEL_TYPES:
        return cmp_types(a->pt, b->pt);
    case LEVELS:
        break;
    }
    return 0;
}

static int cmp_parts(const LibraryPart *a, const LibraryPart *b)
{
    for (int level = 0; level < LEVELS; level++) {
        int c = cmp_level((Level)level, a, b);
        if (c) return c;
    }
    return 0;
}

/* A stable sort: equal parts keep the order of the files. */
static bool sort_parts(LibraryPart *part, size_t n)
{
    LibraryPart *other = n ? malloc(n * sizeof *other) : NULL;
    if (n && !other) return false;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t low = 0; low < n; low += 2 * width) {
            size_t mid = low + width < n ? low + width : n, high = low + 2 * width < n ? low + 2 * width : n;
            for (size_t i = low, j = mid, k = low; k < high; k++)
                other[k] =
                    i < mid && (j == high || cmp_parts(&part[i], &part[j]) <= 0) ? part[i++] : part[j++];
        }
        memcpy(part, other, n * sizeof *part);
    }
    free(other);
    return true;
}

static size_t count_groups(Level level, const LibraryPart *part, size_t n)
{
    size_t groups = n > 0;
    for (size_t i = 1; i < n; i++) groups += cmp_level(level, &part[i - 1], &part[i]) != 0;
    return groups;
}

/* ---- predicates of the levels ---- */

static Err emit_types(Emit *e, const ProblemType *pt)
{
    Arena a;
    DataType ta, tb;
    const PredOp *pred = NULL;
    arena_init(&a, 0);
    PredList l = {.arena = &a};
    unsigned d = (unsigned)pt->DestDataType;
    problem_ab_types(pt, &ta, &tb);
    Err err = pred_add(&l, PRED_TYPES, 0, types_pack((unsigned)ta, (unsigned)tb, d, d));
    if (!err) err = pred_add(&l, PRED_HPA, 0, pt->HighPrecisionAccumulate);
    if (!err) err = pred_add(&l, PRED_F32_XDL, 0, pt->F32XdlMathOp);
    if (!err) err = pred_add(&l, PRED_STOCHASTIC, 0, pt->StochasticRounding);
    if (!err) err = pred_finish(&l, &pred);
    if (!err) predicate_emit(e, pred);
    arena_fini(&a);
    return err;
}

static Err emit_predicate(Emit *e, Level level, const Logic *l)
{
    Str metric = logic_metric(l);
    switch (level) {
    case LEVEL_HARDWARE:
        hardware_pred_emit(e, is_fallback(l) ? STR("") : l->arch, l->cu_count, l->is_apu);
        return ERR_OK;
    case LEVEL_METRIC:
        emit_map(e, 1, true);
        emit_key_str(e, "type", is_device_metric(l) ? STR("TruePred") : metric);
        emit_end(e);
        return ERR_OK;
    case LEVEL_FP16:
        emit_type_only(e, l->fp16_alt.s ? "Fp16AltImpl" : "TruePred");
        return ERR_OK;
    case LEVEL_FP16_ROUND:
        emit_type_only(e, l->fp16_alt_round.s ? "Fp16AltImplRound" : "TruePred");
        return ERR_OK;
    case LEVEL_TYPES:
        return emit_types(e, l->pt);
    case LEVEL_OPERATION:
    case LEVELS:
        break;
    }
    FAIL(ERR_FAILED, "no predicate at level %d", (int)level);
}

/* ---- the tree ---- */

static Err emit_level(Emit *e, TreeKind kind, int level, const LibraryPart *part, size_t n);

static Err emit_below(Emit *e, TreeKind kind, int level, const LibraryPart *part, size_t n)
{
    if (level + 1 < LEVELS) return emit_level(e, kind, level + 1, part, n);
    if (kind == TREE_FULL) return library_emit_tables(e, part, n);
    emit_map(e, 2, true);
    emit_key_str(e, "type", STR("Placeholder"));
    emit_key_str(e, "value", part->placeholder);
    emit_end(e);
    return ERR_OK;
}

static size_t group_end(Level level, const LibraryPart *part, size_t from, size_t n)
{
    size_t to = from + 1;
    while (to < n && cmp_level(level, &part[from], &part[to]) == 0) to++;
    return to;
}

static Err emit_map_level(Emit *e, TreeKind kind, const LibraryPart *part, size_t n)
{
    emit_map(e, 3, false);
    emit_cstr(e, "map");
    emit_map(e, count_groups(LEVEL_OPERATION, part, n), false);
    for (size_t from = 0, to; from < n; from = to) {
        to = group_end(LEVEL_OPERATION, part, from, n);
        emit_str(e, part[from].operation);
        TRY(emit_below(e, kind, LEVEL_OPERATION, part + from, to - from));
    }
    emit_end(e);
    emit_cstr(e, "property");
    emit_type_only(e, "OperationIdentifier");
    emit_key_str(e, "type", STR("ProblemMap"));
    emit_end(e);
    return ERR_OK;
}

static Err emit_level(Emit *e, TreeKind kind, int level, const LibraryPart *part, size_t n)
{
    if (level == LEVEL_OPERATION) return emit_map_level(e, kind, part, n);
    size_t groups = count_groups((Level)level, part, n);
    emit_map(e, 2, false);
    emit_cstr(e, "rows");
    emit_seq(e, groups, groups == 0);
    for (size_t from = 0, to; from < n; from = to) {
        to = group_end((Level)level, part, from, n);
        emit_map(e, 2, false);
        emit_cstr(e, "library");
        TRY(emit_below(e, kind, level, part + from, to - from));
        emit_cstr(e, "predicate");
        TRY(emit_predicate(e, (Level)level, part[from].logic));
        emit_end(e);
    }
    emit_end(e);
    emit_key_str(e, "type", level == LEVEL_HARDWARE ? STR("Hardware") : STR("Problem"));
    emit_end(e);
    return ERR_OK;
}

static int cmp_index(const void *x, const void *y)
{
    const LibrarySolution *const *a = x, *const *b = y;
    return cmp_int((*a)->index, (*b)->index);
}

static Err emit_solutions(Emit *e, const LibraryPart *part, size_t n)
{
    size_t total = 0, count = 0;
    for (size_t i = 0; i < n; i++) total += part[i].logic->n_solutions;
    const LibrarySolution **list = malloc((total + 1) * sizeof(const LibrarySolution *));
    TRY_ALLOC(list);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < part[i].logic->n_solutions; j++)
            if (part[i].solution[j].index >= 0) list[count++] = &part[i].solution[j];
    qsort(list, count, sizeof *list, cmp_index);
    emit_seq(e, count, count == 0);
    Err err = ERR_OK;
    for (size_t i = 0; !err && i < count; i++) err = library_emit_solution(e, list[i]);
    emit_end(e);
    free(list);
    return err;
}

static Err emit_document(Emit *e, TreeKind kind, const LibraryPart *part, size_t n, const LibraryHead *head)
{
    emit_map(e, 2u + (head->version != NULL) + head->print_debug, false);
    emit_cstr(e, "library");
    TRY(kind == TREE_LEAF ? library_emit_tables(e, part, n) : emit_level(e, kind, LEVEL_HARDWARE, part, n));
    if (head->print_debug) {
        emit_cstr(e, "libraryPrintDebug");
        emit_bool(e, true);
    }
    emit_cstr(e, "solutions");
    TRY(emit_solutions(e, part, kind == TREE_LAZY ? 0 : n));
    if (head->version) emit_key_str(e, "version", str_from(head->version));
    emit_end(e);
    return emit_finish(e);
}

Err library_emit_tree(Buf *out, LibraryFormat f, TreeKind kind, LibraryPart *part, size_t n,
                      const LibraryHead *head)
{
    if (!sort_parts(part, n)) FAIL(ERR_FAILED, "out of memory for %zu logic files", n);
    library_begin(out, f);
    Emit *e = f == LIBRARY_YAML ? emit_yaml(out) : emit_msgpack(out);
    TRY_ALLOC(e);
    Err err = emit_document(e, kind, part, n, head);
    emit_free(e);
    return err;
}

Err library_write_tree(const char *path, LibraryFormat f, TreeKind kind, LibraryPart *part, size_t n,
                       const LibraryHead *head)
{
    Buf out;
    buf_init(&out);
    Err err = library_emit_tree(&out, f, kind, part, n, head);
    if (!err) err = library_finish(path, f, &out);
    buf_fini(&out);
    return err;
}
