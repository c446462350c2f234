/* A report as Markdown, for a pull request. See page.h. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/page.h"

/* Whether a character can begin nothing in Markdown: no markup, no link, no mention, no cell. */
static bool is_plain(Str s, size_t i)
{
    const unsigned char c = (unsigned char)s.s[i];
    if (c >= 0x80 || isalnum(c) || strchr(" ,.-=+%()/", c)) return true;
    const bool inside = i > 0 && i + 1 < s.n && isalnum((unsigned char)s.s[i - 1]);
    return (c == '_' && inside) || (c == ':' && i + 1 < s.n && s.s[i + 1] != '/');
}

static void cell_text(Buf *out, Str s)
{
    for (size_t i = 0; i < s.n; i++) {
        const unsigned char c = (unsigned char)s.s[i];
        if (c < ' ' || c == 0x7f)
            buf_putc(out, '?');
        else if (is_plain(s, i))
            buf_putc(out, (char)c);
        else
            buf_printf(out, "&#%d;", c);
    }
}

static void number(Buf *out, const char *before, double x, const char *format)
{
    buf_puts(out, before);
    if (isnan(x))
        buf_puts(out, "–");
    else
        buf_printf(out, format, x); /* of this file's literals alone */
}

static void ratio_line(const ReportData *d, RatioOf of, Str name, Buf *out)
{
    const RatioSummary s = report_ratios(d, of);
    if (!name.n || !s.n) return;
    buf_puts(out, "- speed over ");
    cell_text(out, name);
    buf_printf(out, ": geometric mean **%.3f** of %zu sizes%s; %zu faster, %zu equal, %zu slower", s.mean,
               s.n, d->seconds > 0 ? ", weighted by calls" : "", s.n_faster, s.n_equal, s.n_slower);
    if (s.n_without) buf_printf(out, "; %zu without a comparison", s.n_without);
    buf_putc(out, '\n');
}

static void count(Buf *out, const char *before, size_t n, const char *what, const char *after)
{
    buf_printf(out, "%s%zu %s%s%s", before, n, what, n == 1 ? "" : "s", after);
}

static void runs_put(const ReportData *d, Buf *out)
{
    for (size_t i = 0; i < d->n_runs; i++) {
        const ReportRun *r = &d->run[i];
        size_t n_sizes = 0, n_kernels = 0, n_none = 0;
        for (size_t k = 0; k < d->n_groups; k++) {
            if (d->group[k].run != i) continue;
            n_sizes += d->group[k].n_sizes;
            n_kernels += d->group[k].n_kernels;
            for (size_t z = 0; z < d->group[k].n_sizes; z++) n_none += d->group[k].size[z].n_places == 0;
        }
        buf_puts(out, "- ");
        cell_text(out, r->path);
        if (r->state.n) {
            buf_puts(out, " (");
            cell_text(out, r->state);
            buf_puts(out, ")");
        }
        count(out, ": ", n_sizes, "size", "");
        count(out, ", ", n_kernels, "kernel", "");
        if (n_none) count(out, ", **", n_none, "size", " without a kernel that works**");
        if (r->n_faults) count(out, ", ", r->n_faults, "failure", "");
        if (r->device.n) {
            buf_puts(out, "; ");
            cell_text(out, r->device);
        }
        buf_putc(out, '\n');
    }
}

/* ---- sizes ---- */

typedef struct {
    const ReportGroup *g;
    const ReportSize *z;
    double weight; /* share of time, else operations */
    double change; /* how far the ratio is from 1; -1: none */
} Line;

static int by_weight(const void *a, const void *b)
{
    const Line *x = a, *y = b;
    if (x->change != y->change) return x->change > y->change ? -1 : 1;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return (x->z > y->z) - (x->z < y->z);
}

static void size_line(const ReportData *d, const Line *l, Buf *out)
{
    const ReportSize *z = l->z;
    buf_puts(out, "| ");
    cell_text(out, l->g->type);
    buf_puts(out, " | ");
    cell_text(out, z->numbers);
    number(out, " | ", z->gflops, "%.5g");
    number(out, " | ", 100 * report_efficiency(l->g, z), "%.1f %%");
    if (d->before.n) {
        number(out, " | ", z->before.found ? z->before.gflops : (double)NAN, "%.5g");
        number(out, " | ", z->before.found ? z->before.ratio.ratio : (double)NAN, "%.3f");
    }
    if (d->peer.n) number(out, " | ", z->peer.found ? z->peer.ratio.ratio : (double)NAN, "%.3f");
    if (d->seconds > 0) {
        buf_printf(out, " | %lld", (long long)z->calls);
        number(out, " | ", 100 * report_share(d, z), "%.2f %%");
    }
    buf_puts(out, " |\n");
}

static void head(const ReportData *d, Buf *out)
{
    buf_puts(out, "\n| type | size | GFlops | of the ceiling");
    if (d->before.n) buf_puts(out, " | before | ratio");
    if (d->peer.n) buf_puts(out, " | over the peer");
    if (d->seconds > 0) buf_puts(out, " | calls | time");
    buf_puts(out, " |\n|---|---|--:|--:");
    if (d->before.n) buf_puts(out, "|--:|--:");
    if (d->peer.n) buf_puts(out, "|--:");
    if (d->seconds > 0) buf_puts(out, "|--:|--:");
    buf_puts(out, "|\n");
}

/* The sizes that changed most, where there are earlier results; else the largest. */
static void sizes_put(const ReportData *d, size_t max, Buf *out)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n_groups; i++) n += d->group[i].n_sizes;
    Line *line = calloc(n + 1, sizeof *line);
    if (!line) {
        out->failed = true;
        return;
    }
    n = 0;
    for (size_t i = 0; i < d->n_groups; i++)
        for (size_t z = 0; z < d->group[i].n_sizes; z++) {
            const ReportSize *size = &d->group[i].size[z];
            const double ratio = size->before.ratio.ratio, share = report_share(d, size);
            line[n++] = (Line){&d->group[i], size, d->seconds > 0 ? (isnan(share) ? 0 : share) : size->flops,
                               d->before.n ? (size->before.found && ratio > 0 ? fabs(log(ratio)) : -1) : 0};
        }
    qsort(line, n, sizeof *line, by_weight);
    head(d, out);
    for (size_t i = 0; i < n && i < max; i++) size_line(d, &line[i], out);
    if (n > max) count(out, "\nand ", n - max, "more size", ".\n");
    free(line);
}

void report_md(const ReportData *d, size_t max, Buf *out)
{
    buf_puts(out, "### Tuning report\n\n");
    runs_put(d, out);
    ratio_line(d, RATIO_BEFORE, d->before, out);
    ratio_line(d, RATIO_PEER, d->peer, out);
    sizes_put(d, max, out);
}
