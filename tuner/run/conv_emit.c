/* Config and kernel of one convolution. See conv_emit.h. */
#include "run/conv_emit.h"

#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "kernel/kernel.h"
#include "problem/conv.h"
#include "run/run.h"
#include "workload/write.h"

/* ---- the config ---- */

/* Where D's contiguous index is along the other side than in the table of products (conv_desc.h), M and N of
 * the tuning are swapped. */
static void tuning_print(const ConvDesc *c, const GridwiseTuning *t, const GridwiseDerived *d, Buf *out)
{
    GridwiseTuning of = *t;
    GridwiseDerived its = *d;
    if (conv_swaps(c)) {
        of.m_per_block = t->n_per_block, of.n_per_block = t->m_per_block;
        of.m_per_part = t->n_per_part, of.n_per_part = t->m_per_part;
        for (int i = 0; i < 2; i++) {
            its.level0[i] = d->level0[1 - i], its.level1[i] = d->level1[1 - i];
            its.waves[i] = d->waves[1 - i];
        }
    }
    Buf text;
    buf_init(&text);
    gridwise_config_print(&of, &its, (DataType)c->type[conv_right(c)], &text);
    Str rest = buf_view(&text), part;
    while (rest.n) { /* "WorkGroup: [16, 16, 1], DepthU: 16": a list of one value for each parameter */
        size_t end = str_find(rest, ':', 0), open = str_find(rest, '[', 0), close = str_find(rest, ']', 0);
        const bool list = open < rest.n && open == end + 2;
        size_t stop = list ? close + 1 : str_find(rest, ',', 0);
        if (stop > rest.n) stop = rest.n;
        part = str_sub(rest, 0, stop);
        buf_printf(out, "        - %.*s: [%.*s]\n", (int)end, part.s, (int)(part.n - end - 2),
                   part.s + end + 2);
        rest = str_trim(str_sub(rest, stop, rest.n));
        if (rest.n && rest.s[0] == ',') rest = str_trim(str_sub(rest, 1, rest.n));
    }
    buf_fini(&text);
}

static void config_print(const ConvDesc *c, const ProblemType *pt, const GridwiseTuning *t,
                         const GridwiseDerived *d, Buf *out)
{
    buf_puts(out, "# ");
    conv_desc_print(c, out);
    buf_printf(out,
               "\nGlobalParameters: {MinimumRequiredVersion: 4.34.0, NumElementsToValidate: 128}\n"
               "BenchmarkProblems:\n  - - {OperationType: %s, DataType: %s, DestDataType: %s, "
               "ComputeDataType: %s, HighPrecisionAccumulate: %s%s,\n       UseBeta: False, Batched: True,\n"
               "       ConvolutionConfig: ",
               operation_name((OperationKind)pt->OperationType), type_letter((DataType)pt->DataType),
               type_letter((DataType)pt->DestDataType), type_letter((DataType)pt->ComputeDataType),
               pt->HighPrecisionAccumulate ? "True" : "False",
               pt->F32XdlMathOp == TYPE_X ? ", F32XdlMathOp: x" : "");
    problem_key_print(problem_key_find(STR("ConvolutionConfig")), pt, out);
    buf_puts(out, "}\n    - BenchmarkCommonParameters:\n        - EdgeType: [ShiftPtr]\n"
                  "        - KernelLanguage: [Source]\n");
    tuning_print(c, t, d, out);
    buf_puts(out, "      ForkParameters: # the widest that are possible come first\n"
                  "        - VectorWidth: [4, 2, 1]\n        - GlobalReadVectorWidth: [4, 2, 1]\n"
                  "        - PrefetchGlobalRead: [1, 0]\n"
                  "      BenchmarkFinalParameters:\n        - ProblemSizes:\n");
    workload_conv_size(c, out);
    buf_puts(out, "}\n");
}

/* ---- the kernel ---- */

static Err kernel_print(Run *r, const Options *o, const char *config, const char *name, Buf *out)
{
    Options own = *o;
    const char *const operand[] = {config};
    memset(own.operand, 0, sizeof own.operand);
    own.operand[0] = operand[0], own.n_operands = 1;
    TRY(run_config(r, &own, 1));
    log_set_level(LOG_QUIET);
    TRY(run_target(r));
    TRY(step_fork(r));
    if (r->n_given_up || !r->n_groups || !r->group[0].n_variants)
        FAIL(ERR_INPUT, "no kernel for %s has these parameters (tuner --list-solutions --reasons %s)",
             r->target->name, config);
    TRY(kernel_emit(&r->group[0].variant[0].s, r->target, str_from(name), out));
    return buf_check(out);
}

static Err kernel_text(const Options *o, const char *config, const char *name, Buf *out)
{
    Run r = {.store.lock_fd = -1, .outdir = ""};
    const int level = log_level();
    arena_init(&r.arena, 0);
    const Err e = kernel_print(&r, o, config, name, out);
    arena_fini(&r.arena);
    log_set_level(level);
    return e;
}

/* ---- files ---- */

static Err write_below(const char *dir, const char *name, const char *suffix, const Buf *text)
{
    Buf path;
    buf_init(&path);
    buf_printf(&path, "%s/%s%s", dir, name, suffix);
    Err e = buf_check(&path);
    if (!e) e = file_write(buf_cstr(&path), buf_view(text));
    if (!e) notice("wrote '%s'", buf_cstr(&path));
    buf_fini(&path);
    return e;
}

static Err files_write(const Options *o, const char *name, const Buf *kernel)
{
    Buf text;
    buf_init(&text);
    buf_puts(&text, "#pragma once\n");
    buf_str(&text, buf_view(kernel));
    Err e = buf_check(&text);
    if (!e) e = write_below(o->gridwise_emit, name, ".hpp", &text);
    buf_reset(&text);
    buf_printf(&text,
               "// The kernel `%s` with C linkage; arguments and grid are those of the tuner's libraries.\n"
               "#include \"%s.hpp\"\n",
               name, name);
    if (!e) e = buf_check(&text);
    if (!e) e = write_below(o->gridwise_emit, name, "_wrapper.cpp", &text);
    buf_fini(&text);
    return e;
}

Err conv_emit_kernel(const Options *o, const ConvDesc *c, const GridwiseTuning *t, const GridwiseDerived *d,
                     const char *name)
{
    ProblemType pt;
    ProblemSize size;
    SizeExtra extra;
    Buf config, kernel, path;
    TRY(conv_problem_type(c, &pt));
    TRY(conv_problem(&pt, &c->size, &size, &extra));
    buf_init(&config), buf_init(&kernel), buf_init(&path);
    config_print(c, &pt, t, d, &config);
    buf_printf(&path, "%s/%s.yaml", o->gridwise_emit, name);
    Err e = buf_check(&config);
    if (!e) e = buf_check(&path);
    if (!e) e = file_write(buf_cstr(&path), buf_view(&config));
    if (!e) e = kernel_text(o, buf_cstr(&path), name, &kernel);
    if (e)
        unlink(buf_cstr(&path));
    else
        e = files_write(o, name, &kernel);
    buf_fini(&config), buf_fini(&kernel), buf_fini(&path);
    return e;
}
