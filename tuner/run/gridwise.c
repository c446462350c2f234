/* Prints derived parameters of gridwise kernels. See gridwise.h. */
#include "run/gridwise.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "base/version.h"
#include "index/conv_view.h"
#include "problem/miopen.h"
#include "problem/sizes.h"
#include "problem/target.h"
#include "run/conv_emit.h"
#include "space/gridwise.h"

typedef struct {
    const Options *o;
    Buf out;
    bool has_tuning;
    GridwiseTuning tuning; /* of --perf-config */
    size_t n_problems, n_no_tuning, n_emitted,
        n_no_kernel; /* n_no_tuning: no row of the quick list is possible */
    char why[512];   /* of the first of n_no_kernel */
} Command;

/* ---- a product ---- */

static void copy_print(const GridwiseCopy *c, char side, Buf *out)
{
    Buf text;
    buf_init(&text);
    buf_printf(&text, "%" PRId64 "x%" PRId64 " r%" PRId64 "%c w%" PRId64, c->cluster[SIDE_K],
               c->cluster[SIDE_FREE], c->read, c->read_side == SIDE_K ? 'k' : side, c->write);
    buf_printf(out, "  %-14s", buf_cstr(&text));
    buf_fini(&text);
}

static void row_print(const GridwiseTuning *t, const GridwiseProblem *p, Buf *out)
{
    GridwiseDerived d;
    Buf why, text;
    buf_init(&why), buf_init(&text);
    gridwise_perf_print(t, &text);
    buf_printf(out, "  %-24s", buf_cstr(&text));
    if (!gridwise_derive(t, p, &d, &why)) {
        buf_printf(out, "%s\n", buf_cstr(&why));
    } else {
        buf_reset(&text);
        if (t->matrix)
            buf_printf(&text, "%" PRId64 "x%" PRId64 " waves", d.waves[0], d.waves[1]);
        else
            buf_printf(&text, "%" PRId64 "x%" PRId64 " %" PRId64 "x%" PRId64, d.level0[0], d.level1[0],
                       d.level0[1], d.level1[1]);
        buf_printf(out, "%7" PRId64 "  %-9s", d.block_size, buf_cstr(&text));
        copy_print(&d.a, 'm', out);
        copy_print(&d.b, 'n', out);
        buf_printf(out, "  w%" PRId64 " %7" PRId64 " %9" PRId64 " %7.1f%%\n", d.d_write, d.local_bytes,
                   d.grid, 100 * gridwise_padding(p, &d));
    }
    buf_fini(&why), buf_fini(&text);
}

static Err tuning_of(Command *c, const GridwiseProblem *p, const GridwiseTuning **t, GridwiseDerived *d)
{
    Buf why;
    Err e = ERR_OK;
    buf_init(&why);
    *t = c->has_tuning ? &c->tuning : gridwise_first(c->o->gridwise_matrix, p, d);
    if (c->has_tuning && !gridwise_derive(*t, p, d, &why))
        e = err_set(ERR_INPUT, "--perf-config: '%s': %s", c->o->gridwise_perf, buf_cstr(&why));
    buf_fini(&why);
    return e;
}

static Err product_print(Command *c, const GridwiseProblem *p, DataType type)
{
    GridwiseDerived d;
    const GridwiseTuning *t;
    Buf *out = &c->out;
    c->n_problems++;
    TRY(tuning_of(c, p, &t, &d));
    buf_printf(out,
               "  gemmM %" PRId64 ", gemmN %" PRId64 ", gemmK %" PRId64 ", %" PRId64
               " group%s; neighbours in memory: A %" PRId64 " along K, %" PRId64 " along M; B %" PRId64
               " along K, %" PRId64 " along N; D %" PRId64 " along N\n",
               p->m, p->n, p->k, p->groups, p->groups == 1 ? "" : "s", p->run_a[SIDE_K], p->run_a[SIDE_FREE],
               p->run_b[SIDE_K], p->run_b[SIDE_FREE], p->run_d);
    buf_printf(out, "  %-24s%7s  %-9s  %-14s  %-14s  %-2s %7s %9s %8s\n", "perf_config", "threads",
               "clusters", "copy of A", "copy of B", "D", "bytes", "blocks", "padding");
    if (c->has_tuning) {
        row_print(&c->tuning, p, out);
    } else {
        const GridwiseTuning *row;
        for (size_t i = 0; (row = gridwise_quick(c->o->gridwise_matrix, i)); i++) row_print(row, p, out);
    }
    if (!t) {
        c->n_no_tuning++;
        buf_puts(out, "  no row is possible\n");
        return ERR_OK;
    }
    buf_puts(out, "  in a config: ");
    gridwise_config_print(t, &d, type, out);
    buf_putc(out, '\n');
    if (c->o->gridwise_params) gridwise_params_print(t, &d, out);
    return ERR_OK;
}

/* ---- --emit-conv ---- */

/* The description as the name of files and of a C++ type. */
static void name_of(const ConvDesc *c, Buf *out)
{
    buf_reset(out);
    buf_puts(out, "conv ");
    conv_desc_print(c, out);
    for (size_t i = 0; i < out->n && !out->failed; i++)
        if (out->s[i] == ' ') out->s[i] = '_';
}

static void numbers_print(const ConvSize *s, Buf *out)
{
    const struct {
        const char *name[CONV_SPATIAL];
        const int64_t *v;
    } rows[] = {{{"wi", "hi", "di"}, s->in},
                {{"x", "y", "z"}, s->filter},
                {{"stride_w", "stride_h", "stride_d"}, s->stride},
                {{"dilation_w", "dilation_h", "dilation_d"}, s->dilation},
                {{"pad_w", "pad_h", "pad_d"}, s->pad},
                {{"pad_w_end", "pad_h_end", "pad_d_end"}, s->pad_end}};
    buf_printf(out,
               "    static constexpr long n = %" PRId64 ", c = %" PRId64 ", k = %" PRId64
               ", groups = %" PRId64 ";\n",
               s->n, s->c, s->k, s->groups);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        buf_printf(out, "    static constexpr long %s = %" PRId64 ", %s = %" PRId64 ", %s = %" PRId64 ";\n",
                   rows[i].name[0], rows[i].v[0], rows[i].name[1], rows[i].v[1], rows[i].name[2],
                   rows[i].v[2]);
    buf_printf(out, "    static constexpr long wo = %" PRId64 ", ho = %" PRId64 ", d_o = %" PRId64 ";\n",
               conv_out(s, 0), conv_out(s, 1), conv_out(s, 2));
}

/* One product with its grid, as an element of an array. */
static Err product_emit(Command *c, const ConvDesc *conv, int64_t i, Buf *out)
{
    GridwiseProblem p;
    GridwiseDerived d;
    const GridwiseTuning *t;
    ConvGemm g;
    conv_gemm(conv, i, &g);
    if (g.k == 0) {
        buf_printf(out, "        {%" PRId64 ", %" PRId64 ", 0, 0, 0, 0, 0, 0, 0}, // writes zeros\n", g.m,
                   g.n);
        return ERR_OK;
    }
    gridwise_of_conv(conv, i, &p);
    TRY(tuning_of(c, &p, &t, &d));
    if (!t) FAIL(ERR_PARTIAL, "no row of the quick list is possible for a product of the convolution");
    buf_printf(out,
               "        {%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
               ", %" PRId64 ", %" PRId64 ", %" PRId64 "}, // perf_config ",
               p.m, p.n, p.k, t->m_per_block, t->n_per_block, t->k_per_block * t->k_pack, d.block_size,
               d.grid, d.local_bytes);
    gridwise_perf_print(t, out);
    buf_putc(out, '\n');
    return ERR_OK;
}

/* The end of the type. Arrays are along W, H, D. */
static const char applicable[] =
    "    };\n"
    "    // arrays: W, H, D\n"
    "    static constexpr bool same(const long v[3], long w, long h, long d)\n"
    "    {\n"
    "        return v[0] == w && v[1] == h && v[2] == d;\n"
    "    }\n"
    "    static constexpr bool applicable(const long nckg[4], const long in[3], const long filter[3],\n"
    "                                     const long stride[3], const long dilation[3],\n"
    "                                     const long pad[3], const long pad_end[3])\n"
    "    {\n"
    "        return nckg[0] == n && nckg[1] == c && nckg[2] == k && nckg[3] == groups &&\n"
    "               same(in, wi, hi, di) && same(filter, x, y, z) &&\n"
    "               same(stride, stride_w, stride_h, stride_d) &&\n"
    "               same(dilation, dilation_w, dilation_h, dilation_d) &&\n"
    "               same(pad, pad_w, pad_h, pad_d) &&\n"
    "               same(pad_end, pad_w_end, pad_h_end, pad_d_end);\n"
    "    }\n"
    "};\n";

static Err solver_emit(Command *c, const ConvDesc *conv, const char *name, Buf *out)
{
    const int64_t n = conv_n_gemms(conv);
    buf_printf(out,
               "// tuner " TUNER_VERSION ": sizes, matrix products and launches of one convolution.\n// ");
    miopen_print(conv, out);
    buf_printf(out, "\nstruct %s\n{\n", name);
    numbers_print(&conv->size, out);
    buf_puts(
        out,
        "    struct Product\n    {\n        long m, n, k; // k 0: nothing is summed\n"
        "        long m_per_block, n_per_block, k_per_block, block_size, grid_size, local_bytes;\n    };\n");
    buf_printf(out, "    static constexpr Product product[%" PRId64 "] = {\n", n);
    for (int64_t i = 0; i < n; i++) TRY(product_emit(c, conv, i, out));
    buf_puts(out, applicable);
    return buf_check(out);
}

/* The kernel's files, or the reason why there are none. A convolution of several products has one kernel,
 * by the tuning of the first that sums anything. */
static Err kernel_files(Command *c, const ConvDesc *conv, const char *name)
{
    GridwiseProblem p;
    GridwiseDerived d;
    const GridwiseTuning *t;
    ConvGemm g;
    int64_t i = 0;
    do {
        conv_gemm(conv, i, &g);
    } while (g.k == 0 && ++i < conv_n_gemms(conv));
    gridwise_of_conv(conv, i, &p);
    TRY(tuning_of(c, &p, &t, &d));
    const Err e = conv_emit_kernel(c->o, conv, t, &d, name);
    if (e != ERR_INPUT) return e;
    if (c->n_no_kernel++ == 0) snprintf(c->why, sizeof c->why, "%s", err_message());
    err_clear();
    return ERR_OK;
}

/* Writes NAME_solver.cpp, and where there is a kernel its files (conv_emit.h). */
static Err conv_emit(Command *c, const ConvDesc *conv)
{
    Buf name, text, path;
    buf_init(&name), buf_init(&text), buf_init(&path);
    name_of(conv, &name);
    buf_printf(&path, "%s/%s_solver.cpp", c->o->gridwise_emit, buf_cstr(&name));
    Err e = dir_make(c->o->gridwise_emit);
    if (!e) e = solver_emit(c, conv, buf_cstr(&name), &text);
    if (!e) e = file_write(buf_cstr(&path), buf_view(&text));
    if (!e) notice("wrote '%s'", buf_cstr(&path));
    c->n_emitted += !e;
    if (!e) e = kernel_files(c, conv, buf_cstr(&name));
    buf_fini(&name), buf_fini(&text), buf_fini(&path);
    return e;
}

/* ---- operands ---- */

static Err conv_print(Command *c, const ConvDesc *conv)
{
    const int64_t n = conv_n_gemms(conv);
    Buf *out = &c->out;
    conv_desc_print(conv, out);
    buf_printf(out, ": %.4g GFlop, %" PRId64 " product%s\n", conv_flops(conv) * 1e-9, n, n == 1 ? "" : "s");
    if (n > CONV_PRODUCTS_MAX)
        FAIL(ERR_INPUT, "backward data is %" PRId64 " products, at most %" PRId64 " are supported", n,
             CONV_PRODUCTS_MAX);
    for (int64_t i = 0; i < n; i++) {
        static const ConvTensor order[] = {CONV_FILTER, CONV_INPUT, CONV_OUTPUT};
        ConvGemm g;
        GridwiseProblem p;
        conv_gemm(conv, i, &g);
        if (n > 1) {
            buf_puts(out, " phase");
            for (int d = conv->n_spatial - 1; d >= 0; d--) buf_printf(out, " %" PRId64, g.phase[d]);
            buf_puts(out, g.k ? "\n" : ": no filter element, zeros are written\n");
        }
        if (g.k == 0) continue;
        for (int t = 0; t < CONV_TENSORS; t++) {
            ConvView v;
            if (!conv_view(conv, &g, order[t], &v)) FAIL(ERR_FAILED, "the view of a tensor has no room");
            conv_view_print(conv, &v, order[t], out);
        }
        gridwise_of_conv(conv, i, &p);
        TRY(product_print(c, &p, (DataType)conv->type[conv_right(conv)]));
    }
    return ERR_OK;
}

static bool read_sizes(const char *text, int64_t v[3])
{
    Str rest = str_from(text), part;
    int n = 0;
    while (str_split(&rest, ',', &part)) {
        if (n == 3 || !str_to_i64(part, &v[n]) || v[n] < 1 || v[n] > SIZE_VALUE_MAX) return false;
        n++;
    }
    return n == 3;
}

static Err operand_print(Command *c, const char *text)
{
    int64_t v[3];
    MiopenConv conv;
    if (strncmp(text, "conv", 4)) {
        DataType type = TYPE_S;
        GridwiseProblem p;
        if (!read_sizes(text, v))
            FAIL(ERR_INPUT,
                 "'%s', expected M,N,K (1 to 2147483647) or a line of MIOpenDriver: 'conv -n 64 ..'", text);
        if (c->o->gridwise_type && !type_find(str_from(c->o->gridwise_type), &type))
            return type_unknown(str_from(c->o->gridwise_type));
        if (type_bytes(type) > 8) FAIL(ERR_INPUT, "--type: '%s', expected a real type", c->o->gridwise_type);
        gridwise_of_gemm(v[0], v[1], v[2], type_bytes(type), &p);
        buf_printf(&c->out, "%s %s\n", text, type_info(type)->abbrev);
        return product_print(c, &p, type);
    }
    TRY(miopen_read(str_from(text), &conv));
    for (int i = 0; i < conv.n; i++) {
        TRY(conv_print(c, &conv.conv[i]));
        if (c->o->gridwise_emit) TRY(conv_emit(c, &conv.conv[i]));
    }
    return ERR_OK;
}

Err gridwise_command(const Options *o, FILE *f)
{
    Command c = {.o = o, .has_tuning = o->gridwise_perf != NULL};
    Err e = ERR_OK;
    if (o->arch && !target_find(str_from(o->arch))) FAIL(ERR_INPUT, "unknown architecture '%s'", o->arch);
    if (c.has_tuning) TRY(gridwise_perf_read(str_from(o->gridwise_perf), &c.tuning));
    buf_init(&c.out);
    for (int i = 0; i < o->n_operands && !e; i++) e = operand_print(&c, o->operand[i]);
    if (!e) e = buf_check(&c.out);
    if (!e) fwrite(c.out.s, 1, c.out.n, f);
    buf_fini(&c.out);
    if (!e && c.n_no_tuning)
        FAIL(ERR_PARTIAL, "no row of the quick list is possible for %zu of %zu products", c.n_no_tuning,
             c.n_problems);
    if (!e && c.n_no_kernel)
        FAIL(ERR_PARTIAL, "of %zu convolutions %zu have a solver alone, without a kernel: %s", c.n_emitted,
             c.n_no_kernel, c.why);
    return e;
}
