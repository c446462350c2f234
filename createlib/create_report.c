/* createlib: reports solutions that are left out or have another kernel than their logic file asks for, in a
 * CSV file and, counted by reason, in the log. */
#include "createlib/create_internal.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/fs.h"
#include "base/log.h"
#include "fmt/csv.h"
#include "space/rules.h"

enum { REASONS_SHOWN = 12 };

static void put_row(const CreateLogic *l, size_t i, Str reason, const char *outcome, Buf *b)
{
    csv_cell(b, true, str_from(l->logic.path));
    csv_cell_f(b, false, "%d", l->logic.solution[i].line);
    csv_cell_f(b, false, "%zu", i);
    csv_cell(b, false, l->logic.solution[i].s.SolutionNameMin);
    csv_cell(b, false, reason);
    csv_cell(b, false, str_from(outcome));
    csv_end(b);
}

/* ---- counts ---- */

typedef struct {
    Str reason;
    size_t n;
} ReasonCount;

typedef struct {
    Arena *a;
    Map at; /* reason -> position + 1 */
    VEC(ReasonCount) count;
} Reasons;

static Err count_reason(Reasons *r, Str reason)
{
    int64_t *at = map_put(&r->at, reason, NULL);
    TRY_ALLOC(at);
    if (!*at) {
        ReasonCount first = {arena_dup(r->a, reason), 0};
        TRY_ALLOC(first.reason.s);
        if (!VEC_PUSH(&r->count, first)) FAIL(ERR_FAILED, "out of memory for %zu reasons", r->count.n);
        *at = (int64_t)r->count.n;
    }
    r->count.v[*at - 1].n++;
    return ERR_OK;
}

/* Appends text with N in place of each number, by which reasons that differ in numbers alone are counted
 * together. Words that begin with a letter keep their digits. */
static void put_without_numbers(Str text, Buf *out)
{
    bool word = false, number = false;
    for (size_t i = 0; i < text.n; i++) {
        unsigned char ch = (unsigned char)text.s[i];
        bool inside = i && isalnum((unsigned char)text.s[i - 1]), digit = isdigit(ch);
        word = isalpha(ch) ? word || !inside : word && digit;
        if (!digit || word)
            buf_putc(out, text.s[i]);
        else if (!number)
            buf_putc(out, 'N');
        number = digit && !word;
    }
}

/* Rejections count by their rule, except for a rule that is shared by several parameters. Other reasons that
 * differ only in numbers count as one. */
static Err count_left_out(Reasons *r, const CreateSolution *s)
{
    Buf kind;
    buf_init(&kind);
    if (s->rule != RULE_NONE && s->rule != RULE_AMD_VALUE)
        buf_puts(&kind, rule_name(s->rule));
    else
        put_without_numbers(s->why, &kind);
    Err e = buf_check(&kind) ? buf_check(&kind) : count_reason(r, buf_view(&kind));
    buf_fini(&kind);
    return e;
}

static int more_first(const void *x, const void *y)
{
    const ReasonCount *a = x, *b = y;
    return a->n != b->n ? (a->n < b->n) - (a->n > b->n) : str_cmp(a->reason, b->reason);
}

static void print_counts(Reasons *r)
{
    qsort(r->count.v, r->count.n, sizeof *r->count.v, more_first);
    for (size_t i = 0; i < r->count.n && i < REASONS_SHOWN; i++)
        notice("%8zu %.*s", r->count.v[i].n, STR_ARG(r->count.v[i].reason));
    if (r->count.n > REASONS_SHOWN) notice("         and %zu other reasons", r->count.n - REASONS_SHOWN);
}

static void reasons_init(Reasons *r, Arena *a)
{
    *r = (Reasons){.a = a};
    map_init(&r->at);
}

static void reasons_fini(Reasons *r)
{
    map_fini(&r->at);
    VEC_FINI(&r->count);
}

/* ---- the file ---- */

static Err add_solution(Create *c, const CreateLogic *l, size_t i, Reasons *stand_in, Reasons *left_out,
                        Buf *b)
{
    const CreateSolution *s = &l->solution[i];
    if (s->why.n) {
        put_row(l, i, s->why, "left out", b);
        c->r->n_left_out++;
        return count_left_out(left_out, s);
    }
    if (!s->stand_in.n) return ERR_OK;
    Str reason = arena_printf(&c->a, "%.*s: an ordinary kernel stands in", STR_ARG(s->stand_in));
    TRY_ALLOC(reason.s);
    put_row(l, i, reason, "stand-in", b);
    c->r->n_stand_ins++;
    return count_reason(stand_in, s->stand_in);
}

static Err add_all(Create *c, Reasons *stand_in, Reasons *left_out, Buf *b)
{
    buf_puts(b, "logicFile,line,solutionIndex,solutionName,reason,outcome\n");
    for (size_t i = 0; i < c->n_logic; i++)
        for (size_t j = 0; j < c->logic[i].logic.n_solutions; j++)
            TRY(add_solution(c, &c->logic[i], j, stand_in, left_out, b));
    if (c->r->n_stand_ins) {
        notice("%zu solutions ask for kernels that are made with an assembler or by hand; ordinary ones "
               "stand in:",
               c->r->n_stand_ins);
        print_counts(stand_in);
    }
    if (c->r->n_left_out) {
        notice("%zu solutions are left out:", c->r->n_left_out);
        print_counts(left_out);
    }
    return buf_check(b);
}

Err create_report(Create *c)
{
    Buf b;
    Reasons stand_in, left_out;
    buf_init(&b);
    reasons_init(&stand_in, &c->a);
    reasons_init(&left_out, &c->a);
    Err e = add_all(c, &stand_in, &left_out, &b);
    reasons_fini(&stand_in);
    reasons_fini(&left_out);
    Str path = path_join(&c->a, c->library_dir.s, "TensileCreateLibrary.report.csv");
    if (!e && !path.s) e = err_set(ERR_FAILED, "out of memory for the report");
    if (!e) e = file_write(path.s, buf_view(&b));
    buf_fini(&b);
    return e;
}
