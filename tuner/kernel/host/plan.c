/* Computes the local buffers from a HostPlan's numbers, which come from kernel/plan_host.c. */
#include "kernel/host/plan.h"

#include "base/integer.h"

int64_t host_plan_block_a(const HostPlan *p) { return int_round_up((int64_t)p->mc * p->kc * p->parts, 64); }
int64_t host_plan_block_b(const HostPlan *p) { return int_round_up((int64_t)p->nc * p->kc * p->parts, 64); }

/* Elements of n kept blocks with their records; n 0: of one block. */
static int64_t kept(const HostPlan *p, int n, int64_t block)
{
    return n ? n * block + int_round_up((int64_t)n * HOST_KEPT_BYTES / p->compute.bytes, 64) : block;
}

/* Bytes of the tables of rows: @Runs of text/runs.h. */
static int64_t runs_bytes(const HostPlan *p)
{
    enum { WORD = 8, ROW_WORDS = 3, MEMO_WORDS = 8, HEAD_WORDS = 24 };
    const int64_t row = (int64_t)p->nc * (ROW_WORDS + host_run_places(p));
    return WORD * (HEAD_WORDS + p->kc + row + (int64_t)(HOST_RUN_MEMO + HOST_RUN_LIST) * MEMO_WORDS) +
           (int64_t)sizeof(int32_t) * p->nc * p->kc;
}

HostLocal host_plan_local(const HostPlan *p)
{
    HostLocal l = {0, 0, 0, 0};
    if (p->pack[0]) l.a = kept(p, p->keep_a, host_plan_block_a(p));
    if (p->pack[1]) l.b = kept(p, p->keep_b, host_plan_block_b(p));
    if (p->runs) l.runs = int_round_up(runs_bytes(p) / p->compute.bytes + 1, 64);
    if (!p->direct) l.sums = (int64_t)p->mr * p->nr * p->parts;
    if (host_plan_keeps_sums(p)) l.sums = (int64_t)p->mt0 * p->nc * p->parts;
    return l;
}

/* Parts of K that have a matrix of the workspace each, or are added to D in place, have the same ops: they
 * begin with alpha 1 and beta 0, and with beta 1 and C in D's place (group.c). */
Epilogue host_epilogue(const HostPlan *p)
{
    return (Epilogue){.grid = p->joins,
                      .scales = true,
                      .reads_c = true,
                      .parts = p->gsu > 1 && p->gsu_multiple,
                      .sums = p->direct                 ? SUMS_IN_REGISTERS
                              : host_plan_keeps_sums(p) ? SUMS_ADDED
                                                        : SUMS_STORED,
                      .fused = p->fused,
                      .written = p->out.type};
}

Err host_epilogue_read(Program *p, const char *name)
{
    Epilogue e;
    const Op *loop = op_lane_loop(p->body);
    HostPlan *plan = ARENA_NEW(p->arena, HostPlan);
    TRY_ALLOC(plan);
    if (!loop) FAIL(ERR_INPUT, "a host kernel needs a loop over k at lane");
    TRY(epilogue_read(p, loop->next, name, &e));
    *plan = *p->host;
    plan->epilogue = loop->next;
    plan->gsu = p->walk.split, plan->gsu_multiple = e.parts;
    plan->joins = e.grid;
    plan->out = host_type(e.written);
    plan->fused = e.fused;
    plan->indices = p->indices;
    plan->direct = host_plan_is_direct(plan);
    p->host = plan;
    const Epilogue own = host_epilogue(plan);
    if (!plan->out.c || e.scales != own.scales || e.reads_c != own.reads_c || e.adds || e.staged ||
        e.across || e.role)
        FAIL(ERR_INPUT, "%s%sthis epilogue is none of a host kernel", name ? name : "", name ? ": " : "");
    if (p->walk.stream_part || p->walk.stream_even)
        FAIL(ERR_INPUT, "%s%swalk stream_part %d and stream_even %d are for GPUs", name ? name : "",
             name ? ": " : "", p->walk.stream_part, p->walk.stream_even);
    if (p->walk.stream_k && !e.grid)
        FAIL(ERR_INPUT, "%s%swalk stream_k %d, but the epilogue stores one part", name ? name : "",
             name ? ": " : "", p->walk.stream_k);
    if (e.sums != own.sums)
        FAIL(ERR_INPUT, "%s%sthe place of the sums does not go with the types %s and %s", name ? name : "",
             name ? ": " : "", type_letter(plan->compute.type), type_letter(plan->out.type));
    return ERR_OK;
}
