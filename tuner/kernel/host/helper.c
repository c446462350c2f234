/* Helper kernels of GlobalSplitU: beta-only (before the main kernel) and PostGSU (after it). A work-group is
 * 256 work-items; argument order and names are those of tensile-formats 8.4.
 */
#include "kernel/host/host.h"

#include <stdio.h>

#include <string.h>

#include "kernel/helper.h"
#include "kernel/host/plan.h"

typedef struct {
    const HostPlan *p;
    Buf *out;
    int64_t at;
} HelperText;

static void read_arg(HelperText *t, const char *type, const char *name, int64_t bytes)
{
    t->at = (t->at + bytes - 1) / bytes * bytes;
    buf_printf(t->out, "    %s %s;\n    memcpy(&%s, p + %lld, %lld);\n", type, name, name, (long long)t->at,
               (long long)bytes);
    t->at += bytes;
}

/* alpha or beta, of the problem type's compute type, as the two parts <name>[0], <name>[1]. */
static void read_scalar(HelperText *t, const char *name)
{
    const HostPlan *p = t->p;
    int64_t bytes = p->scalar.bytes * p->parts;
    t->at = (t->at + bytes - 1) / bytes * bytes;
    if (p->scalar.bytes == 2) {
        buf_printf(t->out,
                   "    uint16_t %s_bits;\n    memcpy(&%s_bits, p + %lld, 2);\n    const @TC %s[2] = "
                   "{@in(%s_bits), 0};\n",
                   name, name, (long long)t->at, name, name);
    } else {
        buf_printf(t->out, "    @TC %s[2] = {0, 0};\n    memcpy(%s, p + %lld, %lld);\n", name, name,
                   (long long)t->at, (long long)bytes);
    }
    t->at += bytes;
}

static void read_strides(HelperText *t, char tensor)
{
    char name[8];
    snprintf(name, sizeof name, "ld%c", tensor);
    read_arg(t, "uint32_t", name, 4);
    snprintf(name, sizeof name, "ba%c", tensor);
    if (t->p->batched)
        read_arg(t, "uint32_t", name, 4);
    else
        buf_printf(t->out, "    const uint32_t %s = 0;\n", name);
}

static void read_sizes(HelperText *t)
{
    read_arg(t, "uint32_t", "m", 4);
    read_arg(t, "uint32_t", "n", 4);
    if (t->p->batched)
        read_arg(t, "uint32_t", "batch", 4);
    else
        buf_puts(t->out, "    const uint32_t batch = 1;\n");
}

static void open_function(Str symbol, Buf *out)
{
    buf_printf(
        out,
        "\n__attribute__((visibility(\"default\"))) extern const uint64_t %.*s_local_bytes;\n"
        "const uint64_t %.*s_local_bytes = 0;\n"
        "__attribute__((visibility(\"default\"))) void %.*s(const void *kernarg, const uint32_t grid[3],\n"
        "    uint64_t first, uint64_t last, void *local);\n"
        "void %.*s(const void *kernarg, const uint32_t grid[3], uint64_t first, uint64_t last, void "
        "*local)\n{\n"
        "    const char *p = kernarg;\n    (void)grid, (void)local;\n",
        STR_ARG(symbol), STR_ARG(symbol), STR_ARG(symbol), STR_ARG(symbol));
}

/* Loop over the work-groups' elements; body sees i, j, k. */
static void open_elements(int64_t per_group, Buf *out)
{
    buf_printf(
        out,
        "    const uint64_t all = (uint64_t)m * n * batch, end = last * %lldu < all ? last * %lldu : all;\n"
        "    for (uint64_t e = first * %lldu; e < end;) {\n"
        "        const uint64_t j = e / m %% n, k = e / m / n;\n"
        "        uint64_t i = e %% m;\n"
        "        const uint64_t stop = end - e < m - i ? i + (end - e) : m;\n"
        "        e += stop - i;\n",
        (long long)per_group, (long long)per_group, (long long)per_group);
}

/* Base of a tensor for batch k, in parts. */
static void base(const HelperText *t, const char *type, char tensor, bool array)
{
    const char *x = t->p->parts == 2 ? "2 * " : "", *constant = tensor == 'd' ? "" : "const ";
    if (array)
        buf_printf(t->out, "        %s%s *%cp = ((%s%s *const *)%c)[k] + %s(off%c + j * ld%c);\n", constant,
                   type, tensor, constant, type, tensor, x, tensor, tensor);
    else
        buf_printf(t->out, "        %s%s *%cp = (%s%s *)%c + %s(k * ba%c + j * ld%c);\n", constant, type,
                   tensor, constant, type, tensor, x, tensor, tensor);
}

/* d[i] = (what) + beta * c[i], beta == 0 reading nothing. sum: "s" or "". */
static void element(const HelperText *t, bool ga, bool sum)
{
    const HostPlan *p = t->p;
    const char *to = ga && p->scalar.bytes != 2 ? "" : "@to", *from = "@from";
    if (p->parts == 1) {
        buf_printf(t->out, "            @TC v = %s;\n", sum ? "alpha[0] * s" : "0");
        buf_printf(t->out,
                   "            if (beta[0] != 0) v += beta[0] * %s(cp[i]);\n            dp[i] = %s(v);\n",
                   from, to);
        return;
    }
    buf_puts(t->out,
             sum ? "            @TC vr = alpha[0] * s - alpha[1] * si, vi = alpha[0] * si + alpha[1] * s;\n"
                 : "            @TC vr = 0, vi = 0;\n");
    buf_puts(t->out, "            if (beta[0] != 0 || beta[1] != 0) {\n"
                     "                vr += beta[0] * cp[2 * i] - beta[1] * cp[2 * i + 1];\n"
                     "                vi += beta[0] * cp[2 * i + 1] + beta[1] * cp[2 * i];\n"
                     "            }\n"
                     "            dp[2 * i] = vr, dp[2 * i + 1] = vi;\n");
}

static Err helper_plan(HostPlan *p, const ProblemType *pt, const Target *t)
{
    host_plan_types(p, pt, t);
    if (!p->in.c || !p->compute.c || !p->out.c)
        FAIL(ERR_INPUT, "host kernels have no data types '%s', '%s', '%s'",
             type_letter((DataType)pt->DataType), type_letter((DataType)pt->DestDataType),
             type_letter((DataType)pt->ComputeDataType));
    return ERR_OK;
}

static Err helper_finish(Str symbol, const Target *t, Buf *body, Buf *out)
{
    Buf title;
    buf_init(&title);
    buf_printf(&title, "%.*s for %s", STR_ARG(symbol), t->name);
    Err e = buf_check(body);
    if (!e) e = host_finish(buf_view(&title), buf_view(body), out);
    buf_fini(&title);
    buf_fini(body);
    return e;
}

/* C's type of workspace elements. */
static const char *workspace_type(const HostPlan *p) { return p->scalar.bytes == 2 ? "@TI" : "@TC"; }

Err host_beta_only(const ProblemType *pt, const Target *target, bool ga, Str symbol, Buf *out)
{
    HostPlan p;
    TRY(helper_plan(&p, pt, target));
    Buf body;
    buf_init(&body);
    HelperText t = {&p, &body, 0};
    host_scalars(&p, &body);
    open_function(symbol, &body);
    read_arg(&t, "void *", "d", 8);
    read_arg(&t, "const void *", "c", 8);
    if (!p.strided) {
        read_arg(&t, "uint64_t", "offd", 8);
        read_arg(&t, "uint64_t", "offc", 8);
        buf_puts(&body, "    (void)offd;\n");
    }
    read_strides(&t, 'd');
    read_strides(&t, 'c');
    buf_puts(&body, "    (void)bad, (void)bac;\n");
    read_sizes(&t);
    read_scalar(&t, "beta");
    open_elements(KERNEL_HELPER_GROUP, &body);
    base(&t, ga ? workspace_type(&p) : "@TD", 'd', !p.strided && !ga);
    base(&t, "@TD", 'c', !p.strided);
    buf_puts(&body, "        for (; i < stop; i++) {\n");
    element(&t, ga, false);
    buf_puts(&body, "        }\n    }\n}\n");
    return helper_finish(symbol, target, &body, out);
}

/* Sum of the parts of one element, in order: the same whatever the number of threads. both: below. */
static void sum_parts(const HelperText *t, bool both)
{
    const HostPlan *p = t->p;
    const char *in = p->scalar.bytes == 2 ? "@in" : "";
    if (both) {
        buf_puts(t->out,
                 "            @TC s = wide ? fp[i] : 0;\n"
                 "            for (uint32_t g = 0; g < gsu && !wide; g++) s += @from(wp[g * all + i]);\n");
        return;
    }
    if (p->parts == 1) {
        buf_printf(t->out,
                   "            @TC s = 0;\n"
                   "            for (uint32_t g = 0; g < gsu; g++) s += %s(wp[g * all + i]);\n",
                   in);
        return;
    }
    buf_puts(t->out, "            @TC s = 0, si = 0;\n"
                     "            for (uint32_t g = 0; g < gsu; g++)\n"
                     "                s += wp[2 * (g * all + i)], si += wp[2 * (g * all + i) + 1];\n");
}

/* helper_is_for_both: half's scalars are two numbers of 2 bytes, behind which all is 4 bytes nearer. */
static void read_scalars_of_both(HelperText *t)
{
    buf_printf(t->out,
               "    uint32_t word[2];\n    memcpy(word, p + %lld, 8);\n"
               "    const int wide = word[1] == 0;\n"
               "    const @TC alpha[1] = {wide ? 1 : @from((@TD)word[0])};\n"
               "    const @TC beta[1] = {wide ? 0 : @from((@TD)(word[0] >> 16))};\n"
               "    p += wide ? 4 : 0;\n",
               (long long)t->at);
    t->at += 4;
}

static void read_post_gsu_args(HelperText *t, bool both)
{
    read_arg(t, "void *", "d", 8);
    read_arg(t, "const void *", "w", 8);
    read_arg(t, "const void *", "c", 8);
    if (!t->p->strided) {
        read_arg(t, "uint64_t", "offd", 8);
        read_arg(t, "uint64_t", "offc", 8);
    }
    if (both) {
        read_scalars_of_both(t);
    } else {
        read_scalar(t, "alpha");
        read_scalar(t, "beta");
    }
    read_strides(t, 'd');
    read_strides(t, 'w');
    read_strides(t, 'c');
    buf_puts(t->out, "    (void)bad, (void)bac, (void)baw;\n");
    read_sizes(t);
    if (both)
        buf_printf(t->out, "    uint32_t gsu = 1;\n    if (!wide) memcpy(&gsu, p + %lld, 4);\n",
                   (long long)t->at);
    else
        read_arg(t, "uint32_t", "gsu", 4);
}

Err host_post_gsu(const ProblemType *pt, const Target *target, Str symbol, Buf *out)
{
    HostPlan p;
    TRY(helper_plan(&p, pt, target));
    int64_t vw = helper_symbol_number(symbol, "_VW"), reducers = helper_symbol_number(symbol, "_R");
    int64_t per_group = KERNEL_HELPER_GROUP * vw / reducers;
    if (vw > 16 || reducers > KERNEL_HELPER_GROUP || per_group < 1)
        FAIL(ERR_INPUT, "'%.*s' names vector width %lld and %lld reducers", STR_ARG(symbol), (long long)vw,
             (long long)reducers);
    Buf body;
    buf_init(&body);
    HelperText t = {&p, &body, 0};
    const bool both = helper_is_for_both(pt, target, symbol);
    host_scalars(&p, &body);
    open_function(symbol, &body);
    read_post_gsu_args(&t, both);
    open_elements(per_group, &body);
    base(&t, "@TD", 'd', !p.strided);
    base(&t, both ? "@TD" : workspace_type(&p), 'w', false);
    if (both) buf_puts(&body, "        const float *fp = (const float *)w + (k * baw + j * ldw);\n");
    base(&t, "@TD", 'c', !p.strided);
    buf_puts(&body, "        for (; i < stop; i++) {\n");
    sum_parts(&t, both);
    element(&t, false, true);
    buf_puts(&body, "        }\n    }\n}\n");
    return helper_finish(symbol, target, &body, out);
}
