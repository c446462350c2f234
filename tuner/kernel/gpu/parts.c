/* Parts of the K of a tile, which several work-groups compute and which are added up in the launch that
 * makes them: stream-K, and GlobalSplitU with GlobalSplitUAlgorithm MultipleBufferSingleKernel.
 *
 * All but the last one to arrive write their sums to the workspace. The last one adds the sums of all parts,
 * in the order of the parts, and stores the results. No work-group waits for one that has not arrived yet.
 *
 * A tile of n parts has n - 1 slots for sums, and a flag of 32 bits for each slot, initially 0. The upper
 * half of the first flag counts the parts that have arrived, and a part takes the slot with its number in
 * that order. The lower half of a slot's flag is set to the number of its part plus 1 when the sums are
 * written. */
#include "kernel/gpu/gpu.h"
#include "kernel/lower/build.h"

enum { UPPER = 16, LOWER_MASK = 0xffff }; /* halves of a flag */
enum { SLOT_I, SLOT_E };                  /* slots of variables, which differ by name */

typedef struct {
    Stmts *s;
    ExprPool *p;
    int n, run, run_bytes; /* accumulators of a thread; how many are loaded and stored as one */
    int threads;           /* that have accumulators */
    int group;             /* threads of the work-group */
} Parts;

static const Value *of(const Parts *k, const Expr *e) { return value_expr(k->s, e); }

/* Registers of a thread that are loaded at once, beside the accumulators. */
static int batch_words(const GpuPlan *p)
{
    const int words = p->n_acc * gpu_type_bytes(&p->acc) / 4;
    return words > 200 ? 8 : words > 100 ? 16 : 32;
}

/* Accumulator i of a batch, whose first one is the template's constant. */
static const Expr *in_batch(const Parts *k, const Expr *i)
{
    const Expr *first = expr_multiple(k->p, expr_var(k->p, "first", SLOT_I, 0, k->n - 1), k->run);
    return expr_within(k->p, expr_add(k->p, first, i), 0, k->n - 1);
}

/* Run i of a batch in the sums of a part, which are run by run, and each thread by thread. */
static Access run_of(const Parts *k, const char *sums, const Expr *i)
{
    const Expr *first = in_batch(k, expr_mul_i(k->p, i, k->run));
    const Expr *at = expr_mul_i(k->p, expr_div_i(k->p, first, k->run), k->threads);
    return access_element(SPACE_GLOBAL, "@PartSums", k->run_bytes, reg(k, sums), at);
}

/* Element i of an array of runs. */
static const Value *element(const Parts *k, const char *array, const Expr *i)
{
    const Value *in = value_at(k->s, reg(k, array), expr_div_i(k->p, i, k->run));
    return value_at(k->s, value_field(k->s, in, "v"), expr_mod_i(k->p, i, k->run));
}

/* Prints a function that writes a batch of a thread's accumulators to the slot that begins at sums. Batches
 * are instances of a template, and not a loop: of a long one, LLVM would index the accumulators in scratch
 * memory (amdgcn/store.c). */
static void leave_batch(const Parts *k, const char *name, int size)
{
    Stmts *s = k->s;
    stmt_function(s, (Function){.name = name,
                                .constant = "first",
                                STMT_PARAMS({"const @Acc &", "acc"}, {"@PartSums *", "sums"})});
    const Expr *i = stmt_unrolled(s, "i", SLOT_I, size / k->run);
    stmt_var(s, "@PartSums", "x", NULL);
    const Expr *e = stmt_unrolled(s, "e", SLOT_E, k->run);
    const Expr *at = in_batch(k, expr_add(k->p, expr_mul_i(k->p, i, k->run), e));
    stmt_set(s, value_at(s, reg(k, "x.v"), e), value_call(s, "@acc_get", reg(k, "acc"), of(k, at)));
    stmt_end(s);
    stmt_store(s, run_of(k, "sums", i), reg(k, "x"));
    stmt_end(s);
    stmt_end(s);
}

/* Sets y to the sums of part q. */
static void sums_of_part(const Parts *k, int size)
{
    Stmts *s = k->s;
    const Value *q = reg(k, "q"), *part = reg(k, "part"), *parts = reg(k, "parts");
    stmt_if(s, op(k, VALUE_EQ, q, part));
    const Expr *i = stmt_unrolled(s, "i", SLOT_I, size);
    stmt_set(s, element(k, "y", i), value_call(s, "@acc_get", reg(k, "acc"), of(k, in_batch(k, i))));
    stmt_end(s);
    stmt_else(s);
    const Value *before = value_difference(s, q, number(k, 1));
    const Value *other =
        stmt_define(s, "unsigned", "other", value_select(s, op(k, VALUE_GT, q, part), before, q));
    const Value *flag = value_call(s, "@flag", sum(k, reg(k, "flags"), other));
    const Value *counted = value_select(s, other, number(k, 0), parts); /* the first flag's number of parts */
    const Value *slot = value_difference(s, op(k, VALUE_SHR, flag, number(k, UPPER)), counted);
    slot = op(k, VALUE_AND, slot, number(k, LOWER_MASK));
    slot = stmt_define(s, "unsigned", "slot",
                       value_select(s, op(k, VALUE_GT, parts, number(k, 2)), slot, number(k, 0)));
    const Value *behind = times(k, value_cast(s, "unsigned long long", slot), k->n / k->run * k->threads);
    stmt_define(s, "const @PartSums *const", "from", sum(k, reg(k, "sums"), behind));
    i = stmt_unrolled(s, "i", SLOT_I, size / k->run);
    stmt_set(s, value_at(s, reg(k, "y"), i), value_load(s, run_of(k, "from", i)));
    stmt_end(s);
    stmt_end(s);
}

/* Prints a function that adds up a batch of a thread's accumulators over all parts. flags: the upper half of
 * flag i has the slot of the i-th other part. */
static void add_batch(const Parts *k, const char *name, int size)
{
    Stmts *s = k->s;
    stmt_function(s, (Function){.name = name,
                                .constant = "first",
                                STMT_PARAMS({"@Acc &", "acc"}, {"const @PartSums *", "sums"},
                                            {"const unsigned *", "flags"}, {"unsigned", "parts"},
                                            {"unsigned", "part"})});
    stmt_array(s, "@PartSums", "x", DIMS(size / k->run));
    stmt_array(s, "@PartSums", "y", DIMS(size / k->run));
    stmt_loop(s, (Loop){.var = "q",
                        .type = "unsigned",
                        .start = expr_const(k->p, 0),
                        .limit = expr_var(k->p, "parts", SLOT_I, 0, UINT32_MAX),
                        .unroll = UNROLL_NONE});
    sums_of_part(k, size);
    const Expr *i = stmt_unrolled(s, "i", SLOT_I, size);
    const Value *x = element(k, "x", i), *y = element(k, "y", i);
    stmt_set(s, x, value_select(s, reg(k, "q"), value_call(s, "@add", x, y), y));
    stmt_end(s);
    stmt_end(s);
    i = stmt_unrolled(s, "i", SLOT_I, size);
    stmt_call(s, "@acc_set", reg(k, "acc"), of(k, in_batch(k, i)), element(k, "x", i));
    stmt_end(s);
    stmt_end(s);
}

/* Prints the functions of batches of that size, and of a smaller one behind them; then `@leave` and
 * `@add_parts`, which call them for all accumulators. */
static void batches(const Parts *k, int batch)
{
    static const char *const leave[] = {"@leave_batch", "@leave_rest"};
    static const char *const add[] = {"@add_batch", "@add_rest"};
    Stmts *s = k->s;
    const int size[] = {batch, k->n % batch}, whole = k->n / batch * batch;
    for (int i = 0; i < 2; i++) {
        if (!size[i] || (!i && !whole)) continue;
        leave_batch(k, leave[i], size[i]);
        add_batch(k, add[i], size[i]);
    }
    stmt_function(
        s, (Function){.name = "@leave", STMT_PARAMS({"const @Acc &", "acc"}, {"@PartSums *", "sums"})});
    for (int first = 0; first < k->n; first += batch)
        stmt_call(s, stmts_name(s, "%s<%d>", leave[first == whole], first), reg(k, "acc"), reg(k, "sums"));
    stmt_end(s);
    stmt_function(s, (Function){.name = "@add_parts",
                                STMT_PARAMS({"@Acc &", "acc"}, {"const @PartSums *", "sums"},
                                            {"const unsigned *", "flags"}, {"unsigned", "parts"},
                                            {"unsigned", "part"})});
    for (int first = 0; first < k->n; first += batch)
        stmt_call(s, stmts_name(s, "%s<%d>", add[first == whole], first), reg(k, "acc"), reg(k, "sums"),
                  reg(k, "flags"), reg(k, "parts"), reg(k, "part"));
    stmt_end(s);
}

static void if_first_thread(const Parts *k) { stmt_if(k->s, op(k, VALUE_EQ, reg(k, "tid"), number(k, 0))); }

/* Of a part that is not the last one. */
static void leave_sums(const Parts *k)
{
    Stmts *s = k->s;
    const Value *place = reg(k, "place");
    const Value *behind = times(k, value_cast(s, "unsigned long long", place), k->n / k->run * k->threads);
    stmt_if(s, reg(k, "holds"));
    stmt_call(s, "@leave", reg(k, "acc"), sum(k, reg(k, "sums"), behind));
    stmt_end(s);
    stmt_do(s, value_call_0(s, "@release"));
    stmt_barrier(s);
    if_first_thread(k);
    stmt_call(s, "@count_in", sum(k, reg(k, "flags"), place), sum(k, reg(k, "part"), number(k, 1)));
    stmt_end(s);
    stmt_return(s, value_literal(s, "false"));
}

/* Waits for the flags of all slots. A slot's flag has the number of its part: this stores the inverse, the
 * slot of each part, in the upper halves. All other parts have arrived, and set their flags without waiting
 * for anybody. */
static void order_slots(const Parts *k)
{
    Stmts *s = k->s;
    const Expr *last = expr_sub(k->p, expr_var(k->p, "parts", SLOT_I, 1, UINT32_MAX), expr_const(k->p, 1));
    stmt_loop(s, (Loop){.var = "slot",
                        .type = "unsigned",
                        .start = expr_var(k->p, "tid", SLOT_I, 0, k->group - 1),
                        .limit = last,
                        .step = k->group,
                        .unroll = UNROLL_NONE});
    const Value *slot = reg(k, "slot"), *part = reg(k, "part"), *flags = reg(k, "flags");
    const Value *found = stmt_var(s, "unsigned", "number", number(k, 0));
    stmt_loop(s, (Loop){.condition = op(k, VALUE_EQ, found, number(k, 0))});
    stmt_set(s, found, op(k, VALUE_AND, value_call(s, "@flag", sum(k, flags, slot)), number(k, LOWER_MASK)));
    stmt_end(s);
    const Value *is_behind = op(k, VALUE_GT, value_difference(s, found, number(k, 1)), part);
    stmt_update(s, VALUE_SUB, found, value_select(s, is_behind, number(k, 2), number(k, 1)));
    stmt_if(s, op(k, VALUE_GT, reg(k, "parts"), number(k, 2)));
    stmt_call(s, "@count_in", sum(k, flags, found), op(k, VALUE_SHL, slot, number(k, UPPER)));
    stmt_end(s);
    stmt_end(s);
}

/* Prints @join(). all, flags: sums and flag of the tile's first slot. It returns true in the part that
 * arrives last; acc then has the sums of all parts. */
static void join(const Parts *k)
{
    Stmts *s = k->s;
    stmt_function(s, (Function){.result = "bool",
                                .name = "@join",
                                STMT_PARAMS({"@Acc &", "acc"}, {"@TC *", "all"}, {"unsigned *", "flags"},
                                            {"unsigned", "parts"}, {"unsigned", "part"}, {"char *", "lds"},
                                            {"unsigned", "tid"})});
    const Value *shared = value_at_i(
        s, stmt_define(s, "unsigned *const", "shared", value_cast(s, "unsigned *", reg(k, "lds"))), 0);
    const Value *all = value_cast(s, "@PartSums *", reg(k, "all"));
    stmt_define(s, "@PartSums *const", "sums", sum(k, all, reg(k, "tid")));
    stmt_define(s, "bool", "holds", op(k, VALUE_LT, reg(k, "tid"), number(k, k->threads)));
    stmt_barrier(s);
    if_first_thread(k);
    const Value *one = number(k, 1 << UPPER); /* an arrival, in the upper half */
    stmt_set(s, shared, op(k, VALUE_SHR, value_call(s, "@count_in", reg(k, "flags"), one), number(k, UPPER)));
    stmt_end(s);
    stmt_barrier(s);
    stmt_define(s, "unsigned", "place", value_call(s, "@uniform", shared));
    stmt_if(s, op(k, VALUE_LT, sum(k, reg(k, "place"), number(k, 1)), reg(k, "parts")));
    leave_sums(k);
    stmt_end(s);
    order_slots(k);
    stmt_do(s, value_call_0(s, "@release"));
    stmt_barrier(s);
    stmt_do(s, value_call_0(s, "@acquire"));
    stmt_if(s, reg(k, "holds"));
    stmt_call(s, "@add_parts", reg(k, "acc"), reg(k, "sums"), reg(k, "flags"), reg(k, "parts"),
              reg(k, "part"));
    stmt_end(s);
    stmt_return(s, value_literal(s, "true"));
    stmt_end(s);
}

void gpu_parts(const GpuPlan *p, Stmts *s)
{
    const int bytes = gpu_type_bytes(&p->acc), n = p->ring.used ? p->n_acc : gpu_share(p), wide = 16 / bytes;
    const int run = n % wide ? 1 : wide, batch = batch_words(p) * 4 / bytes / run * run;
    const Parts k = {.s = s,
                     .p = &s->pool,
                     .n = n,
                     .run = run,
                     .run_bytes = bytes * run,
                     .threads = n < p->n_acc || p->ring.used ? p->n_threads : p->n_threads / p->lsu,
                     .group = p->n_threads};
    stmt_file(s, p->dialect->parts);
    stmt_struct(s, "@PartSums", bytes * run);
    stmt_array(s, "@TC", "v", DIMS(run));
    stmt_end(s);
    batches(&k, batch > run ? batch : run);
    join(&k);
}

const Value *gpu_joined(const GpuPlan *p, Stmts *s, const Value *lds)
{
    const bool of_last = p->walk.prefetches; /* of the tile before this iteration's */
    const Value *first = value_reg(s, of_last ? "last_slot" : "first_slot"),
                *parts = value_reg(s, of_last ? "last_parts" : "parts"),
                *part = value_reg(s, of_last ? "last_part" : "part");
    const Value *slot = value_cast(s, "unsigned long long", first);
    const int64_t sums_of_slot = (int64_t)p->mt[0] * p->mt[1] * (p->ring.used ? p->lsu : 1);
    const Value *at = value_op(s, VALUE_MUL, slot, value_int(s, sums_of_slot));
    const Value *sums = value_op(s, VALUE_ADD, value_reg(s, "sums"), at);
    const Value *flags = value_op(s, VALUE_ADD, value_reg(s, "flags"), first);
    const Value *last =
        value_call(s, "@join", value_reg(s, "acc"), sums, flags, parts, part, lds, value_reg(s, "tid"));
    return value_op(s, VALUE_EITHER, value_op(s, VALUE_EQ, parts, value_int(s, 1)), last);
}
