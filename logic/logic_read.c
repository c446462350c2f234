/* Logic reader: from a document tree (or from logic_scan's pieces) to a Logic, with all checks. */
#include "logic/logic_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/hash.h"
#include "base/log.h"
#include "problem/sizes.h"

void logic_init(Logic *l)
{
    *l = (Logic){.version = STR(LOGIC_VERSION),
                 .is_apu = -1,
                 .metric = STR("DeviceEfficiency"),
                 .n_elements = LOGIC_AT_METRIC + 1};
}

Str logic_metric(const Logic *l) { return l->metric.s ? l->metric : STR("DeviceEfficiency"); }
Str logic_distance(const Logic *l) { return l->distance.s ? l->distance : STR("Euclidean"); }

/* Versions 4.0.0 to LOGIC_VERSION are accepted, like in Tensile's rule for configs. */
static Err take_version(LogicReader *r, const Node *n)
{
    Str text, rest, part;
    int64_t v[3] = {0, 0, 0};
    int i = 0;
    TRY(node_str(n, r->name, "MinimumRequiredVersion", &text));
    for (rest = text; str_split(&rest, '.', &part); i++)
        if (i == 3 || !str_to_i64(part, &v[i]) || v[i] < 0) break;
    if (i != 3 || rest.s || v[0] != 4 || v[1] > 44 || (v[1] == 44 && v[2] > 0))
        FAIL(ERR_INPUT, "%s:%d: MinimumRequiredVersion is '%.*s', expected 4.0.0 to " LOGIC_VERSION, r->name,
             n->line, STR_ARG(text));
    r->l->version = text;
    return ERR_OK;
}

static Err take_cu_count(LogicReader *r, const Node *n)
{
    int64_t v = 0;
    if (!n || n->kind == NODE_NULL) return ERR_OK;
    TRY(node_int(n, r->name, "CUCount", 1, 1 << 20, &v));
    r->l->cu_count = (int32_t)v;
    return ERR_OK;
}

static Err take_is_apu(LogicReader *r, const Node *n)
{
    int64_t v = 0;
    if (!n || n->kind == NODE_NULL) return ERR_OK;
    if (n->kind == NODE_BOOL)
        v = n->boolean;
    else
        TRY(node_int(n, r->name, "IsAPU", 0, 1, &v));
    r->l->is_apu = (int32_t)v;
    return ERR_OK;
}

static Err take_arch(LogicReader *r, const Node *n)
{
    if (n->kind != NODE_MAP) return node_str(n, r->name, "architecture", &r->l->arch);
    const Node *arch = node_get(n, "Architecture");
    if (!arch) FAIL(ERR_INPUT, "%s:%d: architecture map without 'Architecture'", r->name, n->line);
    for (size_t i = 0; i < n->n; i++) {
        Str key = n->item[2 * i].text;
        if (!str_eq_c(key, "Architecture") && !str_eq_c(key, "CUCount") && !str_eq_c(key, "IsAPU"))
            FAIL(ERR_INPUT, "%s:%d: '%.*s' in the architecture map, expected Architecture, CUCount or IsAPU",
                 r->name, n->item[2 * i].line, STR_ARG(key));
    }
    TRY(node_str(arch, r->name, "Architecture", &r->l->arch));
    TRY(take_cu_count(r, node_get(n, "CUCount")));
    return take_is_apu(r, node_get(n, "IsAPU"));
}

static Err take_devices(LogicReader *r, const Node *n)
{
    TRY(node_seq(n, r->name, "device names", 0, 10000));
    TRY_ALLOC(r->l->device = ARENA_ARRAY(r->a, n->n, Str));
    for (size_t i = 0; i < n->n; i++) TRY(node_str(&n->item[i], r->name, "device name", &r->l->device[i]));
    r->l->n_devices = n->n;
    return ERR_OK;
}

static Err take_problem_type(LogicReader *r, const Node *n)
{
    TRY(node_map(n, r->name, "problem type"));
    TRY_ALLOC(r->pt = ARENA_NEW(r->a, ProblemType));
    TRY(problem_type_from_node(r->a, r->name, n, r->pt));
    r->key_length = size_key_length(r->pt);
    r->l->pt = r->pt;
    r->l->pt_node = n;
    return ERR_OK;
}

Err logic_take_solution(LogicReader *r, const Node *n)
{
    LogicSolution s;
    TRY(logic_solution_parse(r->a, &r->keys, r->name, n, r->pt, &s));
    return logic_add_solution(r, s);
}

Err logic_add_solution(LogicReader *r, LogicSolution s)
{
    if (r->solutions.n == LOGIC_MAX_SOLUTIONS)
        FAIL(ERR_INPUT, "%s:%d: more than %d solutions", r->name, s.line, LOGIC_MAX_SOLUTIONS);
    if (s.problem_type && r->l->pt_node && node_equal(s.problem_type, r->l->pt_node))
        s.problem_type = r->l->pt_node;
    if (!VEC_PUSH(&r->solutions, s)) FAIL(ERR_FAILED, "out of memory for %zu solutions", r->solutions.n);
    return ERR_OK;
}

static Err take_solutions(LogicReader *r, const Node *n)
{
    if (!r->pt) FAIL(ERR_INPUT, "%s:%d: solutions without a problem type", r->name, n->line);
    TRY(node_seq(n, r->name, "solutions", 0, LOGIC_MAX_SOLUTIONS));
    for (size_t i = 0; i < n->n; i++) TRY(logic_take_solution(r, &n->item[i]));
    return ERR_OK;
}

static Err take_order(LogicReader *r, const Node *n)
{
    if (n->kind == NODE_NULL) return ERR_OK;
    TRY(node_seq(n, r->name, "index order", 0, LOGIC_KEY_MAX));
    for (size_t i = 0; i < n->n; i++) {
        int64_t v = 0;
        TRY(node_int(&n->item[i], r->name, "index order", 0, LOGIC_KEY_MAX - 1, &v));
        r->l->index_order[i] = (int32_t)v;
    }
    r->l->n_index_order = n->n;
    return ERR_OK;
}

/* ---- rows ---- */

static uint64_t size_hash(const int64_t *size, int32_t n)
{
    return hash64((Str){(const char *)size, (size_t)n * sizeof *size});
}

static bool slots_grow(LogicReader *r)
{
    size_t n_slots = r->n_slots ? 2 * r->n_slots : 1024;
    uint32_t *slot = calloc(n_slots, sizeof *slot);
    if (!slot) return false;
    for (size_t i = 0; i < r->rows.n; i++) {
        size_t at = size_hash(r->rows.v[i].size, r->rows.v[i].n) & (n_slots - 1);
        while (slot[at]) at = (at + 1) & (n_slots - 1);
        slot[at] = (uint32_t)i + 1;
    }
    free(r->slot);
    r->slot = slot;
    r->n_slots = n_slots;
    return true;
}

static Err duplicate(LogicReader *r, const LogicRow *row, const LogicRow *first)
{
    if (r->l->n_duplicates++ == 0) {
        r->l->duplicate_line = row->line;
        r->l->first_line = first->line;
    }
    if (!r->options || !r->options->refuse_duplicates) return ERR_OK;
    Buf b;
    buf_init(&b);
    for (int32_t i = 0; i < row->n; i++) buf_printf(&b, i ? ", %lld" : "%lld", (long long)row->size[i]);
    Err e = err_set(ERR_INPUT, "%s:%d: size [%s] is already in line %d, expected every size once", r->name,
                    row->line, buf_cstr(&b), first->line);
    buf_fini(&b);
    return e;
}

static Err check_duplicate(LogicReader *r, const LogicRow *row)
{
    if (2 * (r->rows.n + 1) > r->n_slots && !slots_grow(r))
        FAIL(ERR_FAILED, "out of memory for %zu sizes", r->rows.n);
    size_t at = size_hash(row->size, row->n) & (r->n_slots - 1);
    for (; r->slot[at]; at = (at + 1) & (r->n_slots - 1)) {
        const LogicRow *first = &r->rows.v[r->slot[at] - 1];
        if (first->n == row->n && memcmp(first->size, row->size, (size_t)row->n * sizeof *row->size) == 0)
            return duplicate(r, row, first);
    }
    r->slot[at] = (uint32_t)r->rows.n + 1;
    return ERR_OK;
}

Err logic_add_row(LogicReader *r, const int64_t *size, int32_t n, int64_t solution, double speed, int line)
{
    int32_t short_n = r->pt->TotalIndices, long_n = r->key_length;
    if (n != short_n && n != long_n)
        FAIL(ERR_INPUT, "%s:%d: size of %d integers, expected %d or %d", r->name, line, n, short_n, long_n);
    for (int32_t i = 0; i < n; i++)
        if (size[i] < (i < short_n ? 0 : -1) || size[i] > SIZE_VALUE_LIMIT)
            FAIL(ERR_INPUT, "%s:%d: %lld in a size, expected 0 to %lld", r->name, line, (long long)size[i],
                 (long long)SIZE_VALUE_LIMIT);
    if (solution < 0 || (uint64_t)solution >= r->solutions.n)
        FAIL(ERR_INPUT, "%s:%d: solution index %lld, expected 0 to %lld", r->name, line, (long long)solution,
             (long long)r->solutions.n - 1);
    if (!(speed >= 0)) FAIL(ERR_INPUT, "%s:%d: speed %g, expected a number from 0", r->name, line, speed);
    if (isinf(speed) && r->l->n_infinite++ == 0) r->l->infinite_line = line;
    if (r->rows.n == LOGIC_MAX_ROWS)
        FAIL(ERR_INPUT, "%s:%d: more than %d sizes", r->name, line, LOGIC_MAX_ROWS);
    int64_t *copy = ARENA_ARRAY(r->a, (size_t)n, int64_t);
    TRY_ALLOC(copy);
    memcpy(copy, size, (size_t)n * sizeof *copy);
    LogicRow row = {.size = copy, .n = n, .solution = (int32_t)solution, .speed = speed, .line = line};
    TRY(check_duplicate(r, &row));
    if (!VEC_PUSH(&r->rows, row)) FAIL(ERR_FAILED, "out of memory for %zu sizes", r->rows.n);
    return ERR_OK;
}

static Err take_row(LogicReader *r, const Node *n)
{
    int64_t size[LOGIC_KEY_MAX], solution = 0;
    double speed = 0;
    TRY(node_seq(n, r->name, "row of the table", 2, 2));
    const Node *key = &n->item[0], *best = &n->item[1];
    TRY(node_seq(key, r->name, "size", 1, LOGIC_KEY_MAX));
    for (size_t i = 0; i < key->n; i++)
        TRY(node_int(&key->item[i], r->name, "size", INT64_MIN, INT64_MAX, &size[i]));
    TRY(node_seq(best, r->name, "[solution index, speed]", 2, 2));
    TRY(node_int(&best->item[0], r->name, "solution index", INT64_MIN, INT64_MAX, &solution));
    TRY(node_real(&best->item[1], r->name, "speed", &speed));
    return logic_add_row(r, size, (int32_t)key->n, solution, speed, n->line);
}

static Err take_table(LogicReader *r, const Node *n)
{
    if (n->kind == NODE_NULL) return ERR_OK;
    if (!r->pt) FAIL(ERR_INPUT, "%s:%d: a table without a problem type", r->name, n->line);
    TRY(node_seq(n, r->name, "table of sizes", 0, LOGIC_MAX_ROWS));
    for (size_t i = 0; i < n->n; i++) TRY(take_row(r, &n->item[i]));
    return ERR_OK;
}

/* ---- list form ---- */

static Err take_text(LogicReader *r, const Node *n, const char *what, Str *out)
{
    if (n->kind == NODE_NULL) return ERR_OK;
    return node_str(n, r->name, what, out);
}

static Err take_distance(LogicReader *r, const Node *n)
{
    static const char *const known[] = {"Euclidean", "Equality", "GridBased", "Manhattan",
                                        "Ratio",     "JSD",      "Random"};
    if (n->kind == NODE_NULL) return ERR_OK;
    TRY(node_str(n, r->name, "distance", &r->l->distance));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_eq_c(r->l->distance, known[i])) return ERR_OK;
    FAIL(ERR_INPUT,
         "%s:%d: distance '%.*s', expected Euclidean, Equality, GridBased, Manhattan, Ratio, JSD or Random",
         r->name, n->line, STR_ARG(r->l->distance));
}

Err logic_take_element(LogicReader *r, size_t i, const Node *n)
{
    Logic *l = r->l;
    const Node *version;
    switch (i) {
    case LOGIC_AT_VERSION:
        version = node_get(n, "MinimumRequiredVersion");
        if (!version)
            FAIL(ERR_INPUT, "%s:%d: %s, expected {MinimumRequiredVersion: ...}", r->name, n->line,
                 node_kind_name(n->kind));
        return take_version(r, version);
    case LOGIC_AT_SCHEDULE:
        return node_str(n, r->name, "schedule name", &l->schedule);
    case LOGIC_AT_ARCH:
        return take_arch(r, n);
    case LOGIC_AT_DEVICES:
        return take_devices(r, n);
    case LOGIC_AT_PROBLEM_TYPE:
        return take_problem_type(r, n);
    case LOGIC_AT_SOLUTIONS:
        return take_solutions(r, n);
    case LOGIC_AT_ORDER:
        return take_order(r, n);
    case LOGIC_AT_TABLE:
        return take_table(r, n);
    case LOGIC_AT_RANGE:
        l->range = n->kind == NODE_NULL ? NULL : n;
        return ERR_OK;
    case LOGIC_AT_TILES:
        l->tiles = n->kind == NODE_NULL ? NULL : n;
        return ERR_OK;
    case LOGIC_AT_METRIC:
        return take_text(r, n, "performance metric", &l->metric);
    case LOGIC_AT_FP16ALT:
        return take_text(r, n, "Fp16AltImpl", &l->fp16_alt);
    case LOGIC_AT_DISTANCE:
        return take_distance(r, n);
    case LOGIC_AT_FP16ALT_ROUND:
        return take_text(r, n, "Fp16AltImplRound", &l->fp16_alt_round);
    default:
        FAIL(ERR_INPUT, "%s:%d: element %zu, expected at most %d", r->name, n->line, i + 1,
             LOGIC_ELEMENTS_MAX);
    }
}

static Err take_list(LogicReader *r, const Node *n)
{
    if (n->n > 0) TRY(logic_take_element(r, LOGIC_AT_VERSION, &n->item[0]));
    if (n->n <= LOGIC_AT_RANGE)
        FAIL(ERR_INPUT, "%s:%d: the list has %zu elements, expected 9 to %d: no logic file, or it is cut off",
             r->name, n->line, n->n, LOGIC_ELEMENTS_MAX);
    for (size_t i = 0; i < n->n; i++) TRY(logic_take_element(r, i, &n->item[i]));
    r->l->n_elements = n->n;
    return ERR_OK;
}

/* ---- map form ---- */

static Err take_library(LogicReader *r, const Node *n)
{
    if (n->kind == NODE_SEQ) return r->l->trees = n, ERR_OK;
    TRY(node_map(n, r->name, "Library"));
    for (size_t i = 0; i < n->n; i++) {
        Str key = n->item[2 * i].text;
        const Node *value = &n->item[2 * i + 1];
        if (str_eq_c(key, "indexOrder"))
            TRY(take_order(r, value));
        else if (str_eq_c(key, "table"))
            TRY(take_table(r, value));
        else if (str_eq_c(key, "distance"))
            TRY(take_distance(r, value));
        else
            FAIL(ERR_INPUT, "%s:%d: '%.*s' in Library, expected indexOrder, table or distance", r->name,
                 n->item[2 * i].line, STR_ARG(key));
    }
    return ERR_OK;
}

static Err take_flag(LogicReader *r, const Node *n, const char *name, Str *out)
{
    bool set = n->kind == NODE_STR;
    if (n->kind != NODE_NULL && !set) TRY(node_bool(n, r->name, name, &set));
    if (set) *out = str_from(name);
    return ERR_OK;
}

static Err take_dict_key(LogicReader *r, const Node *key, const Node *v)
{
    static const struct {
        const char *key;
        int element;
    } same[] = {{"ScheduleName", LOGIC_AT_SCHEDULE},
                {"DeviceNames", LOGIC_AT_DEVICES},
                {"ArchitectureName", LOGIC_AT_ARCH},
                {"PerfMetric", LOGIC_AT_METRIC}};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (str_eq_c(key->text, same[i].key)) return logic_take_element(r, (size_t)same[i].element, v);
    if (str_eq_c(key->text, "MinimumRequiredVersion")) return take_version(r, v);
    if (str_eq_c(key->text, "CUCount")) return take_cu_count(r, v);
    if (str_eq_c(key->text, "IsAPU")) return take_is_apu(r, v);
    if (str_eq_c(key->text, "Fp16AltImpl")) {
        r->l->fp16_alt_said = true;
        return take_flag(r, v, "Fp16AltImpl", &r->l->fp16_alt);
    }
    if (str_eq_c(key->text, "Fp16AltImplRound")) {
        r->l->fp16_alt_round_said = true;
        return take_flag(r, v, "Fp16AltImplRound", &r->l->fp16_alt_round);
    }
    if (str_eq_c(key->text, "LibraryType")) {
        if (str_eq_c(v->text, "Matching") || str_eq_c(v->text, "DecisionTree")) return ERR_OK;
        FAIL(ERR_INPUT, "%s:%d: LibraryType '%.*s', expected Matching or DecisionTree", r->name, v->line,
             STR_ARG(v->text));
    }
    if (str_eq_c(key->text, "ProblemType") || str_eq_c(key->text, "Solutions") ||
        str_eq_c(key->text, "Library"))
        return ERR_OK; /* taken in the order in which they need each other */
    FAIL(ERR_INPUT, "%s:%d: '%.*s' is no key of a logic file", r->name, key->line, STR_ARG(key->text));
}

static Err take_dict(LogicReader *r, const Node *n)
{
    static const char *const needed[] = {
        "MinimumRequiredVersion", "ScheduleName", "ArchitectureName", "ProblemType", "Solutions", "Library"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!node_get(n, needed[i]))
            FAIL(ERR_INPUT, "%s:%d: the map has no '%s': no logic file, or it is cut off", r->name, n->line,
                 needed[i]);
    r->l->dict = true;
    r->l->metric = STR_NULL;
    for (size_t i = 0; i < n->n; i++) TRY(take_dict_key(r, &n->item[2 * i], &n->item[2 * i + 1]));
    TRY(take_problem_type(r, node_get(n, "ProblemType")));
    TRY(take_solutions(r, node_get(n, "Solutions")));
    return take_library(r, node_get(n, "Library"));
}

/* ---- the document ---- */

/* Moves what grew on the heap into the arena; frees the rest. */
static Err reader_finish(LogicReader *r, Err e)
{
    Logic *l = r->l;
    if (!e) {
        l->solution = ARENA_ARRAY(r->a, r->solutions.n, LogicSolution);
        l->row = ARENA_ARRAY(r->a, r->rows.n, LogicRow);
        if (!l->solution || !l->row)
            e = err_set(ERR_FAILED, "%s: out of memory for %zu solutions", r->name, r->solutions.n);
    }
    if (!e) {
        if (r->solutions.n) memcpy(l->solution, r->solutions.v, r->solutions.n * sizeof *l->solution);
        if (r->rows.n) memcpy(l->row, r->rows.v, r->rows.n * sizeof *l->row);
        l->n_solutions = r->solutions.n;
        l->n_rows = r->rows.n;
        for (size_t i = 0; i < l->n_solutions; i++) l->n_kept += l->solution[i].n_kept;
    }
    VEC_FINI(&r->solutions);
    VEC_FINI(&r->rows);
    free(r->slot);
    return e;
}

static void reader_init(LogicReader *r, Arena *a, const char *path, const LogicReadOptions *o, Logic *out)
{
    logic_init(out);
    out->path = path;
    out->metric = STR_NULL;
    *r = (LogicReader){.a = a, .name = path, .options = o, .l = out};
    logic_keys_init(&r->keys);
}

Err logic_parse(Arena *a, const char *path, Str text, const LogicReadOptions *o, Logic *out)
{
    LogicReader r;
    bool done = false;
    Str name = arena_dup(a, str_from(path));
    TRY_ALLOC(name.s);
    reader_init(&r, a, name.s, o, out);
    Err e = o && o->no_scan ? ERR_OK : logic_scan(&r, text, &done);
    if (done || e) return reader_finish(&r, e);
    (void)reader_finish(&r, ERR_FAILED);
    reader_init(&r, a, name.s, o, out);
    NodeLimits limits = {.max_bytes = LOGIC_MAX_BYTES};
    Node *root = NULL;
    e = yaml_parse(a, name.s, text, &limits, &root);
    if (!e && root->kind == NODE_MAP)
        e = take_dict(&r, root);
    else if (!e && root->kind == NODE_SEQ)
        e = take_list(&r, root);
    else if (!e)
        e = err_set(ERR_INPUT, "%s:%d: a logic file is %s, expected a list or a map", name.s, root->line,
                    node_kind_name(root->kind));
    return reader_finish(&r, e);
}

Err logic_read(Arena *a, const char *path, const LogicReadOptions *o, Logic *out)
{
    Str text;
    TRY(file_read(a, path, LOGIC_MAX_BYTES, &text));
    return logic_parse(a, path, text, o, out);
}

void logic_warn(const Logic *l)
{
    if (l->n_duplicates)
        warning("%s:%d: size is already in line %d (%zu such rows): the faster row counts", l->path,
                l->duplicate_line, l->first_line, l->n_duplicates);
    if (l->n_infinite)
        warning("%s:%d: speed infinite (%zu such rows): nothing is faster", l->path, l->infinite_line,
                l->n_infinite);
}
