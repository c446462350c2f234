/* createlib, last step: solution indices, metadata files, manifest, master index. */
#include "createlib/create_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "fmt/csv.h"

int64_t create_index_base(Str arch)
{
    int64_t v = 0;
    if (str_starts(arch, "gfx")) {
        for (size_t i = 3; i < arch.n && v < 0x10000; i++) {
            char ch = arch.s[i];
            int digit = ch >= '0' && ch <= '9' ? ch - '0' : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
            if (digit < 0) break;
            v = 16 * v + digit;
        }
    } else if (str_starts(arch, "x86-64-v") && str_to_i64(str_sub(arch, 8, arch.n), &v)) {
        v += 0x1b00;
    } else if (str_starts(arch, "sm_") && str_to_i64(str_sub(arch, 3, arch.n), &v)) {
        v += 0x1c00;
    } else {
        v = 0;
    }
    return v << 18;
}

/* Numbers all solutions in the order of the files; with separate architectures, those of an architecture come
 * before the fallback's. */
static void number_solutions(Create *c)
{
    Str seen[CREATE_ARCHS_MAX];
    int64_t next[CREATE_ARCHS_MAX], all = 0;
    size_t n_seen = 0;
    for (size_t i = 0; i < c->n_logic; i++) {
        CreateLogic *l = &c->logic[i];
        int64_t *counter = &all;
        if (c->o->separate_architectures) {
            size_t at = 0;
            while (at < n_seen && !str_eq(seen[at], l->logic.arch)) at++;
            if (at == n_seen && n_seen < CREATE_ARCHS_MAX) {
                seen[n_seen] = l->logic.arch;
                next[n_seen++] = create_index_base(l->logic.arch);
            }
            counter = &next[at < CREATE_ARCHS_MAX ? at : CREATE_ARCHS_MAX - 1];
        }
        for (size_t j = 0; j < l->logic.n_solutions; j++)
            if (!l->solution[j].why.n) l->part.solution[j].index = (*counter)++;
    }
}

/* ---- metadata ---- */

static Err add_metadata(Create *c, Str name)
{
    TRY_ALLOC(name.s);
    if (!VEC_PUSH(&c->metadata, name)) FAIL(ERR_FAILED, "out of memory for %zu files", c->metadata.n);
    return ERR_OK;
}

static Err write_parts(Create *c, Str name, TreeKind kind, LibraryPart *part, size_t n, bool dry)
{
    TRY(add_metadata(c, name));
    if (dry) return ERR_OK;
    Str path = path_join(&c->a, c->library_dir.s, name.s);
    TRY_ALLOC(path.s);
    const LibraryHead none = {NULL, false}, head = {c->o->version, c->o->print_debug};
    TRY(library_write_tree(path.s, c->o->format, kind, part, n, kind == TREE_LEAF ? &none : &head));
    c->r->n_files++;
    return ERR_OK;
}

/* The parts of one architecture, then the fallback's; arch "": all parts. */
static Err gather(Create *c, Str arch, LibraryPart **part, size_t *n)
{
    *n = 0;
    TRY_ALLOC(*part = ARENA_ARRAY(&c->a, c->n_logic, LibraryPart));
    for (int fallback = 0; fallback < 2; fallback++)
        for (size_t i = 0; i < c->n_logic; i++) {
            const CreateLogic *l = &c->logic[i];
            bool take = arch.n == 0 ? fallback == 0
                                    : (l->fallback == (fallback == 1) &&
                                       (l->fallback || str_eq(l->logic.arch, arch)));
            if (take) (*part)[(*n)++] = l->part;
        }
    return ERR_OK;
}

/* One file per placeholder; several logic files may share one. */
static Err write_leaves(Create *c, bool dry)
{
    LibraryPart *part = ARENA_ARRAY(&c->a, c->n_logic, LibraryPart);
    bool *done = ARENA_ARRAY(&c->a, c->n_logic, bool);
    TRY_ALLOC(part);
    TRY_ALLOC(done);
    for (size_t i = 0; i < c->n_logic; i++) {
        Str name = c->logic[i].part.placeholder;
        size_t n = 0;
        for (size_t j = i; j < c->n_logic; j++) {
            if (done[j] || !str_eq(c->logic[j].part.placeholder, name)) continue;
            part[n++] = c->logic[j].part;
            done[j] = true;
        }
        if (n == 0) continue;
        Str file = arena_printf(&c->a, "%.*s%s", STR_ARG(name), library_suffix(c->o->format));
        TRY(write_parts(c, file, TREE_LEAF, part, n, dry));
    }
    return ERR_OK;
}

static Err write_arch(Create *c, Str arch, bool dry)
{
    LibraryPart *part = NULL;
    size_t n = 0;
    TRY(gather(c, arch, &part, &n));
    Str file = arena_printf(&c->a, "TensileLibrary_%s%.*s%s", c->o->lazy ? "lazy_" : "", STR_ARG(arch),
                            library_suffix(c->o->format));
    return write_parts(c, file, c->o->lazy ? TREE_LAZY : TREE_FULL, part, n, dry);
}

/* Writes a library for every architecture that has files and, if there is fallback logic, for every one for
 * which that is built. */
static Err write_separate(Create *c, bool dry)
{
    Map done;
    Err e = ERR_OK;
    bool fallback = false;
    map_init(&done);
    for (size_t i = 0; !e && i < c->n_logic; i++) {
        bool added = false;
        fallback |= c->logic[i].fallback;
        if (c->logic[i].fallback || !map_put(&done, c->logic[i].logic.arch, &added) || !added) continue;
        e = write_arch(c, c->logic[i].logic.arch, dry);
    }
    const CreateLogic *any = NULL;
    for (size_t i = 0; i < c->n_logic; i++)
        if (c->logic[i].fallback) any = &c->logic[i];
    for (size_t i = 0; !e && fallback && i < any->n_targets; i++) {
        bool added = false;
        Str arch = str_from(any->target[i]->name);
        if (map_put(&done, arch, &added) && added) e = write_arch(c, arch, dry);
    }
    map_fini(&done);
    if (!e && c->o->lazy) e = write_leaves(c, dry);
    return e;
}

static Err metadata(Create *c, bool dry)
{
    c->metadata.n = 0;
    if (c->o->separate_architectures) return write_separate(c, dry);
    LibraryPart *part = NULL;
    size_t n = 0;
    TRY(gather(c, STR(""), &part, &n));
    return write_parts(c, arena_printf(&c->a, "TensileLibrary%s", library_suffix(c->o->format)), TREE_FULL,
                       part, n, dry);
}

static Err write_master_index(Create *c)
{
    Buf b;
    buf_init(&b);
    buf_puts(&b, "architectureName,libraryName,libraryIndex,solutionIndex,solutionName\n");
    for (size_t i = 0; i < c->n_logic; i++) {
        const CreateLogic *l = &c->logic[i];
        for (size_t j = 0; j < l->logic.n_solutions; j++) {
            const LibrarySolution *s = &l->part.solution[j];
            if (s->index < 0) continue;
            csv_cell(&b, true, l->logic.arch);
            csv_cell(&b, false, l->part.placeholder);
            csv_cell_f(&b, false, "%lld", (long long)s->index);
            csv_cell_f(&b, false, "%lld", (long long)s->index);
            csv_cell(&b, false, s->name);
            csv_end(&b);
        }
    }
    Str path = path_join(&c->a, c->library_dir.s, "TensileMasterSolutionIndex.csv");
    Err e = path.s ? buf_check(&b) : err_set(ERR_FAILED, "out of memory for the master index");
    if (!e) e = file_write(path.s, buf_view(&b));
    buf_fini(&b);
    return e;
}

Err create_metadata(Create *c)
{
    number_solutions(c);
    TRY(metadata(c, false));
    return c->o->write_master_index ? write_master_index(c) : ERR_OK;
}

/* ---- manifest ---- */

Err create_manifest(Create *c)
{
    Buf b;
    if (c->metadata.n == 0) TRY(metadata(c, true));
    buf_init(&b);
    for (size_t i = 0; i < c->metadata.n; i++)
        buf_printf(&b, "%s/%.*s\n", c->library_dir.s, STR_ARG(c->metadata.v[i]));
    for (size_t i = 0; !c->o->metadata_only && i < c->object.n; i++)
        if (!c->object.v[i].none) buf_printf(&b, "%s/%.*s\n", c->library_dir.s, STR_ARG(c->object.v[i].file));
    Str path = path_join(&c->a, c->library_dir.s, "TensileManifest.txt");
    Err e = path.s ? buf_check(&b) : err_set(ERR_FAILED, "out of memory for the manifest");
    if (!e) e = file_write(path.s, buf_view(&b));
    buf_fini(&b);
    return e;
}

Err create_verify(Create *c)
{
    Str text, line;
    size_t missing = 0, n = 0;
    Str path = path_join(&c->a, c->library_dir.s, "TensileManifest.txt");
    TRY_ALLOC(path.s);
    TRY(file_read(&c->a, path.s, (size_t)64 << 20, &text));
    while (str_split(&text, '\n', &line)) {
        if (line.n == 0) continue;
        Str file = arena_dup(&c->a, line);
        TRY_ALLOC(file.s);
        n++;
        if (file_exists(file.s)) continue;
        warning("%s: not found", file.s);
        missing++;
    }
    if (missing) FAIL(ERR_FAILED, "%s: %zu of %zu files are missing", path.s, missing, n);
    notice("%s: all %zu files are there", path.s, n);
    return ERR_OK;
}

/* Writes an ini file with which tuner-client runs the library's own choice. */
Err create_client_config(Create *c)
{
    Buf b;
    buf_init(&b);
    if (c->metadata.n) buf_printf(&b, "library-file=%s/%.*s\n", c->library_dir.s, STR_ARG(c->metadata.v[0]));
    for (size_t i = 0; i < c->object.n; i++)
        if (!c->object.v[i].none)
            buf_printf(&b, "code-object=%s/%.*s\n", c->library_dir.s, STR_ARG(c->object.v[i].file));
    buf_puts(&b, "best-solution=True\n");
    Str path = path_join(&c->a, c->o->output_path, "best-solution.ini");
    Err e = path.s ? buf_check(&b) : err_set(ERR_FAILED, "out of memory for best-solution.ini");
    if (!e) e = file_write(path.s, buf_view(&b));
    buf_fini(&b);
    return e;
}
