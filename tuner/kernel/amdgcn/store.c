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

/* Elements of a loop over batches, which LLVM unrolls. Its limit is 16,384 instructions for all copies of a
 * body, which has 40 to 150 an element. */
enum { GROUP_ELEMENTS = 64 };

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
    const int group = batch < GROUP_ELEMENTS ? GROUP_ELEMENTS / batch * batch : batch;
    const int single = given > 0 ? given : bytes <= 4 ? words / 2 : 1; /* also an offset each */
    const AmdgcnConstant c[] = {{"int", "@STORE_N", n},
                                {"int", "@STORE_WIDTH", width},
                                {"int", "@STORE_BATCH", batch < n ? batch : n},
                                {"int", "@STORE_SINGLE", single < n ? single : n},
                                {"int", "@STORE_GROUP", group},
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

/* Prints @out_at: elements from the first one of D, or with OF_C of C, to a row and a column. */
static void out_at(const GpuPlan *p, Stmts *s)
{
    ExprPool *pool = &s->pool;
    const Expr *row = gpu_size(s, "row"), *col = gpu_size(s, "col"), *ld = gpu_stride(s, "ld");
    const Value *d = value_expr(s, gpu_address(pool, p, 3, row, col, ld));
    const Value *c = value_expr(s, gpu_address(pool, p, 2, row, col, ld));
    stmt_function(
        s, (Function){.constant = "OF_C",
                      .result = "unsigned long long",
                      .name = "@out_at",
                      STMT_PARAMS({"unsigned", "col"}, {"unsigned", "row"}, {"unsigned long long", "ld"})});
    stmt_return(s, value_select(s, value_reg(s, "OF_C"), c, d));
    stmt_end(s);
}

/* Prints @OUT_BYTES_C and @OUT_BYTES_D: the same in a tile, in bytes and 32 bits; columns are ld bytes apart.
 * Macros, because LLVM knows less of the bits of a sum that a function returns: a kernel's addresses would
 * need up to 24 instructions more. */
static void out_bytes(const GpuPlan *p, Stmts *s, int tensor)
{
    ExprPool *pool = &s->pool;
    const Expr *row = gpu_size(s, "(row)"), *col = gpu_size(s, "(col)"), *zero = expr_const(pool, 0);
    const Expr *ld = expr_var(pool, "(ld)", 0, 0, UINT32_MAX);
    const Expr *down = expr_mul_i(pool, gpu_address(pool, p, tensor, row, zero, ld), gpu_type_bytes(&p->out));
    const Expr *across = expr_within(pool, gpu_address(pool, p, tensor, zero, col, ld), 0, UINT32_MAX);
    const Expr *at = expr_add(pool, across, expr_within(pool, down, 0, UINT32_MAX));
    Buf text;
    buf_init(&text);
    expr_print(p->dialect->words->expr, expr_within(pool, at, 0, UINT32_MAX), EXPR_OPERAND, &text);
    stmt_macro(s, tensor == 2 ? "@OUT_BYTES_C(col, row, ld)" : "@OUT_BYTES_D(col, row, ld)",
               stmts_name(s, "%s", buf_cstr(&text)));
    buf_fini(&text);
}

static void finish(const GpuPlan *p, Stmts *s)
{
    constants(p, s);
    out_at(p, s);
    for (int tensor = 2; tensor < 4; tensor++) out_bytes(p, s, tensor);
    stmt_file(s, amdgcn_sums_in_agprs(p) ? "amdgcn/acc_pin_batch.hip" : "amdgcn/acc_pin_none.hip");
    stmt_file(s, "amdgcn/buffer_store.hip");
}

bool amdgcn_finish(const GpuPlan *p, Buf *out)
{
    if (!p->buffer_store || gpu_adds(p) || !gpu_contiguous_results(p)) return false;
    amdgcn_print(p, finish, out);
    return true;
}
