/* Raw buffers, and stores of D through them (BufferStore; C is read that way too).
 *
 * The base of the descriptor is the first element of the work-group's tile, a 64-bit address in scalar
 * registers; a lane's offset in the tile has 32 bits. Tiles inside D are stored in vectors. A tile that
 * overhangs D is stored element by element without branches: elements outside get an offset that the range
 * check drops. Where the columns of a tile are spread over more than 2 GiB, the descriptor moves from column
 * to column, and drops the other ones. All loads of C of a batch precede its stores of D, because the
 * compiler does not move loads across stores (text/buffer_store.hip). Atomic additions to D need pointers,
 * and C and D whose views run along N have no vectors along M: both are in kernel/gpu/store.c. */
#include "kernel/amdgcn/amdgcn.h"

/* Registers of a batch. With more, the epilogue would need more registers than the main loop.
 * FULL_BATCH_WORDS is for kernels whose accumulators fill a register file. */
enum { BATCH_WORDS = 8, FULL_BATCH_WORDS = 4 };

int amdgcn_policy(const GpuPlan *p, int hint)
{
    if (p->target->isa[0] >= 12) return hint ? 1 : 0;
    return (hint & 3) | (p->target->isa[0] == 9 && p->target->isa[1] >= 4 && hint & 4 ? 16 : 0);
}

bool amdgcn_fills_file(const GpuPlan *p) { return p->n_acc * gpu_type_bytes(&p->acc) / 4 > 200; }

bool amdgcn_sums_in_agprs(const GpuPlan *p)
{
    enum { MANY = 160 };
    return p->compute == &amdgcn_matrix && (p->target->matrix & AMDGCN_ONE_FILE) &&
           p->n_acc * gpu_type_bytes(&p->acc) / 4 > MANY && !matrix_fits_half(p);
}

void amdgcn_constants(Stmts *s, const AmdgcnConstant *c, size_t n)
{
    for (size_t i = 0; i < n; i++) stmt_constant(s, c[i].type, c[i].name, c[i].value);
}

void amdgcn_raw_buffers(const GpuPlan *p, Stmts *s)
{
    stmt_constant(s, "int", "@BUFFER_FORMAT", p->target->isa[0] <= 9 ? 0x27000 : 0x31004000);
    stmt_file(s, "amdgcn/raw_buffers.hip");
}

/* Returns the number of elements that one instruction stores. */
static int width_of(const GpuPlan *p)
{
    int width = p->store_width;
    while (width & (width - 1)) width &= width - 1;
    while (p->store_width % width) width /= 2;
    return width;
}

/* The numbers of text/buffer_store.hip. A batch takes BATCH_WORDS, unless NumElementsPerBatchStore says how
 * many elements it has. */
static void constants(const GpuPlan *p, Stmts *s)
{
    const int bytes = gpu_type_bytes(&p->out), n = gpu_share(p), width = width_of(p), given = p->batch_store;
    const int words = amdgcn_fills_file(p) ? FULL_BATCH_WORDS : BATCH_WORDS;
    const int most = given > 0 ? given : words * 4 / bytes;
    const int batch = most > width ? most / width * width : width;
    const int single = given > 0 ? given : bytes <= 4 ? words / 2 : 1; /* also an offset each */
    const AmdgcnConstant c[] = {{"int", "@STORE_N", n},
                                {"int", "@STORE_WIDTH", width},
                                {"int", "@STORE_BATCH", batch < n ? batch : n},
                                {"int", "@STORE_SINGLE", single < n ? single : n},
                                {"int", "@STORE_PARTS", p->out.parts},
                                {"int", "@STORE_POLICY_C", amdgcn_policy(p, p->hint_c)},
                                {"int", "@STORE_POLICY_D", amdgcn_policy(p, p->hint_d)},
                                {"bool", "@STORE_READS_C", gpu_reads_c(p)},
                                {"bool", "@STORE_SCALES", gpu_scales(p)},
                                {"bool", "@STORE_FUSED", fused_any(&p->fused)},
                                {"bool", "@STORE_SCALES_C", p->fused.scale_cd},
                                {"bool", "@STORE_SHARED", n < p->n_acc},
                                {"bool", "@STORE_IN_ORDER", !amdgcn_fills_file(p)},
                                {"int", "@STORE_LSU", p->lsu},
                                {"unsigned", "@STORE_THREADS", p->n_threads / p->lsu},
                                {"unsigned", "@STORE_ROWS", p->mt[0]},
                                {"unsigned", "@STORE_COLUMNS", p->mt[1]}};
    amdgcn_constants(s, c, sizeof c / sizeof c[0]);
    stmt_typedef(s, stmts_name(s, "@VD%d", width * p->out.parts), "@StoreV", NULL);
}

static void finish(const GpuPlan *p, Stmts *s)
{
    constants(p, s);
    stmt_file(s, amdgcn_sums_in_agprs(p) ? "amdgcn/acc_pin_batch.hip" : "amdgcn/acc_pin_none.hip");
    stmt_file(s, "amdgcn/buffer_store.hip");
}

bool amdgcn_finish(const GpuPlan *p, Buf *out)
{
    if (!p->buffer_store || gpu_adds(p) || !gpu_contiguous_results(p)) return false;
    amdgcn_print(p, finish, out);
    return true;
}
