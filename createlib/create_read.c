/* createlib, first step: chooses logic files and architectures, and derives the solutions again. */
#include "createlib/create_internal.h"

#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "kernel/custom.h"
#include "logic/derive.h"
#include "problem/part.h"

/* "gfx90a:xnack-": source kernels are compiled for the setting, as Tensile does; without one, for either. */
static Err add_variant(Create *c, const Target *t, Str name)
{
    if (!str_ends(name, ":xnack+") && !str_ends(name, ":xnack-")) return ERR_OK;
    for (size_t i = 0; i < c->variant.n; i++)
        if (str_eq_c(name, c->variant.v[i]->name)) return ERR_OK;
    Target *v = ARENA_NEW(&c->a, Target);
    TRY_ALLOC(v);
    *v = *t;
    v->name = arena_dup(&c->a, name).s;
    TRY_ALLOC(v->name);
    if (!VEC_PUSH(&c->variant, v)) FAIL(ERR_FAILED, "out of memory for architecture '%s'", v->name);
    return ERR_OK;
}

static Err add_arch(Create *c, Str name)
{
    if (str_eq_c(name, "gfx000")) {
        if (!c->no_arch) notice("architecture gfx000: logic of no architecture, for every one");
        c->no_arch = true;
        return ERR_OK;
    }
    const Target *t = target_find(name);
    if (!t) FAIL(ERR_INPUT, "unknown architecture '%.*s'", STR_ARG(name));
    TRY(add_variant(c, t, name));
    for (size_t i = 0; i < c->n_archs; i++)
        if (c->arch[i] == t) return ERR_OK;
    if (c->n_archs == CREATE_ARCHS_MAX) FAIL(ERR_INPUT, "more than %d architectures", CREATE_ARCHS_MAX);
    c->arch[c->n_archs++] = t;
    return ERR_OK;
}

Err create_archs(Create *c)
{
    Str rest = str_from(c->o->architecture), name, part;
    c->all_archs = str_eq_c(rest, "all");
    if (c->all_archs) return ERR_OK;
    while (str_split(&rest, ';', &name)) {
        name = str_trim(name);
        if (name.n == 0) continue;
        if (target_find(name) || str_eq_c(name, "gfx000")) {
            TRY(add_arch(c, name));
            continue;
        }
        while (str_split(&name, '_', &part)) TRY(add_arch(c, part));
    }
    if (c->n_archs == 0 && !c->no_arch) FAIL(ERR_INPUT, "no architecture in '%s'", c->o->architecture);
    return ERR_OK;
}

static bool contains(Str s, Str what)
{
    for (size_t i = 0; i + what.n <= s.n; i++)
        if (memcmp(s.s + i, what.s, what.n) == 0) return true;
    return false;
}

static bool listed(const CreateOptions *o, Str path)
{
    for (size_t i = 0; i < o->n_logic_files; i++)
        if (str_eq(o->logic_file[i], path)) return true;
    return !o->logic_file;
}

static bool wanted(const Create *c, Str path)
{
    if (!listed(c->o, path)) return false;
    Str stem = path_stem(path), dir = path_dir(path);
    if (!c->o->lazy && (contains(dir, STR("/experimental/")) || str_ends(dir, "/experimental") ||
                        str_eq_c(dir, "experimental") || str_starts(dir, "experimental/")))
        return false;
    if (c->all_archs || contains(stem, STR("hip"))) return true;
    if (c->no_arch && contains(stem, STR("gfx000"))) return true;
    for (size_t i = 0; i < c->n_archs; i++) {
        if (contains(stem, str_from(c->arch[i]->name)) || target_schedule_in(c->arch[i], stem)) return true;
        if (!target_family(c->arch[i])->is_gpu && contains(stem, STR("host"))) return true;
    }
    return false;
}

/* Full paths of the logic files, sorted. */
static Err choose(Create *c, Str **path, size_t *n)
{
    static const char *const suffixes[] = {".yaml", ".yml"};
    const char *root = c->o->logic_path;
    size_t total = 0, n_names[2] = {0, 0};
    Str *names[2] = {NULL, NULL};
    *n = 0;
    if (file_exists(root) && !dir_exists(root)) {
        TRY_ALLOC(*path = ARENA_NEW(&c->a, Str));
        (*path)[(*n)++] = str_from(root);
        return ERR_OK;
    }
    if (!dir_exists(root)) FAIL(ERR_INPUT, "%s: no such directory of logic files", root);
    for (int i = 0; i < 2; i++) {
        TRY(dir_list(&c->a, root, suffixes[i], true, &names[i], &n_names[i]));
        total += n_names[i];
    }
    TRY_ALLOC(*path = ARENA_ARRAY(&c->a, total, Str));
    for (int i = 0; i < 2; i++)
        for (size_t j = 0; j < n_names[i]; j++) {
            if (!wanted(c, names[i][j])) continue;
            Str full = path_join(&c->a, root, names[i][j].s);
            TRY_ALLOC(full.s);
            (*path)[(*n)++] = full;
        }
    return ERR_OK;
}

/* A map of numbers that params.def does not know; NULL when the solution has none. */
static Err kept_numbers(const Logic *l, const LogicSolution *s, Str key, const Node **out)
{
    *out = NULL;
    for (size_t i = 0; i < s->n_kept; i++)
        if (str_eq(s->kept[i].key, key)) *out = s->kept[i].value;
    if (!*out) return ERR_OK;
    TRY(node_map(*out, l->path, key.s));
    for (size_t i = 0; i < (*out)->n; i++) {
        double v = 0;
        TRY(node_real(&(*out)->item[2 * i + 1], l->path, key.s, &v));
    }
    return ERR_OK;
}

static Err library_solution(const Logic *l, const LogicSolution *given, const Solution *s,
                            LibrarySolution *out)
{
    bool numbered = solution_has(&given->s, PARAM_SolutionIndex);
    *out = (LibrarySolution){.s = s, .index = -1};
    out->logic_index = numbered ? given->s.SolutionIndex : -1;
    for (size_t i = 0; i < given->n_kept; i++)
        out->checks_k |=
            str_eq(given->kept[i].key, STR("_GlobalAccumulation")) && given->kept[i].value->kind == NODE_BOOL;
    out->model = logic_solution_kept(given, LOGIC_MODEL_KEY);
    TRY(kept_numbers(l, given, STR("Ideals"), &out->ideals));
    return kept_numbers(l, given, STR("LinearModel"), &out->linear_model);
}

/* Whether a solution is kept that Tensile's rules reject today. Like Tensile, createlib keeps it, as the
 * tuning that wrote the file had accepted it; but building its kernel needs a completely derived state. */
static bool is_kept(const Create *c, const CreateLogic *l, const LogicSolution *given, Derived derived)
{
    if (!solution_has(&given->s, PARAM_MacroTile0)) return false;
    return c->o->metadata_only || (derived == DERIVED_WHOLE && target_family(l->target[0])->is_tensile);
}

static Err derive_one(Create *c, CreateLogic *l, size_t i, const LogicKeys *keys, const Deriver *d, Buf *why)
{
    Verdict v;
    RuleId rule;
    const LogicSolution *given = &l->logic.solution[i];
    TRY(library_solution(&l->logic, given, &l->state[i], &l->part.solution[i]));
    Derived derived = logic_solution_derived(keys, given, d, &l->state[i], why, &rule);
    if (derived == DERIVED_VALID) return ERR_OK;
    if (is_kept(c, l, given, derived)) {
        if (c->o->metadata_only || solution_writable(d, &l->state[i], &v)) return ERR_OK;
        return create_stand_in(c, keys, d, l, i);
    }
    l->solution[i].rule = rule;
    l->solution[i].why = arena_dup(&c->a, buf_view(why));
    TRY_ALLOC(l->solution[i].why.s);
    return ERR_OK;
}

/* Derives all solutions with the limits of a run of `tuner`. */
static Err derive_all(Create *c, CreateLogic *l, const LogicKeys *keys)
{
    Deriver d;
    Buf why;
    Err e = ERR_OK;
    size_t n = l->logic.n_solutions;
    bool kernels = !c->o->metadata_only;
    CustomFolder *folder = ARENA_NEW(&c->a, CustomFolder);
    TRY_ALLOC(folder);
    custom_folder_init(folder, &c->a, l->target[0], path_dir(str_from(l->logic.path)));
    TRY(deriver_init(&d, l->logic.pt, l->target[0],
                     &(DeriveLimits){.writer = kernels,
                                     .source_matrix = kernels,
                                     .custom = kernels ? &folder->kernels : NULL}));
    TRY_ALLOC(l->state = ARENA_ARRAY(&c->a, n, Solution));
    TRY_ALLOC(l->solution = ARENA_ARRAY(&c->a, n, CreateSolution));
    TRY_ALLOC(l->part.solution = ARENA_ARRAY(&c->a, n, LibrarySolution));
    buf_init(&why);
    for (size_t i = 0; !e && i < n; i++) {
        buf_reset(&why);
        e = derive_one(c, l, i, keys, &d, &why);
    }
    buf_fini(&why);
    return e;
}

static Err name_part(Create *c, CreateLogic *l)
{
    Buf b;
    buf_init(&b);
    Err e = library_operation(l->logic.pt, &b);
    if (!e) l->part.operation = arena_dup(&c->a, buf_view(&b));
    buf_reset(&b);
    if (!e) library_placeholder(&l->logic, l->part.operation, &b);
    if (!e) l->part.placeholder = arena_dup(&c->a, buf_view(&b));
    buf_fini(&b);
    TRY(e);
    TRY_ALLOC(l->part.placeholder.s);
    l->part.logic = &l->logic;
    return ERR_OK;
}

/* Whether this is an old file without an architecture: Tensile packs them under a name that no device has. */
static bool is_for_nothing(const Create *c, const Logic *l)
{
    if (c->o->runtime == CREATE_HOST || c->no_arch || !str_eq_c(l->arch, "gfx000")) return false;
    warning("%s: architecture 'gfx000', which no device has: not packed without --architecture gfx000",
            l->path);
    return true;
}

static Err read_one(Create *c, const char *path, const LogicKeys *keys)
{
    CreateLogic *l = &c->logic[c->n_logic];
    TRY(logic_read(&c->a, path, NULL, &l->logic));
    if (is_for_nothing(c, &l->logic)) return ERR_OK;
    logic_warn(&l->logic);
    TRY(create_targets(c, l));
    TRY(derive_all(c, l, keys));
    c->n_logic++;
    c->r->n_solutions += l->logic.n_solutions;
    return name_part(c, l);
}

Err create_read(Create *c)
{
    Str *path = NULL;
    size_t n = 0;
    LogicKeys keys;
    logic_keys_init(&keys);
    TRY(choose(c, &path, &n));
    if (n > 0) TRY_ALLOC(c->logic = ARENA_ARRAY(&c->a, n, CreateLogic));
    for (size_t i = 0; i < n; i++) TRY(read_one(c, path[i].s, &keys));
    if (c->n_logic == 0)
        FAIL(ERR_INPUT, "%s: no logic file for architecture '%s'", c->o->logic_path, c->o->architecture);
    c->r->n_logic = c->n_logic;
    return ERR_OK;
}
