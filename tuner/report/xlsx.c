/* A report as a spreadsheet, through libxlsxwriter, which is optional. See page.h. */
#include "report/page.h"

#ifndef HAVE_XLSXWRITER

Err report_xlsx(const ReportData *d, const char *path)
{
    (void)d;
    FAIL(ERR_INPUT,
         "cannot write '%s': tuner was built without libxlsxwriter (install libxlsxwriter-dev and build "
         "again)",
         path);
}

#else
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xlsxwriter.h>

#include "base/arena.h"

/* libxlsxwriter refuses longer texts, and sheets of more rows. */
enum { TEXT_MAX = 32767, ROWS_MAX = 1048575 };

typedef struct {
    const ReportData *d;
    lxw_workbook *book;
    lxw_worksheet *sheet;
    lxw_format *bold, *number, *percent, *ratio;
    lxw_row_t row;
    lxw_col_t column;
    Arena a; /* reset for each row */
    lxw_error failed;
} Sheet;

static void note(Sheet *s, lxw_error e)
{
    if (e && !s->failed) s->failed = e;
}

/* Invalid UTF-8 becomes '?', since a workbook with it cannot be opened. */
static void text(Sheet *s, Str t, lxw_format *format)
{
    Str copy = arena_dup(&s->a, str_sub(t, 0, TEXT_MAX));
    if (!copy.s) note(s, LXW_ERROR_MEMORY_MALLOC_FAILED);
    char *c = (char *)copy.s;
    for (size_t i = 0; i < copy.n; i++)
        if ((unsigned char)c[i] < ' ' || (unsigned char)c[i] >= 0x7f) c[i] = '?';
    if (c) note(s, worksheet_write_string(s->sheet, s->row, s->column, c, format));
    s->column++;
}

static void number(Sheet *s, double x, lxw_format *format)
{
    if (isfinite(x)) note(s, worksheet_write_number(s->sheet, s->row, s->column, x, format));
    s->column++;
}

static void next_row(Sheet *s)
{
    s->row++;
    s->column = 0;
    arena_reset(&s->a);
}

static void head(Sheet *s, const char *const *name, size_t n)
{
    for (size_t i = 0; i < n; i++) text(s, str_from(name[i]), s->bold);
    note(s, worksheet_autofilter(s->sheet, 0, 0, s->row, (lxw_col_t)(n - 1)));
    worksheet_freeze_panes(s->sheet, 1, 0);
    next_row(s);
}

static void sheet_begin(Sheet *s, const char *name, const char *const *column, size_t n)
{
    s->sheet = workbook_add_worksheet(s->book, name);
    s->row = 0;
    s->column = 0;
    if (!s->sheet) {
        s->failed = LXW_ERROR_MEMORY_MALLOC_FAILED;
        return;
    }
    worksheet_set_column(s->sheet, 0, (lxw_col_t)(n - 1), 12, NULL);
    head(s, column, n);
}

static void size_row(Sheet *s, const ReportGroup *g, const ReportSize *x)
{
    const ReportPlace none = {0, NAN, NAN, NAN, 0}, *p = x->n_places ? x->place : &none;
    const ReportOther *b = x->before.found ? &x->before : NULL, *peer = x->peer.found ? &x->peer : NULL;
    const double calls = x->calls ? (double)x->calls : (double)NAN, us = p->ns * 1e-3;
    const double us_before = b ? b->ns * 1e-3 : (double)NAN;
    const struct {
        double value;
        lxw_format *format;
    } measured[] = {{x->gflops, s->number},
                    {us, NULL},
                    {p->lo_ns * 1e-3, NULL},
                    {p->hi_ns * 1e-3, NULL},
                    {p->n ? (double)p->n : (double)NAN, s->number},
                    {report_efficiency(g, x), s->percent},
                    {b ? b->gflops : (double)NAN, s->number},
                    {us_before, NULL},
                    {b ? b->ratio.ratio : (double)NAN, s->ratio},
                    {b ? b->ratio.lo : (double)NAN, s->ratio},
                    {b ? b->ratio.hi : (double)NAN, s->ratio},
                    {peer ? peer->gflops : (double)NAN, s->number},
                    {peer ? peer->ratio.ratio : (double)NAN, s->ratio},
                    {calls, s->number},
                    {calls * us, s->number},
                    {report_share(s->d, x), s->percent},
                    {calls * (us_before - us), s->number}};
    text(s, s->d->run[g->run].path, NULL);
    text(s, g->type, NULL);
    const int64_t side[] = {x->m, x->n, x->batch, x->k};
    for (size_t i = 0; i < sizeof side / sizeof *side; i++) number(s, (double)side[i], s->number);
    text(s, x->numbers, NULL);
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
        number(s, measured[i].value, measured[i].format);
    text(s, x->n_places && p->kernel < g->n_kernels ? g->kernel[p->kernel].name : STR(""), NULL);
    text(s, x->before.kernel.s ? x->before.kernel : STR(""), NULL);
    next_row(s);
}

/* The columns of the document's analysis: sizes, speeds now and before, efficiency, ratio, calls, time. */
static void sizes(Sheet *s)
{
    static const char *const column[] = {"run",
                                         "problem type",
                                         "M",
                                         "N",
                                         "batch",
                                         "K",
                                         "sizes",
                                         "GFlops",
                                         "us",
                                         "us lo",
                                         "us hi",
                                         "samples",
                                         "efficiency",
                                         "GFlops before",
                                         "us before",
                                         "ratio",
                                         "ratio lo",
                                         "ratio hi",
                                         "peer GFlops",
                                         "ratio to peer",
                                         "calls",
                                         "us of all calls",
                                         "share of time",
                                         "us saved",
                                         "kernel",
                                         "kernel before"};
    const ReportData *d = s->d;
    sheet_begin(s, "sizes", column, sizeof column / sizeof *column);
    for (size_t i = 0; i < d->n_groups; i++)
        for (size_t z = 0; z < d->group[i].n_sizes && s->row < ROWS_MAX && !s->failed; z++)
            size_row(s, &d->group[i], &d->group[i].size[z]);
}

static void parameters(Sheet *s)
{
    static const char *const column[] = {
        "problem type", "parameter", "value", "kernels", "sizes", "wins", "mean speed of the best", "worst"};
    sheet_begin(s, "parameters", column, sizeof column / sizeof *column);
    for (size_t i = 0; i < s->d->n_groups; i++)
        for (size_t k = 0; k < s->d->group[i].n_params; k++) {
            const ReportParam *p = &s->d->group[i].param[k];
            for (size_t v = 0; v < p->n_values && s->row < ROWS_MAX && !s->failed; v++) {
                const ReportValue *x = &p->value[v];
                text(s, s->d->group[i].name, NULL);
                text(s, p->name, NULL);
                text(s, x->text, NULL);
                number(s, (double)x->n_kernels, s->number);
                number(s, (double)x->n_sizes, s->number);
                number(s, (double)x->n_wins, s->number);
                number(s, x->mean_speed, s->percent);
                number(s, x->worst_speed, s->percent);
                next_row(s);
            }
        }
}

static void summary(Sheet *s)
{
    static const char *const column[] = {"",      "name",  "geometric mean of speed", "sizes", "faster",
                                         "equal", "slower"};
    sheet_begin(s, "summary", column, sizeof column / sizeof *column);
    const Str name[] = {s->d->peer, s->d->before};
    static const char *const what[] = {"over the peer", "over the results before"};
    for (int of = 0; of < 2; of++) {
        const RatioSummary r = report_ratios(s->d, (RatioOf)of);
        if (!name[of].n) continue;
        text(s, str_from(what[of]), NULL);
        text(s, name[of], NULL);
        number(s, r.mean, s->ratio);
        number(s, (double)r.n, s->number);
        number(s, (double)r.n_faster, s->number);
        number(s, (double)r.n_equal, s->number);
        number(s, (double)r.n_slower, s->number);
        next_row(s);
    }
    for (size_t i = 0; i < s->d->n_runs; i++) {
        text(s, s->d->run[i].state, NULL);
        text(s, s->d->run[i].path, NULL);
        text(s, s->d->run[i].device, NULL);
        next_row(s);
    }
}

/* The library writes to a path of its own and keeps a broken file, so it writes beside the final one. */
Err report_xlsx(const ReportData *d, const char *path)
{
    char temporary[4096];
    if (snprintf(temporary, sizeof temporary, "%s.%ld.part", path, (long)getpid()) >= (int)sizeof temporary)
        FAIL(ERR_INPUT, "path is too long: '%.100s...'", path);
    int fd =
        open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666); /* the library prints its errors */
    if (fd < 0) FAIL(ERR_FAILED, "cannot create '%s': %s", path, strerror(errno));
    close(fd);
    lxw_workbook_options options = {.constant_memory = LXW_FALSE};
    Sheet s = {.d = d, .book = workbook_new_opt(temporary, &options)};
    if (!s.book) {
        unlink(temporary);
        FAIL(ERR_FAILED, "out of memory for '%s'", path);
    }
    arena_init(&s.a, 0);
    s.bold = workbook_add_format(s.book);
    s.number = workbook_add_format(s.book);
    s.percent = workbook_add_format(s.book);
    s.ratio = workbook_add_format(s.book);
    if (s.bold && s.number && s.percent && s.ratio) {
        format_set_bold(s.bold);
        format_set_num_format(s.number, "#,##0");
        format_set_num_format(s.percent, "0.0%");
        format_set_num_format(s.ratio, "0.000");
        sizes(&s);
        if (!s.failed) parameters(&s);
        if (!s.failed) summary(&s);
    } else {
        s.failed = LXW_ERROR_MEMORY_MALLOC_FAILED;
    }
    lxw_error closed = workbook_close(s.book);
    if (!s.failed) s.failed = closed;
    arena_fini(&s.a);
    if (!s.failed && rename(temporary, path) == 0) return ERR_OK;
    unlink(temporary);
    FAIL(ERR_FAILED, "cannot write '%s': %s", path,
         s.failed ? lxw_strerror(s.failed) : "it cannot be replaced");
}
#endif
