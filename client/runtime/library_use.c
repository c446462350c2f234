/* Library: reading on first use: solutions and tables of msgpack files, and placeholders. One thread reads at
 * a time; the others use the result or wait for it. */
#include "client/runtime/library_priv.h"

static FileReader reader_of(Library *lib, SolutionChunk *c)
{
    return (FileReader){.lib = lib, .name = c->name, .arena = &lib->arena, .chunk = c};
}

/* ---- solutions ---- */

static LibSolution *spare_solution(Library *lib)
{
    if (lib->n_spare == 0) {
        lib->spare = ARENA_ARRAY(&lib->arena, SPARE_SOLUTIONS, LibSolution);
        if (!lib->spare) return NULL;
        lib->n_spare = SPARE_SOLUTIONS;
    }
    return &lib->spare[--lib->n_spare];
}

static Err read_solution(Library *lib, SolutionChunk *c, uint32_t at, const LibSolution **out)
{
    Arena nodes;
    Node *n;
    FileReader r = reader_of(lib, c);
    Str rest = str_sub(c->data, c->place[at], c->data.n);
    TRY(filemap_check(&c->map));
    LibSolution *s = spare_solution(lib);
    TRY_ALLOC(s);
    arena_init(&nodes, LIBRARY_MAX_BYTES);
    Err e = msgpack_item(&nodes, c->name, &rest, NULL, &n);
    if (!e) e = solution_read(&r, n, s);
    arena_fini(&nodes);
    if (e) return e;
    s->number = c->first_number + at;
    atomic_store_explicit(&c->solution[at], s, memory_order_release);
    *out = s;
    return ERR_OK;
}

Err solution_load(Library *lib, SolutionChunk *c, uint32_t at, const LibSolution **out)
{
    pthread_mutex_lock(&lib->lock);
    *out = atomic_load(&c->solution[at]);
    Err e = *out ? ERR_OK : read_solution(lib, c, at, out);
    pthread_mutex_unlock(&lib->lock);
    return e;
}

/* ---- tables ---- */

Err table_use(Library *lib, Table *t)
{
    FileReader r = reader_of(lib, t->chunk);
    Err e = ERR_OK;
    pthread_mutex_lock(&lib->lock);
    if (!atomic_load(&t->ready)) {
        e = filemap_check(&t->chunk->map);
        if (!e) e = table_load(&r, t);
    }
    pthread_mutex_unlock(&lib->lock);
    return e;
}

/* ---- placeholders ---- */

static Err placeholder_read_data(Library *lib, LibNode *n)
{
    Str data, file = arena_printf(&lib->arena, "%s%s", n->placeholder.name, lib->suffix);
    LibNode *root = NULL;
    TRY_ALLOC(file.s);
    TRY(lib->files.read(lib->files.ctx, file.s, &data));
    TRY(library_read_file(lib, file.s, data, NULL, n->placeholder.code_object, &root));
    atomic_store_explicit(&n->placeholder.loaded, root, memory_order_release);
    return ERR_OK;
}

static Err placeholder_read_file(Library *lib, LibNode *n)
{
    FileMap map;
    LibNode *root = NULL;
    if (lib->files.read) return placeholder_read_data(lib, n);
    if (!lib->dir)
        FAIL(ERR_FAILED, "%s: placeholder '%s' without a directory", lib->name, n->placeholder.name);
    Str path = arena_printf(&lib->arena, "%s/%s%s", lib->dir, n->placeholder.name, lib->suffix);
    TRY_ALLOC(path.s);
    TRY(filemap_open(path.s, LIBRARY_MAX_BYTES, &map));
    TRY(library_read_file(lib, path.s, map.data, &map, n->placeholder.code_object, &root));
    atomic_store_explicit(&n->placeholder.loaded, root, memory_order_release);
    return ERR_OK;
}

Err placeholder_load(Library *lib, LibNode *n)
{
    pthread_mutex_lock(&lib->lock);
    Err e = atomic_load(&n->placeholder.loaded) ? ERR_OK : placeholder_read_file(lib, n);
    pthread_mutex_unlock(&lib->lock);
    return e;
}

Err library_load_all(Library *lib)
{
    for (size_t i = 0; i < lib->placeholders.n; i++)
        if (!atomic_load(&lib->placeholders.v[i]->placeholder.loaded))
            TRY(placeholder_load(lib, lib->placeholders.v[i]));
    return ERR_OK;
}
