/* Raw buffers, and stores of D through them (BufferStore; C is read that way too).
 *
 * The base of the descriptor is the first element of the work-group's tile, a 64-bit address in scalar
 * registers; a lane's offset in the tile has 32 bits. Tiles inside D are stored in vectors. A tile that
 * overhangs D is stored element by element without branches: elements outside get an offset that the range
 * check drops. Where the columns of a tile are spread over more than 2 GiB, the descriptor moves from column
 * to column, and drops the other ones. All loads of C of a batch precede its stores of D, because the
 * compiler does not move loads across stores. Atomic additions to D need pointers,
 * and C and D whose views run along N have no vectors along M: both are in kernel/gpu/store.c. */
#include "kernel/amdgcn/amdgcn.h"
#include "kernel/gpu/store.h"
#include "kernel/lower/build.h"

/* Registers of a batch. With more, the epilogue would need more registers than the main loop.
 * FULL_BATCH_WORDS is for kernels whose accumulators fill a register file. */
enum { BATCH_WORDS = 8, FULL_BATCH_WORDS = 4 };

/* Elements of a loop over batches. LLVM unrolls a loop fully up to 16,384 instructions of all copies of its
 * body (-pragma-unroll-threshold), which has 40 to 150 an element, and would index the accumulators of a
 * longer one in scratch memory. */
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

/* How the elements of a thread are stored. */
typedef struct {
    const GpuPlan *p;
    Stmts *s;
    int n, bytes;
    int width;  /* elements that one instruction stores, of a tile inside D */
    int batch;  /* elements whose loads of C precede their stores, of a tile inside D */
    int single; /* the same of a tile that overhangs D: these also have an offset each */
    int group;  /* elements of a loop over batches */
} Stores;

/* A batch takes BATCH_WORDS, unless NumElementsPerBatchStore says how many elements it has. */
static Stores stores_of(const GpuPlan *p, Stmts *s)
{
    const int bytes = gpu_type_bytes(&p->out), n = gpu_share(p), width = width_of(p), given = p->batch_store;
    const int words = amdgcn_fills_file(p) ? FULL_BATCH_WORDS : BATCH_WORDS;
    const int most = given > 0 ? given : words * 4 / bytes;
    const int batch = most > width ? most / width * width : width;
    const int single = given > 0 ? given : bytes <= 4 ? words / 2 : 1;
    return (Stores){.p = p,
                    .s = s,
                    .n = n,
                    .bytes = bytes,
                    .width = width,
                    .batch = batch < n ? batch : n,
                    .single = single < n ? single : n,
                    .group = batch < GROUP_ELEMENTS ? GROUP_ELEMENTS / batch * batch : batch};
}

static int n_groups(const Stores *k) { return (k->n + k->group - 1) / k->group; }

/* ---- accesses through a raw buffer ---- */

/* An instruction for elements of C or D from byte `at` of the buffer on. */
static const char *instruction(Stmts *s, const char *what, int bytes)
{
    return stmts_name(s, "@raw_%s%d", what, bytes);
}
static const Value *load(const Stores *k, const char *type, int bytes, const Value *at)
{
    const Value *x =
        value_call(k->s, instruction(k->s, "load", bytes), reg(k, "s.c"), value_cast(k->s, "int", at),
                   number(k, 0), number(k, amdgcn_policy(k->p, k->p->hint_c)));
    return value_call(k->s, "__builtin_bit_cast", reg(k, type), x);
}
static void store(const Stores *k, int bytes, const Value *x, const Value *at)
{
    static const char *const word[] = {
        [1] = "unsigned char", [2] = "unsigned short", [4] = "int", [8] = "@w2", [16] = "@w4"};
    stmt_call(k->s, instruction(k->s, "store", bytes),
              value_call(k->s, "__builtin_bit_cast", reg(k, word[bytes]), x), reg(k, "s.d"),
              value_cast(k->s, "int", at), number(k, 0), number(k, amdgcn_policy(k->p, k->p->hint_d)));
}

/* Bytes from the first element of the buffer of C or D to row `down`, column `across` of the tile. */
static const Value *offset(const Stores *k, int tensor)
{
    ExprPool *pool = &k->s->pool;
    const Expr *row = gpu_size(k->s, "down"), *col = gpu_size(k->s, "across"), *zero = expr_const(pool, 0);
    const Expr *ld = expr_var(pool, tensor == 2 ? "s.ldc" : "s.ldd", 0, 0, UINT32_MAX); /* in bytes */
    const Expr *down = expr_mul_i(pool, gpu_address(pool, k->p, tensor, row, zero, ld), k->bytes);
    const Expr *across = expr_u32(pool, gpu_address(pool, k->p, tensor, zero, col, ld));
    const Expr *at = expr_add(pool, across, expr_u32(pool, down));
    return value_expr(k->s, expr_u32(pool, at));
}

/* Prints @buffer_c or @buffer_d: the raw buffer from the tile's first row and column n0 to the tensor's last
 * element, at most 2 GiB. used: false makes it empty, so that loads return 0. */
static void buffer(const Stores *k, int tensor)
{
    Stmts *s = k->s;
    ExprPool *pool = &s->pool;
    const Expr *ld = gpu_stride(s, "ld");
    stmt_function(s, (Function){.result = "@w4",
                                .name = tensor == 2 ? "@buffer_c" : "@buffer_d",
                                STMT_PARAMS({"const @TD *", "x"}, {"unsigned long long", "ld"},
                                            {"const @Tile &", "t"}, {"unsigned", "n0"}, {"bool", "used"})});
    stmt_define(s, "unsigned", "rows", op(k, VALUE_SUB, reg(k, "t.m"), reg(k, "t.m0")));
    stmt_define(s, "unsigned", "last",
                op(k, VALUE_SUB, op(k, VALUE_SUB, reg(k, "t.n"), number(k, 1)), reg(k, "n0")));
    const Expr *end = gpu_address(pool, k->p, tensor, gpu_size(s, "rows"), gpu_size(s, "last"), ld);
    const Expr *first = gpu_address(pool, k->p, tensor, gpu_size(s, "t.m0"), gpu_size(s, "n0"), ld);
    const Value *elements = value_cast(s, "unsigned long long", value_expr(s, end));
    const Value *bytes = stmt_define(s, "unsigned long long", "bytes", times(k, elements, k->bytes));
    const Value *most = value_literal(s, "0x7fffffffu");
    const Value *seen = value_select(s, op(k, VALUE_LT, bytes, most), value_cast(s, "unsigned", bytes), most);
    seen = stmt_define(s, "unsigned", "seen", seen);
    const Value *from = value_cast(s, "const char *", sum(k, reg(k, "x"), value_expr(s, first)));
    seen = value_call(s, "@uniform", value_select(s, reg(k, "used"), seen, number(k, 0)));
    stmt_return(s, value_call(s, "@descriptor", from, seen));
    stmt_end(s);
}

/* ---- batches ---- */

/* The values that all batches use. They are uniform across the work-group except `first`, the number of the
 * first accumulator of this LocalSplitU part. */
static void shared_values(const Stores *k)
{
    stmt_struct(k->s, "@Store", 0);
    stmt_var(k->s, "@w4", "d", NULL);
    stmt_var(k->s, "@w4", "c", NULL);
    stmt_var(k->s, "unsigned", "ldd", NULL);
    stmt_var(k->s, "unsigned", "ldc", NULL);
    stmt_var(k->s, "int", "first", NULL);
    stmt_end(k->s);
}

/* Opens the function that stores a group of a thread's elements, and its loop over batches of `each`. Returns
 * the number of elements of batch b. columns: the function takes n0 and wide. */
static const Expr *open_batches(const Stores *k, const char *name, int each, bool columns)
{
    Stmts *s = k->s;
    ExprPool *pool = &s->pool;
    const int groups = n_groups(k);
    Function f = {.constant = groups > 1 ? "GROUP" : NULL,
                  .name = name,
                  STMT_PARAMS({"const @Store &", "s"}, {"const @Tile &", "t"}, {"const @Ops &", "o"},
                              {"@Acc &", "acc"}, {"unsigned", "tid"}, {"unsigned", "n0"},
                              {"unsigned", "wide"})};
    if (!columns) f.n_params -= 2;
    stmt_function(s, f);
    const Expr *from = expr_const(pool, 0), *until = expr_const(pool, k->n);
    if (groups > 1) {
        from = expr_mul_i(pool, gpu_counter(pool, "GROUP", GPU_PART, groups), k->group);
        const Expr *end = expr_add_i(pool, from, k->group);
        until = k->n % k->group ? expr_op(pool, EXPR_MIN, end, until) : end;
    }
    const Expr *b = stmt_loop(s, (Loop){.var = "b",
                                        .type = "int",
                                        .start = from,
                                        .limit = until,
                                        .step = each,
                                        .slot = GPU_E,
                                        .unroll = UNROLL_FULL});
    stmt_define(s, "unsigned", "id", value_call(s, "@opaque", reg(k, "tid")));
    const bool whole = k->n % each == 0 && (groups == 1 || k->group % each == 0);
    const Expr *count = whole ? expr_const(pool, each)
                              : expr_op(pool, EXPR_MIN, expr_const(pool, each), expr_sub(pool, until, b));
    if (amdgcn_sums_in_agprs(k->p))
        stmt_call(s, "@acc_pin_batch", reg(k, "acc"), reg(k, "b"), value_expr(s, expr_add(pool, b, count)));
    return count;
}

/* A scheduling fence ends a batch, so that the next batch's products do not occupy registers while this
 * one's accumulators are live. Kernels whose accumulators fill the register file have none: LLVM needs the
 * freedom to begin with any of them. */
static void close_batches(const Stores *k)
{
    if (!amdgcn_fills_file(k->p)) stmt_fence(k->s);
    stmt_end(k->s);
    stmt_end(k->s);
}

/* Opens the loop over a batch's elements. Returns the number of an element in the batch. */
static const Expr *open_batch(const Stores *k, const Expr *count, int width)
{
    return stmt_loop(k->s, (Loop){.var = "e",
                                  .start = expr_const(&k->s->pool, 0),
                                  .limit = count,
                                  .step = width,
                                  .slot = GPU_I,
                                  .unroll = UNROLL_FULL});
}

/* The number of element e of a batch among the accumulators of the thread. */
static const Expr *number_of(const Stores *k, const Expr *e)
{
    return expr_add(&k->s->pool, gpu_counter(&k->s->pool, "b", GPU_E, k->n), e);
}

/* Its row and column in the tile; its number among those of all LocalSplitU parts decides. */
static const Value *place(const Stores *k, const char *function, const Expr *e)
{
    const Expr *i = number_of(k, e);
    if (k->n < k->p->n_acc) i = expr_add(&k->s->pool, gpu_size(k->s, "s.first"), i);
    return value_call(k->s, function, reg(k, "id"), value_expr(k->s, i));
}

static void define(const Stores *k, const char *name, const Value *x)
{
    stmt_define(k->s, "unsigned", name, x);
}

/* Prints @inside, or with C @inside_c, for tiles inside D. */
static void inside(const Stores *k, bool with_c)
{
    Stmts *s = k->s;
    const int parts = k->width * k->p->out.parts, bytes = k->width * k->bytes;
    const char *type = stmts_name(s, "@VD%d", parts);
    const Expr *count = open_batches(k, with_c ? "@inside_c" : "@inside", k->batch, false), *e;
    const Value *old = NULL;
    if (with_c) {
        old = stmt_array(s, type, "old", DIMS(k->batch / k->width));
        e = open_batch(k, count, k->width);
        define(k, "down", place(k, "@acc_row", e)), define(k, "across", place(k, "@acc_col", e));
        stmt_set(s, value_at(s, old, expr_div_i(&s->pool, e, k->width)), load(k, type, bytes, offset(k, 2)));
        stmt_end(s);
    }
    e = open_batch(k, count, k->width);
    define(k, "down", place(k, "@acc_row", e)), define(k, "across", place(k, "@acc_col", e));
    if (gpu_has_vectors(k->p, ALONG_M)) define(k, "row", sum(k, reg(k, "t.m0"), reg(k, "down")));
    if (gpu_has_vectors(k->p, ALONG_N)) define(k, "col", sum(k, reg(k, "t.n0"), reg(k, "across")));
    gpu_vectors_of_run(k->p, s, k->width);
    stmt_var(s, type, "v", NULL);
    if (with_c) old = value_at(s, old, expr_div_i(&s->pool, e, k->width));
    gpu_fill_vector(k->p, s, k->width, number_of(k, e), old);
    store(k, bytes, reg(k, "v"), offset(k, 3));
    stmt_end(s);
    close_batches(k);
}

/* Prints @edge, for a tile that overhangs D, or whose columns are too far apart for one descriptor: of
 * columns n0 to n0 + wide - 1. Elements outside get an offset past the end of every buffer, so that the range
 * check drops them. When beta is 0 the buffer of C is empty, and loads from it return 0. There are no
 * branches: with `&` and values that are computed before they are selected, clang emits none that LLVM would
 * have to remove. */
static void edge(const Stores *k)
{
    Stmts *s = k->s;
    const bool reads_c = gpu_reads_c(k->p),
               vectors[] = {gpu_has_vectors(k->p, ALONG_M), gpu_has_vectors(k->p, ALONG_N)};
    const Value *outside = value_literal(s, "0x80000000u"), *o = reg(k, "o"), *no = value_literal(s, "false");
    const Expr *count = open_batches(k, "@edge", k->single, true), *e;
    const Value *at = stmt_array(s, "unsigned", "at", DIMS(k->single)), *c = value_literal(s, "@TD{}"),
                *with_c = no;
    const Value *old = reads_c ? stmt_array(s, "@TD", "old", DIMS(k->single)) : NULL;
    e = open_batch(k, count, 1);
    define(k, "row", value_call(s, "@edge_row", reg(k, "t"), place(k, "@acc_row", e)));
    define(k, "col", value_call(s, "@edge_col", reg(k, "t"), place(k, "@acc_col", e)));
    define(k, "down", op(k, VALUE_SUB, reg(k, "row"), reg(k, "t.m0")));
    define(k, "across", op(k, VALUE_SUB, reg(k, "col"), reg(k, "n0")));
    const Value *in = op(k, VALUE_AND, op(k, VALUE_NE, reg(k, "row"), value_literal(s, "~0u")),
                         op(k, VALUE_LT, reg(k, "across"), reg(k, "wide")));
    in = stmt_define(s, "bool", "in", in);
    define(k, "to", offset(k, 3));
    stmt_set(s, value_at(s, at, e), value_select(s, in, reg(k, "to"), outside));
    if (reads_c) {
        define(k, "from", offset(k, 2));
        stmt_set(s, value_at(s, old, e),
                 load(k, "@TD", k->bytes, value_select(s, in, reg(k, "from"), outside)));
        c = value_at(s, old, e), with_c = value_literal(s, "true");
        if (k->p->fused.scale_cd) with_c = gpu_uses_c(s);
    }
    stmt_end(s);
    e = open_batch(k, count, 1);
    for (int i = 0; i < 2; i++) {
        const Value *of = stmt_var(s, i ? "@OfCol" : "@OfRow", i ? "of_col" : "of_row", NULL);
        if (!vectors[i]) continue;
        const Value *there = value_call(s, i ? "@edge_col" : "@edge_row", reg(k, "t"),
                                        place(k, i ? "@acc_col" : "@acc_row", e));
        stmt_call(s, i ? "@cols<1>" : "@rows<1>", o, there, no, op(k, VALUE_ADDRESS, of, NULL));
    }
    const Value *x =
        value_call(s, "@scaled", o, value_call(s, "@acc_get", reg(k, "acc"), value_expr(s, number_of(k, e))));
    x = value_call(s, "@combined", o, x, c, with_c, reg(k, "of_row"), reg(k, "of_col"));
    store(k, k->bytes, value_call(s, "@from_c", x), value_at(s, at, e));
    stmt_end(s);
    close_batches(k);
}

/* ---- @finish ---- */

/* Calls that function of all groups; columns: with n0 and wide. */
static void all_groups(const Stores *k, const char *name, const char *ops, bool columns)
{
    const Value *const x[] = {reg(k, "s"),   reg(k, "t"),  reg(k, ops),   reg(k, "acc"),
                              reg(k, "tid"), reg(k, "n0"), reg(k, "wide")};
    for (int g = 0; g < n_groups(k); g++)
        stmt_do(k->s, value_call_n(k->s, n_groups(k) > 1 ? stmts_name(k->s, "%s<%d>", name, g) : name,
                                   columns ? 7 : 5, x));
}

/* Sets the buffer of C or D. used NULL: it is. */
static void open_buffer(const Stores *k, int tensor, const Value *n0, const Value *used)
{
    const bool c = tensor == 2;
    stmt_set(k->s, reg(k, c ? "s.c" : "s.d"),
             value_call(k->s, c ? "@buffer_c" : "@buffer_d", reg(k, c ? "o.c" : "o.d"),
                        reg(k, c ? "o.ldc" : "o.ldd"), reg(k, "t"), n0,
                        used ? used : value_literal(k->s, "true")));
}

static void store_inside(const Stores *k)
{
    const Value *n0 = reg(k, "t.n0");
    open_buffer(k, 3, n0, NULL);
    if (gpu_reads_c(k->p)) {
        stmt_if(k->s, gpu_uses_c(k->s));
        open_buffer(k, 2, n0, NULL);
        all_groups(k, "@inside_c", "o", false);
        stmt_return(k->s, NULL);
        stmt_end(k->s);
    }
    all_groups(k, "@inside", "o", false);
    stmt_return(k->s, NULL);
}

/* near: all columns of a tile are within 2 GiB; otherwise the descriptor moves from column to column. alpha
 * is hidden from the compiler in each turn, so that it does not compute all products in front of the loop. */
static void store_edge(const Stores *k)
{
    Stmts *s = k->s;
    ExprPool *pool = &s->pool;
    const int columns = k->p->mt[1];
    stmt_define(s, "unsigned", "wide", value_select(s, reg(k, "near"), number(k, columns), number(k, 1)));
    const Expr *first = gpu_size(s, "t.n0"), *n = gpu_size(s, "t.n");
    const Expr *end = stmt_let(s, "end", expr_op(pool, EXPR_MIN, n, expr_add_i(pool, first, columns)));
    const Value *n0 = value_expr(s, stmt_loop(s, (Loop){.var = "n0",
                                                        .type = "unsigned",
                                                        .start = first,
                                                        .limit = end,
                                                        .step_by = gpu_size(s, "wide"),
                                                        .unroll = UNROLL_NONE}));
    open_buffer(k, 3, n0, NULL);
    if (gpu_reads_c(k->p)) open_buffer(k, 2, n0, gpu_uses_c(k->s));
    stmt_var(s, "@Ops", "ops", reg(k, "o"));
    if (gpu_scales(k->p)) stmt_set(s, reg(k, "ops.alpha"), value_call(s, "@opaque", reg(k, "o.alpha")));
    all_groups(k, "@edge", "ops", true);
    stmt_end(s);
}

/* A leading dimension of C or D in bytes; whether all columns of a tile are within 2 GiB. */
static const Value *leading_dimension(const Stores *k, int tensor)
{
    const int64_t reach = 0x7fff0000 / k->bytes / k->p->mt[1];
    const Value *ld = reg(k, tensor == 2 ? "o.ldc" : "o.ldd");
    stmt_set(k->s, reg(k, tensor == 2 ? "s.ldc" : "s.ldd"),
             times(k, value_cast(k->s, "unsigned", ld), k->bytes));
    return op(k, VALUE_LE, ld, number(k, reach));
}

static void finish(const GpuPlan *p, Stmts *s)
{
    const Stores stores = stores_of(p, s), *k = &stores;
    stmt_file(s, "amdgcn/opaque.hip");
    shared_values(k);
    for (int tensor = gpu_reads_c(p) ? 2 : 3; tensor < 4; tensor++) buffer(k, tensor);
    for (int with_c = 0; with_c <= gpu_reads_c(p); with_c++) inside(k, with_c);
    edge(k);
    const Expr *first = gpu_finish_open(p, s, "@Acc &");
    stmt_var(s, "@Store", "s", NULL);
    if (k->n < p->n_acc) stmt_set(s, reg(k, "s.first"), value_expr(s, first));
    const Value *near = leading_dimension(k, 3);
    if (gpu_reads_c(p)) near = value_both(s, near, leading_dimension(k, 2));
    near = stmt_define(s, "bool", "near", near);
    stmt_if(s, value_both(s, near, gpu_whole_tile(p, s)));
    store_inside(k);
    stmt_end(s);
    store_edge(k);
    stmt_end(s);
}

bool amdgcn_finish(const GpuPlan *p, Buf *out)
{
    if (!p->buffer_store || gpu_adds(p) || !gpu_contiguous_results(p)) return false;
    amdgcn_print(p, finish, out);
    return true;
}
