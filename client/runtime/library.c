/* Library: opening, closing and simple queries. See library.h; library_read.c reads files, library_find.c and
 * library_match.c search. */
#include "client/runtime/library.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "problem/part.h"
#include "client/runtime/library_priv.h"

const char *select_why_name(SelectWhy why)
{
    static const char *const names[] = {"none", "exact", "nearest", "row", "tree", "granularity", "model"};
    return names[why];
}

const char *mapping_source_name(MappingSource source)
{
    static const char *const names[] = {"fixed", "tuned", "model", "given"};
    return names[source];
}

static Err library_new(const char *name, const char *dir, const Hardware *hw, Library **out)
{
    Library *lib = calloc(1, sizeof *lib);
    TRY_ALLOC(lib);
    *out = lib;
    pthread_mutex_init(&lib->lock, NULL);
    arena_init(&lib->arena, (size_t)LIBRARY_MAX_BYTES * 2);
    lib->cache = calloc(CACHE_SLOTS, sizeof *lib->cache);
    lib->name = arena_dup(&lib->arena, str_from(name)).s;
    lib->suffix = str_ends(str_from(name), ".yaml") ? ".yaml" : ".dat";
    lib->hw = *hw;
    lib->hw.arch = arena_dup(&lib->arena, hw->arch);
    lib->device = part_traffic(hw->arch, hw->n_cu);
    if (dir) lib->dir = arena_dup(&lib->arena, str_from(dir)).s;
    if (!lib->cache || !lib->name || !lib->hw.arch.s || (dir && !lib->dir))
        FAIL(ERR_FAILED, "out of memory for library '%s'", name);
    return ERR_OK;
}

/* map NULL: data is copied, unless files is set. */
static Err parse(const char *name, Str data, FileMap *map, const char *dir, const LibraryFiles *files,
                 const Hardware *hw, Library **out)
{
    Library *lib = NULL;
    *out = NULL;
    Err e = library_new(name, dir, hw, &lib);
    if (!e && map) map->path = lib->name;
    if (!e && files) lib->files = *files;
    if (!e && !map && !files) {
        data = arena_dup(&lib->arena, data);
        if (!data.s) e = err_set(ERR_FAILED, "out of memory for library '%s'", name);
    }
    if (!e)
        e = library_read_file(lib, lib->name, data, map, -1, &lib->root);
    else if (map)
        filemap_close(map);
    if (!e && lib->placeholders.n) { /* names by code object number */
        lib->code_object = ARENA_ARRAY(&lib->arena, lib->placeholders.n, const char *);
        if (!lib->code_object) e = err_set(ERR_FAILED, "out of memory for library '%s'", name);
        for (size_t i = 0; !e && i < lib->placeholders.n; i++)
            lib->code_object[i] = lib->placeholders.v[i]->placeholder.name;
    }
    if (e) {
        library_free(lib);
        return e;
    }
    *out = lib;
    return ERR_OK;
}

Err library_parse(const char *name, Str data, const char *dir, const Hardware *hw, Library **out)
{
    return parse(name, data, NULL, dir, NULL, hw, out);
}

Err library_parse_files(const char *name, Str data, const LibraryFiles *files, const Hardware *hw,
                        Library **out)
{
    return parse(name, data, NULL, NULL, files, hw, out);
}

Err library_open(const char *path, const Hardware *hw, Library **out)
{
    Arena a;
    FileMap map;
    *out = NULL;
    TRY(filemap_open(path, LIBRARY_MAX_BYTES, &map));
    arena_init(&a, 0);
    Str dir = arena_dup(&a, path_dir(str_from(path)));
    Err e = dir.s ? parse(path, map.data, &map, dir.s, NULL, hw, out) : err_set(ERR_FAILED, "out of memory");
    arena_fini(&a);
    return e;
}

void library_free(Library *lib)
{
    if (!lib) return;
    pthread_mutex_destroy(&lib->lock);
    for (size_t i = 0; i < lib->chunks.n; i++) filemap_close(&lib->chunks.v[i]->map);
    arena_fini(&lib->arena);
    free(lib->cache);
    VEC_FINI(&lib->chunks);
    VEC_FINI(&lib->placeholders);
    free(lib);
}

size_t library_n_solutions(const Library *lib)
{
    Library *l = (Library *)(uintptr_t)lib; /* the lock alone changes */
    pthread_mutex_lock(&l->lock);
    size_t n = lib->n_solutions;
    pthread_mutex_unlock(&l->lock);
    return n;
}

static const LibSolution *solution_or_null(Library *lib, const SolutionRef *ref)
{
    const LibSolution *s;
    return ref->chunk && !solution_of(lib, ref->chunk, ref->at, &s) ? s : NULL;
}

const LibSolution *library_solution(const Library *lib, size_t number)
{
    Library *l = (Library *)(uintptr_t)lib;
    SolutionRef ref = {NULL, 0};
    pthread_mutex_lock(&l->lock);
    for (size_t c = 0; c < lib->chunks.n && !ref.chunk; c++) {
        if (number < lib->chunks.v[c]->n) ref = (SolutionRef){lib->chunks.v[c], (uint32_t)number};
        number -= lib->chunks.v[c]->n;
    }
    pthread_mutex_unlock(&l->lock);
    return solution_or_null(l, &ref);
}

const LibSolution *library_solution_by_index(const Library *lib, int64_t index)
{
    Library *l = (Library *)(uintptr_t)lib;
    SolutionRef ref = {NULL, 0};
    pthread_mutex_lock(&l->lock);
    for (size_t c = 0; c < lib->chunks.n && !ref.chunk; c++) {
        uint32_t at = solution_at(lib->chunks.v[c], index);
        if (at != SOLUTION_NONE) ref = (SolutionRef){lib->chunks.v[c], at};
    }
    pthread_mutex_unlock(&l->lock);
    return solution_or_null(l, &ref);
}

bool library_names_arch(const Library *lib) { return lib->names_arch; }

bool library_print_debug(const Library *lib) { return lib->print_debug; }

const char *library_code_object(const Library *lib, int32_t code_object)
{
    return code_object >= 0 && (size_t)code_object < lib->placeholders.n ? lib->code_object[code_object]
                                                                         : NULL;
}
