/* tuner-bench conv: command line and output. See bench_conv.h. */
#include "client/bench/bench_conv.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cli.h"
#include "base/fs.h"
#include "base/log.h"
#include "fmt/command.h"
#include "workload/workload.h"

typedef struct {
    const char *library, *peer, *device, *fill;
    int64_t n_threads, seed;
    bool every_solution;
    ConvBench bench;
    size_t n, n_wrong, n_without; /* convolutions; results; those that the library does not run */
    double log_ratio;             /* sum of the logarithms of the peer's time over ours */
    size_t n_ratio;
} Command;

#define FIELD(f) .offset = offsetof(Command, f)
static const CliOption options[] = {
    CLI_VALUE("library", CLI_TEXT, "PATH", library,
              "library whose convolutions run: directory or file; else TUNER_LIBPATH, "
              "ROCBLAS_TENSILE_LIBPATH; else none"),
    {.name = "peer",
     .kind = CLI_TEXT,
     .arg = "NAME",
     .words = "cudnn onednn",
     FIELD(peer),
     .help = "another library beside ours, in alternating blocks: cudnn or onednn; with neither a library "
             "nor a peer, problems are only printed"},
    {.name = "device",
     .kind = CLI_TEXT,
     .arg = "DEVICE",
     FIELD(device),
     .words = "host cuda hip",
     .help = "host, cuda, hip or cuda:1 (default: the library's, or the peer's)"},
    CLI_NUMBER("threads", CLI_INT, "N", 1, 1 << 20, n_threads,
               "threads of library and peer on the host, of data and of checks (default: all processors)"),
    CLI_VALUE("initialization", CLI_TEXT, "NAME", fill,
              "numbers of the operands, as tuner-client has them (Normal; Random of integers)"),
    CLI_NUMBER("seed", CLI_INT, "N", 0, INT32_MAX, seed, "of random numbers (0)"),
    {.name = "every-solution",
     .kind = CLI_FLAG,
     FIELD(every_solution),
     .help = "run each solution of the library that takes a convolution, not only the library's choice"},
};

static const CliCommand command = {
    .operands = "[FILE...] [MIOpenDriver's options]",
    .max = 64,
    .help = "convolutions of a line of MIOpenDriver, or of logs with such lines: problem, time of the "
            "library and "
            "of a peer, and whether results are right",
};
static const CliCommand *const commands[] = {&command};

static const CliProgram program = {
    .name = "tuner-bench conv",
    .summary = "times convolutions",
    .command = commands,
    .n_commands = 1,
    CLI_OPTIONS(options),
    .notes = "MIOpenDriver's options, short or long, describe one convolution: -n -c -H -W -k -y -x -p -q -u "
             "-v -l "
             "-j -g, -F (1 forward, 2 data, 4 weights, sums; 0 all), -I -f -O (formats), -_ 3 with -! -@ -# "
             "-$ -^, "
             "-m trans, -z same; -i is the number of timed blocks (10; 0: results are only checked), -V 0 "
             "leaves the check out. convfp16, convbfp16 and convint8 in place of conv choose the types.\n\n"
             "examples:\n"
             "  tuner-bench convfp16 --library out --peer cudnn -n 64 -c 64 -H 56 -W 56 -k 64 -F 1\n"
             "  tuner-bench conv --library out --peer onednn --threads 1 app.log\n"
             "\n"
             "exit codes: 0 ok, 1 failed, 2 usage or bad input, 3 the library has no kernel for some, 4 no "
             "device\n",
};

/* ---- output ---- */

static void header_print(void)
{
    puts("convolution,gflop,by,algorithm,gflops,us,us_lo,us_hi,blocks,norm_error_1,check");
}

static void check_print(const ConvDesc *c, const Check *k, Buf *out)
{
    const int64_t total = conv_elements(c, conv_result(c));
    const double error = k->want > 0 ? k->diff / k->want : k->diff;
    buf_printf(out, ",%.3g,%s", isnan(error) ? (double)INFINITY : error, k->passed ? "right" : "WRONG");
    if (k->n_checked >= total)
        buf_printf(out, ": all %" PRId64 " elements", total);
    else
        buf_printf(out, ": all %" PRId64 " elements by sums; %" PRId64 " one by one", total, k->n_checked);
    if (k->text[0]) buf_printf(out, "; %s", k->text);
}

/* One party's line. */
static void times_print(const Command *m, const ConvDesc *c, ConvSide side, const ConvTimes *t, Buf *out)
{
    const Summary *ns = &t->ns;
    conv_desc_print(c, out);
    buf_printf(out, ",%.6g,%s", conv_flops(c) * 1e-9, side == CONV_PEER ? m->bench.peer->version : "tuner");
    if (!t->ran) {
        buf_printf(out, ",,,,,,,,%s\n", t->why);
        return;
    }
    buf_printf(out, ",%s", t->algorithm);
    if (ns->n)
        buf_printf(out, ",%.6g,%.6g", conv_flops(c) / ns->median, ns->median / 1000);
    else
        buf_puts(out, ",,");
    if (ns->level > 0)
        buf_printf(out, ",%.6g,%.6g", ns->lo / 1000, ns->hi / 1000);
    else
        buf_puts(out, ",,");
    buf_printf(out, ",%zu", ns->n);
    if (m->bench.verify)
        check_print(c, &t->check, out);
    else
        buf_puts(out, ",,");
    buf_putc(out, '\n');
    if (!ns->n) return;
    buf_puts(out, "# ");
    if (side == CONV_PEER) buf_printf(out, "fastest of %d algorithms", t->n_algos - t->n_left);
    if (t->n_left) buf_printf(out, " (%d more fail)", t->n_left);
    buf_printf(out, "%sblocks of %" PRId64 " calls%s over %" PRId64 " sets of tensors",
               side == CONV_PEER ? "; " : "", t->n_calls, t->graph ? " in a graph" : "", m->bench.n_sets);
    if (m->bench.n_sets < m->bench.n_wanted) buf_printf(out, " (%" PRId64 " wanted)", m->bench.n_wanted);
    buf_putc(out, '\n');
}

/* ---- convolutions ---- */

static void ratio_print(Command *m, const ConvTimes t[CONV_SIDES], Buf *out)
{
    if (!t[CONV_OURS].ran || !t[CONV_PEER].ran || !m->bench.n_blocks) return;
    const double ratio = t[CONV_PEER].ns.median / t[CONV_OURS].ns.median;
    buf_printf(out, "# %.4g times the peer's speed\n", ratio);
    m->log_ratio += log(ratio);
    m->n_ratio++;
}

static Err sides_run(Command *m, const ConvDesc *c, Buf *text)
{
    ConvTimes t[CONV_SIDES];
    TRY(conv_bench_run(&m->bench, c, t));
    for (int side = 0; side < CONV_SIDES; side++) {
        if (!conv_bench_has(&m->bench, (ConvSide)side)) continue;
        times_print(m, c, (ConvSide)side, &t[side], text);
        m->n_wrong += m->bench.verify && t[side].ran && !t[side].check.passed;
    }
    m->n_without += m->bench.lib && !t[CONV_OURS].ran;
    ratio_print(m, t, text);
    return ERR_OK;
}

/* The solutions of the library that take the convolution, one after another. */
static Err each_run(Command *m, const ConvDesc *c, Buf *text)
{
    const int64_t n = (int64_t)tuner_library_solutions(m->bench.lib);
    size_t taken = 0;
    for (m->bench.solution = 1; m->bench.solution <= n; m->bench.solution++) {
        if (!conv_bench_can(&m->bench, c)) continue;
        TRY(sides_run(m, c, text));
        taken++;
    }
    m->n_without += !taken;
    return ERR_OK;
}

static Err run_one(Command *m, const ConvDesc *c)
{
    Buf text;
    Err e = ERR_OK;
    buf_init(&text);
    m->n++;
    if (m->every_solution) {
        e = each_run(m, c, &text);
    } else if (m->bench.lib || m->bench.peer) {
        e = sides_run(m, c, &text);
    } else {
        conv_desc_print(c, &text);
        buf_printf(&text, ",%.6g,,,,,,,,,\n", conv_flops(c) * 1e-9);
    }
    if (!e) e = buf_check(&text);
    if (!e) {
        fwrite(text.s, 1, text.n, stdout);
        fflush(stdout);
    }
    buf_fini(&text);
    return e;
}

static Err run_file(Command *m, const char *path)
{
    Workload w;
    workload_init(&w);
    w.as_convolution = true;
    Err e = workload_read(&w, path);
    size_t n_gemms = 0;
    for (size_t i = 0; i < w.call.n; i++) n_gemms += !w.call.v[i].conv;
    if (!e)
        for (size_t i = 0; i < w.skip.n; i++)
            notice("%.*s:%" PRId64 ": left out: %.*s (%" PRId64 " in all)", STR_ARG(w.skip.v[i].file),
                   w.skip.v[i].line, STR_ARG(w.skip.v[i].reason), w.skip.v[i].count);
    if (!e && n_gemms) notice("%s: left out: %zu sizes of GEMMs", path, n_gemms);
    if (!e && n_gemms == w.call.n)
        e = err_set(ERR_INPUT, "%s: no line is a convolution (%" PRId64 " lines read)", path, w.n_lines);
    for (size_t i = 0; i < w.call.n && !e; i++)
        if (w.call.v[i].conv) e = run_one(m, w.call.v[i].conv);
    workload_fini(&w);
    return e;
}

static Err run_line(Command *m, const MiopenConv *line)
{
    for (int i = 0; i < line->n; i++) TRY(run_one(m, &line->conv[i]));
    return ERR_OK;
}

static const char *library_of_environment(void)
{
    const char *path = getenv("TUNER_LIBPATH");
    if (!path || !*path) path = getenv("ROCBLAS_TENSILE_LIBPATH");
    return path && *path ? path : NULL;
}

static Err end(const Command *m)
{
    if (m->n_ratio > 1)
        printf("# geometric mean over %zu convolutions: %.4g times the peer's speed\n", m->n_ratio,
               exp(m->log_ratio / (double)m->n_ratio));
    if (m->n_wrong) FAIL(ERR_FAILED, "%zu results for %zu convolutions are wrong", m->n_wrong, m->n);
    if (m->n_without)
        FAIL(ERR_PARTIAL, "the library has no kernel for %zu of %zu convolutions", m->n_without, m->n);
    return ERR_OK;
}

static Err run(Command *m, const CliLine *files, const MiopenConv *line)
{
    ConvBench *b = &m->bench;
    b->n_threads = m->n_threads > 0 ? (int)m->n_threads : cpu_count();
    b->seed = (uint64_t)m->seed;
    b->n_blocks = line->iters > CONV_BLOCKS_MAX ? CONV_BLOCKS_MAX : line->iters;
    b->verify = line->verify;
    b->fill = INIT_NORMAL, b->fill_integers = INIT_RANDOM;
    if (m->fill) {
        TRY(init_find(str_from(m->fill), &b->fill));
        b->fill_integers = b->fill;
    }
    const ConvParties parties = {m->device, m->library ? m->library : library_of_environment(), m->peer};
    if (!parties.library && m->every_solution) FAIL(ERR_INPUT, "--every-solution needs --library");
    if (!parties.library && !m->peer && m->device) FAIL(ERR_INPUT, "--device needs --library or --peer");
    if (parties.library || m->peer) TRY(conv_bench_open(b, &parties));
    header_print();
    for (int i = 0; i < files->n_operands; i++) TRY(run_file(m, files->operand[i]));
    if (!files->n_operands) TRY(run_line(m, line));
    return end(m);
}

/* ---- command line ---- */

/* Whether a word is an option of this program, or the value of the one before. */
static bool is_own(const char *word, bool *takes_next)
{
    static const char *const others[] = {"--help", "-h", "--version", "--help-man", "--help-completion"};
    const Str w = str_from(word);
    const Str name = str_sub(w, 0, str_find(w, '=', 0));
    *takes_next = false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (str_eq_c(name, others[i])) return true;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!str_starts(name, "--") || !str_eq_c(str_sub(name, 2, name.n), options[i].name)) continue;
        *takes_next = name.n == w.n && options[i].kind != CLI_FLAG;
        return true;
    }
    return false;
}

/* Deals the words: own ones to `own`, those of MIOpenDriver to its options. Words without a dash that follow
 * no option are files. */
static Err deal(int argc, char **argv, char **own, int *n_own, MiopenOptions *o, bool *described)
{
    for (int i = 1; i < argc; i++) {
        bool takes_next, known;
        if (is_own(argv[i], &takes_next) || argv[i][0] != '-') {
            own[(*n_own)++] = argv[i];
            if (takes_next && i + 1 < argc) own[(*n_own)++] = argv[++i];
            continue;
        }
        Str value = STR_NULL, rest = i + 1 < argc ? str_from(argv[i + 1]) : STR_NULL, before = rest;
        const Str word = str_from(argv[i]);
        const char *option = argv[i];
        const Str name = command_option(word, &rest, &value);
        if (rest.n != before.n) i++; /* the next word is the value */
        TRY(miopen_set(o, name, value, &known));
        if (!known) FAIL(ERR_INPUT, "unknown option '%s' (see tuner-bench conv --help)", option);
        *described |= !str_eq_c(name, "i") && !str_eq_c(name, "iter") && !str_eq_c(name, "V") &&
                      !str_eq_c(name, "verify") && !str_eq_c(name, "t") && !str_eq_c(name, "time");
    }
    return ERR_OK;
}

static Err start(Command *m, int argc, char **argv, char **own)
{
    MiopenOptions o;
    MiopenConv line;
    CliLine files;
    int n_own = 1;
    bool described = false;
    own[0] = argv[0];
    if (!miopen_init(&o, str_from(argv[0])))
        FAIL(ERR_INPUT, "'%s', expected conv, convfp16, convbfp16, convint8, convfp8 or convbfp8", argv[0]);
    TRY(deal(argc, argv, own, &n_own, &o, &described));
    TRY(cli_parse(&program, m, n_own, own, &files));
    if (files.done) return ERR_OK;
    if (files.n_operands && described)
        FAIL(ERR_INPUT,
             "'%s': a file has its own convolutions, expected no other options of MIOpenDriver than -i "
             "and -V",
             files.operand[0]);
    TRY(miopen_finish(&o, &line));
    return run(m, &files, &line);
}

Err bench_conv(int argc, char **argv)
{
    Command m = {0};
    char **own = calloc((size_t)argc + 1, sizeof *own);
    if (!own) FAIL(ERR_FAILED, "out of memory");
    Err e = start(&m, argc, argv, own);
    conv_bench_close(&m.bench);
    free(own);
    return e;
}
