/* A workload as text: CSV, table, JSON. See write.h. */
#include <inttypes.h>
#include <string.h>

#include "fmt/csv.h"
#include "workload/write.h"

enum { TOP_SHOWN = 20 };

void workload_csv(const WorkloadTypes *w, Buf *out)
{
    buf_puts(out,
             "transA,transB,M,N,K,batch_count,lda,ldb,ldc,ldd,stride_a,stride_b,stride_c,stride_d,a_type,"
             "b_type,c_type,d_type,compute_type,math_mode,call_count,us,share\n");
    for (size_t i = 0; i < w->n; i++)
        for (size_t j = 0; j < w->type[i].n; j++) {
            const WorkloadCall *x = w->type[i].call[j];
            const GemmCall *c = &x->call;
            double seconds = w->type[i].seconds[j];
            buf_printf(out, "%c,%c,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, c->op[0], c->op[1], c->m,
                       c->n, c->k, c->batch);
            for (int k = 0; k < 4; k++) buf_printf(out, ",%" PRId64, c->ld[k]);
            for (int k = 0; k < 4; k++) buf_printf(out, ",%" PRId64, c->stride[k]);
            for (int k = 0; k < CALL_TYPES; k++) buf_printf(out, ",%s", call_type_name(c->type[k]));
            buf_printf(out, ",%d,%" PRId64 ",%.6g,%.6g\n", c->xf32, x->count,
                       seconds / (double)x->count * 1e6, seconds / w->total);
        }
}

static void plural(Buf *out, int64_t n, const char *what)
{
    buf_printf(out, "%" PRId64 " %s%s", n, what, n == 1 ? "" : "s");
}

static void skips_print(const Workload *w, Buf *out)
{
    for (size_t i = 0; i < w->skip.n; i++) {
        const WorkloadSkip *s = &w->skip.v[i];
        buf_printf(out, "  left out %" PRId64 ": %.*s", s->count, STR_ARG(s->reason));
        if (s->line) buf_printf(out, " (%.*s:%" PRId64 ")", STR_ARG(s->file), s->line);
        buf_putc(out, '\n');
    }
    if (w->n_epilogues)
        buf_printf(out, "  %" PRId64 " with bias or activation are taken as plain GEMMs\n", w->n_epilogues);
    if (w->precision_used)
        buf_printf(out, "  calls without a type are taken as %s (--precision)\n",
                   call_type_name(w->precision));
}

static void types_print(const WorkloadTypes *t, Buf *out)
{
    buf_printf(out, "\n%-32s %12s %8s %8s\n", "problem type", "calls", "sizes", "time");
    for (size_t i = 0; i < t->n; i++) {
        const WorkloadType *x = &t->type[i];
        Buf name;
        buf_init(&name);
        problem_type_name(&x->pt, &name);
        buf_printf(out, "%-32s %12" PRId64 " %8zu %7.2f%%\n", buf_cstr(&name), x->n_calls, x->n,
                   100 * x->total / t->total);
        buf_fini(&name);
    }
}

/* The most expensive sizes of all types: the types are sorted within themselves, so each has a cursor. */
static void top_print(const WorkloadTypes *t, Buf *out)
{
    size_t at[64] = {0};
    size_t n_types = t->n < 64 ? t->n : 64;
    buf_printf(out, "\n%4s %2s %8s %8s %8s %6s %10s %10s %8s\n", "", "", "M", "N", "K", "batch", "calls",
               "us", "time");
    for (int row = 0; row < TOP_SHOWN; row++) {
        size_t best = n_types;
        for (size_t i = 0; i < n_types; i++)
            if (at[i] < t->type[i].n &&
                (best == n_types || t->type[i].seconds[at[i]] > t->type[best].seconds[at[best]]))
                best = i;
        if (best == n_types) return;
        const WorkloadType *x = &t->type[best];
        const WorkloadCall *c = x->call[at[best]];
        double seconds = x->seconds[at[best]++];
        buf_printf(
            out,
            "%4s %c%c %8" PRId64 " %8" PRId64 " %8" PRId64 " %6" PRId64 " %10" PRId64 " %10.4g %7.2f%%\n",
            type_letter((DataType)x->pt.DataType), c->call.op[0], c->call.op[1], c->call.m, c->call.n,
            c->call.k, c->call.batch, c->count, seconds / (double)c->count * 1e6, 100 * seconds / t->total);
    }
}

void workload_table(const Workload *w, const WorkloadTypes *types, Buf *out)
{
    plural(out, w->n_lines, "line");
    buf_puts(out, ": ");
    plural(out, w->n_calls, "call");
    buf_puts(out, " of ");
    plural(out, (int64_t)w->call.n, "size");
    buf_printf(out, "; %" PRId64 " lines left out\n", w->n_skipped);
    skips_print(w, out);
    types_print(types, out);
    top_print(types, out);
    buf_puts(out, types->estimated
                      ? "\nTimes are the least that the device's rates allow, unless the log has them.\n"
                      : "\nTimes are those of the log.\n");
    if (types->n_left)
        buf_printf(out, "%zu sizes with %.3g %% of the time are left out.\n", types->n_left,
                   100 * (1 - types->share));
}

static void json_text(Str s, Buf *out)
{
    buf_putc(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.s[i];
        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c < ' ')
            buf_printf(out, "\\u%04x", c);
        else
            buf_putc(out, (char)c);
    }
    buf_putc(out, '"');
}

void workload_json(const Workload *w, const WorkloadTypes *types, Buf *out)
{
    buf_printf(out, "{\"lines\":%" PRId64 ",\"calls\":%" PRId64 ",\"sizes\":%zu,\"left_out\":[", w->n_lines,
               w->n_calls, w->call.n);
    for (size_t i = 0; i < w->skip.n; i++) {
        buf_printf(out, "%s{\"count\":%" PRId64 ",\"line\":%" PRId64 ",\"file\":", i ? "," : "",
                   w->skip.v[i].count, w->skip.v[i].line);
        json_text(w->skip.v[i].file, out);
        buf_puts(out, ",\"reason\":");
        json_text(w->skip.v[i].reason, out);
        buf_putc(out, '}');
    }
    buf_puts(out, "],\"problem_types\":[");
    for (size_t i = 0; i < types->n; i++) {
        const WorkloadType *x = &types->type[i];
        buf_printf(out, "%s{\"name\":\"", i ? "," : "");
        problem_type_name(&x->pt, out);
        buf_printf(out, "\",\"calls\":%" PRId64 ",\"share\":%.6g,\"sizes\":[", x->n_calls,
                   x->total / types->total);
        for (size_t j = 0; j < x->n; j++) {
            const WorkloadCall *c = x->call[j];
            buf_printf(out,
                       "%s{\"m\":%" PRId64 ",\"n\":%" PRId64 ",\"k\":%" PRId64 ",\"batch\":%" PRId64
                       ",\"ld\":[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "],\"calls\":%" PRId64
                       ",\"us\":%.6g,\"share\":%.6g}",
                       j ? "," : "", c->call.m, c->call.n, c->call.k, c->call.batch, c->call.ld[0],
                       c->call.ld[1], c->call.ld[2], c->call.ld[3], c->count,
                       x->seconds[j] / (double)c->count * 1e6, x->seconds[j] / types->total);
        }
        buf_puts(out, "]}");
    }
    buf_puts(out, "]}\n");
}
