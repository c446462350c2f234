/* The last steps: makes a library for applications from the logic (4_LibraryClient), and prints the summary
 * of the run. See run.h.
 */
#include "run/run.h"

#include <unistd.h>

#include "base/fs.h"
#include "base/own.h"
#include "run/busy.h"
#include "run/client_ini.h"
#include "run/hint.h"
#include "createlib/createlib.h"
#include "measure/query.h"
#include "report/winners.h"

static bool kept(Run *r)
{
    Str dir, *names;
    size_t n = 0;
    if (r->config->globals.ForceRedoLibraryClient) return false;
    if (run_path(r, &dir, "%.*s/library", STR_ARG(r->config->globals.LibraryClientPath)) ||
        !dir_exists(dir.s))
        return false;
    return !dir_list(&r->arena, dir.s, "", false, &names, &n) && n > 0;
}

static Err options_fill(Run *r, CreateOptions *o)
{
    const Globals *g = &r->config->globals;
    Str logic, output, cache;
    TRY(run_path(r, &logic, "%.*s", STR_ARG(g->LibraryLogicPath)));
    TRY(run_path(r, &output, "%.*s", STR_ARG(g->LibraryClientPath)));
    TRY(run_path(r, &cache, "%.*s/cache", STR_ARG(g->ClientBuildPath)));
    createlib_options_init(o);
    o->logic_path = logic.s;
    o->output_path = output.s;
    o->logic_file = r->logic_file;
    o->n_logic_files = r->n_logic_files;
    o->cache_dir = cache.s;
    static const CreateRuntime runtimes[] = {
        [TARGET_HOST] = CREATE_HOST, [TARGET_NVPTX] = CREATE_CUDA, [TARGET_AMDGCN] = CREATE_HIP};
    o->runtime = runtimes[r->target->family];
    if (o->runtime == CREATE_HIP && g->RuntimeLanguage == RUNTIME_HSA) o->runtime = CREATE_HSA;
    o->code_object_version = g->CodeObjectVersion == CODE_OBJECT_V5 ? 5 : 0;
    o->format = g->LibraryFormat == FORMAT_YAML ? LIBRARY_YAML : LIBRARY_MSGPACK;
    o->architecture = "all"; /* all architectures of the logic, whose files are named after the schedule */
    o->embed_library = g->EmbedLibrary.n ? arena_dup(&r->arena, g->EmbedLibrary).s : NULL;
    o->c_compiler = r->o->cc;
    o->cxx_compiler = run_compiler(r);
    o->num_merged_files = (int)g->NumMergedFiles;
    o->no_spills = !r->o->allow_spills && !r->o->compile_only; /* as in the benchmark */
    o->jobs = r->o->jobs ? (int)r->o->jobs : g->CpuThreads > 0 ? (int)g->CpuThreads : 0;
    o->verbose = log_level() > LOG_NORMAL;
    o->merge_files = g->MergeFiles;
    o->separate_architectures = g->SeparateArchitectures;
    o->lazy = g->LazyLibraryLoading;
    o->generate_manifest_and_exit = g->GenerateManifestAndExit;
    o->verify_manifest = g->VerifyManifest;
    return 0;
}

/* Writes an ini file per size-group with which a user can run the client on the library: it times the
 * solution that the library chooses for each size. */
static Err best_ini_write(Run *r, const Group *g, const Str *object, size_t n, Buf *text)
{
    const Globals *o = &r->config->globals;
    Str path,
        library =
            arena_printf(&r->arena, "../library/TensileLibrary%s",
                         library_suffix(o->LibraryFormat == FORMAT_YAML ? LIBRARY_YAML : LIBRARY_MSGPACK));
    Str results = arena_printf(&r->arena, "../source/%.*s.csv", STR_ARG(g->name));
    if (!library.s || !results.s) FAIL(ERR_FAILED, "out of memory");
    TRY(run_path(r, &path, "%.*s/source/ClientParameters_%.*s.ini", STR_ARG(o->LibraryClientPath),
                 STR_ARG(g->name)));
    ClientIni ini = {.g = o,
                     .pt = &g->problem->pt,
                     .size = g->size,
                     .n_sizes = g->n_sizes,
                     .library_file = library,
                     .results_file = results,
                     .code_object = object,
                     .n_code_objects = n,
                     .device_kind = r->device.kind,
                     .sim = r->device.sim,
                     .device = r->device.index,
                     .best_solution = true};
    buf_reset(text);
    TRY(client_ini_write(&ini, text));
    TRY(path_no_link(path.s));
    return file_write(path.s, buf_view(text));
}

/* Paths of the library's code objects, relative to the ini. */
static Err code_files(Run *r, const char *dir, Str **file, size_t *n)
{
    static const char *const more[] = {[TARGET_AMDGCN] = ".co", [TARGET_NVPTX] = NULL, [TARGET_HOST] = NULL};
    const char *suffix[] = {target_code_suffix(r->target), more[r->target->family]};
    Str *name[2] = {NULL, NULL};
    size_t count[2] = {0, 0};
    for (int k = 0; k < 2; k++)
        if (suffix[k]) TRY(dir_list(&r->arena, dir, suffix[k], false, &name[k], &count[k]));
    TRY_ALLOC(*file = ARENA_ARRAY(&r->arena, count[0] + count[1], Str));
    *n = 0;
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < count[k]; i++) {
            (*file)[*n] = arena_printf(&r->arena, "../library/%.*s", STR_ARG(name[k][i]));
            TRY_ALLOC((*file)[(*n)++].s);
        }
    return 0;
}

static Err best_write(Run *r, Buf *text, Buf *script)
{
    const Globals *o = &r->config->globals;
    Str library, source, build, sh, *object;
    size_t n = 0;
    TRY(run_path(r, &library, "%.*s/library", STR_ARG(o->LibraryClientPath)));
    TRY(run_path(r, &source, "%.*s/source", STR_ARG(o->LibraryClientPath)));
    TRY(run_path(r, &build, "%.*s/build", STR_ARG(o->LibraryClientPath)));
    TRY(run_path(r, &sh, "%.*s/build/run.sh", STR_ARG(o->LibraryClientPath)));
    TRY(dir_make(source.s));
    TRY(dir_make(build.s));
    TRY(code_files(r, library.s, &object, &n));
    buf_puts(script, "#!/bin/sh\n# The library's choice for each size, run by the client\nset -ex\n"
                     "cd \"$(dirname \"$0\")\"\n");
    for (size_t i = 0; i < r->n_groups; i++) {
        const Group *g = &r->group[i];
        if (g->skip) continue;
        TRY(best_ini_write(r, g, object, n, text));
        buf_printf(script, "'%.*s' --config-file ../source/ClientParameters_%.*s.ini %.*s\n",
                   STR_ARG(r->client), STR_ARG(g->name), STR_ARG(o->ClientArgs));
    }
    TRY(buf_check(script));
    TRY(path_no_link(sh.s));
    return file_write(sh.s, buf_view(script));
}

static Err best_files(Run *r)
{
    Buf text, script;
    buf_init(&text);
    buf_init(&script);
    Err e = best_write(r, &text, &script);
    buf_fini(&text);
    buf_fini(&script);
    return e;
}

static Err library_no_links(Run *r)
{
    Str dir;
    TRY(run_path(r, &dir, "%.*s/library", STR_ARG(r->config->globals.LibraryClientPath)));
    return dir_no_links(dir.s);
}

Err step_pack(Run *r)
{
    CreateOptions o;
    CreateReport report = {0};
    if (kept(r)) {
        notice("pack: kept what is in %.*s (ForceRedoLibraryClient is off)",
               STR_ARG(r->config->globals.LibraryClientPath));
        return 0;
    }
    TRY(run_check());
    TRY(options_fill(r, &o));
    TRY(library_no_links(r));
    Err e = createlib_run(&o, &report);
    r->n_left_out = report.n_left_out;
    if (e && e != ERR_PARTIAL) return e;
    if (!o.embed_library && !o.lazy && !o.separate_architectures) TRY(best_files(r));
    notice("pack: %zu solutions, %zu kernels, %zu files in %s/library", report.n_solutions, report.n_kernels,
           report.n_files, o.output_path);
    return 0;
}

/* The chosen solutions of the groups, in the order of the plans. */
static Err chosen_of(Run *r, const PlanView *plans, size_t n, const size_t *const **out)
{
    const size_t **chosen = ARENA_ARRAY(&r->arena, n, const size_t *);
    TRY_ALLOC(chosen);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < r->n_groups; k++)
            if (!r->group[k].skip && r->group[k].plan == plans[i].id) chosen[i] = r->group[k].chosen;
    *out = chosen;
    return 0;
}

static Err winners_print(Run *r)
{
    PlanView *plans;
    size_t n;
    TRY(plans_latest(&r->store, &r->arena, &plans, &n));
    printf("\nwhat the library uses (tie: the samples cannot tell the two apart, and it takes\n"
           "the one that wins more sizes; few: fewer than 6 samples, so that the interval\n"
           "holds with less than 95%%)\n");
    WinnersOptions o = {.max = log_level() > LOG_NORMAL ? 0 : WINNERS_MAX,
                        .width = terminal_width(STDOUT_FILENO),
                        .covered = r->config->globals.MaxLoss > 0};
    if (o.covered) printf("(left: MaxLoss left out a faster kernel)\n");
    TRY(chosen_of(r, plans, n, &o.chosen));
    TRY(report_winners(&r->store, plans, n, &o, stdout));
    return n && plans[0].n_sizes ? explain_hint_print(&r->arena, r->outdir, &plans[0].size[0]) : ERR_OK;
}

/* Name of a type in tuner-bench and rocblas-bench. */
static const char *bench_type(int32_t type)
{
    switch (type) {
    case TYPE_D:
        return "f64_r";
    case TYPE_C:
        return "f32_c";
    case TYPE_Z:
        return "f64_c";
    case TYPE_H:
        return "f16_r";
    case TYPE_B:
        return "bf16_r";
    case TYPE_I8:
        return "i8_r";
    case TYPE_4XI8:
        return "i8x4_r";
    case TYPE_I:
        return "i32_r";
    case TYPE_F8:
        return "f8_r";
    case TYPE_B8:
        return "bf8_r";
    default:
        return "f32_r";
    }
}

static const char *letter(bool transpose, bool conjugate) { return !transpose ? "N" : conjugate ? "C" : "T"; }

/* rocBLAS, and therefore libtuner, only selects solutions of problem types with a batch index. */
static bool only_unbatched(const Run *r)
{
    for (size_t i = 0; i < r->n_groups; i++)
        if (r->group[i].problem->pt.Batched || r->group[i].problem->pt.OperationType >= OP_CONV_FORWARD)
            return false;
    return r->n_groups > 0;
}

static void usage_print(Run *r)
{
    if (only_unbatched(r)) {
        notice(
            "\nthe library is for problems without a batch index; rocBLAS, libtuner and tuner-bench ask for "
            "'Batched: True'");
        return;
    }
    const Group *g = r->n_groups && !r->group[0].skip ? &r->group[0] : NULL;
    if (g && g->problem->pt.DataType != g->problem->pt.ComputeDataType &&
        !g->problem->pt.HighPrecisionAccumulate)
        printf("\nthe library is for 'HighPrecisionAccumulate: False'; rocBLAS, libtuner and tuner-bench ask "
               "for True of these types\n");
    Buf words;
    buf_init(&words);
    buf_puts(&words, "TUNER_LIBPATH=");
    Str library;
    if (run_path(r, &library, "%.*s/library", STR_ARG(r->config->globals.LibraryClientPath)))
        verbose("%s", err_message());
    else
        shell_word(library, &words);
    buf_putc(&words, ' ');
    if (program_word(&r->arena, "tuner-bench", &words)) verbose("%s", err_message());
    printf("\nto use the library:\n  %s", buf_cstr(&words));
    buf_fini(&words);
    if (g && g->problem->pt.OperationType >= OP_CONV_FORWARD) {
        printf(" conv app.log   # MIOpenDriver lines of convolutions of these types and formats\n");
        return;
    }
    if (!g || !problem_is_gemm(&g->problem->pt) || !g->n_sizes) {
        printf(" -f gemm -r f32_r -m 512 -n 512 -k 512\n");
        return;
    }
    const ProblemType *pt = &g->problem->pt;
    const ProblemSize *z = &g->size[g->n_sizes - g->n_held_out - 1];
    const char *batched = pt->StridedBatched ? "" : "_batched";
    bool mixed = pt->DataType != pt->ComputeDataType || pt->DataType != pt->DestDataType;
    if (mixed)
        printf(" -f gemm%s_ex --a_type %s --b_type %s --c_type %s --d_type %s --compute_type %s", batched,
               bench_type((int32_t)problem_a_type(pt)), bench_type((int32_t)problem_b_type(pt)),
               bench_type(pt->DestDataType), bench_type(pt->DestDataType), bench_type(pt->ComputeDataType));
    else
        printf(" -f gemm%s -r %s", batched, bench_type(pt->DataType));
    printf(" --transposeA %s --transposeB %s -m %lld -n %lld -k %lld\n",
           letter(pt->TransposeA, pt->ComplexConjugateA), letter(pt->TransposeB, pt->ComplexConjugateB),
           (long long)size_m(pt, z), (long long)size_n(pt, z), (long long)size_k(pt, z));
}

/* Kernels with wrong results never win; with ExitOnFails they also change the exit code. */
Err step_finish(Run *r)
{
    FaultCount bad;
    TRY(query_session_faults(&r->store, r->session, &bad));
    if (r->n_groups) TRY(winners_print(r));
    const Config *c = r->config;
    if (c->has_client)
        usage_print(r);
    else if (c->has_logic && c->has_problems)
        printf("\nno library for applications was made: %s has no 'LibraryClient:' section; the logic is in "
               "%s/%.*s\n",
               c->path, r->outdir, STR_ARG(c->globals.LibraryLogicPath));
    fflush(stdout);
    TRY(busy_report(r));
    if (r->n_left_out) FAIL(ERR_PARTIAL, "%zu solutions of the logic are not in the library", r->n_left_out);
    if (r->n_lost) FAIL(ERR_PARTIAL, "%zu sizes have no winner: every solution failed on them", r->n_lost);
    if (bad.n_wrong && r->config->globals.ExitOnFails)
        FAIL(ERR_PARTIAL,
             "%lld measurements gave wrong results and were left out (tuner status %s; ExitOnFails: 0 for "
             "exit code 0)",
             (long long)bad.n_wrong, r->outdir);
    if (bad.n_faulted)
        warning("%lld measurements crashed, hung or could not run (tuner status %s)",
                (long long)bad.n_faulted, r->outdir);
    return 0;
}
