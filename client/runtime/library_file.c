/* Library: reading a file. The usual msgpack file is checked in one pass over its bytes, which makes only the
 * nodes of its tree. YAML, and a msgpack file that this pass does not accept, is read as a whole document;
 * that reader reports errors.
 */
#include <stdlib.h>
#include <string.h>

#include "client/runtime/library_priv.h"

/* ---- as bytes ---- */

/* A solution in a form that solution_scan does not know. */
static bool read_and_drop(FileReader *r, Arena *scratch, Scan *s, int64_t *index)
{
    FileReader other = *r;
    LibSolution solution;
    Node *n;
    Str rest = {(const char *)s->at, scan_left(s)};
    other.arena = scratch;
    arena_reset(scratch);
    if (msgpack_item(scratch, r->name, &rest, NULL, &n) || solution_read(&other, n, &solution)) return false;
    s->at = s->end - rest.n;
    *index = solution.index;
    return true;
}

static bool scan_each(FileReader *r, Arena *scratch, Scan *s, int64_t *index)
{
    SolutionChunk *c = r->chunk;
    SolutionScan scan = {.r = r, .scratch = scratch};
    const unsigned char *start = (const unsigned char *)c->data.s;
    for (size_t i = 0; i < c->n; i++) {
        const Scan from = *s;
        c->place[i] = (uint32_t)(s->at - start);
        if (solution_scan(&scan, s, &index[i])) continue;
        *s = from;
        if (!read_and_drop(r, scratch, s, &index[i])) return false;
    }
    return true;
}

static bool scan_solutions(FileReader *r, Arena *scratch, Scan *s)
{
    SolutionChunk *c = r->chunk;
    Arena *a = &r->lib->arena;
    if (c->place || !scan_list(s, &c->n) || c->n > LIBRARY_MAX_SOLUTIONS) return false;
    c->place = ARENA_ARRAY(a, c->n, uint32_t);
    c->solution = arena_array(a, c->n, sizeof *c->solution);
    int64_t *index = calloc(c->n + 1, sizeof *index);
    bool ok = c->place && c->solution && index && scan_each(r, scratch, s, index) &&
              chunk_index(a, c, index) == ERR_OK;
    free(index);
    return ok;
}

static bool scan_library(FileReader *r, Arena *nodes, Scan *s, Node **library)
{
    /* one level less than the document's default, which includes its map */
    const NodeLimits limits = {.max_bytes = LIBRARY_MAX_BYTES, .raw_list = "table", .max_depth = 63};
    Str rest = {(const char *)s->at, scan_left(s)};
    if (*library || msgpack_item(nodes, r->name, &rest, &limits, library)) return false;
    s->at = s->end - rest.n;
    return true;
}

static bool scan_flag(Scan *s, bool *out)
{
    const Scan at = *s;
    if (!scan_bool(s)) return false;
    *out = *at.at == 0xc3 || *at.at == 1;
    return true;
}

static bool scan_keys(FileReader *r, Arena *nodes, Arena *scratch, LibNode **root)
{
    Scan s = scan_of(r->chunk->data);
    Node *library = NULL;
    size_t n;
    bool has_version = false, has_debug = false;
    if (!scan_map(&s, &n)) return false;
    for (; n > 0; n--) {
        Str key;
        bool ok = false;
        if (!scan_str(&s, &key)) return false;
        if (str_eq(key, STR("solutions")))
            ok = scan_solutions(r, scratch, &s);
        else if (str_eq(key, STR("library")))
            ok = scan_library(r, nodes, &s, &library);
        else if (str_eq(key, STR("version")) && !has_version)
            ok = has_version = scan_skip(&s, 1);
        else if (str_eq(key, STR("libraryPrintDebug")) && !has_debug)
            ok = has_debug = scan_flag(&s, &r->lib->print_debug);
        if (!ok) return false;
    }
    return s.at == s.end && library && r->chunk->place && node_read(r, library, 0, root) == ERR_OK;
}

/* Reads the usual msgpack file; false: it has another form or is damaged. */
static bool read_bytes(FileReader *r, Str data, LibNode **root)
{
    Library *lib = r->lib;
    Arena nodes, scratch;
    const size_t n_placeholders = lib->placeholders.n;
    const bool names_arch = lib->names_arch, print_debug = lib->print_debug;
    if (data.n > LIBRARY_MAX_BYTES) return false;
    arena_init(&nodes, LIBRARY_MAX_BYTES);
    arena_init(&scratch, LIBRARY_MAX_BYTES);
    r->chunk->data = data;
    bool ok = scan_keys(r, &nodes, &scratch, root);
    if (!ok) {
        lib->placeholders.n = n_placeholders;
        lib->names_arch = names_arch;
        lib->print_debug = print_debug;
    }
    arena_fini(&nodes);
    arena_fini(&scratch);
    return ok;
}

/* ---- as a document ---- */

static Err read_solutions(FileReader *r, const Node *list)
{
    SolutionChunk *c = r->chunk;
    Arena *a = &r->lib->arena;
    TRY(node_seq(list, r->name, "solutions", 0, LIBRARY_MAX_SOLUTIONS));
    LibSolution *solution = ARENA_ARRAY(a, list->n, LibSolution);
    c->solution = arena_array(a, list->n, sizeof *c->solution);
    int64_t *index = calloc(list->n + 1, sizeof *index);
    Err e = solution && c->solution && index ? ERR_OK : err_set(ERR_FAILED, "out of memory");
    for (size_t i = 0; i < list->n && !e; i++) {
        e = solution_read(r, &list->item[i], &solution[i]);
        solution[i].number = c->first_number + (uint32_t)i;
        index[i] = solution[i].index;
        atomic_init(&c->solution[i], &solution[i]);
    }
    c->n = list->n;
    if (!e) e = chunk_index(a, c, index);
    free(index);
    return e;
}

static Err read_document(FileReader *r, Str data, bool packed, LibNode **root)
{
    NodeLimits limits = {.max_bytes = LIBRARY_MAX_BYTES};
    Arena nodes;
    Node *doc = NULL;
    arena_init(&nodes, (size_t)LIBRARY_MAX_BYTES * 4);
    Err e = packed ? msgpack_parse(&nodes, r->name, data, &limits, &doc)
                   : yaml_parse(&nodes, r->name, data, &limits, &doc);
    if (!e) e = node_map(doc, r->name, "library file");
    const Node *solutions = node_get(doc, "solutions"), *library = node_get(doc, "library");
    if (!e && (!solutions || !library))
        e = err_set(ERR_INPUT, "%s: not a master solution library: it has no '%s'", r->name,
                    solutions ? "library" : "solutions");
    const Node *debug = node_get(doc, "libraryPrintDebug");
    if (!e && debug) e = node_bool(debug, r->name, "libraryPrintDebug", &r->lib->print_debug);
    if (!e) e = read_solutions(r, solutions);
    if (!e) e = node_read(r, library, 0, root);
    arena_fini(&nodes);
    return e;
}

/* ---- the file ---- */

/* msgpack maps of 2 or 3 keys begin with 0x82 or 0x83 (or map16/map32); no YAML text does. */
static bool is_msgpack(Str data)
{
    unsigned char c = data.n ? (unsigned char)data.s[0] : 0;
    return (c >= 0x80 && c <= 0x8f) || c == 0xde || c == 0xdf;
}

static Err add_chunk(Library *lib, SolutionChunk *c)
{
    if (!VEC_PUSH(&lib->chunks, c)) FAIL(ERR_FAILED, "out of memory for %zu files", lib->chunks.n + 1);
    lib->n_solutions += c->n;
    return ERR_OK;
}

static Err read_data(FileReader *r, Str data, LibNode **root)
{
    SolutionChunk *c = r->chunk;
    const SolutionChunk fresh = *c;
    const bool packed = is_msgpack(data);
    if (data.n == 0) FAIL(ERR_INPUT, "%s: empty file", r->name);
    if (packed && read_bytes(r, data, root)) return add_chunk(r->lib, c);
    *c = fresh;
    TRY(read_document(r, data, packed, root));
    return add_chunk(r->lib, c);
}

Err library_read_file(Library *lib, const char *name, Str data, FileMap *map, int32_t code_object,
                      LibNode **root)
{
    SolutionChunk *c = ARENA_NEW(&lib->arena, SolutionChunk);
    FileReader r = {.lib = lib, .name = name, .arena = &lib->arena, .chunk = c};
    Err e = c ? ERR_OK : err_set(ERR_FAILED, "out of memory for library '%s'", name);
    if (!e) {
        *c = (SolutionChunk){
            .first_number = (uint32_t)lib->n_solutions, .code_object = code_object, .name = name};
        e = read_data(&r, data, root);
    }
    if (map && !e && c->data.s) { /* read on demand */
        c->map = *map;
        filemap_release(&c->map);
    } else if (map) {
        filemap_close(map);
    }
    return e;
}
