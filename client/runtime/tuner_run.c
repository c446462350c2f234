/* libtuner: a problem with its operands, of a GEMM or a convolution: selects the solution, makes the launches
 * and runs them, or reports what would run. */
#include <inttypes.h>
#include <string.h>

#include "client/runtime/tuner_priv.h"

/* Puts the caller's work-group order in place of the library's, for kernels that have it as an argument. */
static void mapping_given(tuner_library *t, Selection *out)
{
    const uint64_t words = atomic_load_explicit(&t->mapping, memory_order_relaxed);
    if (!words || out->mapping_source == MAPPING_FIXED) return;
    out->mapping_source = MAPPING_GIVEN;
    out->mapping = mapping_of_words((uint32_t)words, (uint32_t)(words >> 32));
}

Err call_choose(tuner_library *t, const Contraction *p, const Fused *op, int64_t solution_index,
                Selection *out)
{
    if (solution_index <= 0) {
        TRY(library_select(t->library, p, out));
        if (!out->solution && p->f32_xdl == TYPE_X) {
            Contraction exact = *p;
            exact.f32_xdl = TYPE_S;
            TRY(library_select(t->library, &exact, out));
        }
    } else {
        memset(out, 0, sizeof *out);
        out->solution = library_solution_by_index(t->library, solution_index - 1);
        if (!out->solution) FAIL(ERR_INPUT, "the library has no solution %" PRId64, solution_index - 1);
        if (!solution_can_solve(out->solution, p) || out->solution->operation != p->operation)
            FAIL(TUNER_NO_SOLUTION, "solution %" PRId64 " cannot run this problem", solution_index - 1);
    }
    if (!out->solution) return no_solution(t, p, op);
    if (solution_index > 0) out->mapping_source = launch_mapping(out->solution, p, &out->mapping);
    mapping_given(t, out);
    return ERR_OK;
}

/* ---- running ---- */

enum {
    INLINE_FLOPS = 400000, /* below: the calling thread alone is faster than sharing the work */
    BRIEF_FLOPS = 16000000 /* below (150 us of one core): waking a sleeping thread costs more than it saves */
};

static Err run_call(tuner_library *t, const LibSolution *s, const KernelCall *call, double flops)
{
    const AnyKernel *kernel;
    TRY(kernel_of_call(t, s, call, &kernel));
    if (library_print_debug(t->library)) log_launch(t, call);
    HostSplit split = {.brief = flops < BRIEF_FLOPS};
    const bool in_place = s->map.global_accumulation != GLOBAL_ACC_MULTIPLE &&
                          s->map.global_accumulation != GLOBAL_ACC_PARTIALS;
    if (call->role == CALL_MAIN && in_place) {
        split.tile_y = (uint32_t)s->map.global_split_u;
        split.round_robin = s->map.gsu_round_robin;
    }
    if (flops < INLINE_FLOPS && split.tile_y <= 1)
        return host_launch_inline(t->pool, &kernel->host, call->num_work_groups, call->args);
    return host_launch(t->pool, &kernel->host, call->num_work_groups, call->args, &split);
}

Err call_run(tuner_library *t, const Contraction *p, const Selection *chosen, const LaunchInputs *operands)
{
    const LibSolution *s = chosen->solution;
    LaunchInputs in = *operands;
    LaunchList list;
    HostScratch workspace;
    in.mapping = chosen->mapping;
    if (t->gpu) return gemm_on_gpu(t, &in, p, s);
    TRY(host_scratch_take(t->pool, launch_workspace_bytes(p, s, &t->launch_hw), &workspace));
    in.workspace = workspace.p;
    Err e = launch_build(p, s, &in, &t->launch_hw, &list);
    double flops = contraction_flops(p);
    for (uint32_t i = 0; i < list.n && !e; i++) e = run_call(t, s, &list.call[i], flops);
    host_scratch_give(t->pool, &workspace);
    return e;
}

/* ---- without running ---- */

Err call_describe(tuner_library *t, const Contraction *p, const Selection *chosen,
                  const LaunchInputs *operands, bool by_index, tuner_selection *out)
{
    const LibSolution *s = chosen->solution;
    LaunchInputs in = *operands;
    LaunchPart part;
    LaunchList list;
    int n_kernels = 0;
    in.mapping = chosen->mapping;
    for (uint64_t k = 0; launch_part(p, s, &in, &t->launch_hw, k, &part); k++) {
        TRY(launch_build(&part.problem, s, &part.in, &t->launch_hw, &list));
        n_kernels += (int)list.n;
    }
    *out = (tuner_selection){.kernel = s->symbol,
                             .solution_index = s->index,
                             .why = by_index ? "index" : select_why_name(chosen->why),
                             .fallback = chosen->fallback,
                             .distance = chosen->distance,
                             .n_key = chosen->n_key,
                             .speed = chosen->speed,
                             .workspace_bytes = launch_workspace_bytes(p, s, &t->launch_hw),
                             .n_kernels = n_kernels};
    memcpy(out->key, chosen->key, sizeof out->key);
    return ERR_OK;
}

static void visit_call(const KernelCall *c, void (*visit)(void *ctx, const tuner_launch *launch), void *ctx)
{
    tuner_launch l = {.kernel = c->symbol, .n_arg_bytes = c->n_arg_bytes, .args = c->args};
    memcpy(l.work_group, c->work_group, sizeof l.work_group);
    memcpy(l.num_work_groups, c->num_work_groups, sizeof l.num_work_groups);
    visit(ctx, &l);
}

Err call_visit(tuner_library *t, const Contraction *p, const Selection *chosen, const LaunchInputs *operands,
               void (*visit)(void *ctx, const tuner_launch *launch), void *ctx)
{
    LaunchInputs in = *operands;
    LaunchPart part;
    LaunchList list;
    in.mapping = chosen->mapping;
    for (uint64_t k = 0; launch_part(p, chosen->solution, &in, &t->launch_hw, k, &part); k++) {
        TRY(launch_build(&part.problem, chosen->solution, &part.in, &t->launch_hw, &list));
        for (uint32_t i = 0; i < list.n; i++) visit_call(&list.call[i], visit, ctx);
    }
    return ERR_OK;
}
