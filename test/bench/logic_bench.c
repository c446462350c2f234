/* Reading and merging logic, and createlib's metadata, per MB of logic; Tensile's own figures: 1.2 to 1.8
 * MB/s to read YAML, 1.45 s for 2.18 MB from logic to library, 33 s before it starts. Larger inputs are made
 * by repeating real files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "base/fs.h"
#include "createlib/createlib.h"
#include "logic/merge.h"

enum { RUNS = 7 };

static const char *const files[] = {"arcturus_Cijk_Alik_Bjlk_SB", "vega20_Cijk_Alik_Bjlk_4xi8II_BH",
                                    "equality_aldebaran_Cijk_Ailk_Bljk_HHS_BH"};
enum { N_FILES = sizeof files / sizeof *files };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *what, double *ms, double mb)
{
    qsort(ms, RUNS, sizeof *ms, by_value);
    printf("%-44s %8.3f ms (n %d, %.3f to %.3f), %7.1f MB/s\n", what, ms[RUNS / 2], RUNS, ms[0], ms[RUNS - 1],
           mb / ms[RUNS / 2] * 1e3);
}

static double ms_since(uint64_t start) { return (double)(clock_ns() - start) / 1e6; }

/* libyaml alone: its events, thrown away. */
static double time_events(Str text)
{
    yaml_parser_t y;
    yaml_event_t e;
    uint64_t start = clock_ns();
    bool more = yaml_parser_initialize(&y);
    yaml_parser_set_input_string(&y, (const unsigned char *)text.s, text.n);
    while (more && yaml_parser_parse(&y, &e)) {
        more = e.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&e);
    }
    yaml_parser_delete(&y);
    return ms_since(start);
}

static double time_read(Str text, bool no_scan, size_t *bytes)
{
    Arena a;
    Logic l;
    LogicReadOptions o = {.no_scan = no_scan};
    uint64_t start = clock_ns();
    arena_init(&a, 0);
    if (logic_parse(&a, "bench", text, &o, &l)) printf("%s\n", err_message()), exit(1);
    double ms = ms_since(start);
    *bytes = a.used_bytes;
    arena_fini(&a);
    return ms;
}

static void bench_read(const char *name, Str text)
{
    double events[RUNS], scan[RUNS], tree[RUNS], mb = (double)text.n / 1e6;
    size_t bytes = 0, tree_bytes = 0;
    for (int i = 0; i < RUNS; i++) {
        events[i] = time_events(text);
        tree[i] = time_read(text, true, &tree_bytes);
        scan[i] = time_read(text, false, &bytes);
    }
    printf("%s: %.2f MB\n", name, mb);
    report("  libyaml events alone", events, mb);
    report("  read as general YAML", tree, mb);
    report("  read", scan, mb);
    printf("  memory of the result: %.2f times the file (tree: %.1f)\n", (double)bytes / (double)text.n,
           (double)tree_bytes / (double)text.n);
}

/* Copies of the largest real file, each with sizes and solutions of its own; 7 are about 4 MB. shift makes
 * a third of the solutions and half of the speeds differ between two such files. */
static Str make_large(Arena *a, size_t copies, int shift)
{
    Buf b;
    Logic l;
    Str text, path = arena_printf(a, "test/data/tensile/logic/%s.yaml", files[0]);
    if (file_read(a, path.s, 1 << 28, &text) || logic_parse(a, "bench", text, NULL, &l))
        printf("%s\n", err_message()), exit(1);
    size_t n = l.n_solutions, n_rows = l.n_rows;
    LogicSolution *solution = ARENA_ARRAY(a, copies * n, LogicSolution);
    LogicRow *row = ARENA_ARRAY(a, copies * n_rows, LogicRow);
    for (size_t i = 0; i < copies * n; i++) {
        solution[i] = l.solution[i % n];
        solution[i].s.WorkGroupMapping = (int32_t)(1 + i / n) + (i % 3 ? 0 : shift);
    }
    for (size_t i = 0; i < copies * n_rows; i++) {
        int64_t *size = ARENA_ARRAY(a, LOGIC_KEY_MAX, int64_t);
        row[i] = l.row[i % n_rows];
        memcpy(size, row[i].size, (size_t)row[i].n * sizeof *size);
        size[2] = (int64_t)(1 + 1000 * (i / n_rows) + (i % 5 ? 0 : (size_t)shift));
        row[i].size = size;
        row[i].solution += (int32_t)(i / n_rows * n);
        row[i].speed += i % 2 ? shift : 0;
    }
    l.solution = solution, l.n_solutions = copies * n;
    l.row = row, l.n_rows = copies * n_rows;
    buf_init(&b);
    if (logic_emit(&l, &b)) printf("%s\n", err_message()), exit(1);
    text = arena_dup(a, buf_view(&b));
    buf_fini(&b);
    return text;
}

static double time_merge(const Str text[2], MergePolicy policy, MergeReport *r)
{
    Arena a;
    Buf said, written;
    Logic l[2], out;
    MergeOptions o = {.policy = policy, .force = FORCE_ALWAYS};
    uint64_t start = clock_ns();
    arena_init(&a, 0);
    buf_init(&said);
    buf_init(&written);
    for (int i = 0; i < 2; i++)
        if (logic_parse(&a, "bench", text[i], NULL, &l[i])) printf("%s\n", err_message()), exit(1);
    if (logic_merge(&a, &l[0], &l[1], &o, &out, r, &said) || logic_emit(&out, &written))
        printf("%s\n", err_message()), exit(1);
    double ms = ms_since(start);
    buf_fini(&said);
    buf_fini(&written);
    arena_fini(&a);
    return ms;
}

/* Read both, merge, make the text; Tensile: 354 s for two files of 4 MB, forced. */
static void bench_merge(void)
{
    static const char *const names[] = {"tensile, forced", "best", "newer"};
    Arena a;
    arena_init(&a, 0);
    Str text[2] = {make_large(&a, 7, 0), make_large(&a, 7, 1)};
    double mb = (double)(text[0].n + text[1].n) / 1e6;
    for (int p = MERGE_TENSILE; p <= MERGE_NEWER; p++) {
        double ms[RUNS];
        char what[80];
        MergeReport r;
        for (int i = 0; i < RUNS; i++) ms[i] = time_merge(text, (MergePolicy)p, &r);
        snprintf(what, sizeof what, "merge %s: %zu replaced, %zu added", names[p], r.n_replaced, r.n_added);
        report(what, ms, mb);
    }
    printf("  two files, %.1f MB together\n", mb);
    arena_fini(&a);
}

/* Cost per size and solution when there are 2, 4, 8 times as many. */
static void bench_linear(MergePolicy policy, const char *name)
{
    double base = 0;
    for (size_t copies = 1; copies <= 8; copies *= 2) {
        Arena a;
        double ms[RUNS];
        char what[80];
        MergeReport r;
        arena_init(&a, 0);
        Str text[2] = {make_large(&a, 4 * copies, 0), make_large(&a, 4 * copies, 1)};
        for (int i = 0; i < RUNS; i++) ms[i] = time_merge(text, policy, &r);
        snprintf(what, sizeof what, "merge %s, %zux: %zu sizes, %zu solutions", name, copies,
                 2 * 1054 * 4 * copies, 2 * 82 * 4 * copies);
        report(what, ms, (double)(text[0].n + text[1].n) / 1e6);
        if (copies == 1) base = ms[RUNS / 2];
        printf("  %.2f times the cost of 1x for each size and solution\n",
               ms[RUNS / 2] / base / (double)copies);
        arena_fini(&a);
    }
}

/* A directory of logic as createlib gets it: n copies of each file under other names. */
static double make_logic(Arena *a, const char *dir, int n)
{
    double mb = 0;
    for (int f = 0; f < N_FILES; f++)
        for (int i = 0; i < n; i++) {
            Str text, from = arena_printf(a, "test/data/tensile/logic/%s.yaml", files[f]);
            Str to = arena_printf(a, "%s/%s_%d.yaml", dir, files[f], i);
            if (file_read(a, from.s, 1 << 28, &text) || file_write(to.s, text))
                printf("%s\n", err_message()), exit(1);
            mb += (double)text.n / 1e6;
        }
    return mb;
}

static void bench_create(int copies)
{
    Arena a;
    CreateReport r;
    CreateOptions o;
    double ms[RUNS];
    char dir[] = "/tmp/tuner-bench-XXXXXX", what[64];
    arena_init(&a, 0);
    if (!mkdtemp(dir)) exit(1);
    Str logic = path_join(&a, dir, "logic"), out = path_join(&a, dir, "out");
    if (dir_make(logic.s)) exit(1);
    double mb = make_logic(&a, logic.s, copies);
    createlib_options_init(&o);
    o.runtime = CREATE_HIP;
    o.logic_path = logic.s;
    o.output_path = out.s;
    o.metadata_only = true;
    for (int i = 0; i < RUNS; i++) {
        uint64_t start = clock_ns();
        Err e = createlib_run(&o, &r);
        if (e && e != ERR_PARTIAL) printf("%s\n", err_message()), exit(1);
        ms[i] = ms_since(start);
    }
    snprintf(what, sizeof what, "createlib metadata, %zu files, %zu solutions", r.n_logic, r.n_solutions);
    report(what, ms, mb);
    printf("  %.1f ms per MB of logic (Tensile: 665); %.1f MB\n", ms[RUNS / 2] / mb, mb);
    (void)dir_remove(dir);
    arena_fini(&a);
}

int main(void)
{
    Arena a;
    Str text;
    arena_init(&a, 0);
    for (int i = 0; i < N_FILES; i++) {
        Str path = arena_printf(&a, "test/data/tensile/logic/%s.yaml", files[i]);
        if (file_read(&a, path.s, 1 << 28, &text)) return printf("%s\n", err_message()), 1;
        bench_read(files[i], text);
    }
    bench_merge();
    bench_linear(MERGE_BEST, "best");
    bench_linear(MERGE_TENSILE, "tensile, forced");
    bench_create(1);
    bench_create(20);
    arena_fini(&a);
    return 0;
}
