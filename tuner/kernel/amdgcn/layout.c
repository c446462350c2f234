/* Layouts of local memory by counting bank conflicts: 32 banks of 4 bytes; a cycle serves 128 bytes, so that
 * 32 lanes of 4 bytes or less, 16 of 8, 8 of 16 meet; lanes that read the same 4 bytes do not. From the ISA
 * documents of GCN, CDNA and RDNA. Reads of 16 bytes on processors with MFMA: lanes 0 to 3 meet 20 to 23, 4
 * to 7 meet 16 to 19 and so on (Composable Kernel's documentation, "Understanding AMD GPU LDS and bank
 * conflicts"); a layout is only free of conflicts here if neighbours do not meet either. Called by the plans
 * of matrix.c and dot.c, and by gpu_plan for kernels of gpu_valu.
 */
#include "kernel/amdgcn/amdgcn.h"

enum { N_BANKS = 32, PATTERNS_MAX = 16 };

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
            int word = a->at[lane_of(first, l, crossed)] / 4 + b, bank = word % N_BANKS, i = 0;
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

int lds_offset(const GpuOperand *x, int line, int at)
{
    int pos = line * x->line + at, piece = 16 / gpu_type_bytes(&x->type);
    if (x->xor_mask)
        pos = line * x->line + ((at / piece) ^ (line / x->xor_lines & x->xor_mask)) * piece + at % piece;
    else if (x->pad_block)
        pos += pos / x->pad_block * x->pad;
    return pos * gpu_type_bytes(&x->type);
}

static int bytes_of(const GpuPlan *p, const GpuOperand *x)
{
    if (x->xor_mask) return x->tile * p->depth_u * gpu_type_bytes(&x->type);
    return lds_offset(x, (x->k_major ? x->tile : p->depth_u) - 1, x->line);
}

static int count(const GpuPlan *p, const GpuOperand *x, LdsPattern pattern)
{
    LdsAccess a = {0};
    int n = 0;
    for (int i = 0; i < PATTERNS_MAX && pattern(p, x, i, &a); i++) n += lds_conflicts(&a);
    return n;
}

int lds_count(const GpuPlan *p, int x, LdsPattern pattern) { return count(p, &p->op[x], pattern); }

/* Reads of gpu_valu: vectors of VectorWidth elements; elements one by one where gpu_valu must. */
static bool valu_reads(const GpuPlan *p, const GpuOperand *x, int access, LdsAccess *a)
{
    int i = x->name == 'b', element = gpu_type_bytes(&x->type), bytes = p->vw * element;
    if (bytes > 16) bytes = 16;
    if ((p->vw & (p->vw - 1)) || x->line * element % bytes) bytes = element < 16 ? element : 16;
    if (access) return false;
    a->n_lanes = p->n_threads < p->wave ? p->n_threads : p->wave;
    a->bytes = bytes;
    for (int tid = 0; tid < a->n_lanes; tid++) {
        int free = (i ? tid / p->sg[0] % p->sg[1] : tid % p->sg[0]) * p->vw;
        a->at[tid] = lds_offset(x, tid * p->lsu / p->n_threads, free);
    }
    return true;
}

/* Writes of gpu_copy_register: vectors, or elements where the other dimension is contiguous. */
static bool register_writes(const GpuPlan *p, const GpuOperand *x, int access, LdsAccess *a)
{
    bool vector = x->tlu != x->k_major;
    bool grouped = x->grouped;
    int element = gpu_type_bytes(&x->type), bytes = vector ? x->width * element : element;
    if (access >= (vector ? 1 : x->width)) return false;
    a->n_lanes = p->n_threads / x->n_waves < p->wave ? p->n_threads / x->n_waves : p->wave;
    a->bytes = bytes < 16 ? bytes : 16;
    for (int tid = 0; tid < a->n_lanes; tid++) {
        int lane = gpu_load_thread(p, x, tid), across = grouped ? lane / x->lvc : lane % x->lsp;
        int along = (grouped ? lane % x->lvc : lane / x->lsp) * x->width + (vector ? 0 : access);
        int k = x->tlu ? across : along, free = x->tlu ? along : across;
        a->at[tid] = x->k_major ? lds_offset(x, free, k) : lds_offset(x, k, free);
    }
    return true;
}

int amdgcn_conflicts(const GpuPlan *p, int i, bool writes)
{
    if (writes) return lds_count(p, i, p->copy == &amdgcn_buffer ? amdgcn_buffer_writes : register_writes);
    return lds_count(p, i,
                     p->compute == &amdgcn_matrix ? amdgcn_matrix_reads
                     : p->compute == &amdgcn_dot  ? amdgcn_dot_reads
                                                  : valu_reads);
}

typedef struct {
    int line_pad, block_lines, block_pad, xor_lines, xor_mask, conflicts, bytes;
} Choice;

static void apply(const GpuPlan *p, GpuOperand *x, const Choice *c)
{
    int length = x->k_major ? p->depth_u : x->tile;
    x->line_pad = c->line_pad;
    x->line = length + c->line_pad;
    x->pad_block = c->block_lines * x->line;
    x->pad = c->block_lines ? c->block_pad : c->line_pad;
    x->xor_lines = c->xor_lines, x->xor_mask = c->xor_mask;
}

/* Tries one choice; keeps it when it has fewer conflicts, or as many and is smaller. */
static void consider(const GpuPlan *p, GpuOperand *x, LdsPattern reads, LdsPattern writes, int bytes,
                     Choice c, Choice *best)
{
    apply(p, x, &c);
    c.bytes = bytes_of(p, x);
    if (c.bytes > bytes) return;
    /* the reads are many: a stage is written once and read by several waves */
    c.conflicts = 4 * count(p, x, reads) + count(p, x, writes);
    if (best->bytes < 0 || c.conflicts < best->conflicts ||
        (c.conflicts == best->conflicts && c.bytes < best->bytes && !c.xor_mask))
        *best = c;
}

/* Exchanges of the pieces of lines: their number is a power of two, up to those of 128 bytes. */
static void consider_exchanges(const GpuPlan *p, GpuOperand *x, LdsPattern reads, LdsPattern writes,
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

static void choose(const GpuPlan *p, GpuOperand *x, LdsPattern reads, LdsExchange exchange, int bytes,
                   int lines_unit)
{
    LdsPattern writes = amdgcn_buffer_writes;
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

/* The operands share local memory as their tiles do; what one leaves over can save the other conflicts. */
void lds_choose_pads(GpuPlan *p, LdsPattern reads, LdsExchange exchange, const int lines_unit[2])
{
    int all = p->target->lds_bytes / p->n_stages / 16 * 16, share = all / (p->mt[0] + p->mt[1]);
    for (int i = 0; i < 2; i++) choose(p, &p->op[i], reads, exchange, share * p->mt[i], lines_unit[i]);
    for (int i = 0; i < 2; i++) {
        GpuOperand *x = &p->op[i];
        if (count(p, x, reads) + count(p, x, amdgcn_buffer_writes) == 0) continue;
        choose(p, x, reads, exchange, all - (bytes_of(p, &p->op[!i]) + 15) / 16 * 16, lines_unit[i]);
    }
}

/* Not with gpu_copy_register: LLVM 15 gets addresses wrong that it makes of lines of a power of two, where
 * lanes and elements add up (gfx1030 D TT: `or` taken for an addition behind a dropped mask). */
static void spread_pads(GpuPlan *p, GpuOperand *x)
{
    LdsPattern writes = amdgcn_buffer_writes;
    int unit = gpu_type_bytes(&x->type) < 16 ? 16 / gpu_type_bytes(&x->type) : 1;
    Choice given = {.line_pad = x->pad}, best = {.bytes = -1};
    if (p->copy != &amdgcn_buffer || x->k_major || x->tlu || x->pad_block || x->pad < 1) return;
    apply(p, x, &given);
    int bytes = bytes_of(p, x);
    consider(p, x, valu_reads, writes, bytes, given, &best);
    for (int lines = x->width; lines < p->depth_u && lines <= x->lsc && best.conflicts; lines *= 2)
        for (int block = 1; block <= 8 && x->lsc % lines == 0; block++) {
            Choice c = {.block_lines = lines, .block_pad = block * unit};
            consider(p, x, valu_reads, writes, bytes, c, &best);
        }
    apply(p, x, &best);
}

void amdgcn_valu_pads(GpuPlan *p)
{
    for (int i = 0; i < 2 && p->compute == &gpu_valu; i++) spread_pads(p, &p->op[i]);
}
