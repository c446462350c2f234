/* createlib: the steps in order. See createlib.h. */
#include "createlib/createlib.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "createlib/create_internal.h"

void createlib_options_init(CreateOptions *o)
{
    *o = (CreateOptions){.runtime = CREATE_HOST,
                         .format = LIBRARY_MSGPACK,
                         .architecture = "all",
                         .num_merged_files = 1,
                         .verbose = 1,
                         .merge_files = true};
}

static Err check_options(const CreateOptions *o)
{
    if (o->lazy && !(o->merge_files && o->separate_architectures))
        FAIL(ERR_INPUT, "--lazy-library-loading needs --merge-files and --separate-architectures");
    if (o->num_merged_files < 1 || o->num_merged_files > 1000)
        FAIL(ERR_INPUT, "--num-merged-files %d, expected 1 to 1000", o->num_merged_files);
    return ERR_OK;
}

static Err strict_check(const Create *c)
{
    for (size_t i = 0; c->o->strict && i < c->n_logic; i++)
        for (size_t j = 0; j < c->logic[i].logic.n_solutions; j++) {
            const CreateLogic *l = &c->logic[i];
            const CreateSolution *s = &l->solution[j];
            int line = l->logic.solution[j].line;
            if (s->why.n)
                FAIL(ERR_FAILED, "%s:%d: solution %zu: %.*s", l->logic.path, line, j, STR_ARG(s->why));
            if (s->stand_in.n)
                FAIL(ERR_FAILED, "%s:%d: solution %zu: %.*s: only an ordinary kernel could stand in",
                     l->logic.path, line, j, STR_ARG(s->stand_in));
        }
    return ERR_OK;
}

/* The path is absolute, because the manifest contains it. */
static Err library_dir(Create *c)
{
    char here[4096];
    const char *out = c->o->output_path;
    if (out[0] != '/') {
        if (!getcwd(here, sizeof here)) FAIL(ERR_FAILED, "the current directory has no name");
        Str full = path_join(&c->a, here, out);
        TRY_ALLOC(full.s);
        out = full.s;
    }
    c->library_dir = path_join(&c->a, out, "library");
    TRY_ALLOC(c->library_dir.s);
    return ERR_OK;
}

static Err steps(Create *c)
{
    const CreateOptions *o = c->o;
    TRY(check_options(o));
    TRY(library_dir(c));
    if (o->verify_manifest) return create_verify(c);
    TRY(create_archs(c));
    TRY(create_read(c));
    TRY(strict_check(c));
    TRY(create_plan(c));
    TRY(dir_make(c->library_dir.s));
    if (o->generate_manifest_and_exit) return create_manifest(c);
    if (o->generate_sources_and_exit)
        TRY(create_sources(c));
    else if (!o->metadata_only)
        TRY(create_build(c));
    TRY(strict_check(c));
    if (o->generate_sources_and_exit) return create_report(c);
    TRY(create_metadata(c));
    TRY(create_manifest(c));
    if (o->embed_library) TRY(create_embed(c));
    if (o->client_config) TRY(create_client_config(c));
    return create_report(c);
}

static void create_fini(Create *c)
{
    for (size_t i = 0; i < c->object.n; i++) VEC_FINI(&c->object.v[i].unit);
    VEC_FINI(&c->object);
    VEC_FINI(&c->unit);
    VEC_FINI(&c->metadata);
    VEC_FINI(&c->tool);
    VEC_FINI(&c->variant);
    map_fini(&c->by_symbol);
    map_fini(&c->by_helper);
    map_fini(&c->by_file);
    arena_fini(&c->a);
}

Err createlib_run(const CreateOptions *o, CreateReport *r)
{
    Create c = {.o = o, .r = r};
    *r = (CreateReport){0};
    arena_init(&c.a, 0);
    map_init(&c.by_symbol);
    map_init(&c.by_helper);
    map_init(&c.by_file);
    Err e = steps(&c);
    if (!e && r->n_left_out)
        e = err_set(ERR_PARTIAL,
                    "%zu of %zu solutions are left out; reasons in %s/TensileCreateLibrary.report.csv",
                    r->n_left_out, r->n_solutions, c.library_dir.s);
    create_fini(&c);
    return e;
}
