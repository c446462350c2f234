/* Chooses layouts of local memory by counting bank conflicts. Local memory has 32 banks of 4 bytes, and
 * serves 128 bytes per cycle: 32 lanes of 4 bytes or less, 16 lanes of 8 bytes, or 8 lanes of 16 bytes. Lanes
 * of one cycle conflict when they access the same bank, but not when they read the same 4 bytes (ISA
 * documents of GCN, CDNA and RDNA). For 16-byte reads on processors with MFMA, a cycle serves lanes 0 to 3
 * with 20 to 23, 4 to 7 with 16 to 19, and so on (Composable Kernel's documentation, "Understanding AMD GPU
 * LDS and bank conflicts"); there a layout must also be free of conflicts between 8 consecutive lanes. */
#include "kernel/amdgcn/amdgcn.h"
#include "kernel/gpu/loads.h"

enum { N_BANKS = 32, ACCESSES_MAX = 16 };

/* Lane number i of a cycle that begins with lane `first`. */
static int lane_of(int first, int i, bool crossed)
{
    static const int partner[] = {20, 16, 28, 24};
    if (!crossed) return first + i;
    return first / 32 * 32 + (i < 4 ? first % 32 / 2 + i : partner[first % 32 / 8] + i - 4);
}

static int cycle_conflicts(const LdsAccess *a, int first, int n, bool crossed)
{
    int seen[N_BANKS][64], n_seen[N_BANKS] = {0}, most = 1;
    for (int l = 0; l < n && lane_of(first, l, crossed) < a->n_lanes; l++)
        for (int b = 0; b < (a->bytes + 3) / 4; b++) {
            int word = (int)(a->at[lane_of(first, l, crossed)] / 4) + b, bank = word % N_BANKS, i = 0;
            while (i < n_seen[bank] && seen[bank][i] != word) i++;
            if (i < n_seen[bank]) continue;
            seen[bank][n_seen[bank]++] = word;
            if (n_seen[bank] > most) most = n_seen[bank];
        }
    return most - 1;
}

int lds_conflicts(const LdsAccess *a)
{
    int lanes = a->bytes > 8 ? 8 : a->bytes > 4 ? 16 : 32, n = 0, crossed = 0;
    for (int first = 0; first < a->n_lanes; first += lanes) {
        n += cycle_conflicts(a, first, lanes, false);
        if (a->crossed && lanes == 8) crossed += cycle_conflicts(a, first, lanes, true);
    }
    return n > crossed ? n : crossed;
}

/* The elements that the lanes of the first wave access, which do not depend on the layout. */
typedef struct {
    int n;
    struct {
        int64_t line[EXPR_LANES_MAX], at[EXPR_LANES_MAX];
        int n_lanes, bytes;
        bool crossed;
    } access[ACCESSES_MAX];
} Lanes;

static void gather(const GpuPlan *p, const GpuOperand *x, GpuAccesses accesses, Lanes *to)
{
    GpuIndex index;
    int64_t tid[EXPR_LANES_MAX];
    const int64_t *const values[GPU_SLOTS] = {[GPU_TID] = tid};
    for (int i = 0; i < EXPR_LANES_MAX; i++) tid[i] = i;
    for (to->n = 0; to->n < ACCESSES_MAX; to->n++) {
        GpuAccess a = {0};
        gpu_index_init(&index);
        if (!accesses(p, x, to->n, &index.pool, &a)) return;
        int n = a.n_threads < p->wave ? a.n_threads : p->wave;
        to->access[to->n].n_lanes = n;
        to->access[to->n].bytes = a.bytes;
        to->access[to->n].crossed = a.is_mfma_read;
        expr_eval_lanes(x->k_major ? a.free : a.k, n, values, to->access[to->n].line);
        expr_eval_lanes(x->k_major ? a.k : a.free, n, values, to->access[to->n].at);
    }
}

/* Counts the conflicts of these accesses by evaluating the layout's expression for the lanes. */
static int count(const GpuPlan *p, const GpuOperand *x, const Lanes *lanes)
{
    GpuIndex index;
    ExprPool *pool = &index.pool;
    int n = 0;
    gpu_index_init(&index);
    const Expr *line = expr_var(pool, "line", 0, 0, gpu_lines(p, x) - 1);
    const Expr *at = layout_at(pool, &x->layout, line, expr_var(pool, "at", 1, 0, gpu_line_length(p, x) - 1));
    for (int i = 0; i < lanes->n; i++) {
        const int64_t *const values[] = {lanes->access[i].line, lanes->access[i].at};
        LdsAccess a = {lanes->access[i].n_lanes, lanes->access[i].bytes, lanes->access[i].crossed, {0}};
        expr_eval_lanes(at, a.n_lanes, values, a.at);
        n += lds_conflicts(&a);
    }
    return n;
}

int lds_count(const GpuPlan *p, int i, GpuAccesses accesses)
{
    Lanes lanes;
    gather(p, &p->op[i], accesses, &lanes);
    return count(p, &p->op[i], &lanes);
}

GpuAccesses amdgcn_reads(const GpuPlan *p)
{
    return p->compute == &amdgcn_matrix ? amdgcn_matrix_reads
           : p->compute == &amdgcn_dot  ? amdgcn_dot_reads
                                        : gpu_valu_reads;
}

int amdgcn_conflicts(const GpuPlan *p, int i, bool writes)
{
    if (writes)
        return lds_count(p, i, p->copy == &amdgcn_buffer ? amdgcn_buffer_writes : gpu_register_writes);
    return lds_count(p, i, amdgcn_reads(p));
}

typedef struct {
    int line_pad, block_lines, block_pad, xor_lines, xor_mask, conflicts, bytes;
} Choice;

static void apply(const GpuPlan *p, GpuOperand *x, const Choice *c)
{
    int line = gpu_line_length(p, x) + c->line_pad;
    x->layout = (Layout){.bytes = gpu_type_bytes(&x->type),
                         .line = line,
                         .block = c->block_lines * line,
                         .pad = c->block_pad,
                         .xor_lines = c->xor_lines,
                         .xor_mask = c->xor_mask};
}

static int bytes_of(const GpuPlan *p, const GpuOperand *x)
{
    return (int)layout_bytes(&x->layout, gpu_lines(p, x));
}

/* Tries one choice; keeps it when it has fewer conflicts, or as many and is smaller. */
static void consider(const GpuPlan *p, GpuOperand *x, const Lanes *reads, const Lanes *writes, int bytes,
                     Choice c, Choice *best)
{
    apply(p, x, &c);
    c.bytes = bytes_of(p, x);
    if (c.bytes > bytes) return;
    if (best->bytes >= 0 && best->conflicts == 0 && c.bytes >= best->bytes) return; /* cannot be better */
    /* reads have more weight: a stage is written once, and read by several waves */
    c.conflicts = 4 * count(p, x, reads);
    if (best->bytes >= 0 && c.conflicts > best->conflicts) return;
    c.conflicts += count(p, x, writes);
    if (best->bytes < 0 || c.conflicts < best->conflicts ||
        (c.conflicts == best->conflicts && c.bytes < best->bytes && !c.xor_mask))
        *best = c;
}

/* Tries swizzles of the pieces of lines. The number of pieces is a power of two, at most those of 128
 * bytes. */
static void consider_exchanges(const GpuPlan *p, GpuOperand *x, const Lanes *reads, const Lanes *writes,
                               LdsExchange exchange, int bytes, Choice *best)
{
    int line = p->depth_u * gpu_type_bytes(&x->type), pieces = line / 16;
    if (!x->k_major || line % 16 || pieces < 2 || (pieces & (pieces - 1))) return;
    int mask = (pieces < 8 ? pieces : 8) - 1;
    for (int lines = 1; lines <= 16; lines *= 2) {
        Choice c = {.xor_lines = lines, .xor_mask = mask};
        apply(p, x, &c);
        if (exchange(p, x)) consider(p, x, reads, writes, bytes, c, best);
    }
}

static void choose(const GpuPlan *p, GpuOperand *x, const Lanes *reads, const Lanes *writes,
                   LdsExchange exchange, int bytes, int lines_unit)
{
    int unit = gpu_type_bytes(&x->type) < 16 ? 16 / gpu_type_bytes(&x->type) : 1;
    Choice best = {.bytes = -1};
    for (int pad = 0; pad <= 4; pad++)
        for (int lines = 0; lines <= 8; lines = lines ? lines * 2 : 2) {
            if (lines && (!x->k_major || x->lsc % lines || x->lsp % lines || lines_unit % lines)) continue;
            for (int block = lines ? 1 : 0; block <= (lines ? 3 : 0); block++) {
                Choice c = {.line_pad = pad * unit, .block_lines = lines, .block_pad = block * unit};
                consider(p, x, reads, writes, bytes, c, &best);
            }
        }
    if (exchange && best.conflicts) consider_exchanges(p, x, reads, writes, exchange, bytes, &best);
    if (best.bytes < 0) best = (Choice){0};
    apply(p, x, &best);
}

/* Elements of a line that lie together, where groups of a wave's lanes share its lines; else 0. */
static int group_panel(const GpuOperand *x) { return x->groups > 1 ? x->lvc / x->groups * x->width : 0; }

int amdgcn_k_together(const GpuPlan *p)
{
    int n = INT32_MAX;
    for (int i = 0; i < 2; i++) {
        const int panel = group_panel(&p->op[i]);
        if (p->op[i].to_local && !p->op[i].tlu && panel && panel < n) n = panel;
    }
    return n;
}

/* The layout in which loads write local memory themselves, `pad` elements behind each load of a wave. */
void amdgcn_layout_to_local(const GpuPlan *p, GpuOperand *x, int pad)
{
    x->layout = (Layout){.bytes = gpu_type_bytes(&x->type), .line = gpu_line_length(p, x)};
    if (pad > 0) x->layout.block = p->wave * x->width / x->parts, x->layout.pad = pad;
    if (x->groups > 1) /* groups of a wave's lanes share its lines */
        x->layout.panel = group_panel(x), x->layout.panel_lines = p->wave / x->lvc;
    else if (x->nlc > 1 && x->lvc * x->parts % p->wave) /* a load covers a part of its lines */
        x->layout.panel = x->lsc, x->layout.panel_lines = gpu_lines(p, x);
}

/* Chooses the pad of such a layout. */
static void choose_to_local(const GpuPlan *p, GpuOperand *x, const Lanes *reads, int bytes)
{
    const int unit = gpu_type_bytes(&x->type) < 16 ? 16 / gpu_type_bytes(&x->type) : 1;
    int best = 0, least = -1;
    for (int pad = 0; pad <= 4 && least; pad++) {
        amdgcn_layout_to_local(p, x, pad * unit);
        if (pad && bytes_of(p, x) > bytes) break;
        const int n = count(p, x, reads);
        if (least < 0 || n < least) best = pad, least = n;
    }
    amdgcn_layout_to_local(p, x, best * unit);
}

/* Each operand may use local memory in proportion to its tile. The other one can use the rest for its
 * padding. */
void lds_choose_pads(GpuPlan *p, GpuAccesses accesses, LdsExchange exchange, const int lines_unit[2])
{
    int all = p->target->lds_bytes / p->n_stages / 16 * 16, share = all / (p->mt[0] + p->mt[1]);
    Lanes reads[2], writes[2];
    for (int i = 0; i < 2; i++) {
        GpuOperand *x = &p->op[i];
        if (x->in_registers) continue;
        amdgcn_deal_loads(p, i);
        if (p->sketch) continue;
        gather(p, x, accesses, &reads[i]);
        if (x->to_local) {
            choose_to_local(p, x, &reads[i], share * p->mt[i]);
            continue;
        }
        gather(p, x, amdgcn_buffer_writes, &writes[i]);
        choose(p, x, &reads[i], &writes[i], exchange, share * p->mt[i], lines_unit[i]);
    }
    for (int i = 0; i < 2 && !p->sketch; i++) {
        GpuOperand *x = &p->op[i];
        if (!gpu_is_fetched(x)) continue;
        if (count(p, x, &reads[i]) + count(p, x, &writes[i]) == 0) continue;
        int rest = all - (bytes_of(p, &p->op[!i]) + 15) / 16 * 16;
        choose(p, x, &reads[i], &writes[i], exchange, rest, lines_unit[i]);
    }
}

/* Does not swizzle with gpu_copy_register: LLVM 15 miscompiles the addresses when the distance between lines
 * is a power of two (seen on gfx1030, D TT: it drops a mask, and then uses `or` in place of an addition). */
static void spread_pads(GpuPlan *p, GpuOperand *x)
{
    int unit = gpu_type_bytes(&x->type) < 16 ? 16 / gpu_type_bytes(&x->type) : 1;
    Choice given = {.line_pad = x->pad}, best = {.bytes = -1};
    Lanes reads, writes;
    if (p->sketch || p->copy != &amdgcn_buffer || x->k_major || x->tlu || x->pad_block || x->pad < 1) return;
    apply(p, x, &given);
    int bytes = bytes_of(p, x);
    gather(p, x, gpu_valu_reads, &reads);
    gather(p, x, amdgcn_buffer_writes, &writes);
    consider(p, x, &reads, &writes, bytes, given, &best);
    for (int lines = x->width; lines < p->depth_u && lines <= x->lsc && best.conflicts; lines *= 2)
        for (int block = 1; block <= 8 && x->lsc % lines == 0; block++) {
            Choice c = {.block_lines = lines, .block_pad = block * unit};
            apply(p, x, &c);
            gather(p, x, gpu_valu_reads, &reads); /* how wide reads are depends on the layout */
            consider(p, x, &reads, &writes, bytes, c, &best);
        }
    apply(p, x, &best);
}

void amdgcn_valu_pads(GpuPlan *p)
{
    for (int i = 0; i < 2 && p->compute == &gpu_valu; i++) {
        GpuOperand *x = &p->op[i];
        if (x->to_local)
            amdgcn_layout_to_local(p, x, x->pad_block ? x->pad : 0);
        else
            spread_pads(p, x);
    }
}
