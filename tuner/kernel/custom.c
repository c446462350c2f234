/* Reads kernels written by hand from a folder. See custom.h. */
#include "kernel/custom.h"

#include <string.h>

#include "base/fs.h"
#include "kernel/parse.h"
#include "kernel/tile/plan.h"

/* Is the name that of a file in the folder itself? It has letters, digits, '_', '-' and '.', and does not
 * begin with a '.'. */
static bool is_file_name(Str name)
{
    if (!name.n || name.n > 200 || name.s[0] == '.') return false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.s[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && c != '_' && c != '-' && c != '.') return false;
    }
    return true;
}

/* Returns the elements of K that the first product of the list multiplies; 0: the list has no product. */
static int32_t depth_of(const Program *p, const Op *list)
{
    for (const Op *o = list; o; o = o->next) {
        if (o->kind == OP_TILE_MMA) return p->tile[o->tile[1]].size[1];
        int32_t inner = depth_of(p, o->body);
        if (inner) return inner;
    }
    return 0;
}

static Err check_problem(const char *path, const ProblemType *mine, const ProblemType *pt)
{
    for (size_t i = 0; problem_key_at(i); i++) {
        const PtKey *key = problem_key_at(i);
        const char *a = (const char *)mine + key->offset, *b = (const char *)pt + key->offset;
        if (key->kind > PT_SCALE_AB || !memcmp(a, b, sizeof(int32_t))) continue;
        Buf text;
        buf_init(&text);
        problem_key_print(key, mine, &text);
        buf_puts(&text, ", the solution's problem type has ");
        problem_key_print(key, pt, &text);
        Err e = err_set(ERR_INPUT, "%s: the program has %s %s", path, key->name, buf_cstr(&text));
        buf_fini(&text);
        return e;
    }
    return ERR_OK;
}

static Err kernel_read(CustomFolder *f, Str name, const ProblemType *pt, CustomKernel *k)
{
    Program p;
    TilePlan plan;
    k->name = arena_dup(f->arena, name);
    k->path = arena_printf(f->arena, "%.*s/%.*s.tile", STR_ARG(f->dir), STR_ARG(name));
    TRY_ALLOC(k->name.s);
    TRY_ALLOC(k->path.s);
    TRY(file_read(f->arena, k->path.s, PARSE_MAX_BYTES, &k->text));
    TRY(program_parse(&p, k->text, k->path.s, f->arena));
    TRY(tile_plan(&p, f->target, k->path.s, &plan));
    TRY(check_problem(k->path.s, &p.hand->type, pt));
    k->tile_m = p.hand->tile_m, k->tile_n = p.hand->tile_n;
    k->n_threads = plan.n_threads;
    k->depth = depth_of(&p, p.body);
    k->mapping = p.walk.mapping ? p.walk.mapping : 1;
    if (!k->depth) FAIL(ERR_INPUT, "%s: no tile_mma in the program", k->path.s);
    return ERR_OK;
}

static const CustomKernel *find(void *context, Str name, const ProblemType *pt)
{
    CustomFolder *f = context;
    for (size_t i = 0; i < f->n; i++)
        if (str_eq(f->kernel[i]->name, name)) return f->kernel[i]->depth ? f->kernel[i] : NULL;
    if (!is_file_name(name) || f->n == CUSTOM_KERNELS_MAX) return NULL;
    Str path = arena_printf(f->arena, "%.*s/%.*s.tile", STR_ARG(f->dir), STR_ARG(name));
    if (!path.s || !file_exists(path.s)) return NULL;
    CustomKernel *k = ARENA_NEW(f->arena, CustomKernel);
    if (!k) return NULL;
    Err e = kernel_read(f, name, pt, k);
    f->kernel[f->n++] = k;
    if (!e) return k;
    k->depth = 0;
    if (!f->error) f->error = e, f->why = arena_dup(f->arena, str_from(err_message()));
    return NULL;
}

void custom_folder_init(CustomFolder *f, Arena *arena, const Target *target, Str dir)
{
    *f = (CustomFolder){.arena = arena, .target = target, .dir = dir};
    f->kernels = (CustomKernels){find, f};
}

Err custom_folder_check(const CustomFolder *f)
{
    if (!f->error) return ERR_OK;
    FAIL(f->error == ERR_FAILED ? ERR_FAILED : ERR_INPUT, "%.*s", STR_ARG(f->why));
}
