/* Facts of the kernels of a size-group (build/facts.h), only for GPUs: rejects kernels by them and records
 * them. See run.h. */
#include "run/run.h"

#include <inttypes.h>

#include "base/fs.h"
#include "base/own.h"
#include "base/map.h"
#include "build/loops.h"
#include "fmt/csv.h"

static const size_t OBJECT_BYTES_MAX = (size_t)256 << 20;

static Err why_set(Arena *a, Str *why, const char *text)
{
    *why = arena_dup(a, str_from(text));
    TRY_ALLOC(why->s);
    return 0;
}

Err variant_facts(Run *r, Variant *v, Str object, Arena *a, Str *why)
{
    Str data;
    char text[160];
    *why = STR_NULL;
    if (!target_family(r->target)->is_gpu) return 0;
    TRY(file_read(a, object.s, OBJECT_BYTES_MAX, &data));
    Err e = code_facts_read(a, data, r->target, v->symbol, &v->facts);
    if (!e) e = code_facts_check(&v->facts, r->target);
    if (e == ERR_INPUT) return why_set(a, why, err_message());
    if (e || !code_facts_spill(&v->facts) || r->o->allow_spills) return e;
    r->n_spilled++;
    if (v->facts.vgpr_spills >= 0)
        snprintf(text, sizeof text,
                 "spills %" PRId64 " vector registers, %" PRId64
                 " bytes of scratch (--allow-spills keeps it)",
                 v->facts.vgpr_spills, v->facts.scratch);
    else
        snprintf(text, sizeof text, "spills: %" PRId64 " bytes of local stack (--allow-spills keeps it)",
                 v->facts.scratch);
    return why_set(a, why, text);
}

/* ---- main loops ---- */

typedef struct {
    Group *g;
    Map variant; /* symbol -> column + 1 */
} LoopsTo;

static Err loops_take(void *user, Str symbol, const CodeFacts *f)
{
    LoopsTo *to = user;
    int64_t *column = map_get(&to->variant, symbol);
    if (!column) return 0;
    CodeFacts *own = &to->g->variant[to->g->column[*column - 1]].facts;
    own->instructions = f->instructions;
    own->loop = f->loop;
    own->loop_matrix = f->loop_matrix;
    own->loop_fma = f->loop_fma;
    return 0;
}

/* Takes the facts that the store has already; *missing: kernels without facts. */
static Err known_take(Run *r, Group *g, size_t *missing)
{
    Arena a;
    Err e = 0;
    *missing = 0;
    arena_init(&a, 0);
    for (size_t i = 0; !e && i < g->n_columns; i++) {
        Variant *v = &g->variant[g->column[i]];
        Str text;
        bool found;
        arena_reset(&a);
        e = store_code_get(&r->store, &a, v->kernel, r->environment, &text, &found);
        if (!e && found) code_facts_parse(text, &v->facts);
        *missing += !found;
    }
    arena_fini(&a);
    return e;
}

static Err loops_count(Run *r, Group *g)
{
    LoopsTo to = {.g = g};
    Str text;
    TRY(run_path(r, &text, "%.*s/.tuner-disassembly", STR_ARG(r->config->globals.ClientBuildPath)));
    map_init(&to.variant);
    Err e = 0;
    for (size_t i = 0; !e && i < g->n_columns; i++) {
        int64_t *slot = map_put(&to.variant, g->variant[g->column[i]].symbol, NULL);
        if (slot)
            *slot = (int64_t)i + 1;
        else
            e = err_set(ERR_FAILED, "out of memory for %zu kernels", g->n_columns);
    }
    for (size_t i = 0; !e && i < g->n_code_objects; i++)
        e = code_loops(&r->toolchain, g->code_object[i].s, text.s, loops_take, &to);
    map_fini(&to.variant);
    return e;
}

/* ---- records ---- */

static Err facts_store(Run *r, Group *g)
{
    Buf text;
    buf_init(&text);
    Err e = store_begin(&r->store);
    for (size_t i = 0; !e && i < g->n_columns; i++) {
        const Variant *v = &g->variant[g->column[i]];
        buf_reset(&text);
        code_facts_print(&v->facts, &text);
        e = buf_check(&text);
        if (!e) e = store_code_add(&r->store, v->kernel, r->environment, buf_view(&text));
    }
    if (!e) e = store_commit(&r->store);
    buf_fini(&text);
    return e;
}

static Err csv_write(Run *r, const Group *g)
{
    Buf b;
    Str path = arena_printf(&r->arena, "%.*s/kernels.csv", STR_ARG(g->dir));
    TRY_ALLOC(path.s);
    buf_init(&b);
    csv_cell(&b, true, STR("kernel"));
    for (size_t i = 0; code_fact_name(i); i++) csv_cell(&b, false, str_from(code_fact_name(i)));
    csv_end(&b);
    for (size_t k = 0; k < g->n_columns; k++) {
        const Variant *v = &g->variant[g->column[k]];
        csv_cell(&b, true, v->name);
        for (size_t i = 0; code_fact_name(i); i++) {
            int64_t x = code_fact(&v->facts, i);
            if (x < 0)
                csv_cell(&b, false, STR(""));
            else
                csv_cell_f(&b, false, "%" PRId64, x);
        }
        csv_end(&b);
    }
    Err e = buf_check(&b);
    if (!e) e = path_no_link(path.s);
    if (!e) e = file_write(path.s, buf_view(&b));
    buf_fini(&b);
    return e;
}

Err group_facts(Run *r, Group *g)
{
    size_t missing;
    if (!target_family(r->target)->is_gpu) return 0;
    TRY(known_take(r, g, &missing));
    if (missing) TRY(loops_count(r, g));
    if (missing) TRY(facts_store(r, g));
    return csv_write(r, g);
}
