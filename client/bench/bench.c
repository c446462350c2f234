/* tuner-bench: command line. See bench.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/proc.h"
#include "client/bench/bench.h"
#include "client/bench/bench_gpu.h"
#include "problem/part.h"

static const char help[] =
    "tuner-bench: time GEMMs through libtuner, with rocblas-bench's command lines\n"
    "\n"
    "  tuner-bench -f gemm -r f32_r --transposeA N --transposeB T -m 1001 -n 1536 -k 64 -i 10\n"
    "  tuner-bench --yaml problem-sizes.yaml [-v 1]\n"
    "  tuner-bench --select-only [--launches] [--arch gfx90a --cus 104] < problem-lines\n"
    "\n"
    "  --library PATH              directory or file; else TUNER_LIBPATH, ROCBLAS_TENSILE_LIBPATH\n"
    "  -f --function NAME          gemm gemm_ex gemm_batched gemm_strided_batched (and _ex)\n"
    "  -r --precision T            f32_r f64_r f32_c f64_c f16_r bf16_r i8_r i8x4_r i32_r f8_r bf8_r "
    "(or s d c z h b)\n"
    "  --a_type --b_type --c_type --d_type --compute_type T\n"
    "  --transposeA --transposeB N|T|C   -m -n -k SIZE   --lda --ldb --ldc --ldd N\n"
    "  --stride_a --stride_b --stride_c --stride_d N     --batch_count N\n"
    "  --alpha --alphai --beta --betai X\n"
    "  --math_mode 0|1             1: f32 products may be xf32 or tf32\n"
    "  -i --iters N (10)  -j --cold_iters N (2)  -v --verify 0|1\n"
    "  --timing race|loop          race: iters blocks of calls as tuner-client times them (GPU: 1 ms each, "
    "a\n"
    "                              graph of short calls, rests between long ones), us is their median; "
    "loop:\n"
    "                              iters calls one behind the other as rocblas-bench times them, their mean\n"
    "  --device host|cuda|hip|cuda:1   default TUNER_DEVICE, or what the library is for\n"
    "  --rotating MB               on a GPU: matrices to rotate over (default: twice its cache)\n"
    "  --initialization hpl|rand_int|trig_float|zero, or tuner-client's One Two Random RandomNarrow Uniform "
    "Normal\n"
    "  --solution_index N          index + 1; 0: chosen\n"
    "  --threads N                 default TUNER_NUM_THREADS, or all processors\n"
    "  --yaml FILE                 problems as '- {rocblas_function: rocblas_sgemm, transA: N, ..., iters: "
    "10}'\n"
    "  --select-only               read problem lines, print JSON lines with the chosen solution\n"
    "  --launches                  with the launches: kernels, grids, argument bytes\n"
    "  --arch NAME --cus N         pretend to be on that hardware (with --select-only)\n"
    "  --part NAME                 the same by product: MI210, 'RX 7900 XT' (tuner --list-targets)\n"
    "  -h --help, --version\n"
    "\n"
    "Prints rocblas-bench's columns, then a line with '#': the solution, why it was chosen (exact, nearest, "
    "fallback),\n"
    "median time with its 95% interval, the best one and the number of samples; with -v 1 whether the result "
    "is "
    "right\n"
    "and how that was found: all elements, or products of all of D (Freivalds) and a sample of elements.\n"
    "Exit codes: 0 ok, 1 failed, 2 usage or bad input, 3 some problems have no solution, 4 no device.\n";

typedef struct {
    BenchCase base;
    tuner_options options;
    const char *library, *yaml, *part;
    bool select_only, launches;
} Arguments;

static const struct {
    char letter;
    const char *name;
} letters[] = {{'f', "function"}, {'r', "precision"}, {'m', "sizem"},      {'n', "sizen"},
               {'k', "sizek"},    {'i', "iters"},     {'j', "cold_iters"}, {'v', "verify"}};

static Err own_option(Arguments *a, const char *name, const char *value, bool *known)
{
    int64_t n = 0;
    bool numeric = strcmp(name, "threads") == 0 || strcmp(name, "cus") == 0;
    *known = true;
    if (numeric && (!str_to_i64(str_from(value), &n) || n < 1 || n > 1 << 20))
        FAIL(ERR_INPUT, "--%s: '%s' is not a number from 1 to %d", name, value, 1 << 20);
    if (strcmp(name, "library") == 0)
        a->library = value;
    else if (strcmp(name, "yaml") == 0)
        a->yaml = value;
    else if (strcmp(name, "arch") == 0)
        a->options.arch = value;
    else if (strcmp(name, "part") == 0)
        a->part = value;
    else if (strcmp(name, "device") == 0)
        a->options.device = value;
    else if (strcmp(name, "threads") == 0)
        a->options.n_threads = (int)n;
    else if (strcmp(name, "cus") == 0)
        a->options.n_cu = n;
    else
        *known = false;
    return ERR_OK;
}

/* "-f", "--function" and "--function=gemm": *name and *value (NULL: the next word). */
static Err split_option(const char *word, char name[64], const char **value)
{
    const char *equals = strchr(word, '=');
    *value = NULL;
    if (word[0] == '-' && word[1] && word[1] != '-') {
        for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
            if (letters[i].letter == word[1]) {
                snprintf(name, 64, "%s", letters[i].name);
                if (word[2]) *value = word + 2;
                return ERR_OK;
            }
        FAIL(ERR_INPUT, "option '%s' is not supported", word);
    }
    if (strncmp(word, "--", 2) != 0) FAIL(ERR_INPUT, "unexpected argument '%s'", word);
    size_t n = equals ? (size_t)(equals - word - 2) : strlen(word) - 2;
    if (n >= 64) FAIL(ERR_INPUT, "option '%s' is not supported", word);
    memcpy(name, word + 2, n);
    name[n] = 0;
    if (equals) *value = equals + 1;
    return ERR_OK;
}

static Err parse(int argc, char **argv, Arguments *a)
{
    for (int i = 1; i < argc; i++) {
        char name[64];
        const char *value;
        bool known;
        if (strcmp(argv[i], "--select-only") == 0 || strcmp(argv[i], "--launches") == 0) {
            a->select_only = true;
            a->launches |= strcmp(argv[i], "--launches") == 0;
            continue;
        }
        TRY(split_option(argv[i], name, &value));
        if (!value && i + 1 == argc) FAIL(ERR_INPUT, "option '%s' needs a value", argv[i]);
        if (!value) value = argv[++i];
        TRY(own_option(a, name, value, &known));
        if (!known) TRY(case_set(&a->base, name, str_from(value)));
    }
    return ERR_OK;
}

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
    const Target *t = target_find(str_from(tuner_library_arch(lib)));
    Bench b = {.lib = lib, .n_threads = n_threads > 0 ? n_threads : cpu_count(), .f8 = t ? t->f8 : F8_NONE};
    TRY(bench_gpu_open(lib, &b.gpu));
    Err e = run_cases(&b, cases, n);
    bench_gpu_close(b.gpu);
    bench_fini(&b);
    return e;
}

/* --part: architecture and compute units, where --arch and --cus do not say them. */
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

static Err run(Arena *arena, Arguments *a)
{
    tuner_library *lib;
    BenchCase *cases = &a->base;
    size_t n = 1;
    if ((a->options.arch || a->part) && !a->select_only)
        FAIL(ERR_INPUT, "--%s needs --select-only", a->options.arch ? "arch" : "part");
    TRY(take_part(a));
    if (a->yaml)
        TRY(case_read_yaml(arena, a->yaml, &a->base, &cases, &n));
    else
        TRY(case_finish(cases));
    a->options.select_only = a->select_only;
    TRY((Err)tuner_open(&lib, a->library, &a->options));
    Err e = a->select_only ? bench_select(lib, a->launches) : run_all(lib, a->options.n_threads, cases, n);
    tuner_close(lib);
    return e;
}

int main(int argc, char **argv)
{
    Arguments a = {0};
    Arena arena;
    log_init("tuner-bench", LOG_NORMAL);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
            fputs(help, stdout);
            return ERR_OK;
        }
        if (strcmp(argv[i], "--version") == 0) {
            printf("tuner-bench %s\n", tuner_version());
            return ERR_OK;
        }
    }
    case_init(&a.base);
    arena_init(&arena, 0);
    Err e = parse(argc, argv, &a);
    if (!e) e = run(&arena, &a);
    arena_fini(&arena);
    return e ? error_report(e) : ERR_OK;
}
