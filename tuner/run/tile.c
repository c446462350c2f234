/* The command `tuner tile`. See tile.h. */
#include "run/tile.h"

#include "base/fs.h"
#include "kernel/parse.h"
#include "kernel/kernel.h"
#include "kernel/tile/interpret.h"

enum { DUMP_SUBTILES = 64 };

static Err sizes(const char *text, InterpretRun *run)
{
    Str rest = str_from(text), part;
    int64_t *const to[] = {&run->m, &run->n, &run->k};
    int n = 0;
    while (str_split(&rest, ',', &part)) {
        if (n == 3 || !str_to_i64(part, to[n]) || *to[n] < 0 || *to[n] > INTERPRET_MAX_SIDE)
            FAIL(ERR_INPUT, "--run: '%s', expected M,N,K, each from 0 to %d", text, INTERPRET_MAX_SIDE);
        n++;
    }
    if (n != 3) FAIL(ERR_INPUT, "--run: '%s', expected M,N,K, each from 0 to %d", text, INTERPRET_MAX_SIDE);
    return ERR_OK;
}

static Err interpret(const Program *p, const TilePlan *plan, const Options *o, FILE *f)
{
    InterpretRun run = {.seed = (uint64_t)o->tile_seed, .alpha = o->tile_alpha};
    InterpretResult r;
    run.beta = p->hand->type.UseBeta ? o->tile_beta : 0;
    TRY(sizes(o->tile_run, &run));
    TRY(tile_interpret(p, plan, o->operand[0], &run, &r));
    fprintf(
        f, "%lld x %lld x %lld, alpha %g, beta %g: error %.3g of the type's precision, %lld elements wrong\n",
        (long long)run.m, (long long)run.n, (long long)run.k, run.alpha, run.beta, r.error,
        (long long)r.wrong);
    if (!r.wrong) return ERR_OK;
    FAIL(ERR_FAILED, "%s: %lld elements of D are wrong, first row %lld, column %lld: %g, expected %g",
         o->operand[0], (long long)r.wrong, (long long)r.row, (long long)r.col, r.got, r.expected);
}

/* Which subgroups have which part, where there are few. */
static void remarks(const Program *p, const TilePlan *plan, Buf *out)
{
    for (int i = 0; i < p->n_tiles; i++) {
        const Tile *t = &p->tile[i];
        if (!plan->tile[i].mapped) continue;
        int64_t n = (int64_t)distribute_subtiles(t->size[0], t->wg_map.data[0]) *
                    distribute_subtiles(t->size[1], t->wg_map.data[1]);
        buf_printf(out, "; %%%s: a work-item has %d x %d elements; subgroups of its %lld subtiles\n", t->name,
                   plan->tile[i].per[0], plan->tile[i].per[1], (long long)n);
        if (n <= DUMP_SUBTILES && n * plan->n_subgroups <= 1024) distribute_dump(&t->wg_map, t->size, out);
    }
    buf_printf(out, "; %d work-items, %lld bytes of local memory, %d registers of a work-item for tiles\n",
               plan->n_threads, (long long)plan->local_bytes, plan->registers);
}

static Err act(const Program *p, const Options *o, Buf *out, FILE *f)
{
    TilePlan plan;
    TRY(tile_plan(p, p->target, o->operand[0], &plan));
    if (o->tile_run) return interpret(p, &plan, o, f);
    program_dump(p, out);
    remarks(p, &plan, out);
    return buf_check(out);
}

static Err emit(Str text, const Options *o, Buf *out)
{
    const Target *t = target_find(str_from(o->tile_emit));
    if (!t) FAIL(ERR_INPUT, "--emit: unknown architecture '%s' (see --list-targets)", o->tile_emit);
    return kernel_emit_hand(text, o->operand[0], t, STR("kernel"), out);
}

Err tile_file(const Options *o, FILE *f)
{
    Arena a;
    Program p;
    Buf out;
    Str text;
    arena_init(&a, (size_t)256 << 20);
    buf_init(&out);
    Err e = file_read(&a, o->operand[0], PARSE_MAX_BYTES, &text);
    if (!e && o->tile_emit) {
        e = emit(text, o, &out);
    } else {
        if (!e) e = program_parse(&p, text, o->operand[0], &a);
        if (!e) e = act(&p, o, &out, f);
    }
    if (!e) fputs(buf_cstr(&out), f);
    buf_fini(&out);
    arena_fini(&a);
    return e;
}
