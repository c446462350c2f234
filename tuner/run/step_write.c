/* Step: writes the files of the client: the benchmark library, ClientParameters.ini, run.sh (runs the same
 * client by hand) and cache.yaml. Paths in them are relative to the group's build folder, so that OUTDIR can
 * be moved. See run.h. */
#include "run/run.h"

#include <stdlib.h>

#include "base/fs.h"
#include "base/own.h"
#include "base/vec.h"
#include "run/client_ini.h"
#include "run/hint.h"
#include "createlib/library_write.h"

static Err solutions_of(Run *r, const Group *g, const Solution ***solutions, Str **names, Str **kernels)
{
    *solutions = ARENA_ARRAY(&r->arena, g->n_columns, const Solution *);
    *names = ARENA_ARRAY(&r->arena, g->n_columns, Str);
    *kernels = ARENA_ARRAY(&r->arena, g->n_columns, Str);
    if (!*solutions || !*names || !*kernels)
        FAIL(ERR_FAILED, "out of memory for %zu solutions", g->n_columns);
    for (size_t i = 0; i < g->n_columns; i++) {
        (*solutions)[i] = &g->variant[g->column[i]].s;
        (*names)[i] = g->variant[g->column[i]].name;
        (*kernels)[i] = g->variant[g->column[i]].kernel_name;
    }
    return 0;
}

static LibraryFormat format_of(const Run *r)
{
    return r->config->globals.LibraryFormat == FORMAT_YAML ? LIBRARY_YAML : LIBRARY_MSGPACK;
}

static Err library_write(Run *r, const Group *g)
{
    const Solution **solutions;
    Str *names, *kernels;
    TRY(solutions_of(r, g, &solutions, &names, &kernels));
    Str path = arena_printf(&r->arena, "%.*s/source/library/TensileLibrary%s", STR_ARG(g->dir),
                            library_suffix(format_of(r)));
    TRY_ALLOC(path.s);
    TRY(path_no_link(path.s));
    return library_write_benchmark(path.s, format_of(r), solutions, names, kernels, g->n_columns);
}

static Err file_put(Run *r, const Group *g, const char *name, const Buf *text)
{
    Str path = arena_printf(&r->arena, "%.*s/%s", STR_ARG(g->dir), name);
    TRY_ALLOC(path.s);
    TRY(buf_check(text));
    TRY(path_no_link(path.s));
    return file_write(path.s, buf_view(text));
}

static Err ini_write(Run *r, const Group *g, Buf *text)
{
    Str *object = ARENA_ARRAY(&r->arena, g->n_code_objects, Str);
    Str library = arena_printf(&r->arena, "../source/library/TensileLibrary%s", library_suffix(format_of(r)));
    if (!object || !library.s) FAIL(ERR_FAILED, "out of memory");
    for (size_t i = 0; i < g->n_code_objects; i++) {
        object[i] = arena_printf(&r->arena, "../source/library/%.*s", STR_ARG(path_base(g->code_object[i])));
        TRY_ALLOC(object[i].s);
    }
    ClientIni ini = {.g = &r->config->globals,
                     .pt = &g->problem->pt,
                     .size = g->size,
                     .n_sizes = g->n_sizes,
                     .n_held_out = g->n_held_out,
                     .library_file = library,
                     .results_file = STR("../../Data/00_Final.csv"),
                     .code_object = object,
                     .n_code_objects = g->n_code_objects,
                     .device_kind = r->device.kind,
                     .sim = r->device.sim,
                     .device = r->device.index};
    TRY(client_ini_write(&ini, text));
    return file_put(r, g, "source/ClientParameters.ini", text);
}

static Err run_sh_write(Run *r, const Group *g, Buf *text)
{
    buf_puts(text,
             "#!/bin/sh\n# The benchmark's client run by hand; writes ../../Data/00_Final.csv\nset -ex\n"
             "cd \"$(dirname \"$0\")\"\n");
    shell_word(r->client, text);
    buf_puts(text, " --config-file ../source/ClientParameters.ini");
    if (r->config->globals.ClientArgs.n) buf_printf(text, " %.*s", STR_ARG(r->config->globals.ClientArgs));
    buf_putc(text, '\n');
    return file_put(r, g, "build/run.sh", text);
}

static void node_print(const Node *n, Buf *out)
{
    if (n->kind != NODE_SEQ && n->kind != NODE_MAP) {
        buf_str(out, n->text);
        return;
    }
    bool map = n->kind == NODE_MAP;
    buf_putc(out, map ? '{' : '[');
    for (size_t i = 0; i < n->n; i++) {
        if (i) buf_puts(out, ", ");
        node_print(&n->item[map ? 2 * i : i], out);
        if (!map) continue;
        buf_puts(out, ": ");
        node_print(&n->item[2 * i + 1], out);
    }
    buf_putc(out, map ? '}' : ']');
}

static const ForkParam *fork_param(const SizeGroup *g, ParamId id)
{
    for (size_t i = 0; i < g->n_params; i++)
        if (g->param[i].param->id == id) return &g->param[i];
    return NULL;
}

static void constants_print(const Group *g, Buf *out)
{
    Solution defaults;
    ParamId order[PARAM_COUNT];
    solution_init(&defaults, &g->problem->pt);
    params_sorted(order);
    buf_puts(out, "ConstantParams:\n");
    for (int i = 0; i < PARAM_COUNT; i++) {
        const Param *p = param_at(order[i]);
        const ForkParam *f = fork_param(g->config, order[i]);
        if ((!f && p->group != GROUP_FORK) || (f && f->n != 1)) continue;
        buf_printf(out, "  %s: ", p->name);
        if (f)
            node_print(f->value[0], out);
        else
            param_print(p, &defaults, out);
        buf_putc(out, '\n');
    }
}

static void forks_print(const SizeGroup *g, Buf *out)
{
    size_t n = 0;
    buf_puts(out, "ForkParams:");
    for (size_t i = 0; i < g->n_params; i++) {
        const ForkParam *f = &g->param[i];
        if (f->n < 2) continue;
        buf_printf(out, "%s  %s: [", n++ ? "" : "\n", f->param->name);
        for (size_t k = 0; k < f->n; k++) {
            if (k) buf_puts(out, ", ");
            node_print(f->value[k], out);
        }
        buf_puts(out, "]\n");
    }
    if (n == 0) buf_puts(out, " {}\n");
}

static void groups_print(const SizeGroup *g, Buf *out)
{
    buf_printf(out, "ParamGroups:%s\n", g->n_groups ? "" : " []");
    for (size_t i = 0; i < g->n_groups; i++)
        for (size_t k = 0; k < g->group[i].n; k++) {
            const ForkEntry *e = &g->group[i].entry[k];
            buf_printf(out, "%s- {", k ? "  " : "- ");
            for (size_t m = 0; m < e->n; m++) {
                buf_printf(out, "%s%s: ", m ? ", " : "", e->assign[m].param->name);
                node_print(e->assign[m].value, out);
            }
            buf_puts(out, "}\n");
        }
}

static Err cache_write(Run *r, const Group *g, Buf *text)
{
    bool all = false;
    buf_puts(text, "CodeObjectFiles: [");
    for (size_t i = 0; i < g->n_code_objects; i++)
        buf_printf(text, "%slibrary/%.*s", i ? ", " : "", STR_ARG(path_base(g->code_object[i])));
    buf_puts(text, "]\n");
    constants_print(g, text);
    buf_puts(text, "CustomKernelWildcard: ");
    for (size_t i = 0; i < g->config->n_custom_kernels; i++)
        all = all || str_eq_c(g->config->custom_kernel[i], "*");
    buf_printf(text, "%s\nCustomKernels: []\n", all ? "true" : "false");
    forks_print(g->config, text);
    groups_print(g->config, text);
    return file_put(r, g, "cache.yaml", text);
}

static Err group_write(Run *r, const Group *g, Buf *text)
{
    static Err (*const writers[])(Run *, const Group *, Buf *) = {ini_write, run_sh_write, cache_write};
    Str build = arena_printf(&r->arena, "%.*s/build", STR_ARG(g->dir));
    TRY_ALLOC(build.s);
    TRY(dir_make(build.s));
    TRY(library_write(r, g));
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        buf_reset(text);
        TRY(writers[i](r, g, text));
    }
    return 0;
}

Err step_write(Run *r)
{
    Buf text;
    buf_init(&text);
    Err e = 0;
    for (size_t i = 0; !e && i < r->n_groups; i++)
        if (!r->group[i].skip) e = group_write(r, &r->group[i], &text);
    buf_fini(&text);
    return e;
}
