/* tuner-logic convert: the command line of convert.h; one file, or the logic files of a directory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "logic/convert.h"
#include "logic/show.h"
#include "problem/part.h"

#define CONVERT_USAGE "usage: tuner-logic convert IN OUT [--to efficiency|gflops --sclk MHZ] ..."

typedef struct {
    ConvertOptions o;
    const char *part;
    const char *operand[2];
    int n_operands;
} ConvertArgs;

static Err number(const char *name, const char *value, int *out)
{
    int64_t v = 0;
    if (!value || !str_to_i64(str_from(value), &v) || v < 1 || v > 1000000)
        FAIL(ERR_INPUT, "%s '%s', expected 1 to 1000000", name, value ? value : "");
    *out = (int)v;
    return ERR_OK;
}

static Err take_value(ConvertOptions *o, const char *name, const char *value, bool *known)
{
    *known = true;
    const char *v = value ? value : "";
    if (!strcmp(name, "--to")) {
        if (strcmp(v, "efficiency") != 0 && strcmp(v, "gflops") != 0)
            FAIL(ERR_INPUT, "--to '%s', expected efficiency or gflops", v);
        o->to = *v == 'e' ? UNIT_EFFICIENCY : UNIT_GFLOPS;
        return ERR_OK;
    }
    if (!strcmp(name, "--sclk")) {
        if (!str_to_f64(str_from(v), &o->sclk_mhz) || !(o->sclk_mhz >= 1 && o->sclk_mhz <= 1e5))
            FAIL(ERR_INPUT, "--sclk '%s', expected MHz from 1 to 100000", v);
        return ERR_OK;
    }
    if (!strcmp(name, "--arch")) return o->arch = str_from(v), ERR_OK;
    if (!strcmp(name, "--cus")) return number(name, value, &o->n_cu);
    if (!strcmp(name, "--flops-per-cycle")) return number(name, value, &o->flops_per_cycle);
    if (!strcmp(name, "--filter")) return size_predicate_parse(str_from(v), &o->keep);
    if (!strcmp(name, "--remove")) {
        if (o->remove.n)
            FAIL(ERR_INPUT, "--remove twice, expected once (conditions behind commas must all hold)");
        return size_predicate_parse(str_from(v), &o->remove);
    }
    *known = false;
    return ERR_OK;
}

static Err take_flag(ConvertOptions *o, const char *name)
{
    if (!strcmp(name, "--per-cu"))
        o->per_cu = true;
    else if (!strcmp(name, "--mfma"))
        o->peak = PEAK_MATRIX;
    else if (!strcmp(name, "--no-mfma"))
        o->peak = PEAK_VECTOR;
    else if (!strcmp(name, "--trim"))
        o->trim = true;
    else if (!strcmp(name, "--remove-unused"))
        o->remove_unused = true;
    else if (!strcmp(name, "--reindex"))
        o->reindex = true;
    else
        FAIL(
            ERR_INPUT,
            "unknown option '%s', expected --to, --sclk, --arch, --part, --cus, --flops-per-cycle, --per-cu, "
            "--mfma, "
            "--no-mfma, "
            "--trim, --filter, --remove, --remove-unused or --reindex",
            name);
    return ERR_OK;
}

/* The part's architecture and compute units, where --arch and --cus do not say them. */
static Err take_part(ConvertArgs *a)
{
    const Part *part;
    ConvertOptions *o = &a->o;
    Err e = part_find(str_from(a->part), o->arch.s ? target_find(o->arch) : NULL, &part);
    if (e) return err_context(e, "--part: ");
    if (!o->arch.s) o->arch = str_from(part->arch);
    if (!o->n_cu) o->n_cu = part->n_cu;
    return ERR_OK;
}

static Err parse(ConvertArgs *a, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        bool known = false;
        if (argv[i][0] != '-') {
            if (a->n_operands == 2) FAIL(ERR_INPUT, "unexpected '%s'; " CONVERT_USAGE, argv[i]);
            a->operand[a->n_operands++] = argv[i];
            continue;
        }
        if (!strcmp(argv[i], "--part")) {
            a->part = i + 1 < argc ? argv[++i] : "";
            continue;
        }
        TRY(take_value(&a->o, argv[i], i + 1 < argc ? argv[i + 1] : NULL, &known));
        if (known)
            i++;
        else
            TRY(take_flag(&a->o, argv[i]));
    }
    if (a->n_operands != 2) FAIL(ERR_INPUT, CONVERT_USAGE);
    const ConvertOptions *o = &a->o;
    bool units = o->sclk_mhz > 0 || o->n_cu || a->part || o->flops_per_cycle || o->per_cu ||
                 o->peak != PEAK_BY_SOLUTIONS;
    if (a->part) TRY(take_part(a));
    if (units && o->to == UNIT_AS_IS)
        FAIL(ERR_INPUT, "--sclk, --part, --cus, --flops-per-cycle, --per-cu, --mfma and --no-mfma need --to");
    return ERR_OK;
}

static Err convert_file(const char *in, const char *out, const ConvertOptions *o)
{
    Arena a;
    Logic l;
    ConvertReport r;
    arena_init(&a, 0);
    Err e = logic_read(&a, in, NULL, &l);
    size_t n_rows = e ? 0 : l.n_rows;
    if (!e) e = logic_convert(&a, &l, o, &r);
    if (!e) e = dir_make(arena_dup(&a, path_dir(str_from(out))).s);
    if (!e) e = logic_write(&l, out);
    if (!e) {
        printf("%s: %zu of %zu sizes, %zu filtered, %zu doubles; %zu solutions, %zu unused removed", out,
               l.n_rows, n_rows, r.n_filtered, r.n_doubles, l.n_solutions, r.n_unused);
        if (r.peak_gflops > 0) printf("; peak %.10g GFlops, speeds up to %.6g", r.peak_gflops, r.highest);
        putchar('\n');
        if (o->to == UNIT_EFFICIENCY && r.highest > 100)
            warning("%s: %.6g %% of the peak: clock, compute units or unit are not those of the tuning", in,
                    r.highest);
        if (o->to == UNIT_EFFICIENCY && r.highest < 1 && l.n_rows)
            warning("%s: at most %.6g %% of the peak: were these percentages already?", in, r.highest);
    }
    arena_fini(&a);
    return e;
}

static Err convert_dir(Arena *a, const char *in, const char *out, const ConvertOptions *o)
{
    static const char *const suffixes[] = {".yaml", ".yml"};
    size_t total = 0;
    for (int s = 0; s < 2; s++) {
        Str *name;
        size_t n;
        TRY(dir_list(a, in, suffixes[s], true, &name, &n));
        total += n;
        for (size_t i = 0; i < n; i++) {
            Str from = path_join(a, in, name[i].s), to = path_join(a, out, name[i].s);
            TRY_ALLOC(from.s && to.s ? to.s : NULL);
            TRY(convert_file(from.s, to.s, o));
        }
    }
    if (!total) FAIL(ERR_INPUT, "%s: no logic file, expected *.yaml", in);
    return ERR_OK;
}

Err logic_convert_command(int argc, char **argv)
{
    Arena a;
    ConvertArgs c = {.n_operands = 0};
    TRY(parse(&c, argc, argv));
    if (!dir_exists(c.operand[0])) return convert_file(c.operand[0], c.operand[1], &c.o);
    arena_init(&a, 0);
    Err e = convert_dir(&a, c.operand[0], c.operand[1], &c.o);
    arena_fini(&a);
    return e;
}
