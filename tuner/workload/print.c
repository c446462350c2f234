/* A workload as text: CSV, table, JSON. See write.h. */
#include <inttypes.h>

#include "fmt/json.h"
#include "workload/write.h"

enum { TOP_SHOWN = 20 };

static void csv_gemm(const GemmCall *c, Buf *out)
{
    buf_printf(out, "%c,%c,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64, c->op[0], c->op[1], c->m, c->n,
               c->k, c->batch);
    for (int k = 0; k < 4; k++) buf_printf(out, ",%" PRId64, c->ld[k]);
    for (int k = 0; k < 4; k++) buf_printf(out, ",%" PRId64, c->stride[k]);
    for (int k = 0; k < CALL_TYPES; k++) buf_printf(out, ",%s", call_type_name(c->type[k]));
    buf_printf(out, ",%d", c->xf32);
}

/* The rows of GEMMs, or those of convolutions after their header. */
static void csv_rows(const WorkloadTypes *w, bool conv, Buf *out)
{
    bool any = false;
    for (size_t i = 0; i < w->n; i++)
        for (size_t j = 0; j < w->type[i].n; j++) {
            const WorkloadCall *x = w->type[i].call[j];
            const double seconds = w->type[i].seconds[j];
            if (!x->conv == conv) continue;
            if (conv && !any) {
                miopen_csv_header(out);
                buf_puts(out, ",call_count,us,share\n");
            }
            any = true;
            if (conv)
                miopen_csv_row(x->conv, out);
            else
                csv_gemm(&x->call, out);
            buf_printf(out, ",%" PRId64 ",%.6g,%.6g\n", x->count, seconds / (double)x->count * 1e6,
                       seconds / w->total);
        }
}

void workload_csv(const WorkloadTypes *w, Buf *out)
{
    buf_puts(out,
             "transA,transB,M,N,K,batch_count,lda,ldb,ldc,ldd,stride_a,stride_b,stride_c,stride_d,a_type,"
             "b_type,c_type,d_type,compute_type,math_mode,call_count,us,share\n");
    csv_rows(w, false, out);
    csv_rows(w, true, out);
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
    if (w->n_convolutions)
        buf_printf(out,
                   "  %" PRId64 " convolutions are taken as %" PRId64
                   " matrix products of packed operands (--as convolution: as themselves)\n",
                   w->n_convolutions, w->n_products);
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

static void size_print(const WorkloadType *x, const WorkloadCall *c, Buf *out)
{
    if (c->conv)
        conv_desc_print(c->conv, out);
    else
        buf_printf(out, "%4s %c%c %8" PRId64 " %8" PRId64 " %8" PRId64 " %6" PRId64,
                   type_letter((DataType)x->pt.DataType), c->call.op[0], c->call.op[1], c->call.m, c->call.n,
                   c->call.k, c->call.batch);
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
        size_print(x, c, out);
        buf_printf(out, " %10" PRId64 " %10.4g %7.2f%%\n", c->count, seconds / (double)c->count * 1e6,
                   100 * seconds / t->total);
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

static void skips_json(const Workload *w, Json *j)
{
    json_array(j, "left_out");
    for (size_t i = 0; i < w->skip.n; i++) {
        const WorkloadSkip *s = &w->skip.v[i];
        json_object(j, NULL);
        json_int(j, "count", s->count);
        json_int(j, "line", s->line);
        json_str(j, "file", s->file);
        json_str(j, "reason", s->reason);
        json_object_end(j);
    }
    json_array_end(j);
}

static void gemm_json(const GemmCall *c, Json *j)
{
    json_int(j, "m", c->m);
    json_int(j, "n", c->n);
    json_int(j, "k", c->k);
    json_int(j, "batch", c->batch);
    json_array(j, "ld");
    for (int i = 0; i < 4; i++) json_int(j, NULL, c->ld[i]);
    json_array_end(j);
}

/* The convolution as a command line of MIOpenDriver. */
static void conv_json(const ConvDesc *c, Json *j)
{
    Buf text;
    buf_init(&text);
    miopen_print(c, &text);
    json_str(j, "miopen", buf_view(&text));
    buf_fini(&text);
}

static void call_json(const WorkloadCall *c, double seconds, double total, Json *j)
{
    json_object(j, NULL);
    if (c->conv)
        conv_json(c->conv, j);
    else
        gemm_json(&c->call, j);
    json_int(j, "calls", c->count);
    json_real(j, "us", seconds / (double)c->count * 1e6);
    json_real(j, "share", seconds / total);
    json_object_end(j);
}

static void type_json(const WorkloadType *t, double total, Json *j)
{
    Buf name;
    buf_init(&name);
    problem_type_name(&t->pt, &name);
    json_object(j, NULL);
    json_str(j, "name", buf_view(&name));
    buf_fini(&name);
    json_int(j, "calls", t->n_calls);
    json_real(j, "share", t->total / total);
    json_array(j, "sizes");
    for (size_t i = 0; i < t->n; i++) call_json(t->call[i], t->seconds[i], total, j);
    json_array_end(j);
    json_object_end(j);
}

void workload_json(const Workload *w, const WorkloadTypes *types, Buf *out)
{
    Json j = json_to(out);
    json_object(&j, NULL);
    json_int(&j, "lines", w->n_lines);
    json_int(&j, "calls", w->n_calls);
    json_int(&j, "sizes", (int64_t)w->call.n);
    skips_json(w, &j);
    json_array(&j, "problem_types");
    for (size_t i = 0; i < types->n; i++) type_json(&types->type[i], types->total, &j);
    json_array_end(&j);
    json_object_end(&j);
    buf_putc(out, '\n');
}
