/* tuner-logic convert: the command line of convert.h; one file, or the logic files of a directory. */
#include <stddef.h>
#include <stdio.h>

#include "base/fs.h"
#include "base/log.h"
#include "logic/convert.h"
#include "logic/show.h"
#include "problem/part.h"

typedef struct {
    ConvertOptions o;
    const char *part;
} ConvertArgs;

static Err take_to(void *target, const CliOption *o, const char *value)
{
    ConvertArgs *a = target;
    int index = 0;
    TRY(cli_word("--to", str_from(value), o->words, &index));
    a->o.to = index == 0 ? UNIT_EFFICIENCY : UNIT_GFLOPS;
    return ERR_OK;
}

static Err take_arch(void *target, const CliOption *o, const char *value)
{
    ConvertArgs *a = target;
    (void)o;
    a->o.arch = str_from(value);
    return ERR_OK;
}

static Err take_filter(void *target, const CliOption *o, const char *value)
{
    ConvertArgs *a = target;
    (void)o;
    return size_predicate_parse(str_from(value), &a->o.keep);
}

static Err take_remove(void *target, const CliOption *o, const char *value)
{
    ConvertArgs *a = target;
    if (a->o.remove.n)
        FAIL(ERR_INPUT, "--%s twice, expected once (conditions separated by commas must all hold)", o->name);
    return size_predicate_parse(str_from(value), &a->o.remove);
}

static Err take_peak(void *target, const CliOption *o, const char *value)
{
    ConvertArgs *a = target;
    (void)value;
    a->o.peak = o->data[0] == 'm' ? PEAK_MATRIX : PEAK_VECTOR;
    return ERR_OK;
}

#define FIELD(f) .offset = offsetof(ConvertArgs, f)

static const CliOption options[] = {
    {.name = "to",
     .kind = CLI_CALL,
     .set = take_to,
     .arg = "UNIT",
     .words = "efficiency gflops",
     .help = "speeds in percent of the peak (efficiency), or back (gflops)"},
    CLI_NUMBER("sclk", CLI_REAL, "MHZ", 1, 100000, o.sclk_mhz, "clock of the tuning"),
    {.name = "arch", .kind = CLI_CALL, .set = take_arch, .arg = "NAME", .help = "default: the file's"},
    CLI_VALUE("part", CLI_TEXT, "NAME", part, "architecture and compute units by product: MI210"),
    CLI_NUMBER("cus", CLI_INT32, "N", 1, 1000000, o.n_cu, "compute units (default: the file's)"),
    CLI_NUMBER("flops-per-cycle", CLI_INT32, "N", 1, 1000000, o.flops_per_cycle,
               "of a compute unit (default: of the table)"),
    CLI_ROW("per-cu", CLI_FLAG, o.per_cu, "speeds are GFlops of one compute unit"),
    {.name = "mfma",
     .kind = CLI_CALL,
     .set = take_peak,
     .data = "matrix",
     .help = "the peak is that of matrix instructions (default: when a solution uses them)"},
    {.name = "no-mfma",
     .kind = CLI_CALL,
     .set = take_peak,
     .data = "vector",
     .help = "the peak is not theirs"},
    {.name = "filter",
     .kind = CLI_CALL,
     .set = take_filter,
     .arg = "CONDITIONS",
     .help = "keep the sizes that fulfil all of 'm>=1024,k%64==0'"},
    {.name = "remove",
     .kind = CLI_CALL,
     .set = take_remove,
     .arg = "CONDITIONS",
     .help = "remove the sizes that fulfil all"},
    CLI_ROW("trim", CLI_FLAG, o.trim, "sizes of 4 integers"),
    CLI_ROW("remove-unused", CLI_FLAG, o.remove_unused, "no solutions without sizes"),
    CLI_ROW("reindex", CLI_FLAG, o.reindex, "SolutionIndex becomes the position"),
};

const CliCommand logic_convert_cli = {.name = "convert",
                                      .operands = "IN OUT",
                                      .help = "speeds in percent of the peak or back, fewer sizes, no "
                                              "solutions without sizes; files or directories",
                                      .min = 2,
                                      .max = 2,
                                      CLI_OPTIONS(options)};

/* --part sets architecture and compute units unless --arch and --cus do. */
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

static Err settle(ConvertArgs *a)
{
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
    ConvertArgs c = {.part = NULL};
    CliLine line;
    TRY(cli_options(&logic_program, &logic_convert_cli, &c, argc, argv, &line));
    if (line.done) return ERR_OK;
    TRY(settle(&c));
    if (!dir_exists(line.operand[0])) return convert_file(line.operand[0], line.operand[1], &c.o);
    arena_init(&a, 0);
    Err e = convert_dir(&a, line.operand[0], line.operand[1], &c.o);
    arena_fini(&a);
    return e;
}
