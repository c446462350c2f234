/* The winners table. See winners.h. */
#include "report/winners.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH_MIN = 40, SIZE_COLUMNS = 22 };

typedef struct {
    const PlanView *p;
    const size_t *chosen;
    const WinnersOptions *o;
    size_t *number; /* of each candidate in the list of names below the table; 0: not listed */
    size_t n_named;
    FILE *f;
} Table;

/* The part of a size key after the problem type. */
static Str size_of(Str key)
{
    size_t blank = str_find(key, ' ', 0);
    return blank < key.n ? str_sub(key, blank + 1, key.n) : key;
}

/* "M,N,batch,K" of "M,N,batch,K,LDD,LDC,LDA,LDB". */
static Str without_lds(Str size)
{
    size_t n = 0, end = size.n;
    for (size_t i = size.n; i-- > 0 && n < 4;)
        if (size.s[i] == ',') n++, end = i;
    return n == 4 && memchr(size.s, ' ', size.n) == NULL ? str_sub(size, 0, end) : size;
}

/* Leading dimensions are shown only where two sizes of the plan differ in nothing else. */
static Str size_shown(const PlanView *p, size_t z)
{
    Str all = size_of(p->size[z].key), brief = without_lds(all);
    if (p->size[z].conv.n) return p->size[z].conv;
    for (size_t i = 0; i < p->n_sizes; i++) {
        Str other = size_of(p->size[i].key);
        if (str_eq(without_lds(other), brief) && !str_eq(other, all)) return all;
    }
    return brief;
}

/* Four significant digits without an exponent. */
static void speed_print(char *to, size_t size, double gflops)
{
    snprintf(to, size, gflops >= 1000 ? "%.0f" : "%.4g", gflops);
}

static void interval_print(const SizeRow *z, const Result *r, char *to, size_t size)
{
    char lo[32], hi[32];
    if (r->ns.n < 2) {
        snprintf(to, size, "one sample");
        return;
    }
    speed_print(lo, sizeof lo, gflops_of(z->flops, r->ns.hi));
    speed_print(hi, sizeof hi, gflops_of(z->flops, r->ns.lo));
    snprintf(to, size, "%s..%s%s", lo, hi, r->ns.level < 0.949 ? " few" : "");
}

static void other_print(const SizeRow *z, const Ranking *r, size_t used, bool covered, char *to, size_t size)
{
    size_t other = used == r->best ? r->second : r->best;
    char speed[32];
    if (other == SIZE_MAX) {
        snprintf(to, size, "-");
        return;
    }
    /* The logic names another solution than the fastest only if their times are a tie, or if MaxLoss left the
     * fastest out. */
    bool tie = used != r->best || r->versus.verdict != STATS_FASTER;
    speed_print(speed, sizeof speed, gflops_of(z->flops, r->result[other].ns.median));
    snprintf(to, size, "%s%s", speed, used != r->best && covered ? " left" : tie ? " tie" : "");
}

static void row_print(Table *t, size_t z, const Ranking *r)
{
    const SizeRow *row = &t->p->size[z];
    Str size = size_shown(t->p, z);
    size_t used = t->chosen ? t->chosen[z] : r->best;
    fprintf(t->f, "  %-*.*s", SIZE_COLUMNS, STR_ARG(size));
    if (size.n > SIZE_COLUMNS) fprintf(t->f, "\n  %-*s", SIZE_COLUMNS, "");
    if (r->best == SIZE_MAX) {
        fprintf(t->f, "  no solution worked (%zu failed, %zu not measured)\n", r->n_failed, r->n_missing);
        return;
    }
    if (used == WINNER_ELSEWHERE) {
        fprintf(t->f, "  the library takes a solution of another group\n");
        return;
    }
    if (used == WINNER_NONE || !r->result[used].good) used = r->best;
    char speed[32], interval[72], other[48], counts[48];
    if (!t->number[used]) t->number[used] = ++t->n_named;
    speed_print(speed, sizeof speed, gflops_of(row->flops, r->result[used].ns.median));
    interval_print(row, &r->result[used], interval, sizeof interval);
    other_print(row, r, used, t->o->covered, other, sizeof other);
    snprintf(counts, sizeof counts, "%zu/%zu", r->n_good, t->p->n_candidates);
    fprintf(t->f, " %8s  %-18s %-12s %-8s %3zu\n", speed, interval, other, counts, t->number[used]);
}

/* Breaks a name that is longer than a line after an underscore. */
static void name_print(const Table *t, size_t number, Str name)
{
    size_t room = (size_t)(t->o->width > WIDTH_MIN ? t->o->width : WIDTH_MIN) - 7;
    fprintf(t->f, "  %3zu  ", number);
    while (name.n > room) {
        size_t cut = room;
        while (cut > room / 2 && name.s[cut - 1] != '_') cut--;
        fprintf(t->f, "%.*s\n       ", (int)cut, name.s);
        name = str_sub(name, cut, name.n);
    }
    fprintf(t->f, "%.*s\n", STR_ARG(name));
}

static void names_print(const Table *t)
{
    for (size_t k = 1; k <= t->n_named; k++)
        for (size_t i = 0; i < t->p->n_candidates; i++)
            if (t->number[i] == k) name_print(t, k, t->p->candidate[i].name);
}

/* *lines: lines printed so far, over all plans. */
static Err plan_table(Store *s, Table *t, size_t *lines, size_t *left_out)
{
    Arena a, scratch;
    Err e = 0;
    arena_init(&a, 0);
    arena_init(&scratch, 0);
    t->number = ARENA_ARRAY(&a, t->p->n_candidates, size_t);
    if (!t->number) e = err_set(ERR_FAILED, "out of memory for %zu candidates", t->p->n_candidates);
    for (size_t z = 0; !e && z < t->p->n_sizes; z++) {
        Ranking r;
        if (t->chosen && t->chosen[z] == WINNER_HELD_OUT) continue;
        if (t->o->max && *lines == t->o->max) {
            ++*left_out;
            continue;
        }
        if (z == 0)
            fprintf(t->f, "%.*s\n  %-*s %8s  %-18s %-12s %-8s %s\n", STR_ARG(t->p->group), SIZE_COLUMNS,
                    "size", "GFlops", "95% interval", "next best", "good/all", "no.");
        arena_reset(&scratch);
        e = ranking_make(s, &scratch, t->p, z, &r);
        if (!e) row_print(t, z, &r);
        ++*lines;
    }
    if (!e) names_print(t);
    arena_fini(&scratch);
    arena_fini(&a);
    return e;
}

Err report_winners(Store *s, const PlanView *plans, size_t n, const WinnersOptions *o, FILE *f)
{
    size_t lines = 0, left_out = 0;
    Err e = 0;
    for (size_t i = 0; !e && i < n; i++) {
        Table t = {.p = &plans[i], .chosen = o->chosen ? o->chosen[i] : NULL, .o = o, .f = f};
        e = plan_table(s, &t, &lines, &left_out);
    }
    if (left_out) fprintf(f, "  and %zu more sizes\n", left_out);
    return e;
}
