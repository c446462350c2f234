/* ClientParameters.ini. See client_ini.h. */
#include "run/client_ini.h"

#include <inttypes.h>

static const char *const init_names[] = {
    "Zero",     "One",       "Two",        "Random",     "NaN",          "Inf",
    "BadInput", "BadOutput", "SerialIdx",  "SerialDim0", "SerialDim1",   "Identity",
    "TrigSin",  "TrigCos",   "TrigAbsSin", "TrigAbsCos", "RandomNarrow", "NegOne",
    "Max",      "DenormMin", "DenormMax",  "Uniform",    "Normal",
};
enum { N_INIT = sizeof init_names / sizeof *init_names };
static const char *const bounds_names[] = {"Disable", "NaN", "GuardPageFront", "GuardPageBack",
                                           "GuardPageAll"};
static const char *const level_names[] = {"Error", "Terse", "Verbose", "Debug"};

static void text(Buf *out, const char *key, const char *value) { buf_printf(out, "%s=%s\n", key, value); }

static void integer(Buf *out, const char *key, int64_t value)
{
    buf_printf(out, "%s=%" PRId64 "\n", key, value);
}

static void boolean(Buf *out, const char *key, bool value) { text(out, key, value ? "True" : "False"); }

static void real(Buf *out, const char *key, double value) { buf_printf(out, "%s=%.9g\n", key, value); }

static void init(Buf *out, const char *key, int64_t value)
{
    if (value < 0 || value >= N_INIT) value = 0; /* globals.def does not allow such values */
    text(out, key, init_names[value]);
}

static void problem_type_lines(const ClientIni *c, Buf *out)
{
    const ProblemType *pt = c->pt;
    buf_puts(out, "problem-identifier=");
    problem_operation_identifier(pt, out);
    buf_putc(out, '\n');
    text(out, "a-type", type_enum_name(problem_a_type(pt)));
    text(out, "b-type", type_enum_name(problem_b_type(pt)));
    text(out, "c-type", type_enum_name((DataType)pt->DestDataType));
    text(out, "d-type", type_enum_name((DataType)pt->DestDataType));
    text(out, "alpha-type", type_enum_name((DataType)pt->ComputeDataType));
    text(out, "beta-type", type_enum_name((DataType)pt->ComputeDataType));
    text(out, "f32-xdl-math-op", type_enum_name((DataType)pt->F32XdlMathOp));
    if (pt->Fp16AltImpl) boolean(out, "fp16-alt-impl", true);
    if (pt->Fp16AltImplRound) boolean(out, "fp16-alt-impl-round", true);
    boolean(out, "stochastic-rounding", pt->StochasticRounding);
    boolean(out, "high-precision-accumulate", pt->HighPrecisionAccumulate);
    boolean(out, "strided-batched", pt->StridedBatched);
}

static void strides(const ClientIni *c, const ProblemSize *s, const char *key, int tensor, int n_dims,
                    Buf *out)
{
    int64_t resolved[INDEX_MAX];
    buf_printf(out, "%s=", key);
    if (!problem_is_gemm(c->pt)) size_strides(c->pt, s, tensor, resolved);
    for (int i = 0; i < n_dims; i++) {
        int64_t v = problem_is_gemm(c->pt) ? -1 : resolved[i];
        if (s->extra && i < s->extra->n_stride[tensor]) v = s->extra->stride[tensor][i];
        if (i == 1 && problem_is_gemm(c->pt)) v = size_ld(c->pt, s, tensor);
        buf_printf(out, "%s%" PRId64, i ? "," : "", v);
    }
    buf_putc(out, '\n');
}

/* "free,sum,start,end" of each zero pad. */
static void pads(const ClientIni *c, const ProblemSize *s, const char *key, int which, Buf *out)
{
    const TupleList *of = which ? &c->pt->ZeroPadB : &c->pt->ZeroPadA;
    if (of->n == 0) return;
    buf_printf(out, "%s=", key);
    for (int i = 0; i < of->n; i++) {
        const bool given = s->extra && i < s->extra->n_pad[which];
        buf_printf(out, "%s%d,%d,%" PRId64 ",%" PRId64, i ? ";" : "", (int)of->v[i][0], (int)of->v[i][1],
                   given ? s->extra->pad_start[which][i] : of->v[i][2],
                   given ? s->extra->pad_end[which][i] : of->v[i][3]);
    }
    buf_putc(out, '\n');
}

static void size_lines(const ClientIni *c, const ProblemSize *s, Buf *out)
{
    const ProblemType *pt = c->pt;
    buf_puts(out, "problem-size=");
    for (int i = 0; i < pt->TotalIndices; i++) buf_printf(out, "%s%" PRId64, i ? "," : "", s->v[i]);
    buf_putc(out, '\n');
    strides(c, s, "a-strides", LD_A, pt->IndexAssignmentsA.n, out);
    strides(c, s, "b-strides", LD_B, pt->IndexAssignmentsB.n, out);
    strides(c, s, "c-strides", LD_C, pt->NumIndicesC, out);
    strides(c, s, "d-strides", LD_D, pt->NumIndicesC, out);
    pads(c, s, "a-zero-pads", 0, out);
    pads(c, s, "b-zero-pads", 1, out);
}

static void data_lines(const ClientIni *c, Buf *out)
{
    const Globals *g = c->g;
    int64_t a = g->DataInitTypeA < 0 ? g->DataInitTypeAB : g->DataInitTypeA;
    int64_t b = g->DataInitTypeB < 0 ? g->DataInitTypeAB : g->DataInitTypeB;
    init(out, "init-a", a);
    init(out, "init-b", b);
    init(out, "init-c", g->DataInitTypeC);
    init(out, "init-d", g->DataInitTypeD);
    init(out, "init-alpha", g->DataInitTypeAlpha);
    init(out, "init-beta", c->pt->UseBeta ? g->DataInitTypeBeta : 0);
    boolean(out, "c-equal-d", g->CEqualD);
    integer(out, "offset-a", g->BufferOffsetA);
    integer(out, "offset-b", g->BufferOffsetB);
    integer(out, "offset-c", g->BufferOffsetC);
    integer(out, "offset-d", g->BufferOffsetD);
}

static void debug_lines(const Globals *g, Buf *out)
{
    if (g->PrintTensorA) boolean(out, "print-tensor-a", true);
    if (g->PrintTensorB) boolean(out, "print-tensor-b", true);
    if (g->PrintTensorC) boolean(out, "print-tensor-c", true);
    if (g->PrintTensorD) boolean(out, "print-tensor-d", true);
    if (g->PrintTensorRef) boolean(out, "print-tensor-ref", true);
    if (g->DumpTensors) boolean(out, "dump-tensors", true);
    if (g->ExitOnFails > 1) boolean(out, "exit-on-error", true);
}

static void check_lines(const Globals *g, Buf *out)
{
    text(out, "bounds-check", bounds_names[g->BoundsCheck]);
    boolean(out, "print-valids", g->ValidationPrintValids);
    integer(out, "print-max", g->ValidationMaxToPrint);
    integer(out, "num-elements-to-validate", g->NumElementsToValidate);
}

const char *peer_name(int64_t peer)
{
    static const char *const names[] = {"", "cublas", "openblas"};
    return names[peer];
}

static void timing_lines(const Globals *g, Buf *out)
{
    static const char *const method[] = {"auto", "loop", "race"};
    integer(out, "num-warmups", g->NumWarmups);
    integer(out, "num-enqueues-per-sync", g->EnqueuesPerSync);
    integer(out, "num-syncs-per-benchmark", g->SyncsPerBenchmark);
    boolean(out, "use-gpu-timer", g->KernelTime);
    boolean(out, "hardware-monitor", g->HardwareMonitor);
    integer(out, "flush-count", g->FlushCount);
    integer(out, "flush-memory-size", g->FlushMemorySize);
    integer(out, "sleep-percent", g->SleepPercent);
    if (g->TimingMethod) text(out, "timing", method[g->TimingMethod]);
    if (g->Peer) text(out, "peer", peer_name(g->Peer));
}

static void model_lines(const Globals *g, Buf *out)
{
    real(out, "perf-l2-read-hits", g->PerfModelL2ReadHits);
    real(out, "perf-l2-write-hits", g->PerfModelL2WriteHits);
    real(out, "perf-l2-read-bw-mul", g->PerfModelL2ReadBwMul);
    real(out, "perf-read-efficiency", g->PerfModelReadEfficiency);
    boolean(out, "csv-export-extra-cols", g->CSVExportWinner);
    boolean(out, "csv-merge-same-problems", g->CSVMergeSameProblemID);
    text(out, "log-level", level_names[g->ClientLogLevel]);
}

static void limit_lines(const Globals *g, Buf *out)
{
    integer(out, "max-workspace-size", g->MaxWorkspaceSize);
    real(out, "granularity-threshold", g->GranularityThreshold);
    boolean(out, "pristine-on-gpu", g->PristineOnGPU);
}

Err client_ini_write(const ClientIni *c, Buf *out)
{
    const Globals *g = c->g;
    buf_printf(out, "library-file=%.*s\n", STR_ARG(c->library_file));
    for (size_t i = 0; i < c->n_code_objects; i++)
        buf_printf(out, "code-object=%.*s\n", STR_ARG(c->code_object[i]));
    buf_printf(out, "results-file=%.*s\n", STR_ARG(c->results_file));
    text(out, "performance-metric",
         g->PerformanceMetric == METRIC_CU_EFFICIENCY ? "CUEfficiency" : "DeviceEfficiency");
    problem_type_lines(c, out);
    for (size_t i = 0; i < c->n_sizes; i++) size_lines(c, &c->size[i], out);
    integer(out, "device-idx", c->device);
    data_lines(c, out);
    debug_lines(g, out);
    check_lines(g, out);
    integer(out, "num-benchmarks", g->NumBenchmarks);
    timing_lines(g, out);
    model_lines(g, out);
    limit_lines(g, out);
    buf_printf(out, "library-update-file=%.*s\n", STR_ARG(g->LibraryUpdateFile));
    boolean(out, "library-update-comment", g->LibraryUpdateComment);
    if (g->PrintWinnersOnly) boolean(out, "print-winners-only", true);
    if (c->best_solution) boolean(out, "best-solution", true);
    buf_printf(out, "device=%.*s\n", STR_ARG(c->device_kind));
    if (c->sim.n) buf_printf(out, "sim=%.*s\n", STR_ARG(c->sim));
    if (c->n_held_out) integer(out, "race-all-from", (int64_t)(c->n_sizes - c->n_held_out));
    return buf_check(out);
}

Err client_ini_setting(const ClientIni *c, Str environment, Buf *out)
{
    buf_str(out, environment);
    integer(out, "device-idx", c->device);
    data_lines(c, out);
    integer(out, "bounds-check", c->g->BoundsCheck);
    integer(out, "num-elements-to-validate", c->g->NumElementsToValidate);
    timing_lines(c->g, out);
    limit_lines(c->g, out);
    return buf_check(out);
}
