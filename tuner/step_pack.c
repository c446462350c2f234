/* Last steps: the logic to a library that applications load (4_LibraryClient), and what a user wants to know
 * at the end. See run.h.
 */
#include "run.h"

#include "base/fs.h"
#include "createlib/createlib.h"
#include "report.h"

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
    o->cache_dir = cache.s;
    o->runtime = r->target->family == TARGET_HOST    ? CREATE_HOST
                 : g->RuntimeLanguage == RUNTIME_HSA ? CREATE_HSA
                                                     : CREATE_HIP;
    o->format = g->LibraryFormat == FORMAT_YAML ? LIBRARY_YAML : LIBRARY_MSGPACK;
    o->architecture = "all"; /* of what is in the logic: its files are named after the schedule */
    o->embed_library = g->EmbedLibrary.n ? arena_dup(&r->arena, g->EmbedLibrary).s : NULL;
    o->c_compiler = r->o->cc;
    o->cxx_compiler = r->o->cxx;
    o->num_merged_files = (int)g->NumMergedFiles;
    o->jobs = r->o->jobs ? (int)r->o->jobs : g->CpuThreads > 0 ? (int)g->CpuThreads : 0;
    o->verbose = log_level() > LOG_NORMAL;
    o->merge_files = g->MergeFiles;
    o->separate_architectures = g->SeparateArchitectures;
    o->lazy = g->LazyLibraryLoading;
    o->generate_manifest_and_exit = g->GenerateManifestAndExit;
    o->verify_manifest = g->VerifyManifest;
    return 0;
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
    Err e = createlib_run(&o, &report);
    r->n_left_out = report.n_left_out;
    if (e && e != ERR_PARTIAL) return e;
    notice("pack: %zu solutions, %zu kernels, %zu files in %s/library", report.n_solutions, report.n_kernels,
           report.n_files, o.output_path);
    return 0;
}

static Err winners_print(Run *r)
{
    PlanView *plans;
    size_t n;
    TRY(plans_latest(&r->store, &r->arena, &plans, &n));
    printf("\nwinners (runner-up 'tie': the samples cannot tell them apart)\n");
    TRY(report_winners(&r->store, plans, n, log_level() > LOG_NORMAL ? 0 : REPORT_WINNERS_MAX, stdout));
    if (n && plans[0].n_sizes)
        printf("\nmore about a size: tuner explain %s M,N,BATCH,K; what failed and why: tuner status %s\n",
               r->outdir, r->outdir);
    return 0;
}

typedef struct {
    int64_t wrong, faults;
} Bad;

static Err bad_row(void *ctx, const DbRow *row)
{
    Bad *bad = ctx;
    if (str_eq_c(row_text(row, 0), "FAILED"))
        bad->wrong += row_int(row, 1);
    else
        bad->faults += row_int(row, 1);
    return 0;
}

static Err bad_count(Run *r, Bad *bad)
{
    return db_each(
        r->store.db, bad_row, bad,
        "SELECT m.status, count(*) FROM session_plan x JOIN plan p ON p.id=x.plan JOIN candidate c ON"
        " c.plan=p.id JOIN size z ON z.plan=p.id JOIN measurement m ON m.kernel=c.kernel AND"
        " m.problem=z.problem AND m.setting=p.setting AND m.run<p.runs WHERE x.session=? AND m.status IN"
        " ('FAILED', 'INVALID', 'CRASHED', 'TIMEOUT') GROUP BY m.status",
        "i", r->session);
}

/* Wrong results are never winners; by ExitOnFails they are told in the exit code as well. */
Err step_finish(Run *r)
{
    Bad bad = {0};
    TRY(bad_count(r, &bad));
    if (r->n_groups) TRY(winners_print(r));
    if (r->config->has_client)
        printf("\nto use the library:\n  TUNER_LIBPATH=%s/%.*s/library tuner-bench -f gemm -r f32_r -m 512 "
               "-n 512 -k 512\n",
               r->outdir, STR_ARG(r->config->globals.LibraryClientPath));
    fflush(stdout);
    if (r->n_left_out) FAIL(ERR_PARTIAL, "%zu solutions of the logic are not in the library", r->n_left_out);
    if (r->n_lost) FAIL(ERR_PARTIAL, "%zu sizes have no winner: every solution failed on them", r->n_lost);
    if (bad.wrong && r->config->globals.ExitOnFails)
        FAIL(ERR_PARTIAL,
             "%lld measurements gave wrong results and were left out (tuner status %s; ExitOnFails: 0 for "
             "exit code 0)",
             (long long)bad.wrong, r->outdir);
    if (bad.faults)
        warning("%lld measurements crashed, hung or could not run (tuner status %s)", (long long)bad.faults,
                r->outdir);
    return 0;
}
