/* Helper kernels for GPUs (tensile-formats 8.4): beta-only prepares D or the workspace for the parts of a
 * GlobalSplitU, post-GSU adds up the parts that the main kernel left in the workspace. The workspace holds
 * the problem's compute type, packed. */
#include <string.h>

#include "kernel/gpu/gpu.h"

#include <stdio.h>
#include "kernel/helper.h"
#include "problem/helper_name.h"

typedef struct {
    GpuPlan p;
    Buf body;
    int n_args;
} HelperText;

static void arg(HelperText *h, const char *type, const char *name)
{
    bool star = type[strlen(type) - 1] == '*';
    buf_printf(&h->body, "%s%s%s%s", h->n_args++ ? ", " : "", type, star ? "" : " ", name);
}

/* Strides of a tensor, then: [1] and, in batches, [2]. */
static void stride_args(HelperText *h, const char *ld, const char *batch)
{
    arg(h, "unsigned", ld);
    if (h->p.batched) arg(h, "unsigned", batch);
}

static void size_args(HelperText *h)
{
    arg(h, "unsigned", "size_m");
    arg(h, "unsigned", "size_n");
    if (h->p.batched) arg(h, "unsigned", "size_batch");
}

static void offset_args(HelperText *h)
{
    if (h->p.strided) return;
    arg(h, "unsigned long long", "offset_d");
    arg(h, "unsigned long long", "offset_c");
}

static Err helper_begin(HelperText *h, const ProblemType *pt, const Target *t)
{
    TRY(gpu_plan_types(&h->p, pt, t));
    buf_init(&h->body);
    h->n_args = 0;
    h->p.dialect->prelude(&h->p, &h->body);
    gpu_types(&h->p, &h->body);
    return ERR_OK;
}

static Err helper_end(HelperText *h, Str symbol, Buf *out)
{
    Buf title;
    buf_init(&title);
    buf_printf(&title, "%.*s for %s", STR_ARG(symbol), h->p.target->name);
    Err e = buf_check(&h->body);
    if (!e) e = gpu_finish(&h->p, buf_view(&title), buf_view(&h->body), out);
    buf_fini(&title);
    buf_fini(&h->body);
    return e;
}

static void open_kernel(HelperText *h, Str symbol)
{
    buf_puts(&h->body, "\n");
    h->p.dialect->kernel_head(&h->p, symbol, KERNEL_HELPER_GROUP, &h->body);
}

/* Element number `at` (of `all`, elements of D without gaps) to row i, column j, batch z. */
static void coordinates(HelperText *h)
{
    buf_printf(
        &h->body,
        "    const unsigned z = %s, j = (unsigned)(at / size_m %% size_n), i = (unsigned)(at %% size_m);\n",
        h->p.batched ? "(unsigned)(at / size_m / size_n)" : "0");
}

/* Where element (i, j, z) of d, c or w is. */
static void place(HelperText *h, char n, bool array)
{
    if (array)
        buf_printf(&h->body, "@pointer(%c, z) + offset_%c + (unsigned long long)j * ld%c + i", n, n, n);
    else if (h->p.batched)
        buf_printf(&h->body, "%c + (unsigned long long)z * batch_%c + (unsigned long long)j * ld%c + i", n, n,
                   n);
    else
        buf_printf(&h->body, "%c + (unsigned long long)j * ld%c + i", n, n);
}

Err gpu_beta_only(const ProblemType *pt, const Target *t, bool ga, Str symbol, Buf *out)
{
    HelperText h;
    TRY(helper_begin(&h, pt, t));
    bool arrays = !h.p.strided;
    open_kernel(&h, symbol);
    arg(&h, ga ? "@TS *" : arrays ? "@TD *const *" : "@TD *", "d");
    arg(&h, arrays ? "const @TD *const *" : "const @TD *", "c");
    offset_args(&h);
    stride_args(&h, "ldd", "batch_d");
    stride_args(&h, "ldc", "batch_c");
    size_args(&h);
    arg(&h, "@TS", "beta");
    buf_printf(&h.body,
               ")\n{\n    const unsigned long long at = (unsigned long long)@group_x() * %d + @tid();\n"
               "    const unsigned long long all = (unsigned long long)size_m * size_n%s;\n"
               "    if (at >= all) return;\n",
               KERNEL_HELPER_GROUP, h.p.batched ? " * size_batch" : "");
    coordinates(&h);
    buf_puts(
        &h.body,
        "    const @TC b = @from_s(beta);\n    @TC x = @zero();\n    if (!@is_zero(b)) x = @mul(b, @to_c(*(");
    place(&h, 'c', arrays);
    buf_puts(&h.body, ")));\n    *(");
    place(&h, 'd', arrays && !ga);
    buf_printf(&h.body, ") = %s(x);\n}\n", ga ? "@to_s" : "@from_c");
    return helper_end(&h, symbol, out);
}

static void post_gsu_tensors(HelperText *h, const char *w)
{
    bool arrays = !h->p.strided;
    arg(h, arrays ? "@TD *const *" : "@TD *", "d");
    arg(h, w, "w");
    arg(h, arrays ? "const @TD *const *" : "const @TD *", "c");
    offset_args(h);
}

static void post_gsu_args(HelperText *h)
{
    post_gsu_tensors(h, "const @TS *");
    arg(h, "@TS", "alpha");
    arg(h, "@TS", "beta");
    stride_args(h, "ldd", "batch_d");
    stride_args(h, "ldw", "batch_w");
    stride_args(h, "ldc", "batch_c");
    size_args(h);
    arg(h, "unsigned", "gsu");
}

/* What this thread is to do: of so many elements in all, vw from element `at` on. */
static void post_gsu_share(HelperText *h, int vw, int reducers)
{
    buf_printf(&h->body,
               "    const unsigned long long id = (unsigned long long)@group_x() * %d + @tid();\n"
               "    const unsigned long long all = (unsigned long long)size_m * size_n%s;\n"
               "    const unsigned long long at = id / %d * %d;\n"
               "    @TC sum[%d];\n"
               "    @UNROLL for (int e = 0; e < %d; e++) sum[e] = @zero();\n",
               KERNEL_HELPER_GROUP, h->p.batched ? " * size_batch" : "", reducers, vw, vw, vw);
    coordinates(h);
}

/* Each thread sums every `reducers`-th part of vw elements; the first of `reducers` threads adds these up. */
static void post_gsu_sums(HelperText *h, int vw, int reducers)
{
    post_gsu_share(h, vw, reducers);
    buf_puts(&h->body, "    if (at < all) {\n        const @TS *from = ");
    place(h, 'w', false);
    buf_printf(&h->body,
               ";\n        for (unsigned g = (unsigned)(id %% %d); g < gsu; g += %d)\n"
               "            @UNROLL for (int e = 0; e < %d; e++)\n"
               "                sum[e] = @add(sum[e], @from_s(from[g * all + e]));\n    }\n",
               reducers, reducers, vw);
    if (reducers == 1) return;
    buf_printf(&h->body,
               "    @TC *parts = (@TC *)lds + @tid() * %d;\n"
               "    @UNROLL for (int e = 0; e < %d; e++) parts[e] = sum[e];\n"
               "    @barrier();\n"
               "    if (id %% %d != 0) return;\n"
               "    @UNROLL for (int r = 1; r < %d; r++)\n"
               "        @UNROLL for (int e = 0; e < %d; e++) sum[e] = @add(sum[e], parts[r * %d + e]);\n",
               vw, vw, reducers, reducers, vw, vw);
}

/* sum to D: alpha and beta are a and b. */
static void post_gsu_store(HelperText *h, int vw)
{
    bool arrays = !h->p.strided;
    buf_puts(&h->body, "    if (at >= all) return;\n    @TD *to = ");
    place(h, 'd', arrays);
    buf_puts(&h->body, ";\n    const @TD *old = ");
    place(h, 'c', arrays);
    buf_printf(&h->body,
               ";\n    @UNROLL for (int e = 0; e < %d; e++) {\n"
               "        @TC x = @mul(a, sum[e]);\n"
               "        if (!@is_zero(b)) x = @madd(b, @to_c(old[e]), x);\n"
               "        to[e] = @from_c(x);\n    }\n}\n",
               vw);
}

/* helper_is_for_both: the arguments of half, alpha and beta in one word. Float's are one word longer, all
 * behind alpha is one word further, and gsu is 1. */
static void post_gsu_both(HelperText *h, Str symbol)
{
    static const char *const batched[] = {"ldd",     "batch_d", "ldw",    "batch_w",   "ldc",
                                          "batch_c", "size_m",  "size_n", "size_batch"};
    static const char *const flat[] = {"ldd", "ldw", "ldc", "size_m", "size_n"};
    const char *const *name = h->p.batched ? batched : flat;
    int n = h->p.batched ? 9 : 5;
    char word[16];
    open_kernel(h, symbol);
    post_gsu_tensors(h, "const void *");
    arg(h, "unsigned", "scalars");
    for (int i = 0; i <= n; i++) {
        snprintf(word, sizeof word, "word%d", i);
        arg(h, "unsigned", word);
    }
    buf_puts(&h->body, ")\n{\n    const bool wide = word0 == 0; /* float's beta */\n"
                       "    const float a = wide ? 1 : @h2f((unsigned short)scalars),\n"
                       "                b = wide ? 0 : @h2f((unsigned short)(scalars >> 16));\n");
    for (int i = 0; i < n; i++)
        buf_printf(&h->body, "    const unsigned %s = wide ? word%d : word%d;\n", name[i], i + 1, i);
    buf_printf(&h->body, "    const unsigned gsu = wide ? 1 : word%d;\n", n);
    post_gsu_share(h, 1, 1);
    buf_printf(&h->body,
               "    const unsigned long long first = %s(unsigned long long)j * ldw + i;\n"
               "    for (unsigned g = 0; g < gsu && at < all; g++)\n"
               "        sum[0] += wide ? ((const float *)w)[g * all + first]\n"
               "                       : @h2f(((const unsigned short *)w)[g * all + first]);\n",
               h->p.batched ? "(unsigned long long)z * batch_w + " : "");
    post_gsu_store(h, 1);
}

Err gpu_post_gsu(const ProblemType *pt, const Target *t, Str symbol, Buf *out)
{
    HelperText h;
    int64_t vw = helper_name_width(symbol), reducers = helper_name_reducers(symbol);
    if (vw > 4 || reducers > 16 || KERNEL_HELPER_GROUP % reducers)
        FAIL(ERR_INPUT, "'%.*s' names vector width %lld and %lld reducers", STR_ARG(symbol), (long long)vw,
             (long long)reducers);
    TRY(helper_begin(&h, pt, t));
    if (helper_is_for_both(pt, t, symbol)) {
        post_gsu_both(&h, symbol);
        return helper_end(&h, symbol, out);
    }
    h.p.lds_bytes = KERNEL_HELPER_GROUP * (int)vw * gpu_type_bytes(&h.p.acc);
    open_kernel(&h, symbol);
    post_gsu_args(&h);
    buf_puts(&h.body, ")\n{\n");
    if (reducers > 1) h.p.dialect->lds_body(&h.p, &h.body);
    post_gsu_sums(&h, (int)vw, (int)reducers);
    buf_puts(&h.body, "    const @TC a = @from_s(alpha), b = @from_s(beta);\n");
    post_gsu_store(&h, (int)vw);
    return helper_end(&h, symbol, out);
}
