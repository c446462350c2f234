/* The command `tuner sizes`. See sizes.h. */
#include "run/sizes.h"

#include <string.h>

#include "base/fs.h"
#include "run/list.h"
#include "workload/write.h"

enum { BASES_MAX = 64 };

/* The architecture to write for: --arch, that of --part, or the first device's. */
static Err target_of(const Options *o, Arena *a, const Target **t, const Part **part)
{
    Str arch = o->arch ? str_from(o->arch) : STR_NULL;
    *part = NULL;
    *t = o->arch ? target_find(arch) : NULL;
    if (o->arch && !*t)
        FAIL(ERR_INPUT, "--arch: there is no architecture '%s' (tuner --list-targets)", o->arch);
    if (o->part) {
        Err e = part_find(str_from(o->part), *t, part);
        if (e) return err_context(e, "--part: ");
        if (!*t) *t = target_find(str_from((*part)->arch));
    }
    if (*t) return ERR_OK;
    TRY(first_device(o, a, &arch));
    *t = target_find(arch);
    if (!*t) FAIL(ERR_NO_DEVICE, "no device of this machine is known; name one with --arch");
    return ERR_OK;
}

static bool is_for(const Node *root, const Target *t)
{
    const Node *logic = node_get(root, "LibraryLogic");
    const Node *name = logic ? node_get(logic, "ArchitectureName") : NULL;
    return name && name->kind == NODE_STR && target_is_called(t, name->text);
}

static Err base_add(Arena *a, const char *path, const Target *t, WorkloadBase *base, size_t *n)
{
    Node *root;
    if (*n == BASES_MAX) FAIL(ERR_INPUT, "more than %d base configs", BASES_MAX);
    NodeLimits limits = {.keep_duplicate_keys = true};
    TRY(yaml_read(a, path, &limits, &root));
    if (t && !is_for(root, t)) return ERR_OK;
    base[(*n)++] = (WorkloadBase){path, root};
    return ERR_OK;
}

/* The configs that come with tuner: beside the sources, or installed. */
static Err bases_of_device(Arena *a, const Target *t, WorkloadBase *base, size_t *n)
{
    static const char *const places[] = {"../../configs", "../share/tuner/configs"};
    Str program, *name, dir = STR_NULL;
    size_t n_names;
    TRY(path_program_dir(a, &program));
    for (size_t i = 0; i < sizeof places / sizeof *places && !dir.n; i++) {
        Str d = path_join(a, program.s, places[i]);
        TRY_ALLOC(d.s);
        if (dir_exists(d.s)) dir = d;
    }
    if (!dir.n) return ERR_OK;
    TRY(dir_list(a, dir.s, ".yaml", false, &name, &n_names));
    for (size_t i = 0; i < n_names && *n < BASES_MAX; i++) {
        Str path = path_join(a, dir.s, name[i].s);
        TRY_ALLOC(path.s);
        TRY(base_add(a, path.s, t, base, n));
    }
    return ERR_OK;
}

static Err write_config(const Options *o, Workload *w, const Target *t, const WorkloadTypes *types)
{
    WorkloadBase *base = ARENA_ARRAY(&w->arena, BASES_MAX, WorkloadBase);
    size_t n = 0, n_left = 0;
    Buf text;
    TRY_ALLOC(base);
    for (int i = 0; i < o->n_bases; i++) TRY(base_add(&w->arena, o->base[i], NULL, base, &n));
    if (!o->n_bases) TRY(bases_of_device(&w->arena, t, base, &n));
    buf_init(&text);
    Err e = workload_config(types, o->operand[0], base, n, &w->arena, &text, &n_left);
    if (!e) e = file_write(o->sizes_config, buf_view(&text));
    buf_fini(&text);
    if (!e && n_left)
        e = err_set(ERR_PARTIAL, "'%s' is without %zu of %zu problem types", o->sizes_config, n_left,
                    types->n);
    return e;
}

static Err print_all(const Options *o, Workload *w, const Target *t, const WorkloadTypes *types, FILE *f)
{
    Buf text;
    Err e = ERR_OK;
    buf_init(&text);
    if (o->sizes_csv) {
        workload_csv(types, &text);
        e = buf_check(&text);
        if (!e) e = file_write(o->sizes_csv, buf_view(&text));
        buf_reset(&text);
    }
    if (!e) {
        if (o->json)
            workload_json(w, types, &text);
        else
            workload_table(w, types, &text);
        e = buf_check(&text);
    }
    if (!e) fwrite(text.s, 1, text.n, f);
    buf_fini(&text);
    return e ? e : o->sizes_config ? write_config(o, w, t, types) : ERR_OK;
}

static Err run(const Options *o, Workload *w, FILE *f)
{
    const Target *t;
    const Part *part;
    WorkloadTypes types;
    WorkloadLimits limits = {.share = o->sizes_share, .top = o->sizes_top};
    if (o->sizes_precision && !call_type_find(str_from(o->sizes_precision), &w->precision))
        FAIL(ERR_INPUT, "--precision: '%s' is no type of rocblas-bench (f32_r, f16_r, ...)",
             o->sizes_precision);
    w->as_convolution = o->sizes_as != 0;
    TRY(target_of(o, &w->arena, &t, &part));
    for (int i = 0; i < o->n_operands; i++) TRY(workload_read(w, o->operand[i]));
    TRY(workload_types(w, t, part, &limits, &types));
    if (types.n == 0)
        FAIL(ERR_INPUT, "%s%s: no line is a call of a GEMM (%lld lines read, %lld left out%s%.*s)",
             o->operand[0], o->n_operands > 1 ? " and others" : "", (long long)w->n_lines,
             (long long)w->n_skipped, w->skip.n ? ": " : "", w->skip.n ? (int)w->skip.v[0].reason.n : 0,
             w->skip.n ? w->skip.v[0].reason.s : "");
    return print_all(o, w, t, &types, f);
}

Err sizes_command(const Options *o, FILE *f)
{
    Workload w;
    workload_init(&w);
    Err e = run(o, &w, f);
    workload_fini(&w);
    return e;
}
