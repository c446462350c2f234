/* The differences between two logic files: sizes that were added or removed, or whose winner or speed
 * changed, and solutions that were added or removed. Two sizes are equal when they have the same meaning:
 * minimal leading dimensions may be written or not. Of a size that a file has twice, the fastest row counts.
 * Solutions are equal when all keys but SolutionIndex and SolutionNameMin are. The command is in
 * diff_command.c. */
#include <stdio.h>
#include <stdlib.h>

#include "logic/diff.h"
#include "logic/merge_internal.h"
#include "problem/sizes.h"

typedef struct {
    Logic l;
    MergeRows rows;
    RowTable table;
    size_t *class; /* of the i-th solution; equal solutions of both files have the same number */
} DiffSide;

typedef struct {
    Arena a;
    DiffSide side[2];
    SolutionPool pool;
    bool summary;
    LogicDiff *out;
} Diff;

/* The number of integers in a row's size without minimal leading dimensions. */
static int32_t meaning(const ProblemType *pt, const LogicRow *r)
{
    ProblemSize s = {.n = r->n};
    if (pt->NumIndicesLD != SIZE_LD_MAX || r->n != pt->TotalIndices + pt->NumIndicesLD) return r->n;
    for (int32_t i = 0; i < r->n; i++) s.v[i] = r->size[i];
    for (int i = 0; i < SIZE_LD_MAX; i++)
        if (s.v[pt->TotalIndices + i] != size_min_ld(pt, &s, i)) return r->n;
    return pt->TotalIndices;
}

static Err side_read(Diff *d, DiffSide *s, const char *path)
{
    TRY(logic_read(&d->a, path, NULL, &s->l));
    TRY_ALLOC(s->class = ARENA_ARRAY(&d->a, s->l.n_solutions, size_t));
    for (size_t i = 0; i < s->l.n_solutions; i++)
        TRY(solution_pool_add(&d->pool, &s->l.solution[i], &s->class[i]));
    for (size_t i = 0; i < s->l.n_rows; i++) {
        const LogicRow *r = &s->l.row[i];
        MergeRow row = {.size = r->size, .n = meaning(s->l.pt, r), .line = r->line, .speed = r->speed};
        row.solution = &s->l.solution[r->solution];
        size_t at = row_table_find(&s->table, &s->rows, &row);
        if (at != SIZE_MAX) {
            if (row.speed > s->rows.v[at].speed) s->rows.v[at] = row;
            continue;
        }
        if (!VEC_PUSH(&s->rows, row)) FAIL(ERR_FAILED, "out of memory for %zu sizes", s->l.n_rows);
        TRY(row_table_put(&s->table, &s->rows, s->rows.n - 1));
    }
    return ERR_OK;
}

static size_t number_of(const DiffSide *s, const LogicSolution *solution)
{
    return (size_t)(solution - s->l.solution);
}

static void print_solution(const DiffSide *s, const LogicSolution *solution)
{
    Str name = solution->s.SolutionNameMin;
    printf("%zu", number_of(s, solution));
    if (name.n) printf(" %.*s", STR_ARG(name));
}

static void print_size(char sign, const MergeRow *r)
{
    printf("%c [", sign);
    for (int32_t i = 0; i < r->n; i++) printf(i ? ", %lld" : "%lld", (long long)r->size[i]);
    printf("] ");
}

static void print_alone(const Diff *d, char sign, const DiffSide *s, const MergeRow *r)
{
    if (d->summary) return;
    print_size(sign, r);
    printf("%.10g by ", r->speed);
    print_solution(s, r->solution);
    putchar('\n');
}

static void compare(Diff *d, const MergeRow *x, const MergeRow *y)
{
    const DiffSide *a = &d->side[0], *b = &d->side[1];
    bool winner = a->class[number_of(a, x->solution)] != b->class[number_of(b, y->solution)];
    bool speed = x->speed < y->speed || x->speed > y->speed;
    d->out->n_winner += winner;
    d->out->n_speed += speed && !winner;
    d->out->n_same += !speed && !winner;
    if (d->summary || (!winner && !speed)) return;
    print_size(winner ? '!' : '~', x);
    printf("%.10g -> %.10g", x->speed, y->speed);
    if (x->speed > 0 && speed) printf(" (%+.1f %%)", 100 * (y->speed / x->speed - 1));
    if (winner) {
        printf(", winner ");
        print_solution(a, x->solution);
        printf(" -> ");
        print_solution(b, y->solution);
    }
    putchar('\n');
}

static void diff_rows(Diff *d)
{
    DiffSide *a = &d->side[0], *b = &d->side[1];
    for (size_t i = 0; i < a->rows.n; i++) {
        size_t at = row_table_find(&b->table, &b->rows, &a->rows.v[i]);
        if (at != SIZE_MAX) {
            compare(d, &a->rows.v[i], &b->rows.v[at]);
            continue;
        }
        d->out->n_gone++;
        print_alone(d, '-', a, &a->rows.v[i]);
    }
    for (size_t i = 0; i < b->rows.n; i++) {
        if (row_table_find(&a->table, &a->rows, &b->rows.v[i]) != SIZE_MAX) continue;
        d->out->n_new++;
        print_alone(d, '+', b, &b->rows.v[i]);
    }
}

/* Counts and prints the solutions that `from` has and `other` has not. */
static Err diff_solutions(Diff *d, const DiffSide *from, const DiffSide *other, char sign, size_t *count)
{
    bool *has = calloc(d->pool.list.n + 1, sizeof *has);
    TRY_ALLOC(has);
    for (size_t i = 0; i < other->l.n_solutions; i++) has[other->class[i]] = true;
    for (size_t i = 0; i < from->l.n_solutions; i++) {
        if (has[from->class[i]]) continue;
        ++*count;
        if (d->summary) continue;
        printf("%c solution ", sign);
        print_solution(from, &from->l.solution[i]);
        putchar('\n');
    }
    free(has);
    return ERR_OK;
}

static bool diff_text(const char *what, Str x, Str y)
{
    if (str_eq(x, y)) return false;
    printf("! %s '%.*s' -> '%.*s'\n", what, STR_ARG(x), STR_ARG(y));
    return true;
}

static bool diff_heads(const Diff *d)
{
    const Logic *x = &d->side[0].l, *y = &d->side[1].l;
    bool differ = diff_text("version", x->version, y->version);
    differ |= diff_text("schedule", x->schedule, y->schedule);
    differ |= diff_text("architecture", x->arch, y->arch);
    differ |= diff_text("metric", logic_metric(x), logic_metric(y));
    differ |= diff_text("distance", logic_distance(x), logic_distance(y));
    differ |= diff_text("Fp16AltImpl", x->fp16_alt, y->fp16_alt);
    differ |= diff_text("Fp16AltImplRound", x->fp16_alt_round, y->fp16_alt_round);
    if (x->cu_count != y->cu_count) printf("! CUCount %d -> %d\n", x->cu_count, y->cu_count), differ = true;
    if (x->is_apu != y->is_apu) printf("! IsAPU %d -> %d\n", x->is_apu, y->is_apu), differ = true;
    if (!problem_type_equal(x->pt, y->pt)) puts("! another problem type"), differ = true;
    bool same_trees = x->trees == y->trees || (x->trees && y->trees && node_equal(x->trees, y->trees));
    bool same_range = x->range == y->range || (x->range && y->range && node_equal(x->range, y->range));
    if (!same_trees) puts("! other decision trees"), differ = true;
    if (!same_range) puts("! other range logic"), differ = true;
    return differ;
}

static Err diff_both(Diff *d, const char *x, const char *y, LogicDiff *out)
{
    TRY(side_read(d, &d->side[0], x));
    TRY(side_read(d, &d->side[1], y));
    bool heads = diff_heads(d);
    diff_rows(d);
    TRY(diff_solutions(d, &d->side[0], &d->side[1], '-', &d->out->n_sol_gone));
    TRY(diff_solutions(d, &d->side[1], &d->side[0], '+', &d->out->n_sol_new));
    out->differ = heads || out->n_gone + out->n_new + out->n_winner + out->n_speed > 0 ||
                  out->n_sol_gone + out->n_sol_new > 0;
    return ERR_OK;
}

Err logic_diff_files(const char *x, const char *y, bool summary, LogicDiff *out)
{
    Diff d = {.summary = summary, .out = out};
    *out = (LogicDiff){0};
    arena_init(&d.a, 0);
    Err e = diff_both(&d, x, y, out);
    for (int i = 0; i < 2; i++) {
        VEC_FINI(&d.side[i].rows);
        row_table_fini(&d.side[i].table);
    }
    solution_pool_fini(&d.pool);
    arena_fini(&d.a);
    return e;
}

void logic_diff_print(const LogicDiff *r)
{
    printf(
        "sizes: %zu gone, %zu new, %zu with another winner, %zu with another speed, %zu the same; solutions: "
        "%zu gone, %zu new\n",
        r->n_gone, r->n_new, r->n_winner, r->n_speed, r->n_same, r->n_sol_gone, r->n_sol_new);
}
