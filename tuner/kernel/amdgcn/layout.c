/* Pads of local memory by counting bank conflicts: 32 banks of 4 bytes; a cycle serves 128 bytes, so that 32
 * lanes of 4 bytes or less, 16 of 8, 8 of 16 meet; lanes that read the same 4 bytes do not. From the ISA
 * documents of GCN, CDNA and RDNA. Called by the plans of matrix.c and dot.c.
 */
#include "kernel/amdgcn/amdgcn.h"

enum { N_BANKS = 32, PATTERNS_MAX = 16 };

static int cycle_conflicts(const LdsAccess *a, int first, int n)
{
    int seen[N_BANKS][64], n_seen[N_BANKS] = {0}, most = 1;
    for (int lane = first; lane < first + n && lane < a->n_lanes; lane++)
        for (int b = 0; b < (a->bytes + 3) / 4; b++) {
            int word = a->at[lane] / 4 + b, bank = word % N_BANKS, i = 0;
            while (i < n_seen[bank] && seen[bank][i] != word) i++;
            if (i < n_seen[bank]) continue;
            seen[bank][n_seen[bank]++] = word;
            if (n_seen[bank] > most) most = n_seen[bank];
        }
    return most - 1;
}

int lds_conflicts(const LdsAccess *a)
{
    int lanes = a->bytes > 8 ? 8 : a->bytes > 4 ? 16 : 32, n = 0;
    for (int first = 0; first < a->n_lanes; first += lanes) n += cycle_conflicts(a, first, lanes);
    return n;
}

int lds_offset(const GpuOperand *x, int line, int at)
{
    int pos = line * x->line + at;
    if (x->pad_block) pos += pos / x->pad_block * x->pad;
    return pos * gpu_type_bytes(&x->type);
}

static int bytes_of(const GpuPlan *p, const GpuOperand *x)
{
    return lds_offset(x, (x->k_major ? x->tile : p->depth_u) - 1, x->line);
}

static int count(const GpuPlan *p, const GpuOperand *x, LdsPattern pattern)
{
    LdsAccess a;
    int n = 0;
    for (int i = 0; i < PATTERNS_MAX && pattern(p, x, i, &a); i++) n += lds_conflicts(&a);
    return n;
}

int lds_count(const GpuPlan *p, int x, LdsPattern pattern) { return count(p, &p->op[x], pattern); }

typedef struct {
    int line_pad, block_lines, block_pad, conflicts, bytes;
} Choice;

static void apply(const GpuPlan *p, GpuOperand *x, const Choice *c)
{
    int length = x->k_major ? p->depth_u : x->tile;
    x->line_pad = c->line_pad;
    x->line = length + c->line_pad;
    x->pad_block = c->block_lines * x->line;
    x->pad = c->block_lines ? c->block_pad : c->line_pad;
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
        (c.conflicts == best->conflicts && c.bytes < best->bytes))
        *best = c;
}

void lds_choose_pads(GpuPlan *p, int i, LdsPattern reads, LdsPattern writes, int bytes, int lines_unit)
{
    GpuOperand *x = &p->op[i];
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
    if (best.bytes < 0) best = (Choice){0};
    apply(p, x, &best);
}
