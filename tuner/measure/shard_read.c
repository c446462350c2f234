/* Reads the plan and the results of shards, and checks them. See shard.h. */
#include "measure/shard.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/fs.h"
#include "fmt/node.h"
#include "problem/sizes.h"

enum { TEXT_BYTES_MAX = 4096, GROUPS_MAX = 1 << 20, KERNELS_MAX = 1 << 20 };
static const size_t FILE_BYTES_MAX = (size_t)256 << 20;

typedef struct {
    Arena *a;
    const char *path;
} In;

static Err value_of(const In *in, const Node *map, const char *key, const Node **out)
{
    *out = node_get(map, key);
    if (!*out) FAIL(ERR_INPUT, "%s:%d: the key '%s' is missing", in->path, map->line, key);
    return 0;
}

static Err int_of(const In *in, const Node *map, const char *key, int64_t min, int64_t max, int64_t *out)
{
    const Node *n;
    TRY(value_of(in, map, key, &n));
    return node_int(n, in->path, key, min, max, out);
}

/* One line of printable text, because it may be printed and become part of a path or a key. */
static Err text_check(const In *in, const Node *n, const char *what, Str *out)
{
    TRY(node_str(n, in->path, what, out));
    if (out->n > TEXT_BYTES_MAX)
        FAIL(ERR_INPUT, "%s:%d: %s has %zu characters, more than %d", in->path, n->line, what, out->n,
             TEXT_BYTES_MAX);
    for (size_t i = 0; i < out->n; i++)
        if (iscntrl((unsigned char)out->s[i]) && out->s[i] != '\n')
            FAIL(ERR_INPUT, "%s:%d: %s has a control character", in->path, n->line, what);
    return 0;
}

static Err str_of(const In *in, const Node *map, const char *key, Str *out)
{
    const Node *n;
    TRY(value_of(in, map, key, &n));
    return text_check(in, n, key, out);
}

static Err bool_of(const In *in, const Node *map, const char *key, bool *out)
{
    const Node *n;
    TRY(value_of(in, map, key, &n));
    return node_bool(n, in->path, key, out);
}

static Err seq_of(const In *in, const Node *map, const char *key, size_t min, size_t max, const Node **out)
{
    TRY(value_of(in, map, key, out));
    return node_seq(*out, in->path, key, min, max);
}

/* A name that becomes part of a path: letters, digits, '_', '.', '+' and '-', and no '.' at the beginning. */
static Err name_of(const In *in, const Node *n, const char *what, Str *out)
{
    TRY(text_check(in, n, what, out));
    bool good = out->n > 0 && out->s[0] != '.';
    for (size_t i = 0; good && i < out->n; i++)
        good = isalnum((unsigned char)out->s[i]) || strchr("_.+-", out->s[i]);
    if (!good)
        FAIL(ERR_INPUT, "%s:%d: %s '%.*s', expected a name of letters, digits, '_', '.', '+' and '-'",
             in->path, n->line, what, STR_ARG(str_sub(*out, 0, 60)));
    return 0;
}

/* The format's number, which is the first key. */
static Err format_check(const In *in, const Node *root, const char *key)
{
    int64_t format;
    if (root->kind != NODE_MAP || !node_get(root, key))
        FAIL(ERR_INPUT, "%s: expected the key '%s' at the beginning of the file", in->path, key);
    TRY(node_int(node_get(root, key), in->path, key, 0, INT32_MAX, &format));
    if (format != SHARD_FORMAT)
        FAIL(ERR_INPUT, "%s: %s is %" PRId64 ", this tuner reads and writes %d", in->path, key, format,
             SHARD_FORMAT);
    return 0;
}

/* ---- the plan ---- */

static Err options_read(const In *in, const Node *root, ShardOptions *o)
{
    const Node *map, *list;
    TRY(value_of(in, root, "options", &map));
    TRY(node_map(map, in->path, "options"));
    TRY(bool_of(in, map, "simulate", &o->simulate));
    TRY(bool_of(in, map, "alternate-format", &o->alternate));
    TRY(bool_of(in, map, "allow-spills", &o->allow_spills));
    TRY(str_of(in, map, "part", &o->part));
    TRY(str_of(in, map, "c-compiler", &o->cc));
    TRY(str_of(in, map, "cxx-compiler", &o->cxx));
    TRY(seq_of(in, map, "global-parameters", 0, SHARD_GLOBALS_MAX, &list));
    TRY_ALLOC(o->global = ARENA_ARRAY(in->a, list->n, ShardGlobal));
    for (size_t i = 0; i < list->n; i++) {
        const Node *pair = &list->item[i];
        TRY(node_seq(pair, in->path, "global-parameters", 2, 2));
        TRY(text_check(in, &pair->item[0], "global-parameters", &o->global[i].key));
        TRY(text_check(in, &pair->item[1], "global-parameters", &o->global[i].value));
    }
    o->n_globals = list->n;
    return 0;
}

static Err files_read(const In *in, const Node *root, ShardPlan *p)
{
    const Node *list;
    int64_t n_configs;
    TRY(seq_of(in, root, "files", 1, SHARD_FILES_MAX, &list));
    TRY(int_of(in, root, "configs", 1, list->n < 2 ? 1 : 2, &n_configs));
    TRY_ALLOC(p->file = ARENA_ARRAY(in->a, list->n, ShardFile));
    for (size_t i = 0; i < list->n; i++) {
        const Node *pair = &list->item[i];
        ShardFile *f = &p->file[i];
        TRY(node_seq(pair, in->path, "files", 2, 2));
        TRY(name_of(in, &pair->item[0], "files", &f->name));
        TRY(name_of(in, &pair->item[1], "files", &f->hash));
        f->name = arena_dup(in->a, f->name);
        f->hash = arena_dup(in->a, f->hash);
        TRY_ALLOC(f->name.s && f->hash.s ? f : NULL);
    }
    p->n_files = list->n;
    p->n_configs = (size_t)n_configs;
    return 0;
}

static Err groups_read(const In *in, const Node *root, ShardPlan *p)
{
    const Node *list;
    TRY(seq_of(in, root, "groups", 1, GROUPS_MAX, &list));
    TRY_ALLOC(p->group = ARENA_ARRAY(in->a, list->n, Str));
    TRY_ALLOC(p->group_sizes = ARENA_ARRAY(in->a, list->n, int64_t));
    for (size_t i = 0; i < list->n; i++) {
        const Node *pair = &list->item[i];
        TRY(node_seq(pair, in->path, "groups", 2, 2));
        TRY(name_of(in, &pair->item[0], "groups", &p->group[i]));
        TRY(node_int(&pair->item[1], in->path, "groups", 0, 2 * SIZES_COUNT_MAX, &p->group_sizes[i]));
    }
    p->n_groups = list->n;
    return 0;
}

static Err range_read(const In *in, const ShardPlan *p, const Node *n, ShardRange *r)
{
    TRY(node_seq(n, in->path, "sizes", 3, 3));
    TRY(node_int(&n->item[0], in->path, "sizes", 0, (int64_t)p->n_groups - 1, &r->group));
    const int64_t n_sizes = p->group_sizes[r->group];
    TRY(node_int(&n->item[1], in->path, "sizes", 0, n_sizes - 1, &r->first));
    return node_int(&n->item[2], in->path, "sizes", r->first, n_sizes - 1, &r->last);
}

/* Ranges are in order, so that no size comes twice in a shard. */
static Err shard_read(const In *in, const ShardPlan *p, const Node *n, Shard *s)
{
    const Node *list, *seconds;
    TRY(node_map(n, in->path, "shards"));
    TRY(value_of(in, n, "seconds", &seconds));
    TRY(node_real(seconds, in->path, "seconds", &s->seconds));
    TRY(seq_of(in, n, "sizes", 1, 2 * SIZES_COUNT_MAX, &list));
    TRY_ALLOC(s->range = ARENA_ARRAY(in->a, list->n, ShardRange));
    for (size_t i = 0; i < list->n; i++) {
        ShardRange *r = &s->range[i];
        TRY(range_read(in, p, &list->item[i], r));
        const ShardRange *before = i ? r - 1 : NULL;
        if (before && (r->group < before->group || (r->group == before->group && r->first <= before->last)))
            FAIL(ERR_INPUT, "%s:%d: sizes %" PRId64 " to %" PRId64 " of group %" PRId64 " are not in order",
                 in->path, list->item[i].line, r->first, r->last, r->group);
        s->n_sizes += (size_t)(r->last - r->first + 1);
    }
    s->n_ranges = list->n;
    return 0;
}

static Err plan_parse(const In *in, const Node *root, ShardPlan *p)
{
    const Node *list;
    TRY(format_check(in, root, "tuner-shards"));
    TRY(str_of(in, root, "version", &p->version));
    TRY(str_of(in, root, "architecture", &p->arch));
    TRY(files_read(in, root, p));
    TRY(options_read(in, root, &p->options));
    TRY(groups_read(in, root, p));
    TRY(seq_of(in, root, "shards", 1, SHARDS_MAX, &list));
    TRY_ALLOC(p->shard = ARENA_ARRAY(in->a, list->n, Shard));
    p->n = list->n;
    for (size_t i = 0; i < list->n; i++) TRY(shard_read(in, p, &list->item[i], &p->shard[i]));
    return 0;
}

Err shard_plan_parse(Arena *a, const char *name, Str text, ShardPlan *out)
{
    Node *root;
    char id[SHA256_HEX + 1];
    *out = (ShardPlan){0};
    TRY(yaml_parse(a, name, text, NULL, &root));
    sha256_hex(text, id);
    out->id = arena_dup(a, (Str){id, SHA256_HEX});
    TRY_ALLOC(out->id.s);
    return plan_parse(&(In){a, name}, root, out);
}

static Err file_check(Arena *names, const char *dir, const ShardFile *f)
{
    Arena a;
    Str text;
    char hash[SHA256_HEX + 1];
    Str path = path_join(names, dir, f->name.s);
    TRY_ALLOC(path.s);
    arena_init(&a, 0);
    Err e = file_read(&a, path.s, FILE_BYTES_MAX, &text);
    if (!e) sha256_hex(text, hash);
    arena_fini(&a);
    if (!e && !str_eq_c(f->hash, hash))
        e = err_set(ERR_INPUT,
                    "'%s' was changed after it was cut into shards: its SHA-256 is %.12s, expected "
                    "%.12s",
                    path.s, hash, f->hash.s);
    return e;
}

/* Compares the hash in the last line with that of the text before it. */
static Err text_whole(const char *path, Str text)
{
    char hash[SHA256_HEX + 1];
    size_t last = text.n ? text.n - 1 : 0;
    while (last > 0 && text.s[last - 1] != '\n') last--;
    Str line = str_trim(str_sub(text, last, text.n));
    sha256_hex(str_sub(text, 0, last), hash);
    if (str_starts(line, SHARD_HASH) && str_eq_c(str_sub(line, sizeof SHARD_HASH - 1, line.n), hash))
        return 0;
    FAIL(ERR_INPUT,
         "'%s' is damaged or was changed: its last line is not '" SHARD_HASH "' with the hash of the text "
         "before it",
         path);
}

Err shard_plan_read(Arena *a, const char *dir, ShardPlan *out)
{
    Str text, path = path_join(a, dir, SHARD_PLAN_FILE);
    TRY_ALLOC(path.s);
    if (!file_exists(path.s))
        FAIL(ERR_INPUT, "there are no shards in '%s' (no " SHARD_PLAN_FILE "; tuner shard makes it)", dir);
    TRY(file_read(a, path.s, FILE_BYTES_MAX, &text));
    TRY(text_whole(path.s, text));
    TRY(shard_plan_parse(a, path.s, text, out));
    for (size_t i = 0; i < out->n_files; i++) TRY(file_check(a, dir, &out->file[i]));
    return 0;
}

Str shard_dir(Arena *a, const char *dir, size_t i) { return arena_printf(a, "%s/shard_%04zu", dir, i); }

/* ---- results ---- */

static Err kernels_read(const In *in, const Node *n, ShardGroup *g)
{
    const Node *list;
    TRY(seq_of(in, n, "kernels", 0, KERNELS_MAX, &list));
    TRY_ALLOC(g->kernel = ARENA_ARRAY(in->a, list->n, ShardKernel));
    g->n_kernels = list->n;
    for (size_t i = 0; i < list->n; i++) {
        const Node *one = &list->item[i];
        ShardKernel *k = &g->kernel[i];
        TRY(node_seq(one, in->path, "kernels", 2, 3));
        TRY(node_int(&one->item[0], in->path, "kernels", 0, g->n_permutations - 1, &k->permutation));
        TRY(name_of(in, &one->item[1], "kernels", &k->name));
        k->kernel_name = k->name;
        if (one->n > 2) TRY(name_of(in, &one->item[2], "kernels", &k->kernel_name));
    }
    return 0;
}

static Err result_groups_read(const In *in, const ShardPlan *p, const Node *root, ShardResult *r)
{
    const Node *list;
    TRY(seq_of(in, root, "groups", 0, p->n_groups, &list));
    TRY_ALLOC(r->group = ARENA_ARRAY(in->a, list->n, ShardGroup));
    r->n_groups = list->n;
    for (size_t i = 0; i < list->n; i++) {
        const Node *n = &list->item[i];
        ShardGroup *g = &r->group[i];
        TRY(node_map(n, in->path, "groups"));
        TRY(int_of(in, n, "group", i ? g[-1].group + 1 : 0, (int64_t)p->n_groups - 1, &g->group));
        TRY(int_of(in, n, "permutations", 0, INT64_MAX, &g->n_permutations));
        TRY(int_of(in, n, "valid", 0, INT64_MAX, &g->n_valid));
        TRY(int_of(in, n, "duplicates", 0, INT64_MAX, &g->n_duplicates));
        TRY(kernels_read(in, n, g));
    }
    return 0;
}

static Err result_parse(const In *in, const ShardPlan *p, size_t shard, const Node *root, ShardResult *r)
{
    TRY(format_check(in, root, "tuner-shard"));
    TRY(str_of(in, root, "plan", &r->plan));
    if (!str_eq(r->plan, p->id))
        FAIL(ERR_INPUT, "%s: the result belongs to plan %.*s, expected plan %.12s", in->path,
             STR_ARG(str_sub(r->plan, 0, 12)), p->id.s);
    TRY(int_of(in, root, "shard", 0, SHARDS_MAX, &r->shard));
    if (r->shard != (int64_t)shard)
        FAIL(ERR_INPUT, "%s: the result belongs to shard %" PRId64 ", expected shard %zu", in->path, r->shard,
             shard);
    TRY(str_of(in, root, "version", &r->version));
    TRY(str_of(in, root, "architecture", &r->arch));
    TRY(str_of(in, root, "toolchain", &r->toolchain));
    TRY(str_of(in, root, "kind", &r->kind));
    TRY(str_of(in, root, "device", &r->device));
    TRY(str_of(in, root, "device-architecture", &r->device_arch));
    TRY(int_of(in, root, "compute-units", 0, INT32_MAX, &r->n_cu));
    TRY(bool_of(in, root, "simulated", &r->simulated));
    TRY(str_of(in, root, "sim", &r->sim));
    TRY(str_of(in, root, "host", &r->host));
    return result_groups_read(in, p, root, r);
}

Err shard_result_parse(Arena *a, const char *name, Str text, const ShardPlan *p, size_t shard,
                       ShardResult *out)
{
    Node *root;
    *out = (ShardResult){0};
    TRY(yaml_parse(a, name, text, NULL, &root));
    return result_parse(&(In){a, name}, p, shard, root, out);
}

Err shard_result_read(Arena *a, const char *dir, const ShardPlan *p, size_t shard, ShardResult *out)
{
    Str text, path = shard_dir(a, dir, shard);
    if (path.s) path = path_join(a, path.s, SHARD_RESULT_FILE);
    TRY_ALLOC(path.s);
    TRY(file_read(a, path.s, FILE_BYTES_MAX, &text));
    TRY(text_whole(path.s, text));
    return shard_result_parse(a, path.s, text, p, shard, out);
}
