/* Conversions of one logic in memory. See convert.h. */
#include "logic/convert.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logic/merge_internal.h"
#include "problem/datatype.h"
#include "problem/part.h"

/* ---- predicates of sizes ---- */

static int position_of(Str name)
{
    static const char *const names[] = {"m", "n", "b", "k", "ldd", "ldc", "lda", "ldb"};
    for (int i = 0; i < 8; i++)
        if (str_eq_c(name, names[i])) return i;
    return -1;
}

static size_t operator_at(Str text, SizeCondition *c)
{
    static const struct {
        const char *text;
        SizeCompare op;
    } ops[] = {{"<=", CMP_LE}, {">=", CMP_GE}, {"==", CMP_EQ}, {"!=", CMP_NE},
               {"<", CMP_LT},  {">", CMP_GT},  {"=", CMP_EQ}};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (str_starts(text, ops[i].text)) {
            c->op = ops[i].op;
            return strlen(ops[i].text);
        }
    return 0;
}

static bool condition_parse(Str text, SizeCondition *c)
{
    size_t at = 0, n;
    while (at < text.n && !strchr("<>=!%", text.s[at])) at++;
    c->at = position_of(str_trim(str_sub(text, 0, at)));
    c->modulo = 0;
    if (at < text.n && text.s[at] == '%') {
        size_t end = ++at;
        while (end < text.n && !strchr("<>=!%", text.s[end])) end++;
        if (!str_to_i64(str_trim(str_sub(text, at, end)), &c->modulo) || c->modulo < 1) return false;
        at = end;
    }
    n = operator_at(str_sub(text, at, text.n), c);
    return c->at >= 0 && n && str_to_i64(str_trim(str_sub(text, at + n, text.n)), &c->value);
}

Err size_predicate_parse(Str text, SizePredicate *p)
{
    Str rest = text, part;
    while (str_split(&rest, ',', &part)) {
        if (p->n == CONDITIONS_MAX) FAIL(ERR_INPUT, "more than %d conditions on sizes", CONDITIONS_MAX);
        if (!condition_parse(str_trim(part), &p->c[p->n++]))
            FAIL(ERR_INPUT,
                 "condition '%.*s', expected one like m>=1024 or k%%64==0 (m n b k ldd ldc lda ldb)",
                 STR_ARG(part));
    }
    return ERR_OK;
}

static bool condition_holds(const SizeCondition *c, const LogicRow *row)
{
    if (c->at >= row->n) return false;
    int64_t v = row->size[c->at];
    if (c->modulo) v %= c->modulo;
    switch (c->op) {
    case CMP_LT:
        return v < c->value;
    case CMP_LE:
        return v <= c->value;
    case CMP_GT:
        return v > c->value;
    case CMP_GE:
        return v >= c->value;
    case CMP_EQ:
        return v == c->value;
    default:
        return v != c->value;
    }
}

bool size_predicate_holds(const SizePredicate *p, const LogicRow *row)
{
    for (int i = 0; i < p->n; i++)
        if (!condition_holds(&p->c[i], row)) return false;
    return true;
}

static void filter(Logic *l, const ConvertOptions *o, ConvertReport *r)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n_rows; i++) {
        bool stays = size_predicate_holds(&o->keep, &l->row[i]) &&
                     !(o->remove.n && size_predicate_holds(&o->remove, &l->row[i]));
        if (stays) l->row[n++] = l->row[i];
    }
    r->n_filtered = l->n_rows - n;
    l->n_rows = n;
}

/* ---- units ---- */

typedef struct {
    const char *arch, *schedule;
    int n_cu;
    DataType type;
    int vector, matrix;
} Spec;

static const Spec specs[] = {
#define SPEC(arch, schedule, n_cu, type, vector, matrix) {arch, schedule, n_cu, TYPE_##type, vector, matrix},
#include "logic/specs.def"
#undef SPEC
};

/* The type whose peak rate applies: the real type of a complex one. */
static DataType rate_type(const ProblemType *pt)
{
    if (pt->DataType == TYPE_C) return TYPE_S;
    if (pt->DataType == TYPE_Z) return TYPE_D;
    if (pt->DataType == TYPE_S && pt->F32XdlMathOp == TYPE_X) return TYPE_X;
    return (DataType)pt->DataType;
}

static const Spec *spec_find(const Logic *l, const ConvertOptions *o)
{
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        bool same = o->arch.s ? str_eq_c(o->arch, specs[i].arch)
                              : str_eq_c(l->arch, specs[i].arch) || str_eq_c(l->schedule, specs[i].schedule);
        if (same && specs[i].type == rate_type(l->pt)) return &specs[i];
    }
    return NULL;
}

static bool uses_matrix(const Logic *l, const ConvertOptions *o)
{
    if (o->peak != PEAK_BY_SOLUTIONS) return o->peak == PEAK_MATRIX;
    for (size_t i = 0; i < l->n_solutions; i++) {
        const LogicSolution *s = &l->solution[i];
        if (solution_has(&s->s, PARAM_EnableMatrixInstruction) && s->s.EnableMatrixInstruction) return true;
    }
    return false;
}

/* The compute units that all parts of the file's DeviceNames have; 0: the parts are unknown or differ. */
static int cus_of_devices(const Logic *l, const ConvertOptions *o)
{
    PartList list;
    const Target *t = target_find(l->arch);
    if (!t || (o->arch.s && !str_eq(o->arch, l->arch))) return 0;
    parts_of_devices(t, l->device, l->n_devices, &list);
    return list.same ? list.n_cu : 0;
}

static Err peak_of(const Logic *l, const ConvertOptions *o, double *peak)
{
    const Spec *spec = spec_find(l, o);
    bool matrix = uses_matrix(l, o), complex = l->pt->DataType == TYPE_C || l->pt->DataType == TYPE_Z;
    int rate = !spec ? 0 : matrix ? spec->matrix : spec->vector;
    if (complex) rate /= 4; /* speeds count two of the eight flops of a complex multiply-add */
    if (o->flops_per_cycle) rate = o->flops_per_cycle;
    int named = cus_of_devices(l, o);
    int n_cu = o->n_cu ? o->n_cu : l->cu_count ? l->cu_count : named ? named : spec ? spec->n_cu : 0;
    if (!(o->sclk_mhz > 0)) FAIL(ERR_INPUT, "no clock, expected --sclk with the MHz that the tuning ran at");
    if (!rate)
        FAIL(ERR_INPUT,
             "%s: no %s rate of type %s on '%.*s' in the table, expected --arch (where it was tuned) or "
             "--flops-per-cycle",
             l->path, matrix ? "matrix" : "vector", type_letter(rate_type(l->pt)),
             STR_ARG(o->arch.s ? o->arch : l->arch));
    if (o->per_cu || str_eq_c(logic_metric(l), "CUEfficiency")) n_cu = 1;
    if (!n_cu)
        FAIL(ERR_INPUT, "%s: no count of compute units of '%.*s', expected --cus", l->path, STR_ARG(l->arch));
    *peak = o->sclk_mhz / 1000 * rate * n_cu;
    return ERR_OK;
}

/* As Python's round(x, 3): the decimal nearest to the exact value. */
static double round3(double v)
{
    char text[400];
    snprintf(text, sizeof text, "%.3f", v);
    return strtod(text, NULL);
}

static Err speeds(Logic *l, const ConvertOptions *o, ConvertReport *r)
{
    TRY(peak_of(l, o, &r->peak_gflops));
    for (size_t i = 0; i < l->n_rows; i++) {
        double *v = &l->row[i].speed;
        if (o->to == UNIT_EFFICIENCY)
            *v = round3(100 * (*v / r->peak_gflops));
        else
            *v = *v / 100 * r->peak_gflops;
    }
    return ERR_OK;
}

/* ---- sizes and solutions ---- */

static Err trim_rows(Logic *l, MergeRows *rows, RowTable *table, ConvertReport *r)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n_rows; i++) {
        LogicRow row = l->row[i];
        if (l->pt->NumIndicesLD && row.n > l->pt->TotalIndices) row.n = l->pt->TotalIndices;
        MergeRow key = {.size = row.size, .n = row.n, .speed = row.speed};
        size_t at = row_table_find(table, rows, &key);
        if (at != SIZE_MAX) {
            r->n_doubles++;
            if (row.speed > l->row[at].speed) l->row[at] = row;
            continue;
        }
        if (!VEC_PUSH(rows, key)) FAIL(ERR_FAILED, "out of memory for %zu sizes", l->n_rows);
        TRY(row_table_put(table, rows, n));
        l->row[n++] = row;
    }
    l->n_rows = n;
    return ERR_OK;
}

static Err trim(Logic *l, ConvertReport *r)
{
    MergeRows rows = {0};
    RowTable table = {0};
    Err e = trim_rows(l, &rows, &table, r);
    VEC_FINI(&rows);
    row_table_fini(&table);
    return e;
}

static Err remove_unused(Arena *a, Logic *l, ConvertReport *r)
{
    size_t n = 0;
    int32_t *number = ARENA_ARRAY(a, l->n_solutions, int32_t);
    TRY_ALLOC(number);
    if (l->trees || l->range || l->tiles)
        FAIL(ERR_INPUT,
             "%s: decision trees, range logic or tile selection use solutions too, expected a table alone",
             l->path);
    for (size_t i = 0; i < l->n_rows; i++) number[l->row[i].solution] = 1;
    for (size_t i = 0; i < l->n_solutions; i++) {
        if (!number[i]) continue;
        l->solution[n] = l->solution[i];
        number[i] = (int32_t)n++;
    }
    for (size_t i = 0; i < l->n_rows; i++) l->row[i].solution = number[l->row[i].solution];
    r->n_unused = l->n_solutions - n;
    l->n_solutions = n;
    return ERR_OK;
}

static void reindex(Logic *l)
{
    for (size_t i = 0; i < l->n_solutions; i++) logic_solution_number(&l->solution[i], (int32_t)i);
}

Err logic_convert(Arena *a, Logic *l, const ConvertOptions *o, ConvertReport *r)
{
    *r = (ConvertReport){0};
    filter(l, o, r);
    if (o->trim) TRY(trim(l, r));
    if (o->to != UNIT_AS_IS) TRY(speeds(l, o, r));
    if (o->remove_unused) TRY(remove_unused(a, l, r));
    if (o->reindex || o->remove_unused) reindex(l);
    for (size_t i = 0; i < l->n_rows; i++) r->highest = fmax(r->highest, l->row[i].speed);
    return ERR_OK;
}
