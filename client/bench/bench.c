/* tuner-bench: command line. See bench.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/log.h"
#include "base/proc.h"
#include "client/bench/bench.h"
#include "client/bench/bench_conv.h"
#include "client/bench/bench_gpu.h"
#include "client/bench/compare.h"
#include "problem/part.h"

typedef struct {
    BenchCase base;
    tuner_options options;
    const char *library, *yaml, *part, *mapping;
    int64_t n_threads, n_cu;
    bool select_only, launches, comparing;
    CompareOptions compare;
} Arguments;

/* An option of the case, with the names of rocblas-bench's command line and of its YAML files. */
static Err take_case(void *target, const CliOption *o, const char *value)
{
    Arguments *a = target;
    if (o->letter == 'i') a->base.iters_given = true;
    return case_set(&a->base, o->name, str_from(value ? value : "1"));
}

#define TYPES "f32_r f64_r f32_c f64_c f16_r bf16_r i8_r i8x4_r i32_r f8_r bf8_r"
#define CASE(nam, ltr, value, yaml, wrds, hlp)                                                               \
    {                                                                                                        \
        .name = nam, .letter = ltr, .kind = CLI_CALL, .set = take_case, .arg = value, .alias = yaml,         \
        .words = wrds, .help = hlp                                                                           \
    }
#define SWITCH(nam, hlp)                                                                                     \
    {                                                                                                        \
        .name = nam, .kind = CLI_CALL, .takes = CLI_OPTIONAL_WORD, .set = take_case, .arg = "0|1",           \
        .words = "0 1 false true", .help = hlp                                                               \
    }
#define FIELD(f) .offset = offsetof(Arguments, f)

static const CliOption options[] = {
    CLI_VALUE("library", CLI_TEXT, "PATH", library,
              "directory or file; else TUNER_LIBPATH, ROCBLAS_TENSILE_LIBPATH"),
    CASE("function", 'f', "NAME", "rocblas_function",
         "gemm gemm_ex gemm_batched gemm_batched_ex gemm_strided_batched gemm_strided_batched_ex",
         "gemm, gemm_batched, gemm_strided_batched, each also with _ex"),
    CASE("precision", 'r', "T", NULL, TYPES, TYPES " (or s d c z h b)"),
    CASE("a_type", 0, "T", NULL, TYPES, "type of A"),
    CASE("b_type", 0, "T", NULL, TYPES, "type of B"),
    CASE("c_type", 0, "T", NULL, TYPES, "type of C"),
    CASE("d_type", 0, "T", NULL, TYPES, "type of D"),
    CASE("compute_type", 0, "T", NULL, TYPES, "type of products and sums, alpha and beta"),
    CASE("transposeA", 0, "N|T|C", "transA", "N T C", "op of A: as it is, transposed, conjugated"),
    CASE("transposeB", 0, "N|T|C", "transB", "N T C", "op of B"),
    CASE("sizem", 'm', "SIZE", "M", NULL, "rows of D (128)"),
    CASE("sizen", 'n', "SIZE", "N", NULL, "columns of D (128)"),
    CASE("sizek", 'k', "SIZE", "K", NULL, "length of the sums (128)"),
    CASE("lda", 0, "N", NULL, NULL, "leading dimension of A (default: the least)"),
    CASE("ldb", 0, "N", NULL, NULL, "leading dimension of B"),
    CASE("ldc", 0, "N", NULL, NULL, "leading dimension of C"),
    CASE("ldd", 0, "N", NULL, NULL, "leading dimension of D"),
    CASE("stride_a", 0, "N", NULL, NULL, "elements from one A of a batch to the next"),
    CASE("stride_b", 0, "N", NULL, NULL, "elements from one B of a batch to the next"),
    CASE("stride_c", 0, "N", NULL, NULL, "elements from one C of a batch to the next"),
    CASE("stride_d", 0, "N", NULL, NULL, "elements from one D of a batch to the next"),
    CASE("batch_count", 0, "N", "batch", NULL, "matrices in the batch (1)"),
    CASE("alpha", 0, "X", NULL, NULL, "alpha (1)"),
    CASE("alphai", 0, "X", NULL, NULL, "imaginary part of alpha (0)"),
    CASE("beta", 0, "X", NULL, NULL, "beta (0)"),
    CASE("betai", 0, "X", NULL, NULL, "imaginary part of beta (0)"),
    SWITCH("bias_vector", "add a bias to each column of D"),
    CASE("bias_type", 0, "T", NULL, TYPES " default", "type of the bias (default: that of D)"),
    CASE("bias_dim", 0, "M|N", NULL, "M N",
         "the bias has an element for each row (M) or column (N) of D (M)"),
    CASE("activation_type", 0, "NAME", NULL,
         "none abs clippedrelu gelu leakyrelu relu sigmoid tanh silu clamp",
         "none, abs, clippedrelu, gelu, leakyrelu, relu, sigmoid, tanh, silu, clamp (none)"),
    CASE("activation_arg1", 0, "X", NULL, NULL, "first number of clippedrelu, leakyrelu, tanh, clamp (0)"),
    CASE("activation_arg2", 0, "X", NULL, NULL, "second number of clippedrelu, tanh, clamp (inf)"),
    CASE("scaleA", 0, "0|1|2", NULL, "0 1 2", "factor of A: none, a number, a vector along M (0)"),
    CASE("scaleB", 0, "0|1|2", NULL, "0 1 2", "factor of B: none, a number, a vector along N (0)"),
    CASE("scaleC", 0, "0|1", NULL, "0 1", "factor of C: none, a number (0)"),
    CASE("scaleD", 0, "0|1", NULL, "0 1", "factor of D: none, a number (0)"),
    SWITCH("scaleAlpha_vector", "factors of alpha, a vector"),
    CASE("scaleAlpha_dim", 0, "M|N", NULL, "M N", "that vector lies along M or N (M)"),
    CASE("math_mode", 0, "0|1", NULL, "0 1", "1: f32 products may be xf32 or tf32"),
    CASE("iters", 'i', "N", "call_count", NULL, "timed calls or blocks (10)"),
    CASE("cold_iters", 'j', "N", NULL, NULL, "calls before them (2)"),
    CASE("verify", 'v', "0|1", "norm_check", "0 1", "1: check the result"),
    CASE("timing", 0, "race|loop", NULL, "race loop",
         "race: iters blocks of calls as tuner-client times them (GPU: 1 ms each, a graph of short calls, "
         "rests between long ones), us is their median; loop: iters calls one after the other as "
         "rocblas-bench times them, their mean"),
    {.name = "device",
     .kind = CLI_TEXT,
     .arg = "DEVICE",
     FIELD(options.device),
     .words = "host cuda hip",
     .help = "host, cuda, hip or cuda:1 (default: TUNER_DEVICE, or what the library is for)"},
    CASE("rotating", 0, "MB", NULL, NULL, "on a GPU: matrices to rotate over (default: twice its cache)"),
    CASE("initialization", 0, "NAME", NULL,
         "hpl rand_int trig_float zero One Two Random RandomNarrow Uniform Normal",
         "hpl (default), rand_int, trig_float, zero, or tuner-client's One Two Random RandomNarrow Uniform "
         "Normal"),
    CASE("solution_index", 0, "N", NULL, NULL, "index + 1; 0: chosen"),
    CLI_VALUE("mapping", CLI_TEXT, "W[,XCC[,GROUP[,CHUNK]]]", mapping,
              "work-group order of kernels that have it as an argument (default: the library's choice)"),
    CASE("algo", 0, "N", NULL, NULL, "0 or 1, as rocblas-bench takes it; changes nothing"),
    CASE("flags", 0, "N", NULL, NULL,
         "0 to 15, rocblas_gemm_flags: 1 (packed int8) is refused for i8_r, 2 has no effect, 4 and 8 are "
         "fp16_alt_impl and fp16_alt_impl_rnz"),
    CLI_NUMBER("threads", CLI_INT, "N", 1, 1 << 20, n_threads,
               "default: TUNER_NUM_THREADS, or all processors"),
    CLI_VALUE("yaml", CLI_TEXT, "FILE", yaml,
              "problems as '- {rocblas_function: rocblas_sgemm, transA: N, ..., iters: 10}', or a "
              "log or table that 'tuner sizes' reads; its number of calls is --iters unless that is given"),
    CLI_ROW(
        "compare", CLI_FLAG, comparing,
        "compare two libraries on the problems of a file of these kinds: every result is checked, blocks of "
        "calls of both alternate, --iters rounds of them (20)"),
    {.name = "peer",
     .kind = CLI_TEXT,
     .arg = "NAME",
     .words = "cublas openblas",
     FIELD(compare.peer),
     .help = "with --compare: cublas or openblas beside them"},
    CLI_VALUE("csv", CLI_TEXT, "FILE", compare.csv, "with --compare: the table as CSV"),
    CLI_VALUE("json", CLI_TEXT, "FILE", compare.json, "with --compare: and as JSON"),
    CLI_NUMBER(
        "fail-below", CLI_REAL, "RATIO", 0, 1000, compare.fail_below,
        "with --compare: exit code 1 if on some size the interval of LIB2's speed over LIB1's is below it, "
        "twice (for example 0.98)"),
    CLI_ROW(
        "old-plain", CLI_FLAG, compare.old_plain,
        "with --compare: LIB1 runs the problems without bias, activation and scale factors, whose cost the "
        "ratio then is; LIB1 may be LIB2"),
    CLI_ROW(
        "select-only", CLI_FLAG, select_only,
        "read problem lines from standard input, or the problems of --yaml, and print JSON lines with the "
        "chosen solution"),
    CLI_ROW("launches", CLI_FLAG, launches, "the same with the launches: kernels, grids, argument bytes"),
    CLI_VALUE("arch", CLI_TEXT, "NAME", options.arch, "with --select-only: choose as on this architecture"),
    CLI_NUMBER("cus", CLI_INT, "N", 1, 1 << 20, n_cu,
               "with --select-only: choose as for a device of N compute units"),
    CLI_VALUE("part", CLI_TEXT, "NAME", part, "both by product: MI210, 'RX 7900 XT' (tuner --list-targets)"),
};

static const CliCommand command = {
    .operands = "[--compare LIB1 LIB2 FILE]",
    .max = 3,
    .help =
        "times one GEMM, or those of a YAML file; prints rocblas-bench's columns, then a line with '#': the "
        "solution, why it was chosen (exact, nearest, fallback), median time with its 95% interval, the best "
        "one and the number of samples; with -v 1 whether the result is right and how that was found: all "
        "elements, or products of all of D (Freivalds) and a sample of elements",
};
static const CliCommand *const commands[] = {&command};

static const CliProgram program = {
    .name = "tuner-bench",
    .summary = "times GEMMs through libtuner, with rocblas-bench's command lines",
    .command = commands,
    .n_commands = 1,
    CLI_OPTIONS(options),
    .notes =
        "examples:\n"
        "  tuner-bench -f gemm -r f32_r --transposeB T -m 1001 -n 1536 -k 64 -i 10\n"
        "  tuner-bench --yaml problem-sizes.yaml [-v 1]\n"
        "  tuner-bench --select-only [--launches] [--arch gfx90a --cus 104] <LINES\n"
        "  tuner-bench conv --peer onednn -n 64 -c 64 -H 56 -W 56 -k 64 -p 1 -q 1\n"
        "  tuner-bench --compare OLD NEW [--peer cublas] [--fail-below 0.98] app.log\n"
        "\n"
        "exit codes: 0 ok, 1 failed, 2 usage or bad input, 3 some problems have no solution, 4 no device\n",
};

static Err run_cases(Bench *b, BenchCase *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        Err e = bench_run(b, &cases[i]);
        if (e == (Err)TUNER_NO_SOLUTION) {
            warning("%s", tuner_error_message());
            b->n_failed++;
        } else if (e) {
            return e;
        }
    }
    if (b->n_wrong) FAIL(ERR_FAILED, "%zu of %zu results are wrong", b->n_wrong, n);
    if (b->n_failed)
        FAIL(ERR_PARTIAL, "%zu of %zu problems have no solution in '%s'", b->n_failed, n,
             tuner_library_path(b->lib));
    return ERR_OK;
}

static Err run_all(tuner_library *lib, int n_threads, BenchCase *cases, size_t n)
{
    Bench b;
    Err e = bench_open(&b, lib, n_threads);
    if (!e) e = run_cases(&b, cases, n);
    bench_fini(&b);
    return e;
}

/* --part sets architecture and compute units unless --arch and --cus do. */
static Err take_part(Arguments *a)
{
    const Part *part;
    const Target *t = a->options.arch ? target_find(str_from(a->options.arch)) : NULL;
    if (!a->part) return ERR_OK;
    Err e = part_find(str_from(a->part), t, &part);
    if (e) return err_context(e, "--part: ");
    if (!a->options.arch) a->options.arch = part->arch;
    if (!a->options.n_cu) a->options.n_cu = part->n_cu;
    return ERR_OK;
}

static Err set_mapping(tuner_library *lib, const char *text)
{
    int64_t v[4] = {1, 1, 0, 0};
    Str rest = str_from(text ? text : ""), part;
    int n = 0;
    if (!text) return ERR_OK;
    while (str_split(&rest, ',', &part)) {
        if (n == 4 || !str_to_i64(part, &v[n]) || v[n] < 0 || v[n] > INT32_MAX)
            FAIL(ERR_INPUT, "--mapping: '%s', expected W[,XCC[,GROUP[,CHUNK]]]", text);
        n++;
    }
    const tuner_mapping m = {(int32_t)v[0], (int32_t)v[1], (int32_t)v[2], (int32_t)v[3]};
    if (tuner_set_mapping(lib, &m)) FAIL(ERR_INPUT, "--mapping: '%s': %s", text, tuner_error_message());
    return ERR_OK;
}

/* The options of --compare, and those that have no meaning beside it. */
static Err compare(Arena *arena, Arguments *a, const CliLine *line)
{
    if (line->n_operands != 3)
        FAIL(ERR_INPUT, "--compare: %d names, expected LIB1 LIB2 FILE", line->n_operands);
    if (a->library || a->yaml || a->select_only || a->mapping)
        FAIL(ERR_INPUT, "--%s has no meaning with --compare LIB1 LIB2 FILE",
             a->library   ? "library"
             : a->yaml    ? "yaml"
             : a->mapping ? "mapping"
                          : "select-only");
    if (a->base.timing == TIMING_LOOP) FAIL(ERR_INPUT, "--timing loop: --compare times as race does");
    a->compare.library[0] = line->operand[0];
    a->compare.library[1] = line->operand[1];
    a->compare.file = line->operand[2];
    return bench_compare(arena, &a->compare, &a->options, a->options.n_threads, &a->base);
}

static Err compare_only(const Arguments *a, const CliLine *line)
{
    const CompareOptions *c = &a->compare;
    if (line->n_operands)
        FAIL(ERR_INPUT, "unexpected argument '%s' (see tuner-bench --help)", line->operand[0]);
    if (c->peer || c->csv || c->json || c->old_plain || c->fail_below > 0)
        FAIL(ERR_INPUT, "--%s needs --compare",
             c->peer        ? "peer"
             : c->csv       ? "csv"
             : c->json      ? "json"
             : c->old_plain ? "old-plain"
                            : "fail-below");
    return ERR_OK;
}

static Err run(Arena *arena, Arguments *a, const CliLine *line)
{
    tuner_library *lib;
    BenchCase *cases = &a->base;
    size_t n = 1;
    if ((a->options.arch || a->part) && !a->select_only)
        FAIL(ERR_INPUT, "--%s needs --select-only", a->options.arch ? "arch" : "part");
    TRY(take_part(a));
    if (a->comparing) return compare(arena, a, line);
    TRY(compare_only(a, line));
    if (a->yaml)
        TRY(case_read_file(arena, a->yaml, &a->base, &cases, &n));
    else
        TRY(case_finish(cases));
    a->options.select_only = a->select_only;
    TRY((Err)tuner_open(&lib, a->library, &a->options));
    Err e = set_mapping(lib, a->mapping);
    if (!e)
        e = !a->select_only ? run_all(lib, a->options.n_threads, cases, n)
            : a->yaml       ? bench_select_cases(lib, cases, n, a->launches)
                            : bench_select(lib, a->launches);
    tuner_close(lib);
    return e;
}

int main(int argc, char **argv)
{
    Arguments a = {0};
    Arena arena;
    CliLine line;
    log_init("tuner-bench", LOG_NORMAL);
    case_init(&a.base);
    arena_init(&arena, 0);
    if (argc > 1 && !strncmp(argv[1], "conv", 4)) {
        arena_fini(&arena);
        const Err conv = bench_conv(argc - 1, argv + 1);
        return conv ? error_report(conv) : ERR_OK;
    }
    Err e = cli_parse(&program, &a, argc, argv, &line);
    a.select_only |= a.launches;
    a.options.n_threads = (int)a.n_threads;
    a.options.n_cu = a.n_cu;
    if (!e && !line.done) e = run(&arena, &a, &line);
    arena_fini(&arena);
    return e ? error_report(e) : ERR_OK;
}
