/* Reads a config's structure: top level, problem groups, library logic, the alternate format. The parameters
 * of a size-group are read in config_fork.c, global parameters in globals.c, sizes in sizes_read.c. */
#include "space/config.h"

#include <string.h>

#include "space/config_read.h"
#include "problem/target.h"

enum { MISSPELT = 2 }; /* a key counts as misspelt when at most this many letters differ from a legal key's */

static Err unknown_key(const char *file, const Node *key, Str name, const char *where,
                       const char *const *legal)
{
    const char *near = NULL;
    unsigned least = (unsigned)(name.n / 2 + 2);
    for (size_t i = 0; legal[i]; i++) {
        const unsigned d = str_distance(name, str_from(legal[i]));
        if (d >= least) continue;
        least = d;
        near = legal[i];
    }
    FAIL(ERR_INPUT, "%s:%d: unknown key '%.*s' in %s%s%s%s", file, key->line,
         (int)(name.n < 64 ? name.n : 64), name.s, where, near ? " (did you mean '" : "", near ? near : "",
         near ? "'?)" : "");
}

static bool is_legal(Str name, const char *const *legal)
{
    for (size_t i = 0; legal[i]; i++)
        if (str_eq_c(name, legal[i])) return true;
    return false;
}

/* Refuses keys of the map that are not in legal. */
static Err check_keys(const char *file, const Node *map, const char *where, const char *const *legal)
{
    TRY(node_map(map, file, where));
    for (size_t i = 0; i < map->n; i++) {
        Str name;
        TRY(node_str(&map->item[2 * i], file, where, &name));
        if (!is_legal(name, legal)) return unknown_key(file, &map->item[2 * i], name, where, legal);
    }
    return 0;
}

/* A key that Tensile ignores: a notice. A misspelt key is refused, because its value would be lost. */
static Err note_unknown(ConfigReader *r, const Node *key, Str name, const char *where,
                        const char *const *legal)
{
    for (size_t i = 0; legal[i]; i++)
        if (str_distance(name, str_from(legal[i])) <= MISSPELT)
            return unknown_key(r->file, key, name, where, legal);
    notices_add(r->notices, "%s:%d: key '%.*s' in %s has no effect, as in Tensile", r->file, key->line,
                (int)(name.n < 64 ? name.n : 64), name.s, where);
    return 0;
}

static Node *get_value(const Node *map, const char *key)
{
    Node *n = node_get(map, key);
    return n && n->kind != NODE_NULL ? n : NULL;
}

/* ---- size-groups ---- */

static Err refuse_legacy(const ConfigReader *r, const Node *n)
{
    static const char *const steps[] = {"InitialSolutionParameters", "BenchmarkForkParameters",
                                        "JoinParameters", "BenchmarkJoinParameters"};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const Node *step = get_value(n, steps[i]);
        if (step)
            FAIL(ERR_INPUT, "%s:%d: benchmark step '%s' is no longer supported", r->file, step->line,
                 steps[i]);
    }
    return 0;
}

/* In older files '- ProblemSizes:' is empty and the sizes are further entries of the list beside it. */
static Err gather_beside(ConfigReader *r, const Node *final, Node **out)
{
    Node *list = ARENA_NEW(r->arena, Node);
    TRY_ALLOC(list);
    list->kind = NODE_SEQ;
    list->line = final->line;
    list->item = ARENA_ARRAY(r->arena, final->n, Node);
    TRY_ALLOC(list->item);
    for (size_t i = 0; i < final->n; i++) {
        const Node *entry = &final->item[i];
        TRY(node_map(entry, r->file, "BenchmarkFinalParameters"));
        if (node_get(entry, "Exact") || node_get(entry, "Range")) list->item[list->n++] = *entry;
    }
    if (list->n)
        notices_add(r->notices, "%s:%d: sizes beside ProblemSizes: they now belong below it", r->file,
                    list->item[0].line);
    else
        notices_add(r->notices, "%s:%d: ProblemSizes is empty: as in Tensile, nothing is measured", r->file,
                    final->line);
    *out = list;
    return 0;
}

/* The list of sizes; *out is NULL when there is none. */
static Err find_sizes(ConfigReader *r, const Node *group, Node **out)
{
    static const char *const legal[] = {"ProblemSizes", "HeldOutSizes", "Exact", "Range", NULL};
    const Node *final = get_value(group, "BenchmarkFinalParameters");
    *out = NULL;
    if (!final) return 0;
    TRY(node_seq(final, r->file, "BenchmarkFinalParameters", 1, CONFIG_VALUES_MAX));
    for (size_t i = 0; i < final->n; i++)
        TRY(check_keys(r->file, &final->item[i], "BenchmarkFinalParameters", legal));
    Node *sizes = node_get(&final->item[0], "ProblemSizes");
    if (!sizes)
        FAIL(ERR_INPUT, "%s:%d: the first entry of BenchmarkFinalParameters has no ProblemSizes", r->file,
             final->item[0].line);
    if (sizes->kind == NODE_NULL || (sizes->kind == NODE_SEQ && !sizes->n))
        return gather_beside(r, final, out);
    if (final->n > 1 && !node_get(&final->item[1], "HeldOutSizes"))
        notices_add(r->notices, "%s:%d: only the first entry of BenchmarkFinalParameters is used", r->file,
                    final->item[1].line);
    *out = sizes;
    return 0;
}

/* HeldOutSizes, in the first entry or one of its own. */
static Err read_held_out(ConfigReader *r, const Node *group, SizeGroup *out)
{
    const Node *final = get_value(group, "BenchmarkFinalParameters");
    for (size_t i = 0; final && i < final->n; i++) {
        Node *sizes = node_get(&final->item[i], "HeldOutSizes");
        if (!sizes) continue;
        if (out->held_out_line)
            FAIL(ERR_INPUT, "%s:%d: a second list HeldOutSizes, expected one", r->file, sizes->line);
        TRY(node_seq(sizes, r->file, "HeldOutSizes", 1, CONFIG_VALUES_MAX));
        TRY(problem_sizes_from_node(r->arena, r->file, sizes, &out->sizes.pt, r->notices, &out->held_out));
        out->held_out_line = sizes->line;
    }
    return ERR_OK;
}

/* With C and D in one buffer LDC must equal LDD. */
static Err check_c_equal_d(const ConfigReader *r, const SizeGroup *g)
{
    const ProblemType *pt = &g->sizes.pt;
    if (!r->globals->CEqualD || !problem_is_gemm(pt)) return 0;
    SizeIter it;
    ProblemSize s;
    size_iter_init(&it, &g->sizes);
    while (size_iter_next(&it, &s))
        if (size_ld(pt, &s, LD_D) != size_ld(pt, &s, LD_C))
            FAIL(ERR_INPUT, "%s:%d: CEqualD needs LDD equal to LDC, a size has %lld and %lld", r->file,
                 g->line, (long long)size_ld(pt, &s, LD_D), (long long)size_ld(pt, &s, LD_C));
    return 0;
}

static Err read_custom_kernels(ConfigReader *r, const Node *group, SizeGroup *out)
{
    const Node *n = get_value(group, "CustomKernels");
    if (!n) return 0;
    TRY(node_seq(n, r->file, "CustomKernels", 0, CONFIG_VALUES_MAX));
    Str *name = ARENA_ARRAY(r->arena, n->n, Str);
    TRY_ALLOC(name);
    for (size_t i = 0; i < n->n; i++) TRY(node_str(&n->item[i], r->file, "CustomKernels", &name[i]));
    out->custom_kernel = name;
    out->n_custom_kernels = n->n;
    return 0;
}

static Err check_group_keys(ConfigReader *r, const Node *group, const char *const *legal)
{
    TRY(node_map(group, r->file, "a size-group"));
    for (size_t i = 0; i < group->n; i++) {
        Str name;
        TRY(node_str(&group->item[2 * i], r->file, "a size-group", &name));
        if (!is_legal(name, legal)) TRY(note_unknown(r, &group->item[2 * i], name, "a size-group", legal));
    }
    return 0;
}

static Err read_size_group(ConfigReader *r, const Node *n, const ProblemType *pt, SizeGroup *out)
{
    static const char *const legal[] = {"BenchmarkCommonParameters", "ForkParameters",
                                        "BenchmarkFinalParameters",  "CustomKernels",
                                        "InitialSolutionParameters", "JoinParameters",
                                        "BenchmarkForkParameters",   "BenchmarkJoinParameters",
                                        "GroupForkParameters",       NULL};
    Node *sizes;
    out->line = n->line;
    if (n->kind != NODE_NULL) TRY(check_group_keys(r, n, legal));
    TRY(refuse_legacy(r, n));
    if (get_value(n, "GroupForkParameters"))
        notices_add(r->notices,
                    "%s:%d: GroupForkParameters has no effect, as in Tensile: use Groups in ForkParameters",
                    r->file, node_get(n, "GroupForkParameters")->line);
    TRY(config_read_fork(r, get_value(n, "BenchmarkCommonParameters"), get_value(n, "ForkParameters"), out));
    TRY(read_custom_kernels(r, n, out));
    TRY(find_sizes(r, n, &sizes));
    if (!sizes || sizes->kind == NODE_NULL)
        notices_add(r->notices,
                    "%s:%d: no ProblemSizes: as in Tensile, 64, 128, 256 and 448 in all dimensions", r->file,
                    n->line);
    if (sizes && sizes->kind == NODE_SEQ && !sizes->n)
        out->sizes = (ProblemSizes){.pt = *pt};
    else
        TRY(problem_sizes_from_node(r->arena, r->file, sizes, pt, r->notices, &out->sizes));
    out->sizes.sorted = r->globals->SortProblems;
    TRY(read_held_out(r, n, out));
    return check_c_equal_d(r, out);
}

static Err read_problem_group(ConfigReader *r, const Node *n, ProblemGroup *out)
{
    TRY(node_seq(n, r->file, "a problem group", 1, CONFIG_GROUPS_MAX));
    out->line = n->line;
    TRY(problem_type_read(r->file, &n->item[0], &(ProblemReadOptions){true, r->notices}, &out->pt));
    out->n_size_groups = n->n > 1 ? n->n - 1 : 1;
    SizeGroup *groups = ARENA_ARRAY(r->arena, out->n_size_groups, SizeGroup);
    TRY_ALLOC(groups);
    out->size_group = groups;
    const Node empty = {.kind = NODE_NULL, .line = n->line};
    for (size_t i = 0; i < out->n_size_groups; i++)
        TRY(read_size_group(r, n->n > 1 ? &n->item[i + 1] : &empty, &out->pt, &groups[i]));
    return 0;
}

static Err read_problems(ConfigReader *r, const Node *n, Config *c)
{
    TRY(node_seq(n, r->file, "BenchmarkProblems", 1, CONFIG_GROUPS_MAX));
    ProblemGroup *problems = ARENA_ARRAY(r->arena, n->n, ProblemGroup);
    TRY_ALLOC(problems);
    c->problem = problems;
    c->n_problems = n->n;
    for (size_t i = 0; i < n->n; i++) TRY(read_problem_group(r, &n->item[i], &problems[i]));
    return 0;
}

/* ---- library logic ---- */

/* Names become parts of file names. */
static Err read_name(const ConfigReader *r, const Node *n, const char *what, bool file_name, Str *out)
{
    TRY(node_str(n, r->file, what, out));
    if (out->n < 1 || out->n > CONFIG_NAME_MAX)
        FAIL(ERR_INPUT, "%s:%d: %s: %zu characters, expected 1..%d", r->file, n->line, what, out->n,
             CONFIG_NAME_MAX);
    if (file_name && (str_find(*out, '/', 0) < out->n || out->s[0] == '.'))
        FAIL(ERR_INPUT, "%s:%d: %s '%.*s' cannot be part of a file name", r->file, n->line, what,
             STR_ARG(*out));
    return 0;
}

static Err read_architecture(ConfigReader *r, const Node *n, LogicSettings *out)
{
    static const char *const legal[] = {"Architecture", "CUCount", "IsAPU", NULL};
    const Node *name = n;
    if (n->kind == NODE_MAP) {
        TRY(check_keys(r->file, n, "ArchitectureName", legal));
        name = node_get(n, "Architecture");
        if (!name) FAIL(ERR_INPUT, "%s:%d: ArchitectureName has no Architecture", r->file, n->line);
        const Node *cus = get_value(n, "CUCount"), *apu = get_value(n, "IsAPU");
        if (cus) TRY(node_int(cus, r->file, "CUCount", 1, 65536, &out->CUCount));
        if (apu) TRY(node_int(apu, r->file, "IsAPU", 0, 1, &out->IsAPU));
    }
    TRY(read_name(r, name, "ArchitectureName", true, &out->ArchitectureName));
    if (!target_find(out->ArchitectureName) && !str_eq_c(out->ArchitectureName, "fallback") &&
        !str_eq_c(out->ArchitectureName, "gfx000"))
        notices_add(r->notices, "%s:%d: ArchitectureName '%.*s' is not an architecture that is known here",
                    r->file, name->line, STR_ARG(out->ArchitectureName));
    return 0;
}

static Err read_devices(ConfigReader *r, const Node *n, LogicSettings *out)
{
    const bool one = n->kind != NODE_SEQ;
    if (!one) TRY(node_seq(n, r->file, "DeviceNames", 1, CONFIG_GROUPS_MAX));
    const size_t count = one ? 1 : n->n;
    Str *name = ARENA_ARRAY(r->arena, count, Str);
    TRY_ALLOC(name);
    for (size_t i = 0; i < count; i++)
        TRY(read_name(r, one ? n : &n->item[i], "DeviceNames", false, &name[i]));
    out->DeviceNames = name;
    out->n_DeviceNames = count;
    return 0;
}

static Err read_logic(ConfigReader *r, const Node *n, LogicSettings *out)
{
    static const char *const legal[] = {"ScheduleName", "DeviceNames", "ArchitectureName",
                                        "SolutionImportanceMin", NULL};
    static const Str fallback = {"fallback", 8};
    *out = (LogicSettings){STR("Tensile"), STR("gfx000"), &fallback, 1, -1, -1, 0.01};
    if (!n || n->kind == NODE_NULL) return 0;
    TRY(check_keys(r->file, n, "LibraryLogic", legal));
    const Node *v;
    if ((v = get_value(n, "ScheduleName"))) TRY(read_name(r, v, "ScheduleName", true, &out->ScheduleName));
    if ((v = get_value(n, "ArchitectureName"))) TRY(read_architecture(r, v, out));
    if ((v = get_value(n, "DeviceNames"))) TRY(read_devices(r, v, out));
    if ((v = get_value(n, "SolutionImportanceMin"))) {
        TRY(node_real(v, r->file, "SolutionImportanceMin", &out->SolutionImportanceMin));
        if (!(out->SolutionImportanceMin >= 0 && out->SolutionImportanceMin <= 1))
            FAIL(ERR_INPUT, "%s:%d: SolutionImportanceMin %g is not in 0..1", r->file, v->line,
                 out->SolutionImportanceMin);
    }
    return 0;
}

/* ---- whole files ---- */

static Err read_globals(ConfigReader *r, const Node *n, const ConfigOptions *o)
{
    globals_init(r->globals);
    TRY(globals_read(r->file, n, r->notices, r->globals));
    for (size_t i = 0; o && i < o->n_overrides; i++)
        TRY(globals_set(r->arena, "--global-parameters", o->override[i].key, o->override[i].value, r->notices,
                        r->globals));
    return 0;
}

static Err read_default(ConfigReader *r, const Node *root, const ConfigOptions *o, Config *c)
{
    static const char *const legal[] = {"GlobalParameters", "BenchmarkProblems", "LibraryLogic",
                                        "LibraryClient",    "TestParameters",    NULL};
    if (node_get(root, "ProblemType") && !node_get(root, "BenchmarkProblems"))
        FAIL(ERR_INPUT, "%s:%d: this is the alternate format: add --alternate-format", r->file, root->line);
    TRY(check_keys(r->file, root, "the config", legal));
    TRY(read_globals(r, node_get(root, "GlobalParameters"), o));
    const Node *problems = node_get(root, "BenchmarkProblems"), *logic = node_get(root, "LibraryLogic");
    c->has_problems = problems;
    c->has_logic = logic;
    c->has_client = node_get(root, "LibraryClient");
    if (!c->has_problems && !c->has_logic && !c->has_client)
        FAIL(ERR_INPUT, "%s:%d: nothing to do: no BenchmarkProblems, LibraryLogic or LibraryClient", r->file,
             root->line);
    if (problems) TRY(read_problems(r, problems, c));
    return read_logic(r, logic, &c->logic);
}

static void note_replaced(void *ctx, const char *name, const Node *first, const Node *again)
{
    notices_add(ctx, "%s:%d: key '%.*s' takes the place of that of line %d", name, again->line,
                (int)(again->text.n < 64 ? again->text.n : 64), again->text.s, first->line);
}

static Err read_yaml(Arena *a, const char *path, Notices *notices, Node **out)
{
    const KeyReplaced replaced = {note_replaced, notices};
    const NodeLimits limits = {
        .max_bytes = CONFIG_BYTES_MAX, .max_nodes = CONFIG_NODES_MAX, .replaced = &replaced};
    return yaml_read(a, path, &limits, out);
}

static Err read_sizes_file(ConfigReader *r, const char *path, const ProblemType *pt, ProblemSizes *out)
{
    Node *n;
    if (!path) {
        *out = (ProblemSizes){.pt = *pt};
        return 0;
    }
    TRY(read_yaml(r->arena, path, r->notices, &n));
    if (n->kind == NODE_NULL || (n->kind == NODE_SEQ && !n->n))
        FAIL(ERR_INPUT, "%s: the list of sizes is empty", path);
    return problem_sizes_from_node(r->arena, path, n, pt, r->notices, out);
}

/* Reads one problem type and one size-group; sizes come from a second file, without which no logic is made.
 */
static Err read_alternate(ConfigReader *r, const Node *root, const ConfigOptions *o, Config *c)
{
    static const char *const legal[] = {
        "GlobalParameters", "ProblemType",   "BenchmarkCommonParameters", "ForkParameters",
        "LibraryLogic",     "LibraryClient", "GroupForkParameters",       NULL};
    TRY(check_keys(r->file, root, "the config", legal));
    TRY(read_globals(r, node_get(root, "GlobalParameters"), o));
    const Node *type = node_get(root, "ProblemType");
    if (!type) FAIL(ERR_INPUT, "%s:%d: the alternate format needs a ProblemType", r->file, root->line);
    ProblemGroup *p = ARENA_NEW(r->arena, ProblemGroup);
    SizeGroup *g = ARENA_NEW(r->arena, SizeGroup);
    TRY_ALLOC(p);
    TRY_ALLOC(g);
    TRY(problem_type_read(r->file, type, &(ProblemReadOptions){true, r->notices}, &p->pt));
    p->line = type->line;
    p->size_group = g;
    p->n_size_groups = 1;
    g->line = root->line;
    TRY(config_read_fork(r, get_value(root, "BenchmarkCommonParameters"), get_value(root, "ForkParameters"),
                         g));
    TRY(read_sizes_file(r, o->sizes_path, &p->pt, &g->sizes));
    g->sizes.sorted = r->globals->SortProblems;
    TRY(check_c_equal_d(r, g));
    c->problem = p;
    c->n_problems = 1;
    c->has_problems = true;
    c->has_logic = o->sizes_path && node_get(root, "LibraryLogic");
    c->has_client = o->sizes_path && node_get(root, "LibraryClient");
    return read_logic(r, c->has_logic ? node_get(root, "LibraryLogic") : NULL, &c->logic);
}

static Err config_make(Arena *a, const char *path, const Node *root, const ConfigOptions *options, Config *c)
{
    ConfigReader r = {.arena = a, .file = path, .notices = &c->notices, .globals = &c->globals};
    c->path = path;
    if (root->kind == NODE_NULL) FAIL(ERR_INPUT, "%s: the config is empty", path);
    TRY(node_map(root, path, "the config"));
    if (options && options->alternate) return read_alternate(&r, root, options, c);
    return read_default(&r, root, options, c);
}

static Err config_new(Arena *a, Config **out)
{
    *out = ARENA_NEW(a, Config);
    TRY_ALLOC(*out);
    notices_init(&(*out)->notices, a);
    return 0;
}

Err config_read(Arena *a, const char *path, const ConfigOptions *options, Config **out)
{
    Config *c;
    Node *root;
    TRY(config_new(a, &c));
    TRY(read_yaml(a, path, &c->notices, &root));
    TRY(config_make(a, path, root, options, c));
    *out = c;
    return 0;
}

Err config_from_node(Arena *a, const char *path, const Node *root, const ConfigOptions *options, Config **out)
{
    Config *c;
    TRY(config_new(a, &c));
    TRY(config_make(a, path, root, options, c));
    *out = c;
    return 0;
}

uint64_t size_group_permutations(const SizeGroup *g)
{
    uint64_t total = 1;
    for (size_t i = 0; i < g->n_params; i++)
        if (__builtin_mul_overflow(total, (uint64_t)g->param[i].n, &total)) return UINT64_MAX;
    for (size_t i = 0; i < g->n_groups; i++)
        if (__builtin_mul_overflow(total, (uint64_t)g->group[i].n, &total)) return UINT64_MAX;
    return total;
}

Err size_group_check(const Config *c, const SizeGroup *g)
{
    const uint64_t n = size_group_permutations(g);
    if (n <= CONFIG_PERMUTATIONS_MAX) return 0;
    FAIL(ERR_INPUT, "%s:%d: the fork has %s%llu permutations, at most %llu are enumerated", c->path, g->line,
         n == UINT64_MAX ? "more than " : "", (unsigned long long)(n == UINT64_MAX ? n - 1 : n),
         (unsigned long long)CONFIG_PERMUTATIONS_MAX);
}
